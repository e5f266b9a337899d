"""A byte stream cut into lines, however long they are, in bounded memory; in whole runs, for readers in a hurry."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import NamedTuple, Protocol

MAX_LINE_BYTES = 64 * 1024 * 1024
"""The longest line that is read as JSON, unless the caller says otherwise."""

_CHUNK = 64 * 1024


class Readable(Protocol):
    """What bytes come from: a binary file, a pipe, something that unpacks one of them."""

    def read(self, size: int, /) -> bytes:
        """At most *size* bytes; none at the end."""
        ...


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


class Block(NamedTuple):
    """Lines in a row, each ended by a line feed and none too long."""

    number: int
    """Of the first, from 1."""
    offset: int
    """Where the first starts in the file, in bytes."""
    lines: list[bytes]
    """Without their line feeds."""
    returns: bool = True
    """Whether one of them may hold a carriage return."""

    def physical(self) -> Iterator[PhysicalLine]:
        """The lines one at a time."""
        offset = self.offset
        for number, data in enumerate(self.lines, self.number):
            yield PhysicalLine(number, offset, data, len(data), True)
            offset += len(data) + 1


def blocks(
    stream: Readable, max_line_bytes: int = MAX_LINE_BYTES, number: int = 1, offset: int = 0
) -> Iterator[Block | PhysicalLine]:
    """The lines of a stream, in blocks; a long line comes by itself, and so does a last one without a line feed.

    *number* and *offset* are those of the first line.
    """
    begun = _Begun(max_line_bytes)
    while chunk := stream.read(_CHUNK):
        lines = chunk.split(b"\n")
        begun.add(lines[0])
        if len(lines) == 1:
            continue
        last = lines.pop()
        if begun.length > min(_CHUNK, max_line_bytes):  # by itself: what is made of it is gone before the next
            data = begun.data()
            line = PhysicalLine(number, offset, data, begun.length, True)
            yield line if line.too_long else Block(number, offset, [data], b"\r" in data)
            number, offset = number + 1, offset + begun.length + 1
            del data, line, lines[0]
            begun = _Begun(max_line_bytes)
        else:
            lines[0] = begun.data()
        if lines and (max_line_bytes >= _CHUNK or max(map(len, lines)) <= max_line_bytes):
            yield Block(number, offset, lines, b"\r" in chunk or b"\r" in lines[0])
        else:
            for line in Block(number, offset, lines).physical():
                yield line._replace(data=line.data[:max_line_bytes])
        number, offset = number + len(lines), offset + sum(map(len, lines)) + len(lines)
        begun = _Begun(max_line_bytes)
        begun.add(last)
    if begun.length:
        yield PhysicalLine(number, offset, begun.data(), begun.length, False)


class _Begun:
    """A line whose end is not in sight yet; what is beyond the limit is counted and dropped."""

    def __init__(self, limit: int) -> None:
        self.length = 0
        self._left = limit
        self._kept = io.BytesIO()  # gives its bytes away without a copy

    def add(self, part: bytes) -> None:
        if part and self._left > 0:
            self._left -= self._kept.write(part[: self._left])
        self.length += len(part)

    def data(self) -> bytes:
        return self._kept.getvalue()
