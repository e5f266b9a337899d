"""A second process for a long file: it reads half of its stretches, and tells the first one what it found sound.

That takes a few bytes: the hashes of the ids, and what a summary needs to know. Of a stretch with anything else in it
it tells nothing, and the first process reads that itself; so findings and their order are as without the second one.
It is forked before the file is read, and only from a process without threads. Linux only: elsewhere one process reads.
"""

from __future__ import annotations

import os
import pickle
import signal
import stat
import sys
import threading
from array import array
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import IO, NamedTuple

from lro_spec.physical_lines import Readable
from lro_spec.summary_rules import Facts

STRETCH_BYTES = 4 * 1024 * 1024
LEAST_BYTES = 6 * STRETCH_BYTES
"""How long a file has to be for a second process to be worth its start."""

_SECOND = (1, 3, 5, 7, 9, 10)
"""Which of eleven stretches are the second process's: the first one has all ids to look through besides."""
_PIPE_BYTES = 1 << 20
_LOOK_BYTES = 1 << 16


class Beside(NamedTuple):
    """What a second process needs to read along, and who is told how far the two have come."""

    fd: int
    """A regular file, of the very bytes that are judged."""
    passed: Callable[[int], object]
    """Is told how many bytes were read otherwise than from the stream."""

    @staticmethod
    def of(file: IO[bytes], packed: Readable, stream: Readable, passed: Callable[[int], object]) -> Beside | None:
        """For *file*, read as *stream*; None where that is no regular file, or *packed* had to be unpacked for it."""
        plain = stream is packed and stat.S_ISREG(os.fstat(file.fileno()).st_mode)
        return Beside(file.fileno(), passed) if plain else None

    def is_worth_it(self) -> bool:
        """Whether the file is long, there is a second core, and nothing speaks against a fork."""
        if sys.platform != "linux" or os.fstat(self.fd).st_size < LEAST_BYTES:
            return False
        return len(os.sched_getaffinity(0)) > 1 and threading.active_count() == 1


class Sound(NamedTuple):
    """What is told of a stretch that holds records without fault, and nothing else."""

    ids: array[int]
    """Their hashes, in the order of the file."""
    facts: Facts


class Stretch(NamedTuple):
    """Whole lines of a file."""

    start: int
    """Where the first begins, in bytes."""
    size: int
    """In bytes; of the last stretch, as far as the file went when it was looked at."""
    second: bool
    """Whether it is the second process's."""
    last: bool
    """Whether it goes on to the file's end, wherever that is."""


class Range:
    """A stretch as a stream."""

    def __init__(self, fd: int, stretch: Stretch) -> None:
        self._fd = fd
        self._at = stretch.start
        self._end = None if stretch.last else stretch.start + stretch.size

    def read(self, size: int, /) -> bytes:
        """At most *size* bytes; none at the end."""
        wanted = size if self._end is None else min(size, self._end - self._at)
        data = os.pread(self._fd, wanted, self._at)
        self._at += len(data)
        return data


def stretches(fd: int) -> Iterator[Stretch]:
    """The whole of a file, in order; the first and the last stretch are the first process's."""
    size = os.fstat(fd).st_size
    start, number = 0, 0
    while (cut := _line_start(fd, start + STRETCH_BYTES)) < size:
        yield Stretch(start, cut - start, number % 11 in _SECOND, False)
        start, number = cut, number + 1
    yield Stretch(start, size - start, False, True)


def _line_start(fd: int, at: int) -> int:
    """Where the first line starts at *at* or behind it; the end of the file, where none does."""
    at -= 1  # a line starts at *at* when the byte before it is a line feed
    while data := os.pread(fd, _LOOK_BYTES, at):
        found = data.find(b"\n")
        if found >= 0:
            return at + found + 1
        at += len(data)
    return at


class SecondReader:
    """The second process, as a context manager: gone at the end, whatever happened."""

    def __init__(self, told: Callable[[], Iterator[Sound | None]]) -> None:
        """*told* yields, over there, what is to be told of one stretch after the other."""
        self._told = told

    def __enter__(self) -> SecondReader:
        self._out, into = os.pipe()
        self._pid = os.fork()
        if self._pid == 0:
            try:
                os.close(self._out)  # so that writing fails once the first process is gone
                self._tell(into)
            finally:
                os._exit(0)
        os.close(into)
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._out)
        with suppress(ProcessLookupError, ChildProcessError):
            os.kill(self._pid, signal.SIGKILL)
            os.waitpid(self._pid, 0)

    def next(self) -> Sound | None:
        """What it found in its next stretch; None when that needs a closer look, or nobody is there any more."""
        size = self._read(8)
        data = self._read(int.from_bytes(size)) if size else b""
        return pickle.loads(data) if data else None  # written by this very program

    def _read(self, size: int) -> bytes:
        parts: list[bytes] = []
        while size and (part := os.read(self._out, size)):
            parts.append(part)
            size -= len(part)
        return b"" if size else b"".join(parts)

    def _tell(self, into: int) -> None:
        import fcntl

        with suppress(OSError):  # a wider pipe lets it go ahead by some stretches
            fcntl.fcntl(into, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
        for sound in self._told():
            data = pickle.dumps(sound)
            rest = memoryview(len(data).to_bytes(8) + data)
            while rest:
                rest = rest[os.write(into, rest) :]
