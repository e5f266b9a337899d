"""A ``line_schema`` is valid, satisfied and informative; a hostile one does no harm."""

from __future__ import annotations

import socket
import time
from typing import Any

import pytest

from lro_spec.schema.line_schema import is_vacuous, judge_lines, lines_violating, schema_problem
from lro_spec.schema.untrusted import is_tame

RECORDS = [{"id": "a", "title": "A", "tags": ["x"], "n": 1}, {"id": "b", "title": None, "tags": []}]


@pytest.mark.parametrize(
    "schema",
    [
        {},
        True,
        {"type": "object", "properties": {"id": {"type": "string"}}},
        {"$schema": "http://json-schema.org/draft-07/schema#", "definitions": {}, "type": "object"},
        {"$schema": "https://json-schema.org/draft/2020-12/schema#"},
        {"$schema": "https://example.com/own-dialect", "type": "object"},
        {"properties": {"id": {"pattern": "^\\p{L}+$"}}},
        {"x-vendor": 1},
    ],
)
def test_valid_schema_has_no_problem(schema: Any):
    assert schema_problem(schema) is None


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        (None, "a JSON Schema is an object"),
        ("{}", "a JSON Schema is an object"),
        ({"type": "objekt"}, "at /type: 'objekt'"),
        ({"properties": {"id": {"type": 3}}}, "at /properties/id/type"),
        ({"required": "id"}, "at /required"),
        ({"$schema": "http://json-schema.org/draft-04/schema#", "exclusiveMinimum": 3}, "exclusiveMinimum"),
        ({"anyOf": []}, "at /anyOf"),
        ({"enum": list(range(20_000))}, "more than 10000 values"),
    ],
)
def test_problem_of_an_invalid_schema_names_the_place(schema: Any, expected: str):
    assert expected in (schema_problem(schema) or "")


def test_bottomless_schema_is_a_problem_and_no_crash():
    schema: dict[str, Any] = {}
    for _ in range(100_000):
        schema = {"not": schema}
    assert "nested deeper" in (schema_problem(schema) or "")


def test_violating_records_are_named_by_index():
    schema = {"required": ["n"]}
    assert [index for index, _ in lines_violating(schema, RECORDS)] == [1]
    assert lines_violating({"required": ["id"]}, RECORDS) == []


def test_no_more_violations_than_asked_for():
    judged = judge_lines({"required": ["x"]}, [{}] * 50, limit=3)
    assert (judged.judged, len(judged.violations)) == (3, 3)


def test_invalid_schema_violates_by_itself():
    assert "not a schema" in lines_violating({"type": "objekt"}, RECORDS)[0][1]


def test_local_references_are_followed_in_this_process():
    schema = {"$ref": "#/$defs/memory", "$defs": {"memory": {"properties": {"title": {"type": "string"}}}}}
    assert is_tame(schema)
    assert [index for index, _ in lines_violating(schema, RECORDS)] == [1]


def test_recursive_schema_of_a_tree_is_evaluated():
    tree = {"properties": {"children": {"items": {"$ref": "#"}}, "id": {"type": "string"}}}
    assert not is_tame(tree)
    judged = judge_lines(tree, [{"id": "a", "children": [{"id": "b"}]}, {"id": "a", "children": [{"id": 3}]}])
    assert judged.judged == 2
    assert [index for index, _ in judged.violations] == [1]


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "http://127.0.0.1:9/schema.json"},
        {"properties": {"id": {"$ref": "https://example.com/id.json"}}},
        {"$ref": "#/$defs/nowhere"},
        {"$ref": "other.json"},
    ],
)
def test_nothing_is_fetched(schema: Any, monkeypatch: pytest.MonkeyPatch):
    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("the network was asked")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    assert "nothing is fetched" in lines_violating(schema, RECORDS)[0][1]


def test_schema_that_recurses_for_ever_ends():
    assert "recurses without end" in lines_violating({"$ref": "#"}, RECORDS)[0][1]


def test_catastrophic_regular_expression_ends_in_time():
    schema = {"properties": {"t": {"pattern": "^(a+)+$"}}}
    began = time.monotonic()
    found = lines_violating(schema, [{"t": "aa"}, {"t": "a" * 40 + "b"}], timeout_s=0.5)
    assert time.monotonic() - began < 8
    assert [(index, "could not be evaluated" in message) for index, message in found] == [(1, True)]


def test_references_that_multiply_end_in_time():
    doubled = {f"a{i}": {"allOf": [{"$ref": f"#/$defs/a{i + 1}"}] * 2} for i in range(30)}
    schema = {"$ref": "#/$defs/a0", "$defs": {**doubled, "a30": {"type": "object"}}}
    assert not is_tame(schema)
    assert "could not be evaluated" in lines_violating(schema, RECORDS, timeout_s=0.5)[0][1]
    assert judge_lines(schema, RECORDS, timeout_s=0.5).stuck


