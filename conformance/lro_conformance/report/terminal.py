"""A run and its report as plain text for terminals and logs, and the choice between plain text and the live view."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from types import TracebackType
from typing import Protocol, Self, TextIO

from lro_conformance.judging.events import Event, TrialFinished, TrialStarted
from lro_conformance.judging.results import Report
from lro_conformance.report.causes import (
    MAX_SHOWN_CAUSES,
    Cause,
    Trouble,
    causes,
    first_failure,
    omitted_ids,
    shown_troubles,
)
from lro_conformance.report.details import (
    BREVITY_STEPS,
    TWO_SCREENS_LINES,
    Brevity,
    CheckDetail,
    Detail,
    abridged,
    details,
    failure_lines,
    failure_reproducer,
    shortened,
    terminal_lines,
)
from lro_conformance.report.sanitize import escape_unencodable, one_line
from lro_conformance.report.view import brief_facts, facts, sections, verbose_hint

QUIET, NORMAL, VERBOSE = -1, 0, 1
LABEL_WIDTH = 14  # of the longest verdict, not-applicable
_UNSHORTENED = Brevity()


class View(Protocol):
    """Observer of a run, used as a context manager; shows the report afterwards."""

    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None, /
    ) -> None: ...
    def __call__(self, event: Event, /) -> None:
        """Process an event; may be called from any thread."""
        ...

    def show(self, report: Report, *, brief: bool = False) -> None:
        """Show a report after the run. If *brief* is true, show only those lines of its summary that differ between the
        editions of a run."""
        ...


def open_view(stream: TextIO, *, plain: bool = False, verbosity: int = NORMAL) -> View:
    """Return the plain view if *plain* is true, if *stream* is not a terminal, or if NO_COLOR or TERM=dumb is set.
    Otherwise return the live view."""
    escape_unencodable(stream)
    if plain or not stream.isatty() or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return PlainView(stream, verbosity)
    from lro_conformance.report.live import LiveView  # takes 60 ms

    return LiveView(stream, verbosity)


class PlainView:
    """Unwrapped lines without terminal escapes, in a fixed order, so that they can be compared and searched."""

    def __init__(self, stream: TextIO, verbosity: int = NORMAL) -> None:
        self._stream = stream
        self._verbosity = verbosity
        self._titles: dict[str, str] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def __call__(self, event: Event) -> None:
        """Process an event; may be called from any thread."""
        if isinstance(event, TrialStarted):
            self._titles[event.trial] = f" ({one_line(event.title, 80)})"
        # trials finish in any order: their lines go to standard error, so that the output always has the same order
        if self._verbosity >= VERBOSE and isinstance(event, TrialFinished):
            problem = f": {one_line(event.problem)}" if event.problem else ""
            title = self._titles.get(event.trial, "")
            sys.stderr.write(f"trial {one_line(event.trial)}{title} {event.seconds:.1f} s{problem}\n")
            sys.stderr.flush()

    def show(self, report: Report, *, brief: bool = False) -> None:
        """Write the report."""
        columns = shutil.get_terminal_size().columns if self._stream.isatty() else None
        for line in brief_lines(report) if brief else plain_lines(report, self._verbosity, columns):
            self._stream.write(line + "\n")
        self._stream.flush()


def plain_lines(report: Report, verbosity: int = NORMAL, columns: int | None = None) -> Iterator[str]:
    """The report as plain lines. If it is not verbose, it is shortened in steps until it fits two screens of a
    terminal.

    *columns* is the width of the terminal. It is None if the lines go to a file or a pipe, where lines are not wrapped.
    """
    lines: list[str] = []
    for step in BREVITY_STEPS:
        lines = list(_lines(report, verbosity, Brevity(step, columns)))
        if verbosity >= VERBOSE or terminal_lines(lines, columns) <= TWO_SCREENS_LINES:
            break
    yield from lines


def _lines(report: Report, verbosity: int, brevity: Brevity) -> Iterator[str]:
    if report.failure is None and verbosity > QUIET:
        for section in sections(report, unfold=verbosity >= VERBOSE, count=brevity.counts_rows):
            yield section.heading
            for row in section.rows:
                line = f"{row.verdict.label:<{LABEL_WIDTH}}  {row.id:<12}  {row.text}"
                width = brevity.columns if brevity.cuts_rows and brevity.columns is not None else len(line)
                yield line if len(line) <= width else f"{line[: width - 1]}…"
            yield ""
    if verbosity >= VERBOSE:
        for detail in details(report, warnings=True):
            yield from detail_lines(detail)
            yield ""
    else:
        yield from cause_lines(causes(report), brevity)
        if text := verbose_hint(report):
            yield f"more           {text}"
            yield ""
    for trouble in shown_troubles(report, None if verbosity >= VERBOSE else brevity):
        yield from trouble_lines(trouble)
        yield ""
    for number, line in enumerate(failure_lines(report)):
        yield f"no verdict      {line}" if number == 0 else f"                {line}"
    if reproducer := failure_reproducer(report):
        yield "reproduce"
        yield from reproducer
    for fact in facts(report):
        yield f"{fact.label:<{LABEL_WIDTH}}  {fact.text}"


def brief_lines(report: Report) -> Iterator[str]:
    """Those lines of the summary that differ between the editions of a run, for the reports after the first."""
    yield ""
    for fact in brief_facts(report):
        yield f"{fact.label:<{LABEL_WIDTH}}  {fact.text}"


def detail_lines(detail: Detail) -> Iterator[str]:
    """All details of a requirement as plain lines."""
    yield f"{detail.verdict.label.upper()} {detail.id} {detail.title} ({detail.binding})"
    yield f"  requirement  {detail.statement}"
    if detail.reason:
        yield f"  reason       {detail.reason}"
    for check in detail.checks:
        yield from _check_lines(check)
    yield from fix_lines(detail)


def cause_lines(all_causes: list[Cause], brevity: Brevity = _UNSHORTENED) -> Iterator[str]:
    """Failures by cause as plain lines: one in full, the others in brief."""
    in_full = first_failure(all_causes)
    for cause in all_causes[:MAX_SHOWN_CAUSES]:
        yield from (
            detail_lines(shortened(cause.first, brevity)) if cause is in_full else brief_detail_lines(cause.first)
        )
        if cause.others:
            yield f"  same cause   {', '.join(d.id for d in cause.others)}"
        yield ""
    if rest := omitted_ids(all_causes):
        yield f"also failed    {rest}"


def brief_detail_lines(detail: Detail) -> Iterator[str]:
    """A requirement that was not met, without its evidence."""
    yield f"{detail.verdict.label.upper()} {detail.id} {detail.title} ({detail.binding})"
    for check in detail.checks[:1]:
        yield f"  expected     {abridged(check.expected)}"
        yield f"  observed     {abridged(check.observed)}"
    yield from (line for line in fix_lines(detail) if not line.startswith("  more"))


def trouble_lines(trouble: Trouble) -> Iterator[str]:
    """A server that could not be used in an experiment, as plain lines."""
    yield f"TROUBLE {trouble.text}"
    yield f"  unobserved   {', '.join(trouble.ids)}"
    yield from trouble.evidence
    if trouble.location:
        yield f"  transcript   {trouble.location}"
    yield from _script_lines(trouble.reproduce, trouble.omitted)


def _script_lines(script: tuple[str, ...], omitted: str) -> Iterator[str]:
    if omitted:
        yield f"  reproduce    {omitted}"
    elif script:
        yield "  reproduce"
        yield from script  # unindented, for pasting


def _check_lines(check: CheckDetail) -> Iterator[str]:
    yield f"  check        {check.name} ({check.subjects} examined)"
    for label, texts in (("expected", check.expected), ("observed", check.observed)):
        for number, text in enumerate(texts):
            yield f"  {label if number == 0 else '':<11}  {text}"
    if check.evidence:
        yield "  evidence"
        yield from check.evidence
    if check.location:
        yield f"  transcript   {check.location}"
    yield from _script_lines(check.reproduce, check.omitted)


def fix_lines(detail: Detail) -> Iterator[str]:
    """Instructions for fixing a failure, or a request to report an error of the suite."""
    if detail.verdict.label == "error":
        yield "  fix          this is a defect of lro-spec, not of the server: please report it"
    else:
        yield f"  fix          {detail.fix}"
        yield f"  more         lro explain {detail.id}"
