"""One line of a file as a JSON value, or the findings about it.

Most lines are valid, so orjson reads them first, a whole block at once. This takes a third of the time that
`strict.read` takes, and two thirds of the time that orjson takes to read the lines one by one. If orjson refuses a
line, or if the line may have a repeated key, it is read by `parsed`, which calls `strict.read`; all findings come from
there.
"""

from __future__ import annotations

import codecs
import json
import os
from dataclasses import dataclass
from typing import Any, cast

import orjson

from lro_spec.display import show
from lro_spec.findings import Finding, Kind, Severity, excerpt
from lro_spec.jsonl import strict
from lro_spec.jsonl.lines import PhysicalLine
from lro_spec.jsonl.strict import StrictJsonError

RULE = "LRO-FILE-01"
"""The requirement that is violated by a line that is not strict JSON."""
BOM = b"\xef\xbb\xbf"

_SECRET = int.from_bytes(os.urandom(6), "big")
_SEPARATOR = b",%d," % _SECRET
_DIGITS = bytes.maketrans(b"123456789", b"0" * 9)
_LONG_INTEGER = b"0" * 19
"""This run of digits occurs in a text whose digits were all replaced by 0 if an integer in it may be beyond 64 bits."""
_QUOTED_EACH_SIDE = 30
"""Number of characters on each side of a problem that a finding quotes."""
_LONG_LINE_BYTES = 1 << 18
"""If a line has more bytes than this, and fewer opening brackets than `_SHALLOW_BRACKETS`, its quotes are counted by
`_quotes`. The quotes in any other line are counted by serializing its value. `_same_keys` says why they are counted."""
_SHALLOW_BRACKETS = (
    250  # a value with fewer opening brackets cannot be nested deeper than orjson can serialize (254 levels)
)
_RENAME = "write to a temporary file and rename it once it is complete"


@dataclass(frozen=True, slots=True)
class Parsed:
    """The result of reading a line."""

    value: Any = None
    readable: bool = True
    """True if the line has a value. The JSON value null counts as a value."""
    findings: tuple[Finding, ...] = ()
    well_formed: bool = True
    """False if the line is not well-formed JSON; it may then hold several records. True for a line that is not UTF-8 or
    is nested too deeply; such a line counts as one record."""


def plain_values(lines: list[bytes]) -> list[Any] | None:
    """Return the values of the lines, which are read as one text. If any line has to be read by `parsed`, return None.

    In that text, a random number separates the lines. If the text is an array in which every second element is that
    number, each line is the text of exactly one value.
    """
    if len(lines) == 1:  # a long line comes alone, and `plain_value` needs less memory for it
        value = plain_value(lines[0])
        return None if value is None else [value]
    text = b"%b]" % _SEPARATOR.join([b"[0", *lines])
    try:
        read: list[Any] = orjson.loads(text)
        again = orjson.dumps(read)
    except (ValueError, TypeError):
        return None
    if len(read) != 2 * len(lines) + 1 or read[1::2] != [_SECRET] * len(lines):
        return None
    return read[2::2] if again == text or _same_keys(text, again.count(b'"')) else None


def plain_value(data: bytes) -> Any:
    """Return the value of a line that is certainly strict JSON. Returns None for null, and if `parsed` has to read the
    line."""
    try:
        value = orjson.loads(data)
        # A long line is not serialized, because its content would then be in memory three times.
        flat = len(data) > _LONG_LINE_BYTES and data.count(b"[") + data.count(b"{") < _SHALLOW_BRACKETS
        quotes = _quotes(value) if flat else orjson.dumps(value).count(b'"')
    except (ValueError, TypeError):  # not strict JSON; nested too deep to be serialized
        return None
    return value if _same_keys(data, quotes) else None


def read_leniently(text: str) -> Any:
    """The value of a text as `json.loads` reads it, with the same exceptions.

    orjson is tried first, because it takes a third of the time.
    """
    try:
        data = text.encode()
        if _LONG_INTEGER not in data.translate(_DIGITS):  # orjson reads integers beyond 64 bits as doubles
            return orjson.loads(data)
    except ValueError:  # a lone surrogate, NaN, or invalid JSON
        pass
    return json.loads(text)


def exact(data: bytes, value: Any) -> Any:
    """Return the value of a line with all digits of its integers. *value* is the value that orjson has read.

    orjson reads integers beyond 64 bits as doubles, so a line with such an integer is read a second time. This takes
    time, so callers use the function only where the digits matter: for values that are quoted in findings, and for
    schemas that may treat an integer beyond 64 bits and the nearest double differently.
    """
    if _LONG_INTEGER not in data.translate(_DIGITS):
        return value
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return value


