"""What of a line_schema cannot be held against records is told where it stands, and what can be is held."""

from __future__ import annotations

import json
from typing import Any

import pytest

from lro_spec import schema_gate
from lro_spec.descriptor_rules import validate_descriptor
from lro_spec.findings import Finding
from lro_spec.line_judge import LineJudge
from lro_spec.physical_lines import Block
from lro_spec.schema_places import broken, dangling


def of_schema(schema: object) -> list[tuple[str, str]]:
    found = validate_descriptor({"line_schema": schema})
    return [(f.pointer, f.severity) for f in found if f.pointer.startswith("/line_schema")]


def of_lines(schema: object, *records: Any) -> list[Finding]:
    judge = LineJudge(schema)
    block = Block(2, 0, [json.dumps(record).encode() for record in records])
    return [*judge.take(list(records), block), *judge.end()]


@pytest.mark.parametrize("pattern", ["([", "(", "a)", "*a", "a|*", "\\", "[a\\]", "{2}"])
def test_what_is_a_pattern_in_no_dialect_is_an_error_at_its_place(pattern: str) -> None:
    assert broken(pattern)
    assert of_schema({"properties": {"id": {"pattern": pattern}}}) == [("/line_schema/properties/id/pattern", "error")]


def test_a_broken_pattern_for_names_is_an_error_too() -> None:
    schema: dict[str, Any] = {"properties": {"id": {}}, "patternProperties": {"a/(": {}}}
    assert of_schema(schema) == [("/line_schema/patternProperties/a~1(", "error")]


@pytest.mark.parametrize(
    "pattern", ["^\\p{Ll}", "(?<f>Z)\\k<f>", "[^]", "[]", "(?<=a+)b", "a??", "(?=a)*", "^(?:x|y)+$"]
)
def test_a_pattern_of_another_dialect_is_not_called_broken(pattern: str) -> None:
    assert broken(pattern) is None
    assert ("/line_schema/properties/id/pattern", "error") not in of_schema(
        {"properties": {"id": {"pattern": pattern}}}
    )


def test_data_that_looks_like_a_schema_is_left_alone() -> None:
    schema = {"properties": {"pattern": {"const": {"pattern": "(", "$ref": "urn:x"}}, "$ref": {"type": "string"}}}
    assert of_schema(schema) == []


@pytest.mark.parametrize("pattern", ["^\\p{Ll}", "^(?<f>z)"])
def test_patterns_that_python_has_not_are_held_against_lines(pattern: str) -> None:
    schema = {"properties": {"id": {"pattern": pattern}}}
    assert of_schema(schema) == []
    (found,) = of_lines(schema, {"id": "zed"}, {"id": "Zed"})
    assert (found.line, found.rule, found.severity) == (3, "LRO-DESC-09", "error")
    assert found.expected.startswith("a text that matches ")


def test_names_that_such_a_pattern_lets_through_are_not_accused() -> None:
    schema = {"patternProperties": {"^\\p{Ll}+$": True}, "additionalProperties": False}
    (found,) = of_lines(schema, {"id": "a"}, {"ID": "a"}, {"id": "b"})
    assert found.line == 3


def test_a_pattern_that_nothing_here_applies_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    assert of_schema({"properties": {"id": {"pattern": "(?=a)\\p{L}"}}}) == [
        ("/line_schema/properties/id/pattern", "warning")
    ]
    monkeypatch.setattr(schema_gate, "_library", lambda: None)
    assert of_schema({"properties": {"id": {"pattern": "\\p{L}"}}}) == [
        ("/line_schema/properties/id/pattern", "warning")
    ]


@pytest.mark.parametrize(
    ("schema", "where"),
    [
        ({"$ref": "https://example.org/schema.json"}, "/$ref"),
        ({"properties": {"id": {}, "far": {"$ref": "https://example.org/a"}}}, "/properties/far/$ref"),
        ({"properties": {"id": {"$ref": "#/$defs/none"}}}, "/properties/id/$ref"),
        ({"properties": {"id": {"$ref": "http://["}}}, "/properties/id/$ref"),
    ],
)
def test_a_reference_to_what_is_not_there_is_told_once_where_it_stands(schema: Any, where: str) -> None:
    assert of_schema(schema) == [(f"/line_schema{where}", "error")]


def test_references_within_are_followed_by_name_anchor_and_pointer() -> None:
    inside = {"b": {"$id": "b", "$anchor": "k", "type": "string"}}
    parts = [
        {"$ref": "b"},
        {"$ref": "b#k"},
        {"$ref": "#/$defs/b"},
        {"$ref": "https://json-schema.org/draft/2020-12/schema"},
    ]
    assert list(dangling({"$id": "https://example.org/a", "$defs": inside, "allOf": parts})) == []


def test_the_value_that_violates_line_schema_is_marked() -> None:
    schema = {"properties": {"tags": {"items": {"type": "string"}}}}
    (found,) = of_lines(schema, {"id": "a", "tags": ["x", 7]})
    assert (found.pointer, found.line, found.column) == ("/tags/1", 2, 27)
