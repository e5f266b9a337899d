"""jsonschema is the yardstick: jsonschema-rs may not accept what it refuses.

Where the two differ, the difference is listed here with its reason, and is held to be there still.
"""

from __future__ import annotations

import json
from copy import deepcopy
from random import Random
from typing import Any

import pytest

from lro_spec.jsonl.parse import plain_values
from lro_spec.schema.errors import validator
from lro_spec.schema.fast import (
    accepts,
    foreign_fast_validator,
    joint_list_validator,
    own_fast_validator,
    record_list_validator,
    refusal_is_final,
)
from lro_spec.schema.untrusted import judge_of

LINES = 4_000
"""Number of lines that are generated and mutated."""

PARTS = ("any", "light", "medium", "full")
VALUES: list[Any] = [
    *(None, True, False, 0, 1, -1, 1.0, 1.5, -0.0, 2**53 + 1, 2**63, 2**64, 1e300, 5e-324),
    *("", " ", "x", "x\n", "\n", "é", "𝄞", "\u0000", "٣", "\ufeff", "\x1c", "3", "lro_header", "2026-03-02T09:30:00Z"),
    *("2026-03-02T09:30:00Z\n", "2026-02-30T00:00:00Z", "20260302T093000Z", "x" * 300),
    *([], [1], ["a"], ["a", 1], [1, 1.0], [1, True], [[]], [{}], [{"a": 1}, {"a": 1.0}], ["a"] * 40),
    *({}, {"confidence": 1}, {"confidence": "1"}, {"confidence": None}, {"a": {"b": []}}),
]
RECORD = {
    "id": "m1",
    "memory_type": "semantic",
    "content": "",
    "created": "2026-03-02T09:30:00Z",
    "modified": None,
    "namespace": "_semantic/a",
    "title": "One",
    "tags": ["x", "y"],
    "status": "active",
    "provenance": {"confidence": 0.5, "agent": "a"},
    "extensions": {"x": [1, {"y": None}]},
}
HEADER = {
    "type": "lro_header",
    "operation": "recall",
    "query": None,
    "count": 3,
    "schema_version": "1.0",
    "timestamp": "2026-03-02T09:30:00Z",
    "estimated_tokens": 20,
    "detail": "full",
}
SCHEMAS: list[Any] = [
    True,
    False,
    {"type": "integer"},
    {"type": ["number", "null"]},
    {"const": 1},
    {"enum": [True, "x", [1]]},
    {"multipleOf": 0.5},
    {"minimum": 0, "exclusiveMaximum": 2**63},
    {"minLength": 1, "maxLength": 1},
    {"pattern": "^x$"},
    {"pattern": "^\\d+$"},
    {"pattern": "^\\S+$"},
    {"pattern": "^\\w$"},
    {"pattern": "^\\W$"},
    {"pattern": "^\\D$"},
    {"pattern": "^\\s$"},
    {"uniqueItems": True},
    {"items": {"type": "string"}, "minItems": 1},
    {"prefixItems": [{"type": "integer"}], "items": False},
    {"contains": {"const": 1}, "maxContains": 1},
    {"properties": {"a": {"type": "object"}}, "additionalProperties": False},
    {"patternProperties": {"^c": {"type": "number"}}, "unevaluatedProperties": False},
    {"propertyNames": {"maxLength": 1}, "minProperties": 1},
    {"dependentRequired": {"a": ["b"]}},
    {"if": {"type": "string"}, "then": {"minLength": 2}, "else": {"not": {"type": "array"}}},
    {"oneOf": [{"type": "number"}, {"type": "integer"}, {"type": "string"}]},
    {"anyOf": [{"$ref": "#/$defs/x"}, {"type": "null"}], "$defs": {"x": {"type": "array", "maxItems": 1}}},
    {"format": "date-time"},
    {"$schema": "http://json-schema.org/draft-07/schema#", "items": [{"type": "integer"}], "additionalItems": False},
    {"$schema": "http://json-schema.org/draft-04/schema#", "minimum": 1, "exclusiveMinimum": True},
    {"$schema": "http://json-schema.org/draft-07/schema#", "format": "date-time", "contentEncoding": "base64"},
]


