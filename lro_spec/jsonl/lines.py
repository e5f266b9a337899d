"""Splits a byte stream into lines of any length, in bounded memory.

Lines come in blocks, because reading a block is faster than reading its lines one by one.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import NamedTuple, Protocol

MAX_LINE_BYTES = 64 * 1024 * 1024
"""The longest line that is read as JSON, unless the caller sets another limit."""

_CHUNK = 64 * 1024


class Readable(Protocol):
    """A source of bytes: a binary file, a pipe, or a decompressor of one of them."""

    def read(self, size: int, /) -> bytes:
        """Return at most *size* bytes, and no bytes at the end."""
        ...


class PhysicalLine(NamedTuple):
    """One line of a file, without its line feed."""

    number: int
    """From 1."""
    offset: int
    """Start of the line in the file, in bytes."""
    data: bytes
    """The bytes of the line. If the line is too long, only the first `MAX_LINE_BYTES` (or the caller's limit)."""
    length: int
    """The full length of the line in bytes, without the line feed."""
    terminated: bool
    """True if the line ends with a line feed. Only the last line of a file can lack it."""

    @property
    def too_long(self) -> bool:
        """True if `data` is only the beginning of the line."""
        return self.length > len(self.data)


class Block(NamedTuple):
    """Consecutive lines, each ended by a line feed and none too long."""

    number: int
    """Number of the first line, from 1."""
    offset: int
    """Offset of the first line in the file, in bytes."""
    lines: list[bytes]
    """The lines without their line feeds."""
    returns: bool = True
    """False if certainly no line contains a carriage return."""

    def physical(self) -> Iterator[PhysicalLine]:
        """The lines one at a time."""
        offset = self.offset
        for number, data in enumerate(self.lines, self.number):
            yield PhysicalLine(number, offset, data, len(data), True)
            offset += len(data) + 1

    def first(self) -> tuple[PhysicalLine, Block]:
        """The first line, and the block of the others."""
        line = next(self.physical())
        return line, self._replace(number=self.number + 1, offset=line.offset + line.length + 1, lines=self.lines[1:])


def blocks(
    stream: Readable, max_line_bytes: int = MAX_LINE_BYTES, number: int = 1, offset: int = 0
) -> Iterator[Block | PhysicalLine]:
    """The lines of a stream, in blocks. A line that is too long comes alone, as a `PhysicalLine`, and so does a last
    line without a line feed. If *max_line_bytes* is small, lines near a line that is too long also come alone.

    *number* and *offset* are the number of the stream's first line and its offset in the file.
    """
    partial_line = _PartialLine(max_line_bytes)
    while chunk := stream.read(_CHUNK):
        lines = chunk.split(b"\n")
        partial_line.add(lines[0])
        if len(lines) == 1:
            continue
        last = lines.pop()
        # A long line comes alone, so that its value is freed before the next line is read.
        if partial_line.length > min(_CHUNK, max_line_bytes):
            data = partial_line.data()
            line = PhysicalLine(number, offset, data, partial_line.length, True)
            yield line if line.too_long else Block(number, offset, [data], b"\r" in data)
            number, offset = number + 1, offset + partial_line.length + 1
            del data, line, lines[0]
            partial_line = _PartialLine(max_line_bytes)
        else:
            lines[0] = partial_line.data()
        if lines and (max_line_bytes >= _CHUNK or max(map(len, lines)) <= max_line_bytes):
            yield Block(number, offset, lines, b"\r" in chunk or b"\r" in lines[0])
        else:
            for line in Block(number, offset, lines).physical():
                yield line._replace(data=line.data[:max_line_bytes])
        number, offset = number + len(lines), offset + sum(map(len, lines)) + len(lines)
        partial_line = _PartialLine(max_line_bytes)
        partial_line.add(last)
    if partial_line.length:
        yield PhysicalLine(number, offset, partial_line.data(), partial_line.length, False)


class _PartialLine:
    """A line whose end has not been read; bytes beyond the limit are counted and dropped."""

    def __init__(self, limit: int) -> None:
        self.length = 0
        self._spare_bytes = limit
        self._buffer = io.BytesIO()  # returns its bytes without a copy

    def add(self, part: bytes) -> None:
        if part and self._spare_bytes > 0:
            self._spare_bytes -= self._buffer.write(part[: self._spare_bytes])
        self.length += len(part)

    def data(self) -> bytes:
        return self._buffer.getvalue()
