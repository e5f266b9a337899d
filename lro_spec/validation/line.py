"""Finds the records among the lines of an offloaded file, and yields findings about each line.

Nearly always, all records of a block are valid. Such a block is validated at once by libraries written in C and Rust.
Any other block is validated line by line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import repeat
from operator import itemgetter, methodcaller
from typing import Any, cast

from lro_spec.display import pointer, show
from lro_spec.findings import MAX_LAZY_BYTES, Finding, Kind, Severity, excerpt
from lro_spec.jsonl.lines import Block, PhysicalLine
from lro_spec.jsonl.parse import BOM, RULE, Parsed, exact, parsed, plain_value, plain_values
from lro_spec.jsonl.strict import nearest_position
from lro_spec.schema.fast import joint_list_validator, record_list_validator
from lro_spec.validation.header import MARKER, header_problems, holds_memories, is_header, resembles_header
from lro_spec.validation.record import CORE_FIELDS, level, record_errors, record_finding, record_rule
from lro_spec.validation.state import FileState

record_id = itemgetter("id")
"""The id of a valid record."""

NO_REPEATS = "LRO-FILE-09"
"""The requirement that each memory is in a file only once."""

_ends_in_carriage_return = methodcaller("endswith", b"\r")
_HEADER_RULE = "LRO-FILE-02"
_OBJECT_START = re.compile(rb"(?<![:\s])\s*+\{")
"""The beginning of an object that is not the value of a field, so that it may be a record."""


def judge_part(part: Block | PhysicalLine, state: FileState) -> Iterator[Finding]:
    """Findings about the next lines of a file."""
    if isinstance(part, PhysicalLine):
        yield from judge_line(part, state)
        return
    if part.number == 1 and len(part.lines) > 1:  # the header decides how the other lines are validated
        header_line, part = part.first()
        yield from judge_line(header_line, state)
    values = plain_values(part.lines) if state.header is not None else None
    records_and_satisfied = plain_records(part, values, state) if values is not None else None
    if records_and_satisfied is None:
        for line, value in zip(part.physical(), values or repeat(None)):  # noqa: B905 - `repeat` is endless
            yield from judge_line(line, state, value)
        return
    records, satisfied = records_and_satisfied
    _note_fields(records, state, part)
    state.lines += len(records)
    state.records += len(records)
    for place in state.ids.add_all(list(map(record_id, records)), part.number) if state.memories else ():
        line = PhysicalLine(part.number + place, 0, part.lines[place], len(part.lines[place]), True)
        yield from _repeat_in_line(line, records[place], state)
    if state.reader is not None:
        yield from state.reader.take(records, part, satisfied)


def plain_records(block: Block, values: list[Any], state: FileState) -> tuple[list[dict[str, Any]], bool] | None:
    """Return the records of a block, and True if they are known to satisfy the reader's schema, too.

    *values* are the values of the block's lines. Returns None if any of them is not a valid record, or if a carriage
    return has to be reported.
    """
    satisfied = state.joint_validator is not None and state.joint_validator(values)
    if not satisfied and not _are_records(values, state):
        return None
    if block.returns and not state.carriage_return_reported and any(map(_ends_in_carriage_return, block.lines)):
        return None
    return cast("list[dict[str, Any]]", values), satisfied


def _are_records(values: list[Any], state: FileState) -> bool:
    """True if all values are valid records and none of them is a second header."""
    if state.record_validator is not None:
        return state.record_validator(values)
    return all(type(v) is dict and cast("dict[str, Any]", v).get("type") != MARKER for v in values)


def judge_line(line: PhysicalLine, state: FileState, value: Any = None) -> Iterator[Finding]:
    """Findings about the next line of a file. *value* is the value of the line if the line was parsed already."""
    state.lines += 1
    if value is None and not line.too_long:
        value = plain_value(line.data)
    record = _plain_record(line, value, state)
    if record is None:
        yield from _line(line, value, state)
    elif state.reader is not None:
        yield from state.reader.take([record], Block(line.number, line.offset, [line.data]), False)


def _plain_record(line: PhysicalLine, value: object, state: FileState) -> dict[str, Any] | None:
    """Return the object of a line, and count it, if it is a valid record with a new id. Otherwise return None, so that
    `_line` examines the line.

    This takes a fraction of the time that `_line` takes.
    """
    if state.header is None or type(value) is not dict or line.data[-1:] == b"\r":
        return None
    record = cast("dict[str, Any]", value)
    if not _are_records([record], state):
        return None
    if state.memories and not state.ids.add(record["id"], line.number):
        return None
    state.records += 1
    _note_fields([record], state, line)
    return record


def _line(line: PhysicalLine, value: Any, state: FileState) -> Iterator[Finding]:
    if line.number == 1 and line.data.startswith(BOM):
        observed, hint = "bytes ef bb bf at offset 0", "write plain UTF-8"
        yield Finding(
            RULE,
            Kind.BYTE_ORDER_MARK,
            "",
            "the file starts with a byte order mark",
            "no byte order mark",
            observed,
            hint,
            1,
            1,
        )
        line = line._replace(offset=3, data=line.data[3:], length=line.length - 3)
    if line.too_long:
        state.records += line.number > 1
        state.opaque = True
        # This is an error, but it breaks no requirement, because the content of the line is unknown.
        message, expected = "the line is too long to be validated", f"at most {len(line.data)} bytes"
        yield Finding("json", Kind.TOO_LARGE, "", message, expected, f"{line.length} bytes", "", line.number)
        return
    if not line.data.strip():
        hint = "separate records by one line feed, and end the file after the last one"
        yield Finding(
            RULE, Kind.BLANK_LINE, "", "the line is blank", "one JSON object", "no text", hint, line.number, 1
        )
        return
    if line.data.endswith(b"\r") and not state.carriage_return_reported:
        state.carriage_return_reported = True
        yield Finding(RULE, Kind.LINE_ENDING, "", *_wrong_end(line), line.number, len(line.data), "warning")
    read = parsed(line) if value is None else Parsed(exact(line.data, value))
    yield from read.findings
    if line.number == 1:
        yield from _first(line, read, state)
    elif read.readable and is_header(read.value):
        yield with_place(_later_header(state), line)
    else:
        state.records += 1
        if read.readable:
            yield from _record(line, read.value, state)
        is_record = read.readable and isinstance(read.value, dict)
        state.opaque |= not is_record
        if not is_record and (read.readable or not read.well_formed):
            state.uncertain_records += 1
            state.possible_extra_records += max(0, len(_OBJECT_START.findall(line.data)) - 1)


def _wrong_end(line: PhysicalLine) -> tuple[str, str, str, str]:
    """Message, expected, observed and hint for a line that ends in a carriage return."""
    if not line.terminated:
        hint = "end each line with a line feed; a carriage return alone does not end one"
        return "the line ends in a carriage return alone", "a line feed", "\\r", hint
    hint = "write the file in binary mode"
    return "lines end in a carriage return and a line feed", "a line feed alone", "\\r\\n", hint


def _first(line: PhysicalLine, read: Parsed, state: FileState) -> Iterator[Finding]:
    value: object = read.value
    if resembles_header(value):
        state.header = header = cast("dict[str, Any]", value)
        state.header_line = line
        detail = header.get("detail") if state.request is None else state.request.detail
        contradicted = state.request is None and state.stated_detail not in (None, detail)
        state.detail = detail if isinstance(detail, str) and not contradicted else None
        state.part = level(state.detail)
        state.memories = holds_memories(header)
        state.missing = set(CORE_FIELDS if state.memories and state.part == "full" else ())
        state.record_validator = record_list_validator(state.part) if state.memories else None
        if state.reader is not None and state.memories:
            state.joint_validator = joint_list_validator(state.part, state.reader.schema)
        for finding in header_problems(header, edition=state.edition, from_line=True, request=state.request):
            yield with_place(finding, line)
    elif read.readable:
        message, expected = "the first line is not a header", 'an object with "type": "lro_header"'
        hint = "write the header before the records; recipes always skip the first line"
        yield Finding(_HEADER_RULE, Kind.NO_HEADER, "", message, expected, show(value), hint, 1, 1)
        if isinstance(value, dict):
            yield from _record(line, cast("object", value), state)


def _later_header(state: FileState) -> Finding:
    if state.header is None:
        kind, message, expected = Kind.HEADER_TOO_LATE, "the header is not the first line", "the header on line 1"
    else:
        kind, message, expected = Kind.SECOND_HEADER, "there is a second header", "one header, on line 1"
    return Finding(_HEADER_RULE, kind, "/type", message, expected, "a header here")


def _record(line: PhysicalLine, value: object, state: FileState) -> Iterator[Finding]:
    errors = list(record_errors(value, state.detail)) if state.memories or not isinstance(value, dict) else []
    for error in errors:
        yield _in_line(line, record_rule(error), error.kind, "error", partial(record_finding, error))
    if not isinstance(value, dict):
        return
    record = cast("dict[str, Any]", value)
    _note_fields([record], state, line)
    id = record.get("id")
    if state.memories and isinstance(id, str | int) and not state.ids.add(id, line.number):
        yield from _repeat_in_line(line, record, state)
    if state.reader is not None:
        reported = [pointer(list(error.path)) for error in errors]
        yield from state.reader.take([record], Block(line.number, line.offset, [line.data]), False, reported)


def _repeat_in_line(line: PhysicalLine, record: dict[str, Any], state: FileState) -> Iterator[Finding]:
    first_line = state.ids.line_of(record["id"])
    earlier_place = "" if first_line is None else f", as in line {first_line}"
    yield with_place(repeated_record(f"{show(record['id'])}{earlier_place}"), line)


def repeated_record(observed: str, line: int | None = None) -> Finding:
    """Finding about a memory that is in a file a second time."""
    return Finding(
        NO_REPEATS,
        Kind.REPEATED_RECORD,
        "/id",
        "a memory is in the file twice",
        "each memory once",
        observed,
        line=line,
    )


def _note_fields(records: list[dict[str, Any]], state: FileState, part: Block | PhysicalLine) -> None:
    """Note the first record, and the fields of full detail that no record has had so far. *part* has the lines of the
    records."""
    if state.missing and state.first_record is None and records:
        state.first_record = (part if isinstance(part, PhysicalLine) else next(part.physical()), records[0])
    for record in records:
        if not state.missing:
            return
        state.missing.difference_update(record)


def with_place(finding: Finding, line: PhysicalLine) -> Finding:
    """The finding about a value in a line, with the position of that value, or of the object that should contain it."""
    return _in_line(line, finding.rule, finding.kind, finding.severity, lambda: finding)


def _in_line(line: PhysicalLine, rule: str, kind: Kind, severity: Severity, make: Callable[[], Finding]) -> Finding:
    """The finding that *make* returns, with its position in a line. It is lazy unless the line is long."""

    def compute() -> Finding:
        finding, text = make(), line.data.decode("utf-8", "replace")
        index = nearest_position(text, finding.pointer)
        return replace(finding, line=line.number, column=index + 1, excerpt=excerpt(text, index))

    if line.length > MAX_LAZY_BYTES:
        return compute()
    return Finding.lazy(rule, kind, line.number, severity, None, compute)
