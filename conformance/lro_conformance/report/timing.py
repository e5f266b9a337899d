"""The timing chart of a run, as shares of its width."""

from __future__ import annotations

from dataclasses import dataclass

from lro_conformance.report.model import Report, Span
from lro_conformance.report.text import one_line

SHORTEST_S = 0.005
"""What took less is not drawn: a property check that found nothing to try."""


@dataclass(frozen=True, slots=True)
class Bar:
    """A stretch of the run; *start* and *width* are in percent of it."""

    name: str
    title: str
    kind: str
    start: float
    width: float
    seconds: str
    """How long it took, for readers."""
    began: str
    problem: str


def chart(report: Report) -> tuple[Bar, ...]:
    """The bars in the order in which they began."""
    end = max([report.duration_s, *(s.started_s + s.duration_s for s in report.timeline)])
    return tuple(_bar(s, end) for s in report.timeline if s.duration_s >= SHORTEST_S)


def _bar(span: Span, end: float) -> Bar:
    start = round(100 * span.started_s / end, 2)
    return Bar(
        one_line(span.name, 80),
        one_line(span.title, 120),
        span.kind,
        start,
        round(min(max(100 * span.duration_s / end, 0.4), 100 - start), 2),
        f"{span.duration_s:.1f} s" if span.duration_s >= 0.1 else f"{1000 * span.duration_s:.0f} ms",
        f"{span.started_s:.1f} s",
        one_line(span.problem or "", 300),
    )
