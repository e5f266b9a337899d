"""What a record line must hold (section "Memory Lines")."""

from __future__ import annotations

from collections.abc import Iterator

from lro_spec.findings import Finding
from lro_spec.schema.errors import SchemaError, from_schema, violations

READABLE, TYPED, WITHOUT_CONTENT = "LRO-FILE-01", "LRO-FILE-11", "LRO-DET-01"
"""What a record can break: it is an object, its fields have their types, at light detail it has no content."""

CORE = ("memory_type", "namespace", "title", "content", "created")
"""The fields of which each stands in some record of a file at full detail (I-04)."""

_LEVELS = ("light", "medium", "full")
_HINTS = {WITHOUT_CONTENT: "leave content out of light records, or call with detail medium or full"}


def validate_line(value: object, detail: str | None = None) -> Iterator[Finding]:
    """What is wrong with a record at a detail level; at any level, where *detail* is none of the three."""
    part = level(detail)
    told: set[tuple[str | int, ...]] = set()
    for error in violations(value, "line", part):
        # A light record's content breaks two rules of the schema when it is no text; one finding is enough.
        if error.path not in told:
            told.add(error.path)
            rule = _rule(error)
            yield from_schema(error, rule, "the record", _HINTS.get(rule, ""))


def level(detail: str | None) -> str:
    """The part of the line schema that holds at a detail level: any, where the level is none of the three."""
    return detail if detail in _LEVELS else "any"


def _rule(error: SchemaError) -> str:
    match error:
        case SchemaError(path=()):
            return READABLE
        case SchemaError(path=("content",), keyword="enum"):
            return WITHOUT_CONTENT
        case _:
            return TYPED