def _same_keys(data: bytes, quotes: int) -> bool:
    """True if a text certainly has no repeated key; *quotes* is the number of quotes in its serialized value.

    A repeated key is serialized once, with fewer quotes. A quote that is written as ``\u0022`` is serialized as ``\"``,
    with one quote more, which could make up for the missing quotes.
    """
    return data.count(b'"') == quotes and not (b"\\" in data and b"u0022" in data)


def _quotes(value: object) -> int:
    """The number of quotes in a serialized value."""
    count, pending = 0, [value]
    while pending:
        part = pending.pop()
        if isinstance(part, str):
            count += 2 + part.count('"')
        elif isinstance(part, dict):
            members = cast("dict[str, object]", part)
            pending += (*members, *members.values())
        elif isinstance(part, list):
            pending += cast("list[object]", part)
    return count


def parsed(line: PhysicalLine) -> Parsed:
    """Read a line as strict JSON. Meant for lines for which `plain_value` returns None, because it takes longer."""
    try:
        text = line.data.decode("utf-8")
    except UnicodeDecodeError as problem:
        return Parsed(readable=False, findings=(_bad_utf8(line, problem),))
    try:
        reading = strict.read(text)
    except StrictJsonError as problem:
        if problem.kind is Kind.TOO_DEEP:
            limit, message = f"at most {strict.MAX_LEVELS} levels", "the line is nested too deeply to be read"
            finding = _finding(line, problem.kind, problem.column, message, limit, "more")
            return Parsed(readable=False, findings=(finding,))
        return Parsed(readable=False, findings=(_malformed(line, text, problem),), well_formed=False)
    findings = tuple(_finding_of(line, text, problem) for problem in reading.problems)
    if any(problem.kind is Kind.BAD_NUMBER for problem in reading.problems):
        return Parsed(readable=False, findings=findings)
    return Parsed(reading.value, findings=findings)


def _malformed(line: PhysicalLine, text: str, problem: StrictJsonError) -> Finding:
    kind = problem.kind
    reason = "a byte order mark" if kind is Kind.BYTE_ORDER_MARK else problem.problem
    message = f"the line is not JSON: {reason}"
    expected, hint = "one JSON object", ""
    if not line.terminated and strict.is_cut_off(text, problem.offset):
        kind, message, expected, hint = Kind.CUT_OFF, "the last line is truncated", "a complete JSON object", _RENAME
    elif text[: problem.offset].endswith("\r"):
        hint = "end each line with a line feed, not a carriage return"
    return _finding(line, kind, problem.column, message, expected, _near(text, problem.offset), hint)


def _finding_of(line: PhysicalLine, text: str, problem: StrictJsonError) -> Finding:
    """The finding about a line that only lenient readers accept."""
    index, near = problem.offset, _near(text, problem.offset)
    match problem.kind:
        case Kind.BAD_NUMBER:
            message = f"the line has a value that JSON cannot express: {problem.problem}"
            return _finding(line, problem.kind, problem.column, message, "numbers within the range of a double", near)
        case Kind.LONE_SURROGATE:
            message, expected, near = (
                f"a string has {problem.problem}",
                "Unicode characters",
                text[index : index + 6].lower(),
            )
            hint = "readers replace it or reject the line; cut strings between characters only"
        case _:  # the line has a value, but not the same one for every reader
            message, expected, hint = f"readers do not agree on this line: {problem.problem}", "one meaning", ""
    return _finding(line, problem.kind, problem.column, message, expected, near, hint, "warning")


def _near(text: str, index: int) -> str:
    return show(text[max(0, index - _QUOTED_EACH_SIDE) : index + _QUOTED_EACH_SIDE])


def _bad_utf8(line: PhysicalLine, problem: UnicodeDecodeError) -> Finding:
    index = problem.start
    column = len(line.data[:index].decode("utf-8")) + 1
    if not line.terminated and problem.reason == "unexpected end of data":
        kind, message, hint = Kind.CUT_OFF, "the last line is truncated within a character", _RENAME
    else:
        is_utf16 = line.offset == 0 and line.data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
        kind, message = Kind.NOT_UTF8, "the file is UTF-16" if is_utf16 else "the line is not UTF-8"
        hint = "encode the file as UTF-8, without a byte order mark"
    observed = f"byte 0x{line.data[index]:02x} at offset {line.offset + index} of the file ({problem.reason})"
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
