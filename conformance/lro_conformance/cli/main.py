"""`lro` and its commands.

The module of a command is imported only when the command is requested. What the command needs is imported only when it
runs. So help and the catalogue respond fast. Exit codes: 0: the claim holds. 1: it does not. 2: the command line or the
profile is invalid. 3: no verdict. 130: interrupted. 141: the reader of the output has gone.
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

from lro_conformance.cli.help_examples import check_platform, with_examples
from lro_conformance.cli.streams import open_streams, report_error
from lro_conformance.errors import EXIT_BROKEN_PIPE, EXIT_INTERRUPTED, EXIT_NO_VERDICT, EXIT_USAGE, missing_extra
from lro_conformance.report.sanitize import escape_unencodable
from lro_conformance.wire.shortage import shortage_of

COMMANDS = {
    "bench": "benchmark",
    "certify": "certify",
    "compare": "compare",
    "doctor": "doctor",
    "explain": "catalogue",
    "gain": "reference",
    "init": "init",
    "judge": "judge",
    "proxy": "reference",
    "requirements": "catalogue",
    "schema": "catalogue",
    "serve": "reference",
    "validate": "validate",
    "vectors": "vectors",
    "weigh": "benchmark",
}
"""The module of each command."""

_WRITE_ERRORS = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF}


def main(argv: Sequence[str] | None = None) -> int:
    """Run `lro` and return its exit code; *argv* does not include the name of the program."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    if "_LRO_COMPLETE" in os.environ:
        lro.main(arguments, prog_name="lro")  # completes for the shell and exits
    open_streams()
    escape_unencodable(sys.stdout)
    gc_thresholds, interval = gc.get_threshold(), sys.getswitchinterval()
    try:
        with lro.make_context("lro", arguments) as context:
            code = cast("int | None", lro.invoke(context))
        sys.stdout.flush()
    except click.exceptions.Exit as ending:
        return ending.exit_code
    except click.exceptions.NoArgsIsHelpError as problem:
        # `lro vectors` without a subcommand prints its help, like `lro` without a command
        click.echo(problem.format_message())
        return EXIT_USAGE
    except click.ClickException as problem:
        return _report_mistake(problem)
    except (KeyboardInterrupt, click.Abort):
        report_error("lro: interrupted")
        return EXIT_INTERRUPTED
    except BrokenPipeError:  # the reader of standard output closed it
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_BROKEN_PIPE
    except ModuleNotFoundError as problem:
        if (extra := missing_extra(problem)) is None:
            return _report_defect(problem, arguments)
        message = f"lro {arguments[0]} needs {problem.name}, which is not installed"
        report_error(f"lro: {message}: pip install 'lro-spec[{extra}]'")
        return EXIT_USAGE
    except Exception as problem:
        if isinstance(problem, OSError) and problem.errno in _WRITE_ERRORS:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            report_error(f"lro: the output could not be written: {problem.strerror}")
        elif (shortage := shortage_of(problem)) is not None:
            report_error(f"lro: {shortage}")
        else:
            return _report_defect(problem, arguments)
        return EXIT_NO_VERDICT
    finally:  # commands change these settings, and tests call main in their own process
        gc.set_threshold(*gc_thresholds)
        sys.setswitchinterval(interval)
    return code or 0


def command_named(name: str) -> click.Command:
    """Import the command of this name."""
    return with_examples(getattr(import_module(f"{__package__}.{COMMANDS[name]}"), name))


class _Commands(click.Group):
    """A group that imports a command when it is needed. Its help shows the first sentence of each command's help,
    however long it is."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        return command_named(cmd_name) if cmd_name in COMMANDS else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in COMMANDS and not args[0].startswith("-") and not ctx.resilient_parsing:
            from lro_conformance.profile.errors import nearest  # at start-up the import would take time

            raise click.UsageError(f"no such command: {args[0]}{nearest(args[0], COMMANDS)}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        commands = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        with formatter.section("Commands"):
            formatter.write_dl([(n, c.get_short_help_str(limit=1000)) for n, c in commands if c is not None])


@click.group(cls=_Commands, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--version", is_flag=True, help="Print the version and exit.")
@click.pass_context
def lro(context: click.Context, version: bool) -> int | None:
    """Certify how MCP servers implement Large Result Offloading (LRO)."""
    if version:
        from lro_conformance.version import version as installed

        click.echo(f"lro-spec {installed()}")
        context.exit(0)
    if context.invoked_subcommand is None:
        click.echo(context.get_help())
        context.exit(EXIT_USAGE)
    check_platform(context.invoked_subcommand)
    return None


def _report_mistake(problem: click.ClickException) -> int:
    context = getattr(problem, "ctx", None)
    where = context.command_path if isinstance(context, click.Context) else "lro"
    help = f" ({where} --help)" if isinstance(problem, click.UsageError) else ""
    for line in problem.format_message().split("\n"):  # a profile may have several problems
        report_error(f"{where}: {_one_line(line)}{help}")
    return EXIT_USAGE


def _report_defect(problem: Exception, arguments: list[str]) -> int:
    verbose = _is_verbose(arguments)
    if verbose:
        import traceback

        report_error(_masked("".join(traceback.format_exception(problem)).rstrip()))
    is_command = bool(arguments) and arguments[0] in COMMANDS
    has_verbose = is_command and any("-v" in option.opts for option in command_named(arguments[0]).params)
    hint = "; -v shows where" if has_verbose and not verbose else ""
    kind = type(problem).__name__
    report_error(f"lro: {kind}: {_one_line(str(problem))} (this is a defect of lro-spec{hint})")
    return EXIT_NO_VERDICT


def _one_line(text: str) -> str:
    from lro_conformance.report.sanitize import one_line

    return one_line(_masked(text.strip()), 1_000)


def _masked(text: str) -> str:
    from lro_spec.redaction import Masks

    return Masks(os.environ).text(text)


def _is_verbose(arguments: list[str]) -> bool:
    options = arguments[: arguments.index("--")] if "--" in arguments else arguments
    return "-v" in options or "--verbose" in options
