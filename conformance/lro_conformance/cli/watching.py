"""Detection of changed files, so that a command can run again."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path

POLL_S = 0.5
"""Seconds between two looks at the files."""
SETTLE_S = 0.3
"""Seconds without a further change before a run begins."""

State = dict[str, tuple[int, int]]
"""Time of change in nanoseconds and size in bytes, by path."""

_SKIPPED = {"__pycache__", "node_modules", ".git", ".venv", "venv", "target", "dist", "build"}


def state(paths: Sequence[Path], written: Collection[Path] = ()) -> State:
    """Time of change and size of every file in these paths.

    Left out are hidden files and folders, folders that tools fill, and files that a run itself writes: *written* has
    the paths of these files, or of folders that contain them.
    """
    own = {os.path.realpath(path) for path in written}
    found: State = {}
    for path in _files(paths):
        try:
            seen = os.stat(path)
        except OSError:
            continue
        if own and not own.isdisjoint({place := os.path.realpath(path), *map(str, Path(place).parents)}):
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


def changes(
    paths: Sequence[Path], known: State, written: Collection[Path] = (), sleep: Callable[[float], object] = time.sleep
) -> Iterator[str]:
    """Yield the path of a file that changed since the state *known*, then that of one file after each later change.

    This never ends. For *written* see `state`.
    """
    while True:
        sleep(POLL_S)
        now = state(paths, written)
        if now == known:
            continue
        changed = next((p for p in {**known, **now} if known.get(p) != now.get(p)), "")
        while True:
            sleep(SETTLE_S)
            later = state(paths, written)
            if later == now:
                break
            now = later
        known = now
        yield changed
