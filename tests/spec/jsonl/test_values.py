"""What is no strict JSON in a descriptor or header, by which way ever it comes, and integers with a point in them."""

from __future__ import annotations

import datetime
import json
import math
from pathlib import Path
from typing import Any

import pytest

from lro_spec.discovery import find_descriptor
from lro_spec.jsonl.values import not_json, whole_number
from lro_spec.testing import assert_valid_descriptor
from lro_spec.validation import follow, validate_descriptor, validate_header
from tests.support.offloads import empty, header, made, rules, schema, summary
from tests.support.validating import HEADER, here, said

__all__ = ["here", "said"]  # fixtures


def json_findings(found: Any) -> list[tuple[str, str]]:
    return [(finding.severity, finding.pointer) for finding in found if finding.rule == "json"]


CYCLE: dict[str, Any] = {"properties": {"id": {}}}
CYCLE["properties"]["self"] = CYCLE


@pytest.mark.parametrize(
    ("name", "value", "place"),
    [
        ("score_range", [math.nan, 1.0], "/summary/score_range/0"),
        ("score_range", [0.2, math.inf], "/summary/score_range/1"),
        ("score_range", [10**400, 10**401], "/summary/score_range/0"),
        ("line_schema", {"properties": {"id": {"type": {"string"}}}}, "/line_schema/properties/id/type"),
        ("line_schema", {"properties": {"id": {"const": b"x"}}}, "/line_schema/properties/id/const"),
        ("line_schema", {"properties": {"id": {"minimum": datetime.date.min}}}, "/line_schema/properties/id/minimum"),
        ("line_schema", {"properties": {"id": {"minimum": -math.inf}}}, "/line_schema/properties/id/minimum"),
        ("line_schema", {1: 2, "properties": {"id": {}}}, "/line_schema"),
        ("line_schema", CYCLE, "/line_schema/properties/self"),
        ("more", CYCLE, "/more/properties/self"),
        ("more", {"deep": [math.nan]}, "/more/deep/0"),
    ],
)
def test_what_json_has_not_is_found_and_makes_nothing_raise(tmp_path: Path, name: str, value: Any, place: str):
    descriptor = made(tmp_path)
    (descriptor["summary"] if name == "score_range" else descriptor)[name] = value
    for judge in (validate_descriptor, follow):
        found = list(judge(descriptor))
        assert json_findings(found)[0] == ("error", place)
        assert {finding.rule for finding in found} == {"json"}


def test_what_holds_itself_is_no_reason_to_pass_over_the_file(tmp_path: Path):
    descriptor = made(tmp_path, summary(count=23))
    descriptor["more"] = descriptor
    assert rules(list(follow(descriptor))) == {"json", "LRO-DESC-03"}


def test_one_fault_is_one_finding(tmp_path: Path):
    descriptor = made(tmp_path)
    descriptor["summary"]["count"] = math.nan
    assert [finding.rule for finding in validate_descriptor(descriptor)] == ["LRO-DESC-01"]


def test_a_value_that_is_there_twice_does_not_hold_itself():
    shared = {"a": [1, 2.5, None, True, "ü", "𝄞"]}
    assert list(not_json([shared, shared, (1, shared)])) == []


@pytest.mark.parametrize("edition", ["lro-6400", "lro-paper"])
def test_half_a_surrogate_pair_is_found_as_it_is_in_lines(tmp_path: Path, here: Path, said: Any, edition: str):
    descriptor = {**made(tmp_path), "more": {"k\udfff": "x\ud800"}}
    wanted = [("warning", "/more/k\udfff"), ("warning", "/more/k\udfff")]
    assert json_findings(validate_descriptor(descriptor, edition=edition)) == wanted
    assert json_findings(validate_header({**HEADER, "query": "\ud800"}, edition=edition)) == [("warning", "/query")]
    (here / "h.json").write_text(json.dumps({**HEADER, "query": "\ud800"}))
    code, out, _ = said("h.json")
    assert (code, out.count("half of a surrogate pair: expected Unicode characters, got \\ud800")) == (0, 1)
    assert json_findings(validate_header({**HEADER, "query": "𝄞"})) == []
    found = list(follow(made(tmp_path, header(query="\ud800"))))
    assert [finding.rule for finding in found] == ["LRO-FILE-01"]  # once


def test_half_a_surrogate_pair_in_a_recipe_makes_nothing_raise(tmp_path: Path):
    descriptor = made(tmp_path)
    descriptor["jq_recipes"][2]["command"] = f"grep -v '\ud800' {descriptor['file_path']} | jq .title"
    assert ("warning", "/jq_recipes/2/command") in json_findings(follow(descriptor))


