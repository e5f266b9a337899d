"""The report as SARIF, for code scanning: what was not met, each with the requirement that it breaks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from lro_conformance.report import sarif
from lro_conformance.report.layout import detail_of, no_verdict
from lro_conformance.report.model import Acceptance, Report, RequirementResult
from lro_conformance.report.text import one_line
from lro_conformance.verdicts import Verdict

NO_VERDICT = "no-verdict"

LEVELS: Mapping[Verdict, sarif.Level] = {Verdict.FAIL: "error", Verdict.WARN: "warning", Verdict.ERROR: "note"}
"""What is told, and how gravely; an error is the suite's own fault, never the server's."""


def to_sarif(report: Report, profile: str) -> str:
    """The report as a SARIF log: a result for each check that failed or warned, or for why there is no verdict.

    Code scanning shows nothing that is in no file. A server's answer is in none, so all is shown at the *profile*.
    """
    rules = {**sarif.requirement_rules(), **{r.requirement.id: _rule(r) for r in report.requirements}}
    made = sarif.log(
        _results(report, profile),
        rules | {NO_VERDICT: sarif.Rule(NO_VERDICT, "The server could not be observed")},
        version=report.suite_version,
        successful=report.failure is None,
        properties={
            "edition": one_line(report.edition),
            "server": one_line(f"{report.server.name} {report.server.version}".strip()),
            "achieved": report.achieved,
            "levels": {str(n): found for n, found in report.levels.items()},
            "seed": report.seed,
        },
    )
    return sarif.text(made)


def _results(report: Report, profile: str) -> Iterator[sarif.Result]:
    if report.failure is not None:
        message = "\n".join(no_verdict(report))
        yield sarif.Result(NO_VERDICT, message, path=profile, line=1, identity="no verdict")
    accepted = {a.check: a for a in report.baseline if a.state == "accepted"}
    for result in report.requirements:
        if result.verdict in LEVELS:
            yield from _of(result, accepted, profile)


def _of(result: RequirementResult, accepted: Mapping[str, Acceptance], profile: str) -> Iterator[sarif.Result]:
    detail = detail_of(result)
    for check in detail.checks:
        expected, observed = " ".join(check.expected), " ".join(check.observed)
        yield sarif.Result(
            detail.id,
            f"{one_line(detail.title)}: expected {expected}; observed {observed}",
            LEVELS[detail.verdict],
            path=profile,
            line=1,
            place=check.name,
            properties={"binding": detail.binding, "examined": check.subjects, "evidence": list(check.evidence)},
            accepted=_reason(accepted.get(check.name)),
            identity=check.name,  # the numbers in the message may be others in the next run
        )


def _reason(entry: Acceptance | None) -> str:
    return "" if entry is None else one_line(f"until {entry.until}: {entry.reason}")


def _rule(result: RequirementResult) -> sarif.Rule:
    detail, r = detail_of(result), result.requirement
    level: sarif.Level = "error" if r.keyword == "MUST" else "warning"
    return sarif.Rule(r.id, detail.title, detail.statement, detail.mend, level, (one_line(r.group), r.keyword))