def test_running_out_of_time_over_many_records_accuses_none():
    schema = {"properties": {"t": {"pattern": "^(?=x)(?:xy|x)*$"}}}  # not for an engine that never backtracks
    records = ({"t": "x" * 20_000, "n": i} for i in range(100_000))
    judged = judge_lines(schema, records, timeout_s=0.2)
    assert judged.violations == ()
    assert 0 < judged.judged < 100_000


def test_the_place_of_a_record_counts_those_that_needed_no_closer_look():
    schema = {"properties": {"n": {"type": "integer"}}}
    judged = judge_lines(schema, [{"n": 1}, {"n": "two"}, {"n": 3}, {"n": None}, {"n": 5}])
    assert judged.judged == 5
    assert [index for index, _ in judged.violations] == [1, 3]
    assert judge_lines(schema, [{"n": 1}, {"n": "two"}, {"n": 3}, {"n": None}], limit=1).judged == 3


def test_regular_expression_that_python_has_not_is_read_as_in_ecma_262():
    schema = {"properties": {"id": {"pattern": "^\\p{L}+$"}}, "patternProperties": {"^\\p{Lu}": False}}
    records = [{"id": "é"}, {"id": "3"}, {"Id": "a"}]
    assert [(place, message.partition(":")[0]) for place, message in lines_violating(schema, records)] == [
        (1, "/id"),
        (2, 'False schema does not allow "a"'),
    ]


@pytest.mark.parametrize(
    "schema",
    [
        True,
        {},
        {"type": "object"},
        {"title": "Memory", "description": "A memory", "type": "object"},
        {"type": ["object"], "additionalProperties": True},
        {"properties": {"foo": {"type": "string"}}},
        {"anyOf": [{"type": "object"}, {}]},
        {"id": "string", "title": "string"},
        {"$ref": "#/$defs/m", "$defs": {"m": {"type": "object"}}},
        {"$ref": "#"},
    ],
)
def test_schema_that_says_nothing_is_vacuous(schema: Any):
    # A schema that recurses for ever rejects everything and so says something, if nothing good.
    assert (is_vacuous(schema, RECORDS) is None) is (schema == {"$ref": "#"})


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"id": {}}},
        {"required": ["title"]},
        {"$ref": "#/$defs/m", "$defs": {"m": {"properties": {"id": {"type": "string"}}}}},
        {"allOf": [{}, {"anyOf": [{"oneOf": [{"properties": {"tags": {}}}]}]}]},
        {"minProperties": 4},
        {"additionalProperties": {"type": ["string", "array", "number"]}},
        {"patternProperties": {"^id$": {"type": "string"}}},
        {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b", "required": ["id"]}, "b": {"$ref": "#/$defs/a"}}},
    ],
)
def test_schema_that_says_something_is_not_vacuous(schema: Any):
    assert is_vacuous(schema, RECORDS) is None


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        (False, "it refuses every record"),
        (True, "it says nothing about the records"),
        ({"not": {}}, "and refuses every record"),
        ({"allOf": [{}, {"not": True}]}, "and refuses every record"),
        ({"anyOf": [False, {"type": "null"}, {"enum": [1]}]}, "and refuses every record"),
        ({"type": ["string", "null"]}, "and refuses every record"),
        ({"minProperties": 9}, "names no field of the records"),
        ({"const": {"a": 1}}, "names no field of the records"),
        ({"$ref": "#"}, "names no field of the records"),
        ({"type": "object"}, "and accepts them whatever their fields are"),
        (
            {"$schema": "http://json-schema.org/draft-04/schema#", "const": 1},
            "and accepts them whatever their fields are",
        ),
    ],
)
def test_what_is_said_of_a_schema_without_fields_is_true(schema: object, said: str):
    assert (is_vacuous(schema, []) or "").endswith(said)


def test_fields_as_keywords_are_recognised():
    assert "belong under properties" in (is_vacuous({"id": "string", "title": "string"}, RECORDS) or "")


def test_without_records_any_named_property_counts():
    assert is_vacuous({"properties": {"foo": {}}}, []) is None
    assert is_vacuous({"type": "object"}, []) is not None


def test_a_record_seen_before_is_judged_alike_and_by_its_own_schema_only() -> None:
    strict = {"type": "object", "required": ["id"]}
    records = [{"id": 1}, {"id": 1}, {}, {"id": 1}, {}]
    for _ in range(2):
        assert [index for index, _ in lines_violating(strict, records)] == [2, 4]
        assert lines_violating({"type": "object"}, records) == []
        assert [index for index, _ in lines_violating({"type": "object", "required": ["no"]}, records[:1])] == [0]
