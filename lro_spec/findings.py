"""What validation finds: one deviation, where it is, and which requirement it breaks."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import orjson

if TYPE_CHECKING:
    from lro_spec.schema_errors import SchemaError

Severity = Literal["error", "warning"]

_SHOWN = 120

_WRONG = {
    "required": "is missing",
    "type": "has the wrong type",
    "const": "has the wrong value",
    "enum": "has the wrong value",
    "pattern": "has the wrong form",
    "minLength": "is empty",
    "minItems": "has too few items",
    "maxItems": "has too many items",
    "minimum": "is too low",
}


@dataclass(frozen=True, slots=True)
class Finding:
    """One deviation from a requirement."""

    rule: str
    """The id of the requirement that it breaks, for example ``LRO-FILE-06``."""
    pointer: str
    """A JSON pointer (RFC 6901) to the value, within its line where there are lines; "" is the whole."""
    message: str
    """What is wrong, in one sentence."""
    expected: str
    observed: str
    hint: str = ""
    """How to mend it."""
    line: int | None = None
    """The line of the file, from 1; the header is line 1. None where there are no lines."""
    column: int | None = None
    """The column in that line, from 1, in characters. None where it is not known."""
    severity: Severity = "error"
    """An *error* breaks the requirement; a *warning* is worth a look and breaks nothing."""


def shown(value: object) -> str:
    """A value as JSON, cut to what fits a line of a report."""
    try:
        text = orjson.dumps(value).decode()
    except TypeError:  # nested too deep, a lone surrogate, an integer beyond 64 bits
        try:
            text = json.dumps(value)
        except (TypeError, ValueError, RecursionError):
            text = f"a {type(value).__name__}"
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"


def pointer(path: list[str | int]) -> str:
    """The JSON pointer of a path of keys and indexes."""
    return "".join(f"/{str(part).replace('~', '~0').replace('/', '~1')}" for part in path)


def from_schema(error: SchemaError, rule: str, whole: str, hint: str = "") -> Finding:
    """A violation of a schema as a finding; *whole* names the document where the violation is the document's own."""
    name = ".".join(str(part) for part in error.path) or whole
    message = f"{name} {_WRONG.get(error.keyword, 'is not as required')}"
    return Finding(rule, pointer(list(error.path)), message, error.expected, error.observed, hint)
