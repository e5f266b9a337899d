"""The common document and the common schema, judged without a library: loading one takes longer than the whole rest.

Deliberately one-sided: what passes here satisfies its schema, or is one; what does not is left for the libraries to
judge. A test holds them together.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, cast

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_OBJECT = (dict,)
_ARRAY = (list,)
_SIZED = (str, list)
_TYPES: dict[str, tuple[type, ...]] = {
    "object": _OBJECT,
    "array": _ARRAY,
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
}
_ANNOTATIONS = frozenset({"$schema", "$id", "title", "description", "examples"})
_TEXTS = frozenset({"title", "description", "$comment", "format"})
_COUNTS = frozenset({"minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"})


def plainly_satisfies(value: object, schema: Mapping[str, Any]) -> bool:
    """Whether a value surely satisfies a schema of this package, which names all types that it asks things of."""
    return all(_holds(keyword, wanted, value) for keyword, wanted in schema.items() if keyword not in _ANNOTATIONS)


def _holds(keyword: str, wanted: Any, value: Any) -> bool:
    match keyword:
        case "type":
            return any(type(value) in _TYPES[name] for name in ([wanted] if isinstance(wanted, str) else wanted))
        case "required":
            return type(value) in _OBJECT and all(name in value for name in wanted)
        case "properties":
            return type(value) in _OBJECT and all(
                plainly_satisfies(value[name], part) for name, part in wanted.items() if name in value
            )
        case "items":
            return value is None or (type(value) in _ARRAY and all(plainly_satisfies(each, wanted) for each in value))
        case "const":
            return value is True is wanted or (type(value) is str and value == wanted)
        case "pattern":
            return type(value) is str and re.search(wanted, value) is not None
        case "minimum":
            return type(value) is int and value >= wanted
        case "minLength" | "minItems":
            return value is None or (type(value) in _SIZED and len(value) >= wanted)
        case "maxItems":
            return value is None or (type(value) in _ARRAY and len(value) <= wanted)
        case _:
            return False


def plainly_a_schema(schema: Mapping[str, Any]) -> bool:
    """Whether an object is surely a schema of draft 2020-12. Not meant for what nests too deep to be a schema."""
    declared = schema.get("$schema", _DIALECT) == _DIALECT
    return declared and _is_plain({keyword: said for keyword, said in schema.items() if keyword != "$schema"})


def _is_plain(schema: object) -> bool:
    if not isinstance(schema, dict):
        return isinstance(schema, bool)
    return all(_is_right(keyword, said) for keyword, said in cast("dict[str, object]", schema).items())


def _is_right(keyword: str, said: object) -> bool:
    match keyword, said:
        case "type", str():
            return said in _TYPES
        case (("type" | "required"), list()):
            names = cast("list[object]", said)
            texts = {name for name in names if isinstance(name, str)}
            known = keyword == "required" or (bool(names) and texts <= _TYPES.keys())
            return known and len(texts) == len(names)
        case (("properties" | "$defs"), dict()):
            return all(map(_is_plain, cast("dict[str, object]", said).values()))
        case (("items" | "additionalProperties"), _):
            return _is_plain(said)
        case (("enum" | "examples"), list()):
            return True
        case (("const" | "default"), _):
            return True
        case _:
            if keyword in _TEXTS:
                return isinstance(said, str)
            return keyword in _COUNTS and type(said) is int and said >= 0
