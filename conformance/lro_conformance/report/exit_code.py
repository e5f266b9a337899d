"""The exit code of a report."""

from __future__ import annotations

from collections.abc import Iterable

from lro_conformance.errors import EXIT_FAILED, EXIT_NO_VERDICT, EXIT_OK
from lro_conformance.judging.results import UNSELECTED, Report, RequirementResult
from lro_conformance.judging.verdicts import LevelVerdict, Verdict, level_verdict, requirement_verdict
from lro_spec.catalogue import Requirement


def exit_code(report: Report) -> int:
    """Return `EXIT_OK` if the claim holds, `EXIT_FAILED` if it does not hold, and `EXIT_NO_VERDICT` without a verdict.

    If a level is claimed, the claim is that the server fulfils this level. If no level is claimed, the claim is that no
    MUST of any level failed. There is no verdict if the server could not be observed, if no call showed whether the
    server offloads, or if a run of selected requirements observed none of them.

    An *error* is a defect of the suite, and never fails the server. If a level is claimed, and a MUST that the level
    requires has an error, the run has no verdict, unless another MUST that the level requires failed. If no level is
    claimed, and any requirement has an error, the run has no verdict, unless a MUST of any level failed.

    Checks that are accepted by the baseline are ignored. An expired or stale entry of the baseline fails the run. A run
    that ended before its last experiment can fail, but it cannot pass.
    """
    if report.failure is not None or report.implemented is None:
        return EXIT_NO_VERDICT
    if any(a.state in ("expired", "stale") for a in report.baseline):
        return EXIT_FAILED
    if is_selection(report) and not any(r.verdict in _OBSERVED_VERDICTS for r in report.requirements):
        return EXIT_NO_VERDICT
    code = _code_by_verdicts(report)
    return EXIT_NO_VERDICT if report.incomplete and code == EXIT_OK else code


_OBSERVED_VERDICTS = (Verdict.PASS, Verdict.WARN, Verdict.FAIL)


def is_unselected(result: RequirementResult) -> bool:
    """True for a requirement that was not part of the run."""
    return result.verdict is Verdict.NOT_OBSERVED and not result.checks and result.reason == UNSELECTED


def is_selection(report: Report) -> bool:
    """True if the run was restricted to some of the requirements (``--only``)."""
    return any(map(is_unselected, report.requirements))


def _code_by_verdicts(report: Report) -> int:
    """The exit code that follows from the verdicts alone. The caller has ruled out other reasons to fail or to give no
    verdict."""
    judged = [
        (r.requirement, verdict) for r in report.requirements if (verdict := _unaccepted_verdict(report, r)) is not None
    ]
    if report.claimed is None:
        if any(v is Verdict.FAIL and is_must_up_to(r, 3) for r, v in judged):
            return EXIT_FAILED
        return EXIT_NO_VERDICT if any(v is Verdict.ERROR for _, v in judged) else EXIT_OK
    level = _claimed_level(report, report.claimed, judged)
    if level in ("proved", "attested"):
        return EXIT_OK
    if level == "failed":
        return EXIT_FAILED
    has_error = any(v is Verdict.ERROR and is_must_up_to(r, report.claimed) for r, v in judged)
    return EXIT_NO_VERDICT if has_error or report.incomplete else EXIT_FAILED


def blocking_results(report: Report) -> list[tuple[RequirementResult, Verdict]]:
    """The MUSTs that keep the claim from holding, each with its verdict. Checks accepted by the baseline are ignored.

    If no level is claimed, MUSTs that were not observed are left out.
    """
    judged = [
        (r, _unaccepted_verdict(report, r))
        for r in report.requirements
        if is_must_up_to(r.requirement, report.claimed or 3)
    ]
    blocking_verdicts = (Verdict.FAIL, Verdict.ERROR, *(() if report.claimed is None else (Verdict.NOT_OBSERVED,)))
    return [(r, verdict) for r, verdict in judged if verdict is not None and verdict in blocking_verdicts]


def _claimed_level(report: Report, claimed: int, judged: Iterable[tuple[Requirement, Verdict]]) -> LevelVerdict:
    """The verdict of the claimed level. Checks that are accepted by the baseline are ignored."""
    if not any(a.state == "accepted" for a in report.baseline):
        return report.levels.get(claimed, "unproved")
    return level_verdict(claimed, judged)


def _unaccepted_verdict(report: Report, result: RequirementResult) -> Verdict | None:
    """The verdict of a requirement. Checks that are accepted by the baseline are ignored.

    None if some checks are accepted, and the other checks would give the verdict *not-observed*. Then the whole
    requirement counts as accepted.
    """
    accepted = {a.check for a in report.baseline if a.state == "accepted" and a.requirement == result.requirement.id}
    if not accepted:
        return result.verdict
    remaining = requirement_verdict([c.verdict for c in result.checks if c.name not in accepted])
    return None if remaining is Verdict.NOT_OBSERVED else remaining


def is_must_up_to(requirement: Requirement, level: int) -> bool:
    """True if the requirement is a MUST of *level* or of a lower level, so that a claim of *level* includes it."""
    return requirement.keyword == "MUST" and requirement.level is not None and requirement.level <= level
