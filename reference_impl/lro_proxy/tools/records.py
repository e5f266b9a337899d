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
    """Yield each record as its line and an object that has these fields as attributes. A missing field is None.

    Other fields, and the header, are skipped without being parsed. *types* are the expected types of fields; a field of
    another type is parsed more slowly, but keeps its value.
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
    """Yield each record as its place and an object with these fields. `line_at` reads the line at a place again."""
    file.seek(0)
    start = len(file.readline())
    for line, record in records(file, *fields):
        yield (start, len(line)), record
        start += len(line)


def line_at(file: BinaryIO, place: Place) -> bytes:
    """The line at a place."""
    return os.pread(file.fileno(), place[1], place[0])


def _parse_leniently(line: bytes, fields: tuple[str, ...]) -> dict[str, Any]:
    """The fields of a line that is rejected by the strict parser.

    Such a line is not an object, has unpaired surrogates, or has a field that is not of the expected type.
    """
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    record = cast("dict[str, Any]", found) if isinstance(found, dict) else {}
    return {name: record.get(name) for name in fields}
