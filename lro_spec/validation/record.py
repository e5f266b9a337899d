"""Validation of record lines (section "Memory Lines")."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from lro_spec.findings import Finding
from lro_spec.schema.errors import SchemaError, from_schema, violations

READABLE, TYPED, WITHOUT_CONTENT = "LRO-FILE-01", "LRO-FILE-11", "LRO-DET-01"
"""Requirements of a record. `READABLE`: it is an object. `TYPED`: it has an id, and its fields have the right types.
`WITHOUT_CONTENT`: at the detail level ``light``, it has no content."""

CORE_FIELDS = ("memory_type", "namespace", "title", "content", "created")
"""Fields of full detail, each of which must appear in some record of a file (I-04)."""

POSSIBLY_EMPTY_FIELDS = frozenset(("namespace", "title", "content"))
"""Fields of `CORE_FIELDS` that some servers leave out of a record if they are empty."""

_MEMORY_FIELDS = {*CORE_FIELDS, "provenance"}
"""Fields by which an object is recognised as a memory."""

_LEVELS = ("light", "medium", "full")
_HINTS = {WITHOUT_CONTENT: "omit content from light records, or use detail medium or full"}


def validate_line(value: object, detail: str | None = None) -> Iterator[Finding]:
    """Findings about a record. If *detail* is not a detail level, only findings that apply at every level."""
    return map(record_finding, record_errors(value, detail))


def resembles_memory(value: object) -> bool:
    """True for an object with an id and at least one field of memories, so that it may be judged as a memory."""
    record = cast("dict[str, object]", value) if isinstance(value, dict) else {}
    return isinstance(record.get("id"), str) and bool(_MEMORY_FIELDS & record.keys())


def record_errors(value: object, detail: str | None) -> Iterator[SchemaError]:
    """Violations of the package's own schema of a record (line.schema.json), at most one for each value."""
    paths: set[tuple[str | int, ...]] = set()
    for error in violations(value, "line", level(detail)):
        # Content in a light record violates the schema twice if it is not a string; one finding is enough.
        if error.path not in paths:
            paths.add(error.path)
            yield error


def record_finding(error: SchemaError) -> Finding:
    """The finding about a violation of the package's schema of a record."""
    rule = record_rule(error)
    return from_schema(error, rule, "the record", _HINTS.get(rule, ""))


def level(detail: str | None) -> str:
    """The part of the package's schema of a record for a detail level, or ``any`` if *detail* is not a level."""
    return detail if detail in _LEVELS else "any"


def record_rule(error: SchemaError) -> str:
    """The requirement that a violation of the package's schema of a record breaks."""
    match error:
        case SchemaError(path=()):
            return READABLE
        case SchemaError(path=("content",), keyword="enum"):
            return WITHOUT_CONTENT
        case _:
            return TYPED
