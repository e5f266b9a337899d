"""`lro`: certify, init, judge, validate, compare, requirements, explain, schema, serve.

Only click and the signatures of commands are imported here; each command imports what it needs when it runs, so that
help and the catalogue answer at once. Exit codes: 0 what was claimed holds, 1 it does not, 2 the call or the profile is
wrong, 3 no verdict.
"""

from __future__ import annotations

import errno
import gc
import os
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from lro_conformance.command_help import check_platform, with_examples
from lro_conformance.compare_command import compare
from lro_conformance.init_command import init
from lro_conformance.judge_command import judge
from lro_conformance.misuse import MISUSE, Misuse
from lro_conformance.report.outputs import PROFILE_NAME
from lro_conformance.report.text import tolerate
from lro_conformance.showing import EDITION_HELP, EVERY, Showing, known_edition, showing_options
from lro_conformance.validate_command import validate

if TYPE_CHECKING:
    from lro_conformance.profile import Profile
    from lro_conformance.report.model import Report
    from lro_conformance.report.terminal import View

NO_VERDICT, INTERRUPTED, BROKEN_PIPE = 3, 130, 141
_CANNOT_WRITE = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}
_PASS_ON = {"allow_interspersed_args": False}  # from the first word that is no option on, everything is the server's

_edition = click.option("--edition", "edition_name", metavar="E", help="The text to judge by (default: lro-6400).")
_editions = click.option("--edition", "edition_name", metavar="E", help=EDITION_HELP)
_level = click.IntRange(1, 3)


def main(argv: Sequence[str] | None = None) -> int:
    """Runs `lro` and returns its exit code; *argv* is without the program's name."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    if "_LRO_COMPLETE" in os.environ:
        lro.main(arguments, prog_name="lro")  # answers the shell, and exits
    _open_streams()
    tolerate(sys.stdout)
    usual = gc.get_threshold()
    try:
        with lro.make_context("lro", arguments) as context:
            code = cast("int | None", lro.invoke(context))
        sys.stdout.flush()
    except click.exceptions.Exit as done:
        return done.exit_code
    except click.ClickException as problem:
        return _complain(problem)
    except (KeyboardInterrupt, click.Abort):
        click.echo("lro: interrupted", err=True)
        return INTERRUPTED
    except BrokenPipeError:  # whoever read our output has enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    except OSError as problem:
        if problem.errno not in _CANNOT_WRITE:
            return _defect(problem, arguments)
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        click.echo(f"lro: the output could not be written: {problem.strerror}", err=True)
        return NO_VERDICT
    except Exception as problem:
        return _defect(problem, arguments)
    finally:  # a command may have set it for itself, and this process may be somebody's tests
        gc.set_threshold(*usual)
        gc.unfreeze()
    return code or 0


def _open_streams() -> None:
    """A shell may start a command with streams closed (`>&-`): then nothing is told, and the exit code still is."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115


