"""Validation of files, headers, records and descriptors: what is found, where, and under which requirement."""

from __future__ import annotations

import io
import json
import tracemalloc
from copy import deepcopy
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from lro_spec.editions import edition
from lro_spec.findings import Kind
from lro_spec.jsonl.strict import nearest_position, position
from lro_spec.schema.bundled import json_schema
from lro_spec.validation import Finding, validate_descriptor, validate_file, validate_header, validate_line
from lro_spec.validation.duplicates import SeenIds
from tests.support.offloads import made

NAME = "atlatl-recall-01KJPY44E0A1B2C3D4E5F6G7H8.jsonl"
WRITTEN = "2026-03-02T09:30:00Z"


def header(**changed: Any) -> dict[str, Any]:
    whole = {
        "type": "lro_header",
        "operation": "recall",
        "query": "words",
        "count": 2,
        "schema_version": "1.0",
        "timestamp": WRITTEN,
        "estimated_tokens": 10,
        "detail": "light",
    }
    return {k: v for k, v in {**whole, **changed}.items() if v is not ...}


def lines(*values: Any) -> bytes:
    return b"".join((v if isinstance(v, bytes) else json.dumps(v).encode()) + b"\n" for v in values)


def found(data: bytes, **options: Any) -> list[Finding]:
    return list(validate_file(io.BytesIO(data), **options))


def places(findings: list[Finding]) -> list[tuple[str, int | None, int | None]]:
    return [(f.rule, f.line, f.column) for f in findings]


def only(findings: list[Finding]) -> Finding:
    assert len(findings) == 1, findings
    return findings[0]


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["id", "tags", "x"]), inner, max_size=3)
    ),
    max_leaves=5,
)
PIECES = [
    '{"',
    '"',
    "{",
    "}",
    "[",
    "]",
    ":",
    ",",
    "\n",
    "\r",
    "\\u",
    "d800",
    "1e999",
    "id",
    "null",
    "NaN",
    '"type":"lro_header"',
    '"count":1',
    '{"id":"a"}\n',
    "\ufeff",
]

A, B = {"id": "a", "title": "A"}, {"id": "b", "title": "B"}


