"""Lines from a pipe, with a bound on what one of them may hold, and lines into one."""

from __future__ import annotations

import os
import queue
import select
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from lro_reference.proxy import heap

_CHUNK = 1 << 18
_PIPE_BYTES = 1 << 20
_EXCERPT = 4096
_STUCK_S = 0.2


@dataclass(frozen=True, slots=True)
class TooLong:
    """A line over the bound: only its ends were kept."""

    head: bytes
    tail: bytes
    size: int
    """How many bytes it had."""


def ends(line: bytes | bytearray) -> TooLong:
    """A line as if only its ends had been kept."""
    return TooLong(bytes(line[:_EXCERPT]), bytes(line[-_EXCERPT:]), len(line))


class Writer(Protocol):
    """Where lines to the client go."""

    def write(self, line: bytes | bytearray) -> bool:
        """Writes a line; False when nobody reads any more."""
        ...


class Outgoing(Writer, Protocol):
    """Where lines to the server go."""

    def offer(self, line: bytes) -> bool:
        """Writes a short line if that needs no waiting for whoever reads; False when it does."""
        ...

    def close(self) -> None:
        """No more will come."""
        ...


def read_lines(pipe: int, most: int) -> Iterator[bytearray | TooLong]:
    """The lines of a pipe without their line ends, until it is closed; one over *most* bytes as `TooLong`.

    An unfinished last line is dropped: it is no message.
    """
    widen(pipe)
    pending = bytearray()
    looked = dropped = 0
    head = b""
    chunk = memoryview(bytearray(_CHUNK))  # one for all, so that what is pending can grow where it is
    while size := _read(pipe, chunk):
        pending += chunk[:size]
        if looked <= heap.KEPT < len(pending):
            heap.give_back()
        while (end := pending.find(b"\n", looked)) >= 0:
            rest = pending[end + 1 :]
            del pending[end:]
            line, pending, looked = pending, rest, 0
            if dropped or len(line) > most:
                yield TooLong(head or bytes(line[:_EXCERPT]), bytes(line[-_EXCERPT:]), dropped + len(line))
                head, dropped = b"", 0
            else:
                yield line
            del line  # or it would stay in memory until the next one is complete
        if len(pending) > most:
            head = head or bytes(pending[:_EXCERPT])
            dropped += len(pending) - _EXCERPT
            del pending[:-_EXCERPT]
        looked = len(pending)


def widen(pipe: int) -> None:
    """Lets a pipe hold a mebibyte, where the system can: fewer turns for a large message."""
    try:
        import fcntl

        fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
    except (ImportError, AttributeError, OSError):  # no pipe, not Linux, or not allowed to
        pass


def _read(pipe: int, into: memoryview) -> int:
    try:
        return os.readv(pipe, [into])
    except OSError:  # the other side was reset
        return 0


class LineWriter:
    """Writes lines to a pipe, each whole, from any thread."""

    def __init__(self, pipe: int) -> None:
        self._pipe = pipe
        self._lock = threading.Lock()
        self.broken = False
        """Nobody reads any more."""
        self.closed_at = float("inf")
        """When it was closed, by the monotonic clock."""
        widen(pipe)

    def write(self, line: bytes | bytearray) -> bool:
        """Writes a line and its end; False when nobody reads any more."""
        with self._lock:
            if self.broken:
                return False
            try:
                rest = memoryview(line + b"\n" if len(line) < _CHUNK else line)
                while rest:
                    rest = rest[os.write(self._pipe, rest) :]
                if len(line) >= _CHUNK:
                    os.write(self._pipe, b"\n")
            except OSError:
                self.broken = True
            return not self.broken

    def offer(self, line: bytes) -> bool:
        """Writes a short line if that needs no waiting for whoever reads; False when it does."""
        if len(line) >= select.PIPE_BUF or not self._lock.acquire(blocking=False):
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
        """Closes the pipe, unless somebody is stuck in writing to it."""
        if not self._lock.acquire(timeout=_STUCK_S):  # maybe this very thread, which a signal has called away
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
    """Where lines for the server go; like `LineWriter`, but nobody ever waits."""

    def __init__(self) -> None:
        self._lines: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()  # which a signal may close while it is used

    def write(self, line: bytes | bytearray) -> bool:
        """Takes a line."""
        self._lines.put(bytes(line))
        return True

    offer = write

    def close(self) -> None:
        """No more will come."""
        self._lines.put(None)

    def next(self) -> bytes | None:
        """The next line; None at the end."""
        return self._lines.get()
