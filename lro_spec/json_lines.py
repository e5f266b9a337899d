"""One line of a file as a JSON value, or what is wrong with it and where.

orjson is the fast gate. What it refuses, and what may hold a key twice, goes the slow way for an exact answer.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, cast

import orjson

from lro_spec import strictjson
from lro_spec.findings import Finding, Severity, shown
from lro_spec.physical_lines import PhysicalLine

RULE = "LRO-FILE-01"
BOM = b"\xef\xbb\xbf"

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_AROUND = 30


@dataclass(frozen=True, slots=True)
class Parsed:
    """What a line holds."""

    value: Any = None
    readable: bool = True
    """Whether there is a value at all; null is one."""
    findings: tuple[Finding, ...] = ()


def parsed(line: PhysicalLine) -> Parsed:
    """Reads a line as strict JSON."""
    value = _quick(line.data)
    return Parsed(value) if value is not None else _parsed_slowly(line)


def plain_object(data: bytes) -> dict[str, Any] | None:
    """The object of a line without fault, fast; None when it is something else or needs a closer look."""
    value = _quick(data)
    return cast("dict[str, Any]", value) if type(value) is dict else None


def _quick(data: bytes) -> Any:  # noqa: ANN401 - any JSON value
    """The value of a line that is surely strict JSON; None for null and for what needs a closer look."""
    try:
        value = orjson.loads(data)
        again = orjson.dumps(value)
    except (orjson.JSONDecodeError, orjson.JSONEncodeError):  # no strict JSON; nested too deep to be written
        return None
    # A key that is there twice is written back once, with fewer quotes. A quote that was escaped by number comes back
    # as one, and could make up for it.
    if data.count(b'"') != again.count(b'"') or (b"\\" in data and b"u0022" in data):
        return None
    return value


def _parsed_slowly(line: PhysicalLine) -> Parsed:
    try:
        text = line.data.decode("utf-8")
    except UnicodeDecodeError as problem:
        return Parsed(readable=False, findings=(_bad_utf8(line, problem),))
    try:
        value = strictjson.loads(text)
    except strictjson.StrictJsonError as problem:
        return _refused(line, text, problem)
    lone = _LONE_SURROGATE.search(json.dumps(value, ensure_ascii=False))
    if lone is None:
        return Parsed(value)
    column = text.lower().find(f"\\u{ord(lone.group()):04x}") + 1
    note = _finding(
        line,
        column,
        "a text holds half of a surrogate pair",
        "Unicode characters",
        f"\\u{ord(lone.group()):04x}",
        "readers replace it or refuse the line; cut texts between characters",
        "warning",
    )
    return Parsed(value, findings=(note,))


def _refused(line: PhysicalLine, text: str, problem: strictjson.StrictJsonError) -> Parsed:
    near = shown(text[max(0, problem.offset - _AROUND) : problem.offset + _AROUND])
    cut_off = not line.terminated and (problem.offset >= len(text.rstrip()) or problem.problem.startswith("Untermin"))
    if cut_off:
        hint = "write to a temporary file and rename it once it is complete"
        return Parsed(
            readable=False,
            findings=(
                _finding(line, problem.column, "the last line is cut off", "a complete JSON object", near, hint),
            ),
        )
    value = _lenient(text)
    if value is None:
        said = f"the line cannot be read: {problem.problem}"
        return Parsed(readable=False, findings=(_finding(line, problem.column, said, "one JSON object", near),))
    # Well-formed, and yet two readers may take it differently.
    said = f"readers do not agree on this line: {problem.problem}"
    severity: Severity = "warning"
    return Parsed(value, findings=(_finding(line, problem.column, said, "one meaning", near, severity=severity),))


def _lenient(text: str) -> object:
    """The value of a line that is well-formed with a key twice; None for everything else."""
    try:
        return json.loads(text, parse_constant=_refuse, parse_float=_finite)
    except (ValueError, RecursionError):
        return None


def _refuse(word: str) -> float:
    raise ValueError(word)


def _finite(digits: str) -> float:
    value = float(digits)
    if value in (float("inf"), float("-inf")):
        raise ValueError(digits)
    return value


def _bad_utf8(line: PhysicalLine, problem: UnicodeDecodeError) -> Finding:
    at = problem.start
    column = len(line.data[:at].decode("utf-8")) + 1
    if not line.terminated and problem.reason == "unexpected end of data":
        message, hint = "the last line is cut off within a character", "write to a temporary file and rename it"
    else:
        message, hint = "the line is not UTF-8", "encode the file as UTF-8, without a byte order mark"
    observed = f"byte 0x{line.data[at]:02x} at offset {line.offset + at} of the file ({problem.reason})"
    return _finding(line, column, message, "UTF-8", observed, hint)


def _finding(
    line: PhysicalLine,
    column: int,
    message: str,
    expected: str,
    observed: str,
    hint: str = "",
    severity: Severity = "error",
) -> Finding:
    return Finding(RULE, "", message, expected, observed, hint, line.number, max(column, 1), severity)
