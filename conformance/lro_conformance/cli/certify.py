"""`lro certify`: certify a server over stdio."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lro_conformance import PROFILE_NAME
from lro_conformance.cli.options import (
    ALL_EDITIONS,
    EDITION_HELP,
    ReportOptions,
    ServerCommand,
    known_edition,
    report_options,
)
from lro_conformance.errors import EXIT_FAILED, EXIT_OK, UsageError, require

BUDGETS = {"quick": 3, "standard": 8, "thorough": 300}
"""Number of sequences that the explorer tries, by the name of a budget."""

TIMEOUTS_S = {"quick": 600.0, "standard": 600.0, "thorough": 3600.0}
"""Default time limit of a run in seconds, by the name of its budget."""

if TYPE_CHECKING:
    from lro_conformance.judging.results import Report
    from lro_conformance.profile import Profile
    from lro_conformance.report.terminal import View


@click.command(cls=ServerCommand)
@click.option(
    "--profile",
    "profile_path",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help=f"How to start and call the server (default: {PROFILE_NAME} in the working directory, if it exists).",
)
@click.option("--edition", "edition_name", metavar="E", help=EDITION_HELP)
@click.option(
    "--level",
    type=click.IntRange(1, 3),
    metavar="N",
    help="Level that you claim: exit 0 only if it is proved or attested.",
)
@click.option(
    "--evidence",
    "evidence",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Keep everything that is observed, for `lro judge DIR`. DIR must be new, empty, or hold earlier "
    "evidence, which is replaced.",
)
@click.option(
    "-j",
    "--jobs",
    type=click.IntRange(min=1),
    metavar="N",
    help="Number of experiments that run at the same time (default: one per core). One more runs, which mostly waits.",
)
@click.option(
    "--budget",
    type=click.Choice(list(BUDGETS)),
    metavar="B",
    help="How much to explore: quick, standard (the default) or thorough. With --only, nothing is explored by default, "
    "except to run a failure again that only the explorer showed.",
)
@click.option(
    "--timeout",
    "timeout_s",
    type=click.FloatRange(min=1),
    metavar="S",
    help="End the run after S seconds and report what is known (default: 600; with --budget thorough: 3600).",
)
@click.option(
    "--only",
    multiple=True,
    metavar="X",
    help="Judge only a requirement (THR-07), a group (threshold) or a check; failed stands for what failed last. "
    "Repeatable.",
)
@click.option(
    "--fail-fast",
    is_flag=True,
    help="End the run as soon as a MUST of a level has failed. Each check is judged once its experiments have ended.",
)
@click.option(
    "--watch",
    "watched",
    type=click.Path(path_type=Path),
    multiple=True,
    metavar="PATH",
    help="Run again when the profile or a file in PATH changes, beginning with what failed last; Ctrl-C ends it. "
    "Repeatable.",
)
@click.option("--seed", type=click.IntRange(min=0), metavar="N", help="Repeat the random choices of an earlier run.")
@report_options
@click.argument("command", nargs=-1, type=click.UNPROCESSED, metavar="[-- COMMAND ARG…]")
def certify(
    profile_path: Path | None,
    edition_name: str | None,
    level: int | None,
    evidence: Path | None,
    jobs: int | None,
    budget: str | None,
    timeout_s: float | None,
    only: tuple[str, ...],
    fail_fast: bool,
    watched: tuple[Path, ...],
    seed: int | None,
    options: ReportOptions,
    command: tuple[str, ...],
) -> int:
    """Certify a server over stdio: report which level it has proved, and what keeps it from the next.

    COMMAND starts the server in place of the profile's command; the rest of the profile applies. Without a profile,
    tools and settings are found by their documented names.

    With --edition all, the profile's edition decides the exit code and is shown in full. The others follow in brief;
    the names of their files contain the edition (report.json, report.lro-paper.json).

    Exit code: 0 the claim holds (without a claim: no MUST failed), 1 it does not hold, 2 the command line or the
    profile is invalid, 3 no verdict.
    """
    require("certify")
    options.check()
    all_editions = edition_name == ALL_EDITIONS
    profile_path = _profile_path(profile_path, command)

    def read() -> Profile:
        return _profile(profile_path, command, None if all_editions else edition_name, level)

    profile = read()
    problems: list[str] = []
    if only and (all_editions or level is not None):
        raise UsageError(
            f"--only judges a part, which proves no level: leave out --{'level' if level else 'edition all'}"
        )
    if missing := [path for path in watched if not path.exists()]:
        raise UsageError(f"--watch {missing[0]}: no such file or directory")
    if watched and (all_editions or options.outputs.uses_stdout):
        raise UsageError("--watch excludes --edition all, and reports on standard output")
    from lro_conformance.cli.selection import needs_all_trials, remember, selected

    def run(view: View) -> tuple[Report, ...]:
        all_trials = selection is not None and needs_all_trials(selection, profile)
        judged_profile = profile if selection is None else replace(profile, level=None)  # a part proves no level
        exploration = budget or ("standard" if selection is None or all_trials else None)
        reports, problem = _certify(
            judged_profile,
            view,
            all_editions=all_editions,
            seed=seed,
            jobs=jobs,
            evidence=evidence,
            examples=BUDGETS[exploration] if exploration is not None else 0,
            timeout_s=timeout_s or TIMEOUTS_S[exploration or "standard"],
            fail_fast=fail_fast,
            **({} if selection is None else {"only": selection, "all_trials": all_trials}),
        )
        problems.extend([problem] if problem is not None else [])
        remember(reports[0], profile)
        return reports

    def run_once(words: tuple[str, ...], announcement: str = "") -> int:
        nonlocal selection, profile
        if announcement:  # a later run, before which the profile may have changed
            profile = read()
        selection = selected(words, profile)
        if announcement:
            click.echo(announcement, err=True)
        problems.clear()
        return options.for_profile(profile_path).run_and_render(run, lambda: next(iter(problems), None))

    selection: frozenset[str] | None = None
    if not watched:
        return run_once(only)
    written = [*map(Path, options.outputs.paths), *([evidence] if evidence is not None else [])]
    return _watch([*watched, *([profile_path] if profile_path is not None else [])], run_once, only, written)


def _watch(
    paths: Sequence[Path],
    run_once: Callable[[tuple[str, ...], str], int],
    only: tuple[str, ...],
    written: Collection[Path],
) -> int:
    """Run everything that *only* selects, now and after each change.

    If the last run failed, a change first starts a run of what failed. Once that passes, everything is run.

    Returns the exit code of the last run. *run_once* takes the words of ``--only`` and, after the first run, a line to
    write before the run. It raises `UsageError` if the profile is not valid, which ends the watch only in the first
    run. *written* are the files and folders with results, whose changes start no run.
    """
    from lro_conformance.cli.selection import FAILED, NothingFailed
    from lro_conformance.cli.watching import changes, state

    full_run = ", ".join(only) if only else "everything"
    watch_message = f"lro: watching {', '.join(map(str, paths))}; Ctrl-C ends it"
    last_state = state(paths, written)  # before the run, so that a change during the run counts
    started = time.monotonic()
    code = run_once(only, "")
    full_run += f", which took {time.monotonic() - started:.0f} s"
    click.echo(watch_message, err=True)
    try:
        for changed in changes(paths, last_state, written):
            reason = f"{changed} changed"
            try:
                if code == EXIT_FAILED:
                    try:
                        code = run_once((FAILED,), f"\nlro: {reason}: running what failed last")
                        reason = "what failed last passes"
                    except NothingFailed:  # the claim does not hold because of something that was not observed
                        code = EXIT_OK
                if code != EXIT_FAILED:
                    code = run_once(only, f"\nlro: {reason}: running {full_run}")
            except UsageError as problem:
                click.echo(f"\nlro: {reason}; nothing was run:", err=True)
                for line in str(problem).splitlines():
                    click.echo(f"lro: {line}", err=True)
            click.echo(watch_message, err=True)
    except KeyboardInterrupt:
        return code
    return code


def _profile_path(path: Path | None, command: tuple[str, ...]) -> Path | None:
    """The profile that is named, or else the one in the working directory; None if there is only a command."""
    if path is None and Path(PROFILE_NAME).is_file():
        path = Path(PROFILE_NAME)
        but = ", except for its command" if command else ""
        click.echo(f"lro: using {PROFILE_NAME} in the working directory{but}", err=True)
    if path is None and not command:
        raise UsageError(f"nothing to certify: pass the command of a server after --, or a profile ({PROFILE_NAME})")
    return path


def _profile(path: Path | None, command: tuple[str, ...], edition_name: str | None, level: int | None) -> Profile:
    from lro_conformance.profile import ProfileError, load, profile_for_command
    from lro_spec.editions import DEFAULT_EDITION

    edition = None if edition_name is None else known_edition(edition_name)
    try:
        if path is not None:
            profile = load(path, command=command, edition=edition)
        else:
            profile = profile_for_command(command, edition=edition or DEFAULT_EDITION)
    except ProfileError as problem:
        raise UsageError(str(problem)) from None
    return replace(profile, level=level) if level is not None else profile


def _certify(
    profile: Profile, view: View, *, all_editions: bool, **arguments: Any
) -> tuple[tuple[Report, ...], str | None]:
    """Certify a server. Returns a report for each edition, and the reason if the evidence is incomplete.

    *arguments* are passed to `lro_conformance.engine.run.certify`.
    """
    from lro_conformance.engine.run import certify as run
    from lro_conformance.evidence.format import EvidenceError
    from lro_conformance.profile import ProfileError
    from lro_conformance.wire.subreaper import adopt_orphans

    # A trial releases the interpreter while it waits for a line of a server. If checks are judged meanwhile, the
    # trial would by default get the interpreter back only after 5 ms.
    sys.setswitchinterval(0.0005)
    try:
        with adopt_orphans(), view:
            if all_editions:
                from lro_conformance.engine.run import certify_for_all_editions

                return certify_for_all_editions(profile, observer=view, **arguments), None
            report = run(profile, observer=view, **arguments)
            return (report,), None
    except ProfileError as problem:  # problems that only the tools of the server reveal
        raise UsageError(str(problem)) from None
    except EvidenceError as problem:
        if problem.report is None:
            raise UsageError(f"--evidence: {problem}") from None
        return (problem.report,), f"--evidence: {problem}"
    except BrokenPipeError as problem:  # main would mistake it for a closed standard output and be silent
        raise RuntimeError("a pipe to a server broke unnoticed") from problem
