"""Parts of a line_schema that records cannot be validated against are reported with their place."""

from __future__ import annotations

import json
from typing import Any

import pytest

from lro_spec.findings import Finding
from lro_spec.jsonl.lines import Block
from lro_spec.schema.checker import LineSchemaChecker
from lro_spec.schema.lint import (
    dangling_references,
    foreign_patterns,
    remote_references,
    subschemas,
    syntax_error,
    without_references,
)
from lro_spec.validation.descriptor import validate_descriptor


def of_schema(schema: object) -> list[tuple[str, str]]:
    found = validate_descriptor({"line_schema": schema})
    return [(f.pointer, f.severity) for f in found if f.pointer.startswith("/line_schema")]


def of_lines(schema: object, *records: Any) -> list[Finding]:
    judge = LineSchemaChecker(schema)
    block = Block(2, 0, [json.dumps(record).encode() for record in records])
    return [*judge.take(list(records), block), *judge.end()]


@pytest.mark.parametrize("pattern", ["([", "(", "a)", "*a", "a|*", "\\", "[a\\]", "{2}"])
def test_what_is_a_pattern_in_no_dialect_is_an_error_at_its_place(pattern: str) -> None:
    assert syntax_error(pattern)
    assert of_schema({"properties": {"id": {"pattern": pattern}}}) == [("/line_schema/properties/id/pattern", "error")]


def test_a_broken_pattern_for_names_is_an_error_too() -> None:
    schema: dict[str, Any] = {"properties": {"id": {}}, "patternProperties": {"a/(": {}}}
    assert of_schema(schema) == [("/line_schema/patternProperties/a~1(", "error")]


@pytest.mark.parametrize(
    "pattern", ["^\\p{Ll}", "(?<f>Z)\\k<f>", "[^]", "[]", "(?<=a+)b", "a??", "(?=a)*", "^(?:x|y)+$"]
)
def test_a_pattern_of_another_dialect_is_not_called_broken(pattern: str) -> None:
    assert syntax_error(pattern) is None
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


def test_a_pattern_that_nothing_here_applies_is_told() -> None:
    assert of_schema({"properties": {"id": {"pattern": "a[]"}}}) == [("/line_schema/properties/id/pattern", "warning")]
    assert of_schema({"properties": {"id": {"pattern": "(?=a)\\p{L}"}}}) == []


