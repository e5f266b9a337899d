"""One line of a file as a JSON value, or what is wrong with it and where.

orjson is the fast gate. What it refuses, and what may hold a key twice, goes the slow way for an exact answer.
"""

from __future__ import annotations

import codecs
import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

import orjson

from lro_spec.display import shown
from lro_spec.findings import Finding, Kind, Severity, excerpt
from lro_spec.jsonl import strict
from lro_spec.jsonl.lines import PhysicalLine

RULE = "LRO-FILE-01"
BOM = b"\xef\xbb\xbf"

_SECRET = int.from_bytes(os.urandom(6), "big")
_APART = b",%d," % _SECRET
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|.)")
_DIGITS = bytes.maketrans(b"123456789", b"0" * 9)
_LONG_INTEGER = b"0" * 19
_AROUND = 30
_LONG = 1 << 18
_SHALLOW = 250  # what nests deeper cannot be written
_RENAME = "write to a temporary file and rename it once it is complete"


@dataclass(frozen=True, slots=True)
class Parsed:
    """What a line holds."""

    value: Any = None
    readable: bool = True
    """Whether there is a value at all; null is one."""
    findings: tuple[Finding, ...] = ()
    whole: bool = True
    """Whether it is the text of one value, if perhaps an unreadable one."""


def plain_values(lines: list[bytes]) -> list[Any] | None:
    """The values of lines that are all strict JSON, read as one text; None when one needs a closer look.

    Between the lines stands a number that nobody can guess: where there is one value before it and one behind it, each
    line is the text of one value.
    """
    if len(lines) == 1:  # it may be long
        value = plain_value(lines[0])
        return None if value is None else [value]
    text = b"%b]" % _APART.join([b"[0", *lines])
    try:
        read: list[Any] = orjson.loads(text)
        again = orjson.dumps(read)
    except (ValueError, TypeError):
        return None
    if len(read) != 2 * len(lines) + 1 or read[1::2] != [_SECRET] * len(lines):
        return None
    return read[2::2] if again == text or _same_keys(text, again.count(b'"')) else None


def plain_value(data: bytes) -> Any:
    """The value of a line that is surely strict JSON; None for null and for what needs a closer look."""
    try:
        value = orjson.loads(data)
        # What is long is not written once more: it would be in memory three times.
        flat = len(data) > _LONG and data.count(b"[") + data.count(b"{") < _SHALLOW
        quotes = _quotes(value) if flat else orjson.dumps(value).count(b'"')
    except (ValueError, TypeError):  # no strict JSON; nested too deep to be written
        return None
    return value if _same_keys(data, quotes) else None


def exact(data: bytes, value: Any) -> Any:
    """The value of a line with every digit of its integers: orjson takes those beyond 64 bits for doubles.

    Only for what is to be accused or quoted, so that sound lines are read once.
    """
    if _LONG_INTEGER not in data.translate(_DIGITS):
        return value
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return value


def _same_keys(data: bytes, quotes: int) -> bool:
    """Whether a text has no key twice, by how many quotes are left of it when it is read and written.

    A key that is there twice is written back once, with fewer quotes. A quote that was escaped by number comes back as
    one, and could make up for it.
    """
    return data.count(b'"') == quotes and not (b"\\" in data and b"u0022" in data)


def _quotes(value: object) -> int:
    """How many quotes a value has when it is written."""
    count, left = 0, [value]
    while left:
        part = left.pop()
        if isinstance(part, str):
            count += 2 + part.count('"')
        elif isinstance(part, dict):
            members = cast("dict[str, object]", part)
            left += (*members, *members.values())
        elif isinstance(part, list):
            left += cast("list[object]", part)
    return count


def parsed(line: PhysicalLine) -> Parsed:
    """Reads a line as strict JSON, where `plain_value` has no answer."""
    try:
        text = line.data.decode("utf-8")
    except UnicodeDecodeError as problem:
        return _unreadable(_bad_utf8(line, problem))
    try:
        read = strict.read(text)
    except json.JSONDecodeError as problem:
        return _unreadable(_malformed(line, text, problem), whole=False)
    except RecursionError:
        return _unreadable(_too_deep(line))
    disputed = () if read.undisputed else _disputed(line, text)
    if not read.fits:
        return Parsed(readable=False, findings=(*disputed, _no_number(line, text)))
    return Parsed(read.value, findings=(*disputed, *_halved(line, text)))