class TestFile:
    def test_sound_file_has_no_findings(self):
        assert found(lines(header(), A, B)) == []

    def test_last_line_needs_no_line_feed(self):
        assert found(lines(header(), A, B)[:-1]) == []

    def test_file_of_no_records_is_sound(self):
        assert found(lines(header(count=0))) == []

    def test_empty_file_has_no_header(self):
        finding = only(found(b""))
        assert (finding.rule, finding.message) == ("LRO-FILE-02", "the file is empty")

    def test_invalid_utf8_is_found_with_its_byte_offset(self):
        data = lines(header(count=1), '{"id":"ä'.encode() + b'\xff"}')
        finding = only(found(data))
        assert (finding.rule, finding.line, finding.column) == ("LRO-FILE-01", 2, 9)
        assert f"byte 0xff at offset {data.index(0xFF)} of the file" in finding.observed

    def test_utf16_is_found_as_not_utf8(self):
        finding = found('{"id":"a"}'.encode("utf-16"))[0]
        assert "byte 0xff at offset 0" in finding.observed

    def test_byte_order_mark_is_found_and_the_rest_is_still_judged(self):
        findings = found(b"\xef\xbb\xbf" + lines(header(count=3), A, B))
        assert places(findings)[0] == ("LRO-FILE-01", 1, 1)
        assert [f.rule for f in findings] == ["LRO-FILE-01", "LRO-FILE-06"]

    def test_carriage_returns_are_one_warning(self):
        finding = only(found(lines(header(), A, B).replace(b"\n", b"\r\n")))
        assert (finding.severity, finding.line) == ("warning", 1)

    @pytest.mark.parametrize("blank", [b"", b"  ", b"\t", b"\r"])
    def test_blank_line_is_found(self, blank: bytes):
        finding = found(lines(header(), A, blank, B))[0]
        assert (finding.rule, finding.line, finding.message) == ("LRO-FILE-01", 3, "the line is blank")

    @pytest.mark.parametrize("word", ["NaN", "Infinity", "-Infinity", "1e400", "-1e400", "1" * 5000])
    def test_number_that_json_has_not_is_found(self, word: str):
        finding = only(found(lines(header(count=1), f'{{"id":"a","n":{word}}}'.encode())))
        assert (finding.rule, finding.line, finding.column) == ("LRO-FILE-01", 2, 15)
        assert finding.severity == "error"

    @pytest.mark.parametrize(
        "record",
        ['{"id":"a","x":1,"x":1}', '{"id" : "a", "x" : 1, "x" : 1}', '{"id":"a","y":{"x":"\\u0022\\u0022","x":""}}'],
    )
    def test_key_written_twice_is_a_warning_with_its_place(self, record: str):
        finding = only(found(lines(header(count=1), record.encode())))
        assert (finding.rule, finding.line, finding.severity) == ("LRO-FILE-01", 2, "warning")
        assert finding.column == record.rindex('"x"') + 1

    def test_text_that_looks_like_a_key_is_no_key(self):
        record = {"id": "a", "t": '{"id": 1, "id": 2}', "u": '"\\":', 'v":': '":'}
        assert found(lines(header(count=1), record)) == []

    def test_half_a_surrogate_pair_is_a_warning(self):
        finding = only(found(lines(header(count=1), b'{"id":"a","t":"x\\uD83d"}')))
        assert (finding.line, finding.column, finding.severity) == (2, 17, "warning")
        assert found(lines(header(count=1), b'{"id":"a","t":"\\ud83d\\ude00"}')) == []

    @pytest.mark.parametrize("rest", [b'{"id":"b"', b'{"id":"b', b'{"id":', b"{", b'{"id":"\xc3'])
    def test_last_line_cut_off_is_told_as_such(self, rest: bytes):
        finding = only(found(lines(header(), A) + rest))
        assert (finding.rule, finding.line) == ("LRO-FILE-01", 3)
        assert "truncated" in finding.message

    def test_broken_line_in_the_middle_is_not_cut_off(self):
        finding = only(found(lines(header(), b'{"id":"a"', B)))
        assert finding.line == 2
        assert "truncated" not in finding.message

    @pytest.mark.parametrize("value", [[], 3, "text", None, True])
    def test_line_that_is_no_object_is_found(self, value: Any):
        finding = only(found(lines(header(), A, value)))
        assert (finding.rule, finding.line, finding.expected) == ("LRO-FILE-01", 3, "an object")

    def test_header_after_the_records_is_not_first(self):
        findings = found(lines(A, header(count=1)))
        assert [(f.rule, f.line) for f in findings] == [("LRO-FILE-02", 1), ("LRO-FILE-02", 2)]
        assert findings[1].message == "the header is not the first line"

    def test_second_header_is_found(self):
        finding = only(found(lines(header(count=1), A, header(count=1))))
        assert (finding.rule, finding.line, finding.message) == ("LRO-FILE-02", 3, "there is a second header")

    @pytest.mark.parametrize("value", [None, 3, [], {}])
    def test_first_line_that_is_no_header_is_found(self, value: Any):
        assert ("LRO-FILE-02", 1, 1) in places(found(lines(value, A)))

    def test_header_with_a_wrong_type_is_still_read_as_one(self):
        finding = only(found(lines(header(type="header"), A, B)))
        assert (finding.rule, finding.pointer, finding.column) == ("LRO-FILE-02", "/type", 10)

    @pytest.mark.parametrize("count", [0, 1, 3, 2.5])
    def test_count_that_is_off_is_found(self, count: float):
        findings = [f for f in found(lines(header(count=count), A, B)) if f.rule == "LRO-FILE-06"]
        finding = only(findings)
        assert (finding.line, finding.pointer, finding.observed) == (1, "/count", str(count))
        assert finding.expected.startswith("2,")

    def test_unreadable_lines_count_as_records(self):
        assert [f.rule for f in found(lines(header(), A, b"{"))] == ["LRO-FILE-01"]

    def test_memory_that_is_there_twice_is_found(self):
        finding = only(found(lines(header(count=3), A, B, A)))
        assert (finding.rule, finding.line, finding.observed) == ("LRO-FILE-09", 4, '"a", as in line 2')

    def test_light_record_with_content_is_found(self):
        finding = only(found(lines(header(), A, {"id": "b", "content": "text"})))
        assert (finding.rule, finding.line, finding.column) == ("LRO-DET-01", 3, 24)

    def test_detail_level_that_nobody_knows_is_a_warning_and_its_records_are_judged_leniently(self):
        finding = only(found(lines(header(detail="headline"), A, {"id": "b", "content": "text"})))
        assert (finding.rule, finding.severity) == ("LRO-FILE-08", "warning")

    def test_line_over_the_limit_is_not_judged_and_still_counted(self):
        long = {"id": "b", "title": "x" * 1000}
        finding = only(found(lines(header(count=3), A, long, {"id": "c"}), max_line_bytes=500))
        assert (finding.line, finding.severity, finding.observed) == (3, "error", f"{len(json.dumps(long))} bytes")

    def test_line_at_the_limit_is_judged(self):
        record = json.dumps({"id": "b", "tags": [1], "t": "x" * 400}).encode()
        assert [f.rule for f in found(lines(header(count=1), record), max_line_bytes=len(record))] == ["LRO-FILE-11"]

    @pytest.mark.parametrize("depth", [300, 600, 100_000])
    def test_deep_nesting_is_bounded(self, depth: int):
        record = b'{"id":"a","x":' + b"[" * depth + b"]" * depth + b"}"
        findings = found(lines(header(count=1), record))
        assert [f.line for f in findings] == ([] if depth < 500 else [2])

    def test_findings_come_in_the_order_of_the_file(self):
        findings = found(lines(header(), {"id": "a", "tags": [1]}, {"id": "b", "tags": [1]}, {"id": True}))
        assert [f.line for f in findings] == [2, 3, 4, 1]

    @given(st.binary(max_size=300))
    def test_arbitrary_bytes_never_raise(self, data: bytes):
        found(data, name=NAME, max_line_bytes=100)

    @given(st.lists(st.sampled_from([*(piece.encode() for piece in PIECES), b"\xff", b" "]), max_size=30))
    def test_mangled_json_never_raises(self, parts: list[bytes]):
        for finding in found(b"".join(parts), name=NAME):
            assert finding.rule.startswith("LRO-")
            assert finding.message

    @settings(max_examples=50)
    @given(value=ANYTHING)
    def test_any_record_is_judged_as_its_schema_judges_it(self, value: Any):
        findings = [f for f in found(lines(header(count=1, detail="medium"), value)) if f.severity == "error"]
        if isinstance(value, dict) and value.get("type") == "lro_header":
            return
        try:
            json.dumps(value, allow_nan=False)
        except ValueError:  # a number that JSON cannot express, which a schema does not see
            assert [f.rule for f in findings] == ["LRO-FILE-01"]
        else:
            assert (not findings) is Draft202012Validator(json_schema("line")).is_valid(value)

    def test_missing_path_raises_as_open_does(self, tmp_path: Path):
        with pytest.raises(FileNotFoundError):
            list(validate_file(tmp_path / "nothing.jsonl"))

    def test_unknown_edition_is_refused(self):
        with pytest.raises(ValueError, match="lro-6400"):
            found(b"", edition="lro-64")