@pytest.mark.parametrize(
    ("schema", "where"),
    [
        ({"$ref": "schema.json"}, "/$ref"),
        ({"properties": {"id": {}, "far": {"$ref": "urn:example:a"}}}, "/properties/far/$ref"),
        ({"$id": "https://example.org/a", "properties": {"id": {"$ref": "#/$defs/none"}}}, "/properties/id/$ref"),
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
    assert list(dangling_references({"$id": "https://example.org/a", "$defs": inside, "allOf": parts})) == []


def test_the_value_that_violates_line_schema_is_marked() -> None:
    schema = {"properties": {"tags": {"items": {"type": "string"}}}}
    (found,) = of_lines(schema, {"id": "a", "tags": ["x", 7]})
    assert (found.pointer, found.line, found.column) == ("/tags/1", 2, 27)


BROKEN = {
    "it ends in a backslash": ["\\", "a\\"],
    "a [ is not closed": ["[", "[a", "[\\]", "x[a-z\\"],
    "a ( is not closed": ["(", "((a)", "(?", "((((", "(()", "\\)(", "()("],
    "a ) closes nothing": [")", "(a))", "))"],
    "there is nothing for * to repeat": ["*", "(*a)", "|*", "a|*", "*a", "a(*)"],
    "there is nothing for + to repeat": ["+", "a(+b)"],
    "there is nothing for ? to repeat": ["?"],
    "there is nothing for { to repeat": ["{1}", "{1,2}", "({2})", "|{2}"],
}
SOUND = [
    "", "a", "\\\\", "\\(", "[]", "[]a]", "[\\]]", "[a\\]b]", "()", "((a)(b))", "(a(b)c)d", "a*", "a**", "a+?",
    "(?:a)*", "(?=a)", "a|b*", "^*", "(|a)", "a{1}", "a{1,}", "a{x}", "[a]*", "[a]{2}", "\\d*", "\\d{2}", "(a)*",
    "(a){2}", "^a$", "a||b", "(?<n>a)\\k<n>", "a?", "(\\()", "[(]", "[)]*", "(a)?", "(a|b)+", "a(?:b(?:c))d*",
    "(((a)))", "(a*)", "b[\\\\]c", "[[]", "\\(*", "\\|+", "(^*)", "a|^*", "(?*a)",
]  # fmt: skip


@pytest.mark.parametrize(("why", "pattern"), [(why, pattern) for why, some in BROKEN.items() for pattern in some])
def test_a_broken_pattern_says_why(why: str, pattern: str) -> None:
    assert syntax_error(pattern) == why


@pytest.mark.parametrize("pattern", SOUND)
def test_what_some_dialect_takes_is_not_broken(pattern: str) -> None:
    assert syntax_error(pattern) is None


ESCAPED = "\\p{L}"


@pytest.mark.parametrize(
    ("schema", "places"),
    [
        (True, []),
        (3, []),
        ([], []),
        ({}, [()]),
        ({"properties": {"a": {}, "b": True, "c": {}}}, [(), ("properties", "a"), ("properties", "c")]),
        ({"allOf": [{}, True, {"not": {}}]}, [(), ("allOf", 0), ("allOf", 2), ("allOf", 2, "not")]),
        ({"const": {}, "enum": [{}], "default": {}, "items": {}}, [(), ("items",)]),
        ({"items": [{}], "if": {}}, [(), ("items", 0), ("if",)]),
        ({"allOf": 3, "properties": {"$ref": {}}}, [(), ("properties", "$ref")]),
        ({"$defs": {"a": {"$id": "urn:a", "$defs": {"b": {}}}}}, [(), ("$defs", "a"), ("$defs", "a", "$defs", "b")]),
    ],
)
def test_subschemas_are_found_where_a_schema_may_stand(schema: Any, places: list[tuple[str | int, ...]]) -> None:
    assert [path for path, _ in subschemas(schema)] == places


@pytest.mark.parametrize(
    ("schema", "patterns"),
    [
        ({"pattern": ESCAPED}, [(("pattern",), ESCAPED)]),
        ({"properties": {"a": {"pattern": "("}, "c": {"pattern": "a"}}}, [(("properties", "a", "pattern"), "(")]),
        ({"const": {"pattern": "("}, "items": {"pattern": "("}}, [(("items", "pattern"), "(")]),
        ({"enum": [{"pattern": "("}], "if": {"pattern": "*"}}, [(("if", "pattern"), "*")]),
        (
            {"patternProperties": {"(": {"pattern": ")"}, "a": {}, ESCAPED: {}}},
            [
                (("patternProperties", "("), "("),
                (("patternProperties", ESCAPED), ESCAPED),
                (("patternProperties", "(", "pattern"), ")"),
            ],
        ),
    ],
)
def test_patterns_that_python_has_not_are_found(schema: Any, patterns: list[tuple[Any, str]]) -> None:
    assert list(foreign_patterns(schema)) == patterns


@pytest.mark.parametrize(
    ("schema", "found"),
    [
        ({"$ref": "#/$defs/a"}, [("/$ref", "#/$defs/a")]),
        ({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/x"}}}, [("/$defs/a/$ref", "#/x")]),
        ({"$ref": "urn:x"}, [("/$ref", "urn:x")]),
        ({"$ref": 3, "items": {"$ref": "#/y"}}, [("/items/$ref", "#/y")]),
        ({"$defs": {"a": {"$id": "urn:a", "$defs": {"b": {}}, "$ref": "#/$defs/b"}}, "$ref": "urn:a"}, []),
        ({"$dynamicRef": "#a"}, [("/$dynamicRef", "#a")]),
        ({"$dynamicRef": "#a", "$defs": {"x": {"$dynamicAnchor": "a"}}}, []),
        ({"const": {"$ref": "#/z"}, "items": {"$ref": "#/$defs/q"}}, [("/items/$ref", "#/$defs/q")]),
        ({"$ref": "http://json-schema.org/draft-07/schema#"}, []),
        ({"properties": {"$ref": {"type": "string"}}}, []),
        ({"$schema": 3, "$ref": "#/a"}, [("/$ref", "#/a")]),
        ({"$defs": {"a": {"$schema": "urn:own", "x": 1}, "b": {"$ref": "#/c"}}}, [("/$defs/b/$ref", "#/c")]),
        ({"allOf": 3, "$ref": "#/a"}, [("/$ref", "#/a")]),
        ({"$ref": "#", "allOf": [{"$ref": "#/b"}, 1]}, []),
        ({"properties": {"a": 1, "b": {"$ref": "#/b"}}}, []),
        ({"$ref": "#/%%"}, [("/$ref", "#/%%")]),
        ({"items": [{"$ref": "#/a"}]}, []),
        ({"allOf": [{"not": {"$schema": 3}}, {"$ref": "#/c"}]}, [("/allOf/1/$ref", "#/c")]),
    ],
)
def test_references_to_nothing_are_found(schema: Any, found: list[tuple[str, str]]) -> None:
    assert list(dangling_references(schema)) == found


FAR = "https://example.org/mif.json"


@pytest.mark.parametrize(
    ("schema", "found"),
    [
        ({"$ref": FAR}, [("$ref",)]),
        ({"properties": {"a": {"$ref": f"{FAR}#/$defs/a"}}}, [("properties", "a", "$ref")]),
        (
            {"$id": FAR, "properties": {"a": {"$ref": "other.json"}, "b": {"$ref": "#/c"}}},
            [("properties", "a", "$ref")],
        ),
        ({"$defs": {"a": {"$id": FAR}}, "$ref": FAR}, []),
        ({"$ref": "other.json"}, []),
        ({"$ref": "urn:example:a"}, []),
        ({"$ref": "http://["}, []),
    ],
)
def test_references_to_other_documents_are_found_by_their_address(schema: Any, found: list[Any]) -> None:
    assert [path for path, _ in remote_references(schema)] == found


def test_a_schema_without_a_reference_keeps_the_rest() -> None:
    schema = {"allOf": [{"$ref": FAR, "type": "object"}, {"required": ["id"]}]}
    assert without_references(schema, [("allOf", 0, "$ref")]) == {"allOf": [{"type": "object"}, {"required": ["id"]}]}


def test_what_stands_beside_a_reference_counts_for_nothing_in_older_drafts() -> None:
    draft = "http://json-schema.org/draft-07/schema#"
    schema = {"$schema": draft, "$ref": FAR, "required": ["id"]}
    assert without_references(schema, [("$ref",)]) == {"$schema": draft}


def test_another_document_is_not_fetched_and_is_no_fault() -> None:
    assert of_schema({"properties": {"id": {"$ref": FAR}}}) == [("/line_schema/properties/id/$ref", "warning")]
    assert of_schema({"$ref": FAR}) == [("/line_schema/$ref", "warning"), ("/line_schema", "warning")]
