"""Child processes, as Linux lists them."""

from __future__ import annotations

import os
import time
from pathlib import Path


def children(pid: int | None = None) -> list[int]:
    """The processes that a process (this one by default) has started and that have not been reaped."""
    tasks = Path(f"/proc/{pid or os.getpid()}/task")
    try:
        return sorted(int(child) for task in tasks.iterdir() for child in (task / "children").read_text().split())
    except FileNotFoundError:
        return []


def descendants(pid: int) -> list[int]:
    """The children of a process, theirs, and so on."""
    return [each for child in children(pid) for each in (child, *descendants(child))]


def alive(pid: int) -> bool:
    """True if a process runs; False if it has ended, whether or not it was reaped."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in ("Z", "X")
    except (FileNotFoundError, ProcessLookupError):
        return False


def wait_for_end(pids: list[int], seconds: float = 10.0) -> list[int]:
    """The processes that still run after some seconds."""
    until = time.monotonic() + seconds
    while (left := [pid for pid in pids if alive(pid)]) and time.monotonic() < until:
        time.sleep(0.02)
    return left
