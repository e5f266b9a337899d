"""The three pipes of a server, pumped together by one thread, so that neither side can block the other permanently.

The server's stdin is written while its stdout and stderr are read, in every wait, so a server that floods stderr before
it reads a large request does not cause a deadlock. No call exceeds its deadline.
"""

from __future__ import annotations

import os
import selectors
import time
from collections import deque
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from typing import IO

from lro_conformance.wire.child import Child
from lro_conformance.wire.framing import Line, LineSplitter

_CHUNK = 65536
_SLICE_S = 0.25
"""Longest wait for the pipes, after which a `pump` checks again whether it is done."""
_SLICE_WITHOUT_EXIT_FD_S = 0.01
"""Longest wait for the pipes where no file descriptor reports the exit, so that the exit is noticed soon."""
_STDERR_LINE_BYTES = 65536
"""Longer lines of stderr are cut."""
_SWEEP_S = 0.2
"""Seconds after which a `sweep` ends, even if more data keeps arriving."""


class Channel:
    """The pipes of a running child.

    *on_line* receives the lines of its stdout, *on_stderr* the chunks of its stderr as they arrive, and
    *on_stderr_line* the lines of its stderr.
    """

    def __init__(
        self,
        child: Child,
        *,
        max_line_bytes: int,
        on_line: Callable[[Line], None],
        on_stderr: Callable[[bytes], None],
        on_stderr_line: Callable[[Line], None],
    ) -> None:
        self._child = child
        self._on_line = on_line
        self._on_stderr = on_stderr
        self._on_stderr_line = on_stderr_line
        self.lines = LineSplitter(max_line_bytes)
        self._err_lines = LineSplitter(_STDERR_LINE_BYTES)
        self._outbox: deque[memoryview] = deque()
        self._selector = selectors.DefaultSelector()
        self._stdin, self._stdout, self._stderr = (
            _fileno(pipe) for pipe in (child.process.stdin, child.process.stdout, child.process.stderr)
        )
        for fd in (self._stdin, self._stdout, self._stderr):
            os.set_blocking(fd, False)
        self._selector.register(self._stdout, selectors.EVENT_READ)
        self._selector.register(self._stderr, selectors.EVENT_READ)
        if child.exit_fd is not None:
            self._selector.register(child.exit_fd, selectors.EVENT_READ)
        self._writing = False
        self._is_batching = False
        self._err_open = True
        self.stdin_closed_at: float | None = None
        """Time (`time.monotonic`) at which the server's stdin was found closed, or was closed by the suite."""
        self.stdout_closed_at: float | None = None
        self.exited_at: float | None = None
        self.queued = 0
        """Number of bytes passed to `write`, with a newline for each line."""
        self.written = 0
        """Number of those bytes that the server's pipe has accepted."""

    def write(self, line: bytes) -> None:
        """Queue a line, and write as much of the queue as the pipe accepts without waiting.

        Within `batched_writes` it is only queued. Once the server's stdin is closed, it is dropped.
        """
        self.queued += len(line) + 1
        if self.stdin_closed_at is None:
            self._outbox.append(memoryview(line + b"\n"))
            self._flush()

    @contextmanager
    def batched_writes(self) -> Generator[None]:
        """Queue the lines that are written within the block, and begin to write all of them together at its end."""
        self._is_batching = True
        try:
            yield
        finally:
            self._is_batching = False
            self._outbox = deque([memoryview(b"".join(self._outbox))] if self._outbox else [])
            self._flush()

    def pump(self, done: Callable[[], bool], deadline: float) -> None:
        """Write and read until *done* returns True, the deadline (by `time.monotonic`) has passed, or the process and
        its outputs have ended."""
        slice_s = _SLICE_S if self._child.exit_fd is not None else _SLICE_WITHOUT_EXIT_FD_S
        while not done():
            left = deadline - time.monotonic()
            self.poll(max(0.0, min(left, slice_s)))
            if left <= 0 or self.finished:
                return

    @property
    def finished(self) -> bool:
        """True if no more data can arrive, because the process has ended and its outputs were read to the end."""
        return self.exited_at is not None and self.stdout_closed_at is not None and not self._err_open

    def poll(self, timeout_s: float) -> bool:
        """Read and write the pipes that are ready, after waiting at most *timeout_s* for one; False if none was
        ready."""
        ready = self._selector.select(timeout_s)
        for key, _ in ready:
            if key.fd == self._stdin:
                self._flush()
            elif key.fd == self._stdout:
                self._read_stdout()
            elif key.fd == self._stderr:
                self._read_stderr()
            else:
                self._selector.unregister(key.fd)
                self._note_exit()
        if self._child.exit_fd is None and self.exited_at is None:
            self._note_exit()
        return bool(ready)

    def sweep(self) -> None:
        """Read the data that is available, without waiting for more, and write what the pipe accepts."""
        deadline = time.monotonic() + _SWEEP_S
        while self.poll(0) and time.monotonic() < deadline:
            pass

    def close_stdin(self) -> None:
        """Close the server's stdin. Queued data that the pipe does not accept at once is dropped."""
        if self.stdin_closed_at is None:
            self._flush()
            self._drop_stdin()
            with suppress(OSError):
                _close(self._child.process.stdin)

    def close(self) -> None:
        """Close all pipes; unterminated last lines of the outputs are processed before."""
        self.close_stdin()
        if self.stdout_closed_at is None:
            self._end_stdout()
        if self._err_open:
            self._end_stderr()
        self._selector.close()
        for pipe in (self._child.process.stdin, self._child.process.stdout, self._child.process.stderr):
            with suppress(OSError):
                _close(pipe)

    def _flush(self) -> None:
        if self._is_batching:
            return
        try:
            while self._outbox:
                count = os.write(self._stdin, self._outbox[0][: 16 * _CHUNK])
                self.written += count
                if count < len(self._outbox[0]):
                    self._outbox[0] = self._outbox[0][count:]
                else:
                    self._outbox.popleft()
        except BlockingIOError:
            pass
        except OSError:  # the server no longer reads
            self._drop_stdin()
            return
        wanted = bool(self._outbox)
        if wanted and not self._writing:
            self._selector.register(self._stdin, selectors.EVENT_WRITE)
        elif self._writing and not wanted:
            self._selector.unregister(self._stdin)
        self._writing = wanted

    def _drop_stdin(self) -> None:
        self.stdin_closed_at = time.monotonic()
        self._outbox.clear()
        if self._writing:
            self._selector.unregister(self._stdin)
            self._writing = False

    def _read_stdout(self) -> None:
        chunk = _read(self._stdout)
        if chunk:
            for line in self.lines.feed(chunk):
                self._on_line(line)
        elif chunk is not None:
            self._end_stdout()

    def _end_stdout(self) -> None:
        self.stdout_closed_at = time.monotonic()
        self._selector.unregister(self._stdout)
        if (line := self.lines.finish()) is not None:
            self._on_line(line)

    def _read_stderr(self) -> None:
        chunk = _read(self._stderr)
        if chunk:
            self._on_stderr(chunk)
            for line in self._err_lines.feed(chunk):
                self._on_stderr_line(line)
        elif chunk is not None:
            self._end_stderr()

    def _end_stderr(self) -> None:
        self._err_open = False
        self._selector.unregister(self._stderr)
        if (line := self._err_lines.finish()) is not None:
            self._on_stderr_line(line)

    def _note_exit(self) -> None:
        if self._child.peek() is not None:
            self.exited_at = time.monotonic()


def _read(fd: int) -> bytes | None:
    """A chunk, empty at the end of the stream; None if no data is available."""
    try:
        return os.read(fd, _CHUNK)
    except BlockingIOError:
        return None
    except OSError:
        return b""


def _fileno(pipe: IO[bytes] | None) -> int:
    assert pipe is not None
    return pipe.fileno()


def _close(pipe: IO[bytes] | None) -> None:
    if pipe is not None:
        pipe.close()
