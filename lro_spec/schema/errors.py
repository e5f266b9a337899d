"""Violations of the schemas of this package, in plain words."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, cast

from lro_spec.display import pointer, show
from lro_spec.findings import Finding, Kind
from lro_spec.schema.bundled import json_schema
from lro_spec.schema.describe import TYPES
from lro_spec.schema.fast import accepts, own_fast_validator, own_rust_validator
from lro_spec.schema.untrusted import local_target

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError
    from jsonschema.protocols import Validator


@dataclass(frozen=True, slots=True, eq=False)
class SchemaError:
    """One violation of a schema. Its texts are computed on access, because most findings are only counted."""

    path: tuple[str | int, ...]
    """Path from the root to the value, or to the missing or unknown field."""
    keyword: str
    """The violated keyword of JSON Schema."""
    schema: Mapping[str, Any]
    """The sub-schema that contains the keyword."""
    value: Any
    """The value that violates the keyword. If a field is missing or unknown, the object itself."""

    @property
    def kind(self) -> Kind:
        """The kind of the finding about this violation."""
        return _KIND_AND_WORDS.get(self.keyword, _DEFAULT_KIND_AND_WORDS)[0]

    @property
    def expected(self) -> str:
        """Requirement of the schema, in words."""
        if self.keyword == "required":
            return f"a field {self.path[-1]!r}"
        if self.keyword in _CLOSING_KEYWORDS:
            return f"one of {', '.join(self.allowed)}"
        return _expectation(self.keyword, self.schema, self.value)

    @property
    def observed(self) -> str:
        """Value found instead, in words."""
        if self.keyword == "required":
            return "no such field"
        return (
            f"a field {self.path[-1]!r}"
            if self.keyword in _CLOSING_KEYWORDS
            else _observation(self.keyword, self.value)
        )

    @property
    def allowed(self) -> tuple[Any, ...]:
        """The possible fields or values, if the schema lists them."""
        if self.keyword in _CLOSING_KEYWORDS:
            return tuple(sorted(self.schema.get("properties", {})))
        return tuple(self.schema["enum"]) if self.keyword == "enum" else ()


@cache
def validator(name: str, part: str = "") -> Validator:
    """The validator of a schema of this package, or of one part of its ``$defs``."""
    from jsonschema import Draft202012Validator
    from referencing import Registry

    schema = json_schema(name)
    if part:
        schema = {"$defs": schema["$defs"], "$ref": f"#/$defs/{part}"}
    registry: Registry[Any] = Registry()  # without retrieval: nothing is ever fetched
    return Draft202012Validator(schema, registry=registry)


def violations(value: object, name: str, part: str = "") -> Iterator[SchemaError]:
    """Violations of a schema of this package by a value, sorted by path. At the same path, a wrong type comes first."""
    if accepts(own_fast_validator(name, part), value):
        return iter(())
    try:
        errors = list(_errors_of_rust(value, name, part))
    except (ValueError, TypeError, OverflowError, RecursionError):  # not a JSON value, or half a surrogate pair
        slow_errors = validator(name, part).iter_errors(cast("Any", value))
        errors = [error for each in slow_errors for error in explained(each)]
    if len(errors) == 1:
        return iter(errors)
    # Each error about a missing field yields all missing fields, so there are duplicates.
    distinct = {(error.path, error.keyword, id(error.schema)): error for error in errors}
    return iter(sorted(distinct.values(), key=lambda e: ([str(p) for p in e.path], e.keyword != "type")))


def _errors_of_rust(value: object, name: str, part: str) -> Iterator[SchemaError]:
    """The errors that jsonschema-rs finds. It is used because it is twenty times as fast as jsonschema, and a file may
    have a million errors."""
    root = json_schema(name)
    for error in own_rust_validator(name, part).iter_errors(value):
        schema, invalid_value = root, cast("Any", value)
        for step in error.schema_path[:-1]:
            schema = _resolved(root, schema[step])
        for step in error.instance_path:
            invalid_value = invalid_value[step]
        if isinstance(invalid_value, float) and not math.isfinite(invalid_value):
            raise ValueError("not a JSON number")  # jsonschema-rs treats it as null
        yield from _by_field(str(error.schema_path[-1]), schema, invalid_value, tuple(error.instance_path))


def _resolved(root: Mapping[str, Any], part: Any) -> Any:
    """The part of the schema to which a ``$ref`` points; anything else unchanged."""
    target = local_target(root, part) if isinstance(part, str) else None
    return part if target is None else target


def explained(error: ValidationError) -> Iterator[SchemaError]:
    """The violations in an error of jsonschema: one for each missing or unknown field, otherwise a single one."""
    schema = cast("Mapping[str, Any]", error.schema)
    return _by_field(str(error.validator), schema, cast("Any", error.instance), tuple(error.absolute_path))


def _by_field(
    keyword: str, schema: Mapping[str, Any], value: Any, path: tuple[str | int, ...]
) -> Iterator[SchemaError]:
    names: Iterable[str | int] = ()
    if keyword == "required":
        names = (name for name in schema["required"] if name not in value)
    elif keyword in _CLOSING_KEYWORDS:
        names = sorted(set(value) - set(schema.get("properties", {})), key=str)
    else:
        yield SchemaError(path, keyword, schema, value)
    for name in names:
        yield SchemaError((*path, name), keyword, schema, value)


def type_words(types: str | Sequence[str]) -> str:
    """Types of JSON Schema as words: "a string or null"."""
    names = [types] if isinstance(types, str) else types
    return " or ".join(TYPES[name] for name in names)


def _expectation(keyword: str, schema: Mapping[str, Any], value: Any) -> str:
    wanted = schema[keyword]
    match keyword:
        case "type":
            return type_words(wanted)
        case "const":
            return show(wanted)
        case "enum":
            return " or ".join(show(w) for w in wanted)
        case "minProperties" | "maxProperties" if (
            wanted == 1 == schema.get("minProperties") == schema.get("maxProperties")
        ):
            return f"exactly one of {', '.join(schema['properties'])}"
        case "minLength" if wanted == 1:
            return "a non-empty string"
        case "minItems" | "minProperties" if wanted == 1:
            return "at least one"
        case "minimum":
            return f"at least {wanted}"
        case "maximum":
            return f"at most {wanted}"
        case "exclusiveMinimum":
            return f"more than {wanted}"
        case "minItems" | "maxItems" if schema.get("minItems") == schema.get("maxItems"):
            return f"{wanted} items"
        case "maxItems":
            return f"at most {wanted} items"
        case "oneOf" if all("required" in branch for branch in wanted):
            return f"exactly one of {', '.join(name for branch in wanted for name in branch['required'])}"
        case "dependentRequired":
            return " and ".join(f"{', '.join(wanted[name])} together with {name}" for name in wanted if name in value)
        case _:
            text = str(schema.get("description") or f"{keyword} {show(wanted)}").rstrip(".")
            return text if text[1:2].isupper() else text[:1].lower() + text[1:]


def _observation(keyword: str, value: object) -> str:
    match keyword:
        case "minItems" | "maxItems" if value:
            return f"{len(cast('list[object]', value))} items"
        case "maxProperties" | "oneOf" | "dependentRequired" if value and isinstance(value, dict):
            return " and ".join(cast("dict[str, object]", value))
        case _:
            return show(value)


_CLOSING_KEYWORDS = ("additionalProperties", "unevaluatedProperties")
"""Keywords about further fields. They are violated only where their value is false, which forbids further fields."""

_DEFAULT_KIND_AND_WORDS = (Kind.INVALID, "is not as required")
_KIND_AND_WORDS = {
    "required": (Kind.MISSING_FIELD, "is missing"),
    "additionalProperties": (Kind.UNKNOWN_FIELD, "is not as required"),
    "unevaluatedProperties": (Kind.UNKNOWN_FIELD, "is not as required"),
    "type": (Kind.WRONG_TYPE, "has the wrong type"),
    "const": (Kind.WRONG_VALUE, "has the wrong value"),
    "enum": (Kind.WRONG_VALUE, "has the wrong value"),
    "pattern": (Kind.WRONG_FORM, "has the wrong form"),
    "minLength": (Kind.OUT_OF_BOUNDS, "is empty"),
    "minItems": (Kind.OUT_OF_BOUNDS, "has too few items"),
    "maxItems": (Kind.OUT_OF_BOUNDS, "has too many items"),
    "minimum": (Kind.OUT_OF_BOUNDS, "is too low"),
}


def from_schema(error: SchemaError, rule: str, whole: str, hint: str = "") -> Finding:
    """The finding about a violation of a schema. *whole* is the name of the document, which is used if the violation
    concerns the whole document."""
    name = ".".join(str(part) for part in error.path) or whole
    kind, words = _KIND_AND_WORDS.get(error.keyword, _DEFAULT_KIND_AND_WORDS)
    return Finding(rule, kind, pointer(list(error.path)), f"{name} {words}", error.expected, error.observed, hint)
