"""What `lro certify` says to the shell."""

from __future__ import annotations

from lro_conformance.report.model import Report
from lro_conformance.verdicts import Verdict
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
    is never held against the server, but nothing is certified over it either.
    """
    if report.failure is not None:
        return NO_VERDICT
    if report.claimed is None:
        if any(r.verdict is Verdict.FAIL and _binds(r.requirement, 3) for r in report.requirements):
            return FAILS
        return NO_VERDICT if any(r.verdict is Verdict.ERROR for r in report.requirements) else HOLDS
    found = report.levels.get(report.claimed, "unproved")
    if found in ("proved", "attested"):
        return HOLDS
    if found == "failed":
        return FAILS
    erred = any(r.verdict is Verdict.ERROR and _binds(r.requirement, report.claimed) for r in report.requirements)
    return NO_VERDICT if erred else FAILS


def _binds(requirement: Requirement, claimed: int) -> bool:
    return requirement.keyword == "MUST" and requirement.level is not None and requirement.level <= claimed
