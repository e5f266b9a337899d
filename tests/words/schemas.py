"""Schemas of others: whether they are any, what they say, what it costs to hold records against them."""

from __future__ import annotations

from typing import Any

from lro_spec.bounded_schemas import is_bounded, is_tame, judge_here, judge_of, local_target
from lro_spec.line_schemas import is_vacuous, judge_lines, lines_violating, schema_problem
from lro_spec.schema_gate import foreign_gate, is_plain_schema, joint_gate, passes
from tests.words import Cases, Said

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
            said.append(f"plain {plain}, joint {joint_gate('any', schema) is not None}")
        gate = foreign_gate(schema)
        said.append(f"gate {[passes(gate, r) for r in RECORDS] if gate else None}")
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


CASES: Cases = {
    "a message that is long": lambda: [str((schema_problem({"type": "x" * n}) or "")[300:]) for n in (1, 500)],
    "no more than": limited(),
    "no more than three": limited(3),
    "of text in records": lambda: [str(len(m or "")) for m in messages({"const": 1}, ["x" * 10, "x" * 285, "x" * 400])],
    **{name: of(schema) for name, schema in SCHEMAS.items()},
    **{f"target {t}": lambda t=t: [repr(local_target(DOCUMENT, t))] for t in TARGETS},
}
