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

SILENCE = 0.1
"""Share of the time limit for which a pipe may stay silent before it is given up."""


def patient(stream: IO[bytes] | FileIO, timeout_s: float, hint: str = "") -> Readable:
    """The stream, with a time limit if it may never end. (On Windows, there is no time limit.)

    *hint* is the end of the message of the `TimeoutError`.
    """
    try:
        descriptor = stream.fileno()
    except (OSError, ValueError):  # a stream in memory, without a file descriptor
        return cast("Readable", stream)
    if stat.S_ISREG(os.fstat(descriptor).st_mode) or os.name != "posix":
        return cast("Readable", stream)
    return PatientPipe(descriptor, timeout_s, hint)


class PatientPipe:
    """A pipe, FIFO or terminal that is read until its end, or until the time is up."""

    def __init__(self, descriptor: int, timeout_s: float, hint: str = "") -> None:
        self._descriptor = descriptor
        self._hint = hint
        self._timeout_s = timeout_s
        self._until = time.monotonic() + timeout_s

    def read(self, size: int, /) -> bytes:
        """At most *size* bytes; none at the end. Raises `TimeoutError` once the time limit has passed, or if the pipe
        is silent for a tenth of the time limit (`SILENCE`)."""
        quiet, left = SILENCE * self._timeout_s, self._until - time.monotonic()
        if left > 0 and select.select([self._descriptor], [], [], min(left, quiet))[0]:
            return os.read(self._descriptor, size)
        missing = f"nothing came for {quiet:.1f} s" if left >= quiet else f"no end within {self._timeout_s:g} s"
        raise TimeoutError(errno.ETIMEDOUT, missing + self._hint)