class TestName:
    def test_sound_name_has_no_findings(self, tmp_path: Path):
        path = tmp_path / NAME
        path.write_bytes(lines(header(), A, B))
        assert list(validate_file(path)) == []

    def test_renamed_file_is_a_warning(self, tmp_path: Path):
        path = tmp_path / "results.jsonl"
        path.write_bytes(lines(header(), A, B))
        finding = only(list(validate_file(path)))
        assert (finding.rule, finding.severity) == ("LRO-NAME-02", "warning")

    def test_operation_of_the_name_and_the_header_must_agree(self):
        finding = only(found(lines(header(operation="search"), A, B), name=NAME))
        assert (finding.rule, finding.observed) == ("LRO-NAME-02", 'recall in the name, "search" in the header')

    @pytest.mark.parametrize(
        "written", ["2026-03-02T09:31:01Z", "2026-03-02T09:30:00+01:00", "0001-01-01T00:00:00+14:00"]
    )
    def test_ulid_that_lies_about_its_time_is_found(self, written: str):
        finding = only(found(lines(header(timestamp=written), A, B), name=NAME))
        assert (finding.rule, finding.line) == ("LRO-NAME-03", 1)
        assert finding.observed.startswith("2026-03-02T09:30:00")

    @pytest.mark.parametrize(
        "written", ["2026-03-02T09:30:59Z", "2026-03-02T10:30:00+01:00", "20260302T093000Z", "2026-03-02T20:00:00"]
    )
    def test_time_that_may_be_the_same_is_not_held_against_it(self, written: str):
        assert found(lines(header(timestamp=written), A, B), name=NAME) == []


