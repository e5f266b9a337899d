"""Opens files whose names come from somebody else: only regular files outside of system folders, and without
waiting."""

from __future__ import annotations

import errno
import os
import stat
from typing import BinaryIO

_SYSTEM_FOLDERS = ("/proc/", "/sys/", "/dev/")


def open_regular(path: str | os.PathLike[str], *, follow_links: bool = True) -> BinaryIO:
    """Open a regular file for reading, unbuffered.

    Raises `OSError` for a pipe, a device, a folder, and everything in ``/proc``, ``/sys`` and ``/dev``, because the
    files there are made up by the system. If *follow_links* is false, `OSError` is also raised for a symbolic link.
    Opening never waits.
    """
    if os.path.realpath(path).startswith(_SYSTEM_FOLDERS):
        raise OSError(errno.EPERM, "a file of the system, which is not opened", os.fspath(path))
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    descriptor = os.open(path, flags | (0 if follow_links else getattr(os, "O_NOFOLLOW", 0)))
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "not a regular file", os.fspath(path))
    return os.fdopen(descriptor, "rb", buffering=0)


def read_regular(path: str | os.PathLike[str], max_bytes: int, *, follow_links: bool = True) -> bytes:
    """The content of a regular file. Raises `OSError` like `open_regular`, and for a file of more than *max_bytes*
    bytes."""
    with open_regular(path, follow_links=follow_links) as file:
        parts: list[bytes] = []
        remaining = max_bytes + 1
        while remaining and (part := file.read(remaining)):
            parts.append(part)
            remaining -= len(part)
        if not remaining:
            raise OSError(errno.EFBIG, f"larger than {max_bytes:,} bytes", os.fspath(path))
        return b"".join(parts)
