"""The shape of a memory: which fields it must have, what it looks like at each detail level, and the schema of that.

The specification leaves the detail levels undefined. Here *light* is what a list needs (no content), *medium* adds what
a reader needs, *full* is everything that was stored. Every level has a string ``content`` and a numeric
``provenance.confidence``, because the standard recipes sort by the one and search in the other.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from typing import Any, cast

from lro_reference.events import timestamp
from lro_spec.naming import ulid_at

SCHEMA_VERSION = "1.0.0"
"""The MIF version that file headers state."""
DETAILS = ("light", "medium", "full")
DEFAULT_CONFIDENCE = 0.5
"""Of a memory that was stored without one: neither trusted nor doubted."""
_TITLE_CHARACTERS = 80

Memory = dict[str, Any]

_STRING: Mapping[str, Any] = {"type": "string"}
_FIELDS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    # field: (the leanest level that has it, its schema)
    "id": ("light", _STRING),
    "memory_type": ("light", _STRING),
    "namespace": ("light", _STRING),
    "title": ("light", _STRING),
    "tags": ("light", {"type": "array", "items": _STRING}),
    "status": ("light", _STRING),
    "created": ("light", {"type": "string", "format": "date-time"}),
    "content": ("light", _STRING),
    "provenance": (
        "light",
        {"type": "object", "properties": {"confidence": {"type": "number"}}, "required": ["confidence"]},
    ),
    "modified": ("medium", {"type": "string", "format": "date-time"}),
    "summary": ("medium", {"type": ["string", "null"]}),
    "entities": ("medium", {"type": ["array", "null"]}),
}
_OPTIONAL = frozenset({"summary", "entities"})
_REQUIRED = tuple(field for field in _FIELDS if field not in _OPTIONAL)
_CONSTANT_DEFAULTS = {"memory_type": "semantic", "content": "", "namespace": "_semantic", "status": "active"}


class InvalidMemory(ValueError):
    """A memory that cannot be stored; the message names the field."""


def normalise(memory: Mapping[str, Any], now: datetime) -> Memory:
    """The memory with every required field, and otherwise as it came.

    A required field that is missing or null gets a default. Raises `InvalidMemory` for a field of the wrong type.
    """
    made: Memory = dict(memory)
    for field in _REQUIRED:
        if made.get(field) is None:
            made[field] = _default(field, made, now)
    for field in _FIELDS:
        _check(field, made.get(field))
    provenance = cast("dict[str, Any]", made["provenance"])
    if provenance.get("confidence") is None:
        made["provenance"] = provenance = {**provenance, "confidence": DEFAULT_CONFIDENCE}
    confidence = provenance["confidence"]
    if isinstance(confidence, bool) or not isinstance(confidence, (int, float)):
        raise InvalidMemory(f"memory.provenance.confidence must be a number, not {confidence!r}")
    return made


def moment(text: str) -> datetime:
    """The moment that an ISO 8601 text names; without an offset it is UTC. Raises `ValueError`."""
    when = datetime.fromisoformat(text)
    return when.replace(tzinfo=UTC) if when.tzinfo is None else when


def project(memory: Memory, detail: str) -> Memory:
    """The memory as it is at a detail level."""
    if detail == "full":
        return memory
    seen = {field: memory[field] for field in fields(detail) if field in memory}
    if detail == "light":
        seen["content"] = ""
        seen["provenance"] = {"confidence": memory["provenance"]["confidence"]}
    return seen


@cache
def fields(detail: str) -> tuple[str, ...]:
    """The fields of a detail level that this server knows by name."""
    depth = DETAILS.index(detail)
    return tuple(field for field, (least, _) in _FIELDS.items() if DETAILS.index(least) <= depth)


def line_schema(detail: str) -> dict[str, Any]:
    """The JSON Schema of a memory at a detail level."""
    known = fields(detail)
    schema: dict[str, Any] = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": {field: dict(_FIELDS[field][1]) for field in known},
        "required": [field for field in known if field not in _OPTIONAL],
    }
    if detail == "light":
        schema["properties"]["content"] = {"const": "", "description": "left out at this level"}
    if detail == "full":
        for field in ("relationships", "wiki_links", "embedding", "temporal", "extensions", "blocks", "citations"):
            schema["properties"][field] = {"description": "as stored, where there is one"}
    return schema


def _default(field: str, memory: Memory, now: datetime) -> Any:
    match field:
        case "id":
            return ulid_at(now)
        case "title":
            return _title(memory)
        case "created":
            return timestamp(now)
        case "modified":
            return memory["created"]
        case "tags":
            return []
        case "provenance":
            return {}
        case _:
            return _CONSTANT_DEFAULTS[field]


def _title(memory: Memory) -> str:
    # A light record has no content, so a memory without a title would be a blank line in every list.
    content = memory.get("content")
    first = content.strip().split("\n", 1)[0] if isinstance(content, str) else ""
    return first if len(first) <= _TITLE_CHARACTERS else first[: _TITLE_CHARACTERS - 1] + "…"


def _check(field: str, value: object) -> None:
    types = _FIELDS[field][1]["type"]
    if value is None and (field in _OPTIONAL or "null" in types):
        return
    if "array" in types:
        good = isinstance(value, list)
        if good and field == "tags":
            good = all(isinstance(tag, str) for tag in cast("list[object]", value))
    elif "object" in types:
        good = isinstance(value, dict)
    else:
        good = isinstance(value, str)
    if not good:
        expected = {"tags": "an array of strings", "entities": "an array", "provenance": "an object"}
        raise InvalidMemory(f"memory.{field} must be {expected.get(field, 'a string')}, not {_shown(value)}")
    if field == "id" and not value:
        raise InvalidMemory("memory.id must not be empty; leave it out to get one")
    if field in {"created", "modified"}:
        try:
            moment(cast("str", value))
        except (ValueError, OverflowError):
            raise InvalidMemory(f"memory.{field} must be an ISO 8601 date and time, not {_shown(value)}") from None


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:59] + "…"
