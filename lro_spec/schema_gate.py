"""jsonschema-rs before jsonschema: what it accepts need not be looked at again, a hundred times as fast.

A gate says *yes* or *look closer*; findings and their words always come from jsonschema, the yardstick. Without
jsonschema-rs there is no gate, and everything is looked at closely. A test holds the two together.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, cast

from lro_spec.bounded_schemas import DATA, MAPS, Violation, children, is_bounded
from lro_spec.findings import pointer, shown
from lro_spec.schema_words import asked
from lro_spec.schemas import json_schema

Gate = Callable[[object], bool]
"""Whether a value surely satisfies a schema."""

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_RECORD = "urn:lro:record"
_REGEX_BYTES = 1 << 20
_MESSAGE = 300
_UNDISPUTED = frozenset(
    {"$schema", "$defs", "$ref", "type", "properties", "required", "items", "additionalProperties", "title"}
    | {"description", "$comment", "examples", "default", "format", "allOf", "anyOf", "minItems", "minLength"}
)
"""Keywords that jsonschema-rs and jsonschema take alike; numbers, sets and regular expressions can differ."""
_DIVISORS = ("multipleOf", "divisibleBy")
_MOST_NEGATIVE, _BEYOND = -(2**63), 2**64  # integers between are read with every digit
_OTHERS = ("additionalProperties", "unevaluatedProperties")  # what these say depends on the patterns beside them


@cache
def own_gate(name: str, part: str = "") -> Gate | None:
    """The gate of a schema of this package, or of one part of its ``$defs``; None without jsonschema-rs."""
    schema = json_schema(name)
    if part:
        schema = {"$schema": _DIALECT, "$defs": schema["$defs"], "$ref": f"#/$defs/{part}"}
    return _built(schema)


def foreign_gate(schema: object) -> Gate | None:
    """The gate of somebody else's schema; None without jsonschema-rs, or where the schema is not safe to run here.

    Safe is what takes no more time than its size and the record's: no recursion, and regular expressions by an engine
    that cannot backtrack. Nothing is fetched. ``format`` is an annotation, as in jsonschema.
    """
    if isinstance(schema, dict) and not is_bounded(cast("object", schema)):
        return None
    return _built(cast("Any", schema)) if isinstance(schema, dict | bool) else None


def is_undisputed(schema: object) -> bool:
    """Whether what the gate of somebody else's schema stops surely violates it, so that nobody has to look closer.

    So for schemas of the most common keywords, in draft 2020-12; a test holds the two libraries together on those.
    """
    left: list[object] = [schema]
    while left:
        part = left.pop()
        if not isinstance(part, dict):
            continue
        node = cast("dict[str, Any]", part)
        if not _UNDISPUTED.issuperset(node) or node.get("$schema", _DIALECT) != _DIALECT:
            return False
        for keyword, value in node.items():
            if keyword in MAPS or isinstance(value, list):
                left += children(cast("object", value))
            elif keyword not in DATA:
                left.append(value)
    return True


def tells_long_integers_apart(schema: object) -> bool:
    """Whether a schema may judge an integer over 64 bits otherwise than the double that is nearest to it.

    So where it counts in whole numbers, and where one of its own is as large: only then is what was read too short.
    """
    left: list[object] = [schema]
    while left:
        part = left.pop()
        if isinstance(part, dict):
            node = cast("dict[str, object]", part)
            if any(type(node.get(keyword)) is int and node[keyword] != 1 for keyword in _DIVISORS):
                return True
        elif isinstance(part, int | float) and not _MOST_NEGATIVE < part < _BEYOND:
            return True
        left += children(cast("object", part))
    return False


@cache
def record_gate(part: str) -> Gate | None:
    """Lets through lists of what satisfies a part of the line schema and is no header; None without jsonschema-rs."""
    return _built({"$schema": _DIALECT, "items": {"$id": _RECORD, **_record(part)}})


def joint_gate(part: str, schema: object) -> Gate | None:
    """What lets through lists as `record_gate` does of what satisfies somebody else's schema too, or None."""
    if not isinstance(schema, dict):
        return None
    foreign = cast("dict[str, Any]", schema)
    # Only what can stand inside another schema; with an id of its own, what it says of itself stays its own.
    apart = "$id" in foreign or foreign.get("$schema", _DIALECT) != _DIALECT
    if apart or not is_bounded(foreign) or tells_long_integers_apart(foreign):
        return None
    both = [{"$id": _RECORD, **_record(part)}, {"$id": "urn:lro:foreign", **foreign}]
    return _built({"$schema": _DIALECT, "items": {"allOf": both}})


