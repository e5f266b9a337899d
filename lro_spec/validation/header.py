"""What a header must hold (section "Header Line")."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, cast

from lro_spec.display import shown
from lro_spec.editions import DEFAULT_EDITION, Edition
from lro_spec.editions import edition as edition_named
from lro_spec.findings import Finding, Kind
from lro_spec.jsonl.values import not_json
from lro_spec.schema.errors import SchemaError, from_schema, violations
from lro_spec.timestamps import parse
from lro_spec.validation.asked import Asked

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


def header_problems(value: object, *, edition: str, read: bool, asked: Asked | None = None) -> Iterator[Finding]:
    """The same; where it was *read* from a text, what is wrong with that as JSON was told already.

    Where it is known what was *asked* for, operation and detail level must be those.
    """
    text = edition_named(edition)
    found = _found(value, text, read, asked)
    if text.name != DEFAULT_EDITION:
        from lro_spec.validation.editions import as_held

        found = as_held(found, text)
    yield from found


def _found(value: object, text: Edition, read: bool, asked: Asked | None) -> Iterator[Finding]:
    errors = list(violations(value, "header"))
    for error in errors:
        yield from_schema(error, _rule(error), "the header")
    if not isinstance(value, dict):
        return
    header = cast("dict[str, Any]", value)
    yield from (told for path, told in (() if read else not_json(header)) if all(e.path != path for e in errors))
    timestamp = header.get("timestamp")
    well_formed = all(error.path != ("timestamp",) for error in errors)
    if isinstance(timestamp, str) and well_formed and parse(timestamp) is None:
        expected = "a day and an offset that exist, and nothing behind them"
        yield Finding(
            "LRO-FILE-07", Kind.BAD_TIME, "/timestamp", "timestamp is no real date and time", expected, shown(timestamp)
        )
    if asked is not None:
        yield from not_as_asked(header, "operation", "LRO-FILE-04", asked.operation)
        yield from not_as_asked(header, "detail", "LRO-FILE-08", asked.detail)
        return
    if holds_memories(header):
        yield from _unknown(header, "operation", "LRO-FILE-04", text.operations)
    yield from _unknown(header, "detail", "LRO-FILE-08", text.details)


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


def not_as_asked(part: Mapping[str, Any], field: str, rule: str, meant: str | None) -> Iterator[Finding]:
    """Where a header or a summary names another operation or detail level than the call's, if that is known."""
    word = part.get(field)
    if meant is not None and isinstance(word, str) and word and word != meant:
        message, expected = f"{field} is not that of the call", f"{shown(meant)}, as was asked for"
        yield Finding(rule, Kind.NOT_AS_ASKED, f"/{field}", message, expected, shown(word))


def _unknown(header: Mapping[str, Any], field: str, rule: str, known: tuple[str, ...]) -> Iterator[Finding]:
    word = header.get(field)
    if known and isinstance(word, str) and word and word not in known:
        yield Finding(
            rule,
            Kind.UNKNOWN_WORD,
            f"/{field}",
            f"{field} is a word that the specification does not know",
            f"one of {', '.join(known)}",
            shown(word),
            severity="warning",
        )
