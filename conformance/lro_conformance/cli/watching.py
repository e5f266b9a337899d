"""Running again whenever files change."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

POLL_S = 0.5
SETTLE_S = 0.3
"""Seconds between two looks at the files, and without a further change before a run begins."""

_SKIPPED = {"__pycache__", "node_modules", ".git", ".venv", "venv", "target", "dist", "build"}


def state(paths: Sequence[Path]) -> dict[str, tuple[int, int]]:
    """Time of change and size of every file in these paths; folders that tools fill are left out."""
    found: dict[str, tuple[int, int]] = {}
    for path in _files(paths):
        try:
            seen = os.stat(path)
        except OSError:
            continue
        found[path] = (seen.st_mtime_ns, seen.st_size)
    return found


def _files(paths: Sequence[Path]) -> Iterator[str]:
    for path in paths:
        if path.is_file():
            yield str(path)
        for here, folders, names in os.walk(path):
            folders[:] = [f for f in folders if f not in _SKIPPED and not f.startswith(".")]
            yield from (os.path.join(here, n) for n in names if not n.startswith("."))


State = dict[str, tuple[int, int]]


def changes(paths: Sequence[Path], known: State, sleep: Callable[[float], object] = time.sleep) -> Iterator[str]:
    """Yield the path of a file that changed since the state *known*, and after each later change, for ever."""
    while True:
        sleep(POLL_S)
        now = state(paths)
        if now == known:
            continue
        changed = next((p for p in {**known, **now} if known.get(p) != now.get(p)), "")
        while True:
            sleep(SETTLE_S)
            later = state(paths)
            if later == now:
                break
            now = later
        known = now
        yield changed
