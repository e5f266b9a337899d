"""An offloaded file, line by line: one pass, however long it is.

Sound records, all but a few of any file, are judged a block at a time by libraries written in C and Rust; a block with
anything else in it is gone through line by line.
"""

from __future__ import annotations

import os
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from operator import itemgetter, methodcaller
from pathlib import PurePath
from typing import Any, Protocol, cast

from lro_spec.editions import DEFAULT_EDITION
from lro_spec.editions import edition as edition_named
from lro_spec.findings import Finding, excerpt, shown
from lro_spec.header_rules import MARKER, holds_memories, is_header, resembles_header, validate_header
from lro_spec.json_lines import BOM, RULE, Parsed, parsed, plain_object, plain_values
from lro_spec.json_position import nearest_position
from lro_spec.name_rules import name_against_header, name_problem
from lro_spec.physical_lines import MAX_LINE_BYTES, Block, PhysicalLine, Readable, blocks
from lro_spec.quick_record import plainly_sound
from lro_spec.record_rules import CORE, level, validate_line
from lro_spec.schema_gate import Gate, joint_gate, record_gate
from lro_spec.second_reader import Beside, Range, SecondReader, Sound, stretches
from lro_spec.seen_ids import SeenIds
from lro_spec.streams import DamagedError, plain_name, unpacked
from lro_spec.summary_rules import Facts

_ID = itemgetter("id")
_OTHERS_NAMED_BY = "lro-paper"  # the one text that does not list the operations
_CARRIAGE_RETURN = methodcaller("endswith", b"\r")


class RecordReader(Protocol):
    """Takes in the records of a file while it is validated, and may have something to say about them."""

    schema: object
    """What it holds every record against; None for nothing."""
    facts: Facts
    """What it gathers of all records."""

    @property
    def ready(self) -> bool:
        """Whether it needs no more than `facts` of the records that follow, where all satisfy `schema`."""
        ...

    def take(self, records: list[dict[str, Any]], block: Block, fit: bool) -> Iterator[Finding]:
        """The objects of consecutive record lines, in the order of the file; *fit* where all satisfy `schema`."""
        ...

    def join(self, facts: Facts, records: int) -> None:
        """The facts of so many records that all satisfy `schema`, and were not given to `take`."""
        ...


@dataclass(slots=True)
class FileState:
    """What is known of a file so far, and at its end."""

    edition: str
    reader: RecordReader | None = None
    header: dict[str, Any] | None = None
    header_line: PhysicalLine | None = None
    lines: int = 0
    """How many lines there are, the header's among them."""
    records: int = 0
    """How many of them count as records."""
    detail: str | None = None
    memories: bool = True
    """Whether the records are memories; others only have to be objects."""
    part: str = "any"
    """The part of the line schema that holds at this detail level."""
    carriage_return_told: bool = False
    missing: set[str] = field(default_factory=set[str])
    """Of the fields that full detail has, those that no record had yet (I-04)."""
    objects: bool = False
    """Whether one of the records was an object, as far as fields were looked for."""
    ids: SeenIds = field(default_factory=SeenIds)
    gate: Gate | None = None
    """Lets through what is surely a record of this part, where there is such a thing."""
    joint: Gate | None = None
    """The same for what satisfies the reader's schema too, where one look can tell both."""


def validate_file(
    source: str | os.PathLike[str] | Readable,
    *,
    name: str | None = None,
    edition: str = "lro-6400",
    max_line_bytes: int = MAX_LINE_BYTES,
) -> Iterator[Finding]:
    """What is wrong with an offloaded file, as it is read; what only its end can tell (count, name) comes last.

    *source* is a path or a binary stream, also one of gzip or zstd; *name* is the file's name where it is not that of
    the path. Memory is bound by the longest line, at most *max_line_bytes*, and about twenty megabytes for ids, however
    many there are. No content raises; a path that cannot be opened or read raises `OSError`, an unknown edition
    `ValueError`.
    """
    edition_named(edition)
    if isinstance(source, str | os.PathLike):
        with open(source, "rb", buffering=0) as stream:
            called = name or plain_name(PurePath(source).name)
            yield from judge_file(unpacked(cast("Readable", stream)), FileState(edition), called, max_line_bytes)
    else:
        yield from judge_file(unpacked(source), FileState(edition), name, max_line_bytes)


def judge_file(
    stream: Readable,
    state: FileState,
    name: str | None = None,
    max_line_bytes: int = MAX_LINE_BYTES,
    beside: Beside | None = None,
) -> Iterator[Finding]:
    """The same for bytes that are unpacked already; *state* tells afterwards what was read.

    With *beside* a second process is forked for a long file; findings are the same.
    """
    found = _judged(stream, state, name, max_line_bytes, beside)
    if state.edition == DEFAULT_EDITION:
        return found
    from lro_spec.edition_findings import as_held

    return as_held(found, edition_named(state.edition))


