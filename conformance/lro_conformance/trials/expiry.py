"""The expiry of the server's own files."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from lro_conformance.capture.call import Call, CallSubject
from lro_conformance.capture.file import FileSeen
from lro_conformance.capture.reproduce import of_cleaning, of_cleaning_at_start, of_expiry_between
from lro_conformance.capture.start import Entry, Start
from lro_conformance.judging.outcome import NotObserved
from lro_conformance.judging.subjects import evidence_of, reproducer_of
from lro_conformance.lab.errors import ServerTrouble
from lro_conformance.lab.settings import Settings
from lro_conformance.trials.decoys import folder_with_a_file, plant, plant_odd_entries
from lro_conformance.trials.trigger import clean_up
from lro_spec.display import counted

if TYPE_CHECKING:
    from lro_conformance.lab.bench import Bench
    from lro_conformance.lab.lab import Lab

SHORT_TTLS = (2, 10, 60)
"""Short TTLs in seconds; the first with which the server starts is used.

All are longer than one second, so that a server with times in whole seconds does not mistake a fresh file for an old
one.
"""
AGE_FACTOR = 30
"""Age of planted files, as a multiple of the TTL."""
LATER_SHARE, YOUNG_SHARE = 0.65, 0.75
"""Shares of the TTL. The first is the time from the first files until a later file is written. The second is an age up
to which the later file has surely not expired."""
PATIENCE_S = 6.0
"""Seconds without a deletion after which the wait for expired files ends. Until then cleanup is triggered repeatedly.

A conformant server needs only one cleanup.
"""


class RefusedError(NotObserved):
    """The server starts with none of `SHORT_TTLS`."""


@dataclass(frozen=True)
class Younger(CallSubject):
    """A file of the server's own that was younger than the TTL when other files had expired and cleanup ran."""

    call: Call
    """The call that wrote it."""
    first: Call
    """The call that wrote one of the expired files."""
    stays: bool
    """True when the file was still there after the cleanup."""
    trigger: int | None
    """The id of the request that triggered the cleanup; None if none did."""


@reproducer_of.register
def _(younger: Younger) -> str:
    return of_expiry_between(younger.first, younger.call, younger.trigger)


@dataclass(frozen=True)
class Expiry(CallSubject):
    """Files of the server's own under a short TTL."""

    call: Call
    """One of the calls that wrote the files. If files are left, this call wrote a file that is left."""
    paths: tuple[str, ...]
    """Two files of one operation, and one file of each other operation that offloads. A file that was written later
    comes last. It is included only if cleanup deleted all other files, but not this one."""
    left: tuple[str, ...]
    """The files that are still there at the end."""
    aged_gone: bool
    """True when a planted file, much older than the TTL, was deleted."""
    fresh_stays: bool | None
    """True when a new file stayed in a process older than the TTL; None when that could not be observed."""
    triggered: bool
    """True when the profile names a cleanup trigger, or the server has the conventional tool for cleanup."""
    waited_s: float
    """Seconds from the planting of the old file (see `aged_gone`) until the observation of `left` ended."""
    cleanups: int
    """Number of times that cleanup was triggered in this time."""
    trigger: int | None = None
    """The id of the last request that triggered cleanup; None if none did."""
    stopped_by: tuple[str, ...] = ()
    """Descriptions of the entries that kept cleanup from deleting expired files: odd names, folders and links."""
    late: Call | None = None
    """A call at the end, when the server process was older than the TTL."""
    ttl_s: int = SHORT_TTLS[0]
    """One of `SHORT_TTLS`."""
    in_the_way: tuple[Entry, ...] = ()
    """The entries of `stopped_by`, so that a script can plant them again."""
    written_by: tuple[Call, ...] = ()
    """The calls that wrote the files of `paths`, in the same order."""
    restarted: Start | None = None
    """The restart at which the server should have deleted the expired files next to `in_the_way`; None if nothing was
    in the way, or if cleanup was not triggered by a restart."""
    within_s: float | None = None
    """Seconds within which the server cleans up by itself, according to the profile; None if the profile names none."""
    younger: Younger | None = None
    """A file that was written later, observed after the first cleanup; None if it could not be read, or if it may have
    expired by then, too."""

    @property
    def gone(self) -> bool:
        """True when all files were deleted."""
        return not self.left