class TestHeader:
    @pytest.mark.parametrize(
        ("changed", "rule", "pointer"),
        [
            ({"type": "header"}, "LRO-FILE-02", "/type"),
            ({"type": ...}, "LRO-FILE-02", "/type"),
            ({"count": "2"}, "LRO-FILE-03", "/count"),
            ({"count": -1}, "LRO-FILE-03", "/count"),
            ({"count": True}, "LRO-FILE-03", "/count"),
            ({"count": ...}, "LRO-FILE-03", "/count"),
            ({"operation": ...}, "LRO-FILE-03", "/operation"),
            ({"operation": ""}, "LRO-FILE-03", "/operation"),
            ({"query": 3}, "LRO-FILE-03", "/query"),
            ({"schema_version": 1}, "LRO-FILE-03", "/schema_version"),
            ({"schema_version": ""}, "LRO-FILE-12", "/schema_version"),
            ({"timestamp": 1772443800}, "LRO-FILE-03", "/timestamp"),
            ({"timestamp": "yesterday"}, "LRO-FILE-07", "/timestamp"),
            ({"timestamp": "2026-02-30T00:00:00Z"}, "LRO-FILE-07", "/timestamp"),
            ({"timestamp": WRITTEN + "\n"}, "LRO-FILE-07", "/timestamp"),
            ({"estimated_tokens": 1.5}, "LRO-FILE-03", "/estimated_tokens"),
            ({"detail": None}, "LRO-FILE-03", "/detail"),
        ],
    )
    def test_each_fault_is_found_under_its_requirement(self, changed: dict[str, Any], rule: str, pointer: str):
        finding = only(list(validate_header(header(**changed))))
        assert (finding.rule, finding.pointer, finding.severity) == (rule, pointer, "error")

    @pytest.mark.parametrize("changed", [{}, {"query": None}, {"query": ...}, {"count": 2.0}, {"x": 1}])
    def test_what_the_specification_allows_is_not_held_against_it(self, changed: dict[str, Any]):
        assert list(validate_header(header(**changed))) == []

    def test_leap_second_is_a_time(self):
        assert list(validate_header(header(timestamp="2026-12-31T23:59:60Z"))) == []

    @pytest.mark.parametrize("value", [None, [], 3, "text"])
    def test_header_that_is_no_object_is_found(self, value: Any):
        assert only(list(validate_header(value))).rule == "LRO-FILE-02"

    def test_operation_of_another_edition_is_a_warning(self):
        assert only(list(validate_header(header(operation="list")))).severity == "warning"
        assert list(validate_header(header(operation="list"), edition="lro-1600")) == []
        assert list(validate_header(header(operation="anything"), edition="lro-paper")) == []


WHOLE: dict[str, Any] = {"memory_type": "m", "namespace": "n", "title": "t", "created": "2026-03-02T09:30:00Z"}


