"""Failures grouped by cause, servers that could not be used, and the next step to take."""

from __future__ import annotations

import itertools
import re
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, replace

from lro_conformance.judging.results import Report, RequirementResult
from lro_conformance.judging.subjects import IN_FLIGHT, SHARED_FILE, STATED_ESTIMATE
from lro_conformance.judging.verdicts import Verdict, level_verdict
from lro_conformance.report.details import (
    REASON_CHARACTERS,
    Brevity,
    Detail,
    abbreviated,
    brief_lines,
    brief_script,
    check_detail,
    detail_of,
    reason_of,
)
from lro_conformance.report.exit_code import is_selection
from lro_conformance.report.sanitize import one_line

SHOWN = 6
"""Largest number of causes that a terminal shows, one of them with its evidence."""


@dataclass(frozen=True, slots=True)
class Trouble:
    """A server that could not be used in an experiment, and the requirements that were not observed because of that.

    For example, the server ended, fell silent or refused the handshake.
    """

    text: str
    ids: tuple[str, ...]
    evidence: tuple[str, ...]
    location: str
    reproduce: tuple[str, ...]
    omitted: str = ""
    """Length of the script and where to find it, if a short view leaves it out; *reproduce* is then empty."""


def troubles(report: Report) -> list[Trouble]:
    """Servers that could not be used in an experiment, once for each reason; empty if the run has no verdict at all."""
    found: dict[str, Trouble] = {}
    for result in report.requirements if report.failure is None else ():
        for check in result.checks:
            if check.verdict is not Verdict.NOT_OBSERVED or not check.reproduce:
                continue
            known = found.get(check.observed)
            detail = check_detail(check)
            ids = (*(known.ids if known else ()), result.requirement.id)
            found[check.observed] = Trouble(
                one_line(check.observed, 1_000),
                tuple(dict.fromkeys(ids)),
                detail.evidence,
                detail.location,
                detail.reproduce,
            )
    return list(found.values())


def shown_troubles(report: Report, brevity: Brevity | None) -> list[Trouble]:
    """Troubles as a terminal shows them: the first with some of its evidence, the others without any.

    Without *brevity*, all are in full.
    """
    found = troubles(report)
    if brevity is None or not found:
        return found
    first, *rest = found
    script, omitted = brief_script(first.reproduce, brevity)
    shown = replace(first, evidence=tuple(brief_lines(first.evidence)), reproduce=script, omitted=omitted)
    return [shown, *(replace(t, evidence=(), location="", reproduce=()) for t in rest)]


