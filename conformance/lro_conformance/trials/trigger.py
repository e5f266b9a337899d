"""Triggering a server's cleanup for as long as it deletes something, and cleaning up folders with planted files."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from lro_conformance.capture.call import Call
from lro_conformance.capture.file import FileSeen
from lro_conformance.trials.decoys import HOUR, OLD_AGE_S, plant
from lro_conformance.trials.exploration import Sweep
from lro_spec.filenames import parse_file_name

if TYPE_CHECKING:
    from lro_conformance.lab.bench import Bench


SETTLED_S = 0.25
"""A run of cleanup that has deleted something is regarded as ended if this many seconds pass without a deletion."""


def clean_up(bench: Bench, due: Sequence[Path], after: Callable[[], object] = lambda: None) -> None:
    """Trigger cleanup until all *due* files, which are in one folder, are gone, or until a run deletes nothing there.

    Some servers answer first and delete files afterwards, so the end of each run is awaited, unless the files are gone
    by the time of the answer. The wait for a run that deletes nothing takes up to `Ledger.cleanup_patience_s`, which is
    then reduced to twice the longest delay of a deletion so far. *after* is called after each run.
    """
    folder = due[0].parent
    for _ in range(len(_names(folder)) + 1):  # a bound, in case a server deletes and creates files of its own
        before = _names(folder)
        bench.cleanup()
        _wait(bench, folder, before, due)
        after()
        if not _any_exists(due) or not before - _names(folder):
            return


def _wait(bench: Bench, folder: Path, before: set[str], due: Sequence[Path]) -> None:
    """Wait for deletions that a run makes after its answer; *before* has the names in *folder* before the run."""
    if not _any_exists(due):
        return
    begun = last = time.monotonic()
    gone = len(before - _names(folder))
    while _any_exists(due):
        now = time.monotonic()
        if now - begun >= bench.ledger.cleanup_patience_s or (gone and now - last >= SETTLED_S):
            break
        bench.pause(0.05)
        so_far = len(before - _names(folder))
        if so_far > gone:
            gone, last = so_far, time.monotonic()
            bench.ledger.cleanup_lag_s = max(bench.ledger.cleanup_lag_s, last - begun)
    if not _any_exists(due):
        bench.pause(SETTLED_S)  # further deletions and their events come late, too
    elif not gone:
        bench.ledger.cleanup_patience_s = min(bench.ledger.cleanup_patience_s, 2 * bench.ledger.cleanup_lag_s)


def _any_exists(due: Sequence[Path]) -> bool:
    return any(os.path.lexists(path) for path in due)


def _names(folder: Path) -> set[str]:
    return set(os.listdir(folder)) if folder.is_dir() else set()


def template_in(call: Call, edition: str) -> FileSeen | None:
    """The file of a call, if planted files can be copies of it; otherwise None."""
    file = call.file
    if file is None or file.problem is not None or not parse_file_name(os.path.basename(file.path), edition=edition):
        return None
    return file


def sweep_beside(
    bench: Bench,
    call: Call,
    template: FileSeen,
    ages: Sequence[int],
    existing_files: Sequence[Path] = (),
    ttl_s: int = HOUR,
) -> Sweep:
    """Trigger cleanup of the folder of *template*, and return which files it deleted.

    Before that, copies of *template* with these *ages* (in seconds) are planted there; *existing_files* must be there
    already. Copies older than *ttl_s*, the server's TTL, are due. Copies that cleanup left are removed at the end.
    """
    edition, folder = bench.editions.own.name, Path(os.path.dirname(template.path))
    planted = [(age, plant(folder, template, age, call.operation, edition)) for age in ages]
    control = plant(folder, template, OLD_AGE_S, call.operation, edition)
    clean_up(bench, [control, *(path for age, path in planted if age > ttl_s)])
    sweep = Sweep(
        call,
        bench.cleanup_request,
        tuple((age, not path.exists()) for age, path in planted),
        tuple((path.name, not path.exists()) for path in existing_files),
        not control.exists(),
    )
    for path in (control, *(path for _, path in planted)):
        path.unlink(missing_ok=True)
    return sweep