def _record(part: str) -> dict[str, Any]:
    header = {"required": ["type"], "properties": {"type": {"const": "lro_header"}}}
    return {"$defs": json_schema("line")["$defs"], "$ref": f"#/$defs/{part}", "not": header}


def passes(gate: Gate | None, value: object) -> bool:
    """Whether there is a gate, and it accepts a value of any origin; what it cannot read it does not accept."""
    try:
        return gate is not None and gate(value)
    except (ValueError, TypeError, OverflowError, RecursionError):  # lone surrogates, and what is no JSON value
        return False


def foreign_pattern_error(schema: object) -> Callable[[object], Violation | None] | None:
    """What tells how a value violates a regular expression of somebody else's schema that Python does not have.

    jsonschema passes those over; where it finds nothing wrong and the gate does, this tells what that is. None where
    there is no such expression, or no gate.
    """
    from lro_spec.schema_places import foreign_patterns

    foreign = {pattern for _, pattern in foreign_patterns(schema)}
    validator = _validator(schema) if foreign and foreign_gate(schema) is not None else None
    if validator is None:
        return None

    def told(value: object) -> Violation | None:
        try:
            found = list(validator.iter_errors(value))
        except (ValueError, TypeError, OverflowError, RecursionError):
            return None
        for error in found:
            if _leads_to(schema, list(error.schema_path), foreign):
                return _violation(schema, error)
        return None

    return told


def _violation(schema: Any, error: Any) -> Violation:
    where, message = pointer(list(error.instance_path)), str(error.message)[:_MESSAGE]
    wanted = schema
    try:
        for part in error.schema_path:
            wanted = wanted[part]
    except (LookupError, TypeError):  # by way of a reference
        return Violation(where, message)
    keyword = str(error.schema_path[-1])
    return Violation(where, message, asked(keyword, wanted), shown(error.instance))


def _leads_to(schema: Any, path: list[Any], foreign: set[str]) -> bool:
    """Whether what is at a path of a schema, or beside it, is or holds one of these expressions."""
    above = schema
    try:
        for part in path[:-1]:
            if part in foreign:
                return True
            above = above[part]
        around = above if path and path[-1] in _OTHERS else above[path[-1]] if path else above
    except (LookupError, TypeError):  # by way of a reference
        return True
    text = str(cast("object", around))
    return any(str([pattern])[1:-1] in text or pattern == around for pattern in foreign) or "'$ref'" in text


def is_plain_schema(schema: Mapping[str, Any]) -> bool:
    """Whether a value is surely a valid schema of draft 2020-12, which it also declares, or declares nothing."""
    rs = _library()
    declared = schema.get("$schema", _DIALECT)
    if rs is None or declared != _DIALECT:
        return False
    return passes(rs.meta.is_valid, {**schema, "$schema": _DIALECT})


def _built(schema: Any) -> Gate | None:
    validator = _validator(schema)
    return None if validator is None else cast("Gate", validator.is_valid)


def _validator(schema: Any) -> Any:
    rs = _library()
    if rs is None:
        return None
    try:
        options = rs.RegexOptions(size_limit=_REGEX_BYTES, dfa_size_limit=_REGEX_BYTES)
        return rs.validator_for(schema, validate_formats=False, pattern_options=options, offline=True)
    except (ValueError, RecursionError, OverflowError, rs.ReferencingError):
        return None  # not a schema, a reference to somewhere else, an expression that needs backtracking


@cache
def _library() -> Any:
    try:
        import jsonschema_rs
    except ImportError:
        return None
    return jsonschema_rs
