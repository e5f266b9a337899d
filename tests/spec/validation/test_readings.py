"""Forms that the text does not settle: the reading that fails fewer honest servers (I-36)."""

from __future__ import annotations

import json
from io import BytesIO
from typing import Any

import pytest

from lro_spec.findings import Kind
from lro_spec.validation import validate_descriptor, validate_file, validate_header, validate_line
from lro_spec.validation.linked import Following
from lro_spec.validation.request import Request

PATH = "/out/atlatl-recall-01KJPY44E0A1B2C3D4E5F6G7H8.jsonl"
HEADER: dict[str, Any] = {
    "type": "lro_header",
    "operation": "recall",
    "count": 1,
    "schema_version": "1.0",
    "timestamp": "2026-03-02T09:30:00Z",
    "estimated_tokens": 10,
    "detail": "light",
}
SUMMARY: dict[str, Any] = {
    "count": 1,
    "estimated_tokens": 10,
    "operation": "recall",
    "top_namespaces": [],
    "detail": "light",
}
DESCRIPTOR: dict[str, Any] = {
    "offloaded": True,
    "summary": SUMMARY,
    "file_path": PATH,
    "line_schema": {"type": "object", "properties": {"id": {}}, "required": ["id"]},
    "jq_recipes": [],
    "guidance": "1 memory, in a file",
}


def rules(found: Any) -> set[str]:
    return {f.rule for f in found if f.severity == "error"}


@pytest.mark.parametrize(
    "change",
    [
        {"count": 1.0},
        {"estimated_tokens": 10.0},
        {"schema_version": "  "},
        {"timestamp": "2026-W10-1T09:30:00Z"},
        {"timestamp": "2026-061T09:30:00Z"},
        {"timestamp": "2026W101T093000Z"},
        {"timestamp": "2026-03-02T09Z"},
        {"timestamp": "2026-03-02 09:30:00 +01:00"},
    ],
)
def test_header_may_have(change: dict[str, Any]) -> None:
    assert rules(validate_header({**HEADER, **change})) == set()


@pytest.mark.parametrize("timestamp", ["2026-W54-1T09:30:00Z", "2026-366T09:30:00Z", "2026-13-01T00:00:00Z", "today"])
def test_header_may_not_have_a_day_that_does_not_exist(timestamp: str) -> None:
    assert rules(validate_header({**HEADER, "timestamp": timestamp})) == {"LRO-FILE-07"}


@pytest.mark.parametrize("field", ["count", "estimated_tokens"])
def test_summary_may_have_a_fraction_of_nothing(field: str) -> None:
    summary = {**SUMMARY, field: float(SUMMARY[field])}
    assert rules(validate_descriptor({**DESCRIPTOR, "summary": summary})) == set()
    assert rules(validate_descriptor({**DESCRIPTOR, "summary": {**SUMMARY, field: 1.5}})) == {"LRO-DESC-01"}


@pytest.mark.parametrize(
    "change",
    [{"id": 7}, {"id": 0}, {"provenance": {"confidence": "0.9"}}, {"temporal": "x"}, {"extensions": [1]}],
)
def test_memory_may_have(change: dict[str, Any]) -> None:
    assert rules(validate_line({"id": "a", **change})) == set()


@pytest.mark.parametrize("change", [{"id": ""}, {"id": True}, {"id": 1.5}, {"id": None}, {"tags": "x"}])
def test_memory_may_not_have(change: dict[str, Any]) -> None:
    assert rules(validate_line({"id": "a", **change})) == {"LRO-FILE-11"}


def test_numbered_memories_are_told_apart() -> None:
    lines = [{**HEADER, "count": 4}, {"id": 0}, {"id": 1}, {"id": "1"}, {"id": 1}]
    data = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
    found = [f for f in validate_file(BytesIO(data)) if f.severity == "error"]
    assert [(f.rule, f.line) for f in found] == [("LRO-FILE-09", 5)]


def test_name_without_a_ulid_breaks_the_requirement_of_the_ulid() -> None:
    assert rules(validate_descriptor({**DESCRIPTOR, "file_path": "/out/atlatl-recall-7.jsonl"})) == {"LRO-NAME-03"}
    assert rules(validate_descriptor({**DESCRIPTOR, "file_path": "/out/recall.jsonl"})) == {"LRO-NAME-02"}


class TestAsked:
    """Of two parts that disagree, the call says which is wrong."""

    def judged(self, header: str, summary: str, named: str, asked: Request | None) -> set[str]:
        lines = [{**HEADER, "operation": header}, {"id": "a"}]
        data = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
        descriptor = {
            **DESCRIPTOR,
            "summary": {**SUMMARY, "operation": summary},
            "file_path": PATH.replace("recall", named),
        }
        found = Following(descriptor, content=data, recipes=False, request=asked).findings()
        told = [f for f in found if f.kind in (Kind.NOT_AS_ASKED, Kind.CONTRADICTION, Kind.NAME_AGAINST_SUMMARY)]
        return rules(told)

    @pytest.mark.parametrize(
        ("header", "summary", "named", "rule"),
        [
            ("search", "recall", "recall", "LRO-FILE-04"),
            ("recall", "search", "recall", "LRO-DESC-05"),
            ("recall", "recall", "search", "LRO-NAME-02"),
        ],
    )
    def test_says_which_part_is_wrong(self, header: str, summary: str, named: str, rule: str) -> None:
        assert self.judged(header, summary, named, Request("recall", "light")) == {rule}
        assert self.judged(header, summary, named, None) != set()
