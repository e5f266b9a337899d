"""The records of an open offloaded file, one at a time, and of each only the fields that are asked for."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any, BinaryIO, cast

import msgspec

Place = tuple[int, int]
"""Where a line begins in the file, and its length; both in bytes."""


def records(file: BinaryIO, *fields: str, **types: Any) -> Iterator[tuple[bytes, Any]]:
    """Each record as its line, and an object with these fields of it as attributes: None where it has none.

    What is not asked for is passed over and never made. The header is skipped. *types* are hints for the parser: a
    field that does not fit its own is what it is.
    """
    kind = msgspec.defstruct("Record", [(name, types.get(name, Any), None) for name in fields])
    decode = msgspec.json.Decoder(kind).decode
    file.seek(0)
    file.readline()
    for line in file:
        try:
            yield line, decode(line)
        except (msgspec.DecodeError, RecursionError):
            yield line, kind(**_patiently(line, fields))


def places(file: BinaryIO, *fields: str) -> Iterator[tuple[Place, Any]]:
    """Each record as its place, from which `at` reads it again, and the fields of it."""
    file.seek(0)
    start = len(file.readline())
    for line, record in records(file, *fields):
        yield (start, len(line)), record
        start += len(line)


def at(file: BinaryIO, place: Place) -> bytes:
    """The line at a place."""
    return os.pread(file.fileno(), place[1], place[0])


def _patiently(line: bytes, fields: tuple[str, ...]) -> dict[str, Any]:
    """The fields where a line is no object, or has half a surrogate pair, which the strict parser refuses."""
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    record = cast("dict[str, Any]", found) if isinstance(found, dict) else {}
    return {name: record.get(name) for name in fields}
