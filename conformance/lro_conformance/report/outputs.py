"""The files that a command writes beside what it prints: one option for each, one table for all.

A command takes them with ``@output_options``, asks `Outputs.check` before its work, and after it
`Outputs.final` for the report and `Outputs.write` for the files.
Each rendering is imported when it is asked for, so that ``--help`` waits for none of them.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import wraps
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from lro_conformance.misuse import Misuse
from lro_conformance.report.target import check_target, real, write_text

if TYPE_CHECKING:
    from lro_conformance.report.attestation import Subject
    from lro_conformance.report.baseline import Entry
    from lro_conformance.report.model import Report

STDOUT = "-"
PROFILE_NAME = "lro.yaml"
"""The profile of a working directory."""
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Form:
    """A form that a report can be written in."""

    name: str
    """Its option, without the dashes."""
    help: str
    renderers: tuple[tuple[str, str], ...]
    """What the name of the file ends with, and ``module:function`` below this package, which makes the whole text.
    Where several are given, the name must end with one of them; standard output gets the first."""
    takes: str = ""
    """What of `Outputs` the function takes after the report; empty where it needs nothing more."""

    def renderer(self, target: str) -> Callable[..., str]:
        """What makes the text for a file of this name. Raises `Misuse` when the name does not tell."""
        found = [made for ending, made in self.renderers if target.lower().endswith(ending)]
        if target == STDOUT:
            found = [made for _, made in self.renderers]
        if not found:
            endings = " or ".join(ending for ending, _ in self.renderers)
            raise Misuse(f"--{self.name} {target}: expected a name that ends with {endings}")
        module, _, function = found[0].partition(":")
        return getattr(import_module(f"{__package__}.{module}"), function)


FORMS = (
    Form("json", "The whole report (lro-report/1); -: stdout, as below.", (("", "jsonfile:to_json"),)),
    Form("junit", "JUnit XML, for the test views of CI.", (("", "junit:to_junit"),)),
    Form("html", "A page for people: one file, no network.", (("", "page:to_html"),)),
    Form("markdown", "Markdown, for a step summary or a comment.", (("", "markdown:to_markdown"),)),
    Form("sarif", "SARIF 2.1.0, for code scanning.", (("", "scanning:to_sarif"),), takes="profile"),
    Form(
        "badge",
        "A badge: F.svg, or F.json for shields.io; may be given twice.",
        ((".svg", "badge:to_svg"), (".json", "badge:to_endpoint")),
    ),
    Form(
        "attestation",
        "An in-toto test-result statement about --subject, to be signed.",
        (("", "attestation:to_attestation"),),
        takes="subjects",
    ),
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
    subjects: tuple[Subject, ...] = ()
    """The artifacts that an attestation is about, as they were before the run."""
    baseline: tuple[Entry, ...] = ()
    """What is accepted for a while."""
    profile: str = PROFILE_NAME
    """The file that the server's profile is in, or would be."""

    def final(self, report: Report) -> Report:
        """The report as it is shown, written and decided by: held to the baseline, if there is one."""
        if not self.baseline:
            return report
        from lro_conformance.report.baseline import held_to

        return held_to(report, self.baseline)

    def beside(self, edition: str) -> Outputs:
        """The same files for the report of another edition: ``report.json`` becomes ``report.lro-paper.json``.

        Standard output and what is no plain file have room for one report.
        """
        files = [o for o in self.wanted if o.target != STDOUT and not _takes_many(real(Path(o.target)))]
        named = [(o, Path(o.target)) for o in files]
        wanted = [replace(o, target=str(path.with_name(f"{path.stem}.{edition}{path.suffix}"))) for o, path in named]
        return replace(self, wanted=tuple(wanted))

    @property
    def takes_stdout(self) -> bool:
        """Whether one of them goes to standard output, so that nothing else may."""
        return any(o.target == STDOUT for o in self.wanted)

    def check(self) -> None:
        """Raises `Misuse` when one of them could not be written, or two would overwrite each other."""
        taken: dict[str | Path, Output] = {}
        for output in self.wanted:
            if output.form.takes == "subjects" and not self.subjects:
                raise Misuse(f"{output.option} needs --subject: the artifact that is tested, a file or NAME@sha256:HEX")
            output.form.renderer(output.target)
            place = output.target if output.target == STDOUT else real(Path(output.target))
            if place in taken and not _takes_many(place):
                raise Misuse(f"{taken[place].option} and {output.option} would overwrite each other")
            taken[place] = output
            if output.target != STDOUT:
                _tried(output, lambda path: check_target(path))

    def write(self, report: Any) -> None:
        """Writes a report, or what else the forms are of, to all of them.

        Raises `Misuse` for the first that cannot be written, after the others were.
        """
        problems: list[Misuse] = []
        for output in self.wanted:
            text = self.text(output, report)
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

    def text(self, output: Output, report: Any) -> str:
        """What is written there."""
        render = output.form.renderer(output.target)
        return render(report, getattr(self, output.form.takes)) if output.form.takes else render(report)


def output_options(command: Callable[..., Result]) -> Callable[..., Result]:
    """Gives a click command the options for reports; they reach it together, as ``outputs``."""

    @wraps(command)
    def with_more(outputs: Outputs, **given: Any) -> Result:
        subjects, baseline = tuple(_subjects(given.pop("subjects"))), _baseline(given.pop("baseline"))
        return command(outputs=replace(outputs, subjects=subjects, baseline=baseline), **given)

    with_more = click.option(
        "--baseline",
        type=click.Path(path_type=Path),
        metavar="F",
        help="Failures that are accepted for a while; one that is stale or has expired is a failure.",
    )(with_more)
    with_more = click.option(
        "--subject", "subjects", multiple=True, metavar="A", help="The artifact: a file, or NAME@sha256:HEX."
    )(with_more)
    return form_options(FORMS)(with_more)


def form_options(forms: Sequence[Form]) -> Callable[[Callable[..., Result]], Callable[..., Result]]:
    """Gives a click command an option for each form; they reach it together, as ``outputs``."""

    def decorated(command: Callable[..., Result]) -> Callable[..., Result]:
        @wraps(command)
        def with_outputs(**given: Any) -> Result:
            chosen = [(form, given.pop(_parameter(form))) for form in forms]
            wanted = tuple(Output(form, target) for form, targets in chosen for target in targets)
            return command(outputs=Outputs(wanted), **given)

        for form in reversed(forms):
            name, path = _parameter(form), click.Path(allow_dash=True)
            option = click.option(f"--{form.name}", name, type=path, metavar="F", multiple=True, help=form.help)
            with_outputs = option(with_outputs)
        return with_outputs

    return decorated


def _subjects(given: tuple[str, ...]) -> Iterator[Subject]:
    if given:
        from lro_conformance.report.attestation import subject

        yield from map(subject, given)


def _baseline(path: Path | None) -> tuple[Entry, ...]:
    if path is None:
        return ()
    from lro_conformance.report.baseline import load

    return load(path)


def _parameter(form: Form) -> str:
    return f"{form.name}_targets"


def _takes_many(place: str | Path) -> bool:
    return isinstance(place, Path) and place.exists() and not place.is_file()  # /dev/null


def _tried(output: Output, act: Callable[[Path], None]) -> None:
    try:
        act(Path(output.target))
    except OSError as problem:
        raise Misuse(f"{output.option}: {problem}") from None