def wrapped(text: str, how: str) -> dict[str, Any]:
    if how == "structured":
        return {"structuredContent": {"result": text}}
    told = {"alone": text, "sentence": f"Offloaded: {text} (see there)", "inner": json.dumps({"result": text})}[how]
    return {"content": [{"type": "text", "text": told}]}


@pytest.mark.parametrize("how", ["alone", "sentence", "inner", "structured"])
@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ('"more": 1', '"more": NaN', "NaN is not JSON"),
        ('"more": 1', '"more": 1e999', "number 1e999 is beyond the range of a double"),
        ('"more": 1', '"more": 1, "more": 1', "key 'more' occurs twice in one object"),
        ('"more": 1', '"more": 2', None),
    ],
)
def test_the_text_of_a_block_is_read_as_strictly_as_a_file(
    here: Path, said: Any, how: str, old: str, new: str, problem: str | None
):
    text = json.dumps({**made(here), "more": 1}).replace(old, new)
    (here / "reply.json").write_text(json.dumps(wrapped(text, how)))
    (here / "descriptor.json").write_text(text)
    for path in ("reply.json", "descriptor.json"):
        told = json.loads(said("--format", "json", path)[1])["findings"]
        assert [(f["rule"], f["message"]) for f in told] == ([("json", problem)] if problem else [])
    if problem:
        with pytest.raises(AssertionError, match=f"1 finding:\n  json /.*{problem}"):
            assert_valid_descriptor(wrapped(text, how))
    else:
        assert assert_valid_descriptor(wrapped(text, how))["more"] == 2


def test_a_byte_order_mark_in_a_block_is_found(here: Path, said: Any):
    result = {"content": [{"type": "text", "text": "\ufeff" + json.dumps(made(here))}]}
    (here / "reply.json").write_text(json.dumps(result))
    (finding,) = json.loads(said("--format", "json", "reply.json")[1])["findings"]
    assert (finding["rule"], finding["pointer"]) == ("json", "/content/0/text")
    assert finding["message"] == "starts with a byte order mark"
    assert find_descriptor(result) is not None  # for certify it is there


@pytest.mark.parametrize(
    ("value", "whole"), [(3, 3), (3.0, 3), (-0.0, 0), (3.5, None), (True, None), (math.nan, None), (math.inf, None)]
)
def test_a_number_without_a_fraction_is_an_integer(value: object, whole: int | None):
    assert whole_number(value) == whole
    assert type(whole_number(value)) is type(whole)


def test_estimates_are_judged_however_they_are_written(tmp_path: Path):
    def both(descriptor: dict[str, Any], lines: list[dict[str, Any]]) -> None:
        lines[0]["estimated_tokens"], descriptor["summary"]["estimated_tokens"] = 9_999_999.0, 3

    assert rules(list(follow(made(tmp_path, both)))) == {"LRO-THR-02", "LRO-DESC-04"}
    for value in (made(tmp_path, header(count=24.0)), made(tmp_path, summary(count=24.0))):
        assert list(follow(value)) == []
    told = made(tmp_path, summary(estimated_tokens=1626.0), count=24)
    told["guidance"] += " About 900 tokens were saved."
    assert rules(list(follow(told))) == {"LRO-GUI-05"}


@pytest.mark.parametrize(
    ("said", "broken"),
    [
        ({}, set[str]()),
        ({"score_range": [0, 0.0]}, set[str]()),
        ({"score_range": [5, 6]}, {"LRO-DESC-07"}),
        ({"top_namespaces": ["_x/lie"]}, {"LRO-DESC-06"}),
    ],
)
def test_a_summary_of_an_empty_file_says_that_it_is_empty(tmp_path: Path, said: dict[str, Any], broken: set[str]):
    assert rules(list(follow(made(tmp_path, empty(**said))))) == broken


@pytest.mark.parametrize("keyword", ["$ref", "$dynamicRef", "$recursiveRef"])
@pytest.mark.parametrize(("to", "found"), [("https://example.org/s", True), ("#", False), ("#/$defs/none", True)])
def test_references_of_any_kind_stay_within_the_schema(tmp_path: Path, keyword: str, to: str, found: bool):
    descriptor = made(tmp_path, schema(properties={"id": {"type": "string"}, "more": {keyword: to}}))
    wanted = [f"/line_schema/properties/more/{keyword}"] if found else []
    assert [f.pointer for f in validate_descriptor(descriptor) if f.rule == "LRO-DESC-09"] == wanted
