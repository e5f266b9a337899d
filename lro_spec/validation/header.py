"""The header line (section "Header Line").

Maps violations of the header's schema to requirements; `lro_spec.schema.errors` writes their messages. Whether
``count`` is right is only known after the last line, so `lro_spec.validation.file` decides it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, cast

from lro_spec.display import show
from lro_spec.editions import DEFAULT_EDITION, Edition
from lro_spec.editions import edition as edition_named
from lro_spec.findings import Finding, Kind
from lro_spec.jsonl.values import not_json
from lro_spec.schema.errors import SchemaError, from_schema, violations
from lro_spec.timestamps import parse
from lro_spec.validation.request import Request

MARKER = "lro_header"
"""The type of a header."""

_TYPICAL_FIELDS = ("operation", "count", "schema_version", "timestamp", "estimated_tokens")
"""Fields by which a header is recognised if its type is wrong or missing. An object with three of these fields, and
without an id, is taken for a header."""


def is_header(value: object) -> bool:
    """True if a value is marked as a header."""
    return isinstance(value, dict) and cast("dict[str, Any]", value).get("type") == MARKER


def resembles_header(value: object) -> bool:
    """True if a value is clearly meant to be a header, even if its type field is wrong."""
    if not isinstance(value, dict):
        return False
    fields = cast("dict[str, Any]", value)
    return is_header(fields) or ("id" not in fields and sum(name in fields for name in _TYPICAL_FIELDS) >= 3)


def holds_memories(header: Mapping[str, Any]) -> bool:
    """True if the header's records are memories, as the specification assumes.

    A proxy that offloads results of any tool marks other records by two fields of the header: ``schema_version`` is
    "0", and ``extra`` is an object.
    """
    return header.get("schema_version") != "0" or not isinstance(header.get("extra"), dict)


def validate_header(value: object, *, edition: str = "lro-6400") -> Iterator[Finding]:
    """Findings about a header. Raises `ValueError` for an unknown edition."""
    yield from header_problems(value, edition=edition, from_line=False)


def header_problems(
    value: object, *, edition: str, from_line: bool, request: Request | None = None
) -> Iterator[Finding]:
    """Findings about a header.

    With *from_line*, problems of JSON are left out, because they are reported with the line. If the *request* is known,
    operation and detail level must be those of the request.
    """
    facts = edition_named(edition)
    findings = _findings(value, facts, from_line, request)
    if facts.name != DEFAULT_EDITION:
        from lro_spec.validation.editions import for_edition

        findings = for_edition(findings, facts)
    yield from findings


def _findings(value: object, edition: Edition, from_line: bool, request: Request | None) -> Iterator[Finding]:
    errors = list(violations(value, "header"))
    for error in errors:
        yield from_schema(error, _rule(error), "the header")
    if not isinstance(value, dict):
        return
    header = cast("dict[str, Any]", value)
    yield from (
        finding for path, finding in (() if from_line else not_json(header)) if all(e.path != path for e in errors)
    )
    timestamp = header.get("timestamp")
    well_formed = all(error.path != ("timestamp",) for error in errors)
    if isinstance(timestamp, str) and well_formed and parse(timestamp) is None:
        expected = "a day that exists, a valid UTC offset (if any), and nothing after it"
        yield Finding(
            "LRO-FILE-07",
            Kind.BAD_TIME,
            "/timestamp",
            "timestamp is not a real date and time",
            expected,
            show(timestamp),
        )
    if request is not None:
        yield from request_contradictions(header, "operation", "LRO-FILE-04", request.operation)
        yield from request_contradictions(header, "detail", "LRO-FILE-08", request.detail)
        return
    if holds_memories(header):
        yield from _unknown(header, "operation", "LRO-FILE-04", edition.operations)
    yield from _unknown(header, "detail", "LRO-FILE-08", edition.details)


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


def request_contradictions(part: Mapping[str, Any], field: str, rule: str, wanted: str | None) -> Iterator[Finding]:
    """Finding about an operation or detail level that is not the requested one. There is none if *wanted* is None."""
    word = part.get(field)
    if wanted is not None and isinstance(word, str) and word and word != wanted:
        message, expected = f"{field} is not that of the call", show(wanted)
        yield Finding(rule, Kind.NOT_AS_ASKED, f"/{field}", message, expected, show(word))


def _unknown(header: Mapping[str, Any], field: str, rule: str, known: tuple[str, ...]) -> Iterator[Finding]:
    word = header.get(field)
    if known and isinstance(word, str) and word and word not in known:
        yield Finding(
            rule,
            Kind.UNKNOWN_WORD,
            f"/{field}",
            f"{field} is not a value that the specification defines",
            f"one of {', '.join(known)}",
            show(word),
            severity="warning",
        )
