"""Triggering a server's cleanup for as long as it deletes something."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lro_conformance.lab.bench import Bench


SETTLED_S = 0.25
"""How long after a deletion another one of the same run may come."""


def clean_up(bench: Bench, due: Sequence[Path], after: Callable[[], object] = lambda: None) -> None:
    """Trigger cleanup until all that is *due* in a folder is gone, or a run deletes nothing there.

    One that works on after its answer is given some time. Nothing is waited for where all of it is gone at once. Where
    nothing went, later runs are waited for about as long as the slowest that was seen. *after* is called after each.
    """
    folder = due[0].parent
    for _ in range(len(_names(folder)) + 1):  # no more, whatever a server takes away that it put there itself
        before = _names(folder)
        bench.cleanup()
        _wait(bench, folder, before, due)
        after()
        if not _any(due) or not before - _names(folder):
            return


def _wait(bench: Bench, folder: Path, before: set[str], due: Sequence[Path]) -> None:
    """Wait for what a run deletes late."""
    if not _any(due):
        return
    begun = last = time.monotonic()
    gone = len(before - _names(folder))
    while _any(due):
        now = time.monotonic()
        if now - begun >= bench.ledger.cleanup_patience_s or (gone and now - last >= SETTLED_S):
            break
        bench.pause(0.05)
        so_far = len(before - _names(folder))
        if so_far > gone:
            gone, last = so_far, time.monotonic()
            bench.ledger.cleanup_lag_s = max(bench.ledger.cleanup_lag_s, last - begun)
    if not _any(due):
        bench.pause(SETTLED_S)  # what it deletes besides, and what it says of it, comes late, too
    elif not gone:
        bench.ledger.cleanup_patience_s = min(bench.ledger.cleanup_patience_s, 2 * bench.ledger.cleanup_lag_s)


def _any(due: Sequence[Path]) -> bool:
    return any(os.path.lexists(path) for path in due)


def _names(folder: Path) -> set[str]:
    return set(os.listdir(folder)) if folder.is_dir() else set()
