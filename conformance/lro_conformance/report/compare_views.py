"""Comparisons of reports as plain text, Markdown and HTML."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lro_conformance.judging.verdicts import Verdict
from lro_conformance.report.compare import HEADINGS, Change, Comparison, Matrix
from lro_conformance.report.formats.badge import Badge, badge
from lro_conformance.report.formats.markdown import SIGNS, code, plain, table
from lro_conformance.report.sanitize import one_line
from lro_conformance.report.view import MARKS

if TYPE_CHECKING:
    from lro_conformance.report.formats.html import LevelBar

_LEVEL_MARKS = {"proved": "✓", "failed": "✗", "unproved": "–", "attested": "a"}
_LEVEL_SIGNS = {"proved": "✅", "failed": "❌", "unproved": "❔", "attested": "📝"}

_OMITTED = "passed, do not apply or are not judged in every report"
"""A description of the requirements without a row in a matrix. It is the end of a relative clause."""


def text_lines(comparison: Comparison | Matrix) -> Iterator[str]:
    """The comparison as plain lines."""
    yield from _matrix_lines(comparison) if isinstance(comparison, Matrix) else _comparison_lines(comparison)


def to_markdown(comparison: Comparison | Matrix) -> str:
    """GitHub-flavoured Markdown."""
    blocks = _matrix_blocks(comparison) if isinstance(comparison, Matrix) else _comparison_blocks(comparison)
    return "\n\n".join(blocks) + "\n"


def to_html(comparison: Comparison | Matrix) -> str:
    """A self-contained HTML document."""
    from lro_conformance.report.formats.html import level_bars, render  # the import takes 100 ms

    board = (
        [
            BoardEntry(
                column_letter(number),
                " ".join(
                    one_line(part, 120) for part in (report.server.name or "a server", report.server.version) if part
                ),
                report.started_at[:10],
                one_line(file, 120),
                badge(report),
                level_bars(report) if report.failure is None else (),
            )
            for number, (report, file) in enumerate(zip(comparison.reports, comparison.files, strict=True))
        ]
        if isinstance(comparison, Matrix)
        else []
    )
    return render(
        "compare.html.j2",
        comparison=comparison,
        headings=HEADINGS,
        is_matrix=isinstance(comparison, Matrix),
        mark=mark,
        board=board,
        columns=_trend_columns(board) if isinstance(comparison, Matrix) and comparison.is_trend else [],
    )


@dataclass(frozen=True, slots=True)
class Column:
    """A run in the picture of a trend. Its column consists of the MUSTs with a verdict other than *pass*, stacked by
    verdict.

    MUSTs that are not judged or do not apply are left out. Positions and sizes are in percent of the picture.
    """

    letter: str
    """See `column_letter`."""
    outcome: str
    left: float
    middle: float
    width: float
    parts: tuple[tuple[str, float, float], ...]
    """Verdict, top and height of each part, from the bottom up."""
    top: float
    """Top of the whole column."""


_MAX_COLUMN_HEIGHT = 70
"""Height of the highest column, in percent of the picture."""


def _trend_columns(board: Sequence[BoardEntry]) -> list[Column]:
    unmet_parts = [[(v, share) for v, _, share in s.bars[-1].parts if v != "pass"] if s.bars else [] for s in board]
    highest = max(1.0, *(sum(share for _, share in parts) for parts in unmet_parts))
    width = 100 / len(board)
    columns: list[Column] = []
    for number, (entry, parts) in enumerate(zip(board, unmet_parts, strict=True)):
        placed_parts: list[tuple[str, float, float]] = []
        top = float(_MAX_COLUMN_HEIGHT + 10)
        for verdict, share in parts:
            height = _MAX_COLUMN_HEIGHT * share / highest
            top -= height
            placed_parts.append((verdict, round(top, 2), round(height, 2)))
        left = number * width
        columns.append(
            Column(
                entry.letter,
                entry.badge.message,
                round(left + 0.15 * width, 2),
                round(left + width / 2, 2),
                round(0.7 * width, 2),
                tuple(placed_parts),
                round(top, 2),
            )
        )
    return columns


@dataclass(frozen=True, slots=True)
class BoardEntry:
    """A report on a scoreboard or in a trend."""

    letter: str
    server: str
    day: str
    file: str
    badge: Badge
    bars: tuple[LevelBar, ...]
    """A bar for each level; empty if there is no verdict."""


def mark(verdict: str | None) -> str:
    """The sign of a verdict of a requirement or level."""
    return _sign(verdict, _LEVEL_MARKS, MARKS)


def column_letter(column: int) -> str:
    """Short name of a column: a letter from A to Z, then numbers from 27. *column* is counted from 0."""
    return chr(ord("A") + column) if column < 26 else str(column + 1)


def _comparison_lines(comparison: Comparison) -> Iterator[str]:
    yield f"old        {comparison.old}"
    yield f"new        {comparison.new}"
    for note in comparison.notes:
        yield f"note       {note}"
    for direction in HEADINGS:
        for change in comparison.in_direction(direction):
            reason = f": {change.reason}" if change.reason else ""
            yield f"{direction:<9}  {change.id:<12}  {_arrow(change)}  {change.title}{reason}".rstrip()
    counts = ", ".join(f"{len(comparison.in_direction(d))} {d}" for d in HEADINGS if comparison.in_direction(d))
    yield f"changed    {counts or 'nothing'}"


def _arrow(change: Change) -> str:
    return f"{change.old or 'absent'} → {change.new or 'absent'}"


def _matrix_lines(comparison: Matrix) -> Iterator[str]:
    for number, column in enumerate(comparison.columns):
        yield f"{column_letter(number):<12}  {column}"
    yield ""
    yield f"{'':<12}  {'  '.join(column_letter(n) for n in range(len(comparison.columns)))}"
    for row in comparison.rows:
        yield f"{row.id:<12}  {'  '.join(mark(v) for v in row.verdicts)}  {row.title}".rstrip()
    yield ""
    legend = ", ".join(f"{sign} {verdict.label}" for verdict, sign in MARKS.items())
    yield f"{'signs':<12}  {legend}; levels: ✓ proved, ✗ failed, – unproved, a attested"
    if comparison.omitted:
        yield f"{'omitted':<12}  {comparison.omitted} requirements that {_OMITTED} (--all)"


def _comparison_blocks(comparison: Comparison) -> Iterator[str]:
    yield f"## {'❌ Something got worse' if comparison.is_worse else '✅ Nothing got worse'}"
    yield table(
        ("", ""),
        (("old", code(comparison.old)), ("new", code(comparison.new)), *(("note", code(n)) for n in comparison.notes)),
    )
    for direction, heading in HEADINGS.items():
        changes = comparison.in_direction(direction)
        if changes:
            yield f"### {heading} ({len(changes)})"
            yield table(
                ("Requirement", "Old", "New", "Reason"),
                (
                    (f"{plain(c.id)} {plain(c.title)}".strip(), _cell(c.old), _cell(c.new), code(c.reason))
                    for c in changes
                ),
            )
    if not comparison.changes:
        yield "No verdict changed."


def _matrix_blocks(comparison: Matrix) -> Iterator[str]:
    yield f"## {plain(comparison.title)}"
    yield table(("", "Report"), ((column_letter(n), code(column)) for n, column in enumerate(comparison.columns)))
    yield table(
        ("", *(column_letter(n) for n in range(len(comparison.columns)))),
        ((f"{plain(row.id)} {plain(row.title)}".strip(), *map(_cell, row.verdicts)) for row in comparison.rows),
    )
    if comparison.omitted:
        yield f"Omitted: {comparison.omitted} requirements that {_OMITTED}."


def _cell(verdict: str | None) -> str:
    return "absent" if verdict is None else f"{_sign(verdict, _LEVEL_SIGNS, SIGNS)} {plain(verdict)}".strip()


def _sign(label: str | None, levels: dict[str, str], verdicts: dict[Verdict, str]) -> str:
    if label is None:
        return " "
    signs = levels | {verdict.label: sign for verdict, sign in verdicts.items()}
    return signs.get(label, "")
