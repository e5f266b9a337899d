"""Comparing reports: changes between two, or a matrix of several."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from lro_conformance.judging.results import Report, RequirementResult
from lro_conformance.judging.verdicts import Verdict
from lro_conformance.report.details import reason_of
from lro_conformance.report.exit_code import is_selection, is_unselected
from lro_conformance.report.sanitize import one_line
from lro_conformance.report.view import applicable_extensions
from lro_spec.display import counted

Direction = Literal["worse", "better", "other"]

HEADINGS: dict[Direction, str] = {"worse": "Worse", "better": "Better", "other": "Other changes"}


@dataclass(frozen=True, slots=True)
class Change:
    """A changed verdict of a requirement or a level.

    If only one of the two runs has verdicts at all, one change with the id ``Verdict`` takes the place of all changes
    of levels. It is from ``observed`` to ``none``, or from ``none`` to ``observed``.
    """

    id: str
    title: str
    old: str | None
    """The verdict in the older report; None if that report does not have the requirement."""
    new: str | None
    """The verdict in the newer report; None if that report does not have the requirement."""
    direction: Direction
    reason: str
    """Reason for the verdict in the newer report. If the change is for the better, it is the reason for the verdict in
    the older report. Empty for a level and for a pass. Also empty if only one report has the requirement, unless it is
    a new requirement that failed or had an error."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Changes from an old report to a new one."""

    old: str
    new: str
    """Both reports, each in one line; see `describe`."""
    changes: tuple[Change, ...]
    """Sorted by direction: worse, better, other. Within a direction, levels come before requirements, and requirements
    are in the order of the reports."""
    notes: tuple[str, ...]
    """Differences between the runs that may explain changes: edition, version of the suite, server and command. There
    is also a note for each run that judged only some of the requirements."""

    @property
    def is_worse(self) -> bool:
        """True if any change is for the worse."""
        return any(c.direction == "worse" for c in self.changes)

    def in_direction(self, direction: Direction) -> tuple[Change, ...]:
        """The changes in one direction."""
        return tuple(c for c in self.changes if c.direction == direction)


@dataclass(frozen=True, slots=True)
class MatrixRow:
    """A requirement, a level or a group of an extension, with its verdict in each report; None if a report lacks it."""

    id: str
    title: str
    verdicts: tuple[str | None, ...]


@dataclass(frozen=True, slots=True)
class Matrix:
    """Several reports side by side: a scoreboard of several servers, or a trend of one server."""

    reports: tuple[Report, ...]
    """In a trend, the reports are in the order of the runs. Otherwise, the best report comes first."""
    files: tuple[str, ...]
    """The names of the files of `reports`, in the same order."""
    is_trend: bool
    """True if all reports are of one named server, by one edition."""
    rows: tuple[MatrixRow, ...]
    omitted: int
    """Number of requirements without a row, because in every report they passed, do not apply or are not judged."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Each report in one line, see `describe`."""
        return tuple(describe(r, name) for r, name in zip(self.reports, self.files, strict=True))

    @property
    def title(self) -> str:
        """A title for the matrix."""
        return f"Trend of {one_line(self.reports[0].server.name, 120)}" if self.is_trend else "Servers side by side"


def compare(old: Report, new: Report, names: tuple[str, str]) -> Comparison:
    """Compare two reports; *names* are the names of their files."""
    changes = [*_level_changes(old, new), *_requirement_changes(old, new)]
    order: list[Direction] = ["worse", "better", "other"]
    return Comparison(
        describe(old, names[0]),
        describe(new, names[1]),
        tuple(sorted(changes, key=lambda c: order.index(c.direction))),
        tuple(_notes(old, new)),
    )


def matrix(reports: Sequence[Report], names: Sequence[str], *, show_all: bool = False) -> Matrix:
    """The verdicts of each report. With *show_all*, all requirements have a row; `Matrix.omitted` is then 0."""
    is_trend = len({(r.server.name, r.edition) for r in reports}) == 1 and bool(reports[0].server.name)
    ordered = sorted(zip(reports, names, strict=True), key=_started if is_trend else _rank)
    reports = [report for report, _ in ordered]
    results = [{r.requirement.id: r for r in report.requirements} for report in reports]
    ids = list(dict.fromkeys(id for by_id in results for id in by_id))
    rows: list[MatrixRow] = []
    for id in ids:
        verdicts = [by_id.get(id) for by_id in results]
        title = next(one_line(r.requirement.title) for r in verdicts if r is not None)
        if show_all or any(r is None or r.verdict > Verdict.PASS for r in verdicts):
            rows.append(MatrixRow(id, title, tuple(None if r is None else r.verdict.label for r in verdicts)))
    levels = [
        MatrixRow(f"Level {n}", "", tuple(None if r.failure is not None else r.levels[n] for r in reports))
        for n in (1, 2, 3)
    ]
    groups = dict.fromkeys(name for r in reports for name in applicable_extensions(r))
    levels += [MatrixRow(name, "", tuple(r.extensions.get(name) for r in reports)) for name in groups]
    return Matrix(tuple(reports), tuple(n for _, n in ordered), is_trend, (*levels, *rows), len(ids) - len(rows))


