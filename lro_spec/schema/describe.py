"""Plain words for the keywords of a ``line_schema``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from lro_spec.display import shorten, show

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

_WORDS: dict[str, Callable[[Any], str]] = {
    "type": lambda types: " or ".join(map(_type, _as_list(types))),
    "const": show,
    "enum": lambda values: " or ".join(map(show, _as_list(values))),
    "minimum": lambda bound: f"at least {show(bound)}",
    "maximum": lambda bound: f"at most {show(bound)}",
    "exclusiveMinimum": lambda bound: f"more than {show(bound)}",
    "exclusiveMaximum": lambda bound: f"less than {show(bound)}",
    "multipleOf": lambda number: f"a multiple of {show(number)}",
    "minLength": lambda count: f"at least {_counted(count, 'character')}",
    "maxLength": lambda count: f"at most {_counted(count, 'character')}",
    "pattern": lambda pattern: f"a text that matches {show(pattern)}",
    "minItems": lambda count: f"at least {_counted(count, 'item')}",
    "maxItems": lambda count: f"at most {_counted(count, 'item')}",
    "uniqueItems": lambda _: "each item once",
    "contains": lambda schema: f"an item that satisfies {show(schema)}",
    "minProperties": lambda count: f"at least {_counted(count, 'field')}",
    "maxProperties": lambda count: f"at most {_counted(count, 'field')}",
    "not": lambda schema: f"a value that does not satisfy {show(schema)}",
    "oneOf": lambda schemas: f"a value that satisfies exactly one of {show(schemas)}",
    "anyOf": lambda schemas: f"a value that satisfies one of {show(schemas)}",
}
_OTHERS = {
    "additionalProperties": "fields",
    "unevaluatedProperties": "fields",
    "additionalItems": "items",
    "unevaluatedItems": "items",
}
"""Keywords about the fields or items that are not named by any other keyword of the schema."""


def describe(keyword: str, wanted: object) -> str:
    """The requirement of a keyword with this value, in words."""
    if wanted is False and keyword in _OTHERS:
        return f"no {_OTHERS[keyword]} except those that line_schema allows"
    if wanted is False or keyword == "None":  # "None" instead of a keyword: the schema itself is false
        return "nothing there"
    words = _WORDS.get(keyword)
    return shorten(words(wanted)) if words is not None else f"{keyword} {show(wanted)}"


def _type(name: object) -> str:
    return TYPES.get(name, show(name)) if isinstance(name, str) else f"a value that satisfies {show(name)}"


def _as_list(value: object) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else [value]


def _counted(count: object, what: str) -> str:
    return f"{show(count)} {what}{'' if count == 1 else 's'}"
