"""Shortages: a run lacks something, mostly on the machine. Neither the server nor the suite is at fault."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from pathlib import Path

LEAST_BYTES = 32 << 20
"""Free bytes of the temporary folder without which no run begins."""

RESERVE_BYTES = 8 << 20
"""Free bytes of the temporary folder below which a run ends, before a server could fail for lack of space."""

LEAST_LIMITS = {
    "NOFILE": ("open files", 256, 1, "", "ulimit -n 1024"),
    "AS": ("memory", 512, 1 << 20, " MiB", "ulimit -v unlimited"),
    "FSIZE": ("file size", LEAST_BYTES >> 20, 1 << 20, " MiB", "ulimit -f unlimited"),
}
"""Limits of each process, which servers inherit, and the least that a run needs.

Each entry has the limit's title, the least value in units, the size of a unit, the name of the unit as a suffix in
messages, and the command that raises the limit.
"""

_ADVICE = {
    errno.ENOSPC: "free some space, or set TMPDIR to another folder",
    errno.EDQUOT: "free some space, or set TMPDIR to another folder",
    errno.EMFILE: "raise the limit of open files: ulimit -n 1024",
    errno.ENFILE: "close other programs, which hold too many files",
    errno.ENOMEM: "close other programs, or raise the limit of memory: ulimit -v",
    errno.EAGAIN: "raise the limit of processes: ulimit -u",
}

_NO_THREAD = "can't start new thread"
"""The whole message of CPython if the machine refuses to start a thread."""


class Shortage(Exception):
    """A run lacks something that the machine or the profile has to provide; the message names it and says what to
    do."""


def shortage_of(problem: BaseException) -> str | None:
    """The shortage that caused an exception, in one line; None if none did."""
    if isinstance(problem, Shortage):
        return str(problem)
    if isinstance(problem, MemoryError):
        return f"the machine ran out of memory: {_ADVICE[errno.ENOMEM]}"
    if isinstance(problem, RuntimeError) and str(problem) == _NO_THREAD:
        return f"the machine, not the server: {problem}: {_ADVICE[errno.EAGAIN]}, or the limit of memory: ulimit -v"
    if not isinstance(problem, OSError) or problem.errno not in _ADVICE:
        return None
    where = f" ({problem.filename})" if problem.filename else ""
    return f"the machine, not the server: {os.strerror(problem.errno)}{where}: {_ADVICE[problem.errno]}"


def limits() -> Iterator[tuple[str, str, str | None]]:
    """Each limit of `LEAST_LIMITS`: its title, its value in words, and a line that says what is lacking, if anything
    is."""
    try:
        import resource
    except ImportError:  # Windows
        return
    for key, (name, least, unit, suffix, advice) in LEAST_LIMITS.items():
        value = resource.getrlimit(getattr(resource, f"RLIMIT_{key}"))[0]
        if value == resource.RLIM_INFINITY or value > 1 << 60:
            yield name, "no limit", None
            continue
        found = f"{value // unit:,}{suffix}"
        lack = f"the limit of {name} is {found}, and a run needs {least}{suffix}: {advice}"
        yield name, found, lack if value < least * unit else None


def lack_of_limits() -> str | None:
    """A line that says which of the `LEAST_LIMITS` is not met; None if all are."""
    return next((lack for _, _, lack in limits() if lack is not None), None)


def lack_of_space(folder: Path | None = None, least: int = LEAST_BYTES) -> str | None:
    """A line that says what the temporary folder lacks.

    None if the folder has *least* free bytes and a free inode, or if the system does not tell.
    """
    import tempfile  # imported here, because the command line loads this module, and few commands need the folder

    try:
        place = folder or Path(tempfile.gettempdir())
        found = os.statvfs(place)
    except (OSError, AttributeError):  # there is no such folder, as its next user will report; or this is Windows
        return None
    free = found.f_bavail * found.f_frsize
    if free >= least and (found.f_favail or not found.f_files):
        return None
    left = f"{free:,} bytes free" if free < least else "no inodes free"
    return f"the temporary folder {place} is full ({left}): {_ADVICE[errno.ENOSPC]}"
