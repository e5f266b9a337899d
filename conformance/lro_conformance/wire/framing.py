"""Splits a byte stream into lines, in linear time and with a limit on the size of a line."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

EXCERPT_BYTES = 4096
"""Number of bytes that are kept of each end of a line over the limit."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line as received, without its newline."""

    data: bytes
    """The line; if it is over the limit, only its beginning."""
    size: int
    """Number of bytes, without the newline."""
    terminated: bool = True
    """False for an unterminated last line."""
    tail: bytes = b""
    """The end of a line over the limit."""

    @property
    def too_large(self) -> bool:
        """True if the line was over the limit, so that its middle is lost."""
        return self.size > len(self.data)


class LineSplitter:
    """Splits chunks into lines. Of a line of more than *cap* bytes, only the two ends and the size are kept."""

    def __init__(self, cap: int) -> None:
        self._cap = cap
        self._data: bytes | bytearray = b""
        self._size = 0
        self._head: bytes | bytearray = b""
        self._tail: bytes | bytearray = b""

    @property
    def overflowing(self) -> bytes | None:
        """The beginning of the unfinished line if that line is already over the limit; None otherwise."""
        return bytes(self._head) if self._size > self._cap else None

    def feed(self, chunk: bytes) -> Iterator[Line]:
        """The lines that *chunk* completes."""
        *complete, rest = chunk.split(b"\n")
        for piece in complete:
            self._add(piece)
            yield self._take(terminated=True)
        if rest:
            self._add(rest)

    def finish(self) -> Line | None:
        """The unterminated last line of the stream; None if the stream is empty or ended with a newline."""
        return self._take(terminated=False) if self._size else None

    def _add(self, piece: bytes) -> None:
        before = self._size
        self._size += len(piece)
        if self._size <= self._cap:
            if not self._data:
                self._data = piece
            else:  # in one growing block: the memory of many small ones would not be returned to the system
                self._data = self._data if isinstance(self._data, bytearray) else bytearray(self._data)
                self._data += piece
            return
        if before <= self._cap:
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
