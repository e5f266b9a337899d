"""Opens files that somebody else has named: only regular files, no system files, and without waiting."""

from __future__ import annotations

import errno
import os
import stat
from typing import BinaryIO

_SYSTEM_FOLDERS = ("/proc/", "/sys/", "/dev/")


def open_regular(path: str | os.PathLike[str], *, follow_links: bool = True) -> BinaryIO:
    """Open a regular file for reading, unbuffered.

    Raises `OSError` for a pipe, a device, a folder, and everything in ``/proc``, ``/sys`` and ``/dev``, whose files the
    system makes up; unless *follow_links*, also for a symbolic link. Opening never waits.
    """
    if os.path.realpath(path).startswith(_SYSTEM_FOLDERS):
        raise OSError(errno.EPERM, "a file of the system, which is not opened", os.fspath(path))
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    descriptor = os.open(path, flags | (0 if follow_links else getattr(os, "O_NOFOLLOW", 0)))
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "not a regular file", os.fspath(path))
    return os.fdopen(descriptor, "rb", buffering=0)


def read_regular(path: str | os.PathLike[str], most: int, *, follow_links: bool = True) -> bytes:
    """The content of a regular file. Raises `OSError` like `open_regular`, and for a file of more than *most* bytes."""
    with open_regular(path, follow_links=follow_links) as file:
        parts: list[bytes] = []
        left = most + 1
        while left and (part := file.read(left)):
            parts.append(part)
            left -= len(part)
        if not left:
            raise OSError(errno.EFBIG, f"larger than {most:,} bytes", os.fspath(path))
        return b"".join(parts)
