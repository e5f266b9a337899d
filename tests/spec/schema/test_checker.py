"""Lines against a foreign schema: the order of evaluation, and the report on lines that there was no time for."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterable
from types import SimpleNamespace
from typing import Any

import pytest

from lro_spec.display import pointer
from lro_spec.findings import Excerpt
from lro_spec.jsonl.lines import Block
from lro_spec.jsonl.parse import plain_value, plain_values
from lro_spec.schema import checker
from lro_spec.schema.checker import LineSchemaChecker
from lro_spec.schema.fast import joint_list_validator
from lro_spec.schema.untrusted import Judgement, Violation
from lro_spec.validation import validate_file
from tests.golden.files import HEADER

UNBOUNDED = {"properties": {"a": {"$ref": "#"}}}
"""A schema that is evaluated in a child only."""


class Child:
    """Returns the judgements of a test, and records the number of records and the time of each request."""

    def __init__(self, *judgements: Judgement, took_s: float = 0.0) -> None:
        self.judgements = list(judgements)
        self.given: list[tuple[int, float]] = []
        self.now = 0.0
        self.took_s = took_s
        self.closed = False

    def close(self) -> None:
        self.closed = True

    def judge(self, schema: object, records: Iterable[object], limit: int, timeout_s: float) -> Judgement:
        assert schema is UNBOUNDED
        known = list(records)
        assert len(known) == limit
        self.given.append((len(known), timeout_s))
        self.now += self.took_s
        return self.judgements.pop(0)


def said(message: str) -> Violation:
    return Violation("", message)


Made = Callable[..., Child]


@pytest.fixture
def child(monkeypatch: pytest.MonkeyPatch) -> Made:
    def make(*judgements: Judgement, took_s: float = 0.0) -> Child:
        made = Child(*judgements, took_s=took_s)
        monkeypatch.setattr(checker, "SchemaChild", lambda: SimpleNamespace(judge=made.judge, close=made.close))
        monkeypatch.setattr(checker, "time", SimpleNamespace(monotonic=lambda: made.now))
        return made

    return make


def block(*records: dict[str, Any]) -> tuple[list[dict[str, Any]], Block]:
    return list(records), Block(5, 0, [json.dumps(r).encode() for r in records])


def many(count: int) -> tuple[list[dict[str, Any]], Block]:
    return block(*({"n": n} for n in range(count)))


def test_a_tame_schema_is_judged_as_the_lines_come() -> None:
    judge = LineSchemaChecker({"required": ["id"]})
    (found,) = judge.take(*block({"id": "a"}, {"n": 1}))
    assert (found.line, found.column, found.excerpt) == (6, 1, Excerpt('{"n": 1}', 0))
    assert list(judge.take(*block({"n": 1}, {"n": 2}), satisfied=True)) == []
    assert list(judge.end()) == []


def test_others_are_judged_five_hundred_lines_at_a_time(child: Made) -> None:
    made = child(Judgement(500, ((0, said("x")), (499, said("y")))), Judgement(1, ()))
    judge = LineSchemaChecker(UNBOUNDED)
    assert [(f.line, f.observed) for f in judge.take(*many(501))] == [(5, "x"), (504, "y")]
    assert list(judge.end()) == []
    assert made.given == [(500, 5.0), (1, 5.0)]
    assert made.closed


def test_lines_behind_one_that_takes_all_the_time_of_a_look_are_judged_too(child: Made) -> None:
    made = child(Judgement(2, ((0, said("x")), (2, said("stuck")))), Judgement(4, ((1, said("y")),)))
    judge = LineSchemaChecker(UNBOUNDED)
    assert list(judge.take(*many(7))) == []
    assert [(f.line, f.observed) for f in judge.end()] == [(5, "x"), (7, "stuck"), (9, "y")]
    assert ([count for count, _ in made.given], judge.judged) == ([7, 4], 7)


def test_lines_behind_those_that_took_the_time_of_a_look_together_are_judged_too(child: Made) -> None:
    made = child(Judgement(5, ()), Judgement(2, ()), took_s=5.0)
    judge = LineSchemaChecker(UNBOUNDED)
    assert list(judge.take(*many(7))) == []
    assert list(judge.end()) == []
    assert made.given == [(7, 5.0), (2, 5.0)]


def test_no_line_is_blamed_for_taking_what_little_time_was_left(child: Made) -> None:
    stuck = Judgement(0, ((0, said("stuck")),))
    made = child(stuck, stuck, stuck, took_s=5.0)
    judge = LineSchemaChecker(UNBOUNDED, 11.0)
    assert list(judge.take(*many(4))) == []
    one, two, rest = judge.end()
    assert [f.line for f in (one, two)] == [5, 6]
    assert (rest.message, rest.observed) == (
        "2 lines were not checked against line_schema",
        "2 lines checked until then",
    )
    assert (rest.line, rest.severity) == (None, "warning")
    assert [time_s for _, time_s in made.given] == [5.0, 5.0, 1.0]


def test_all_looks_together_have_a_limit(child: Made) -> None:
    made = child(Judgement(500, ()), Judgement(500, ()), took_s=2.0)
    judge = LineSchemaChecker(UNBOUNDED, 3.0)
    assert list(judge.take(*many(1700))) == []
    (rest,) = judge.end()
    assert made.given == [(500, 3.0), (500, 1.0)]
    assert (rest.message, rest.observed) == (
        "700 lines were not checked against line_schema",
        "1000 lines checked until then",
    )
    assert rest.expected == "a schema that needs less than 3 s for the lines that jsonschema-rs refuses"


BEYOND = 2**64 + 1
"""An integer that orjson reads as 2.0**64."""


def test_integers_over_64_bits_keep_their_digits_where_a_line_is_accused() -> None:
    judge = LineSchemaChecker({"properties": {"n": {"enum": [BEYOND]}}})
    lines = [b'{"n": %d}' % n for n in (BEYOND, BEYOND + 1, BEYOND)]
    (found,) = judge.take(plain_values(lines) or [], Block(5, 0, lines))
    assert (found.line, found.pointer) == (6, "/n")
    assert (found.expected, found.observed) == ("18446744073709551617", "18446744073709551618")
    assert judge.judged == 3


@pytest.mark.parametrize(
    ("schema", "right", "wrong"),
    [
        ({"maximum": 10**25}, 10**25, 10**25 + 1),
        ({"exclusiveMinimum": -BEYOND}, 1 - BEYOND, -BEYOND),
        ({"multipleOf": 10}, 10**25, 10**25 + 1),
        ({"enum": [10**25]}, 10**25, 10**25 + 1),
        ({"const": {"m": 10**25}}, {"m": 10**25}, {"m": 10**25 + 1}),
    ],
)
def test_integers_over_64_bits_are_no_doubles_to_a_schema(schema: object, right: object, wrong: object) -> None:
    whole = {"properties": {"id": True, "n": schema}}
    records = [{"id": str(place), "n": value} for place, value in enumerate([right, wrong, right])]
    lines = [json.dumps(record).encode() for record in records]
    judge = LineSchemaChecker(whole)
    found = [*judge.take(plain_values(lines) or [], Block(2, 0, lines)), *judge.end()]
    assert [(f.line, f.pointer[:2]) for f in found] == [(3, "/n")]
    assert joint_list_validator("any", whole) is None  # which sees doubles only


def test_integers_over_64_bits_keep_their_digits_in_what_is_quoted() -> None:
    line = '{"id": "a", "memory_type": "semantic", "title": 18446744073709551617}'
    found = validate_file(io.BytesIO(f"{json.dumps(HEADER)}\n{line}\n".encode()))
    assert [f.observed for f in found if f.pointer == "/title"] == ["18446744073709551617"]


@pytest.mark.parametrize(
    ("record", "path", "column"),
    [
        ({"a": {"b": "fine"}, "a/b": "s"}, ["a/b"], 29),
        ({"x~/y": "s"}, ["x~/y"], 10),
        ({"a": "fine", "a: b": "s"}, ["a: b"], 23),
        ({"": "s"}, [""], 6),
        ({"a": [{"b/c": "s"}]}, ["a", 0, "b/c"], 16),
    ],
)
@pytest.mark.parametrize("kind", ["tame", "bounded", "foreign"])
def test_a_pointer_is_that_of_rfc_6901(record: dict[str, Any], path: list[str | int], column: int, kind: str) -> None:
    schema: dict[str, Any] = {"tame": {"type": "integer"}, "foreign": {"pattern": "^\\p{L}{2}$"}}.get(
        kind, {"pattern": "^x"}
    )
    for part in reversed(path):
        schema = {"items": schema} if isinstance(part, int) else {"properties": {part: schema}}
    judge = LineSchemaChecker(schema)
    (found,) = [*judge.take(*block(record)), *judge.end()]
    assert (found.pointer, found.column) == (pointer(path), column)
    assert found.observed.startswith('"s"')


@pytest.mark.parametrize(
    ("schema", "value", "expected", "observed"),
    [
        ({"type": "string"}, True, "a string", "true"),
        ({"type": "string"}, None, "a string", "null"),
        ({"type": ["string", "null"]}, False, "a string or null", "false"),
        ({"enum": [None, "x", True]}, "it's", 'null or "x" or true', '"it\'s"'),
        ({"const": None}, 1, "null", "1"),
        ({"minimum": 2}, 1, "at least 2", "1"),
        ({"maxLength": 1}, "ab", "at most 1 character", '"ab"'),
        ({"pattern": "^x"}, "a", 'a text that matches "^x"', '"a"'),
        ({"pattern": "^\\p{Lu}"}, "a", 'a text that matches "^\\\\p{Lu}"', '"a"'),
        ({"required": ["c", "b"]}, {"c": 1}, "a field 'b'", "no such field"),
        ({"required": ["it's"]}, {}, 'a field "it\'s"', "no such field"),
        ({"dependentRequired": {"c": ["b"]}}, {"c": 1}, "a field 'b'", "no such field"),
        ({"minItems": 2}, [], "at least 2 items", "[]"),
        ({"uniqueItems": True}, [1, 1], "each item once", "[1,1]"),
        ({"items": False}, [1], "nothing there", "[1]"),
        ({"items": {"not": {"const": 1}}}, [1], 'a value that does not satisfy {"const":1}', "1"),
        ({"anyOf": [{"const": 1}, {"const": {}}]}, 2, 'a value that satisfies one of [{"const":1},{"const":{}}]', "2"),
        ({"properties": {"b": False}}, {"b": 2}, "nothing there", "2"),
        ({"oneOf": [True, True]}, 2, "a value that satisfies exactly one of [true,true]", "2"),
        (
            {"additionalProperties": False},
            {"x": 1},
            "no fields except those that line_schema allows",
            "'x'",
        ),
        (
            {"$ref": "#/properties/a"},
            1,
            "a record that can be checked against line_schema",
            "line_schema recurses without end on this record",
        ),
    ],
)
def test_what_is_expected_is_what_the_schema_asks_for_there(
    schema: dict[str, Any], value: object, expected: str, observed: str
) -> None:
    judge = LineSchemaChecker({"properties": {"a": schema}})
    (found,) = [*judge.take(*block({"a": value})), *judge.end()]
    assert (found.expected, found.observed) == (expected, observed)


@pytest.mark.parametrize(
    ("pattern", "right", "wrong"),
    [
        (r"a\b", "a\u00e9", "ab"),
        (r"^(?!x)\W$", "\u00e9", "e"),
        (r"^(?!x)[^\d]$", "\u0663", "3"),
        (r"^(?!x)\s[\s]$", "\ufeff\u00a0", "aa"),
        (r"^(?!x)\S$", "\x1c", " "),
        (r"^(?!x)[\]\s]$", "\ufeff", "\u200b"),
    ],
)
def test_patterns_are_read_as_ecma_262_has_them_too(pattern: str, right: str, wrong: str) -> None:
    judge = LineSchemaChecker({"properties": {"a": {"pattern": pattern}}})
    found = [*judge.take(*block({"a": right}, {"a": wrong})), *judge.end()]
    assert [f.line for f in found] == [6]


def test_types_that_are_schemas_are_judged_as_draft_3_has_it() -> None:
    draft = "http://json-schema.org/draft-03/schema#"
    a = {"type": [{"type": "null"}, {"properties": {"b": {"type": "integer", "required": True}}}]}
    judge = LineSchemaChecker({"$schema": draft, "properties": {"a": a, "c": {"required": True}}})
    records = [{"a": {"b": 1}, "c": 1}, {"a": {"b": "x"}, "c": 1}, {"a": {"b": 1}}]
    found = [*judge.take(*block(*records)), *judge.end()]
    assert [(f.line, f.pointer) for f in found] == [(6, "/a"), (7, "")]
    assert (found[1].expected, found[1].observed) == ("a field 'c'", "no such field")


ENDLESS = {
    "$schema": "https://json-schema.org/draft/2019-09/schema",
    "allOf": [{"oneOf": [{"$recursiveRef": "#"}, {"type": "array"}]}],
}
ODD = {
    "$schema": "http://json-schema.org/draft-03/schema#",
    "extends": {"$ref": "#x"},
    "type": [{"id": "urn:x"}, "string"],
}


@pytest.mark.parametrize(
    ("schema", "observed"),
    [(ENDLESS, "line_schema recurses without end on this record"), (ODD, "line_schema cannot be evaluated: ")],
)
def test_a_schema_that_the_library_fails_on_is_told(schema: object, observed: str) -> None:
    judge = LineSchemaChecker(schema)
    (found,) = [*judge.take(*block({"a": 1})), *judge.end()]
    assert found.observed.startswith(observed)
    assert found.expected == "a record that can be checked against line_schema"


def test_the_place_is_that_of_the_value_that_was_judged() -> None:
    line = b'{"a": 1, "b": {"a": 2}, "a": "x"}'
    (found,) = LineSchemaChecker({"properties": {"a": {"type": "integer"}}}).take(
        [json.loads(line)], Block(5, 0, [line])
    )
    assert (found.pointer, found.column) == ("/a", 30)


def test_half_a_surrogate_pair_is_judged_by_any_schema() -> None:
    judge = LineSchemaChecker({"properties": {"a": {"enum": ["x", "\ud800"]}}})
    (found,) = judge.take(*block({"a": "\udc00"}, {"a": "\ud800"}, {"a": "x"}))
    assert (found.line, judge.judged) == (5, 3)


@pytest.mark.parametrize(
    ("lines", "values"),
    [
        ([b'{"a":1}', b'{"b":2}'], [{"a": 1}, {"b": 2}]),
        ([b'{ "a": 1 }', b"3"], [{"a": 1}, 3]),
        ([b'{"a":1}', b'{"a":1,"a":2}'], None),
        ([b'{"a":1,"a":2}', b'{"a":1}'], None),
        ([b'{ "a":1}', b'{"a":1,"a":2}'], None),
        ([b'{"a":"\\u0022\\u0022","b":1,"b":2}'], None),
        ([b'{"a":"\\u0022"}'], None),
        ([b'{"a":"u0022"}'], [{"a": "u0022"}]),
        ([b'{"a":"\\n"}'], [{"a": "\n"}]),
        ([b"NaN"], None),
        ([b"[" * 2000 + b"]" * 2000], None),
        ([b'{"a":1},{"b":2}', b'{"c":3}'], None),
        ([b'{"a":[{"b":1}', b'{"c":2}],"d":4},{"e":5}'], None),
        ([b'{"a":[{"b":1}', b'{"c":2}],"d":4},0,{"e":5}'], None),
        ([b"0,1", b""], None),
        ([b'{"a":1}', b'{"b":2}\r', b' {"c":3}'], [{"a": 1}, {"b": 2}, {"c": 3}]),
        ([], []),
    ],
)
def test_lines_are_read_at_once_where_they_mean_one_thing(lines: list[bytes], values: list[Any] | None) -> None:
    assert plain_values(lines) == values
    for line, value in zip(lines, values or [], strict=False):
        assert plain_value(line) == value


@pytest.mark.parametrize("filler", ["x", "\\n", '\\"', "é", "\\u0022"])
def test_a_key_that_is_there_twice_in_a_long_line_is_not_overlooked(filler: str) -> None:
    text = f'{{"a": "{filler * 300_000}", "b": [1, {{"c": "\\\\"}}]}}'
    value = plain_value(text.encode())
    assert value == (None if "0022" in filler else json.loads(text))
    assert plain_value(text.replace('"c"', '"c": 1, "c"').encode()) is None
    assert plain_value(text.replace("1,", "[" * 300 + "]" * 300 + ",").encode()) is None  # looked at more closely
