"""The report as a self-contained HTML page: one file, no network access, styles and script inside.

The page has a picture of the calls that test the threshold. E is the estimated number of tokens in a result.
A result should be offloaded if its E is above the threshold, and inline otherwise.
"""

from __future__ import annotations

import base64
import hashlib
import math
import re
import shlex
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Literal

from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape
from markupsafe import Markup, escape

from lro_conformance.judging.results import DecidedCall, Report, RequirementResult, Span
from lro_conformance.judging.verdicts import Verdict
from lro_conformance.report.causes import causes, next_step
from lro_conformance.report.details import (
    CheckDetail,
    Detail,
    check_detail,
    detail_of,
    evidence_lines,
    failure_lines,
    failure_reproducer,
    reason_of,
    same_as,
)
from lro_conformance.report.exit_code import is_must_up_to
from lro_conformance.report.sanitize import clean, one_line
from lro_conformance.report.view import MARKS, facts, gate, level_fact

PAGES = Path(__file__).parent / "pages"

MIN_BAR_S = 0.005
"""Shortest duration that is shown in the timing chart, in seconds. A trial that has nothing to try takes less."""

MIN_DISTANCE = 1_000
"""The picture of the threshold extends at least this far to both sides of the threshold, in tokens."""

Kind = Literal["sent", "received", "about"]
"""Kind of a line of evidence: sent to the server, received from it, or about the exchange, such as its settings."""

SECTIONS = (
    ("warned", "Warnings", (Verdict.WARN,)),
    ("unseen", "Not observed", (Verdict.NOT_OBSERVED, Verdict.ATTESTED)),
    ("met", "Passed", (Verdict.PASS,)),
    ("unjudged", "Not judged", (Verdict.NOT_JUDGED,)),
    ("idle", "Not applicable", (Verdict.NOT_APPLICABLE,)),
)
"""Key, heading and verdicts of each part of the page after "Not met"."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of evidence."""

    number: int
    """From 1."""
    kind: Kind
    text: str
    marked: bool
    """True for the line that shows the observation."""
    start: int = 0
    end: int = 0
    """Offsets that enclose the offending key and value in the text. They are equal if nothing is marked."""
    name: str = ""
    """The marked key, such as ``summary/count``."""


@dataclass(frozen=True, slots=True)
class CheckEntry:
    """A check on the page."""

    detail: CheckDetail
    lines: tuple[Line, ...]
    decides: bool
    """True if the check has the same verdict as the requirement."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A requirement on the page."""

    id: str
    title: str
    group: str
    verdict: Verdict
    binding: str
    level: str
    """Value of the level filter: ``1`` to ``3``, or ``none``."""
    statement: str
    reason: str
    fix: str
    is_unfolded: bool
    """True if the details of the entry are shown when the page is opened."""
    checks: tuple[CheckEntry, ...]
    cause: str = ""
    """The id of the first requirement with the same cause. Empty for the first requirement itself, and for all
    requirements that did not fail."""
    others: tuple[str, ...] = ()
    """The ids of the other failures with the same cause; empty unless this requirement is the first."""


@dataclass(frozen=True, slots=True)
class LevelBar:
    """The MUSTs up to a level by verdict, as parts of a bar. MUSTs that are not judged or do not apply are left out."""

    number: int
    verdict: str
    in_words: str
    """The counts in words, for screen readers."""
    parts: tuple[tuple[str, float, float], ...]
    """Verdict, start and width of each part; start and width are in percent of the bar."""


@dataclass(frozen=True, slots=True)
class GridRow:
    """The requirements of a group, with a cell for each."""

    group: str
    cells: tuple[RequirementResult, ...]


@dataclass(frozen=True, slots=True)
class Dot:
    """Calls at one distance from the threshold, with one outcome; *x* is in percent of the strip."""

    x: float
    outcome: str
    is_right: bool


@dataclass(frozen=True, slots=True)
class Strip:
    """The calls of an operation by their distance from the threshold."""

    operation: str
    in_words: str
    """The picture in words, for screen readers."""
    dots: tuple[Dot, ...]


@dataclass(frozen=True, slots=True)
class ThresholdPicture:
    """All calls whose E is known, by their distance from the threshold."""

    strips: tuple[Strip, ...]
    ticks: tuple[tuple[float, str], ...]
    """Place, in percent of the strip, and label of each mark on the axis."""
    boundary: float
    """Place of the line between the results that should be inline and those that should be offloaded, in percent."""
    calls: tuple[DecidedCall, ...]


