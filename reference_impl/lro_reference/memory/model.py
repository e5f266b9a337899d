"""Memories: their required fields, their projection to each detail level, and the schema of each level.

The specification leaves the detail levels undefined. Here *light* has the fields that a list shows, *medium* adds those
for reading, *full* has everything that was stored. Every level has a string ``content``, which is empty in *light*, and
a numeric ``provenance.confidence``, because the standard recipes search in the content and sort by the confidence.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from typing import Any, cast

from lro_reference.events import timestamp
from lro_spec.editions import DETAILS
from lro_spec.filenames import ulid_at

SCHEMA_VERSION = "1.0.0"
"""The MIF version that file headers state."""
DEFAULT_CONFIDENCE = 0.5
"""Confidence of a memory that was stored without one: neither trusted nor doubted."""
_TITLE_CHARACTERS = 80

Memory = dict[str, Any]

_STRING: Mapping[str, Any] = {"type": "string"}
_FIELDS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    # field: (the lowest level that has it, its schema)
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
    """A memory that cannot be stored. The message names the field, or says that the whole memory cannot be written."""


def normalise(memory: Mapping[str, Any], now: datetime) -> Memory:
    """The memory with every required field, and otherwise unchanged.

    A required field that is missing or null gets a default, as does the confidence. Raises `InvalidMemory` for a field
    of the wrong type, an empty id, or a time that is not in ISO 8601.
    """
    normalised: Memory = dict(memory)
    for field in _REQUIRED:
        if normalised.get(field) is None:
            normalised[field] = _default(field, normalised, now)
    for field in _FIELDS:
        _check(field, normalised.get(field))
    provenance = cast("dict[str, Any]", normalised["provenance"])
    if provenance.get("confidence") is None:
        normalised["provenance"] = provenance = {**provenance, "confidence": DEFAULT_CONFIDENCE}
    confidence = provenance["confidence"]
    if isinstance(confidence, bool) or not isinstance(confidence, (int, float)):
        raise InvalidMemory(f"memory.provenance.confidence must be a number, not {confidence!r}")
    return normalised


def parse_time(text: str) -> datetime:
    """The time in an ISO 8601 text, in UTC if the text has no offset. Raises `ValueError` if it is no such text."""
    when = datetime.fromisoformat(text)
    return when.replace(tzinfo=UTC) if when.tzinfo is None else when


def project(memory: Memory, detail: str) -> Memory:
    """The memory reduced to a detail level."""
    if detail == "full":
        return memory
    projected = {field: memory[field] for field in fields(detail) if field in memory}
    if detail == "light":
        projected["content"] = ""
        projected["provenance"] = {"confidence": memory["provenance"]["confidence"]}
    return projected


@cache
def fields(detail: str) -> tuple[str, ...]:
    """Names of the defined fields of a detail level."""
    depth = DETAILS.index(detail)
    return tuple(field for field, (lowest, _) in _FIELDS.items() if DETAILS.index(lowest) <= depth)


def line_schema(detail: str) -> dict[str, Any]:
    """The JSON Schema of a memory at a detail level."""
    names = fields(detail)
    schema: dict[str, Any] = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": {field: dict(_FIELDS[field][1]) for field in names},
        "required": [field for field in names if field not in _OPTIONAL],
    }
    if detail == "light":
        schema["properties"]["content"] = {"const": "", "description": "left out at this level"}
    if detail == "full":
        for field in ("relationships", "wiki_links", "embedding", "temporal", "extensions", "blocks", "citations"):
            schema["properties"][field] = {"description": "as stored, if present"}
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
    # A light record has no content, so a memory without a title would be a blank line in lists.
    content = memory.get("content")
    first = content.strip().split("\n", 1)[0] if isinstance(content, str) else ""
    return first if len(first) <= _TITLE_CHARACTERS else first[: _TITLE_CHARACTERS - 1] + "…"


def _check(field: str, value: object) -> None:
    types = _FIELDS[field][1]["type"]
    if value is None and (field in _OPTIONAL or "null" in types):
        return
    if "array" in types:
        valid = isinstance(value, list)
        if valid and field == "tags":
            valid = all(isinstance(tag, str) for tag in cast("list[object]", value))
    elif "object" in types:
        valid = isinstance(value, dict)
    else:
        valid = isinstance(value, str)
    if not valid:
        expected = {"tags": "an array of strings", "entities": "an array", "provenance": "an object"}
        raise InvalidMemory(f"memory.{field} must be {expected.get(field, 'a string')}, not {_abbreviate(value)}")
    if field == "id" and not value:
        raise InvalidMemory("memory.id must not be empty; leave it out to get one")
    if field in {"created", "modified"}:
        try:
            parse_time(cast("str", value))
        except (ValueError, OverflowError):
            raise InvalidMemory(f"memory.{field} must be an ISO 8601 date and time, not {_abbreviate(value)}") from None


def _abbreviate(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:59] + "…"
