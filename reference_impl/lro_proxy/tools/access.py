"""Access to the files that this process has offloaded, and to no other.

A path is never trusted. It is split into a folder and a name. The folder must be the output folder or absent. The name
must be the name of a file that this process has published. The file is then opened relative to that folder and without
following links. It must be the file that was written, and unchanged.
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
_MAX_REMEMBERED = 10_000
_MAX_PATH_LENGTH = 4096
_Identity = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class OffloadedFile(Generic[Descriptor]):
    """A file that was published, with its descriptor."""

    name: str
    descriptor: Descriptor
    """None for a message that the tool context_offload has moved out of a conversation."""
    identity: _Identity
    expires: float
    """In seconds since the epoch."""


class OffloadedFiles(Generic[Descriptor]):
    """The files of one process in one folder.

    *clock* returns seconds since the epoch. *path_source* and *gone_advice* are parts of error messages.
    *path_source* says where callers find valid paths. *gone_advice* is the end of the message about a file that can no
    longer be read, for instance because it has expired.
    """

    def __init__(
        self,
        folder: str,
        ttl_seconds: int,
        clock: Callable[[], float] = time.time,
        *,
        path_source: str = "the file_path of a descriptor",
        gone_advice: str = "make the original call again",
    ) -> None:
        self.folder = folder
        self._ttl_seconds = ttl_seconds
        self._clock = clock
        self._path_source, self._gone_advice = path_source, gone_advice
        self._files: OrderedDict[str, OffloadedFile[Descriptor]] = OrderedDict()

    def remember(self, path: str, descriptor: Descriptor) -> None:
        """Add a file that has just been written."""
        name = os.path.basename(path)
        status = os.stat(path, follow_symlinks=False)
        expires = self._clock() + self._ttl_seconds
        self._files[name] = OffloadedFile(name, descriptor, _identity(status), expires)
        while len(self._files) > _MAX_REMEMBERED:
            self._files.popitem(last=False)

    def names(self) -> list[str]:
        """Names of the files that have not expired, newest first."""
        now = self._clock()
        return [name for name, file in reversed(self._files.items()) if file.expires > now]

    def can_open(self, name: str) -> bool:
        """True if a file can be opened, that is, if it has not expired and is unchanged."""
        try:
            with self.open(name):
                return True
        except Refused:
            return False

    @contextmanager
    def open(self, path: str) -> Generator[tuple[OffloadedFile[Descriptor], BinaryIO]]:
        """Open a file for reading, given its path or only its name. Raises `Refused`."""
        name = self._name(path)
        offloaded = self._files.get(name)
        if offloaded is None:
            raise Refused(
                f"{abbreviate(path)} names no result that this server has offloaded, or it is gone; "
                f"use {self._path_source}{self._hint()}"
            )
        if offloaded.expires <= self._clock():
            raise Refused(f"{name} has expired (files are kept {self._ttl_seconds} s): {self._gone_advice}")
        with os.fdopen(self._open_checked(offloaded), "rb", buffering=1 << 18) as file:
            yield offloaded, file

    def _name(self, path: str) -> str:
        """The file name in a path. Raises `Refused` for paths outside the folder."""
        if "\0" in path or len(path) > _MAX_PATH_LENGTH or not path:
            raise Refused(f"{abbreviate(path)} is not a path: use {self._path_source}")
        head, name = os.path.split(path)
        if ".." in path.split("/") or (head and not os.path.isabs(head)) or not name:
            raise Refused(f"{abbreviate(path)} is refused: give {self._path_source}, or the file's name alone")
        if head and os.path.realpath(head) != os.path.realpath(self.folder):
            raise Refused(f"{abbreviate(path)} is refused: it is not in the folder of offloaded results")
        return name

    def _open_checked(self, offloaded: OffloadedFile[Descriptor]) -> int:
        try:
            directory = os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                # Without O_NONBLOCK a named pipe of that name would block the call forever.
                flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
                file = os.open(offloaded.name, flags, dir_fd=directory)
            finally:
                os.close(directory)
        except FileNotFoundError:
            raise Refused(f"{offloaded.name} has been deleted: {self._gone_advice}") from None
        except OSError as problem:
            raise Refused(f"{offloaded.name} cannot be read ({problem.strerror}): {self._gone_advice}") from None
        if _identity(os.fstat(file)) != offloaded.identity:
            os.close(file)
            raise Refused(
                f"{offloaded.name} is not the file that was written, but was changed or replaced: {self._gone_advice}"
            )
        return file

    def _hint(self) -> str:
        names = self.names()[:3]
        return f", for example {', '.join(names)}" if names else ""


def _identity(status: os.stat_result) -> _Identity:
    # An offloaded file is never written again, so any change means a different file.
    size = status.st_size if stat.S_ISREG(status.st_mode) and status.st_nlink == 1 else -1
    return status.st_dev, status.st_ino, size, status.st_mtime_ns
