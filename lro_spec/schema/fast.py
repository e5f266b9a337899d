"""Fast validation by jsonschema-rs, which is tried first because it is a hundred times as fast as jsonschema.

A value that jsonschema-rs accepts is valid. If jsonschema-rs refuses a value, jsonschema explains why. jsonschema also
decides whether the value is valid, unless the two libraries are known to agree (`refusal_is_final`). Tests compare the
two libraries. A foreign schema is a schema that does not come from this package, such as the ``line_schema`` of a
descriptor.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import cache, lru_cache
from typing import Any, cast

from lro_spec.schema.bundled import json_schema
from lro_spec.schema.lint import subschemas
from lro_spec.schema.untrusted import children, is_bounded

FastValidator = Callable[[object], bool]
"""Returns True only if a value satisfies a schema."""

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_RECORD = "urn:lro:record"
_REGEX_BYTES = 1 << 20
"""Largest size of a compiled regular expression."""
_DIVISORS = ("multipleOf", "divisibleBy")
_AGREED_KEYWORDS = frozenset(
    {
        *("$schema", "$defs", "$ref", "title", "description", "default", "examples", "format"),
        *("type", "enum", "const", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"),
        *("minLength", "maxLength", "items", "prefixItems", "minItems", "maxItems"),
        *("properties", "required", "additionalProperties", "allOf", "anyOf", "oneOf", "not"),
    }
)
"""Keywords on which jsonschema-rs and jsonschema agree; none has regular expressions or division."""
_LOWER_LIMIT, _UPPER_LIMIT = -(2**63), 2**64  # integers between these limits keep every digit


@cache
def own_rust_validator(name: str, part: str = "") -> Any:
    """The validator of jsonschema-rs for a schema of this package, or for one part of its ``$defs``."""
    schema = json_schema(name)
    if part:
        schema = {"$schema": _DIALECT, "$defs": schema["$defs"], "$ref": f"#/$defs/{part}"}
    return _validator(schema)


@cache
def own_fast_validator(name: str, part: str = "") -> FastValidator:
    """The fast validator of a schema of this package, or of one part of its ``$defs``."""
    return own_rust_validator(name, part).is_valid


def foreign_fast_validator(schema: object) -> FastValidator | None:
    """Return the fast validator of a foreign schema, or None if running the schema here is unsafe or not supported.

    A safe schema takes time in proportion to its own size and to the size of the record: it has no recursion, it is not
    too large when its references are followed (`is_bounded`), and the engine of its regular expressions cannot
    backtrack. Nothing is fetched. ``format`` is an annotation, as in jsonschema.
    """
    if isinstance(schema, dict) and not is_bounded(cast("object", schema)):
        return None
    return _fast_validator_of(cast("Any", schema)) if isinstance(schema, dict | bool) else None


def refusal_is_final(schema: object) -> bool:
    """True if the fast validator of a foreign schema is known to refuse only values that jsonschema refuses."""
    if not isinstance(schema, dict) or cast("dict[str, Any]", schema).get("$schema", _DIALECT) != _DIALECT:
        return False
    return all(node.keys() <= _AGREED_KEYWORDS for _, node in subschemas(cast("object", schema)))


def distinguishes_long_integers(schema: object) -> bool:
    """True if a schema may treat an integer over 64 bits and the nearest double differently.

    This is possible if the schema has an integer other than 1 as a divisor (``multipleOf``), or a number beyond 64 bits
    anywhere.
    """
    pending: list[object] = [schema]
    while pending:
        part = pending.pop()
        if isinstance(part, dict):
            node = cast("dict[str, object]", part)
            if any(type(node.get(keyword)) is int and node[keyword] != 1 for keyword in _DIVISORS):
                return True
        elif isinstance(part, int | float) and not _LOWER_LIMIT < part < _UPPER_LIMIT:
            return True
        pending += children(cast("object", part))
    return False


@cache
def record_list_validator(part: str) -> FastValidator:
    """The fast validator of lists of records that satisfy *part*.

    *part* is the name of a definition in the ``$defs`` of line.schema.json. A list that contains a header is not valid.
    """
    return cast("FastValidator", _fast_validator_of({"$schema": _DIALECT, "items": {"$id": _RECORD, **_record(part)}}))


def joint_list_validator(part: str, schema: object) -> FastValidator | None:
    """The fast validator of lists of records that satisfy both *part* (see `record_list_validator`) and a foreign
    *schema*; None if the two schemas cannot be combined."""
    text = text_of(cast("object", schema)) if isinstance(schema, dict) else None
    return None if text is None else _joint_list_validator(part, text)


@lru_cache(maxsize=64)
def _joint_list_validator(part: str, text: str) -> FastValidator | None:
    foreign: dict[str, Any] = json.loads(text)
    # A schema with an id or a dialect of its own cannot be part of another schema.
    stands_alone = "$id" in foreign or foreign.get("$schema", _DIALECT) != _DIALECT
    if stands_alone or not is_bounded(foreign) or distinguishes_long_integers(foreign):
        return None
    schemas = [{"$id": _RECORD, **_record(part)}, {"$id": "urn:lro:foreign", **foreign}]
    return _fast_validator_of({"$schema": _DIALECT, "items": {"allOf": schemas}})


def _record(part: str) -> dict[str, Any]:
    header = {"required": ["type"], "properties": {"type": {"const": "lro_header"}}}
    return {"$defs": json_schema("line")["$defs"], "$ref": f"#/$defs/{part}", "not": header}


def accepts(validator: FastValidator | None, value: object) -> bool:
    """True if there is a fast validator and it accepts the value. A value that the validator cannot read is not
    accepted."""
    try:
        return validator is not None and validator(value)
    except (ValueError, TypeError, OverflowError, RecursionError):  # lone surrogates, and values that are not JSON
        return False


def is_plain_schema(schema: Mapping[str, Any]) -> bool:
    """True if a mapping is a valid schema of draft 2020-12 and declares that draft or none."""
    import jsonschema_rs as rs

    declared = schema.get("$schema", _DIALECT)
    return declared == _DIALECT and accepts(cast("FastValidator", rs.meta.is_valid), {**schema, "$schema": _DIALECT})


def _fast_validator_of(schema: Any) -> FastValidator | None:
    validator = _validator(schema)
    return None if validator is None else validator.is_valid


def _validator(schema: Any) -> Any:
    """Return the validator of a schema, or None if it cannot be made. Descriptors with the same schema share it."""
    text = text_of(schema)
    return None if text is None else _validator_of(text)


def text_of(schema: object) -> str | None:
    """A schema as text, for use as a key of caches: a server sends the same schema with every descriptor.

    None if the schema is not JSON, or is nested too deeply.
    """
    try:
        return json.dumps(schema)
    except (ValueError, RecursionError, TypeError):
        return None


@lru_cache(maxsize=64)
def _validator_of(text: str) -> Any:
    import jsonschema_rs as rs  # imported here because `lro --help` does not need it

    schema = json.loads(text)
    try:
        options = rs.RegexOptions(size_limit=_REGEX_BYTES, dfa_size_limit=_REGEX_BYTES)
        return rs.validator_for(schema, validate_formats=False, pattern_options=options, offline=True)
    except (ValueError, RecursionError, OverflowError, rs.ReferencingError):
        # It is no schema, it refers to another document, or one of its regular expressions needs backtracking.
        return None
