"""Failures grouped by cause, servers that could not be used, and the next step to take.

Failures probably have one cause if their checks note the same *place*: a place in a document with the kind of
deviation, or a known circumstance such as a file that is shared by several calls (`CheckResult.place`).
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, replace

from lro_conformance.judging.results import Report, RequirementResult
from lro_conformance.judging.subjects import (
    CONCURRENT_CALL,
    DETAIL_EVERYWHERE,
    ESTIMATE_IN_HEADERS,
    OPERATION_EVERYWHERE,
    SHARED_FILE,
)
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

MAX_SHOWN_CAUSES = 6
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
    """If a short view leaves out the script: its length, and where to find it. *reproduce* is then empty."""


def troubles(report: Report) -> list[Trouble]:
    """Servers that could not be used in an experiment, with one entry for each reason. Empty if the run has no
    verdict."""
    troubles_by_text: dict[str, Trouble] = {}
    for result in report.requirements if report.failure is None else ():
        for check in result.checks:
            if check.verdict is not Verdict.NOT_OBSERVED or not check.reproduce:
                continue
            previous = troubles_by_text.get(check.observed)
            detail = check_detail(check)
            ids = (*(previous.ids if previous else ()), result.requirement.id)
            troubles_by_text[check.observed] = Trouble(
                one_line(check.observed, 1_000),
                tuple(dict.fromkeys(ids)),
                detail.evidence,
                detail.location,
                detail.reproduce,
            )
    return list(troubles_by_text.values())


def shown_troubles(report: Report, brevity: Brevity | None) -> list[Trouble]:
    """Troubles as a terminal shows them: the first one with some of its evidence, the others without evidence.

    If *brevity* is None, all troubles are shown in full.
    """
    all_troubles = troubles(report)
    if brevity is None or not all_troubles:
        return all_troubles
    first, *rest = all_troubles
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
        """The ids of all requirements that failed for this cause."""
        return (self.first.id, *(d.id for d in self.others))


def causes(report: Report) -> list[Cause]:
    """Failures and errors by cause, in the order in which to repair them.

    Errors of the suite come first. The other causes are ordered by the lowest level that they block. Of the causes that
    block the same level, those with the most failures come first.
    """
    groups: dict[tuple[object, ...], list[RequirementResult]] = {}
    for result in report.requirements:
        if result.verdict in (Verdict.FAIL, Verdict.ERROR):
            groups.setdefault(_cause_key(result), []).append(result)
    all_causes = [_cause(results) for results in groups.values()]
    return sorted(all_causes, key=lambda c: (c.first.verdict is not Verdict.ERROR, c.level or 9, -len(c.others)))


def _cause_key(result: RequirementResult) -> tuple[object, ...]:
    """Return a key that is the same for all results with one cause.

    Results have one cause if they have the same verdict and the same place. If they have no place, they need the same
    verdict, observation and evidence instead. A requirement without checks has a cause of its own.

    The key is taken from the check with the worst verdict. If several checks have that verdict, a check is preferred
    whose place is mapped to this requirement by `ROOT_REQUIREMENTS`.
    """
    id = result.requirement.id
    worst = max(
        result.checks, key=lambda c: (c.verdict, bool(c.place) and ROOT_REQUIREMENTS.get(c.place) == id), default=None
    )
    if worst is None:
        return (id,)
    if worst.place:
        return (result.verdict, worst.place)
    observed = _SUBJECT_COUNT.sub("", worst.observed)
    return (result.verdict, observed, worst.evidence) if worst.evidence else (result.verdict, observed)


ROOT_REQUIREMENTS = {
    SHARED_FILE: "LRO-NAME-04",
    CONCURRENT_CALL: "LRO-NAME-04",
    ESTIMATE_IN_HEADERS: "LRO-FILE-13",
    OPERATION_EVERYWHERE: "LRO-FILE-04",
    DETAIL_EVERYWHERE: "LRO-FILE-08",
}
"""Maps a place to the requirement whose fix ends all failures at that place."""

_SUBJECT_COUNT = re.compile(r" \(\d+ of \d+ subjects\)$")
"""The count at the end of an observation. It may differ between failures that have one cause."""


def _cause(results: list[RequirementResult]) -> Cause:
    levels = [r.requirement.level for r in results if r.requirement.level is not None and _is_must(r)]
    roots = {ROOT_REQUIREMENTS.get(c.place) for r in results for c in r.checks}
    ordered = sorted(results, key=lambda r: (r.requirement.id not in roots, r.requirement.level or 9))
    first, *other_details = map(detail_of, ordered)
    shown_evidence = {c.evidence for c in first.checks}
    return Cause(
        first, tuple(_without_repeated_evidence(d, shown_evidence) for d in other_details), min(levels, default=None)
    )


def _without_repeated_evidence(detail: Detail, shown_evidence: Container[tuple[str, ...]]) -> Detail:
    """Return *detail*, in which all checks whose evidence is in *shown_evidence* lose their evidence, script and
    location."""
    checks = (
        replace(c, evidence=(), reproduce=(), location="") if c.evidence in shown_evidence else c for c in detail.checks
    )
    return replace(detail, checks=tuple(checks))


def first_failure(all_causes: Iterable[Cause]) -> Cause | None:
    """The first cause that is a failure of the server, or None if there is no such cause. A short view shows it in
    full."""
    return next((cause for cause in all_causes if cause.first.verdict is Verdict.FAIL), None)


def omitted_ids(all_causes: Sequence[Cause]) -> str:
    """An abbreviated list of the requirements whose causes are omitted by a short view. Empty if no cause is
    omitted."""
    return abbreviated([id for cause in all_causes[MAX_SHOWN_CAUSES:] for id in cause.ids], 12)


def _is_must(result: RequirementResult) -> bool:
    return result.requirement.keyword == "MUST"


def next_step(report: Report) -> str | None:
    """A sentence that says how to prove the next level: what to repair or, if no level failed, what the suite has to
    observe.

    None if there is no verdict, if only some of the requirements were judged, or if all levels are proved. Also None if
    only attestations or errors of the suite keep a level from being proved, or if the notes already say what to do.
    """
    if report.failure is not None or is_selection(report):
        return None
    failed = [n for n in sorted(report.levels) if report.levels[n] == "failed"]
    if not failed:
        return _next_observation(report)
    level = failed[0]
    blocking_causes = [c for c in causes(report) if c.level is not None and c.level <= level]
    same_cause_notes = [f" (and {len(c.others)} with the same cause)" if c.others else "" for c in blocking_causes]
    first_ids = abbreviated(
        [f"{c.first.id}{also}" for c, also in zip(blocking_causes, same_cause_notes, strict=True)], 8
    )
    repairs = f"this: {first_ids}" if len(blocking_causes) == 1 else f"these {len(blocking_causes)}: {first_ids}"
    if trouble := _trouble_in_words(report):
        repairs = f"{trouble}, then {repairs}"
    if unobserved := _unobserved_musts(report, level):
        return f"fix {repairs}, and certify again: level {level} also needs {_ids(unobserved)}, not observed so far"
    if report.implemented is False:
        step = f"fix {repairs}; only then do the other requirements of LRO apply"
        may_claim = report.achieved > 0 and report.claimed is None
        claim = f"claim level {report.achieved}, which needs no LRO (--level {report.achieved}), or "
        return f"{claim if may_claim else ''}{step}"
    return f"fix {repairs}, and level {_proved_by_repair(report, blocking_causes, level)} is proved"


def _proved_by_repair(report: Report, blocking_causes: Iterable[Cause], level: int) -> int:
    """The highest level that is proved once the *blocking_causes* are repaired; at least *level*."""
    fixed = {id for cause in blocking_causes for id in cause.ids}
    judged = [(r.requirement, Verdict.PASS if r.requirement.id in fixed else r.verdict) for r in report.requirements]
    further = range(level + 1, max(report.levels) + 1)
    return max(itertools.takewhile(lambda n: level_verdict(n, judged) == "proved", further), default=level)


def _next_observation(report: Report) -> str | None:
    """The step towards the lowest unproved level: to let the suite observe requirements, or to fix what hides them."""
    unproved = (n for n in sorted(report.levels) if report.levels[n] == "unproved")
    unobserved = _unobserved_musts(report, next(unproved, 0))
    if not unobserved:
        return None
    if trouble := _trouble_in_words(report):
        return f"fix {trouble}"
    if report.incomplete and any(r.reason == report.incomplete for r in unobserved):
        return (
            f"run the suite to its end, to observe {_ids(unobserved)}: {one_line(report.incomplete, REASON_CHARACTERS)}"
        )
    if {r.reason for r in unobserved} <= {*report.notes}:  # the notes give this reason, and say what to do
        return None
    first = "" if len(unobserved) == 1 else "the first: "
    return f"let the suite observe {_ids(unobserved)} ({first}{reason_of(unobserved[0])})"


def _trouble_in_words(report: Report) -> str:
    """A phrase about the servers that could not be used, with the number of requirements that were not observed for
    that reason. Empty if there are no such servers."""
    hidden = {id for trouble in troubles(report) for id in trouble.ids}
    return f"the trouble that hides {len(hidden)} requirement{'s' * (len(hidden) > 1)}" if hidden else ""


def _unobserved_musts(report: Report, level: int) -> list[RequirementResult]:
    """The MUSTs of *level* and of the levels below it that were not observed."""
    return [
        r
        for r in report.requirements
        if r.verdict is Verdict.NOT_OBSERVED and _is_must(r) and 0 < (r.requirement.level or 0) <= level
    ]


def _ids(results: Iterable[RequirementResult]) -> str:
    return abbreviated([r.requirement.id for r in results])