class TestFullDetail:
    @pytest.mark.parametrize("place", [0, 1, 2])
    def test_content_in_some_record_is_enough(self, place: int):
        records = [{"id": str(n), **WHOLE, **({"content": ""} if n == place else {})} for n in range(3)]
        assert found(lines(header(count=3, detail="full"), *records)) == []

    def test_a_field_that_no_record_has_is_told_once(self):
        records = [{"id": str(n), **WHOLE} for n in range(3)]
        finding = only(found(lines(header(count=3, detail="full"), *records)))
        assert (finding.rule, finding.line, finding.severity) == ("LRO-FILE-11", 2, "error")
        assert finding.message == "the record, like all 3 in the file, lacks content"
        assert finding.observed == 'the fields ["id","memory_type","namespace","title","created"]'

    def test_texts_of_the_only_record_may_be_empty_and_left_out(self):
        finding = only(found(lines(header(count=1, detail="full"), {"id": "a", **WHOLE})))
        assert (finding.line, finding.severity, finding.kind) == (2, "warning", Kind.NOT_EVALUATED)
        assert "keep fields that are empty" in finding.hint
        untyped = {"id": "a", **WHOLE, "content": ""}
        del untyped["memory_type"]
        assert only(found(lines(header(count=1, detail="full"), untyped))).severity == "error"

    def test_nothing_is_missed_where_there_is_no_record_or_another_level(self):
        assert found(lines(header(count=0, detail="full"))) == []
        assert found(lines(header(count=1, detail="medium"), {"id": "a"})) == []


class TestRecord:
    @pytest.mark.parametrize(
        ("record", "detail", "rule"),
        [
            ({}, "light", "LRO-FILE-11"),
            ({"id": True}, "light", "LRO-FILE-11"),
            ({"id": 3.5}, "light", "LRO-FILE-11"),
            ({"id": ""}, "light", "LRO-FILE-11"),
            ({"id": "a", "tags": "x"}, "light", "LRO-FILE-11"),
            ({"id": "a", "tags": [1]}, "light", "LRO-FILE-11"),
            ({"id": "a", "title": 3}, "light", "LRO-FILE-11"),
            ({"id": "a", "content": 3}, "light", "LRO-FILE-11"),
            ({"id": "a", "content": "x"}, "light", "LRO-DET-01"),
            ({"id": "a", "content": "", "provenance": {"confidence": ["high"]}}, "full", "LRO-FILE-11"),
            ([], "full", "LRO-FILE-01"),
        ],
    )
    def test_each_fault_is_found_under_its_requirement(self, record: Any, detail: str, rule: str):
        assert only(list(validate_line(record, detail))).rule == rule

    @pytest.mark.parametrize(
        ("record", "detail"),
        [
            ({"id": "a"}, "light"),
            ({"id": 3}, "light"),
            ({"id": "a", "content": "", "provenance": {"confidence": "high"}}, "full"),
            ({"id": "a", "content": None}, "light"),
            ({"id": "a", "content": ""}, "light"),
            ({"id": "a", "title": None, "tags": None, "provenance": None, "entities": {}}, "light"),
            ({"id": "a"}, "medium"),
            ({"id": "a"}, "full"),
            ({"id": "a", "content": ""}, "full"),
            ({"id": "a", "content": "x", "x-vendor": 1, "provenance": {"confidence": 1}}, "full"),
            ({"id": "a", "content": "x"}, None),
            ({"id": "a", "content": "x"}, "headline"),
        ],
    )
    def test_what_the_specification_leaves_open_is_not_held_against_it(self, record: Any, detail: str | None):
        assert list(validate_line(record, detail)) == []

    fields = st.fixed_dictionaries(
        {},
        optional={
            **dict.fromkeys(("id", "title", "content", "tags", "status", "created", "entities"), ANYTHING),
            "provenance": ANYTHING | st.dictionaries(st.sampled_from(["confidence", "agent"]), ANYTHING),
        },
    )

    @given(record=fields, part=st.sampled_from(["any", "light", "medium", "full"]))
    def test_findings_and_schema_agree(self, record: dict[str, Any], part: str):
        line = json_schema("line")
        valid = Draft202012Validator({"$defs": line["$defs"], "$ref": f"#/$defs/{part}"}).is_valid(record)
        assert (not list(validate_line(record, part))) == valid


def descriptor(**changed: Any) -> dict[str, Any]:
    whole = deepcopy(json_schema("descriptor")["examples"][0])
    whole["jq_recipes"] = [
        {"description": r.description, "command": r.command.replace("{file}", whole["file_path"])}
        for r in edition("lro-6400").recipes
    ]
    return {k: v for k, v in {**whole, **changed}.items() if v is not ...}


