"""Splits a byte stream into lines, in linear time. The size of a line is limited."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

EXCERPT_BYTES = 4096
"""If a line is over the limit, this many bytes of its beginning, and as many bytes of its end, are kept."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line as it was received, without its newline."""

    data: bytes
    """The line. If the line is over the limit, only its beginning."""
    size: int
    """Number of bytes of the whole line, without the newline."""
    terminated: bool = True
    """False for a last line that has no newline."""
    tail: bytes = b""
    """The end of the line if it is over the limit; otherwise empty."""

    @property
    def too_large(self) -> bool:
        """True if the line was over the limit, so that its middle is lost."""
        return self.size > len(self.data)


class LineSplitter:
    """Splits chunks into lines. If a line has more than *cap* bytes, only its beginning, its end and its size are
    kept."""

    def __init__(self, cap: int) -> None:
        self._cap = cap
        self._data: bytes | bytearray = b""
        self._size = 0
        self._head: bytes | bytearray = b""
        self._tail: bytes | bytearray = b""

    @property
    def overflowing(self) -> bytes | None:
        """The beginning of the line that is being received, if this line is already over the limit; otherwise None."""
        return bytes(self._head) if self._size > self._cap else None

    def feed(self, chunk: bytes) -> Iterator[Line]:
        """Yield the lines that are completed by *chunk*."""
        *complete, unfinished = chunk.split(b"\n")
        for piece in complete:
            self._add(piece)
            yield self._take(terminated=True)
        if unfinished:
            self._add(unfinished)

    def finish(self) -> Line | None:
        """Return the last line of the stream if it has no newline; None if the stream is empty or ended with a
        newline."""
        return self._take(terminated=False) if self._size else None

    def _add(self, piece: bytes) -> None:
        size_before = self._size
        self._size += len(piece)
        if self._size <= self._cap:
            if not self._data:
                self._data = piece
            else:  # one growing block, because the memory of many small blocks would not be returned to the system
                self._data = self._data if isinstance(self._data, bytearray) else bytearray(self._data)
                self._data += piece
            return
        if size_before <= self._cap:
            self._head = (self._data[:EXCERPT_BYTES] + piece[:EXCERPT_BYTES])[:EXCERPT_BYTES]
            self._tail = self._data[-EXCERPT_BYTES:]
            self._data = b""
        self._tail = (self._tail + piece[-EXCERPT_BYTES:])[-EXCERPT_BYTES:]

    def _take(self, *, terminated: bool) -> Line:
        if self._size > self._cap:
            line = Line(bytes(self._head[: self._cap]), self._size, terminated, bytes(self._tail))
        else:
            line = Line(bytes(self._data), self._size, terminated)
        self._data, self._size, self._head, self._tail = b"", 0, b"", b""
        return line