@reproducer_of.register
def _(expiry: Expiry) -> str:
    if expiry.restarted is not None:
        return of_cleaning_at_start(expiry.restarted)
    planted = [(AGE_FACTOR * expiry.ttl_s, expiry.call.operation)] if expiry.in_the_way else []
    return of_cleaning(
        expiry.call,
        expiry.trigger,
        calls=expiry.written_by,
        runs=expiry.cleanups,
        planted=planted,
        entries=expiry.in_the_way,
        pause_s=expiry.ttl_s + 1,
    )


@evidence_of.register
def _(expiry: Expiry) -> str:
    times = counted(expiry.cleanups, "time")
    return f"{evidence_of(expiry.call)}\ncleanup was triggered {times} in {expiry.waited_s:.1f} s"


def observe_expiry(
    lab: Lab, threshold: int | None, earlier_call: Call, other_operations: Sequence[str]
) -> tuple[Expiry | None, Call | None]:
    """Observe the expiry of two files of the operation of *earlier_call*, and of one file of each of the
    *other_operations*.

    An expired file is in the folder from the start. If a tool triggers cleanup, the tool is called once before the
    first call. If the expired file is gone before the first call, but a file of the server's own and a planted file are
    left in the end, a further process is observed. Its folder has no file at the start, and cleanup is not triggered
    before the first call.

    Returns two values. The first is the observation; it is None if no file was written. The second is the first call,
    if the folder was empty before that call because the expired file had been deleted; otherwise it is None. Raises
    `RefusedError` if the server starts with none of `SHORT_TTLS`.
    """
    trouble: ServerTrouble | None = None
    for ttl_s in SHORT_TTLS:
        expired: list[Path] = []
        prepare = folder_with_a_file(
            earlier_call, AGE_FACTOR * ttl_s, lab.editions.edition_of_file(earlier_call.path), expired
        )
        with lab.bench_if_accepted(Settings(threshold, ttl_s), prepare=prepare, in_far_zone=True) as bench:
            if not isinstance(bench, ServerTrouble):
                lab.step("cleanup", f"ttl_seconds = {ttl_s}")
                if bench.cleans_up_on_request:
                    bench.cleanup()  # a server that remembers which files it finds now will overlook later files
                is_empty = any(not path.exists() for path in expired)
                first = bench.offloading_call(earlier_call.operation, 5)
                own = _observe(bench, ttl_s, first, other_operations)
                break
            trouble = bench
    else:
        raise RefusedError(f"the server starts with no TTL of {', '.join(map(str, SHORT_TTLS))} seconds: {trouble}")
    if is_empty and own is not None and not own.gone and not own.aged_gone:
        # perhaps a server that has just cleaned up does not clean up again so soon
        with lab.bench(Settings(threshold, ttl_s), in_far_zone=True) as bench:
            own = _observe(bench, ttl_s, bench.offloading_call(earlier_call.operation, 5), other_operations)
    return own, first if is_empty else None


def _observe(bench: Bench, ttl_s: int, call: Call, other_operations: Sequence[str]) -> Expiry | None:
    """Observe the expiry of the file of *call* and of files that are written next; None if *call* wrote no file."""
    name = call.operation
    first = [call, bench.offloading_call(name, 4)]
    calls = [*first, *(bench.offloading_call(other, 5) for other in other_operations)]
    calls_by_path = {c.file.path: c for c in calls if c.file is not None and c.file.problem is None}
    paths = list(calls_by_path)
    if first[0].file is None or not any(c in first for c in calls_by_path.values()):
        return None
    folder, template = Path(os.path.dirname(paths[0])), first[0].file
    old_file = plant(folder, template, AGE_FACTOR * ttl_s, name, bench.editions.edition_of_file(paths[0]))
    begun = time.monotonic()
    last_deletion = begun + ttl_s
    left, cleanups = paths, 0
    bench.pause(LATER_SHARE * ttl_s)
    later, written_at = bench.offloading_call(name, 3), time.monotonic()
    younger: Younger | None = None
    bench.pause(max(0.0, begun + ttl_s + 0.15 - time.monotonic()))
    while True:
        bench.cleanup()
        cleanups += 1
        file = later.file
        if cleanups == 1 and file is not None and file.problem is None and file.path not in calls_by_path:
            stays = os.path.exists(file.path)
            if time.monotonic() - written_at < YOUNG_SHARE * ttl_s:
                younger = Younger(later, first[0], stays, bench.cleanup_request)
        left_before, left = left, [p for p in paths if os.path.exists(p)]
        now = time.monotonic()
        last_deletion, waited = now if len(left) < len(left_before) else last_deletion, now - begun
        if not left or now - last_deletion > PATIENCE_S:
            aged_gone = not old_file.exists()
            old_file.unlink(missing_ok=True)
            if (
                not left
                and aged_gone
                and file is not None
                and file.path not in calls_by_path
                and os.path.exists(file.path)
            ):
                bench.pause(written_at + waited - time.monotonic())
                if runs := _runs_survived(bench, later, file, ttl_s):
                    calls_by_path[file.path], left, cleanups = later, [file.path], cleanups + runs
                    waited = time.monotonic() - begun
            late = bench.offloading_call(name, 3)
            stays, entries, start = (None, (), None) if left else _late_cleanup(bench, ttl_s, late, aged_gone)
            triggered, call = bench.has_trigger, calls_by_path[left[0]] if left else first[0]
            expiry = Expiry(
                call,
                tuple(calls_by_path),
                tuple(left),
                aged_gone,
                stays,
                triggered,
                waited,
                cleanups,
                bench.cleanup_request,
            )
            restarted = start if entries and start is not call.start else None
            described = tuple(map(_description, entries))
            return replace(
                expiry,
                stopped_by=described,
                late=late,
                ttl_s=ttl_s,
                in_the_way=entries,
                written_by=tuple(calls_by_path.values()),
                younger=younger,
                restarted=restarted,
                within_s=None if bench.profile.cleanup is None else bench.profile.cleanup.wait_s,
            )
        bench.pause(0.25)