def _judged(
    stream: Readable, state: FileState, name: str | None, max_line_bytes: int, beside: Beside | None
) -> Iterator[Finding]:
    try:
        if beside is not None and beside.is_worth_it():
            yield from _by_two(state, max_line_bytes, beside)
        else:
            for part in blocks(stream, max_line_bytes):
                yield from _part(part, state)
    except DamagedError as problem:
        number, hint = state.lines + 1, "nothing after this place was judged"
        message = "the compressed data ends or breaks off here"
        yield Finding(RULE, "", message, "a whole compressed file", str(problem), hint, number)
        whole = False
    else:
        whole = True
        if not state.lines:
            yield Finding("LRO-FILE-02", "", "the file is empty", "a header line", "0 bytes", line=1)
    for number in state.ids.late():
        yield _twice(f"the id of line {number}, once more", number)
    named_by = state.edition if state.memories else _OTHERS_NAMED_BY
    if name is not None:
        problem = name_problem(name, edition=named_by, severity="warning")
        if problem:
            yield replace(problem, hint="a file that was renamed may have any name; a server must not give it")
    if state.header is None or state.header_line is None:
        return
    # Where it breaks off, nobody knows how many more there were, and with what.
    found = (*_count(state.header, state.records), *_core(state)) if whole else ()
    against_name = name_against_header(name, state.header, edition=named_by) if name is not None else ()
    for finding in (*found, *against_name):
        yield placed(finding, state.header_line)


def _by_two(state: FileState, max_line_bytes: int, beside: Beside) -> Iterator[Finding]:
    with SecondReader(lambda: _told(state, max_line_bytes, beside.fd)) as second:
        for stretch in stretches(beside.fd):
            sound = second.next() if stretch.second else None
            if sound is None or not _joined(sound, state):
                for part in blocks(Range(beside.fd, stretch), max_line_bytes, state.lines + 1, stretch.start):
                    yield from _part(part, state)
            beside.passed(stretch.size)


def _joined(sound: Sound, state: FileState) -> bool:
    """Takes in what the second process tells of a stretch; False where that has to be read here, too."""
    reader, lines = state.reader, len(sound.ids)
    ready = not state.missing and (reader is None or reader.ready)
    if not ready or not state.ids.add_hashes(sound.ids, state.lines + 1):
        return False
    state.lines += lines
    state.records += lines
    if reader is not None:
        reader.join(sound.facts, lines)
    return True


def _told(state: FileState, max_line_bytes: int, fd: int) -> Iterator[Sound | None]:
    """In the second process, with a state as it is before the first line: what is told of its stretches."""
    for stretch in stretches(fd):
        parts = blocks(Range(fd, stretch), max_line_bytes)
        if stretch.second:
            yield _look(parts, state)
        elif stretch.start == 0:
            first = next(parts)
            list(_single(next(first.physical()) if isinstance(first, Block) else first, state))
            # Without these, there is no telling what is sound by a look at the records alone.
            if state.gate is None or (state.reader is not None and state.reader.schema is not None and not state.joint):
                return


def _look(parts: Iterator[Block | PhysicalLine], state: FileState) -> Sound | None:
    reader = state.reader
    sound = Sound(array("q"), Facts(scored=reader is not None and reader.facts.scored))
    for part in parts:
        plain = _plain_records(part, state) if isinstance(part, Block) else None
        if plain is None or (reader is not None and reader.schema is not None and not plain[1]):
            return None
        sound.ids.extend(map(hash, map(_ID, plain[0])))
        if reader is not None:
            sound.facts.take(plain[0], cast("Block", part))
    return sound


def _part(part: Block | PhysicalLine, state: FileState) -> Iterator[Finding]:
    return _block(part, state) if isinstance(part, Block) else _single(part, state)


def _block(block: Block, state: FileState) -> Iterator[Finding]:
    plain = _plain_records(block, state)
    if plain is None:
        for line in block.physical():
            yield from _single(line, state)
        return
    records, fit = plain
    _seen(records, state)
    state.lines += len(records)
    state.records += len(records)
    for place in state.ids.add_all(list(map(_ID, records)), block.number) if state.memories else ():
        line = PhysicalLine(block.number + place, 0, block.lines[place], len(block.lines[place]), True)
        yield placed(_twice(shown(records[place]["id"])), line)
    if state.reader is not None:
        yield from state.reader.take(records, block, fit)


def _plain_records(block: Block, state: FileState) -> tuple[list[dict[str, Any]], bool] | None:
    """The objects of lines that are all records without fault, by whole-block calls; None when one needs a look.

    Beside them, whether they were seen to satisfy the reader's schema too.
    """
    if state.header is None:
        return None
    values = plain_values(block.lines)
    if values is None:
        return None
    fit = state.joint is not None and all(map(state.joint, values))
    if not fit and not _sound(values, state):
        return None
    records = cast("list[dict[str, Any]]", values)
    if block.returns and not state.carriage_return_told and any(map(_CARRIAGE_RETURN, block.lines)):
        return None
    return records, fit


def _sound(values: list[Any], state: FileState) -> bool:
    if state.gate is not None:
        return all(map(state.gate, values))
    return all(type(v) is dict and _plainly_a_record(cast("dict[str, Any]", v), state) for v in values)


