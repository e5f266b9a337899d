"""Reading pipes with a time limit, so that a command such as a pre-commit hook does not wait for a pipe that never ends
or stays silent."""

from __future__ import annotations

import errno
import os
import select
import stat
import time
from io import FileIO
from typing import IO, TYPE_CHECKING, cast

if TYPE_CHECKING:
    from lro_spec.jsonl.lines import Readable

TIMEOUT_S = 600.0
"""Longest time, in seconds, for which `lro validate` reads a pipe by default."""

MAX_SILENCE_SHARE = 0.1
"""Share of the time limit. If a pipe sends nothing for this share, the suite stops reading it."""


def patient(stream: IO[bytes] | FileIO, timeout_s: float, hint: str = "") -> Readable:
    """Return the stream itself if it is a regular file or in memory. Otherwise return a reader of it with a time limit.

    On Windows, there is no time limit. *hint* is the end of the message of the `TimeoutError`.
    """
    try:
        descriptor = stream.fileno()
    except (OSError, ValueError):  # a stream in memory, without a file descriptor
        return cast("Readable", stream)
    if stat.S_ISREG(os.fstat(descriptor).st_mode) or os.name != "posix":
        return cast("Readable", stream)
    return PatientPipe(descriptor, timeout_s, hint)


class PatientPipe:
    """Reader of a pipe, FIFO or terminal, with a time limit."""

    def __init__(self, descriptor: int, timeout_s: float, hint: str = "") -> None:
        self._descriptor = descriptor
        self._hint = hint
        self._timeout_s = timeout_s
        self._deadline = time.monotonic() + timeout_s

    def read(self, size: int, /) -> bytes:
        """Read at most *size* bytes. Returns no bytes at the end of the stream.

        Raises `TimeoutError` once the time limit has passed, or if the pipe sends nothing for a tenth of the time limit
        (`MAX_SILENCE_SHARE`).
        """
        max_silence_s, remaining_s = MAX_SILENCE_SHARE * self._timeout_s, self._deadline - time.monotonic()
        if remaining_s > 0 and select.select([self._descriptor], [], [], min(remaining_s, max_silence_s))[0]:
            return os.read(self._descriptor, size)
        is_silent = remaining_s >= max_silence_s
        reason = f"nothing came for {max_silence_s:.1f} s" if is_silent else f"no end within {self._timeout_s:g} s"
        raise TimeoutError(errno.ETIMEDOUT, reason + self._hint)