@dataclass(frozen=True, slots=True)
class Part:
    """Requirements under one heading."""

    key: str
    heading: str
    entries: tuple[Entry, ...]


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar of the timing chart; *start* and *width* are percentages of the run."""

    name: str
    title: str
    kind: str
    start: float
    width: float
    duration: str
    started: str
    """Like `duration`, a text with a unit."""
    problem: str


def to_html(report: Report) -> str:
    """The report as one HTML document."""
    parts = [Part(key, heading, tuple(_entries(report, verdicts))) for key, heading, verdicts in SECTIONS]
    parts.insert(0, Part("unmet", "Not met", tuple(_unmet(report))))
    return render(
        "report.html.j2",
        report=report,
        title=one_line(f"{report.server.name or 'The server'} {report.server.version}".strip(), 120),
        levels=[(n, v, level_fact(report, n).text.removeprefix(v)) for n, v in sorted(report.levels.items())],
        level_bars=level_bars(report),
        grid=grid(report),
        threshold=threshold_picture(report),
        facts=[
            fact for fact in facts(report) if not fact.label.startswith("Level ") and fact.label not in ("next", "gate")
        ],
        gate=gate(report),
        step=next_step(report),
        failure=failure_lines(report),
        reproducer=failure_reproducer(report),
        parts=[part for part in parts if part.entries],
        verdicts=[(v, sum(r.verdict is v for r in report.requirements)) for v in reversed(Verdict)],
        bars=chart(report),
        command=one_line(shlex.join(report.server.command)),
        total=len(report.requirements),
    )


def level_bars(report: Report) -> tuple[LevelBar, ...]:
    """A bar for each level: its MUSTs by verdict, the best first."""
    return tuple(_level_bar(report, number) for number in sorted(report.levels))


def _level_bar(report: Report, number: int) -> LevelBar:
    order = (Verdict.PASS, Verdict.ATTESTED, Verdict.WARN, Verdict.NOT_OBSERVED, Verdict.FAIL, Verdict.ERROR)
    counts = Counter(r.verdict for r in report.requirements if is_must_up_to(r.requirement, number))
    total = sum(counts[v] for v in order)
    parts: list[tuple[str, float, float]] = []
    start = 0.0
    for verdict in order:
        if counts[verdict]:
            width = 100 * counts[verdict] / total
            parts.append((verdict.label, round(start, 2), round(width, 2)))
            start += width
    in_words = ", ".join(f"{counts[v]} {v.label}" for v in order if counts[v]) or "none applies"
    return LevelBar(number, report.levels[number], in_words, tuple(parts))


def grid(report: Report) -> tuple[GridRow, ...]:
    """All requirements by group."""
    groups = dict.fromkeys(r.requirement.group for r in report.requirements)
    return tuple(
        GridRow(one_line(g), tuple(r for r in report.requirements if r.requirement.group == g)) for g in groups
    )


def threshold_picture(report: Report) -> ThresholdPicture | None:
    """A picture of the calls whose E is known, with a strip for each operation. None if there are no such calls."""
    calls = tuple(
        replace(c, operation=one_line(c.operation, 40), detail=one_line(c.detail, 40)) for c in report.decided
    )
    if not calls:
        return None
    max_distance = max(MIN_DISTANCE, *(abs(c.estimate - c.threshold) for c in calls))
    places = (f"{sign}{10**n}" for n in range(1, len(str(max_distance)), 2) for sign in "-+")
    ticks = sorted((_place(int(d), max_distance), d.replace("-", "−")) for d in places)
    names = dict.fromkeys(c.operation for c in calls)
    strips = tuple(_strip(n, [c for c in calls if c.operation == n], max_distance) for n in names)
    order = sorted(calls, key=lambda c: (list(names).index(c.operation), c.estimate - c.threshold))
    return ThresholdPicture(strips, tuple(ticks), _place(0.5, max_distance), tuple(order))


def _strip(operation: str, calls: Sequence[DecidedCall], max_distance: int) -> Strip:
    counts = Counter(c.outcome for c in calls if c.is_right)
    wrong = sum(not c.is_right for c in calls)
    in_words = (
        f"{operation}: {counts['inline']} inline at or below the threshold, {counts['offloaded']} offloaded above it"
    )
    dots = {Dot(_place(c.estimate - c.threshold, max_distance), c.outcome, c.is_right) for c in calls}
    return Strip(operation, f"{in_words}, {wrong} wrong" if wrong else in_words, tuple(sorted(dots, key=lambda d: d.x)))


def _place(distance: float, max_distance: int) -> float:
    """Place of a distance from the threshold, in percent of the strip.

    A distance of 0 is in the middle; the scale is logarithmic on both sides.
    """
    share = math.log10(1 + abs(distance)) / math.log10(1 + max_distance)
    return round(50 + math.copysign(46 * share, distance), 2)


def render(template: str, **values: Any) -> str:
    """Render a template with its styles and its script inline. Its Content-Security-Policy allows only these, and
    images that are part of the page."""
    style, script = _asset("page.css"), _asset("page.js")
    policy = (
        f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; img-src data:; base-uri 'none'; "
        "form-action 'none'"
    )
    page = (
        _environment()
        .get_template(template)
        .render(**values, style=Markup(style), script=Markup(script), policy=policy, marks=MARKS)
    )
    return clean(page.strip() + "\n")


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(PAGES),
        autoescape=select_autoescape(default=True, default_for_string=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["code_spans"] = _code_spans
    environment.filters["linked"] = _linked
    return environment


def _code_spans(text: str) -> Markup:
    """Prose of the catalogue as HTML; text between backticks becomes code."""
    pieces = text.split("`")
    if len(pieces) % 2 == 0:
        return escape(text)
    return Markup("").join(Markup("<code>{}</code>").format(p) if n % 2 else escape(p) for n, p in enumerate(pieces))


def _linked(text: str) -> Markup:
    """Text in which ids of requirements are links to their entries on the page."""
    pieces = _ID.split(text)
    return Markup("").join(
        Markup('<a class="id" href="#{0}">{0}</a>').format(p) if n % 2 else escape(p) for n, p in enumerate(pieces)
    )


_ID = re.compile(r"\b(LRO-[A-Z]+-[0-9]+)\b")


@cache
def _asset(name: str) -> str:
    return (PAGES / name).read_text(encoding="utf-8").strip()


def _hash(text: str) -> str:
    """Source expression of a Content-Security-Policy that allows exactly this text."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _entries(report: Report, verdicts: tuple[Verdict, ...]) -> Iterable[Entry]:
    first_ids: dict[str, str] = {}
    for verdict in verdicts:
        for result in (r for r in report.requirements if r.verdict is verdict):
            entry = _entry(result)
            yield replace(entry, checks=tuple(_shown_once(c, entry.id, first_ids) for c in entry.checks))