class _Commands(click.Group):
    """A group whose help has the first paragraph of each command, however long it is."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        found = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        with formatter.section("Commands"):
            formatter.write_dl([(n, c.get_short_help_str(limit=1000)) for n, c in found if c is not None])


@click.group(cls=_Commands, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--version", is_flag=True, help="Print the version and exit.")
@click.pass_context
def lro(context: click.Context, version: bool) -> int | None:
    """Conformance of MCP servers to Large Result Offloading (LRO)."""
    if version:
        from lro_conformance.version import version as installed

        click.echo(f"lro-spec {installed()}")
        context.exit(0)
    if context.invoked_subcommand is None:
        click.echo(context.get_help())
        context.exit(MISUSE)
    check_platform(context.invoked_subcommand)
    return None


@lro.command(context_settings=_PASS_ON)
@click.option(
    "--profile",
    "profile_path",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help=f"How to start and call the server (default: {PROFILE_NAME} of the working directory, if there is one).",
)
@_editions
@click.option("--level", type=_level, metavar="N", help="The level that is claimed: exit 0 only when it is proved.")
@click.option(
    "--evidence",
    "evidence",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Keep all that was observed in DIR, for `lro judge DIR`: a new, empty or earlier folder of evidence.",
)
@click.option("-j", "--jobs", type=click.IntRange(min=1), metavar="N", help="Servers at a time (default: a core each).")
@click.option("--seed", type=click.IntRange(min=0), metavar="N", help="Replay the choices of an earlier run.")
@showing_options
@click.argument("command", nargs=-1, type=click.UNPROCESSED, metavar="[-- COMMAND ARG…]")
def certify(
    profile_path: Path | None,
    edition_name: str | None,
    level: int | None,
    evidence: Path | None,
    jobs: int | None,
    seed: int | None,
    showing: Showing,
    command: tuple[str, ...],
) -> int:
    """Judge a server over stdio: which level it has proved, and what is wrong with the rest.

    COMMAND starts the server. It stands instead of the profile's; without a profile the usual names are tried.

    With --edition all one run is judged by every edition: by the profile's own as ever, and in short by the others,
    whose files have the edition in their names (report.json, report.lro-paper.json).

    Exit code: 0 what was claimed holds (without a claim: no MUST failed), 1 it does not, 2 the call or the profile is
    wrong, 3 no verdict.
    """
    showing.check()
    every = edition_name == EVERY
    profile = _profile(profile_path, command, None if every else edition_name, level)
    lost: list[str] = []

    def make(view: View) -> tuple[Report, ...]:
        reports, problem = _run(profile, seed, jobs, evidence, view, every=every)
        lost.extend([problem] if problem is not None else [])
        return reports

    return showing.of(profile_path).show(make, lambda: next(iter(lost), None))


lro.add_command(init)
lro.add_command(judge)
lro.add_command(validate)
lro.add_command(compare)


def _ids(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """For the shell: ids that begin so, in any case."""
    from lro_spec.requirements import catalogue

    return [r.id for r in catalogue() if r.id.startswith(incomplete.upper())]


def _schemas(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    from lro_spec.schemas import SCHEMA_NAMES

    return [name for name in SCHEMA_NAMES if name.startswith(incomplete)]


@lro.command()
@_edition
@click.option("--level", type=_level, metavar="N", help="Only what binds a server that claims level N.")
@click.option("--group", "groups", multiple=True, metavar="G", help="Only this group; may be given more than once.")
@click.option("--json", "as_json", is_flag=True, help="As JSON, with everything the catalogue knows.")
def requirements(edition_name: str | None, level: int | None, groups: tuple[str, ...], as_json: bool) -> None:
    """List what is required: id, keyword, level (-: decides none), group, title."""
    from lro_conformance.report import catalogue
    from lro_spec.requirements import GROUPS
    from lro_spec.requirements import catalogue as load

    for group in groups:
        if group not in GROUPS:
            raise Misuse(f"no group {group!r}: expected one of {', '.join(GROUPS)}")
    chosen = catalogue.select(load(known_edition(edition_name)), level=level, groups=groups)
    click.echo(catalogue.as_json(chosen) if as_json else "\n".join(catalogue.listing(chosen)))


@lro.command()
@click.argument("ids", nargs=-1, required=True, metavar="ID…", shell_complete=_ids)
@_edition
def explain(ids: tuple[str, ...], edition_name: str | None) -> None:
    """Explain a requirement: what it says, why, how it is checked, how a failure is mended.

    ID is that of a requirement (LRO-FILE-06, or FILE-06), of a reading or an erratum of the text (I-31, E-04), or the
    name of a check (file.header_count), which stands for its requirement.
    """
    from shutil import get_terminal_size

    from lro_conformance.report.catalogue import full_id, nearest, note, requirement_of
    from lro_conformance.report.explaining import WIDTH, as_text, explained
    from lro_spec.requirements import by_edition, catalogue

    edition = known_edition(edition_name)
    width = max(40, min(WIDTH, get_terminal_size((WIDTH, 24)).columns))
    texts: list[str] = []
    for given in ids:
        told = note(given.upper()) if re.fullmatch(r"[IEie]-\d+", given) else None
        id = requirement_of(given) or full_id(given)
        if told is not None:
            texts.append(told)
        elif edition in (held := by_edition(id)):
            texts.append("\n".join(as_text(explained(held[edition]), width)))
        elif held:
            raise Misuse(f"{id} is no requirement of {edition}: it is one of {', '.join(held)} (--edition)")
        else:
            near = nearest(id, [r.id for r in catalogue(edition)])
            hint = f"; did you mean {' or '.join(near)}?" if near else "; `lro requirements` lists them"
            raise Misuse(f"no requirement {given!r} in {edition}{hint}")
    click.echo("\n\n".join(texts))


@lro.command()
@click.argument("name", required=False, shell_complete=_schemas)
def schema(name: str | None) -> None:
    """Print a JSON Schema (2020-12); without NAME, list which there are."""
    from lro_spec.schemas import SCHEMA_NAMES, schema_text

    if name is None:
        click.echo("\n".join(SCHEMA_NAMES))
    elif name in SCHEMA_NAMES:
        click.echo(schema_text(name), nl=False)
    else:
        raise Misuse(f"no schema {name!r}: expected one of {', '.join(SCHEMA_NAMES)}")


@lro.command(context_settings={**_PASS_ON, "ignore_unknown_options": True}, add_help_option=False)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="[ARG…]")
def serve(arguments: tuple[str, ...]) -> int:
    """Run the reference server over stdio; its own --help names its arguments."""
    return _reference("lro_reference.__main__", arguments)


@lro.command(context_settings={**_PASS_ON, "ignore_unknown_options": True}, add_help_option=False)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="[OPTION…] -- COMMAND [ARG…]")
def proxy(arguments: tuple[str, ...]) -> int:
    """Offload the large results of any MCP server, between it and the client; its own --help names its options."""
    return _reference("lro_reference.proxy.__main__", arguments)


for _command in lro.commands.values():
    with_examples(_command)


def _reference(module: str, arguments: tuple[str, ...]) -> int:
    import importlib

    # by name, and only here: the judge shares no code with the reference implementation
    run = cast("Callable[[Sequence[str]], int | None]", importlib.import_module(module).main)
    return run(list(arguments)) or 0


def _profile(path: Path | None, command: tuple[str, ...], edition_name: str | None, level: int | None) -> Profile:
    from dataclasses import replace

    from lro_conformance.profile import Profile, ProfileError, load
    from lro_conformance.profile.model import DEFAULT_EDITION

    if path is None and Path(PROFILE_NAME).is_file():
        path = Path(PROFILE_NAME)
        click.echo(f"lro: using {PROFILE_NAME} of the working directory", err=True)
    if path is None and not command:
        raise Misuse(f"nothing to certify: give a server's command after --, or a profile ({PROFILE_NAME})")
    edition = None if edition_name is None else known_edition(edition_name)
    try:
        if path is not None:
            profile = load(path, command=command, edition=edition)
        else:
            profile = Profile.for_command(command, edition=edition or DEFAULT_EDITION)
    except ProfileError as problem:
        raise Misuse(str(problem)) from None
    return replace(profile, level=level) if level is not None else profile


def _run(
    profile: Profile, seed: int | None, jobs: int | None, evidence: Path | None, view: View, *, every: bool
) -> tuple[tuple[Report, ...], str | None]:
    """The report, or one of each edition, and what kept evidence from being complete."""
    from lro_conformance.engine import certify as run
    from lro_conformance.evidence.layout import EvidenceError
    from lro_conformance.profile import ProfileError
    from lro_conformance.wire.orphans import adopting

    # A run keeps nearly all that it makes: looking for garbage as often as usual takes a tenth of its time.
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)
    try:
        with adopting(), view:
            if every:
                from lro_conformance.engine import certify_by_all

                return certify_by_all(profile, seed=seed, jobs=jobs, observer=view, evidence=evidence), None
            return (run(profile, seed=seed, jobs=jobs, observer=view, evidence=evidence),), None
    except ProfileError as problem:  # what only the server's list of tools shows
        raise Misuse(str(problem)) from None
    except EvidenceError as problem:
        if problem.report is None:
            raise Misuse(f"--evidence: {problem}") from None
        return (problem.report,), f"--evidence: {problem}"
    except BrokenPipeError as problem:  # not our output's: main would take it for that and be quiet
        raise RuntimeError("a pipe to a server broke unnoticed") from problem


def _complain(problem: click.ClickException) -> int:
    context = getattr(problem, "ctx", None)
    where = context.command_path if isinstance(context, click.Context) else "lro"
    help = f" ({where} --help)" if isinstance(problem, click.UsageError) else ""
    for line in problem.format_message().split("\n"):  # a profile may have several problems
        click.echo(f"{where}: {_one_line(line)}{help}", err=True)
    return MISUSE


def _defect(problem: Exception, arguments: list[str]) -> int:
    verbose = _asked_for_more(arguments)
    if verbose:
        import traceback

        traceback.print_exception(problem)
    command = lro.commands.get(arguments[0]) if arguments else None
    has_more = command is not None and any("-v" in option.opts for option in command.params)
    more = "; -v shows where" if has_more and not verbose else ""
    kind = type(problem).__name__
    click.echo(f"lro: {kind}: {_one_line(str(problem))} (this is a defect of lro-spec{more})", err=True)
    return NO_VERDICT


def _one_line(text: str) -> str:
    from lro_conformance.report.text import one_line

    return one_line(text.strip(), 1_000)


def _asked_for_more(arguments: list[str]) -> bool:
    own = arguments[: arguments.index("--")] if "--" in arguments else arguments
    return "-v" in own or "--verbose" in own
