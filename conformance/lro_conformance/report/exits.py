"""What `lro certify` says to the shell."""

from __future__ import annotations

from collections.abc import Iterable

from lro_conformance.report.model import Report, RequirementResult
from lro_conformance.verdicts import LevelVerdict, Verdict, level_verdict, requirement_verdict
from lro_spec.requirements import Requirement

HOLDS = 0
"""What was claimed holds."""
FAILS = 1
"""It does not."""
NO_VERDICT = 3
"""The server could not be observed, or the suite itself failed."""


def exit_code(report: Report) -> int:
    """0 where what was claimed holds, 1 where it does not, 3 without a verdict.

    The claim is a level; without one it is that no MUST of any level failed. An *error* is the suite's own fault: it
    is never held against the server, but nothing is certified over it either. What a baseline accepts does not count;
    an entry of it that has expired or gone stale is a failure of its own.
    """
    if report.failure is not None:
        return NO_VERDICT
    if any(a.state in ("expired", "stale") for a in report.baseline):
        return FAILS
    judged = [(r.requirement, verdict) for r in report.requirements if (verdict := _counted(report, r)) is not None]
    if report.claimed is None:
        if any(v is Verdict.FAIL and binds(r, 3) for r, v in judged):
            return FAILS
        return NO_VERDICT if any(v is Verdict.ERROR for _, v in judged) else HOLDS
    found = _found(report, report.claimed, judged)
    if found in ("proved", "attested"):
        return HOLDS
    if found == "failed":
        return FAILS
    erred = any(v is Verdict.ERROR and binds(r, report.claimed) for r, v in judged)
    return NO_VERDICT if erred else FAILS


def _found(report: Report, claimed: int, judged: Iterable[tuple[Requirement, Verdict]]) -> LevelVerdict:
    """What the claimed level comes to without what is accepted."""
    if not any(a.state == "accepted" for a in report.baseline):
        return report.levels.get(claimed, "unproved")
    return level_verdict(claimed, judged)


def _counted(report: Report, result: RequirementResult) -> Verdict | None:
    """The verdict of a requirement without the checks that are accepted; None where nothing else saw anything."""
    accepted = {a.check for a in report.baseline if a.state == "accepted" and a.requirement == result.requirement.id}
    if not accepted:
        return result.verdict
    left = requirement_verdict([c.verdict for c in result.checks if c.name not in accepted])
    return None if left is Verdict.NOT_OBSERVED else left


def binds(requirement: Requirement, claimed: int) -> bool:
    """Whether a claim of this level rests on a requirement."""
    return requirement.keyword == "MUST" and requirement.level is not None and requirement.level <= claimed
