"""Validation of an offloaded file, in one pass."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import PurePath
from typing import Any, cast

from lro_spec.display import show
from lro_spec.editions import DEFAULT_EDITION, OTHER_TOOLS_EDITION
from lro_spec.editions import edition as edition_named
from lro_spec.findings import Finding, Kind
from lro_spec.jsonl.compression import DamagedError, UnreadPackingError, plain_name, unpacked
from lro_spec.jsonl.lines import MAX_LINE_BYTES, Readable, blocks
from lro_spec.jsonl.parse import RULE
from lro_spec.validation.filename import name_against_header, name_problem
from lro_spec.validation.header import resembles_header
from lro_spec.validation.line import judge_part, repeated_record, with_place
from lro_spec.validation.record import CORE_FIELDS, POSSIBLY_EMPTY_FIELDS, resembles_memory
from lro_spec.validation.state import FileState


def looks_offloaded(start: bytes) -> bool:
    """True if one of the first lines of a file is a header or a memory. Logs, for example, are JSONL files without
    them."""
    objects = filter(None, map(_object, start.split(b"\n", _MAX_LINES)[:_MAX_LINES]))
    return any(resembles_header(each) or resembles_memory(each) for each in objects)


_MAX_LINES = 20


def _object(data: bytes) -> dict[str, Any] | None:
    try:  # a lenient reader is enough: problems are found later, by the strict reader
        value: object = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return cast("dict[str, Any]", value) if isinstance(value, dict) else None


def validate_file(
    source: str | os.PathLike[str] | Readable,
    *,
    name: str | None = None,
    edition: str = "lro-6400",
    max_line_bytes: int = MAX_LINE_BYTES,
) -> Iterator[Finding]:
    """Findings about an offloaded file, while it is read. Findings about the whole file (count, name) come last.

    *source* is a path or a binary stream, plain or compressed by gzip. *name* is the file's name, which is needed for a
    stream, or if the path has another name. Memory is limited to the longest line (at most *max_line_bytes*) and about
    twenty megabytes for ids. The content of the file never causes an exception. Raises `OSError` for a path that cannot
    be opened or read, `TypeError` for a stream of text, and `ValueError` for an unknown edition.
    """
    edition_named(edition)
    if isinstance(source, io.TextIOBase):
        raise TypeError("validate_file reads bytes: open the file with 'rb'")
    if isinstance(source, str | os.PathLike):
        with open(source, "rb", buffering=0) as stream:
            name = name or plain_name(PurePath(source).name)
            yield from _unpacked_file(cast("Readable", stream), edition, name, max_line_bytes)
    else:
        yield from _unpacked_file(source, edition, name, max_line_bytes)


def _unpacked_file(stream: Readable, edition: str, name: str | None, max_line_bytes: int) -> Iterator[Finding]:
    try:
        plain = unpacked(stream)
    except UnreadPackingError as problem:
        message, expected = "the file cannot be unpacked", "JSON lines, plain or compressed by gzip"
        yield Finding(RULE, Kind.DAMAGED, "", message, expected, str(problem), line=1)
        return
    yield from judge_file(plain, FileState(edition), name, max_line_bytes)


def judge_file(
    stream: Readable,
    state: FileState,
    name: str | None = None,
    max_line_bytes: int = MAX_LINE_BYTES,
) -> Iterator[Finding]:
    """Findings about the uncompressed bytes of a file. Fills *state* with the facts about the file."""
    findings = _findings(stream, state, name, max_line_bytes)
    if state.edition == DEFAULT_EDITION:
        return findings
    from lro_spec.validation.editions import for_edition

    return for_edition(findings, edition_named(state.edition))


def _findings(stream: Readable, state: FileState, name: str | None, max_line_bytes: int) -> Iterator[Finding]:
    try:
        for part in blocks(stream, max_line_bytes):
            yield from judge_part(part, state)
    except DamagedError as problem:
        message, hint = "the compressed data is truncated or damaged here", "nothing after this point was checked"
        yield Finding(
            RULE, Kind.DAMAGED, "", message, "a complete compressed file", str(problem), hint, state.lines + 1
        )
        is_complete, state.opaque, state.is_cut = False, True, True
    else:
        is_complete = True
        if not state.lines:
            yield Finding("LRO-FILE-02", Kind.EMPTY_FILE, "", "the file is empty", "a header line", "0 bytes", line=1)
    for number in state.ids.late():
        yield repeated_record(f"the id of line {number} again", number)
    naming_edition = state.edition if state.memories else OTHER_TOOLS_EDITION
    if name is not None:
        problem = name_problem(name, edition=naming_edition, severity="warning")
        if problem:
            yield replace(problem, hint="a renamed file may have any name, but a server must not choose this one")
    if state.header is None or state.header_line is None:
        return
    name_findings = (
        name_against_header(name, state.header, edition=naming_edition, request=state.request)
        if name is not None
        else ()
    )
    for finding in (*_count(state), *name_findings):
        yield with_place(finding, state.header_line)
    if is_complete and state.missing and state.first_record is not None:
        line, record = state.first_record
        yield with_place(_without_core(record, state), line)


def _count(state: FileState) -> Iterator[Finding]:
    count = (state.header or {}).get("count")
    if not isinstance(count, int | float) or isinstance(count, bool):
        return
    if not state.count.admits(count):
        hint = "count the records that are written; if the header is right, the end of the file is missing"
        message, expected = "count is wrong", f"{state.count}"
        yield Finding("LRO-FILE-06", Kind.CONTRADICTION, "/count", message, expected, show(count), hint)


def _without_core(record: dict[str, Any], state: FileState) -> Finding:
    """Finding about a file in which some fields of full detail are in no record; *record* is the first record.

    The finding is a warning if the file has one record and lacks only fields of `POSSIBLY_EMPTY_FIELDS`. The server may
    leave out empty texts, and only the inline result of the call can show whether they are empty (I-04).
    """
    missing = [field for field in CORE_FIELDS if field in state.missing]
    may_be_empty = state.records == 1 and POSSIBLY_EMPTY_FIELDS.issuperset(missing)
    subject = "the only record" if state.records == 1 else f"the record, like all {state.records} in the file,"
    message = f"{subject} lacks {', '.join(missing)}"
    expected = f"{', '.join(CORE_FIELDS)} at full detail, each in some record"
    hint = "write complete memories and keep fields that are empty, or set the header's detail to the requested level"
    observed = f"the fields {show(list(record))}"
    if may_be_empty:
        return Finding("LRO-FILE-11", Kind.NOT_EVALUATED, "", message, expected, observed, hint, severity="warning")
    return Finding("LRO-FILE-11", Kind.ABSENT_FIELDS, "", message, expected, observed, hint)
