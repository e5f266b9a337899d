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

    Hidden files and folders are left out, and so are folders that are filled by tools, and files that are written by
    the run itself. *written* has the paths of the files that the run writes, or of folders that contain these files.
    """
    written_paths = {os.path.realpath(path) for path in written}
    files: State = {}
    for path in _files(paths):
        try:
            status = os.stat(path)
        except OSError:
            continue
        if written_paths and not written_paths.isdisjoint(
            {real_path := os.path.realpath(path), *map(str, Path(real_path).parents)}
        ):
            continue
        files[path] = (status.st_mtime_ns, status.st_size)
    return files


def _files(paths: Sequence[Path]) -> Iterator[str]:
    for path in paths:
        if path.is_file():
            yield str(path)
        for folder, subfolders, names in os.walk(path):
            subfolders[:] = [f for f in subfolders if f not in _SKIPPED and not f.startswith(".")]
            yield from (os.path.join(folder, n) for n in names if not n.startswith("."))


def changes(
    paths: Sequence[Path],
    previous: State,
    written: Collection[Path] = (),
    sleep: Callable[[float], object] = time.sleep,
) -> Iterator[str]:
    """Yield the path of a file that changed since the state *previous*. Then yield the path of a file after each later
    change.

    This never ends. For *written* see `state`.
    """
    while True:
        sleep(POLL_S)
        current = state(paths, written)
        if current == previous:
            continue
        changed = next((p for p in {**previous, **current} if previous.get(p) != current.get(p)), "")
        while True:
            sleep(SETTLE_S)
            later = state(paths, written)
            if later == current:
                break
            current = later
        previous = current
        yield changed
