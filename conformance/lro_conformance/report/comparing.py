"""Reports side by side: what changed between two, and how several servers stand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from lro_conformance.report.layout import bound_extensions, reason_of
from lro_conformance.report.model import Report, RequirementResult
from lro_conformance.report.text import one_line
from lro_conformance.verdicts import Verdict

Direction = Literal["worse", "better", "other"]

WORDS: dict[Direction, str] = {"worse": "Worse", "better": "Better", "other": "Otherwise changed"}


@dataclass(frozen=True, slots=True)
class Change:
    """A requirement or a level that is not what it was; None where one of the reports does not have it."""

    id: str
    title: str
    old: str | None
    new: str | None
    direction: Direction
    why: str
    """What the newer report saw, or the older one where it was mended."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """What changed from one report to another."""

    old: str
    new: str
    """What each is, in a line."""
    changes: tuple[Change, ...]
    """Levels first, then requirements in their order; the worse ones before the better ones."""
    notes: tuple[str, ...]
    """Why the reports may differ for other reasons than the server."""

    @property
    def worse(self) -> bool:
        """Whether anything is."""
        return any(c.direction == "worse" for c in self.changes)

    def of(self, direction: Direction) -> tuple[Change, ...]:
        """The changes of one direction."""
        return tuple(c for c in self.changes if c.direction == direction)


@dataclass(frozen=True, slots=True)
class MatrixRow:
    """One requirement or level; a verdict for each report, None where it does not have it."""

    id: str
    title: str
    verdicts: tuple[str | None, ...]


@dataclass(frozen=True, slots=True)
class Matrix:
    """Several reports side by side."""

    columns: tuple[str, ...]
    rows: tuple[MatrixRow, ...]
    left_out: int
    """How many requirements are not shown, because all of them pass or do not apply everywhere."""


def compare(old: Report, new: Report, names: tuple[str, str]) -> Comparison:
    """What changed from *old* to *new*; *names* are those of the files."""
    changes = [*_levels(old, new), *_requirements(old, new)]
    order: list[Direction] = ["worse", "better", "other"]
    return Comparison(
        describe(old, names[0]),
        describe(new, names[1]),
        tuple(sorted(changes, key=lambda c: order.index(c.direction))),
        tuple(_notes(old, new)),
    )


def matrix(reports: Sequence[Report], names: Sequence[str], *, every: bool = False) -> Matrix:
    """How each report stands on each requirement; with *every*, also on those that are met by all."""
    results = [{r.requirement.id: r for r in report.requirements} for report in reports]
    ids = list(dict.fromkeys(id for of in results for id in of))
    rows: list[MatrixRow] = []
    for id in ids:
        found = [of.get(id) for of in results]
        title = next(one_line(r.requirement.title) for r in found if r is not None)
        if every or any(r is None or r.verdict > Verdict.PASS for r in found):
            rows.append(MatrixRow(id, title, tuple(None if r is None else r.verdict.label for r in found)))
    levels = [
        MatrixRow(f"Level {n}", "", tuple(None if r.failure is not None else r.levels[n] for r in reports))
        for n in (1, 2, 3)
    ]
    groups = dict.fromkeys(name for r in reports for name in bound_extensions(r))
    levels += [MatrixRow(name, "", tuple(r.extensions.get(name) for r in reports)) for name in groups]
    columns = tuple(describe(r, name) for r, name in zip(reports, names, strict=True))
    return Matrix(columns, (*levels, *rows), len(ids) - len(rows))


def describe(report: Report, name: str) -> str:
    """A report in a line: whose, of which edition, what came of it, and its file."""
    who = " ".join(part for part in (report.server.name or "a server", report.server.version) if part)
    found = (
        "no verdict" if report.failure is not None else f"level {report.achieved}" if report.achieved else "no level"
    )
    return one_line(f"{who}, {report.edition}, {found}, {report.started_at[:10]} ({name})", 200)


def _levels(old: Report, new: Report) -> list[Change]:
    if old.failure is not None or new.failure is not None:
        if (old.failure is None) == (new.failure is None):
            return []
        direction: Direction = "worse" if new.failure is not None else "better"
        why = one_line(new.failure or old.failure or "", 200)
        told = ["none" if r.failure is not None else "observed" for r in (old, new)]
        return [Change("Verdict", "", told[0], told[1], direction, why)]
    rank = {"failed": 0, "unproved": 1, "attested": 2, "proved": 3}
    return [
        Change(f"Level {n}", "", was, now, "worse" if rank[now] < rank[was] else "better", "")
        for n in (1, 2, 3)
        if (was := old.levels[n]) != (now := new.levels[n])
    ]


def _requirements(old: Report, new: Report) -> list[Change]:
    was, now = ({r.requirement.id: r for r in report.requirements} for report in (old, new))
    return [
        change for id in dict.fromkeys((*was, *now)) if (change := _change(id, was.get(id), now.get(id))) is not None
    ]


def _change(id: str, was: RequirementResult | None, now: RequirementResult | None) -> Change | None:
    if was is not None and now is not None and was.verdict is now.verdict:
        return None
    one = now or was
    title = one_line(one.requirement.title) if one is not None else ""
    if was is None or now is None:
        old, new = (None if r is None else r.verdict.label for r in (was, now))
        worse = now is not None and now.verdict in (Verdict.FAIL, Verdict.ERROR)
        return Change(id, title, old, new, "worse" if worse else "other", reason_of(now) if now and worse else "")
    direction: Direction = "other"
    if now.verdict > was.verdict and now.verdict > Verdict.PASS:
        direction = "worse"
    elif now.verdict < was.verdict and was.verdict > Verdict.PASS:
        direction = "better"
    told = was if direction == "better" else now
    why = "" if told.verdict is Verdict.PASS else reason_of(told)
    return Change(id, title, was.verdict.label, now.verdict.label, direction, why)


def _notes(old: Report, new: Report) -> list[str]:
    pairs = (
        ("edition", old.edition, new.edition),
        ("version of lro-spec", old.suite_version, new.suite_version),
        ("server", old.server.name, new.server.name),
        ("command", " ".join(old.server.command), " ".join(new.server.command)),
    )
    return [one_line(f"another {what}: {was} → {now}", 300) for what, was, now in pairs if was != now]
