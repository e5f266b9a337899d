"""Output files of a command: one option for each form of the report.

A command is decorated with ``@output_options``. It calls `Outputs.check` before its work; afterwards it shows the
report that `Outputs.with_baseline` returns, and writes the files with `Outputs.write`. Renderings are imported when
they are used, so that ``--help`` does not load them.
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

from lro_conformance import PROFILE_NAME
from lro_conformance.errors import UsageError
from lro_conformance.report.atomic import check_target, resolve_links, write_text

if TYPE_CHECKING:
    from lro_conformance.judging.results import Report
    from lro_conformance.report.baseline import Entry
    from lro_conformance.report.formats.attestation import Subject

STDOUT = "-"
"""Target that stands for standard output."""

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class ReportFormat:
    """A form in which a report can be written, such as JSON or a badge."""

    name: str
    """The option, without dashes."""
    help: str
    renderers: tuple[tuple[str, str], ...]
    """Pairs of the ending of a file's name and the function that renders such a file. The function is written as
    ``module:function``, relative to `package`. The name of a file must have one of the endings. For standard output,
    the first pair is used."""
    argument: str = ""
    """Name of the attribute of `Outputs` that is the second argument of the function. Empty if the function has no
    second argument."""
    package: str = f"{__package__}.formats"

    def renderer(self, target: str) -> Callable[..., str]:
        """The function that renders a file of this name. Raises `UsageError` if the name has no known ending."""
        names = [name for ending, name in self.renderers if target.lower().endswith(ending)]
        if target == STDOUT:
            names = [name for _, name in self.renderers]
        if not names:
            endings = " or ".join(ending for ending, _ in self.renderers)
            raise UsageError(f"--{self.name} {target}: expected a name that ends with {endings}")
        module, _, function = names[0].partition(":")
        return getattr(import_module(f".{module}", self.package), function)


FORMATS = (
    ReportFormat(
        "json", "The whole report (lro-report/1). Here and below, - is standard output.", (("", "json:to_json"),)
    ),
    ReportFormat("junit", "JUnit XML, for the test views of CI.", (("", "junit:to_junit"),)),
    ReportFormat("html", "HTML page in one file, no network access.", (("", "html:to_html"),)),
    ReportFormat("markdown", "Markdown, for a step summary or a comment.", (("", "markdown:to_markdown"),)),
    ReportFormat("sarif", "SARIF 2.1.0, for code scanning.", (("", "sarif:to_sarif"),), argument="profile"),
    ReportFormat(
        "badge",
        "Badge: F.svg, or F.json for shields.io; repeatable.",
        ((".svg", "badge:to_svg"), (".json", "badge:to_endpoint")),
    ),
    ReportFormat(
        "write-baseline",
        "A baseline that accepts today's failures, for --baseline; add the reasons yourself. Changes no exit code.",
        (("", "baseline:to_baseline"),),
    ),
    ReportFormat(
        "attestation",
        "Unsigned in-toto test-result statement about --subject.",
        (("", "attestation:to_attestation"),),
        argument="subjects",
    ),
)


@dataclass(frozen=True, slots=True)
class Output:
    """A requested output file."""

    format: ReportFormat
    target: str
    """A path, or ``-`` for standard output."""

    @property
    def option(self) -> str:
        """The option as the user wrote it."""
        return f"--{self.format.name} {self.target}"


@dataclass(frozen=True, slots=True)
class Outputs:
    """All requested output files, with what their renderings need."""

    files: tuple[Output, ...] = ()
    subjects: tuple[Subject, ...] = ()
    """Artifacts that an attestation is about, with their digests from before the run."""
    baseline: tuple[Entry, ...] = ()
    """Entries of the baseline."""
    profile: str = PROFILE_NAME
    """Path of the profile, to which all results in SARIF point."""

    def with_baseline(self, report: Report) -> Report:
        """The report with the baseline applied, if there is one."""
        if not self.baseline:
            return report
        from lro_conformance.report.baseline import apply_baseline

        return apply_baseline(report, self.baseline)

    def for_edition(self, edition: str) -> Outputs:
        """Output files for a further edition: ``report.json`` becomes ``report.lro-paper.json``.

        Standard output and special files are excluded, because they take one report only.
        """
        regular = [o for o in self.files if o.target != STDOUT and not _is_device(resolve_links(Path(o.target)))]
        paths = [(o, Path(o.target)) for o in regular]
        files = [replace(o, target=str(path.with_name(f"{path.stem}.{edition}{path.suffix}"))) for o, path in paths]
        return replace(self, files=tuple(files))

    @property
    def uses_stdout(self) -> bool:
        """True if an output goes to standard output, which then must not be used for anything else."""
        return any(o.target == STDOUT for o in self.files)

    def check(self) -> None:
        """Raise `UsageError` if the outputs cannot be written as requested.

        It is raised if a file cannot be written, if its name has an ending that its form does not know, or if an
        attestation has no subject. It is also raised if two outputs have the same target, unless this is a device such
        as ``/dev/null``.
        """
        by_target: dict[str | Path, Output] = {}
        for output in self.files:
            if output.format.argument == "subjects" and not self.subjects:
                raise UsageError(f"{output.option} needs --subject: the tested artifact, a file or NAME@sha256:HEX")
            output.format.renderer(output.target)
            target = output.target if output.target == STDOUT else resolve_links(Path(output.target))
            if target in by_target and not _is_device(target):
                raise UsageError(f"{by_target[target].option} and {output.option} would overwrite each other")
            by_target[target] = output
            if output.target != STDOUT:
                _attempt(output, lambda path: check_target(path))

    def without(self, form: str) -> Outputs:
        """The outputs, without the files of one form."""
        return replace(self, files=tuple(o for o in self.files if o.format.name != form))

    @property
    def paths(self) -> list[str]:
        """The paths of all output files. Standard output is left out."""
        return [o.target for o in self.files if o.target != STDOUT]

    def targets(self, form: str) -> list[str]:
        """The targets of a form, including standard output."""
        return [o.target for o in self.files if o.format.name == form]

    def write(self, report: Any) -> None:
        """Render *report* in the form of each output file, and write the files. It may also be a comparison or a
        weighing.

        If a file cannot be written, the other files are written nevertheless. Then `UsageError` is raised for the first
        error.
        """
        problems: list[UsageError] = []
        for output in self.files:
            text = self.text(output, report)
            if output.target == STDOUT:
                sys.stdout.write(text)
                sys.stdout.flush()
                continue
            try:
                _attempt(output, lambda path, text=text: write_text(text, path))
            except UsageError as problem:
                problems.append(problem)
        if problems:
            raise problems[0]

    def text(self, output: Output, report: Any) -> str:
        """The content of an output file."""
        render = output.format.renderer(output.target)
        return render(report, getattr(self, output.format.argument)) if output.format.argument else render(report)


def output_options(command: Callable[..., Result]) -> Callable[..., Result]:
    """Add the options for report files, ``--baseline`` and ``--subject`` to a click command.

    The command receives all of them as the parameter ``outputs``.
    """

    @wraps(command)
    def with_options(outputs: Outputs, **parameters: Any) -> Result:
        subjects, baseline = tuple(_subjects(parameters.pop("subjects"))), _baseline(parameters.pop("baseline"))
        return command(outputs=replace(outputs, subjects=subjects, baseline=baseline), **parameters)

    with_options = click.option(
        "--baseline",
        type=click.Path(path_type=Path),
        metavar="F",
        help="Known failures to accept until a date; stale or expired entries fail.",
    )(with_options)
    with_options = click.option(
        "--subject",
        "subjects",
        multiple=True,
        metavar="A",
        help="Artifact for --attestation: a file, or NAME@sha256:HEX; repeatable.",
    )(with_options)
    return format_options(FORMATS)(with_options)


def format_options(formats: Sequence[ReportFormat]) -> Callable[[Callable[..., Result]], Callable[..., Result]]:
    """Add an option for each format to a click command, which receives them as the parameter ``outputs``."""

    def decorate(command: Callable[..., Result]) -> Callable[..., Result]:
        @wraps(command)
        def with_outputs(**parameters: Any) -> Result:
            requested = [(report_format, parameters.pop(_parameter(report_format))) for report_format in formats]
            files = tuple(Output(report_format, target) for report_format, targets in requested for target in targets)
            return command(outputs=Outputs(files), **parameters)

        for report_format in reversed(formats):
            name, path = _parameter(report_format), click.Path(allow_dash=True)
            option = click.option(
                f"--{report_format.name}", name, type=path, metavar="F", multiple=True, help=report_format.help
            )
            with_outputs = option(with_outputs)
        return with_outputs

    return decorate


def _subjects(artifacts: tuple[str, ...]) -> Iterator[Subject]:
    if artifacts:
        from lro_conformance.report.formats.attestation import subject

        yield from map(subject, artifacts)


def _baseline(path: Path | None) -> tuple[Entry, ...]:
    if path is None:
        return ()
    from lro_conformance.report.baseline import load

    return load(path)


def _parameter(report_format: ReportFormat) -> str:
    return f"{report_format.name.replace('-', '_')}_targets"


def _is_device(target: str | Path) -> bool:
    return isinstance(target, Path) and target.exists() and not target.is_file()  # such as /dev/null


def _attempt(output: Output, action: Callable[[Path], None]) -> None:
    try:
        action(Path(output.target))
    except OSError as problem:
        raise UsageError(f"{output.option}: {problem.strerror or problem}: name another file") from None
