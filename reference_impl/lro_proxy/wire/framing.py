"""Reading lines of limited size from a pipe, and writing lines to one."""

from __future__ import annotations

import os
import queue
import select
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from lro_proxy.wire import malloc

_CHUNK_BYTES = 1 << 18
_PIPE_BYTES = 1 << 20
_EXCERPT_BYTES = 4096
"""Number of bytes that are kept of each end of an oversized line."""
_STUCK_S = 0.2
"""Time to wait for another thread that writes to the same pipe. After that, its write counts as blocked."""


@dataclass(frozen=True, slots=True)
class OversizedLine:
    """The two ends of a line. The rest was dropped, either by `ends_of` or because the line exceeds the size limit."""

    head: bytes
    tail: bytes
    size: int
    """Size of the complete line in bytes."""


def ends_of(line: bytes | bytearray) -> OversizedLine:
    """The two ends of a line, from which `lro_proxy.wire.truncated` can read the id of the message."""
    return OversizedLine(bytes(line[:_EXCERPT_BYTES]), bytes(line[-_EXCERPT_BYTES:]), len(line))


class Writer(Protocol):
    """Destination of lines to the client."""

    def write(self, line: bytes | bytearray) -> bool:
        """Write a line; False if the reader is gone."""
        ...


class Outgoing(Writer, Protocol):
    """Destination of lines to the server."""

    def offer(self, line: bytes) -> bool:
        """Write a short line if this does not block for more than a moment; False if it was not written."""
        ...

    def close(self) -> None:
        """Close the connection for writing."""
        ...


def read_lines(pipe: int, max_bytes: int) -> Iterator[bytearray | OversizedLine]:
    """Yield the lines of a pipe, without their line ends, until it is closed.

    A line of more than *max_bytes* bytes is yielded as an `OversizedLine`. An unterminated last line is dropped: it
    cannot be a message.
    """
    enlarge_buffer(pipe)
    pending = bytearray()
    searched = dropped = 0
    head = b""
    chunk = memoryview(bytearray(_CHUNK_BYTES))  # reused, so that *pending* can grow in place
    while size := _read(pipe, chunk):
        pending += chunk[:size]
        if searched <= malloc.MAX_RETAINED_BYTES < len(pending):
            malloc.release_memory()
        while (end := pending.find(b"\n", searched)) >= 0:
            rest = pending[end + 1 :]
            del pending[end:]
            line, pending, searched = pending, rest, 0
            if dropped or len(line) > max_bytes:
                yield OversizedLine(
                    head or bytes(line[:_EXCERPT_BYTES]), bytes(line[-_EXCERPT_BYTES:]), dropped + len(line)
                )
                head, dropped = b"", 0
            else:
                yield line
            del line  # frees its memory before the next one is complete
        if len(pending) > max_bytes:
            head = head or bytes(pending[:_EXCERPT_BYTES])
            dropped += len(pending) - _EXCERPT_BYTES
            del pending[:-_EXCERPT_BYTES]
        searched = len(pending)


def enlarge_buffer(pipe: int) -> None:
    """Enlarge the buffer of a pipe to a mebibyte if the system allows it, so that a large message takes fewer reads."""
    try:
        import fcntl

        fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
    except (ImportError, AttributeError, OSError):  # not a pipe, not Linux, or not permitted
        pass


def _read(pipe: int, buffer: memoryview) -> int:
    try:
        return os.readv(pipe, [buffer])
    except OSError:  # connection reset
        return 0


class LineWriter:
    """Writes lines to a pipe atomically, from any thread."""

    def __init__(self, pipe: int) -> None:
        self._pipe = pipe
        self._lock = threading.Lock()
        self.broken = False
        """True once the reader is gone."""
        self.closed_at = float("inf")
        """Time of `close` on the monotonic clock."""
        enlarge_buffer(pipe)

    def write(self, line: bytes | bytearray) -> bool:
        """Write a line and its end; False if the reader is gone."""
        with self._lock:
            if self.broken:
                return False
            try:
                rest = memoryview(line + b"\n" if len(line) < _CHUNK_BYTES else line)
                while rest:
                    rest = rest[os.write(self._pipe, rest) :]
                if len(line) >= _CHUNK_BYTES:
                    os.write(self._pipe, b"\n")
            except OSError:
                self.broken = True
            return not self.broken

    def offer(self, line: bytes) -> bool:
        """Write a short line if this does not block for more than a moment; False if it was not written."""
        # Another thread may be writing: wait for it, unless it is stuck.
        if len(line) >= select.PIPE_BUF or not self._lock.acquire(timeout=_STUCK_S):
            return False
        try:
            if self.broken or not select.select([], [self._pipe], [], 0)[1]:
                return False
            os.write(self._pipe, line + b"\n")
        except OSError:
            self.broken = True
        finally:
            self._lock.release()
        return not self.broken

    def close(self) -> None:
        """Close the pipe, unless a write to it is blocked."""
        if not self._lock.acquire(timeout=_STUCK_S):  # possibly held by this thread, interrupted by a signal
            return
        try:
            if not self.broken:
                self.broken = True
                self.closed_at = time.monotonic()
                os.close(self._pipe)
        except OSError:
            pass
        finally:
            self._lock.release()


class Outbox:
    """An unbounded queue of lines to the server; writing to it never blocks."""

    def __init__(self) -> None:
        self._lines: queue.SimpleQueue[bytes | None] = (
            queue.SimpleQueue()
        )  # reentrant: a signal may close it during use

    def write(self, line: bytes | bytearray) -> bool:
        """Queue a line."""
        self._lines.put(bytes(line))
        return True

    offer = write

    def close(self) -> None:
        """Mark the end of the lines."""
        self._lines.put(None)

    def next(self) -> bytes | None:
        """The next line; None at the end."""
        return self._lines.get()
