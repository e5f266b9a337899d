"""SARIF: whatever is told satisfies the official schema, and says where and what."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lro_conformance.judging.results import Report
from lro_conformance.judging.verdicts import Verdict
from lro_conformance.report.formats.sarif import Result, Rule, as_json, requirement_rules, sarif_log, to_sarif
from lro_conformance.report.load import read_report
from tests.support.paths import DATA
from tests.support.renderings import assert_sarif, validator
from tests.support.report_samples import hostile, judged, mixed, report

EQUAL = DATA / "reports/equal.json"


TEXT = st.text(max_size=8)
RESULTS = st.builds(
    Result,
    rule=st.sampled_from(["LRO-FILE-06", "LRO-REC-12", "json"]),
    message=TEXT,
    level=st.sampled_from(["error", "warning", "note", "none"]),
    path=st.none() | st.just("a b/ü%.jsonl") | st.just("/tmp/x.json"),
    line=st.none() | st.integers(1, 2**31),
    column=st.none() | st.integers(1, 2**31),
    snippet=TEXT,
    logical_location=TEXT,
    properties=st.dictionaries(st.sampled_from(["expected", "observed"]), TEXT),
)


@settings(max_examples=20)
@given(st.lists(RESULTS, max_size=3))
def test_every_log_satisfies_the_official_schema(results: list[Result]):
    assert_sarif(json.loads(as_json(sarif_log(results, requirement_rules(), version="1.2.3"))))


def test_the_official_schema_would_notice():
    made = sarif_log([Result("json", "x", line=0, path="x")], {}, version="1")
    assert not validator().is_valid(made)


def test_a_result_leads_to_its_rule_and_place():
    rules = {"b": Rule("b", "B", "b must be", "make it so", "warning", ("file",)), "unused": Rule("unused", "U")}
    made = sarif_log([Result("b", "no b", "error", "out/x y.jsonl", 3, 7, '{"a":1}', "/a")], rules, version="1.2.3")
    run = made["runs"][0]
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["b"]
    assert run["tool"]["driver"]["rules"][0]["help"]["text"] == "make it so"
    result = run["results"][0]
    assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
    place = result["locations"][0]
    assert place["physicalLocation"]["artifactLocation"]["uri"] == "out/x%20y.jsonl"
    assert place["physicalLocation"]["region"] == {"startLine": 3, "startColumn": 7}
    assert place["physicalLocation"]["contextRegion"]["snippet"] == {"text": '{"a":1}'}
    assert place["logicalLocations"] == [{"fullyQualifiedName": "/a"}]


def test_a_result_keeps_its_fingerprint_when_its_line_moves():
    def print_of(result: Result) -> str:
        return sarif_log([result], {}, version="1")["runs"][0]["results"][0]["partialFingerprints"]["lroResult/v1"]

    assert print_of(Result("b", "no b", path="x", line=1)) == print_of(Result("b", "no b", path="x", line=2))
    assert print_of(Result("b", "no b", path="x")) != print_of(Result("b", "no c", path="x"))


@pytest.mark.parametrize("made", [mixed(), hostile(), report(failure="exit code 1"), read_report(EQUAL)])
def test_a_report_satisfies_the_official_schema(made: Report):
    assert_sarif(json.loads(to_sarif(made, "lro.yaml")))


def test_a_report_tells_what_was_not_met_and_nothing_else():
    run = json.loads(to_sarif(mixed(), "ci/server.yaml"))["runs"][0]
    told = {(r["ruleId"], r["level"]) for r in run["results"]}
    assert told == {
        ("LRO-FILE-06", "error"),
        ("LRO-REC-04", "warning"),
        ("LRO-GUI-03", "warning"),
        ("LRO-HARD-01", "note"),
    }
    assert {r["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for r in run["results"]} == {
        "ci/server.yaml"
    }
    assert run["invocations"] == [{"executionSuccessful": True}]


def test_a_report_explains_each_result_by_its_requirement():
    run = json.loads(to_sarif(read_report(EQUAL), "lro.yaml"))["runs"][0]
    (result,), (rule,) = run["results"], run["tool"]["driver"]["rules"]
    assert rule["id"] == result["ruleId"] == "LRO-THR-07"
    assert "Compare with `>`, not `>=`" in rule["help"]["text"]
    assert (
        "expected recall, a result of 2737 tokens at threshold 2737, is returned inline; observed offloaded"
        in (result["message"]["text"])
    )
    assert any(line.startswith("→ {") for line in result["properties"]["evidence"])


def test_a_result_of_a_report_is_the_same_in_the_next_run():
    def prints(observed: str) -> object:
        made = report(judged("LRO-FILE-06", Verdict.FAIL, observed=observed))
        return json.loads(to_sarif(made, "lro.yaml"))["runs"][0]["results"][0]["partialFingerprints"]

    assert prints("count 199") == prints("count 198")


def test_a_run_without_a_verdict_says_why():
    run = json.loads(to_sarif(report(failure="exit code 1\nno database"), "lro.yaml"))["runs"][0]
    assert run["invocations"] == [{"executionSuccessful": False}]
    assert run["results"][0]["message"]["text"] == "exit code 1\nno database"
