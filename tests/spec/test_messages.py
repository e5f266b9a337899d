"""Messages read and write themselves; a descriptor is found wherever a server puts it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from lro_spec.messages import JqRecipe, MessageError, OffloadHeader, OffloadResponse, OffloadSummary, find_descriptor

HEADER = OffloadHeader(
    operation="recall",
    query="vector search",
    count=2,
    schema_version="0.1.0",
    timestamp="2026-11-21T10:00:00Z",
    estimated_tokens=7000,
    detail="full",
)
SUMMARY = OffloadSummary(
    count=2,
    estimated_tokens=7000,
    operation="recall",
    top_namespaces=("_semantic/a", "_episodic/b"),
    detail="full",
    score_range=(0.1, 0.9),
)
RESPONSE = OffloadResponse(
    summary=SUMMARY,
    file_path="/tmp/atlatl-recall-01ARZ3NDEKTSV4RRFFQ69G5FAV.jsonl",
    line_schema={"type": "object"},
    jq_recipes=(JqRecipe("Titles", "tail -n +2 /tmp/x | jq .title"),),
    guidance="Look at the file.",
)


def test_header_has_exactly_the_keys_of_the_specification():
    assert set(HEADER.to_dict()) == {
        "type", "operation", "query", "count", "schema_version", "timestamp", "estimated_tokens", "detail",
    }  # fmt: skip
    assert HEADER.to_dict()["type"] == "lro_header"


def test_descriptor_has_exactly_the_keys_of_the_specification():
    written = RESPONSE.to_dict()
    assert set(written) == {"offloaded", "summary", "file_path", "line_schema", "jq_recipes", "guidance"}
    assert set(written["summary"]) == {
        "count", "estimated_tokens", "operation", "top_namespaces", "score_range", "detail",
    }  # fmt: skip
    assert set(written["jq_recipes"][0]) == {"description", "command"}


def test_messages_survive_json():
    assert OffloadHeader.from_dict(json.loads(json.dumps(HEADER.to_dict()))) == HEADER
    assert OffloadResponse.from_dict(json.loads(json.dumps(RESPONSE.to_dict()))) == RESPONSE


@pytest.mark.parametrize("key", ["query"])
def test_null_and_absent_are_equal_in_a_header(key: str):
    written = HEADER.to_dict()
    absent = {k: v for k, v in written.items() if k != key}
    assert OffloadHeader.from_dict({**written, key: None}) == OffloadHeader.from_dict(absent)


def test_null_and_absent_score_range_are_equal():
    written = SUMMARY.to_dict()
    del written["score_range"]
    assert OffloadSummary.from_dict(written) == OffloadSummary.from_dict({**written, "score_range": None})


def test_unknown_keys_and_whole_floats_are_read():
    read = OffloadHeader.from_dict({**HEADER.to_dict(), "count": 2.0, "vendor": {"x": 1}})
    assert read == HEADER
    assert type(read.count) is int


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"type": "header"}, "/type"),
        ({"type": None}, "/type"),
        ({"operation": 3}, "/operation"),
        ({"query": 3}, "/query"),
        ({"count": -1}, "/count"),
        ({"count": "2"}, "/count"),
        ({"count": True}, "/count"),
        ({"count": 1.5}, "/count"),
        ({"count": float("inf")}, "/count"),
        ({"schema_version": 1}, "/schema_version"),
        ({"timestamp": None}, "/timestamp"),
        ({"estimated_tokens": float("nan")}, "/estimated_tokens"),
        ({"detail": ["full"]}, "/detail"),
    ],
)
def test_a_wrong_header_value_is_named_by_its_pointer(change: dict[str, Any], pointer: str):
    with pytest.raises(MessageError) as raised:
        OffloadHeader.from_dict({**HEADER.to_dict(), **change})
    assert raised.value.pointer == pointer
    assert str(raised.value).startswith(f"{pointer}: expected ")


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"offloaded": False}, "/offloaded"),
        ({"offloaded": 1}, "/offloaded"),
        ({"offloaded": "true"}, "/offloaded"),
        ({"summary": None}, "/summary"),
        ({"summary": []}, "/summary"),
        ({"summary": {**SUMMARY.to_dict(), "count": "2"}}, "/summary/count"),
        ({"summary": {**SUMMARY.to_dict(), "top_namespaces": "a"}}, "/summary/top_namespaces"),
        ({"summary": {**SUMMARY.to_dict(), "top_namespaces": ["a", 1]}}, "/summary/top_namespaces/1"),
        ({"summary": {**SUMMARY.to_dict(), "score_range": [0.9, 0.1]}}, "/summary/score_range"),
        ({"summary": {**SUMMARY.to_dict(), "score_range": [0.9]}}, "/summary/score_range"),
        ({"summary": {**SUMMARY.to_dict(), "score_range": [False, True]}}, "/summary/score_range"),
        ({"summary": {**SUMMARY.to_dict(), "score_range": {"min": 0, "max": 1}}}, "/summary/score_range"),
        ({"file_path": None}, "/file_path"),
        ({"line_schema": "object"}, "/line_schema"),
        ({"jq_recipes": {}}, "/jq_recipes"),
        ({"jq_recipes": ["jq ."]}, "/jq_recipes/0"),
        ({"jq_recipes": [{"description": "x"}]}, "/jq_recipes/0/command"),
        ({"guidance": ["x"]}, "/guidance"),
    ],
)
def test_a_wrong_descriptor_value_is_named_by_its_pointer(change: dict[str, Any], pointer: str):
    with pytest.raises(MessageError) as raised:
        OffloadResponse.from_dict({**RESPONSE.to_dict(), **change})
    assert raised.value.pointer == pointer


@pytest.mark.parametrize("value", [None, [], "text", 3])
def test_what_is_no_object_is_no_message(value: object):
    with pytest.raises(MessageError, match=r"^/: expected an object"):
        OffloadHeader.from_dict(value)


def test_a_long_wrong_value_is_cut_in_the_message():
    with pytest.raises(MessageError) as raised:
        OffloadHeader.from_dict({**HEADER.to_dict(), "count": "9" * 100_000})
    assert len(str(raised.value)) < 200


DESCRIPTOR = RESPONSE.to_dict()
AS_TEXT = json.dumps(DESCRIPTOR)


def text_result(*texts: str, **more: Any) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": t} for t in texts], **more}


@pytest.mark.parametrize(
    ("text", "around"),
    [
        (AS_TEXT, ""),
        (json.dumps(DESCRIPTOR, indent=2), ""),
        (f"Too large to show. {AS_TEXT}", "Too large to show."),
        (f"{AS_TEXT}\nUse jq on the file.", "Use jq on the file."),
        (f"See {{below}}:\n```json\n{AS_TEXT}\n```\n", "See {below}:\n```json\n\n```"),
        (json.dumps({"result": DESCRIPTOR}), ""),
        (json.dumps({"result": AS_TEXT}), ""),
        (json.dumps({"result": DESCRIPTOR, "records": [1]}), '{"records": [1]}'),
        (f"note {{}} {{'not': json}} {AS_TEXT}", "note {} {'not': json}"),
    ],
)
def test_a_descriptor_is_found_in_a_text_block(text: str, around: str):
    found = find_descriptor(text_result(text))
    assert found is not None
    assert found.value == found.text_value == DESCRIPTOR
    assert (found.where, found.structured_value) == ("text", None)
    assert found.surrounding_text.strip() == around


@pytest.mark.parametrize("structured", [DESCRIPTOR, {"result": DESCRIPTOR}, {"result": AS_TEXT}])
def test_a_descriptor_is_found_in_structured_content(structured: dict[str, Any]):
    alone = find_descriptor({"content": [], "structuredContent": structured})
    assert alone is not None
    assert (alone.where, alone.value, alone.surrounding_text) == ("structured", DESCRIPTOR, "")
    both = find_descriptor(text_result(AS_TEXT, structuredContent=structured))
    assert both is not None
    assert (both.where, both.text_value, both.structured_value, both.surrounding_text) == (
        "both",
        DESCRIPTOR,
        DESCRIPTOR,
        "",
    )


def test_a_payload_beside_the_descriptor_shows_in_around():
    records = json.dumps([{"id": 1}])
    assert find_descriptor(text_result(AS_TEXT, records)).surrounding_text == records  # type: ignore[union-attr]
    assert find_descriptor(text_result(records, AS_TEXT)).surrounding_text == records  # type: ignore[union-attr]
    beside = find_descriptor(text_result(AS_TEXT, structuredContent={"records": [{"id": 1}]}))
    assert beside is not None
    assert beside.surrounding_text == '{"records": [{"id": 1}]}'
    embedded = {"type": "resource", "resource": {"uri": "file:///x", "text": records}}
    assert find_descriptor({"content": [{"type": "text", "text": AS_TEXT}, embedded]}).surrounding_text == records  # type: ignore[union-attr]


def test_a_second_descriptor_is_beside_the_first():
    other = json.dumps({**DESCRIPTOR, "file_path": "/tmp/other"})
    found = find_descriptor(text_result(AS_TEXT, other))
    assert found is not None
    assert found.value == DESCRIPTOR
    assert found.surrounding_text == other


@pytest.mark.parametrize(
    "value",
    [
        {"offloaded": "yes"},
        {"offloaded": True},
        {"file_path": "/tmp/x", "summary": {}},
        {"file_path": "/tmp/x", "jq_recipes": []},
        {"file_path": "/tmp/x", "line_schema": {}},
        {"offloaded": False, "file_path": "/tmp/x", "summary": {}},
    ],
)
def test_a_faulty_descriptor_is_still_recognised(value: dict[str, Any]):
    found = find_descriptor(text_result(json.dumps(value)))
    assert found is not None
    assert found.value == value


@pytest.mark.parametrize(
    "result",
    [
        {},
        {"content": None},
        {"content": [None, 3, {"type": "text"}, {"type": "image", "data": "x"}]},
        text_result("The file_path was not offloaded."),
        text_result("{" * 500 + "offloaded"),
        text_result('{"a":' * 100_000 + '"offloaded"'),
        text_result(json.dumps([{"id": "1", "content": "nothing offloaded"}])),
        text_result(json.dumps({"offloaded": False, "results": []})),
        text_result(json.dumps({"file_path": "/tmp/x"})),
        text_result(
            json.dumps({"offloaded": False, "results": [], "file_path": None, "jq_recipes": None, "summary": None})
        ),
        text_result(json.dumps({"id": "1", "file_path": "src/x.py", "summary": "of a memory"})),
        text_result(json.dumps({"results": [DESCRIPTOR]})),
        {"content": [], "structuredContent": ["x"]},
    ],
)
def test_an_inline_result_has_no_descriptor(result: dict[str, Any]):
    assert find_descriptor(result) is None
