"""Parts that several commands share: the options for writing and showing a report, the command of a server at the end
of a command line, and the names of editions."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from lro_conformance.errors import EXIT_NO_VERDICT, UsageError

if TYPE_CHECKING:
    from lro_conformance.judging.results import Report
    from lro_conformance.report.outputs import Outputs
    from lro_conformance.report.terminal import View

Result = TypeVar("Result")

ALL_EDITIONS = "all"
"""Value of ``--edition`` for a verdict by each edition."""

EDITION_HELP = "Edition to judge by (default: the profile's, or lro-6400); all: judge one run by every edition."


class ServerCommand(click.Command):
    """A command line that ends with the command of a server.

    The server's command begins with the first word that is not an option. If one of our own options comes after this
    word, it would be passed to the server, and for example a claimed level would be lost silently. So such an option is
    refused, unless ``--`` marks where the server's command begins.
    """

    def __init__(self, *args: Any, **attributes: Any) -> None:
        attributes["context_settings"] = {
            **(attributes.get("context_settings") or {}),
            "allow_interspersed_args": False,
        }
        super().__init__(*args, **attributes)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the command line, and refuse our own options within the server's command."""
        original_args = list(args)
        rest = super().parse_args(ctx, args)
        command: tuple[str, ...] = ctx.params.get("command") or ()
        own_options = {
            name for p in self.params if isinstance(p, click.Option) for name in (*p.opts, *p.secondary_opts)
        }
        misplaced = [word for word in command if word.partition("=")[0] in own_options]
        if misplaced and original_args[: len(original_args) - len(command)][-1:] != ["--"]:
            raise UsageError(
                f"{misplaced[0]} comes after the server's command, so the server would get it: put it before the "
                "command; if it is meant for the server, put -- before the command"
            )
        return rest


@dataclass(frozen=True, slots=True)
class ReportOptions:
    """Options for writing and showing a report."""

    outputs: Outputs
    verbose: bool
    quiet: bool
    plain: bool

    def check(self) -> None:
        """Raise `UsageError` for contradictory options, or files that cannot be written."""
        if self.verbose and self.quiet:
            raise UsageError("-v and -q exclude each other")
        self.outputs.check()

    def for_profile(self, profile: Path | None) -> ReportOptions:
        """Options whose outputs refer to this profile; None stands for the profile in the working directory."""
        return self if profile is None else replace(self, outputs=replace(self.outputs, profile=str(profile)))

    def run_and_render(
        self, run: Callable[[View], Sequence[Report]], problem: Callable[[], str | None] = lambda: None
    ) -> int:
        """Call *run* with a view, write and show the reports that it returns, and return the exit code of the first.

        Further reports judge the same run by other editions: they get files of their own, and only their summary is
        shown. If *problem* returns a message, `UsageError` is raised at the end.
        """
        from lro_conformance.report.exit_code import exit_code
        from lro_conformance.report.terminal import NORMAL, QUIET, VERBOSE, open_view

        stream = sys.stderr if self.outputs.uses_stdout else sys.stdout
        view = open_view(
            stream, plain=self.plain, verbosity=VERBOSE if self.verbose else QUIET if self.quiet else NORMAL
        )
        report, *others = run(view)
        report = self.outputs.with_baseline(report)
        try:
            self._write(self.outputs, report)  # first, so that the files are written even if the terminal is gone
            for other in others:
                self._write(self.outputs.for_edition(other.edition), other)
        finally:
            view.show(report)
            for other in others:
                view.show(other, brief=True)
            self._report_baseline(report)
        if (message := problem()) is not None:
            raise UsageError(message)
        return exit_code(report)

    @staticmethod
    def _write(outputs: Outputs, report: Report) -> None:
        """Write the report to its files. No baseline is written if the run shows too little to accept anything."""
        (outputs if _reason_for_no_baseline(report) is None else outputs.without(WRITE_BASELINE)).write(report)

    def _report_baseline(self, report: Report) -> None:
        """For ``--write-baseline``, print how many entries were written and how many reasons are missing. If no
        baseline was written, print why."""
        from lro_conformance.judging.results import UNEXPLAINED
        from lro_conformance.report.formats.baseline import entries_of

        for target in self.outputs.targets(WRITE_BASELINE):
            if (reason := _reason_for_no_baseline(report)) is not None:
                click.echo(f"lro: --{WRITE_BASELINE} {target}: not written: {reason}", err=True)
                continue
            written_entries = entries_of(report)
            entries = f"{len(written_entries)} {'entry' if len(written_entries) == 1 else 'entries'}"
            unexplained = sum(e.reason == UNEXPLAINED for e in written_entries)
            to_complete = (
                f"; complete the reason of {'each' if unexplained == len(written_entries) else unexplained}"
                if unexplained
                else ""
            )
            click.echo(f"lro: wrote {'the baseline' if target == '-' else target}: {entries}{to_complete}", err=True)


WRITE_BASELINE = "write-baseline"


def _reason_for_no_baseline(report: Report) -> str | None:
    """The reason why a run shows too little to accept anything; None if it shows enough."""
    from lro_conformance.report.exit_code import exit_code

    if report.incomplete:
        return "the run ended before its last experiment"
    return "the run has no verdict" if exit_code(report) == EXIT_NO_VERDICT else None


def report_options(command: Callable[..., Result]) -> Callable[..., Result]:
    """Add the options of `ReportOptions` to a click command, which receives them as ``options``."""

    @wraps(command)
    def with_options(*, outputs: Outputs, verbose: bool, quiet: bool, plain: bool, **parameters: Any) -> Result:
        return command(options=ReportOptions(outputs, verbose, quiet, plain), **parameters)

    from lro_conformance.report.outputs import output_options

    plain_option = click.option("--plain", is_flag=True, help="Plain lines, as in a pipe or with NO_COLOR.")
    quiet_option = click.option("-q", "--quiet", is_flag=True, help="Show failures and the summary only.")
    verbose_option = click.option(
        "-v", "--verbose", is_flag=True, help="Show every requirement, and each failure and warning in full."
    )
    return output_options(verbose_option(quiet_option(plain_option(with_options))))


def known_edition(name: str | None) -> str:
    """Resolve the name of an edition. None means the default edition. Raises `UsageError`, with the known names, if the
    name is unknown."""
    from lro_spec.editions import edition

    try:
        return edition(name or "lro-6400").name
    except ValueError as problem:
        raise UsageError(str(problem)) from None
