"""The three pipes of a server. One thread writes and reads all of them, so that the suite and the server cannot block
each other permanently.

Whenever the suite waits, it writes the server's stdin and reads its stdout and stderr at the same time. So there is no
deadlock if, for example, a server writes very much to stderr before it reads a large request. No call exceeds its
deadline.
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
_MAX_WAIT_S = 0.25
"""Longest wait for the pipes, in seconds. After it, `pump` checks again whether it is done."""
_MAX_WAIT_WITHOUT_EXIT_FD_S = 0.01
"""Longest wait for the pipes on systems where no file descriptor reports the exit of a process. It is short, so that
the exit is noticed soon."""
_STDERR_LINE_BYTES = 65536
"""Maximum number of bytes of a line of stderr. Longer lines are cut."""
_MAX_TRANSFER_S = 0.2
"""Longest time, in seconds, for `Channel.transfer_available`. It ends after this time even if more data keeps
arriving."""


class Channel:
    """The pipes of a running child.

    *on_line* is called with each line of the child's stdout, *on_stderr* with each chunk of its stderr, and
    *on_stderr_line* with each line of its stderr.
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
        """Time (`time.monotonic`) at which the suite closed the server's stdin, or noticed that the server had closed
        it. None before that."""
        self.stdout_closed_at: float | None = None
        self.exited_at: float | None = None
        self.queued = 0
        """Number of bytes that were passed to `write`, including a newline for each line."""
        self.written = 0
        """Number of queued bytes that the server's pipe has accepted."""

    def write(self, line: bytes) -> None:
        """Queue a line, and write as much of the queue as the pipe accepts without waiting.

        Within `batched_writes`, the line is only queued. After the server's stdin was closed, the line is dropped.
        """
        self.queued += len(line) + 1
        if self.stdin_closed_at is None:
            self._outbox.append(memoryview(line + b"\n"))
            self._flush()

    @contextmanager
    def batched_writes(self) -> Generator[None]:
        """Only queue the lines that are written within the block. At its end, begin to write all of them together."""
        self._is_batching = True
        try:
            yield
        finally:
            self._is_batching = False
            self._outbox = deque([memoryview(b"".join(self._outbox))] if self._outbox else [])
            self._flush()

    def pump(self, done: Callable[[], bool], deadline: float) -> None:
        """Write and read the pipes until *done* returns True, or until the process and its outputs have ended, but not
        longer than until the *deadline* (by `time.monotonic`)."""
        max_wait_s = _MAX_WAIT_S if self._child.exit_fd is not None else _MAX_WAIT_WITHOUT_EXIT_FD_S
        while not done():
            remaining_s = deadline - time.monotonic()
            self.poll(max(0.0, min(remaining_s, max_wait_s)))
            if remaining_s <= 0 or self.finished:
                return

    @property
    def finished(self) -> bool:
        """True if no more data can arrive, because the process has ended and its outputs were read to the end."""
        return self.exited_at is not None and self.stdout_closed_at is not None and not self._err_open

    def poll(self, timeout_s: float) -> bool:
        """Wait at most *timeout_s* until a pipe is ready, then read and write the pipes that are ready. Returns False
        if none was ready."""
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

    def transfer_available(self) -> None:
        """Read the data that is available, and write as much as the pipe accepts, without waiting."""
        deadline = time.monotonic() + _MAX_TRANSFER_S
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
        """Close all pipes. Before that, the last lines of the outputs are processed even if they have no newline."""
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
    """Return a chunk of data. It is empty at the end of the stream, and None if no data is available now."""
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
