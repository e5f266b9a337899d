"""How a command shows a report: the options that certify and judge share, and what they do with a report."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from lro_conformance.misuse import Misuse

if TYPE_CHECKING:
    from lro_conformance.report.model import Report
    from lro_conformance.report.outputs import Outputs
    from lro_conformance.report.terminal import View

Result = TypeVar("Result")

EVERY = "all"
"""What stands for every edition where one is asked for."""

EDITION_HELP = "The text to judge by (default: lro-6400), or all of them: one run, judged by each."


@dataclass(frozen=True, slots=True)
class Showing:
    """What of a report is shown, and where."""

    outputs: Outputs
    verbose: bool
    quiet: bool
    plain: bool

    def check(self) -> None:
        """Raises `Misuse` for options that cannot be meant, or files that cannot be written."""
        if self.verbose and self.quiet:
            raise Misuse("-v and -q exclude each other")
        self.outputs.check()

    def of(self, profile: Path | None) -> Showing:
        """The same, of the server that this profile is of; with None that is the working directory's."""
        return self if profile is None else replace(self, outputs=replace(self.outputs, profile=str(profile)))

    def show(self, make: Callable[[View], Sequence[Report]], problem: Callable[[], str | None] = lambda: None) -> int:
        """Have reports made before the view's eyes, write them, show them, and give the exit code.

        The first decides; others are of the same run by other editions, are written beside it and shown in short.
        Raises `Misuse` in the end where *problem* then names one.
        """
        from lro_conformance.report.exits import exit_code
        from lro_conformance.report.terminal import NORMAL, QUIET, VERBOSE, open_view

        text = sys.stderr if self.outputs.takes_stdout else sys.stdout
        view = open_view(text, plain=self.plain, verbosity=VERBOSE if self.verbose else QUIET if self.quiet else NORMAL)
        report, *others = make(view)
        report = self.outputs.final(report)
        try:
            self.outputs.write(report)  # first: a terminal that went away must not cost the report
            for other in others:
                self.outputs.beside(other.edition).write(other)
        finally:
            view.show(report)
            for other in others:
                view.show(other, brief=True)
        if (said := problem()) is not None:
            raise Misuse(said)
        return exit_code(report)


def showing_options(command: Callable[..., Result]) -> Callable[..., Result]:
    """Gives a click command that takes ``outputs`` the options of `Showing`; it gets all of them as ``showing``."""

    @wraps(command)
    def with_showing(*, outputs: Outputs, verbose: bool, quiet: bool, plain: bool, **given: Any) -> Result:
        return command(showing=Showing(outputs, verbose, quiet, plain), **given)

    from lro_conformance.report.outputs import output_options

    made = click.option(
        "--plain", is_flag=True, help="Plain lines, as where the output is no terminal or NO_COLOR is set."
    )(with_showing)
    made = click.option("-q", "--quiet", is_flag=True, help="Failures and the summary only.")(made)
    made = click.option("-v", "--verbose", is_flag=True, help="Every requirement on a line; warnings in full.")(made)
    return output_options(made)


def known_edition(name: str | None) -> str:
    """The edition of this name, or the default one. Raises `Misuse` that names the known ones."""
    from lro_spec.editions import edition

    try:
        return edition(name or "lro-6400").name
    except ValueError as problem:
        raise Misuse(str(problem)) from None
