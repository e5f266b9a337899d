"""The report as JUnit XML for the test views of GitHub, GitLab and Jenkins: a suite a group, a case a requirement."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar, cast
from xml.etree import ElementTree

from junitparser.junitparser import Error, Failure, JUnitXml, Skipped, TestCase, TestSuite

from lro_conformance.report.layout import detail_of, no_verdict, reason_of
from lro_conformance.report.model import Acceptance, Report, RequirementResult
from lro_conformance.report.terminal import detail_lines
from lro_conformance.report.text import one_line
from lro_conformance.verdicts import Verdict

Outcome = TypeVar("Outcome", bound=Failure | Error | Skipped)

UNSEEN = {
    Verdict.NOT_OBSERVED: "not observed",
    Verdict.NOT_APPLICABLE: "not applicable",
    Verdict.ATTESTED: "attested by the vendor, not observed",
}
"""Verdicts that JUnit knows only as skipped."""


def to_junit(report: Report) -> str:
    """The report as JUnit XML.

    *fail* is a failure and *error* an error; *warn* passes and says why in its output; what has no verdict of a check
    is skipped, with the reason. What fails and decides no level (hardening) is skipped too, with all of it in its
    output: a failure would turn a pipeline red that the exit code leaves green. A run without a verdict has one more
    case, in error, that says why.
    """
    document = JUnitXml(f"lro-spec {one_line(report.edition)}")
    for suite in _suites(report):
        document.add_testsuite(suite)
    document.update_statistics()
    document.time = round(report.duration_s, 3)  # the spans overlap: their sum is more than the run took
    root = ElementTree.fromstring(cast("bytes", document.tostring()))
    root.attrib.pop("skipped", None)  # Jenkins's schema has no such attribute here
    ElementTree.indent(root)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{ElementTree.tostring(root, encoding="unicode")}\n'


def _suites(report: Report) -> Iterator[TestSuite]:
    if report.failure is not None:
        yield _suite(report, "run", [_unobserved(report)])
    if report.baseline:
        yield _suite(report, "baseline", [_accepted(report, a) for a in report.baseline])
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


def _unobserved(report: Report) -> TestCase:
    case = TestCase("the server could be observed", f"{one_line(report.edition)}.run", 0)
    said = no_verdict(report)
    case.result = [_told(Error(said[0] if said else "", "no verdict"), "\n".join(said))]
    return case


def _accepted(report: Report, entry: Acceptance) -> TestCase:
    """An entry of the baseline: it passes as long as it stands."""
    case = TestCase(one_line(f"baseline: {entry.check}"), f"{one_line(report.edition)}.baseline", 0)
    if entry.state in ("stale", "expired"):
        message = (
            f"{entry.state}: accepted {entry.verdict.label} until {one_line(entry.until)}: {one_line(entry.reason)}"
        )
        case.result = [_told(Failure(message, "baseline"), message)]
    return case


def _is_accepted(report: Report, result: RequirementResult) -> str:
    """The reasons for which all that failed of a requirement is accepted; empty where not all of it is."""
    reasons = {a.check: a.reason for a in report.baseline if a.state == "accepted" and a.verdict is result.verdict}
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
    accepted = _is_accepted(report, result)
    if accepted:
        case.result = [_skipped(f"accepted by the baseline, {verdict.label}: {one_line(accepted)}")]
    elif verdict in UNSEEN:
        case.result = [_skipped(f"{UNSEEN[verdict]}: {reason}")]
    elif verdict is Verdict.FAIL and requirement.level is None:
        message = f"failed, which decides no level: {reason}"
        case.result = [_told(Skipped(message), f"{message}\n{_full(result)}")]
        case.system_out = _full(result)
    elif verdict is Verdict.WARN:
        case.system_out = _full(result)
    elif verdict is not Verdict.PASS:
        kind = Error if verdict is Verdict.ERROR else Failure
        case.result = [_told(kind(reason, requirement.keyword), _full(result))]
    return case


def _full(result: RequirementResult) -> str:
    return "\n".join(detail_lines(detail_of(result)))


def _skipped(message: str) -> Skipped:
    return _told(Skipped(message), message)


def _told(result: Outcome, text: str) -> Outcome:
    result.text = text  # Jenkins shows the message of what is skipped, GitLab the text alone
    return result
