"""Comparisons of reports as lines of a terminal, as Markdown and as a page."""

from __future__ import annotations

from collections.abc import Iterator

from lro_conformance.report.comparing import WORDS, Change, Comparison, Matrix
from lro_conformance.report.layout import MARKS
from lro_conformance.report.markdown import SIGNS, code, plain, table
from lro_conformance.verdicts import Verdict

_LEVEL_MARKS = {"proved": "✓", "failed": "✗", "unproved": "–", "attested": "a"}
_LEVEL_SIGNS = {"proved": "✅", "failed": "❌", "unproved": "❔", "attested": "📝"}


def text_lines(made: Comparison | Matrix) -> Iterator[str]:
    """Plain lines, each of which means something to grep."""
    yield from _matrix_lines(made) if isinstance(made, Matrix) else _comparison_lines(made)


def to_markdown(made: Comparison | Matrix) -> str:
    """GitHub-flavoured Markdown."""
    blocks = _matrix_blocks(made) if isinstance(made, Matrix) else _comparison_blocks(made)
    return "\n\n".join(blocks) + "\n"


def to_html(made: Comparison | Matrix) -> str:
    """One HTML document, like that of a report."""
    from lro_conformance.report.page import rendered

    return rendered("compare.html.j2", made=made, words=WORDS, is_matrix=isinstance(made, Matrix), mark=mark)


def mark(found: str | None) -> str:
    """The sign of a verdict or of what was found of a level."""
    return _sign(found, _LEVEL_MARKS, MARKS)


def letter(column: int) -> str:
    """What a column is called where its whole name has no room: A to Z, then by number."""
    return chr(ord("A") + column) if column < 26 else str(column + 1)


def _comparison_lines(made: Comparison) -> Iterator[str]:
    yield f"old        {made.old}"
    yield f"new        {made.new}"
    for note in made.notes:
        yield f"note       {note}"
    for direction in WORDS:
        for change in made.of(direction):
            why = f": {change.why}" if change.why else ""
            yield f"{direction:<9}  {change.id:<12}  {_arrow(change)}  {change.title}{why}".rstrip()
    counts = ", ".join(f"{len(made.of(d))} {d}" for d in WORDS if made.of(d))
    yield f"changed    {counts or 'nothing'}"


def _arrow(change: Change) -> str:
    return f"{change.old or 'absent'} → {change.new or 'absent'}"


def _matrix_lines(made: Matrix) -> Iterator[str]:
    for number, column in enumerate(made.columns):
        yield f"{letter(number):<12}  {column}"
    yield ""
    yield f"{'':<12}  {'  '.join(letter(n) for n in range(len(made.columns)))}"
    for row in made.rows:
        yield f"{row.id:<12}  {'  '.join(mark(v) for v in row.verdicts)}  {row.title}".rstrip()
    yield ""
    legend = ", ".join(f"{sign} {verdict.label}" for verdict, sign in MARKS.items())
    yield f"{'signs':<12}  {legend}; levels: ✓ proved, ✗ failed, – unproved, a attested"
    if made.left_out:
        yield f"{'left out':<12}  {made.left_out} requirements that all of them pass or that apply to none (--all)"


def _comparison_blocks(made: Comparison) -> Iterator[str]:
    yield f"## {'❌ Something got worse' if made.worse else '✅ Nothing got worse'}"
    yield table(("", ""), (("old", code(made.old)), ("new", code(made.new)), *(("note", code(n)) for n in made.notes)))
    for direction, heading in WORDS.items():
        changes = made.of(direction)
        if changes:
            yield f"### {heading} ({len(changes)})"
            yield table(
                ("Requirement", "Was", "Is", "Why"),
                ((f"{plain(c.id)} {plain(c.title)}".strip(), _told(c.old), _told(c.new), code(c.why)) for c in changes),
            )
    if not made.changes:
        yield "No verdict changed."


def _matrix_blocks(made: Matrix) -> Iterator[str]:
    yield "## Servers side by side"
    yield table(("", "Report"), ((letter(n), code(column)) for n, column in enumerate(made.columns)))
    yield table(
        ("", *(letter(n) for n in range(len(made.columns)))),
        ((f"{plain(row.id)} {plain(row.title)}".strip(), *map(_told, row.verdicts)) for row in made.rows),
    )
    if made.left_out:
        yield f"{made.left_out} requirements that all of them pass, or that apply to none, are left out."


def _told(found: str | None) -> str:
    return "absent" if found is None else f"{_sign(found, _LEVEL_SIGNS, SIGNS)} {plain(found)}".strip()


def _sign(found: str | None, levels: dict[str, str], verdicts: dict[Verdict, str]) -> str:
    if found is None:
        return " "
    known = levels | {verdict.label: sign for verdict, sign in verdicts.items()}
    return known.get(found, "")
