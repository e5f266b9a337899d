"""Shortages: a run lacks something that it needs, mostly a resource of the machine. It is not a fault of the server or
of the suite."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from pathlib import Path

MIN_FREE_BYTES = 32 << 20
"""A run begins only if the temporary folder has at least this many free bytes."""

RESERVE_BYTES = 8 << 20
"""A run ends if the temporary folder has less than this many free bytes, before a server could fail for lack of
space."""

REQUIRED_LIMITS = {
    "NOFILE": ("open files", 256, 1, "", "ulimit -n 1024"),
    "AS": ("memory", 512, 1 << 20, " MiB", "ulimit -v unlimited"),
    "FSIZE": ("file size", MIN_FREE_BYTES >> 20, 1 << 20, " MiB", "ulimit -f unlimited"),
}
"""Limits of the process, which servers inherit, with the lowest values that a run needs.

Each entry has the title of the limit, its lowest value in units, the size of a unit, the name of the unit as a suffix
in messages, and the command that raises the limit.
"""

_ADVICE = {
    errno.ENOSPC: "free some space, or set TMPDIR to another folder",
    errno.EDQUOT: "free some space, or set TMPDIR to another folder",
    errno.EMFILE: "raise the limit of open files: ulimit -n 1024",
    errno.ENFILE: "close other programs, which hold too many files",
    errno.ENOMEM: "close other programs, or raise the limit of memory: ulimit -v",
    errno.EAGAIN: "raise the limit of processes: ulimit -u",
}

_NO_THREAD_MESSAGE = "can't start new thread"
"""The complete message of CPython's error if the machine refuses to start a thread."""


class Shortage(Exception):
    """Raised if a run lacks something that the machine or the profile has to provide. The message names what is lacking
    and says what to do."""


def shortage_of(problem: BaseException) -> str | None:
    """Return the shortage that caused an exception, in one line; None if the cause was not a shortage."""
    if isinstance(problem, Shortage):
        return str(problem)
    if isinstance(problem, MemoryError):
        return f"the machine ran out of memory: {_ADVICE[errno.ENOMEM]}"
    if isinstance(problem, RuntimeError) and str(problem) == _NO_THREAD_MESSAGE:
        return f"the machine, not the server: {problem}: {_ADVICE[errno.EAGAIN]}, or the limit of memory: ulimit -v"
    if not isinstance(problem, OSError) or problem.errno not in _ADVICE:
        return None
    file = f" ({problem.filename})" if problem.filename else ""
    return f"the machine, not the server: {os.strerror(problem.errno)}{file}: {_ADVICE[problem.errno]}"


def limits() -> Iterator[tuple[str, str, str | None]]:
    """Yield each limit of `REQUIRED_LIMITS`: its title, its current value in words, and a line that says what is
    lacking. The line is None if the limit is high enough."""
    try:
        import resource
    except ImportError:  # Windows
        return
    for key, (title, lowest, unit, suffix, advice) in REQUIRED_LIMITS.items():
        value = resource.getrlimit(getattr(resource, f"RLIMIT_{key}"))[0]
        if value == resource.RLIM_INFINITY or value > 1 << 60:
            yield title, "no limit", None
            continue
        value_in_words = f"{value // unit:,}{suffix}"
        lack = f"the limit of {title} is {value_in_words}, and a run needs {lowest}{suffix}: {advice}"
        yield title, value_in_words, lack if value < lowest * unit else None


def lack_of_limits() -> str | None:
    """Return a line that says which limit is lower than `REQUIRED_LIMITS` requires; None if all limits are high
    enough."""
    return next((lack for _, _, lack in limits() if lack is not None), None)


def lack_of_space(folder: Path | None = None, least: int = MIN_FREE_BYTES) -> str | None:
    """Return a line that says what the temporary folder, or the given folder, lacks.

    Returns None if the folder has *least* free bytes and a free inode, or if the system does not report these numbers.
    """
    import tempfile  # imported here: every command loads this module, but few commands need the folder

    try:
        checked_folder = folder or Path(tempfile.gettempdir())
        status = os.statvfs(checked_folder)
    except (OSError, AttributeError):  # there is no such folder, which its next user will report; or this is Windows
        return None
    free_bytes = status.f_bavail * status.f_frsize
    if free_bytes >= least and (status.f_favail or not status.f_files):
        return None
    free_space = f"{free_bytes:,} bytes free" if free_bytes < least else "no inodes free"
    return f"the temporary folder {checked_folder} is full ({free_space}): {_ADVICE[errno.ENOSPC]}"
