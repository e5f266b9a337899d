"""Errors of a JSON Schema validator, told in a reader's words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, cast

from lro_spec.findings import shown
from lro_spec.quick_schema import plainly_satisfies
from lro_spec.schema_gate import own_gate, passes
from lro_spec.schema_words import TYPES
from lro_spec.schemas import json_schema

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError
    from jsonschema.protocols import Validator


@dataclass(frozen=True, slots=True)
class SchemaError:
    """One violation of a schema."""

    path: tuple[str | int, ...]
    """From the root to the value; to the missing or unknown field where a field is missing or unknown."""
    keyword: str
    """The keyword of JSON Schema that was violated."""
    expected: str
    observed: str


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
    """How a value violates a schema of this package, in the order of the document."""
    if (not part and plainly_satisfies(value, json_schema(name))) or passes(own_gate(name, part), value):
        return iter(())
    found = [told for error in validator(name, part).iter_errors(cast("Any", value)) for told in explained(error)]
    return iter(sorted(found, key=lambda e: [str(p) for p in e.path]))


def explained(error: ValidationError) -> Iterator[SchemaError]:
    """A validator's error as one for each field that it is about."""
    path = tuple(error.absolute_path)
    keyword = str(error.validator)
    schema = cast("Mapping[str, Any]", error.schema)
    value = cast("Any", error.instance)
    if keyword == "required":
        # jsonschema reports each missing field by itself, and names it only in its message.
        name = next(n for n in schema["required"] if error.message.startswith(repr(n)))
        yield SchemaError((*path, name), keyword, f"a field {name!r}", "no such field")
    elif keyword in ("additionalProperties", "unevaluatedProperties") and schema[keyword] is False:
        known = sorted(schema.get("properties", {}))
        for name in sorted(set(value) - set(known), key=str):
            yield SchemaError((*path, name), keyword, f"one of {', '.join(known)}", f"a field {name!r}")
    else:
        yield SchemaError(path, keyword, _expectation(keyword, schema, value), _observation(keyword, value))


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
            return shown(wanted)
        case "enum":
            return " or ".join(shown(w) for w in wanted)
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
            return " and ".join(f"{', '.join(wanted[name])} beside {name}" for name in wanted if name in value)
        case _:
            text = str(schema.get("description") or f"{keyword} {shown(wanted)}").rstrip(".")
            return text if text[1:2].isupper() else text[:1].lower() + text[1:]


def _observation(keyword: str, value: object) -> str:
    match keyword:
        case "minItems" | "maxItems" if value:
            return f"{len(cast('list[object]', value))} items"
        case "maxProperties" | "oneOf" | "dependentRequired" if value and isinstance(value, dict):
            return " and ".join(cast("dict[str, object]", value))
        case _:
            return shown(value)