def _plainly_a_record(value: dict[str, Any], state: FileState) -> bool:
    return value.get("type") != MARKER and (not state.memories or plainly_sound(value, state.part))


def _single(line: PhysicalLine, state: FileState) -> Iterator[Finding]:
    state.lines += 1
    record = _plain_record(line, state)
    if record is None:
        yield from _line(line, state)
    elif state.reader is not None:
        yield from state.reader.take([record], Block(line.number, line.offset, [line.data]), False)


def _plain_record(line: PhysicalLine, state: FileState) -> dict[str, Any] | None:
    """The object of a line that is a record without fault; takes a fraction of the time that `_line` needs."""
    if state.header is None or line.too_long or line.data[-1:] == b"\r":
        return None
    record = plain_object(line.data)
    if record is None or not _plainly_a_record(record, state):
        return None
    if state.memories and not state.ids.add(record["id"], line.number):
        return None
    state.records += 1
    _seen([record], state)
    return record


def _line(line: PhysicalLine, state: FileState) -> Iterator[Finding]:
    if line.number == 1 and line.data.startswith(BOM):
        observed, hint = "bytes ef bb bf at offset 0", "write plain UTF-8"
        yield Finding(RULE, "", "the file starts with a byte order mark", "no byte order mark", observed, hint, 1, 1)
        line = line._replace(offset=3, data=line.data[3:], length=line.length - 3)
    if line.too_long:
        state.records += line.number > 1
        # An error, for nobody knows what is in it; and of no requirement's, for the same reason.
        message, expected = "the line is too long to be judged", f"at most {len(line.data)} bytes"
        yield Finding("json", "", message, expected, f"{line.length} bytes", "", line.number)
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


def _first(line: PhysicalLine, read: Parsed, state: FileState) -> Iterator[Finding]:
    value: object = read.value
    if resembles_header(value):
        state.header = header = cast("dict[str, Any]", value)
        state.header_line = line
        detail = header.get("detail")
        state.detail = detail if isinstance(detail, str) else None
        state.part = level(state.detail)
        state.memories = holds_memories(header)
        state.missing = set(CORE if state.memories and state.part == "full" else ())
        state.gate = record_gate(state.part) if state.memories else None
        if state.reader is not None and state.memories:
            state.joint = joint_gate(state.part, state.reader.schema)
        for finding in validate_header(header, edition=state.edition):
            yield placed(finding, line)
    elif read.readable:
        message, expected = "the first line is not a header", 'an object with "type": "lro_header"'
        hint = "write the header before the records; recipes skip the first line, whatever it is"
        yield Finding("LRO-FILE-02", "", message, expected, shown(value), hint, 1, 1)
        if isinstance(value, dict):
            yield from _record(line, cast("object", value), state)


def _header_again(state: FileState) -> Finding:
    if state.header is None:
        message, expected = "the header is not the first line", "the header on line 1"
    else:
        message, expected = "there is a second header", "one header, on line 1"
    return Finding("LRO-FILE-02", "/type", message, expected, "a header here")


def _record(line: PhysicalLine, value: object, state: FileState) -> Iterator[Finding]:
    if state.memories or not isinstance(value, dict):
        for finding in validate_line(value, state.detail):
            yield placed(finding, line)
    if not isinstance(value, dict):
        return
    record = cast("dict[str, Any]", value)
    _seen([record], state)
    id = record.get("id")
    if state.memories and isinstance(id, str) and not state.ids.add(id, line.number):
        yield placed(_twice(shown(id)), line)
    if state.reader is not None:
        yield from state.reader.take([record], Block(line.number, line.offset, [line.data]), False)


def _twice(observed: str, line: int | None = None) -> Finding:
    return Finding("LRO-FILE-09", "/id", "a memory is in the file twice", "each memory once", observed, line=line)


def _count(header: dict[str, Any], records: int) -> Iterator[Finding]:
    count = header.get("count")
    if isinstance(count, int | float) and not isinstance(count, bool) and count != records:
        expected = f"{records}, the number of record lines"
        hint = "count the records that are written; if the header is right, the file has lost its end"
        yield Finding("LRO-FILE-06", "/count", "count is off", expected, shown(count), hint)


def _seen(records: list[dict[str, Any]], state: FileState) -> None:
    """Takes note of the fields that records have, as long as one of those of full detail was in none."""
    for record in records:
        if not state.missing:
            return
        state.objects = True
        state.missing.difference_update(record)


def _core(state: FileState) -> Iterator[Finding]:
    if state.missing and state.objects:
        observed = f"no record with {', '.join(field for field in CORE if field in state.missing)}"
        message, expected = "fields of full detail are missing", f"{', '.join(CORE)}, each in some record"
        hint = "call with another detail level, or write whole memories"
        yield Finding("LRO-FILE-11", "/detail", message, expected, observed, hint)


def placed(finding: Finding, line: PhysicalLine) -> Finding:
    """A finding in a line's value, with the line and the column where that value, or what should hold it, stands."""
    text = line.data.decode("utf-8", "replace")
    at = nearest_position(text, finding.pointer)
    return replace(finding, line=line.number, column=at + 1, excerpt=excerpt(text, at))