def summary(**changed: Any) -> dict[str, Any]:
    return {"summary": {k: v for k, v in {**descriptor()["summary"], **changed}.items() if v is not ...}}


def recipe(command: str) -> dict[str, Any]:
    return {"jq_recipes": [*descriptor()["jq_recipes"], {"description": "d", "command": command}]}


PATH = descriptor()["file_path"]


class TestDescriptor:
    @pytest.mark.parametrize(
        ("changed", "rule", "pointer"),
        [
            ({"offloaded": False}, "LRO-DESC-01", "/offloaded"),
            ({"offloaded": "true"}, "LRO-DESC-01", "/offloaded"),
            ({"summary": ...}, "LRO-DESC-01", "/summary"),
            ({"summary": []}, "LRO-DESC-01", "/summary"),
            (summary(count=...), "LRO-DESC-01", "/summary/count"),
            (summary(estimated_tokens="10"), "LRO-DESC-01", "/summary/estimated_tokens"),
            (summary(top_namespaces=list("abcdef")), "LRO-DESC-06", "/summary/top_namespaces"),
            (summary(top_namespaces=["a", "a"]), "LRO-DESC-06", "/summary/top_namespaces"),
            (summary(score_range=[0.9, 0.1]), "LRO-DESC-07", "/summary/score_range"),
            (summary(score_range=[0.9]), "LRO-DESC-07", "/summary/score_range"),
            (summary(score_range={"min": 0, "max": 1}), "LRO-DESC-07", "/summary/score_range"),
            (summary(operation="search"), "LRO-NAME-02", "/file_path"),
            ({"file_path": "out/" + PATH.rpartition("/")[2]}, "LRO-DESC-02", "/file_path"),
            ({"line_schema": {"type": "objekt"}}, "LRO-DESC-09", "/line_schema"),
            ({"line_schema": "{}"}, "LRO-DESC-01", "/line_schema"),
            ({"line_schema": {}}, "LRO-DESC-10", "/line_schema"),
            ({"line_schema": True}, "LRO-DESC-10", "/line_schema"),
            ({"line_schema": {"type": "object"}}, "LRO-DESC-10", "/line_schema"),
            (recipe(""), "LRO-REC-13", "/jq_recipes/10/command"),
            (recipe("tail -n +2 {file} | jq .id"), "LRO-REC-11", "/jq_recipes/10/command"),
            (recipe("tail -n +2 /tmp/other.jsonl | jq .id"), "LRO-REC-11", "/jq_recipes/10/command"),
            (recipe(f"tail -n +2 {PATH} | jq '.id"), "LRO-REC-13", "/jq_recipes/10/command"),
            ({"guidance": ""}, "LRO-GUI-01", "/guidance"),
            ({"guidance": " \n"}, "LRO-GUI-01", "/guidance"),
            ({"guidance": "x" * 4001}, "LRO-GUI-01", "/guidance"),
            ({"guidance": "{count} memories: see the recipes"}, "LRO-GUI-05", "/guidance"),
            ({"guidance": "ok"}, "LRO-GUI-01", "/guidance"),
            ({"guidance": "The result was too large and is elsewhere."}, "LRO-GUI-01", "/guidance"),
            ({"guidance": "Run the recipes in your shell now."}, "LRO-GUI-04", "/guidance"),
        ],
    )
    def test_each_fault_is_found_under_its_requirement(self, changed: dict[str, Any], rule: str, pointer: str):
        finding = only(list(validate_descriptor(descriptor(**changed))))
        assert (finding.rule, finding.pointer, finding.severity) == (rule, pointer, "error")

    def test_too_few_recipes_are_a_warning_as_they_bind_at_level_2(self):
        for few in ([], descriptor()["jq_recipes"][:9]):
            finding = only(list(validate_descriptor(descriptor(jq_recipes=few))))
            assert (finding.rule, finding.pointer, finding.severity) == ("LRO-REC-13", "/jq_recipes", "warning")

    @pytest.mark.parametrize(
        "changed",
        [{}, summary(score_range=None), summary(score_range=...), summary(score_range=[0.5, 0.5]), {"_meta": {}}],
    )
    def test_what_the_specification_allows_is_not_held_against_it(self, changed: dict[str, Any]):
        assert list(validate_descriptor(descriptor(**changed))) == []

    def test_name_that_does_not_follow_the_convention_is_found(self):
        there = "/tmp/results.jsonl"
        recipes = [{**r, "command": r["command"].replace(PATH, there)} for r in descriptor()["jq_recipes"]]
        said = descriptor()["guidance"].replace(PATH, there)
        finding = only(list(validate_descriptor(descriptor(file_path=there, jq_recipes=recipes, guidance=said))))
        assert (finding.rule, finding.pointer) == ("LRO-NAME-02", "/file_path")

    def test_unquoted_space_in_the_path_is_found_and_a_quoted_one_is_not(self):
        there = PATH.replace("/tmp/", "/tmp/my files/")
        recipes = descriptor()["jq_recipes"]
        bare = [{**r, "command": r["command"].replace(PATH, there)} for r in recipes]
        quoted = [{**r, "command": r["command"].replace(PATH, f"'{there}'")} for r in recipes]
        said = descriptor()["guidance"].replace(PATH, there)
        moved = descriptor(file_path=there, guidance=said)
        assert {f.rule for f in validate_descriptor({**moved, "jq_recipes": bare})} == {"LRO-REC-11"}
        assert list(validate_descriptor({**moved, "jq_recipes": quoted})) == []

    @pytest.mark.parametrize("value", [None, [], "text"])
    def test_descriptor_that_is_no_object_is_found(self, value: Any):
        assert only(list(validate_descriptor(value))).rule == "LRO-DESC-01"

    @settings(max_examples=30, deadline=None)
    @given(
        st.dictionaries(
            st.sampled_from(list(descriptor())),
            ANYTHING | st.dictionaries(st.sampled_from(list(descriptor()["summary"])), ANYTHING),
        )
    )
    def test_arbitrary_fields_never_raise(self, changed: dict[str, Any]):
        for finding in validate_descriptor(descriptor(**changed)):
            assert finding.message


