"""`lro`, a command of commands.

Only click and the asked command's signature are imported; each command imports what it needs when it runs, so that help
and the catalogue answer at once. Exit codes: 0 what was claimed holds, 1 it does not, 2 the call or the profile is
wrong, 3 no verdict.
"""

from __future__ import annotations

import errno
import gc
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import cast

import click

from lro_conformance.command_help import check_platform, with_examples
from lro_conformance.misuse import MISUSE
from lro_conformance.report.text import tolerate
from lro_conformance.standard_streams import complain, open_streams

COMMANDS = {
    "certify": "certify_command",
    "compare": "compare_command",
    "explain": "catalogue_commands",
    "init": "init_command",
    "judge": "judge_command",
    "proxy": "reference_commands",
    "requirements": "catalogue_commands",
    "schema": "catalogue_commands",
    "serve": "reference_commands",
    "validate": "validate_command",
}
"""The module of each command."""

NO_VERDICT, INTERRUPTED, BROKEN_PIPE = 3, 130, 141
_CANNOT_WRITE = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF}


def main(argv: Sequence[str] | None = None) -> int:
    """Runs `lro` and returns its exit code; *argv* is without the program's name."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    if "_LRO_COMPLETE" in os.environ:
        lro.main(arguments, prog_name="lro")  # answers the shell, and exits
    open_streams()
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
        complain("lro: interrupted")
        return INTERRUPTED
    except BrokenPipeError:  # whoever read our output has enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    except OSError as problem:
        if problem.errno not in _CANNOT_WRITE:
            return _defect(problem, arguments)
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        complain(f"lro: the output could not be written: {problem.strerror}")
        return NO_VERDICT
    except Exception as problem:
        return _defect(problem, arguments)
    finally:  # a command may have set it for itself, and this process may be somebody's tests
        gc.set_threshold(*usual)
        gc.unfreeze()
    return code or 0


def command_named(name: str) -> click.Command:
    """The command of that name."""
    return with_examples(getattr(import_module(f"{__package__}.{COMMANDS[name]}"), name))


class _Commands(click.Group):
    """A group whose help has the first paragraph of each command, however long it is; each is imported when needed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        return command_named(cmd_name) if cmd_name in COMMANDS else None

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


def _complain(problem: click.ClickException) -> int:
    context = getattr(problem, "ctx", None)
    where = context.command_path if isinstance(context, click.Context) else "lro"
    help = f" ({where} --help)" if isinstance(problem, click.UsageError) else ""
    for line in problem.format_message().split("\n"):  # a profile may have several problems
        complain(f"{where}: {_one_line(line)}{help}")
    return MISUSE


def _defect(problem: Exception, arguments: list[str]) -> int:
    verbose = _asked_for_more(arguments)
    if verbose:
        import traceback

        complain("".join(traceback.format_exception(problem)).rstrip())
    known = bool(arguments) and arguments[0] in COMMANDS
    has_more = known and any("-v" in option.opts for option in command_named(arguments[0]).params)
    more = "; -v shows where" if has_more and not verbose else ""
    kind = type(problem).__name__
    complain(f"lro: {kind}: {_one_line(str(problem))} (this is a defect of lro-spec{more})")
    return NO_VERDICT


def _one_line(text: str) -> str:
    from lro_conformance.report.text import one_line

    return one_line(text.strip(), 1_000)


def _asked_for_more(arguments: list[str]) -> bool:
    own = arguments[: arguments.index("--")] if "--" in arguments else arguments
    return "-v" in own or "--verbose" in own
