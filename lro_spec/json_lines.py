"""One line of a file as a JSON value, or what is wrong with it and where.

orjson is the fast gate. What it refuses, and what may hold a key twice, goes the slow way for an exact answer; without
orjson everything does, at a tenth of the speed.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from lro_spec import strictjson
from lro_spec.findings import Finding, Severity, excerpt, shown
from lro_spec.physical_lines import PhysicalLine

if TYPE_CHECKING:
    import orjson
else:
    try:
        import orjson
    except ImportError:
        orjson = None

RULE = "LRO-FILE-01"
BOM = b"\xef\xbb\xbf"

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_AROUND = 30
_LONGEST_INT = 4000
_RENAME = "write to a temporary file and rename it once it is complete"


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


def plain_values(lines: list[bytes]) -> list[Any] | None:
    """The values of lines that are all strict JSON, by calls over all of them; None when one needs a closer look."""
    if orjson is None:
        return None
    try:
        values = list(map(orjson.loads, lines))
        again = list(map(orjson.dumps, values))
    except (ValueError, TypeError):
        return None
    if again != lines and not all(map(_same_keys, lines, again)):
        return None
    return values


def _quick(data: bytes) -> Any:
    """The value of a line that is surely strict JSON; None for null and for what needs a closer look."""
    if orjson is None:
        return None
    try:
        value = orjson.loads(data)
        again = orjson.dumps(value)
    except (ValueError, TypeError):  # no strict JSON; nested too deep to be written
        return None
    return value if _same_keys(data, again) else None


def _same_keys(data: bytes, again: bytes) -> bool:
    """Whether a line has no key twice, by what became of it when it was read and written.

    A key that is there twice is written back once, with fewer quotes. A quote that was escaped by number comes back as
    one, and could make up for it.
    """
    return data.count(b'"') == again.count(b'"') and not (b"\\" in data and b"u0022" in data)


def _parsed_slowly(line: PhysicalLine) -> Parsed:
    try:
        text = line.data.decode("utf-8")
    except UnicodeDecodeError as problem:
        return Parsed(readable=False, findings=(_bad_utf8(line, problem),))
    # The grammar first; strictjson knows the place of what else is wrong with a well-formed text.
    try:
        value = json.loads(text, parse_int=_int)
    except json.JSONDecodeError as problem:
        return _malformed(line, text, problem)
    except RecursionError:
        limit = f"at most {strictjson.DEEPEST} levels"
        finding = _finding(line, 1, "the line nests too deep to be read", limit, "more")
        return Parsed(readable=False, findings=(finding,))
    try:
        strictjson.loads(text)
    except strictjson.StrictJsonError as problem:
        return _disputed(line, text, value, problem)
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


def _malformed(line: PhysicalLine, text: str, problem: json.JSONDecodeError) -> Parsed:
    at_end = problem.pos >= len(text.rstrip()) or problem.msg.startswith("Unterminated")
    if at_end and not line.terminated:
        message, expected, hint = "the last line is cut off", "a complete JSON object", _RENAME
    else:
        message, expected, hint = f"the line is not JSON: {problem.msg}", "one JSON object", ""
    finding = _finding(line, problem.pos + 1, message, expected, _near(text, problem.pos), hint)
    return Parsed(readable=False, findings=(finding,))


def _disputed(line: PhysicalLine, text: str, value: object, problem: strictjson.StrictJsonError) -> Parsed:
    """Well-formed, or nearly, and yet two readers may take it differently."""
    near = _near(text, problem.offset)
    # A key that is there twice, or a bracket too many: there is a value, if not the same for everybody.
    if text[problem.offset] in '"[{':
        message = f"readers do not agree on this line: {problem.problem}"
        return Parsed(value, findings=(_finding(line, problem.column, message, "one meaning", near, "", "warning"),))
    message = f"the line holds what JSON has no word for: {problem.problem}"
    finding = _finding(line, problem.column, message, "numbers that a double can hold", near)
    return Parsed(readable=False, findings=(finding,))


def _near(text: str, at: int) -> str:
    return shown(text[max(0, at - _AROUND) : at + _AROUND])


def _int(digits: str) -> float:
    """Any integer: int() refuses very long ones."""
    return int(digits) if len(digits) <= _LONGEST_INT else float(digits)


def _bad_utf8(line: PhysicalLine, problem: UnicodeDecodeError) -> Finding:
    at = problem.start
    column = len(line.data[:at].decode("utf-8")) + 1
    if not line.terminated and problem.reason == "unexpected end of data":
        message, hint = "the last line is cut off within a character", _RENAME
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
    column = max(column, 1)
    shown_part = excerpt(line.data.decode("utf-8", "replace"), column - 1)
    return Finding(RULE, "", message, expected, observed, hint, line.number, column, severity, shown_part)