class TestPosition:
    @pytest.mark.parametrize(
        ("pointer", "at"),
        [("", 1), ("/a", 7), ("/a/1", 11), ("/a/1/b~1c", 18), ("/d", 28), ("/e", None), ("/a/7", None), ("/d/x", None)],
    )
    def test_place_of_a_value_is_found(self, pointer: str, at: int | None):
        text = ' {"a": [1, {"b/c":2 }] , "d":"x"}'
        place = position(text, pointer)
        assert place is None if at is None else text[place:].startswith(json.dumps(_value(text, pointer))[0])
        assert nearest_position(text, pointer) >= 0

    @given(st.text(), st.text())
    def test_any_text_is_searched_without_raising(self, text: str, pointer: str):
        assert nearest_position(text, pointer) >= 0


def _value(text: str, pointer: str) -> Any:
    value = json.loads(text)
    for part in pointer.split("/")[1:]:
        value = value[int(part)] if isinstance(value, list) else value[part.replace("~1", "/")]
    return value


class TestSeenIds:
    def test_the_line_of_an_id_is_known_while_they_are_few(self):
        seen = SeenIds(max_with_lines=10)
        assert seen.add_all(["a", "b", "c"], 2) == []
        assert seen.add_all(["d", "b", "d"], 5) == [1, 2]
        assert [seen.line_of(id) for id in "abcde"] == [2, 3, 4, 5, None]
        seen.add_all(list("fghijklmno"), 8)
        assert not seen.add("b", 18)
        assert seen.line_of("b") is None

    @given(st.lists(st.text(max_size=2)))
    def test_repeats_are_told_from_news(self, ids: list[str]):
        seen, model = SeenIds(), set[str]()
        for id in ids:
            assert seen.add(id, 0) is (id not in model)
            model.add(id)

    def test_what_is_over_the_limit_is_not_accused(self):
        seen = SeenIds(limit=2)
        assert [seen.add(id, 0) for id in "abccab"] == [True, True, True, True, False, False]

    def test_a_hundred_thousand_ids_are_kept_apart(self):
        seen = SeenIds()
        assert all(seen.add(f"id-{i}", 0) for i in range(100_000))
        assert not any(seen.add(f"id-{i}", 0) for i in range(0, 100_000, 997))