def _runs_survived(bench: Bench, call: Call, file: FileSeen, ttl_s: int) -> int:
    """The number of cleanups that a call's expired file survived, although an older, planted file was deleted.

    Returns 0 if the call's file was deleted, or if the planted file was not deleted.
    """
    path, edition, runs = Path(file.path), bench.editions.edition_of_file(file.path), list[None]()
    old_file = plant(path.parent, file, AGE_FACTOR * ttl_s, call.operation, edition)
    clean_up(bench, [old_file, path], after=lambda: runs.append(None))
    aged_gone = not old_file.exists()
    old_file.unlink(missing_ok=True)
    if aged_gone and path.exists():
        bench.pause(PATIENCE_S)
        clean_up(bench, [path], after=lambda: runs.append(None))
    return len(runs) if aged_gone and path.exists() else 0


def _description(entry: Entry) -> str:
    if entry.target is not None:
        return f"{entry.path} (a link to nowhere)"
    return entry.path if entry.text is not None else f"{entry.path} (a folder)"


def _late_cleanup(
    bench: Bench, ttl_s: int, late: Call, aged_gone: bool
) -> tuple[bool | None, tuple[Entry, ...], Start | None]:
    """Clean up again when the process is older than the TTL.

    Returns three values. The first is True if the file of the *late* call survived, and None if that could not be
    observed in time. The second has the entries that kept cleanup from deleting expired files, such as files whose
    names have no ULID, folders and links. The third is the start of the process that found these entries; it is None if
    the call wrote no readable file.
    """
    begun, file = time.monotonic(), late.file
    if file is None or file.problem is not None:
        return None, (), None
    folder, edition = Path(os.path.dirname(file.path)), bench.editions.edition_of_file(file.path)
    odd_entries = tuple(plant_odd_entries(folder, late.operation, edition)) if aged_gone else ()
    old_files = [plant(folder, file, AGE_FACTOR * ttl_s, late.operation, edition) for _ in odd_entries]
    try:
        bench.cleanup()
    except ServerTrouble:  # the server does not start again
        return None, odd_entries, bench.start
    there = os.path.exists(file.path)
    stays = there if there or time.monotonic() - begun < ttl_s / 4 else None
    if any(path.exists() for path in old_files):
        # a server that deletes only a few entries in each run may begin with the odd entries
        clean_up(bench, [*old_files, *(folder / e.path for e in odd_entries)])
    start = bench.start
    return stays, odd_entries if _stopped(bench, old_files, [folder / e.path for e in odd_entries]) else (), start


def _stopped(bench: Bench, old_files: Sequence[Path], odd_entries: Sequence[Path]) -> bool:
    """Return whether *odd_entries* end the server, or keep it from deleting files that it deletes without these
    entries."""
    if not any(path.exists() for path in old_files) or not bench.server.alive:
        return any(path.exists() for path in old_files)
    for path in (p for p in odd_entries if os.path.lexists(p)):
        if path.is_dir() and not path.is_symlink():
            path.rmdir()
        else:
            path.unlink()
    clean_up(bench, old_files)
    return not any(path.exists() for path in old_files)
