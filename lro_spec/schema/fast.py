"""jsonschema-rs before jsonschema: what it accepts need not be looked at again, a hundred times as fast.

A gate says *yes* or *look closer*; findings and their words always come from jsonschema, the yardstick. A test holds
the two together.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, cast

from lro_spec.schema.bundled import json_schema
from lro_spec.schema.lint import subschemas
from lro_spec.schema.untrusted import children, is_bounded

Gate = Callable[[object], bool]
"""Whether a value surely satisfies a schema."""

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_RECORD = "urn:lro:record"
_REGEX_BYTES = 1 << 20
_DIVISORS = ("multipleOf", "divisibleBy")
_AGREED = frozenset(
    {
        *("$schema", "$defs", "$ref", "title", "description", "default", "examples", "format"),
        *("type", "enum", "const", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"),
        *("minLength", "maxLength", "items", "prefixItems", "minItems", "maxItems"),
        *("properties", "required", "additionalProperties", "allOf", "anyOf", "oneOf", "not"),
    }
)
"""Keywords on which jsonschema-rs and jsonschema agree; not those with regular expressions or arithmetic."""
_MOST_NEGATIVE, _BEYOND = -(2**63), 2**64  # integers between are read with every digit


@cache
def own_validator(name: str, part: str = "") -> Any:
    """The validator of jsonschema-rs for a schema of this package, or for one part of its ``$defs``."""
    schema = json_schema(name)
    if part:
        schema = {"$schema": _DIALECT, "$defs": schema["$defs"], "$ref": f"#/$defs/{part}"}
    return _validator(schema)


@cache
def own_gate(name: str, part: str = "") -> Gate:
    """The gate of a schema of this package, or of one part of its ``$defs``."""
    return own_validator(name, part).is_valid


def foreign_gate(schema: object) -> Gate | None:
    """The gate of somebody else's schema; None where the schema is not safe to run here.

    Safe is what takes no more time than its size and the record's: no recursion, and regular expressions by an engine
    that cannot backtrack. Nothing is fetched. ``format`` is an annotation, as in jsonschema.
    """
    if isinstance(schema, dict) and not is_bounded(cast("object", schema)):
        return None
    return _built(cast("Any", schema)) if isinstance(schema, dict | bool) else None


def gate_decides(schema: object) -> bool:
    """True if the gate of somebody else's schema is known to refuse only values that jsonschema refuses."""
    if not isinstance(schema, dict) or cast("dict[str, Any]", schema).get("$schema", _DIALECT) != _DIALECT:
        return False
    return all(node.keys() <= _AGREED for _, node in subschemas(cast("object", schema)))


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
def record_gate(part: str) -> Gate:
    """Lets through lists of what satisfies a part of the line schema and is no header."""
    return cast("Gate", _built({"$schema": _DIALECT, "items": {"$id": _RECORD, **_record(part)}}))


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


def is_plain_schema(schema: Mapping[str, Any]) -> bool:
    """Whether a value is surely a valid schema of draft 2020-12, which it also declares, or declares nothing."""
    import jsonschema_rs as rs

    declared = schema.get("$schema", _DIALECT)
    return declared == _DIALECT and passes(cast("Gate", rs.meta.is_valid), {**schema, "$schema": _DIALECT})


def _built(schema: Any) -> Gate | None:
    validator = _validator(schema)
    return None if validator is None else validator.is_valid


def _validator(schema: Any) -> Any:
    import jsonschema_rs as rs  # here, for `lro --help` needs none of it

    try:
        options = rs.RegexOptions(size_limit=_REGEX_BYTES, dfa_size_limit=_REGEX_BYTES)
        return rs.validator_for(schema, validate_formats=False, pattern_options=options, offline=True)
    except (ValueError, RecursionError, OverflowError, rs.ReferencingError):
        return None  # not a schema, a reference to somewhere else, an expression that needs backtracking