def mutated(random: Random, sound: dict[str, Any]) -> dict[str, Any]:
    """A line with up to three fields missing, changed, or added, also deep inside."""
    made = deepcopy(sound)
    for _ in range(random.randrange(4)):
        holder = made
        if isinstance(made.get("provenance"), dict) and random.random() < 0.2:
            holder = made["provenance"]
        name = random.choice([*holder, "score", "content", "tags", ""])
        if random.random() < 0.25:
            holder.pop(name, None)
        else:
            holder[name] = deepcopy(random.choice(VALUES))
    return made


def as_read(value: object, *, ascii_only: bool = True) -> Any:
    """A value as the real reader takes it from JSON text."""
    text = json.dumps(value, ensure_ascii=ascii_only).encode()
    values = plain_values([text, text])
    assert values is not None, text
    return values[0]


def test_no_line_is_accepted_that_the_yardstick_refuses():
    random = Random(2020_12)
    differ: list[str] = []
    accepted = refused = 0
    for number in range(LINES):
        name, part = ("header", "") if number % 4 == 3 else ("line", random.choice(PARTS))
        line = mutated(random, HEADER if name == "header" else RECORD)
        said = validator(name, part).is_valid(line)
        accepted, refused = accepted + said, refused + (not said)
        both = (line, as_read(line, ascii_only=number % 2 == 0))
        if any(accepts(own_fast_validator(name, part), given) != said for given in both) and not explained(name, line):
            differ.append(f"{name} {part}: jsonschema says {said} of {json.dumps(line)}")
    assert differ == []
    assert min(accepted, refused) > LINES // 6  # a test of one kind of line would be none


def explained(name: str, line: dict[str, Any]) -> bool:
    """Python's ``$`` stands before a last line feed too, ECMAScript's does not; the calendar catches it either way.

    Where that is all: jsonschema accepts the line as it is, and the fast validator does without the line feed.
    """
    timestamp = line.get("timestamp")
    if name != "header" or not isinstance(timestamp, str) or not timestamp.endswith("\n"):
        return False
    without = {**line, "timestamp": timestamp.removesuffix("\n")}
    return validator(name).is_valid(line) and accepts(own_fast_validator(name), without)


def test_a_line_feed_excuses_nothing_but_itself():
    header = {**HEADER, "timestamp": "2026-03-02T09:30:00Z\n"}
    assert validator("header").is_valid(header)
    assert not accepts(own_fast_validator("header"), header)
    assert explained("header", header)
    for other in ({**header, "count": "3"}, {**header, "timestamp": "x\n"}, HEADER):
        assert not explained("header", other)
    assert not explained("line", header)


ECMA = "JSON Schema's expressions are ECMAScript's, of ASCII, with a $ at the very end; jsonschema's are Python's too"
DRAFT7 = "draft 7 lets a validator look into contentEncoding; jsonschema takes it for an annotation, as later drafts do"

BASE64 = ("", "x" * 300, "20260302T093000Z")
DIFFERENCES: list[tuple[dict[str, Any], bool, list[str], str]] = [
    ({"pattern": "^x$"}, True, ["x\n"], ECMA),
    ({"pattern": "^\\d+$"}, True, ["٣"], ECMA),
    ({"pattern": "^\\S+$"}, True, ["x\n", "\ufeff", "2026-03-02T09:30:00Z\n"], ECMA),
    ({"pattern": "^\\w$"}, True, ["x\n", "é", "٣"], ECMA),
    ({"pattern": "^\\D$"}, True, ["x\n"], ECMA),
    ({"pattern": "^\\s$"}, True, ["\x1c"], ECMA),
    (SCHEMAS[-1], True, [v for v in VALUES if isinstance(v, str) and v not in BASE64], DRAFT7),
]
"""A schema, what jsonschema says of some values, the values, and why jsonschema-rs says the opposite.

Nothing comes of jsonschema-rs being the stricter one: jsonschema has the last word, and accuses no line that one of the
two readings of an expression acquits.
"""


