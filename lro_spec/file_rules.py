"""An offloaded file, line by line: one pass, however long it is."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import PurePath
from typing import Any, BinaryIO, cast

from lro_spec.editions import edition as edition_named
from lro_spec.findings import Finding, shown
from lro_spec.header_rules import MARKER, is_header, resembles_header, validate_header
from lro_spec.json_lines import BOM, RULE, Parsed, parsed, plain_object
from lro_spec.json_position import nearest_position
from lro_spec.name_rules import name_against_header, name_problem
from lro_spec.physical_lines import MAX_LINE_BYTES, PhysicalLine, physical_lines
from lro_spec.quick_record import plainly_sound
from lro_spec.record_rules import level, validate_line
from lro_spec.seen_ids import SeenIds

_BUFFER = 1024 * 1024


@dataclass(slots=True)
class _State:
    """What is known of the file so far."""

    edition: str
    header: dict[str, Any] | None = None
    header_line: PhysicalLine | None = None
    detail: str | None = None
    part: str = "any"
    """The part of the line schema that holds at this detail level."""
    records: int = 0
    carriage_return_told: bool = False
    ids: SeenIds = field(default_factory=SeenIds)


def validate_file(
    source: str | os.PathLike[str] | BinaryIO,
    *,
    name: str | None = None,
    edition: str = "lro-6400",
    max_line_bytes: int = MAX_LINE_BYTES,
) -> Iterator[Finding]:
    """What is wrong with an offloaded file, as it is read.

    *source* is a path or a binary stream; *name* is the file's name where it is not that of the path. Memory is bound
    by the longest line, at most *max_line_bytes*, and about ten bytes for each id. No content raises; a path that
    cannot be opened or read raises `OSError`, an unknown edition `ValueError`.
    """
    edition_named(edition)
    if isinstance(source, str | os.PathLike):
        with open(source, "rb", buffering=_BUFFER) as stream:
            yield from _validate(stream, name or PurePath(source).name, edition, max_line_bytes)
    else:
        yield from _validate(source, name, edition, max_line_bytes)


def _validate(stream: BinaryIO, name: str | None, edition: str, max_line_bytes: int) -> Iterator[Finding]:
    state = _State(edition)
    line = None
    for line in physical_lines(stream, max_line_bytes):
        if not _plain_record(line, state):
            yield from _line(line, state)
    if line is None:
        yield Finding("LRO-FILE-02", "", "the file is empty", "a header line", "0 bytes", line=1)
    if name is not None:
        problem = name_problem(name, edition=edition, severity="warning")
        if problem:
            yield replace(problem, hint="a file that was renamed may have any name; a server must not give it")
    if state.header is None or state.header_line is None:
        return
    found = _count(state.header, state.records)
    against_name = name_against_header(name, state.header, edition=edition) if name is not None else ()
    for finding in (*found, *against_name):
        yield placed(finding, state.header_line)


def _plain_record(line: PhysicalLine, state: _State) -> bool:
    """Takes in the common case, a record without fault, in a fraction of the time that `_line` needs."""
    if state.header is None or line.too_long or line.data[-1:] == b"\r":
        return False
    record = plain_object(line.data)
    if record is None or record.get("type") == MARKER or not plainly_sound(record, state.part):
        return False
    if not state.ids.add(record["id"]):
        return False
    state.records += 1
    return True


def _line(line: PhysicalLine, state: _State) -> Iterator[Finding]:
    if line.number == 1 and line.data.startswith(BOM):
        observed, hint = "bytes ef bb bf at offset 0", "write plain UTF-8"
        yield Finding(RULE, "", "the file starts with a byte order mark", "no byte order mark", observed, hint, 1, 1)
        line = line._replace(offset=3, data=line.data[3:], length=line.length - 3)
    if line.too_long:
        state.records += line.number > 1
        message, expected = "the line is too long to be judged", f"at most {len(line.data)} bytes"
        yield Finding(RULE, "", message, expected, f"{line.length} bytes", "", line.number, severity="warning")
        return
    if not line.data.strip():
        hint = "separate records by one line feed; end the file after the last"
        yield Finding(RULE, "", "the line is blank", "one JSON object", "no text", hint, line.number, 1)
        return
    if line.data.endswith(b"\r") and not state.carriage_return_told:
        state.carriage_return_told = True
        message, hint = "lines end in a carriage return and a line feed", "write the file in binary mode"
        yield Finding(RULE, "", message, "a line feed alone", "\\r\\n", hint, line.number, len(line.data), "warning")
    read = parsed(line)
    yield from read.findings
    if line.number == 1:
        yield from _first(line, read, state)
    elif read.readable and is_header(read.value):
        yield placed(_header_again(state), line)
    else:
        state.records += 1
        if read.readable:
            yield from _record(line, read.value, state)


def _first(line: PhysicalLine, read: Parsed, state: _State) -> Iterator[Finding]:
    value: object = read.value
    if resembles_header(value):
        state.header = header = cast("dict[str, Any]", value)
        state.header_line = line
        detail = header.get("detail")
        state.detail = detail if isinstance(detail, str) else None
        state.part = level(state.detail)
        for finding in validate_header(header, edition=state.edition):
            yield placed(finding, line)
    elif read.readable:
        message, expected = "the first line is not a header", 'an object with "type": "lro_header"'
        hint = "write the header before the records; recipes skip the first line, whatever it is"
        yield Finding("LRO-FILE-02", "", message, expected, shown(value), hint, 1, 1)
        if isinstance(value, dict):
            yield from _record(line, cast("object", value), state)


def _header_again(state: _State) -> Finding:
    if state.header is None:
        message, expected = "the header is not the first line", "the header on line 1"
    else:
        message, expected = "there is a second header", "one header, on line 1"
    return Finding("LRO-FILE-02", "/type", message, expected, "a header here")


def _record(line: PhysicalLine, value: object, state: _State) -> Iterator[Finding]:
    for finding in validate_line(value, state.detail):
        yield placed(finding, line)
    id = cast("dict[str, Any]", value).get("id") if isinstance(value, dict) else None
    if isinstance(id, str) and not state.ids.add(id):
        found = Finding("LRO-FILE-09", "/id", "a memory is in the file twice", "each memory once", shown(id))
        yield placed(found, line)


def _count(header: dict[str, Any], records: int) -> Iterator[Finding]:
    count = header.get("count")
    if isinstance(count, int | float) and not isinstance(count, bool) and count != records:
        expected = f"{records}, the number of record lines"
        hint = "count the records that are written; if the header is right, the file has lost its end"
        yield Finding("LRO-FILE-06", "/count", "count is off", expected, shown(count), hint)


def placed(finding: Finding, line: PhysicalLine) -> Finding:
    """A finding in a line's value, with the line and the column where that value, or what should hold it, stands."""
    text = line.data.decode("utf-8", "replace")
    return replace(finding, line=line.number, column=nearest_position(text, finding.pointer) + 1)