def _started(entry: tuple[Report, str]) -> str:
    return entry[0].started_at


def _rank(entry: tuple[Report, str]) -> tuple[bool, int, int]:
    """Sort key of a scoreboard. Reports with a higher level come first and, within a level, reports with more passes.
    Reports without a verdict come last."""
    report = entry[0]
    passed = sum(r.verdict is Verdict.PASS for r in report.requirements)
    return report.failure is not None, -report.achieved, -passed


def describe(report: Report, name: str) -> str:
    """A report in one line: server, edition, outcome, day and file."""
    who = " ".join(part for part in (report.server.name or "a server", report.server.version) if part)
    outcome = (
        "no verdict" if report.failure is not None else f"level {report.achieved}" if report.achieved else "no level"
    )
    return one_line(f"{who}, {report.edition}, {outcome}, {report.started_at[:10]} ({name})", 200)


def _level_changes(old: Report, new: Report) -> list[Change]:
    if old.failure is not None or new.failure is not None:
        if (old.failure is None) == (new.failure is None):
            return []
        direction: Direction = "worse" if new.failure is not None else "better"
        reason = one_line(new.failure or old.failure or "", 200)
        states = ["none" if r.failure is not None else "observed" for r in (old, new)]
        return [Change("Verdict", "", states[0], states[1], direction, reason)]
    if is_selection(old) or is_selection(new):
        return []  # a run of some requirements proves no level
    rank = {"failed": 0, "unproved": 1, "attested": 2, "proved": 3}
    return [
        Change(f"Level {n}", "", was, now, "worse" if rank[now] < rank[was] else "better", "")
        for n in (1, 2, 3)
        if (was := old.levels[n]) != (now := new.levels[n])
    ]


def _requirement_changes(old: Report, new: Report) -> list[Change]:
    was, now = ({r.requirement.id: r for r in report.requirements} for report in (old, new))
    left_out = {id for results in (was, now) for id, r in results.items() if is_unselected(r)}
    ids = (id for id in dict.fromkeys((*was, *now)) if id not in left_out)
    return [change for id in ids if (change := _change(id, was.get(id), now.get(id))) is not None]


def _change(id: str, was: RequirementResult | None, now: RequirementResult | None) -> Change | None:
    if was is not None and now is not None and was.verdict is now.verdict:
        return None
    result = now or was
    title = one_line(result.requirement.title) if result is not None else ""
    if was is None or now is None:
        old, new = (None if r is None else r.verdict.label for r in (was, now))
        worse = now is not None and now.verdict in (Verdict.FAIL, Verdict.ERROR)
        return Change(id, title, old, new, "worse" if worse else "other", reason_of(now) if now and worse else "")
    direction: Direction = "other"
    if now.verdict > was.verdict and now.verdict > Verdict.PASS:
        direction = "worse"
    elif now.verdict < was.verdict and was.verdict > Verdict.PASS:
        direction = "better"
    shown_result = was if direction == "better" else now
    reason = "" if shown_result.verdict is Verdict.PASS else reason_of(shown_result)
    return Change(id, title, was.verdict.label, now.verdict.label, direction, reason)


def _notes(old: Report, new: Report) -> list[str]:
    pairs = (
        ("edition", old.edition, new.edition),
        ("version of lro-spec", old.suite_version, new.suite_version),
        ("server", old.server.name, new.server.name),
        ("command", " ".join(old.server.command), " ".join(new.server.command)),
    )
    notes = [one_line(f"different {name}: {was} → {now}", 300) for name, was, now in pairs if was != now]
    for which, report in (("old", old), ("new", new)):
        if is_selection(report):
            judged = counted(sum(bool(r.checks) for r in report.requirements), "requirement")
            notes.append(f"the {which} run judged only {judged} (--only): no others and no levels are compared")
    return notes