@dataclass(frozen=True, slots=True)
class Cause:
    """Failures that probably have one cause, so that one repair is likely to end all of them."""

    first: Detail
    """The failure to read first, with its evidence."""
    others: tuple[Detail, ...]
    """The other failures, without the evidence that *first* already shows."""
    level: int | None
    """The lowest level that the failures keep from being proved; None if they decide no level."""

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of all its requirements."""
        return (self.first.id, *(d.id for d in self.others))


def causes(report: Report) -> list[Cause]:
    """Failures and errors by cause, in the order in which to repair them.

    Errors of the suite come first. Then come the causes that block the lowest level; of these, the causes with the most
    failures come first.
    """
    groups: dict[tuple[object, ...], list[RequirementResult]] = {}
    for result in report.requirements:
        if result.verdict in (Verdict.FAIL, Verdict.ERROR):
            groups.setdefault(_cause_key(result), []).append(result)
    found = [_cause(results) for results in groups.values()]
    return sorted(found, key=lambda c: (c.first.verdict is not Verdict.ERROR, c.level or 9, -len(c.others)))


def _cause_key(result: RequirementResult) -> tuple[object, ...]:
    """A key that results share if they have the same verdict and the same place or, if they have no place, the same
    observation and evidence.

    The key is taken from the check with the worst verdict. If several have that verdict, one is preferred whose place
    `ROOTS` maps to this requirement.
    """
    id = result.requirement.id
    worst = max(result.checks, key=lambda c: (c.verdict, bool(c.place) and ROOTS.get(c.place) == id), default=None)
    if worst is None:
        return (id,)
    if worst.place:
        return (result.verdict, worst.place)
    observed = _TALLY.sub("", worst.observed)
    return (result.verdict, observed, worst.evidence) if worst.evidence else (result.verdict, observed)


ROOTS = {SHARED_FILE: "LRO-NAME-04", IN_FLIGHT: "LRO-NAME-04", STATED_ESTIMATE: "LRO-FILE-13"}
"""Maps a place to the requirement whose fix ends all failures at that place."""

_TALLY = re.compile(r" \(\d+ of \d+ subjects\)$")
"""End of an observation, which may differ between failures of one cause."""


def _cause(results: list[RequirementResult]) -> Cause:
    levels = [r.requirement.level for r in results if r.requirement.level is not None and _binds(r)]
    roots = {ROOTS.get(c.place) for r in results for c in r.checks}
    ordered = sorted(results, key=lambda r: (r.requirement.id not in roots, r.requirement.level or 9))
    first, *others = map(detail_of, ordered)
    seen = {c.evidence for c in first.checks}
    return Cause(first, tuple(_without(d, seen) for d in others), min(levels, default=None))


def _without(detail: Detail, seen: Container[tuple[str, ...]]) -> Detail:
    """The details without evidence, script and location of those checks whose evidence has already been shown."""
    checks = (replace(c, evidence=(), reproduce=(), location="") if c.evidence in seen else c for c in detail.checks)
    return replace(detail, checks=tuple(checks))


def first_failure(found: Iterable[Cause]) -> Cause | None:
    """The first cause that is a failure of the server, which a short view shows in full; None if there is none."""
    return next((cause for cause in found if cause.first.verdict is Verdict.FAIL), None)


def others(found: Sequence[Cause]) -> str:
    """The ids of the requirements whose causes a short view omits, as an abbreviated list; empty if it shows all."""
    return abbreviated([id for cause in found[SHOWN:] for id in cause.ids], 12)


def _binds(result: RequirementResult) -> bool:
    return result.requirement.keyword == "MUST"


def next_step(report: Report) -> str | None:
    """The repairs or, if no level failed, the observations that would prove the next level, as a sentence.

    None if there is no verdict, if only a part was judged, if all levels are proved, if nothing but attestations or
    errors of the suite keeps a level from being proved, or if the notes already say what to do.
    """
    if report.failure is not None or is_selection(report):
        return None
    failed = [n for n in sorted(report.levels) if report.levels[n] == "failed"]
    if not failed:
        return _next_observation(report)
    level = failed[0]
    blocking = [c for c in causes(report) if c.level is not None and c.level <= level]
    others = [f" (and {len(c.others)} with the same cause)" if c.others else "" for c in blocking]
    heads = abbreviated([f"{c.first.id}{also}" for c, also in zip(blocking, others, strict=True)], 8)
    what = f"this: {heads}" if len(blocking) == 1 else f"these {len(blocking)}: {heads}"
    if trouble := _hiding(report):
        what = f"{trouble}, then {what}"
    if unseen := _unobserved(report, level):
        return f"fix {what}, and certify again: level {level} also needs {_ids(unseen)}, not observed so far"
    if report.implemented is False:
        step = f"fix {what}; only then do the other requirements of LRO apply"
        may_claim = report.achieved > 0 and report.claimed is None
        claim = f"claim level {report.achieved}, which needs no LRO (--level {report.achieved}), or "
        return f"{claim if may_claim else ''}{step}"
    return f"fix {what}, and level {_proved_by_repair(report, blocking, level)} is proved"


def _proved_by_repair(report: Report, blocking: Iterable[Cause], level: int) -> int:
    """The highest level that is proved once the *blocking* causes are repaired; at least *level*."""
    fixed = {id for cause in blocking for id in cause.ids}
    judged = [(r.requirement, Verdict.PASS if r.requirement.id in fixed else r.verdict) for r in report.requirements]
    further = range(level + 1, max(report.levels) + 1)
    return max(itertools.takewhile(lambda n: level_verdict(n, judged) == "proved", further), default=level)


def _next_observation(report: Report) -> str | None:
    """The step towards the lowest unproved level: requirements to be observed, or the trouble that hides them."""
    unproved = (n for n in sorted(report.levels) if report.levels[n] == "unproved")
    unseen = _unobserved(report, next(unproved, 0))
    if not unseen:
        return None
    if trouble := _hiding(report):
        return f"fix {trouble}"
    if report.incomplete and any(r.reason == report.incomplete for r in unseen):
        return f"run the suite to its end, to observe {_ids(unseen)}: {one_line(report.incomplete, REASON_CHARACTERS)}"
    if {r.reason for r in unseen} <= {*report.notes}:  # the notes give this reason, and say what to do
        return None
    first = "" if len(unseen) == 1 else "the first: "
    return f"let the suite observe {_ids(unseen)} ({first}{reason_of(unseen[0])})"


def _hiding(report: Report) -> str:
    """Words for the servers that could not be used, with the number of requirements that were not observed because of
    that; empty if there are no such servers."""
    hidden = {id for trouble in troubles(report) for id in trouble.ids}
    return f"the trouble that hides {len(hidden)} requirement{'s' * (len(hidden) > 1)}" if hidden else ""


def _unobserved(report: Report, level: int) -> list[RequirementResult]:
    """The MUSTs up to a level that were not observed."""
    return [
        r
        for r in report.requirements
        if r.verdict is Verdict.NOT_OBSERVED and _binds(r) and 0 < (r.requirement.level or 0) <= level
    ]


def _ids(results: Iterable[RequirementResult]) -> str:
    return abbreviated([r.requirement.id for r in results])