def test_every_difference_over_schemas_of_others_is_listed():
    found: dict[tuple[str, str], bool] = {}
    for schema in SCHEMAS:
        fast = foreign_fast_validator(schema)
        assert fast is not None, schema
        judge = judge_of(schema)
        for value in VALUES:
            said = judge(value) is None
            for given in (value, as_read(value)):
                if accepts(fast, given) != said:
                    found[json.dumps(schema), json.dumps(value)] = said
    listed = {(json.dumps(s), json.dumps(value)): said for s, said, values, _ in DIFFERENCES for value in values}
    assert found == listed


def random_schema(random: Random, depth: int = 2) -> dict[str, Any]:
    """A schema of up to three keywords on which jsonschema-rs decides."""
    numbers, sizes = (0, 1, 1.5, -1, 2**53, 2**64), (0, 1, 2, 300)
    keywords: dict[str, Any] = {
        "type": random.choice(["integer", "number", "string", "object", "array", "null", ["boolean", "integer"]]),
        "enum": random.sample(VALUES, 3),
        "const": random.choice(VALUES),
        **{name: random.choice(numbers) for name in ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")},
        **{name: random.choice(sizes) for name in ("minLength", "maxLength", "minItems", "maxItems")},
        "required": random.sample(["a", "confidence"], random.randrange(3)),
        "additionalProperties": False,
    }
    if depth:
        inner = [random_schema(random, depth - 1) for _ in range(2)]
        keywords |= dict.fromkeys(("allOf", "anyOf", "oneOf", "prefixItems"), inner)
        keywords |= {"not": inner[0], "items": inner[0], "properties": {"a": inner[0], "confidence": inner[1]}}
        keywords |= {"$ref": "#/$defs/x", "additionalProperties": inner[1]}
    chosen = random.sample(sorted(keywords), random.randrange(1, 4))
    return {name: keywords[name] for name in chosen}


def test_a_gate_that_decides_agrees_with_jsonschema() -> None:
    random = Random(2020_12)
    refused = 0
    for _ in range(1_000):
        schema = {**random_schema(random), "$defs": {"x": random_schema(random, 0)}}
        fast, judge = foreign_fast_validator(schema), judge_of(schema)
        assert fast is not None
        assert refusal_is_final(schema)
        for value in random.sample(VALUES, 8):
            refused += not fast(value)
            assert fast(value) == (judge(value) is None), (schema, value)
    assert 1_000 < refused < 7_000


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"a": {"pattern": "^x"}}},
        {"items": {"multipleOf": 0.1}},
        {"uniqueItems": True},
        {"$schema": "http://json-schema.org/draft-07/schema#", "type": "object"},
        True,
        {"unknown": 1},
    ],
)
def test_a_gate_does_not_decide_by_what_the_two_may_read_differently(schema: object) -> None:
    assert not refusal_is_final(schema)


def test_two_gates_in_one_let_through_what_both_let_through():
    own = [{"$defs": {"x": {"type": "string"}}, "properties": {"title": {"$ref": "#/$defs/x"}}}, {"required": ["tags"]}]
    schemas = [schema for schema in [*SCHEMAS, *own] if isinstance(schema, dict)]
    lines = [*VALUES, RECORD, HEADER, {**RECORD, "type": "lro_header"}, {**RECORD, "title": 1}, {"id": "m1"}]
    judged = 0
    for schema in schemas:
        for part in PARTS:
            joint, record, foreign = (
                joint_list_validator(part, schema),
                record_list_validator(part),
                foreign_fast_validator(schema),
            )
            if joint is None:
                continue
            for line in lines:
                judged += 1
                assert accepts(joint, [line]) == (accepts(record, [line]) and accepts(foreign, line)), (
                    schema,
                    part,
                    line,
                )
    assert judged > len(PARTS) * len(lines) * len(own)
    assert joint_list_validator("full", {"$id": "urn:x", "type": "object"}) is None
    assert joint_list_validator("full", {"$schema": "http://json-schema.org/draft-07/schema#"}) is None


def test_no_header_is_let_through_as_a_record():
    fast = record_list_validator("any")
    assert fast is not None
    assert accepts(fast, [RECORD, RECORD])
    assert not accepts(fast, [RECORD, {**RECORD, "type": "lro_header"}])
    assert not accepts(fast, [RECORD, "a text"])
