"""Keywords of a foreign JSON Schema in plain words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from lro_spec.display import cut, shown

TYPES = {
    "object": "an object",
    "array": "an array",
    "string": "a string",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "null": "null",
}
"""The types of JSON Schema as words."""

_ASKED: dict[str, Callable[[Any], str]] = {
    "type": lambda types: " or ".join(map(_type, _several(types))),
    "const": shown,
    "enum": lambda values: " or ".join(map(shown, _several(values))),
    "minimum": lambda bound: f"at least {shown(bound)}",
    "maximum": lambda bound: f"at most {shown(bound)}",
    "exclusiveMinimum": lambda bound: f"more than {shown(bound)}",
    "exclusiveMaximum": lambda bound: f"less than {shown(bound)}",
    "multipleOf": lambda number: f"a multiple of {shown(number)}",
    "minLength": lambda count: f"at least {_many(count, 'character')}",
    "maxLength": lambda count: f"at most {_many(count, 'character')}",
    "pattern": lambda pattern: f"a text that matches {shown(pattern)}",
    "minItems": lambda count: f"at least {_many(count, 'item')}",
    "maxItems": lambda count: f"at most {_many(count, 'item')}",
    "uniqueItems": lambda _: "each item once",
    "contains": lambda schema: f"an item that satisfies {shown(schema)}",
    "minProperties": lambda count: f"at least {_many(count, 'field')}",
    "maxProperties": lambda count: f"at most {_many(count, 'field')}",
    "not": lambda schema: f"what does not satisfy {shown(schema)}",
    "oneOf": lambda schemas: f"what satisfies exactly one of {shown(schemas)}",
    "anyOf": lambda schemas: f"what satisfies one of {shown(schemas)}",
}
_OTHERS = {
    "additionalProperties": "fields",
    "unevaluatedProperties": "fields",
    "additionalItems": "items",
    "unevaluatedItems": "items",
}


def asked(keyword: str, wanted: object) -> str:
    """Words for what a keyword with this value asks for."""
    if wanted is False and keyword in _OTHERS:
        return f"no {_OTHERS[keyword]} but those that line_schema allows"
    if wanted is False or keyword == "None":  # a schema that is false
        return "nothing there"
    words = _ASKED.get(keyword)
    return cut(words(wanted)) if words is not None else f"{keyword} {shown(wanted)}"


def _type(name: object) -> str:
    return TYPES.get(name, shown(name)) if isinstance(name, str) else f"what satisfies {shown(name)}"


def _several(value: object) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else [value]


def _many(count: object, what: str) -> str:
    return f"{shown(count)} {what}{'' if count == 1 else 's'}"
