"""JUnit XML as Jenkins's schema has it, and as the test views of GitHub, GitLab and Jenkins read it."""

from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree

import pytest
from lxml import etree

from lro_conformance.judging.results import Report
from lro_conformance.judging.verdicts import Verdict
from lro_conformance.report.formats.junit import to_junit
from lro_conformance.report.load import read_report
from tests.support.paths import DATA
from tests.support.report_samples import hostile, judged, mixed, report

DATA = DATA
SCHEMA = etree.XMLSchema(etree.parse(DATA / "junit-10.xsd"))
EQUAL = DATA / "reports" / "equal.json"


def read(made: Report) -> ElementTree.Element:
    return ElementTree.fromstring(to_junit(made))


def case(made: Report, id: str) -> ElementTree.Element:
    (found,) = (c for c in read(made).iter("testcase") if c.attrib["name"].startswith(id))
    return found


@pytest.mark.parametrize(
    "made", [mixed(), report(), hostile(), report(failure="exit code 1\nTraceback"), read_report(EQUAL)]
)
def test_has_the_shape_of_jenkins_schema(made: Report):
    SCHEMA.assertValid(etree.fromstring(to_junit(made).encode()))


def test_counts_are_those_of_the_verdicts():
    root = read(mixed())
    assert (root.attrib["tests"], root.attrib["failures"], root.attrib["errors"]) == ("10", "1", "1")
    assert sum(int(suite.attrib["skipped"]) for suite in root) == 4
    assert [suite.attrib["name"] for suite in root] == [
        "file",
        "implemented",
        "threshold",
        "recipes",
        "cleanup",
        "events",
        "guidance",
        "hardening",
    ]


@pytest.mark.parametrize(
    ("id", "says"),
    [
        ("LRO-CLN-01", "not observed: no cleanup key in the profile"),
        ("LRO-SCOPE-05", "not judged: inside of the server"),
        ("LRO-SCOPE-02", "not applicable: no tool that searches"),
        ("LRO-ERR-04", "attested by the vendor, not observed: our audit of May"),
    ],
)
def test_what_was_not_observed_is_skipped_with_the_reason(id: str, says: str):
    (skipped,) = case(mixed(), id)
    assert (skipped.tag, skipped.attrib["message"], skipped.text) == ("skipped", says, says)


def test_a_failure_says_in_its_text_all_that_a_reader_needs():
    (failure,) = case(read_report(EQUAL), "LRO-THR-07")
    assert failure.tag == "failure"
    assert failure.attrib["message"] == "offloaded (9 of 9 subjects)"
    for part in (
        "recall, a result of 2737 tokens at threshold 2737, is returned inline",
        "→ {",
        "Compare with",
        "lro explain",
    ):
        assert part in (failure.text or "")


def test_an_error_of_the_suite_is_an_error_and_a_warning_passes():
    (error,) = case(mixed(), "LRO-HARD-01")
    (output,) = case(mixed(), "LRO-GUI-03")
    assert (error.tag, output.tag) == ("error", "system-out")
    assert "WARN LRO-GUI-03" in (output.text or "")


def test_what_fails_and_decides_no_level_turns_no_pipeline_red_and_says_all_the_same():
    made = report(judged("LRO-HARD-01", Verdict.FAIL, level=None, group="hardening"))
    skipped, output = case(made, "LRO-HARD-01")
    assert (read(made).attrib["failures"], skipped.tag, output.tag) == ("0", "skipped", "system-out")
    assert skipped.attrib["message"] == "failed, but decides no level: observed of LRO-HARD-01"
    assert "FAIL LRO-HARD-01" in (output.text or "")
    assert "FAIL LRO-HARD-01" in (skipped.text or "")
    SCHEMA.assertValid(etree.fromstring(to_junit(made).encode()))


@pytest.mark.parametrize(("claimed", "tag"), [(1, "skipped"), (2, "failure"), (None, "failure")])
def test_a_failure_above_the_claimed_level_turns_no_pipeline_red(claimed: int | None, tag: str):
    late = judged("LRO-CLN-02", Verdict.FAIL, level=2, group="cleanup")
    made = replace(report(judged("LRO-FILE-01", Verdict.PASS), late), claimed=claimed)
    found, *_ = case(made, "LRO-CLN-02")
    assert found.tag == tag
    assert (found.attrib["message"] == "failed, but level 2 is not claimed: observed of LRO-CLN-02") is (claimed == 1)


def test_a_run_without_a_verdict_is_an_error_that_says_why():
    made = report(judged("LRO-FILE-01", Verdict.NOT_OBSERVED), failure="exit code 1\nno database")
    error = read(made).find("testsuite[@name='run']/testcase/error")
    assert error is not None
    assert error.text == "exit code 1\nno database"


def test_a_property_check_has_its_time():
    assert case(mixed(), "LRO-FILE-01").attrib["time"] == "0.25"
    assert case(mixed(), "LRO-FILE-02").attrib["time"] == "0.0"
    assert read(mixed()).attrib["time"] == "8.214"


@pytest.mark.parametrize(("claimed", "tag"), [(2, "failure"), (None, "skipped")])
def test_what_keeps_the_claimed_level_from_being_proved_turns_the_pipeline_red(claimed: int | None, tag: str):
    """The exit code is 1 then, though nothing failed."""
    unseen = judged("LRO-CLN-02", Verdict.NOT_OBSERVED, level=2, group="cleanup")
    made = report(judged("LRO-FILE-01", Verdict.PASS), unseen)
    made = replace(made, claimed=claimed, levels={1: "proved", 2: "unproved", 3: "unproved"})
    (found,) = case(made, "LRO-CLN-02")
    assert found.tag == tag
    assert found.attrib["message"].startswith("not observed, so level 2 is not proved" if claimed else "not observed: ")
    assert list(case(made, "LRO-FILE-01")) == []
