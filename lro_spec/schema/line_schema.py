"""A descriptor's ``line_schema``: validity, the records that violate it, and detection of vacuous schemas.

The schema is untrusted. References are never fetched. A schema whose evaluation could be endless (because of recursion,
regular expressions, or sheer size) is evaluated in a child process with limits (`lro_spec.schema.job`). A schema is
vacuous if it says nothing about the records.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal, cast

from lro_spec.display import pointer
from lro_spec.schema import untrusted
from lro_spec.schema.fast import accepts, foreign_fast_validator, is_plain_schema
from lro_spec.schema.untrusted import Judgement, Violation

if TYPE_CHECKING:
    from jsonschema.exceptions import SchemaError

_MAX_DEPTH = 64
_MAX_NODES = 10_000
_MUTANT_RECORDS = 3
"""Number of records whose changed copies are validated."""
_COMMON_KEYWORDS = {"type", "title", "description", "default", "format", "const", "enum", "not"}
"""Keywords of JSON Schema that are also common names of fields. At the top level of a schema, they are probably
keywords."""
_MAX_FIELDS = 100
"""Maximum number of fields of a record that are changed. Each copy has one changed field."""
_SAMPLES: tuple[dict[str, Any], ...] = ({}, {"id": "a", "title": "A", "tags": ["x"], "score": 0.5})
"""Records that are used to find out whether a schema refuses every record, or none."""
_SAMPLES_TIMEOUT_S = 5.0
_APPLICATORS = ("allOf", "anyOf", "oneOf")


def schema_problem(schema: object) -> str | None:
    """Return the reason why a value is not a JSON Schema, in one sentence, or None if the value is a JSON Schema.

    The value is validated against the draft that is declared by its ``$schema``. If ``$schema`` is absent or unknown,
    it is validated against draft 2020-12. Regular expressions are not compiled, because JSON Schema has another dialect
    than Python.
    """
    if isinstance(schema, bool):
        return None
    if not isinstance(schema, dict):
        return "a JSON Schema is an object, or true or false"
    problem = _size_problem(cast("object", schema))
    if problem:
        return problem
    whole = cast("Mapping[str, Any]", schema)
    if is_plain_schema(whole):
        return None
    try:
        return _meta_problem(json.dumps(schema))
    except TypeError:  # not a JSON value: it does not come from a server
        return _meta_problem_of(whole)


@lru_cache(maxsize=128)
def _meta_problem(text: str) -> str | None:
    """The problem of a schema that is given as a text. It is cached, because a server sends the same schema with every
    descriptor, and validation takes milliseconds."""
    return _meta_problem_of(json.loads(text))


def _meta_problem_of(schema: Mapping[str, Any]) -> str | None:
    from jsonschema import FormatChecker
    from jsonschema.exceptions import SchemaError

    kind = untrusted.draft(schema)
    try:
        # The parameter exists since jsonschema 4.18; the stubs do not know it.
        kind.check_schema(cast("Any", schema), format_checker=FormatChecker(formats=()))  # pyright: ignore[reportCallIssue]
    except SchemaError as error:
        return _meta_message(error)
    return None


def lines_violating(
    schema: object, records: Iterable[object], limit: int = 10, timeout_s: float = 5
) -> list[tuple[int, str]]:
    """The records that violate a schema, each with its index and a message; at most *limit* of them.

    Records that remain after *timeout_s* seconds are not checked; `judge_lines` also returns the number of records that
    were checked. A single record that uses up the time counts as a violation, because no reader could check it either.
    A schema that was too slow for one record gets only half a second in later calls.
    """
    return [(index, str(violation)) for index, violation in judge_lines(schema, records, limit, timeout_s).violations]


_SHORT_TIMEOUT_S = 0.5
"""Time limit for the records of a descriptor if its schema is in `_too_slow`."""
_too_slow: set[int] = set()
"""Hashes of schemas whose evaluation on a single record used up the time or the memory. They are remembered because a
server sends the same schema with every descriptor."""


def judge_lines(schema: object, records: Iterable[object], limit: int = 10, timeout_s: float = 5) -> Judgement:
    """Like `lines_violating`, together with the number of records that were checked."""
    problem = schema_problem(schema)
    if problem:
        return Judgement(0, ((0, Violation("", f"line_schema is not a schema: {problem}")),))
    fast_validator = foreign_fast_validator(schema)
    until = time.monotonic() + timeout_s
    seen, refused = 0, list[tuple[int, object]]()
    for record in records:
        if not accepts(fast_validator, record):
            refused.append((seen, record))
        seen += 1
        if time.monotonic() > until:
            break
    if not refused:
        return Judgement(seen, ())
    rest = (record for _, record in refused)
    if untrusted.is_tame(schema):
        judgement = untrusted.judge_here(schema, rest, limit, timeout_s)
    else:
        schema_hash = hash(json.dumps(schema))
        limit_s = min(timeout_s, _SHORT_TIMEOUT_S) if schema_hash in _too_slow else timeout_s
        judgement = untrusted.judge_in_child(schema, rest, limit, limit_s)
        if judgement.stuck:
            _too_slow.add(schema_hash)
    judged = seen if judgement.judged == len(refused) else refused[judgement.judged][0]
    return Judgement(
        judged, tuple((refused[n][0], violation) for n, violation in judgement.violations), judgement.stuck
    )


def is_vacuous(schema: object, records: Sequence[object], timeout_s: float = 5) -> str | None:
    """Return the reason why a schema says nothing about the records, or None if it says something about them.

    A schema says something if it names a property of the records (any property, if there are no records), or if it
    refuses a record in which a field is missing or has the wrong type. Requiring an object is not enough. A reason is
    also returned for the schema ``false``, which refuses every record. The schema must be valid (`schema_problem`).
    """
    if isinstance(schema, bool):
        effect = "says nothing about the records" if schema else "refuses every record"
        return f"line_schema is {str(schema).lower()}: it {effect}"
    if not isinstance(schema, dict):
        return None
    whole = cast("dict[str, Any]", schema)
    objects = [cast("dict[str, Any]", r) for r in islice(records, 100) if isinstance(r, dict)]
    fields = {name for record in objects for name in record}
    named_fields = set(_named_fields(whole))
    if named_fields & fields or (named_fields and not objects):
        return None
    mutants = [m for record in objects[:_MUTANT_RECORDS] for m in _mutants(record)]
    if mutants and judge_lines(whole, mutants, 1, timeout_s).violations:
        return None
    if named_fields:
        examples = ", ".join(sorted(named_fields)[:5])
        return f"line_schema names {examples}, which no record has, and accepts records whatever their fields are"
    if (set(whole) - _COMMON_KEYWORDS) & fields:
        return "line_schema has the records' fields as its own keywords; they belong under properties"
    return f"line_schema names no field of the records{_verdict_on_all(whole, bool(mutants))}"


def refuses_every_record(schema: object) -> bool:
    """True if it is certain that no record can satisfy a schema, for example because it requires an array
    (LRO-DESC-09)."""
    return isinstance(schema, dict) and _refused(cast("dict[str, Any]", schema)) == "every"


def _refused(schema: Mapping[str, Any]) -> Literal["every", "some", "none", "unknown"]:
    """The records that a schema refuses, judged by `_SAMPLES`. The answer is "unknown" unless the schema is tame."""
    if not untrusted.is_tame(schema):
        return "unknown"
    refused = len(untrusted.judge_here(schema, _SAMPLES, len(_SAMPLES), _SAMPLES_TIMEOUT_S).violations)
    if refused == len(_SAMPLES) and _refuses_objects(schema):
        return "every"
    return "some" if refused else "none"


def _verdict_on_all(schema: Mapping[str, Any], accepted: bool) -> str:
    """A clause that says that a schema refuses every possible record, or none; empty if neither is the case. *accepted*
    is True if the schema accepted records with missing fields and wrong types."""
    refused = "none" if accepted else _refused(schema)
    words = {"every": " and refuses every record", "none": " and accepts them whatever their fields are"}
    return words.get(refused, "")


def _refuses_objects(schema: object) -> bool:
    """True if a schema refuses every object, as shown by keywords at its top level or in schemas that it combines
    there."""
    if not isinstance(schema, dict):
        return not schema
    node = cast("dict[str, Any]", schema)
    types = node.get("type", "object")
    return (
        "object" not in ([types] if isinstance(types, str) else types)
        or any(node.get("not") == all_objects for all_objects in ({}, True, {"type": "object"}))
        or not any(isinstance(value, dict) for value in node.get("enum", [node.get("const", {})]))
        or any(map(_refuses_objects, node.get("allOf", ())))
        or any(all(map(_refuses_objects, node[name])) for name in ("anyOf", "oneOf") if name in node)
    )


def _size_problem(schema: object) -> str | None:
    """The problem of a schema that is too deep or too large. This is checked before a recursive function reads the
    schema."""
    pending = [(schema, 0)]
    nodes = 0
    while pending:
        value, depth = pending.pop()
        nodes += 1
        if depth > _MAX_DEPTH:
            return f"it is nested deeper than {_MAX_DEPTH} levels"
        if nodes > _MAX_NODES:
            return f"it has more than {_MAX_NODES} values"
        pending += [(child, depth + 1) for child in untrusted.children(value)]
    return None


def _meta_message(error: SchemaError) -> str:
    where = pointer(list(error.absolute_path)) or "/"
    message = error.message if len(error.message) <= 300 else f"{error.message[:300]}…"
    return f"at {where}: {message}"


def _named_fields(schema: Mapping[str, Any]) -> Iterator[str]:
    """Names in ``properties`` and ``required``, with references and combinations followed, each sub-schema once."""
    pending: list[Any] = [schema]
    seen: set[int] = set()
    while pending:
        part = pending.pop()
        if not isinstance(part, dict) or id(cast("object", part)) in seen:
            continue
        node = cast("dict[str, Any]", part)
        seen.add(id(node))
        for keyword in ("properties", "required"):
            names = node.get(keyword)
            if isinstance(names, dict | list):
                yield from (n for n in cast("Iterable[Any]", names) if isinstance(n, str))
        for keyword in _APPLICATORS:
            if isinstance(node.get(keyword), list):
                pending += node[keyword]
        target = untrusted.local_target(schema, node.get("$ref"))
        if target is not None:
            pending.append(target)


def _mutants(record: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Copies of the record in which one field is missing, or has another type."""
    for name, value in islice(record.items(), _MAX_FIELDS):
        yield {k: v for k, v in record.items() if k != name}
        yield {**record, name: 0 if isinstance(value, str | bool | list | dict) else "a text"}
