"""The exit code of a report."""

from __future__ import annotations

from collections.abc import Iterable

from lro_conformance.errors import EXIT_FAILED, EXIT_NO_VERDICT, EXIT_OK
from lro_conformance.judging.results import UNSELECTED, Report, RequirementResult
from lro_conformance.judging.verdicts import LevelVerdict, Verdict, level_verdict, requirement_verdict
from lro_spec.catalogue import Requirement


def exit_code(report: Report) -> int:
    """`EXIT_OK` if the claim holds, `EXIT_FAILED` if it does not, `EXIT_NO_VERDICT` without a verdict.

    The claim is a level; without one, it is that no MUST of any level failed. There is no verdict if the server could
    not be observed, if no call showed whether it offloads, or if a run of some requirements observed none of them.

    An *error* is a defect of the suite. It never fails the server, but a MUST of the claimed level (without a claim:
    any requirement) with an error leaves the run without a verdict, unless a MUST of that level (without a claim: of
    any level) failed. Checks that the baseline accepts are ignored; an expired or stale entry of the baseline fails. A
    run that ended before its last experiment can fail, but not pass.
    """
    if report.failure is not None or report.implemented is None:
        return EXIT_NO_VERDICT
    if any(a.state in ("expired", "stale") for a in report.baseline):
        return EXIT_FAILED
    if is_selection(report) and not any(r.verdict in _OBSERVED for r in report.requirements):
        return EXIT_NO_VERDICT
    decided = _decided(report)
    return EXIT_NO_VERDICT if report.incomplete and decided == EXIT_OK else decided


_OBSERVED = (Verdict.PASS, Verdict.WARN, Verdict.FAIL)


def is_unselected(result: RequirementResult) -> bool:
    """True for a requirement that was not part of the run."""
    return result.verdict is Verdict.NOT_OBSERVED and not result.checks and result.reason == UNSELECTED


def is_selection(report: Report) -> bool:
    """True if the run was restricted to some of the requirements (``--only``)."""
    return any(map(is_unselected, report.requirements))


def _decided(report: Report) -> int:
    """The exit code by the verdicts alone, once there is no other reason to fail or to give no verdict."""
    judged = [
        (r.requirement, verdict) for r in report.requirements if (verdict := _unaccepted_verdict(report, r)) is not None
    ]
    if report.claimed is None:
        if any(v is Verdict.FAIL and binds(r, 3) for r, v in judged):
            return EXIT_FAILED
        return EXIT_NO_VERDICT if any(v is Verdict.ERROR for _, v in judged) else EXIT_OK
    level = _claimed_level(report, report.claimed, judged)
    if level in ("proved", "attested"):
        return EXIT_OK
    if level == "failed":
        return EXIT_FAILED
    has_error = any(v is Verdict.ERROR and binds(r, report.claimed) for r, v in judged)
    return EXIT_NO_VERDICT if has_error or report.incomplete else EXIT_FAILED


def open_results(report: Report) -> list[tuple[RequirementResult, Verdict]]:
    """The MUSTs that keep the claim from holding, each with its verdict, ignoring checks that the baseline accepts.

    Without a claimed level, MUSTs that were not observed are not among them.
    """
    judged = [
        (r, _unaccepted_verdict(report, r)) for r in report.requirements if binds(r.requirement, report.claimed or 3)
    ]
    blocking = (Verdict.FAIL, Verdict.ERROR, *(() if report.claimed is None else (Verdict.NOT_OBSERVED,)))
    return [(r, verdict) for r, verdict in judged if verdict is not None and verdict in blocking]


def _claimed_level(report: Report, claimed: int, judged: Iterable[tuple[Requirement, Verdict]]) -> LevelVerdict:
    """The verdict of the claimed level, ignoring checks that the baseline accepts."""
    if not any(a.state == "accepted" for a in report.baseline):
        return report.levels.get(claimed, "unproved")
    return level_verdict(claimed, judged)


def _unaccepted_verdict(report: Report, result: RequirementResult) -> Verdict | None:
    """The verdict of a requirement, ignoring the checks that the baseline accepts.

    None if some are accepted, and the verdict by the others would be *not-observed*: then the whole requirement counts
    as accepted.
    """
    accepted = {a.check for a in report.baseline if a.state == "accepted" and a.requirement == result.requirement.id}
    if not accepted:
        return result.verdict
    remaining = requirement_verdict([c.verdict for c in result.checks if c.name not in accepted])
    return None if remaining is Verdict.NOT_OBSERVED else remaining


def binds(requirement: Requirement, claimed: int) -> bool:
    """True if the requirement is a MUST that a claim of this level includes."""
    return requirement.keyword == "MUST" and requirement.level is not None and requirement.level <= claimed
