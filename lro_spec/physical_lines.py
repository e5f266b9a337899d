"""A byte stream cut into lines, however long they are, in bounded memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

MAX_LINE_BYTES = 64 * 1024 * 1024
"""The longest line that is read as JSON, unless the caller says otherwise."""

_CHUNK = 1024 * 1024


class PhysicalLine(NamedTuple):
    """One line of a file, without its line feed."""

    number: int
    """From 1."""
    offset: int
    """Where it starts in the file, in bytes."""
    data: bytes
    """Its bytes; of a line that is too long, the first `MAX_LINE_BYTES` or what the caller allowed."""
    length: int
    """Its whole length in bytes, without the line feed."""
    terminated: bool
    """Whether a line feed ends it; only the last line can go without."""

    @property
    def too_long(self) -> bool:
        """Whether `data` is only its beginning."""
        return self.length > len(self.data)


def physical_lines(stream: BinaryIO, max_line_bytes: int = MAX_LINE_BYTES) -> Iterator[PhysicalLine]:
    """The lines of a stream, one at a time."""
    number = offset = 0
    while data := stream.readline(max_line_bytes + 1):
        number += 1
        terminated = data.endswith(b"\n")
        if terminated:
            data = data[:-1]
            length = len(data)
        elif len(data) <= max_line_bytes:
            length = len(data)
        else:
            rest, terminated = _skip(stream)
            length = len(data) + rest
            data = data[:max_line_bytes]
        yield PhysicalLine(number, offset, data, length, terminated)
        offset += length + terminated


def _skip(stream: BinaryIO) -> tuple[int, bool]:
    """How many bytes the line still has, and whether a line feed ends it."""
    skipped = 0
    while chunk := stream.readline(_CHUNK):
        if chunk.endswith(b"\n"):
            return skipped + len(chunk) - 1, True
        skipped += len(chunk)
    return skipped, False
