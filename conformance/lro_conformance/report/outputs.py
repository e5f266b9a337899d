"""The files that a command writes beside what it prints: one option for each, one table for all.

A command takes them with ``@output_options``, asks `Outputs.check` before its work and calls `Outputs.write` after it.
Each rendering is imported when it is asked for, so that ``--help`` waits for none of them.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import wraps
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click

from lro_conformance.misuse import Misuse
from lro_conformance.report.target import check_target, real, write_text

if TYPE_CHECKING:
    from lro_conformance.report.model import Report

STDOUT = "-"
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Form:
    """A form that a report can be written in."""

    name: str
    """Its option, without the dashes."""
    renderer: str
    """``module:function`` below this package; the function makes the whole text of a `Report`."""
    help: str


FORMS = (
    Form("json", "jsonfile:to_json", "The whole report as JSON (lro-report/1); F may be - for stdout, here and below."),
    Form("junit", "junit:to_junit", "JUnit XML, for the test views of GitHub, GitLab and Jenkins."),
)


@dataclass(frozen=True, slots=True)
class Output:
    """One file that was asked for."""

    form: Form
    target: str
    """A path, or ``-`` for standard output."""

    @property
    def option(self) -> str:
        """What the user wrote."""
        return f"--{self.form.name} {self.target}"


@dataclass(frozen=True, slots=True)
class Outputs:
    """All the files that were asked for."""

    wanted: tuple[Output, ...] = ()

    @property
    def takes_stdout(self) -> bool:
        """Whether one of them goes to standard output, so that nothing else may."""
        return any(o.target == STDOUT for o in self.wanted)

    def check(self) -> None:
        """Raises `Misuse` when one of them could not be written, or two would overwrite each other."""
        taken: dict[str | Path, Output] = {}
        for output in self.wanted:
            place = output.target if output.target == STDOUT else real(Path(output.target))
            if place in taken and not _takes_many(place):
                raise Misuse(f"{taken[place].option} and {output.option} would overwrite each other")
            taken[place] = output
            if output.target != STDOUT:
                _tried(output, lambda path: check_target(path))

    def write(self, report: Report) -> None:
        """Writes all of them. Raises `Misuse` for the first that cannot be written, after the others were."""
        problems: list[Misuse] = []
        for output in self.wanted:
            text = _renderer(output.form)(report)
            if output.target == STDOUT:
                sys.stdout.write(text)
                sys.stdout.flush()
                continue
            try:
                _tried(output, lambda path, text=text: write_text(text, path))
            except Misuse as problem:
                problems.append(problem)
        if problems:
            raise problems[0]


def output_options(command: Callable[..., Result]) -> Callable[..., Result]:
    """Gives a click command an option for each of `FORMS`; they reach it together, as ``outputs``."""

    @wraps(command)
    def with_outputs(**given: Any) -> Result:
        chosen = [(form, given.pop(_parameter(form))) for form in FORMS]
        outputs = Outputs(tuple(Output(form, target) for form, target in chosen if target is not None))
        return command(outputs=outputs, **given)

    for form in reversed(FORMS):
        option = click.option(
            f"--{form.name}", _parameter(form), type=click.Path(allow_dash=True), metavar="F", help=form.help
        )
        with_outputs = option(with_outputs)
    return with_outputs


def renderings() -> Iterator[tuple[str, Callable[[Report], str]]]:
    """Every form's name and what makes it."""
    for form in FORMS:
        yield form.name, _renderer(form)


def _renderer(form: Form) -> Callable[[Report], str]:
    module, _, function = form.renderer.partition(":")
    return cast("Callable[[Report], str]", getattr(import_module(f"{__package__}.{module}"), function))


def _parameter(form: Form) -> str:
    return f"{form.name}_target"


def _takes_many(place: str | Path) -> bool:
    return isinstance(place, Path) and place.exists() and not place.is_file()  # /dev/null


def _tried(output: Output, act: Callable[[Path], None]) -> None:
    try:
        act(Path(output.target))
    except OSError as problem:
        raise Misuse(f"{output.option}: {problem}") from None
