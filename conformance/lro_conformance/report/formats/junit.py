"""The report as JUnit XML for GitHub, GitLab and Jenkins: a suite for each group, a case for each requirement."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar, cast
from xml.etree import ElementTree

from junitparser.junitparser import Error, Failure, JUnitXml, Skipped, TestCase, TestSuite

from lro_conformance.errors import EXIT_FAILED, EXIT_NO_VERDICT
from lro_conformance.judging.results import Acceptance, Report, RequirementResult
from lro_conformance.judging.verdicts import Verdict
from lro_conformance.report.details import detail_of, failure_lines, reason_of
from lro_conformance.report.exit_code import blocking_results, exit_code, is_must_up_to
from lro_conformance.report.sanitize import one_line
from lro_conformance.report.terminal import detail_lines
from lro_conformance.report.view import acceptance_line

Outcome = TypeVar("Outcome", bound=Failure | Error | Skipped)

SKIPPED = {
    Verdict.NOT_OBSERVED: "not observed",
    Verdict.NOT_APPLICABLE: "not applicable",
    Verdict.NOT_JUDGED: "not judged",
    Verdict.ATTESTED: "attested by the vendor, not observed",
}
"""Verdicts that become ``skipped``, with their message."""


def to_junit(report: Report) -> str:
    """The report as JUnit XML.

    - *fail* becomes a failure, and *error* becomes an error. *warn* passes, with details in its output.
    - The verdicts of `SKIPPED` are skipped, with the reason. There is one exception: a requirement that was not
      observed becomes a failure if it keeps the claimed level from being proved and the exit code is 1.
    - Some failed requirements cannot affect the exit code: those that belong to no level, such as hardening, and those
      of a level above the claimed one. They are skipped, with details in their output. Reported as failures, they would
      fail a pipeline although the exit code is 0.
    - A requirement is skipped if all its deciding checks are accepted by the baseline. It has the reasons given there.
    - Each entry of the baseline has a case, which fails if the entry is stale or expired.
    - If the server could not be observed (`Report.failure`), or if the run ended early and has no verdict, there is a
      further case. It is an error that explains why there is no verdict.
    """
    document = JUnitXml(f"lro-spec {one_line(report.edition)}")
    for suite in _suites(report):
        document.add_testsuite(suite)
    document.update_statistics()
    document.time = round(report.duration_s, 3)  # spans overlap, so their sum exceeds the duration of the run
    root = ElementTree.fromstring(cast("bytes", document.tostring()))
    root.attrib.pop("skipped", None)  # not in the schema of Jenkins
    ElementTree.indent(root)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{ElementTree.tostring(root, encoding="unicode")}\n'


def _suites(report: Report) -> Iterator[TestSuite]:
    if report.failure is not None or (report.incomplete and exit_code(report) == EXIT_NO_VERDICT):
        yield _suite(report, "run", [_no_verdict_case(report)])
    if report.baseline:
        yield _suite(report, "baseline", [_baseline_case(report, a) for a in report.baseline])
    for group in dict.fromkeys(r.requirement.group for r in report.requirements):
        cases = [_case(report, r) for r in report.requirements if r.requirement.group == group]
        yield _suite(report, group, cases)


def _suite(report: Report, name: str, cases: list[TestCase]) -> TestSuite:
    suite = TestSuite(one_line(name))
    suite.timestamp = report.started_at
    for key, value in _properties(report):
        suite.add_property(key, value)
    suite.add_testcases(cases)
    return suite


def _properties(report: Report) -> Iterator[tuple[str, str]]:
    yield "edition", one_line(report.edition)
    yield "server", one_line(f"{report.server.name} {report.server.version}".strip())
    yield "achieved", str(report.achieved)
    yield "seed", str(report.seed)


def _no_verdict_case(report: Report) -> TestCase:
    case = TestCase("the server could be observed", f"{one_line(report.edition)}.run", 0)
    reasons = failure_lines(report) or [one_line(report.incomplete)]
    case.result = [_with_text(Error(reasons[0] if reasons else "", "no verdict"), "\n".join(reasons))]
    return case


def _baseline_case(report: Report, entry: Acceptance) -> TestCase:
    """A case for an entry of the baseline, which fails if the entry is stale or expired."""
    case = TestCase(one_line(f"baseline: {entry.check}"), f"{one_line(report.edition)}.baseline", 0)
    if entry.state in ("stale", "expired"):
        message = f"{entry.state}: {acceptance_line(entry)}"
        case.result = [_with_text(Failure(message, "baseline"), message)]
    return case


def _acceptance_reason(report: Report, result: RequirementResult) -> str:
    """The baseline's reasons for accepting the deciding checks of a requirement; empty unless all are accepted."""
    reasons = {a.check: a.explanation for a in report.baseline if a.state == "accepted" and a.verdict is result.verdict}
    deciding = [c.name for c in result.checks if c.verdict is result.verdict]
    return "; ".join(reasons[n] for n in deciding) if deciding and set(deciding) <= set(reasons) else ""


def _case(report: Report, result: RequirementResult) -> TestCase:
    requirement = result.requirement
    names = {c.name for c in result.checks}
    seconds = sum(s.duration_s for s in report.timeline if s.kind == "check" and s.name in names)
    case = TestCase(
        one_line(f"{requirement.id} {requirement.title}"),
        one_line(f"{report.edition}.{requirement.group}"),
        round(seconds, 3),
    )
    verdict, reason = result.verdict, reason_of(result)
    accepted = _acceptance_reason(report, result)
    if accepted:
        case.result = [_skipped(f"accepted by the baseline, {verdict.label}: {one_line(accepted)}")]
    elif verdict is Verdict.NOT_OBSERVED and _keeps_claim_unproved(report, result):
        message = f"not observed, so level {report.claimed} is not proved: {reason}"
        case.result = [_with_text(Failure(message, requirement.keyword), message)]
    elif verdict in SKIPPED:
        case.result = [_skipped(f"{SKIPPED[verdict]}: {reason}")]
    elif verdict is Verdict.FAIL and not is_must_up_to(requirement, report.claimed or 3):
        is_above_claim = requirement.keyword == "MUST" and requirement.level is not None
        why = f"level {requirement.level} is not claimed" if is_above_claim else "decides no level"
        message = f"failed, but {why}: {reason}"
        case.result = [_with_text(Skipped(message), f"{message}\n{_details(result)}")]
        case.system_out = _details(result)
    elif verdict is Verdict.WARN:
        case.system_out = _details(result)
    elif verdict is not Verdict.PASS:
        kind = Error if verdict is Verdict.ERROR else Failure
        case.result = [_with_text(kind(reason, requirement.keyword), _details(result))]
    return case


def _keeps_claim_unproved(report: Report, result: RequirementResult) -> bool:
    return exit_code(report) == EXIT_FAILED and any(blocking is result for blocking, _ in blocking_results(report))


def _details(result: RequirementResult) -> str:
    return "\n".join(detail_lines(detail_of(result)))


def _skipped(message: str) -> Skipped:
    return _with_text(Skipped(message), message)


def _with_text(result: Outcome, text: str) -> Outcome:
    result.text = text  # Jenkins shows the message of a skipped case, GitLab only its text
    return result
