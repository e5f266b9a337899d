"""An offloaded file, line by line: one pass, however long it is.

Sound records, all but a few of any file, are judged a block at a time by libraries written in C and Rust; a block with
anything else in it is gone through line by line.
"""

from __future__ import annotations

import io
import os
from array import array
from collections.abc import Iterator
from dataclasses import replace
from pathlib import PurePath
from typing import Any, cast

from lro_spec.editions import DEFAULT_EDITION
from lro_spec.editions import edition as edition_named
from lro_spec.file_state import FileState
from lro_spec.findings import Finding, shown
from lro_spec.json_lines import RULE, plain_values
from lro_spec.line_rules import TWICE, judge_line, judge_part, placed, plain_records, record_id, twice
from lro_spec.name_rules import name_against_header, name_problem
from lro_spec.physical_lines import MAX_LINE_BYTES, Block, PhysicalLine, Readable, blocks
from lro_spec.record_rules import CORE
from lro_spec.second_reader import Beside, Range, SecondReader, Sound, stretches
from lro_spec.streams import WIDEST, DamagedError, TooWideError, plain_name, unpacked
from lro_spec.summary_rules import Facts

_OTHERS_NAMED_BY = "lro-paper"  # the one text that does not list the operations


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
    if isinstance(source, io.TextIOBase):
        raise TypeError("validate_file reads bytes: open the file with 'rb'")
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
                yield from judge_part(part, state)
    except DamagedError as problem:
        number, hint = state.lines + 1, "nothing after this place was judged"
        if isinstance(problem, TooWideError):
            message, expected = "the compressed data takes too much memory", f"a window of at most {WIDEST}"
            yield Finding("json", "", message, expected, "a wider one", "compress it without --long", number)
        else:
            message = "the compressed data ends or breaks off here"
            yield Finding(RULE, "", message, "a whole compressed file", str(problem), hint, number)
        whole, state.opaque, state.doubtful = False, True, True
    else:
        whole = True
        if not state.lines:
            yield Finding("LRO-FILE-02", "", "the file is empty", "a header line", "0 bytes", line=1)
    for number in state.ids.late():
        if not state.beyond.takes(TWICE, "error", number):
            yield twice(f"the id of line {number}, once more", number)
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
                    yield from judge_part(part, state)
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
            list(judge_line(next(first.physical()) if isinstance(first, Block) else first, state))
            # Without these, there is no telling what is sound by a look at the records alone.
            if state.gate is None or (state.reader is not None and state.reader.schema is not None and not state.joint):
                return


def _look(parts: Iterator[Block | PhysicalLine], state: FileState) -> Sound | None:
    reader = state.reader
    sound = Sound(array("q"), Facts(scored=reader is not None and reader.facts.scored))
    for part in parts:
        values = plain_values(part.lines) if isinstance(part, Block) else None
        plain = plain_records(cast("Block", part), values, state) if values is not None else None
        if plain is None or (reader is not None and reader.schema is not None and not plain[1]):
            return None
        sound.ids.extend(map(hash, map(record_id, plain[0])))
        if reader is not None:
            sound.facts.take(plain[0], cast("Block", part))
    return sound


def _count(header: dict[str, Any], records: int) -> Iterator[Finding]:
    count = header.get("count")
    if isinstance(count, int | float) and not isinstance(count, bool) and count != records:
        expected = f"{records}, the number of record lines"
        hint = "count the records that are written; if the header is right, the file has lost its end"
        yield Finding("LRO-FILE-06", "/count", "count is off", expected, shown(count), hint)


def _core(state: FileState) -> Iterator[Finding]:
    if state.missing and state.objects:
        observed = f"no record with {', '.join(field for field in CORE if field in state.missing)}"
        message, expected = "fields of full detail are missing", f"{', '.join(CORE)}, each in some record"
        hint = "call with another detail level, or write whole memories"
        yield Finding("LRO-FILE-11", "/detail", message, expected, observed, hint)