class Endless(io.RawIOBase):
    """A file that is made while it is read, so that only the reader's own memory is seen."""

    def __init__(self, records: int) -> None:
        self._rest = b""
        first = lines(header(count=records))
        made = (lines({"id": f"memory-{i}", "title": "x" * 500}) for i in range(records))
        self._lines = chain([first], made)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if not self._rest:
            self._rest = next(self._lines, b"")
        part, self._rest = self._rest[: len(buffer)], self._rest[len(buffer) :]
        buffer[: len(part)] = part
        return len(part)


def test_memory_does_not_grow_with_the_file():
    tracemalloc.start()
    try:
        assert list(validate_file(io.BufferedReader(Endless(20_000)))) == []
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 4_000_000  # of a file of ten megabytes


class TestManyIds:
    def test_repeats_are_found_however_many_ids_lie_between(self):
        seen = SeenIds(limit=50, max_with_lines=10)
        assert all(seen.add(f"id{n}", n) for n in range(400))
        assert [n for n in range(60) if not seen.add(f"id{n}", 1000 + n)] == list(range(50))  # told at once
        assert sorted(seen.late()) == list(range(1050, 1060))  # told at the end

    def test_ids_of_a_block_are_told_by_their_places(self):
        seen = SeenIds(limit=50, max_with_lines=10)
        assert seen.add_all(["a", "b"], 2) == []
        assert seen.add_all(["c", "a", "d", "c"], 4) == [1, 3]
        assert seen.add_all([f"x{n}" for n in range(20)], 8) == []
        assert seen.add_all(["x3", "d", "new"], 28) == [0, 1]

    def test_a_share_that_was_written_out_is_read_back(self):
        seen = SeenIds(limit=0, max_with_lines=0)
        count = 300_000
        assert seen.add_all([f"{n}" for n in range(count)], 0) == []
        assert seen.add_all(["7", f"{count - 1}", "new"], count) == []
        assert sorted(seen.late()) == [count, count + 1]

    def test_a_repeat_is_found_in_a_file_in_whole_blocks(self):
        ids = [f"m{n}" for n in range(3000)]
        data = lines(header(count=3001), *({"id": id} for id in [*ids, "m1500"]))
        finding = only(found(data))
        assert (finding.rule, finding.line, finding.column) == ("LRO-FILE-09", 3002, 8)


class TestDocuments:
    @settings(max_examples=60, deadline=None)
    @given(st.recursive(ANYTHING, lambda inner: st.dictionaries(st.text(max_size=2), inner, max_size=2), max_leaves=4))
    def test_anything_is_judged_and_nothing_raises(self, value: Any):
        for judge in (validate_descriptor, validate_header, validate_line):
            for finding in judge(value):
                assert str(finding)


@pytest.mark.parametrize(
    ("change", "pointers"),
    [
        ({"count": "24", "score_range": [0.9, 0.1]}, {"/summary/count", "/summary/score_range"}),
        ({"top_namespaces": 5, "operation": "frobnicate"}, {"/summary/top_namespaces", "/summary/operation"}),
    ],
)
def test_a_wrong_field_of_the_summary_does_not_hide_another(change: dict[str, Any], pointers: set[str], tmp_path: Path):
    value = made(tmp_path)
    value["summary"].update(change)
    found = {f.pointer for f in validate_descriptor(value)} - {"/file_path"}
    assert found == pointers


@pytest.mark.parametrize("path", ["out/results.jsonl", "", 5, None])
def test_a_wrong_path_does_not_hide_a_command_that_cannot_be_parsed(tmp_path: Path, path: object):
    value = made(tmp_path)
    value["file_path"] = path
    shape = {f.rule for f in validate_descriptor(value)}
    assert len(shape) == 1
    value["jq_recipes"][0]["command"] = "jq . | rm x"
    assert {f.rule for f in validate_descriptor(value)} == shape | {"LRO-REC-13"}
