"""Reading the records of an offloaded file one at a time, with only the requested fields."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any, BinaryIO, cast

import msgspec

Place = tuple[int, int]
"""Offset and length of a line, in bytes."""


def records(file: BinaryIO, *fields: str, **types: Any) -> Iterator[tuple[bytes, Any]]:
    """Each record as its line, and an object with these fields as attributes; None for a missing field.

    Other fields are skipped without being parsed, as is the header. *types* are hints for the parser: a field of
    another type keeps its value.
    """
    kind = msgspec.defstruct("Record", [(name, types.get(name, Any), None) for name in fields])
    decode = msgspec.json.Decoder(kind).decode
    file.seek(0)
    file.readline()
    for line in file:
        try:
            yield line, decode(line)
        except (msgspec.DecodeError, RecursionError):
            yield line, kind(**_parse_leniently(line, fields))


def places(file: BinaryIO, *fields: str) -> Iterator[tuple[Place, Any]]:
    """Each record as its place, from which `line_at` reads it again, and an object with these fields."""
    file.seek(0)
    start = len(file.readline())
    for line, record in records(file, *fields):
        yield (start, len(line)), record
        start += len(line)


def line_at(file: BinaryIO, place: Place) -> bytes:
    """The line at a place."""
    return os.pread(file.fileno(), place[1], place[0])


def _parse_leniently(line: bytes, fields: tuple[str, ...]) -> dict[str, Any]:
    """The fields of a line that the strict parser rejects: it is not an object, it has unpaired surrogates, or a field
    does not have the type of its hint."""
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    record = cast("dict[str, Any]", found) if isinstance(found, dict) else {}
    return {name: record.get(name) for name in fields}
