"""Reports for tests: small, complete, and hostile where a server has a say."""

from __future__ import annotations

from dataclasses import replace

from lro_conformance.report.model import CheckResult, Report, RequirementResult, ServerInfo
from lro_conformance.verdicts import Verdict
from lro_spec.requirements import Keyword, Requirement


def requirement(id: str, *, keyword: Keyword = "MUST", level: int | None = 1, group: str = "file") -> Requirement:
    return Requirement(
        id=id,
        title=f"title of {id}",
        group=group,
        keyword=keyword,
        level=level,
        section="JSONL File Format",
        statement=f"statement of {id}",
        rationale=f"rationale of {id}",
        observed=f"how {id} is seen",
        mend=f"mending of {id}",
        editions=("lro-6400",),
    )


def check(id: str, verdict: Verdict, **changes: object) -> CheckResult:
    made = CheckResult(
        name=f"file.{id.lower().replace('-', '_')}",
        requirement=id,
        verdict=verdict,
        subjects=0 if verdict is Verdict.NOT_OBSERVED else 3,
        expected=f"expected of {id}",
        observed=f"observed of {id}",
        evidence='{"jsonrpc":"2.0","id":7,"method":"tools/call"}' if verdict is Verdict.FAIL else "",
    )
    return replace(made, **changes)  # type: ignore[arg-type]


def judged(
    id: str,
    verdict: Verdict,
    *,
    keyword: Keyword = "MUST",
    level: int | None = 1,
    group: str = "file",
    reason: str = "",
    **changes: object,
) -> RequirementResult:
    checks = () if reason else (check(id, verdict, **changes),)
    return RequirementResult(requirement(id, keyword=keyword, level=level, group=group), verdict, checks, reason)


def report(*results: RequirementResult, **changes: object) -> Report:
    made = Report(
        suite_version="0.1.0",
        edition="lro-6400",
        server=ServerInfo("memories", "1.4.0", ("python", "-m", "memories"), "2025-11-25"),
        implemented=True,
        claimed=None,
        levels={1: "proved", 2: "proved", 3: "proved"},
        achieved=3,
        requirements=results,
        seed=42,
        started_at="2026-11-21T10:15:00Z",
        duration_s=8.2141,
        starts=9,
    )
    return replace(made, **changes)  # type: ignore[arg-type]


def mixed(**changes: object) -> Report:
    """One requirement of every verdict."""
    return report(
        judged("LRO-FILE-01", Verdict.PASS),
        judged("LRO-FILE-02", Verdict.PASS),
        judged("LRO-FILE-06", Verdict.FAIL),
        judged("LRO-SCOPE-05", Verdict.NOT_APPLICABLE, group="implemented", reason="inside of the server"),
        judged("LRO-REC-04", Verdict.WARN, level=2, group="recipes", erratum=True),
        judged("LRO-CLN-01", Verdict.NOT_OBSERVED, level=2, group="cleanup", reason="no cleanup key in the profile"),
        judged("LRO-ERR-04", Verdict.ATTESTED, level=3, group="events", reason="our audit of May"),
        judged("LRO-GUI-03", Verdict.WARN, keyword="SHOULD", group="guidance"),
        judged("LRO-HARD-01", Verdict.ERROR, level=None, group="hardening"),
        **{"levels": {1: "failed", 2: "failed", 3: "failed"}, "achieved": 0, **changes},
    )
