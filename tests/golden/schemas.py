"""Schemas of others: whether they are any, what they say, what it costs to hold records against them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from jsonschema import Draft202012Validator

from lro_spec.schema.errors import SchemaError, explained
from lro_spec.schema.fast import accepts, foreign_fast_validator, is_plain_schema, joint_list_validator
from lro_spec.schema.line_schema import is_vacuous, judge_lines, lines_violating, schema_problem
from lro_spec.schema.untrusted import is_bounded, is_tame, judge_here, judge_of, local_target
from tests.golden import Cases, Said

RECORDS: list[Any] = [{"id": "a", "n": 1}, {"id": 3}, {"n": "x"}, {}, 3]


def nested(depth: int) -> Any:
    """A schema so deep."""
    schema: Any = {}
    for _ in range(depth):
        schema = {"not": schema}
    return schema


def referring(levels: int) -> Any:
    """One that is twice as large with each level, once references are followed."""
    halves = {f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(levels)}
    return {"$defs": {**halves, f"d{levels}": {"type": "object"}}, "$ref": "#/$defs/d0"}


NAMED: dict[str, Any] = {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]}
SCHEMAS: dict[str, Any] = {
    "true": True,
    "false": False,
    "null": None,
    "a list": [],
    "empty": {},
    "named": NAMED,
    "an object": {"type": "object"},
    "a string": {"type": "string"},
    "no type": {"type": "nonsense"},
    "no properties": {"properties": []},
    "draft 7": {"$schema": "http://json-schema.org/draft-07/schema#", "definitions": {"a": {}}, "required": ["id"]},
    "a draft that nobody knows": {"$schema": "urn:x", "required": ["id"]},
    "a draft that is a number": {"$schema": 3, "required": ["id"]},
    "fields as keywords": {"id": {"type": "string"}, "title": {}},
    "fields that no record has": {"properties": {"x": {}, "y": {"type": "string"}}},
    "fields that must not be": {"properties": {"x": False}, "additionalProperties": False},
    "fields behind a reference": {"$ref": "#/$defs/r", "$defs": {"r": NAMED}},
    "fields behind an index": {"$ref": "#/allOf/0", "allOf": [NAMED, {}]},
    "fields in a part": {"allOf": [{"anyOf": [{"oneOf": [{"required": ["id"]}]}]}]},
    "an escaped reference": {"$ref": "#/$defs/a~1b~0c%20d", "$defs": {"a/b~c d": {"required": ["n"]}}},
    "a reference to nothing": {"$ref": "#/$defs/x"},
    "a reference to elsewhere": {"$ref": "https://example.org/x"},
    "a reference to itself": {"$ref": "#"},
    "recursion": {"properties": {"id": {}, "n": {"$ref": "#"}}},
    "a pattern": {"properties": {"id": {"pattern": "^a+$"}}},
    "a pattern of another language": {"properties": {"id": {"type": "string", "pattern": "\\p{L}"}}},
    "a pattern of names": {"patternProperties": {"^i": {"type": "string"}, "\\p{L}": False}},
    "a dynamic reference": {"$dynamicRef": "#x"},
    "unique": {"properties": {"id": {"uniqueItems": True}}},
    "data that looks like a schema": {"const": {"pattern": "(", "$ref": "#/x"}},
    "as deep as allowed": nested(64),
    "too deep": nested(65),
    "as large as allowed": {"enum": [0] * 9_998},
    "too large": {"enum": list(range(9_999))},
    "twice eight times": referring(8),
    "twice nine times": referring(9),
    "just small enough": {"allOf": [{}] * 1999},
    "just too large": {"allOf": [{}] * 2000},
    "with an id": {"$id": "urn:y", **NAMED},
    "fields that no record has, many": {"properties": {name: {} for name in "zyxwvu"}},
    "fields as keywords, of any draft": {"$schema": "urn:x", "id": {}, "n": 1},
    "annotations only": {"title": "x", "description": "y", "id": "urn:z", "$schema": "urn:x"},
    "a name that is not there in others": {"required": ["x"], "properties": {"y": {}}},
    "a condition on the third": {"not": {"required": ["n"]}, "properties": {"z": {}}},
    "patterns beside others": {"properties": {"id": {"pattern": "\\p{L}", "type": "string"}, "n": {"pattern": "^y"}}},
    "data before a fault": {"allOf": [{"default": {"$ref": "#/x"}, "uniqueItems": True}]},
    "definitions that cost": {"$defs": {"a": {"uniqueItems": True}}, "definitions": {"a": {"uniqueItems": True}}},
    "booleans, just few enough": {"allOf": [True] * 1999},
    "booleans, just too many": {"allOf": [True] * 2000},
    "data before what costs": {"default": 1, "not": {"uniqueItems": True}},
    "fields in a part, and a boolean": {"allOf": [{"properties": {"id": {}}}, True]},
    "a minimum in a part, and a boolean": {"allOf": [{"minimum": 1}, True]},
    "undisputed": {"allOf": [{"description": "a", "minItems": 1}], "default": {"minimum": 3}, "format": "x"},
    "with a minimum": {"properties": {"n": {"minimum": 1, "type": "integer"}}},
}


def of(whole: object) -> Said:
    """All that is said of a schema."""

    def say() -> list[str]:
        schema: Any = whole
        problem = schema_problem(schema)
        # What the library says in its own words may change with it.
        said = [f"problem: {problem.partition(':')[0] if problem else None}"]
        kind = type(whole).__name__
        if kind not in ("dict", "bool"):
            return said
        said.append(f"tame {is_tame(schema)}, bounded {is_bounded(schema)}")
        if kind == "dict":
            plain = is_plain_schema(schema)
            said.append(f"plain {plain}, joint {joint_list_validator('any', schema) is not None}")
        fast = foreign_fast_validator(schema)
        said.append(f"fast {[accepts(fast, r) for r in RECORDS] if fast else None}")
        if problem is None and is_bounded(schema):
            said.append(f"violated {[m and m.startswith('/') and m[:4] for m in messages(schema, RECORDS)]}")
        if problem is None:
            said.append(f"vacuous: {is_vacuous(schema, ())}")
            if is_tame(schema):  # others are judged by a process of their own, which takes its time
                said.append(f"of these: {is_vacuous(schema, RECORDS)}")
                for limit in (1, 2, 10):
                    both = judge_here(schema, RECORDS, limit, 60.0), judge_lines(schema, RECORDS, limit, 60.0)
                    said += [f"at most {limit}: {j.judged}, {[n for n, _ in j.violations]}" for j in both]
        return said

    return say


TARGETS = ["#", "#/a", "#/a/b", "#/a/b/0", "#/a/b/1/c", "#/a/b/2", "#/a/b/x", "#/x~1y", "#/x~0y", "#/%61", "x", 3, "#a"]
DOCUMENT = {"a": {"b": [1, {"c": 2}]}, "x/y": 5, "x~y": 6}


TWENTY: list[Any] = [{}] * 20


def messages(schema: object, records: list[Any]) -> list[str | None]:
    """What is said of each record."""
    return [str(said) if said else None for said in map(judge_of(schema), records)]


def limited(*limit: Any) -> Said:
    """How many violations are told of twenty."""
    return lambda: [
        str(len(lines_violating(NAMED, TWENTY, *limit))),
        str(judge_lines(NAMED, TWENTY, *limit).judged),
    ]


THREE = {"a": "x", "b": "y", "c": "z"}


def without(name: str, *others: str) -> Any:
    """What refuses objects that have the others and lack this one, in words that name no field."""
    return {"not": {"required": [*others], "not": {"required": [name]}}}


OF_THREE: dict[str, Any] = {
    "without the first": without("a", "b", "c"),
    "without the last": without("c", "a", "b"),
    "of texts": {"additionalProperties": {"type": "string"}},
    "of anything": {"minProperties": 1},
}
ODD: list[Any] = ["\ud800", {1}, object, 10**400, nested(9999), {1: 2}, ["\ud800"], float("nan")]
BROKEN: list[tuple[Any, Any]] = [
    ({"minLength": 1}, ""), ({"minLength": 2}, ""), ({"minItems": 1}, []), ({"minItems": 2}, []),
    ({"minItems": 2}, [1]), ({"minItems": 2, "maxItems": 2}, [1]), ({"maxItems": 1}, [1, 2]), ({"maxItems": 0}, [1]),
    ({"minProperties": 1, "properties": {"a": {}}}, {}), ({"minProperties": 2}, {}),
    ({"minProperties": 2, "maxProperties": 2}, {}),
    ({"minProperties": 1, "maxProperties": 1, "properties": {"a": {}, "b": {}}}, {"a": 1, "b": 1}),
    ({"minProperties": 1, "maxProperties": 1, "properties": {"a": {}, "b": {}}}, {}),
    ({"minProperties": 0, "maxProperties": 1, "properties": {"a": {}, "b": {}}}, {"a": 1, "b": 1}),
    ({"minProperties": 2, "maxProperties": 2, "properties": {"a": {}, "b": {}}}, {"a": 1}),
    ({"maxProperties": 1}, {"a": 1, "b": 1}),
    *(({"not": {}, "description": text}, 1) for text in ("A text.", "URL of it", "A T", "Text", "aB", "IDs", "")),
    ({"minimum": 1}, 0), ({"maximum": 1}, 2), ({"exclusiveMinimum": 1}, 1), ({"not": {}}, 1),
    ({"additionalProperties": False, "properties": {"a": {}}}, {"b": 1, "c": 1}),
    ({"dependentRequired": {"a": ["b", "c"], "d": ["e"]}}, {"a": 1}), ({"required": ["a", "b"]}, {}),
    ({"oneOf": [{"required": ["a"]}, {"required": ["b"]}]}, {}), ({"oneOf": [{"required": ["a"]}, {}]}, {"a": 1}),
]  # fmt: skip


def foreign(schema: Any, *values: Any) -> Said:
    """What is said of an expression that Python does not have."""

    def say() -> list[str]:
        return [f"at {found.pointer!r}" if found else "" for found in map(judge_of(schema), values)]

    return say


def lengths(texts: Iterable[str | None]) -> list[str]:
    """The greatest lengths of texts, and whether they end in an ellipsis."""
    return [f"{n} {cut}" for n, cut in sorted({(len(t or ""), (t or "").endswith("…")) for t in texts})[-3:]]


def spelling(error: SchemaError) -> str:
    """A violation in the notation of the recorded data."""
    words = f"expected={error.expected!r}, observed={error.observed!r}"
    return f"SchemaError(path={error.path!r}, keyword={error.keyword!r}, {words})"


def broken(schema: Any, value: Any) -> Said:
    """How a value violates a schema as simple as those of the package."""
    validator: Any = Draft202012Validator(schema)
    return lambda: [spelling(e) for error in validator.iter_errors(value) for e in explained(error)]


L = "\\p{L}"

CASES: Cases = {
    **{f"of three fields: {name}": lambda s=s: [str(is_vacuous(s, [THREE]))] for name, s in OF_THREE.items()},
    "odd values": lambda: [str(accepts(foreign_fast_validator({"type": "object"}), v)) for v in ODD],
    "odd values, whatever they are": lambda: [str(accepts(foreign_fast_validator(True), v)) for v in ODD],
    "no fast validator": lambda: [str(accepts(None, {}))],
    "no JSON": lambda: [str(schema_problem({"type": 5, "const": b""}) or "").partition(":")[0]],
    "how long messages are": lambda: lengths(
        (schema_problem({"type": "x" * n}) or "").removeprefix("at /type: ") for n in range(200, 300)
    ),
    "how long violations are": lambda: lengths(
        m for n in range(200, 300) for m in messages({"enum": [0, "x" * n]}, [1])
    ),
    "how long violations of foreign expressions are": lambda: lengths(
        v.message if (v := judge_of({"pattern": L})("1" * n)) else "" for n in range(200, 300)
    ),
    "names that are no expressions": lambda: [
        str(bool(m)) for m in messages({"properties": {"(": {"type": "null"}}}, [{"(": 3}])
    ],
    "other names than these": lambda: [
        str([bool(m) for m in messages({"patternProperties": {p: {}}, "additionalProperties": False}, [{"a": 1}])])
        for p in (L, "^i", "^a")
    ],
    **{f"broken {schema} by {value}": broken(schema, value) for schema, value in BROKEN},
    "foreign, of a field": foreign({"properties": {"id": {"pattern": L}}}, {"id": "1"}, {"id": "a"}, {"id": 1}, 3),
    "foreign, beside another": foreign(
        {"properties": {"id": {"pattern": L}, "n": {"type": "string"}}}, {"id": "1"}, {"n": 1}, {"id": "1", "n": 1}
    ),
    "foreign, of names": foreign({"patternProperties": {L: {"type": "string"}}}, {"a": 1}, {"1": 1}, {"a": "b"}),
    "foreign, of other names": foreign(
        {"patternProperties": {L: True}, "additionalProperties": False}, {"1": 1}, {"a": 1}
    ),
    "foreign, other names elsewhere": foreign(
        {"properties": {"a": {"additionalProperties": False}, "b": {"pattern": L}}}, {"a": {"1": 1}}, {"b": "1"}
    ),
    "foreign, of other names within": foreign(
        {"properties": {"a": {"patternProperties": {L: True}, "additionalProperties": False}}}, {"a": {"1": 1}}
    ),
    "foreign, as a part of others": foreign(
        {"properties": {"a": {"pattern": L}, "b": {"enum": [f"x{L}"]}, "c": {"enum": [f"{L}x"]}}}, {"b": 1}, {"c": 1}
    ),
    "foreign, behind a reference": foreign({"$ref": "#/$defs/a", "$defs": {"a": {"pattern": L}}}, "1", "a"),
    "foreign, at the top": foreign({"pattern": L, "type": "string"}, "1", 3),
    "foreign, in parts": foreign(
        {"allOf": [{"pattern": L}, {"minLength": 2}], "anyOf": [{"type": "string"}]}, "1", "a", 3
    ),
    "foreign, in negation": foreign({"not": {"pattern": L}, "type": ["string", "null"]}, "a", 3, None),
    "foreign, odd values": foreign({"pattern": L}, *ODD),
    "none foreign": foreign({"pattern": "a"}, "b"),
    "a message that is long": lambda: [str((schema_problem({"type": "x" * n}) or "")[300:]) for n in (1, 500)],
    "no more than": limited(),
    "no more than three": limited(3),
    "of text in records": lambda: [str(len(m or "")) for m in messages({"const": 1}, ["x" * 10, "x" * 285, "x" * 400])],
    **{name: of(schema) for name, schema in SCHEMAS.items()},
    **{f"target {t}": lambda t=t: [repr(local_target(DOCUMENT, t))] for t in TARGETS},
}
