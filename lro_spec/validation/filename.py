"""File names (section "File Naming")."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Any

from lro_spec.display import show
from lro_spec.editions import edition as edition_named
from lro_spec.filenames import FileName, parse_file_name
from lro_spec.findings import Finding, Kind, Severity
from lro_spec.timestamps import parse, utc
from lro_spec.validation.request import Request

ULID_TOLERANCE = timedelta(seconds=60)
"""Largest difference between the time in a file's name and the time in its header."""

_NAIVE_TOLERANCE = timedelta(hours=14)
"""Largest difference if the header's time has no time zone. No time zone differs from UTC by more."""


def name_problem(name: str, *, edition: str, severity: Severity) -> Finding | None:
    """Return the finding about a bare file name, or None if the name follows the edition's convention."""
    if parse_file_name(name, edition=edition) is not None:
        return None
    prefix = edition_named(edition).file_prefix
    expected = f"{prefix}-{{operation}}-{{ulid}}.jsonl"
    if re.fullmatch(rf"{prefix}-[A-Za-z0-9_]+-.+\.jsonl", name, re.ASCII):
        message, ulid_form = (
            "the name has no ULID where one belongs",
            "26 characters of Crockford's base 32, the first at most 7",
        )
        return Finding("LRO-NAME-03", Kind.BAD_NAME, "", message, f"{expected}: {ulid_form}", name, severity=severity)
    return Finding(
        "LRO-NAME-02",
        Kind.BAD_NAME,
        "",
        "the file's name does not follow the convention",
        expected,
        name,
        severity=severity,
    )


def name_against_header(
    name: str, header: Mapping[str, Any], *, edition: str, request: Request | None = None
) -> Iterator[Finding]:
    """Contradictions between name and header.

    There are none if the request is known: then the operations in name and header are each compared with the operation
    of the request. Whoever knows the request also knows when the file was written, and can compare the ULID with that
    time.
    """
    if request is not None:
        return
    parts = parse_file_name(name, edition=edition)
    if parts is None:
        return
    operation, timestamp = header.get("operation"), header.get("timestamp")
    if isinstance(operation, str) and operation != parts.operation:
        message = "name and header do not agree on the operation"
        observed = f"{parts.operation} in the name, {show(operation)} in the header"
        yield Finding("LRO-NAME-02", Kind.CONTRADICTION, "/operation", message, "the same in both", observed)
    tolerance = _tolerance(parts, timestamp) if isinstance(timestamp, str) else None
    if tolerance is not None:
        message = "the ULID in the name encodes a different time than the header"
        expected = f"times at most {tolerance.seconds} s apart"
        observed = f"{parts.created.isoformat()} in the name, {show(timestamp)} in the header"
        hint = "create the ULID when the file is created, from the same clock"
        yield Finding("LRO-NAME-03", Kind.CONTRADICTION, "/timestamp", message, expected, observed, hint)


def _tolerance(parts: FileName, timestamp: str) -> timedelta | None:
    """Return the tolerance that is exceeded by the times in name and header, or None if the times agree."""
    header_time = parse(timestamp)
    if header_time is None:
        return None  # reported as an error in the timestamp
    tolerance = ULID_TOLERANCE if header_time.tzinfo else _NAIVE_TOLERANCE
    return tolerance if abs(utc(header_time) - parts.created) > tolerance else None
