"""What a header must hold (section "Header Line")."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, cast

from lro_spec.editions import DEFAULT_EDITION, Edition
from lro_spec.editions import edition as edition_named
from lro_spec.findings import Finding, from_schema, shown
from lro_spec.json_values import not_json
from lro_spec.schema_errors import SchemaError, violations

MARKER = "lro_header"

_TELLING_FIELDS = ("operation", "count", "schema_version", "timestamp", "estimated_tokens")


def is_header(value: object) -> bool:
    """Whether a line says that it is a header."""
    return isinstance(value, dict) and cast("dict[str, Any]", value).get("type") == MARKER


def resembles_header(value: object) -> bool:
    """Whether a line was meant as a header, whatever its type field says."""
    if not isinstance(value, dict):
        return False
    fields = cast("dict[str, Any]", value)
    return is_header(fields) or ("id" not in fields and sum(name in fields for name in _TELLING_FIELDS) >= 3)


def holds_memories(header: Mapping[str, Any]) -> bool:
    """Whether the records are memories, as the text has it.

    A proxy that offloads any tool's result says that they are not: by version 0 of the schema, and by `extra`, which
    tells what they were made of.
    """
    return header.get("schema_version") != "0" or not isinstance(header.get("extra"), dict)


def validate_header(value: object, *, edition: str = "lro-6400") -> Iterator[Finding]:
    """What is wrong with a header. Raises `ValueError` for an unknown edition."""
    yield from header_problems(value, edition=edition, read=False)


def header_problems(value: object, *, edition: str, read: bool) -> Iterator[Finding]:
    """The same; where it was *read* from a text, what is wrong with that as JSON was told already."""
    text = edition_named(edition)
    found = _found(value, text, read)
    if text.name != DEFAULT_EDITION:
        from lro_spec.edition_findings import as_held

        found = as_held(found, text)
    yield from found


def _found(value: object, text: Edition, read: bool) -> Iterator[Finding]:
    errors = list(violations(value, "header"))
    for error in errors:
        yield from_schema(error, _rule(error), "the header")
    if not isinstance(value, dict):
        return
    header = cast("dict[str, Any]", value)
    yield from (told for path, told in (() if read else not_json(header)) if all(e.path != path for e in errors))
    timestamp = header.get("timestamp")
    well_formed = all(error.path != ("timestamp",) for error in errors)
    if isinstance(timestamp, str) and well_formed and moment(timestamp) is None:
        expected = "a day and an offset that exist, and nothing behind them"
        yield Finding("LRO-FILE-07", "/timestamp", "timestamp is no real date and time", expected, shown(timestamp))
    if holds_memories(header):
        yield from _unknown(header, "operation", "LRO-FILE-04", text.operations)
    yield from _unknown(header, "detail", "LRO-FILE-08", text.details)


def moment(timestamp: str) -> datetime | None:
    """An ISO 8601 date and time; None when it is none. Naive where the text names no time zone."""
    try:
        # A leap second is a time of day that datetime cannot hold; the second before it is near enough.
        return datetime.fromisoformat(timestamp.replace(":60", ":59", 1).upper())
    except ValueError:
        return None


def utc(when: datetime) -> datetime:
    """The same moment in UTC; a naive one is taken as UTC."""
    try:
        return when.replace(tzinfo=UTC) if when.tzinfo is None else when.astimezone(UTC)
    except OverflowError:  # within hours of year 1 or 9999
        return when.replace(tzinfo=UTC)


def _rule(error: SchemaError) -> str:
    match error.path:
        case ():
            return "LRO-FILE-02"
        case ("type", *_):
            return "LRO-FILE-02"
        case ("timestamp",) if error.keyword == "pattern":
            return "LRO-FILE-07"
        case ("schema_version",) if error.keyword == "minLength":
            return "LRO-FILE-12"
        case _:
            return "LRO-FILE-03"


def _unknown(header: Mapping[str, Any], field: str, rule: str, known: tuple[str, ...]) -> Iterator[Finding]:
    word = header.get(field)
    if known and isinstance(word, str) and word and word not in known:
        yield Finding(
            rule,
            f"/{field}",
            f"{field} is a word that the specification does not know",
            f"one of {', '.join(known)}",
            shown(word),
            severity="warning",
        )