def _shown_once(check: CheckEntry, id: str, first_ids: dict[str, str]) -> CheckEntry:
    """Return the check without evidence and script if an earlier requirement was not observed for the same reason.

    *first_ids* maps each reason to the first requirement with this reason; a new reason is added. All other checks are
    returned unchanged: those with a new reason, those without a script, and those that were observed.
    """
    reason = "\n".join(check.detail.observed)
    if check.detail.verdict is not Verdict.NOT_OBSERVED or not check.detail.reproduce:
        return check
    first = first_ids.setdefault(reason, id)
    if first == id:
        return check
    detail = replace(check.detail, observed=(same_as(first),), evidence=(), reproduce=(), location="")
    return replace(check, detail=detail, lines=())


def _unmet(report: Report) -> Iterable[Entry]:
    """Failures and errors by cause, in the order in which to repair them; the first of each cause is unfolded."""
    results = {r.requirement.id: r for r in report.requirements}
    for cause in causes(report):
        others = tuple(d.id for d in cause.others)
        yield replace(_entry(results[cause.first.id], cause.first), is_unfolded=True, others=others)
        for detail in cause.others:
            yield replace(_entry(results[detail.id], detail), cause=cause.first.id)


def _entry(result: RequirementResult, detail_in_cause: Detail | None = None) -> Entry:
    """The entry of a requirement. If *detail_in_cause* is given, it takes the place of the requirement's details. It
    lacks the evidence that the first failure with the same cause already shows."""
    detail = detail_in_cause or detail_of(result)
    details_by_name = {c.name: c for c in detail.checks}
    return Entry(
        detail.id,
        one_line(detail.title),
        one_line(result.requirement.group),
        detail.verdict,
        detail.binding,
        str(result.requirement.level or "none"),
        one_line(detail.statement),
        "" if detail.verdict is Verdict.PASS else reason_of(result),
        one_line(detail.fix),
        is_unfolded=False,
        checks=tuple(
            _check_entry(details_by_name.get(one_line(c.name)) or check_detail(c), result)
            for c in sorted(result.checks, key=lambda c: c.verdict, reverse=True)
        ),
    )


def _check_entry(detail: CheckDetail, result: RequirementResult) -> CheckEntry:
    return CheckEntry(detail, transcript(detail.evidence), detail.verdict is result.verdict)


def transcript(evidence: Sequence[str]) -> tuple[Line, ...]:
    """Classify lines of evidence, and mark the line that shows the observation.

    It is the first line with a marked key. If no key is marked, it is the last line that was sent by the server. If
    there are no lines of the server either, as in a listing of files, no line is marked.
    """
    lines = list(evidence_lines(evidence))
    kinds: list[Kind] = [_kind(line.text) for line in lines]
    received = [n for n, kind in enumerate(kinds) if kind == "received"]
    marked = next((n for n, line in enumerate(lines) if line.end > line.start), received[-1] if received else None)
    return tuple(
        Line(n + 1, kind, line.text, n == marked, line.start, line.end, line.name)
        for n, (kind, line) in enumerate(zip(kinds, lines, strict=True))
    )


def _kind(text: str) -> Kind:
    if text.startswith("→ "):
        return "sent"
    return "received" if text.startswith("← ") else "about"


def chart(report: Report) -> tuple[Bar, ...]:
    """Bars of the timing chart, in order of their start. Spans shorter than `MIN_BAR_S` have no bar."""
    end = max([report.duration_s, *(s.started_s + s.duration_s for s in report.timeline)])
    return tuple(_bar(s, end) for s in report.timeline if s.duration_s >= MIN_BAR_S)


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
