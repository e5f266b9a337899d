"""What a file's name must say (section "File Naming")."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Any

from lro_spec.editions import edition as edition_named
from lro_spec.findings import Finding, Severity, shown
from lro_spec.header_rules import moment, utc
from lro_spec.naming import FileName, parse_file_name

ULID_TOLERANCE = timedelta(seconds=60)
"""How far the time in a file's name may be from the time in its header."""

# A header that names no time zone tells the time of writing give or take this much.
_NAIVE_TOLERANCE = timedelta(hours=14)


def name_problem(name: str, *, edition: str, severity: Severity) -> Finding | None:
    """What is wrong with a bare file name by itself; None when it follows the edition's convention."""
    if parse_file_name(name, edition=edition) is not None:
        return None
    expected = f"{edition_named(edition).file_prefix}-{{operation}}-{{ulid}}.jsonl"
    return Finding(
        "LRO-NAME-02", "", "the file's name does not follow the convention", expected, name, severity=severity
    )


def name_against_header(name: str, header: Mapping[str, Any], *, edition: str) -> Iterator[Finding]:
    """Where name and header contradict each other."""
    parts = parse_file_name(name, edition=edition)
    if parts is None:
        return
    operation, timestamp = header.get("operation"), header.get("timestamp")
    if isinstance(operation, str) and operation != parts.operation:
        message = "name and header do not agree on the operation"
        expected = f"{operation}, as in the header"
        yield Finding("LRO-NAME-02", "/operation", message, expected, f"{parts.operation} in the name")
    if isinstance(timestamp, str) and not _agrees(parts, timestamp):
        message = "the ULID in the name holds another time than the header"
        expected = f"{shown(timestamp)}, give or take {ULID_TOLERANCE.seconds} s"
        hint = "make the ULID when the file is made, from the same clock"
        yield Finding("LRO-NAME-03", "/timestamp", message, expected, parts.created.isoformat(), hint)


def _agrees(parts: FileName, timestamp: str) -> bool:
    written = moment(timestamp)
    if written is None:
        return True  # told as a fault of the timestamp
    tolerance = ULID_TOLERANCE if written.tzinfo else _NAIVE_TOLERANCE
    return abs(utc(written) - parts.created) <= tolerance
