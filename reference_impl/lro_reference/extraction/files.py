"""Which files may be read: those that this very process has offloaded, by whatever path they are asked for.

A path is never trusted to say what it means. It is taken apart into a folder, which must be the output folder, and a
name, which must be one that was offered. The file is then opened relative to that folder and without following a link,
and what was opened must be the very file that was written, unchanged.
"""

from __future__ import annotations

import os
import stat
import time
from collections import OrderedDict
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import BinaryIO, Generic, TypeVar

from lro_reference.extraction.limits import Refused
from lro_reference.tooling import shown

Told = TypeVar("Told")
_MOST_REMEMBERED = 10_000
_LONGEST_PATH = 4096
_Identity = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class OffloadedFile(Generic[Told]):
    """A file that was offered, and what was said of it."""

    name: str
    told: Told
    """Its descriptor, for a result."""
    identity: _Identity
    expires: float
    """In seconds since the epoch."""


class OffloadedFiles(Generic[Told]):
    """The files of one process in one folder.

    *clock* gives seconds since the epoch; *told_by* and *again* say in errors where paths come from, and what to do
    when a file is gone.
    """

    def __init__(
        self,
        folder: str,
        ttl_seconds: int,
        clock: Callable[[], float] = time.time,
        *,
        told_by: str = "the file_path of a descriptor",
        again: str = "make the original call again",
    ) -> None:
        self.folder = folder
        self._ttl_seconds = ttl_seconds
        self._clock = clock
        self._told_by, self._again = told_by, again
        self._offered: OrderedDict[str, OffloadedFile[Told]] = OrderedDict()

    def remember(self, path: str, told: Told) -> None:
        """A file has just been written, and its path goes out."""
        name = os.path.basename(path)
        status = os.stat(path, follow_symlinks=False)
        expires = self._clock() + self._ttl_seconds
        self._offered[name] = OffloadedFile(name, told, _identity(status), expires)
        while len(self._offered) > _MOST_REMEMBERED:
            self._offered.popitem(last=False)

    def names(self) -> list[str]:
        """The files that can be read, newest first."""
        now = self._clock()
        return [name for name, file in reversed(self._offered.items()) if file.expires > now]

    def holds(self, name: str) -> bool:
        """Whether a file can be read as it was written."""
        try:
            with self.open(name):
                return True
        except Refused:
            return False

    @contextmanager
    def open(self, path: str) -> Generator[tuple[OffloadedFile[Told], BinaryIO]]:
        """The file that a path or a bare name means, for reading. Raises `Refused`."""
        name = self._name(path)
        known = self._offered.get(name)
        if known is None:
            raise Refused(
                f"{shown(path)} is no result that this server has offloaded (or it is gone); "
                f"use {self._told_by}{self._hint()}"
            )
        if known.expires <= self._clock():
            raise Refused(f"{name} has expired (files are kept {self._ttl_seconds} s): {self._again}")
        with os.fdopen(self._opened(known), "rb", buffering=1 << 18) as file:
            yield known, file

    def _name(self, path: str) -> str:
        """The name within the folder; refuses what lies elsewhere."""
        if "\0" in path or len(path) > _LONGEST_PATH or not path:
            raise Refused(f"{shown(path)} is no path: use {self._told_by}")
        head, name = os.path.split(path)
        if ".." in path.split("/") or (head and not os.path.isabs(head)) or not name:
            raise Refused(f"{shown(path)} is refused: give {self._told_by}, or the file's name alone")
        if head and os.path.realpath(head) != os.path.realpath(self.folder):
            raise Refused(f"{shown(path)} is refused: it is not in the folder of offloaded results")
        return name

    def _opened(self, known: OffloadedFile[Told]) -> int:
        try:
            directory = os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                # Without O_NONBLOCK a named pipe that was put there would hold the call for ever.
                flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
                file = os.open(known.name, flags, dir_fd=directory)
            finally:
                os.close(directory)
        except FileNotFoundError:
            raise Refused(f"{known.name} has been deleted: {self._again}") from None
        except OSError as problem:
            raise Refused(f"{known.name} cannot be read ({problem.strerror}): {self._again}") from None
        if _identity(os.fstat(file)) != known.identity:
            os.close(file)
            raise Refused(f"{known.name} is not the file that was written any more: {self._again}")
        return file

    def _hint(self) -> str:
        names = self.names()[:3]
        return f", for example {', '.join(names)}" if names else ""


def _identity(status: os.stat_result) -> _Identity:
    # Nobody writes to an offloaded file again, so any change makes it another one.
    size = status.st_size if stat.S_ISREG(status.st_mode) and status.st_nlink == 1 else -1
    return status.st_dev, status.st_ino, size, status.st_mtime_ns
