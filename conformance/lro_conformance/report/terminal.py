"""The run and its report on a terminal or in a log. Rich is imported only where a terminal shows it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from types import TracebackType
from typing import Protocol, Self, TextIO

from lro_conformance.events import Event, TrialFinished
from lro_conformance.report.layout import (
    CheckDetail,
    Detail,
    brief_facts,
    details,
    facts,
    no_verdict,
    once_more,
    sections,
)
from lro_conformance.report.model import Report
from lro_conformance.report.text import one_line, tolerate

QUIET, NORMAL, VERBOSE = -1, 0, 1
LABEL_WIDTH = 14  # of the longest verdict, not-applicable


class View(Protocol):
    """Watches a run as its observer, inside a ``with``; shows the report afterwards."""

    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None, /
    ) -> None: ...
    def __call__(self, event: Event, /) -> None:
        """Takes an event, from any thread."""
        ...

    def show(self, report: Report, *, brief: bool = False) -> None:
        """Shows a report after the run; *brief*: what it comes to, for one of another edition beside the first."""
        ...


def open_view(stream: TextIO, *, plain: bool = False, verbosity: int = NORMAL) -> View:
    """The view for *stream*: live on a terminal, plain where it is none, where NO_COLOR is set, or on request."""
    tolerate(stream)
    if plain or not stream.isatty() or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return PlainView(stream, verbosity)
    from lro_conformance.report.live import LiveView  # 60 ms that a plain run does not need

    return LiveView(stream, verbosity)


class PlainView:
    """Lines without escapes, always in the same order, each of which means something to grep; nothing is wrapped."""

    def __init__(self, stream: TextIO, verbosity: int = NORMAL) -> None:
        self._stream = stream
        self._verbosity = verbosity

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def __call__(self, event: Event) -> None:
        """Takes an event, from any thread."""
        # experiments end in no fixed order: on request, and beside the report, whose order is fixed
        if self._verbosity >= VERBOSE and isinstance(event, TrialFinished):
            problem = f": {one_line(event.problem)}" if event.problem else ""
            sys.stderr.write(f"trial {one_line(event.trial)} {event.seconds:.1f} s{problem}\n")
            sys.stderr.flush()

    def show(self, report: Report, *, brief: bool = False) -> None:
        """Writes the report."""
        for line in brief_lines(report) if brief else plain_lines(report, self._verbosity):
            self._stream.write(line + "\n")
        self._stream.flush()


def plain_lines(report: Report, verbosity: int = NORMAL) -> Iterator[str]:
    """The report as plain lines."""
    if report.failure is None and verbosity > QUIET:
        for section in sections(report, unfold=verbosity >= VERBOSE):
            yield section.heading
            for row in section.rows:
                yield f"{row.verdict.label:<{LABEL_WIDTH}}  {row.id:<12}  {row.text}"
            yield ""
    for detail in details(report, warnings=verbosity >= VERBOSE):
        yield from detail_lines(detail)
        yield ""
    for number, line in enumerate(no_verdict(report)):
        yield f"no verdict      {line}" if number == 0 else f"                {line}"
    if again := once_more(report):
        yield "once more"
        yield from again
    for fact in facts(report):
        yield f"{fact.label:<{LABEL_WIDTH}}  {fact.text}"


def brief_lines(report: Report) -> Iterator[str]:
    """What a report comes to that stands beside another of the same run."""
    yield ""
    for fact in brief_facts(report):
        yield f"{fact.label:<{LABEL_WIDTH}}  {fact.text}"


def detail_lines(detail: Detail) -> Iterator[str]:
    """Everything about one requirement as plain lines."""
    yield f"{detail.verdict.label.upper()} {detail.id} {detail.title} ({detail.binding})"
    yield f"  requirement  {detail.statement}"
    if detail.reason:
        yield f"  reason       {detail.reason}"
    for check in detail.checks:
        yield from _check_lines(check)
    yield from mending(detail)


def _check_lines(check: CheckDetail) -> Iterator[str]:
    yield f"  check        {check.name} ({check.subjects} examined)"
    for label, texts in (("expected", check.expected), ("observed", check.observed)):
        for number, text in enumerate(texts):
            yield f"  {label if number == 0 else '':<11}  {text}"
    if check.evidence:
        yield "  evidence"
        yield from check.evidence
    if check.location:
        yield f"  kept in      {check.location}"
    if check.reproduce:
        yield "  once more"
        yield from check.reproduce  # from the first column: to be pasted


def mending(detail: Detail) -> Iterator[str]:
    """How a failure is mended, or whose fault an error is."""
    if detail.verdict.label == "error":
        yield "  mend         a defect of lro-spec, not of the server: please report it"
    else:
        yield f"  mend         {detail.mend}"
        yield f"  more         lro explain {detail.id}"
