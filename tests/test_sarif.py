"""SARIF: whatever is told satisfies the official schema, and says where and what."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft4Validator

from lro_conformance.report.sarif import Result, Rule, log, requirement_rules, text

SCHEMA = Path(__file__).parent / "data/sarif-schema-2.1.0.json"


@cache
def validator() -> Draft4Validator:
    """The official schema; `lro validate` and `lro certify` are held to it."""
    return Draft4Validator(json.loads(SCHEMA.read_text(encoding="utf-8")))


def assert_sarif(made: Any) -> None:
    assert [f"{list(e.absolute_path)}: {e.message}" for e in validator().iter_errors(made)] == []


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
    place=TEXT,
    properties=st.dictionaries(st.sampled_from(["expected", "observed"]), TEXT),
)


@settings(max_examples=20)
@given(st.lists(RESULTS, max_size=3))
def test_every_log_satisfies_the_official_schema(results: list[Result]):
    assert_sarif(json.loads(text(log(results, requirement_rules(), version="1.2.3"))))


def test_the_official_schema_would_notice():
    made = log([Result("json", "x", line=0, path="x")], {}, version="1")
    assert not validator().is_valid(made)


def test_a_result_leads_to_its_rule_and_place():
    rules = {"b": Rule("b", "B", "b must be", "make it so", "warning", ("file",)), "unused": Rule("unused", "U")}
    made = log([Result("b", "no b", "error", "out/x y.jsonl", 3, 7, '{"a":1}', "/a")], rules, version="1.2.3")
    run = made["runs"][0]
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["b"]
    assert run["tool"]["driver"]["rules"][0]["help"]["text"] == "make it so"
    result = run["results"][0]
    assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
    place = result["locations"][0]
    assert place["physicalLocation"]["artifactLocation"]["uri"] == "out/x%20y.jsonl"
    assert place["physicalLocation"]["region"] == {"startLine": 3, "startColumn": 7, "snippet": {"text": '{"a":1}'}}
    assert place["logicalLocations"] == [{"fullyQualifiedName": "/a"}]


def test_a_result_keeps_its_fingerprint_when_its_line_moves():
    def print_of(result: Result) -> str:
        return log([result], {}, version="1")["runs"][0]["results"][0]["partialFingerprints"]["lroResult/v1"]

    assert print_of(Result("b", "no b", path="x", line=1)) == print_of(Result("b", "no b", path="x", line=2))
    assert print_of(Result("b", "no b", path="x")) != print_of(Result("b", "no c", path="x"))