def _unreadable(finding: Finding, *, whole: bool = True) -> Parsed:
    return Parsed(readable=False, findings=(finding,), whole=whole)


def _malformed(line: PhysicalLine, text: str, problem: json.JSONDecodeError) -> Finding:
    if not line.terminated and strict.breaks_off(text, problem.pos):
        kind, message, expected, hint = Kind.CUT_OFF, "the last line is cut off", "a complete JSON object", _RENAME
    else:
        marked = text.startswith("\ufeff")
        kind = Kind.BYTE_ORDER_MARK if marked else Kind.NOT_JSON
        message = f"the line is not JSON: {'a byte order mark' if marked else problem.msg}"
        expected, hint = "one JSON object", ""
        if text[: problem.pos].endswith("\r"):
            hint = "end each line with a line feed; a carriage return ends none"
    return _finding(line, kind, problem.pos + 1, message, expected, _near(text, problem.pos), hint)


def _too_deep(line: PhysicalLine) -> Finding:
    limit = f"at most {strict.DEEPEST} levels"
    return _finding(line, Kind.TOO_DEEP, 1, "the line nests too deep to be read", limit, "more")


def _no_number(line: PhysicalLine, text: str) -> Finding:
    problem = strict.no_number(text) or strict.StrictJsonError("a number that does not fit", text, 0)
    message = f"the line holds what JSON has no word for: {problem.problem}"
    return _finding(
        line, Kind.BAD_NUMBER, problem.column, message, "numbers that a double can hold", _near(text, problem.offset)
    )


def _disputed(line: PhysicalLine, text: str) -> Iterator[Finding]:
    """A key that is there twice, or a bracket too many: there is a value, if not the same for everybody."""
    problem = strict.dispute(text)
    if problem is not None:
        near, message = _near(text, problem.offset), f"readers do not agree on this line: {problem.problem}"
        yield _finding(line, problem.kind, problem.column, message, "one meaning", near, "", "warning")


def _halved(line: PhysicalLine, text: str) -> Iterator[Finding]:
    at = _half(text) if "\\u" in text else None
    if at is not None:
        message, hint = (
            "a text holds half of a surrogate pair",
            "readers replace it or refuse the line; cut texts between characters",
        )
        yield _finding(
            line, Kind.LONE_SURROGATE, at + 1, message, "Unicode characters", text[at : at + 6].lower(), hint, "warning"
        )


def _half(text: str) -> int | None:
    """Where the first half of a surrogate pair stands without the other one, in a well-formed text."""
    high: int | None = None
    for escape in _ESCAPE.finditer(text):
        code = int(escape[1] or "0", 16)
        if high is not None:
            if escape.start() != high + 6 or not 0xDC00 <= code <= 0xDFFF:
                return high
            high = None
        elif 0xDC00 <= code <= 0xDFFF:
            return escape.start()
        elif 0xD800 <= code <= 0xDBFF:
            high = escape.start()
    return high


def _near(text: str, at: int) -> str:
    return shown(text[max(0, at - _AROUND) : at + _AROUND])


def _bad_utf8(line: PhysicalLine, problem: UnicodeDecodeError) -> Finding:
    at = problem.start
    column = len(line.data[:at].decode("utf-8")) + 1
    if not line.terminated and problem.reason == "unexpected end of data":
        kind, message, hint = Kind.CUT_OFF, "the last line is cut off within a character", _RENAME
    else:
        wide = line.offset == 0 and line.data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
        kind, message = Kind.NOT_UTF8, "the file is UTF-16" if wide else "the line is not UTF-8"
        hint = "encode the file as UTF-8, without a byte order mark"
    observed = f"byte 0x{line.data[at]:02x} at offset {line.offset + at} of the file ({problem.reason})"
    return _finding(line, kind, column, message, "UTF-8", observed, hint)


def _finding(
    line: PhysicalLine,
    kind: Kind,
    column: int,
    message: str,
    expected: str,
    observed: str,
    hint: str = "",
    severity: Severity = "error",
) -> Finding:
    column = max(column, 1)
    shown_part = excerpt(line.data.decode("utf-8", "replace"), column - 1)
    return Finding(RULE, kind, "", message, expected, observed, hint, line.number, column, severity, shown_part)
