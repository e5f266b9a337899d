"""Access to the files that this process has offloaded, and to no other.

A path is never trusted. It is split into a folder, which must be the output folder or absent, and a name, which must be
one that this process has published. The file is then opened relative to that folder and without following links, and it
must be the file that was written, unchanged.
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

from lro_proxy.tools.limits import Refused
from lro_reference.tool import abbreviate

Descriptor = TypeVar("Descriptor")
_MOST_REMEMBERED = 10_000
_LONGEST_PATH = 4096
_Identity = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class OffloadedFile(Generic[Descriptor]):
    """A file that was published, with its descriptor."""

    name: str
    descriptor: Descriptor
    """Its descriptor; None for a message that the tool context_offload has moved out of a conversation."""
    identity: _Identity
    expires: float
    """In seconds since the epoch."""


class OffloadedFiles(Generic[Descriptor]):
    """The files of one process in one folder.

    *clock* returns seconds since the epoch. *source* and *again* are parts of error messages. *source* says where
    callers find valid paths. *again* ends the message about a file that can no longer be read, for instance because it
    has expired, with advice or a consequence.
    """

    def __init__(
        self,
        folder: str,
        ttl_seconds: int,
        clock: Callable[[], float] = time.time,
        *,
        source: str = "the file_path of a descriptor",
        again: str = "make the original call again",
    ) -> None:
        self.folder = folder
        self._ttl_seconds = ttl_seconds
        self._clock = clock
        self._source, self._again = source, again
        self._files: OrderedDict[str, OffloadedFile[Descriptor]] = OrderedDict()

    def remember(self, path: str, descriptor: Descriptor) -> None:
        """Add a file that has just been written."""
        name = os.path.basename(path)
        status = os.stat(path, follow_symlinks=False)
        expires = self._clock() + self._ttl_seconds
        self._files[name] = OffloadedFile(name, descriptor, _identity(status), expires)
        while len(self._files) > _MOST_REMEMBERED:
            self._files.popitem(last=False)

    def names(self) -> list[str]:
        """Names of the files that have not expired, newest first."""
        now = self._clock()
        return [name for name, file in reversed(self._files.items()) if file.expires > now]

    def holds(self, name: str) -> bool:
        """True if a file can be opened: it has not expired, and is unchanged."""
        try:
            with self.open(name):
                return True
        except Refused:
            return False

    @contextmanager
    def open(self, path: str) -> Generator[tuple[OffloadedFile[Descriptor], BinaryIO]]:
        """Open the file of a path or a bare name for reading. Raises `Refused`."""
        name = self._name(path)
        known = self._files.get(name)
        if known is None:
            raise Refused(
                f"{abbreviate(path)} names no result that this server has offloaded, or it is gone; "
                f"use {self._source}{self._hint()}"
            )
        if known.expires <= self._clock():
            raise Refused(f"{name} has expired (files are kept {self._ttl_seconds} s): {self._again}")
        with os.fdopen(self._open_checked(known), "rb", buffering=1 << 18) as file:
            yield known, file

    def _name(self, path: str) -> str:
        """The file name in a path. Raises `Refused` for paths outside the folder."""
        if "\0" in path or len(path) > _LONGEST_PATH or not path:
            raise Refused(f"{abbreviate(path)} is not a path: use {self._source}")
        head, name = os.path.split(path)
        if ".." in path.split("/") or (head and not os.path.isabs(head)) or not name:
            raise Refused(f"{abbreviate(path)} is refused: give {self._source}, or the file's name alone")
        if head and os.path.realpath(head) != os.path.realpath(self.folder):
            raise Refused(f"{abbreviate(path)} is refused: it is not in the folder of offloaded results")
        return name

    def _open_checked(self, known: OffloadedFile[Descriptor]) -> int:
        try:
            directory = os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                # Without O_NONBLOCK a named pipe of that name would block the call forever.
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
            raise Refused(f"{known.name} is not the file that was written, but was changed or replaced: {self._again}")
        return file

    def _hint(self) -> str:
        names = self.names()[:3]
        return f", for example {', '.join(names)}" if names else ""


def _identity(status: os.stat_result) -> _Identity:
    # An offloaded file is never written again, so any change means a different file.
    size = status.st_size if stat.S_ISREG(status.st_mode) and status.st_nlink == 1 else -1
    return status.st_dev, status.st_ino, size, status.st_mtime_ns
