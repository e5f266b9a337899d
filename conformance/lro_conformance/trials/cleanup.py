"""Cleanup: back-dated files, the server's own files, and decoys that must not be deleted."""

from __future__ import annotations

import hashlib
import os
import stat
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from lro_conformance.capture.call import Call, CallSubject
from lro_conformance.capture.file import MAX_FILE_BYTES, open_preserving_atime
from lro_conformance.capture.reproduce import of_cleaning
from lro_conformance.judging.outcome import NotObserved
from lro_conformance.judging.subjects import evidence_of, location_of, reproducer_of
from lro_conformance.lab.errors import ServerTrouble
from lro_conformance.lab.operations import OPERATIONS
from lro_conformance.lab.settings import Settings
from lro_conformance.lab.thresholds import USUAL_LIMIT
from lro_conformance.trials import trial
from lro_conformance.trials.decoys import (
    DAY,
    HOUR,
    OLD_AGE_S,
    folder_with_a_file,
    operation_of,
    plant,
    plant_decoys,
)
from lro_conformance.trials.expiry import Expiry, RefusedError, observe_expiry
from lro_conformance.trials.survey import Survey
from lro_conformance.trials.trigger import clean_up
from lro_spec.editions import edition as edition_named

if TYPE_CHECKING:
    from lro_conformance.lab.bench import Bench
    from lro_conformance.lab.lab import Lab
    from lro_conformance.wire.server import ServerProcess

FALLBACK_TTL_S = 600
"""The TTL, in seconds, that is tried if the server rejects `LONG_TTL`. If it rejects this TTL, too, the TTL is two
hours."""
LONG_TTL = 2 * DAY
"""The TTL, in seconds, that is set to check whether the server obeys the TTL setting. It is longer than a day, because
a server may read `timedelta.seconds`, which leaves out whole days."""
NEAR_TTL_S = 3 * 3600
"""Seconds by which some files are older or younger than the TTL. The server runs in a time zone whose distance from UTC
is greater (`lro_conformance.lab.settings.far_zone`). So a server that takes local time for UTC keeps or deletes such
files wrongly."""
CROWD_SIZE = 200
"""Number of fresh files that are planted before a call. The call must not delete them."""
EXPIRED_EVENT = "OffloadFileExpired"
"""Name of the event that a server emits for each file that it deletes."""


@dataclass(frozen=True)
class Planted:
    """A planted file that looks as if an earlier server process had written it."""

    path: Path
    age_s: int
    gone: bool
    near: bool = False
    """True when its age is so near to the TTL that a time-zone mistake matters."""

    @property
    def operation(self) -> str:
        """The operation in its name."""
        return operation_of(self.path.name)


@dataclass(frozen=True)
class Decoy:
    """A file that cleanup must not touch."""

    path: Path
    kind: str
    """``name`` if its name does not match the pattern; ``subfolder`` if its name matches, but it lies in a subfolder;
    ``folder`` if it lies in a folder whose own name matches; ``symlink`` if it lies elsewhere, behind a symbolic
    link."""
    gone: bool


@dataclass(frozen=True)
class Cleaning:
    """Observations of cleanup under one TTL. Cleanup is triggered until no expired file is left, and then once more. It
    is not triggered again after a run that deletes nothing."""

    ttl_s: int | None
    """The TTL that was set; None if the default applied."""
    planted: tuple[Planted, ...]
    decoys: tuple[Decoy, ...]
    own: tuple[tuple[str, bool], ...]
    """The files that the server wrote just before the cleanup: path, and True if the file is gone."""
    events: tuple[str, ...]
    """Lines of the server's output with an OffloadFileExpired event."""
    events_observable: bool = field(metadata={"formerly": "listened"})
    """True when the profile names a channel on which events appear."""
    call: Call | None
    """A call that wrote one of the files of `own`."""
    trigger: int | None = None
    """The id of the request that triggered cleanup; None if none did."""
    other_lines: tuple[str, ...] = field(default=(), metadata={"formerly": "told"})
    """Other lines of the server's output that name a planted file."""
    read: Planted | None = None
    """A further old file, whose time of last access was set to just before the cleanup."""
    premature: tuple[str, ...] = ()
    """Names of files that an event reported as expired while they still existed."""
    renamed: tuple[tuple[str, str], ...] = ()
    """Old and new names of expired files that were renamed, or moved into a subfolder, instead of deleted."""
    runs: int = 1
    """Number of times that cleanup was triggered."""
    triggered: bool = True
    """True when the profile names a cleanup trigger, or the server has the conventional tool for cleanup."""

    @property
    def takes_fresh(self) -> bool:
        """True when the cleanup deleted a file that the server had written just before."""
        return any(gone for _, gone in self.own)

    @property
    def stuck(self) -> list[Planted]:
        """Files of age `OLD_AGE_S` that are still there, although a younger expired file of their operation was
        deleted."""
        cleaned_operations = {
            p.operation for p in self.planted if p.gone and (self.ttl_s or HOUR) < p.age_s < OLD_AGE_S
        }
        return [p for p in self.planted if p.age_s == OLD_AGE_S and not p.gone and p.operation in cleaned_operations]


@reproducer_of.register
def _(cleaning: Cleaning) -> str:
    if cleaning.call is None:
        return ""
    planted = [(p.age_s, p.operation) for p in cleaning.planted]
    decoys = [(d.path, d.kind) for d in cleaning.decoys if d.gone]
    read = [] if cleaning.read is None else [(cleaning.read.age_s, cleaning.read.operation)]
    return of_cleaning(cleaning.call, cleaning.trigger, runs=cleaning.runs, planted=planted, read=read, decoys=decoys)


@location_of.register
def _(cleaning: Cleaning) -> str:
    return location_of(cleaning.call)


@evidence_of.register
def _(cleaning: Cleaning) -> str:
    lines = [f"ttl_seconds: {'default' if cleaning.ttl_s is None else cleaning.ttl_s}"]
    state = {True: "deleted", False: "still there"}
    lines += [f"{p.path.name}: {p.age_s} s old, {state[p.gone]}" for p in cleaning.planted]
    if (read := cleaning.read) is not None:
        lines.append(f"{read.path.name}: {read.age_s} s old, read just before the cleanup, {state[read.gone]}")
    lines += [f"{Path(path).name}: the server's own, fresh, {state[gone]}" for path, gone in cleaning.own]
    lines += [f"{d.path.name} ({d.kind}): deleted" for d in cleaning.decoys if d.gone]
    lines += [f"{old}: renamed to {new}" for old, new in cleaning.renamed]
    return "\n".join(lines)


@dataclass(frozen=True)
class Crowd:
    """Many fresh files in the output folder, and a call that wrote a further file."""

    call: Call
    files: int
    gone: tuple[str, ...]
    """Names of the fresh files that were deleted by the end of the call."""
    earlier: tuple[Call, ...] = ()
    """The previous call; the fresh files are its file and copies of that file."""


@evidence_of.register
def _(crowd: Crowd) -> str:
    deleted = ", ".join(crowd.gone[:5])
    return f"{evidence_of(crowd.call)}\nwith {crowd.files} fresh files in the folder; deleted: {deleted}"


@dataclass(frozen=True)
class Sessions(CallSubject):
    """A server process that was started with a fresh file in its output folder. The file looks as if an earlier server
    process had written it."""

    call: Call
    """The second call of the process."""
    at_start: str | None
    """The name of the file if it was gone after `call`, because the process had deleted it at its start or soon after.
    None if the file was still there."""


@dataclass(frozen=True)
class Cleanup:
    """All cleanups of this trial. The cleanup under the default TTL is in `Defaults`."""

    crowd: Crowd | None
    set_ttl: Cleaning | None
    """The cleanup under `LONG_TTL` or, if the server rejects that, under a shorter TTL."""
    own: Expiry | None
    """The expiry of the server's own files under a short TTL."""
    reason: str | None
    """Reason why no TTL could be set; None if one was set."""
    sessions: Sessions | None = None
    refused: str | None = None
    """Reason why `own` was not observed: the server does not start with a short TTL."""
    at_start_only: bool = False
    """True when the profile says that a restart triggers cleanup."""
    nothing_planted: str | None = None
    """Reason why `set_ttl` and `sessions` are None: no output folder could be set, and in a folder that servers share,
    other servers may clean up, too. None if a folder could be set."""
    after_the_only_file: Call | None = None
    """The first call after a cleanup that deleted the only file in the folder. None if there was no such cleanup. It
    is also None if there is no `crowd`: then a call for a few records was not offloaded to a readable file, and the
    result of the call after the cleanup may also be too small to be offloaded."""
    not_offloaded: Call | None = None
    """The first call for a few records while a TTL was set, if it was answered inline; otherwise None."""


@trial("cleanup with a TTL of two days, and with a TTL of a few seconds")
def cleanup(lab: Lab, survey: Survey) -> Cleanup:
    """Observe which files cleanup deletes under a long and a short TTL, in parallel if the servers share no folder."""
    if not survey.files:
        raise NotObserved("nothing was offloaded to a file that could be read")
    if not lab.can_set("ttl_seconds"):
        reason = lab.profile.reason_not_set("ttl_seconds")
        if "ttl_seconds" in lab.profile.preset:  # so no cleanup under the default TTL can be observed, either
            raise NotObserved(reason)
        return Cleanup(None, None, None, reason)
    threshold = 1 if survey.adjustable else None
    name = survey.files[0].operation

    other_operations = [n for n in survey.operations if n != name and survey.offloads(n)]
    expire = partial(observe_expiry, lab, threshold, survey.files[0], other_operations)
    with ThreadPoolExecutor(1, "cleanup") as executor:
        expiry = executor.submit(expire) if lab.can_set("output_dir") else None
        try:
            crowd, set_ttl, sessions = _clean_up_under(lab, Settings(threshold, LONG_TTL), survey.files[0], LONG_TTL)
        except ServerTrouble:  # the server rejects so long a TTL
            with lab.bench_if_accepted(Settings(threshold, FALLBACK_TTL_S)) as accepted:
                ttl_s = 2 * HOUR if isinstance(accepted, ServerTrouble) else FALLBACK_TTL_S
            crowd, set_ttl, sessions = _clean_up_under(lab, Settings(threshold, ttl_s), survey.files[0], ttl_s)
        try:
            (own, first_call), refused = expiry.result() if expiry is not None else expire(), None
        except RefusedError as why:
            own, first_call, refused = None, None, str(why)
    nothing_planted = None if lab.can_set("output_dir") else lab.profile.reason_not_set("output_dir")
    by_restart = lab.profile.cleanup is not None and lab.profile.cleanup.restart
    if not isinstance(crowd, Crowd):
        # A call for two records was not offloaded, so the result of `first_call` may be too small, too.
        not_offloaded = crowd if crowd.outcome == "inline" else None
        return Cleanup(
            None, set_ttl, own, None, sessions, refused, by_restart, nothing_planted, not_offloaded=not_offloaded
        )
    return Cleanup(crowd, set_ttl, own, None, sessions, refused, by_restart, nothing_planted, first_call)


def _clean_up_under(
    lab: Lab, settings: Settings, earlier_call: Call, ttl_s: int
) -> tuple[Crowd | Call, Cleaning | None, Sessions | None]:
    """Clean up under a TTL in a time zone far from UTC. From the start, the folder has a file that looks as if an
    earlier process had written it."""
    earlier: list[Path] = []
    name = earlier_call.operation
    prepare = folder_with_a_file(earlier_call, 60, lab.editions.edition_of_file(earlier_call.path), earlier)
    with lab.bench(settings, keep_for="cleanup", prepare=prepare, in_far_zone=True) as bench:
        lab.step("cleanup", f"ttl_seconds = {ttl_s}")
        crowd = _crowd(bench, name)
        deleted = next((p.name for p in earlier if not p.exists()), None)
        near = (ttl_s - NEAR_TTL_S, ttl_s + NEAR_TTL_S) if ttl_s > 2 * NEAR_TTL_S else ()
        set_ttl = clean(bench, ttl_s, (ttl_s // 2, 2 * ttl_s), lambda: bench.offloading_call(name, USUAL_LIMIT), near)
    # In a shared folder other servers may clean up, by their own TTLs.
    if not isinstance(crowd, Crowd) or bench.output_dir is None:
        return crowd, set_ttl, None
    return crowd, set_ttl, Sessions(crowd.call, deleted)


def _crowd(bench: Bench, name: str) -> Crowd | Call:
    """Plant many fresh files, make a call, and note which of the files it deleted. If there is no file to copy, the
    call that should have written it is returned."""
    first = bench.offloading_call(name, 2)
    if first.file is None or first.file.problem is not None:
        return first
    folder = Path(os.path.dirname(first.file.path))
    edition = bench.editions.edition_of_file(first.file.path)
    planted = [plant(folder, first.file, 1 + n % 60, name, edition) for n in range(CROWD_SIZE)]
    call = bench.offloading_call(name, 2)
    there = set(os.listdir(folder))
    for path in planted:
        path.unlink(missing_ok=True)
    names = [*(p.name for p in planted), os.path.basename(first.file.path)]
    return Crowd(call, len(names), tuple(n for n in names if n not in there), (first,))


def clean(
    bench: Bench, ttl_s: int | None, ages: Sequence[int], offload: Callable[[], Call], near: Sequence[int] = ()
) -> Cleaning | None:
    """Plant decoys and old files, and then trigger cleanup.

    The old files have the ages in *ages* and in *near*, and the age `OLD_AGE_S`. *near* are ages near the TTL. The old
    files are copies of a file that the server writes when *offload* makes a call. Returns None if the server wrote no
    readable file, or has no output folder of its own.
    """
    calls = [c for c in (offload(), offload()) if c.file is not None and c.file.problem is None]
    if not calls or calls[0].file is None or bench.output_dir is None:
        return None
    template, folder = calls[0].file, Path(os.path.dirname(calls[0].file.path))
    operation, edition = calls[0].operation, bench.editions.edition_of_file(calls[0].file.path)
    operations = edition_named(edition).operations or OPERATIONS
    planted = [(plant(folder, template, age, operation, edition), age) for age in (*ages, *near, OLD_AGE_S)]
    planted += [(plant(folder, template, OLD_AGE_S, n, edition), OLD_AGE_S) for n in operations if n != operation]
    recently_read = plant(folder, template, OLD_AGE_S, operation, edition)
    os.utime(recently_read, (time.time(), recently_read.stat().st_mtime))
    decoys = plant_decoys(folder, bench.workdir, template.data, operation, edition)
    due = [p for p, age in planted if age > (ttl_s or edition_named(edition).default_ttl_seconds)]
    due.append(recently_read)
    digests = {digest: p.name for p in due if (digest := _digest(p)) is not None}
    before = _files_below(folder)
    output = _Output([p for p, _ in planted], [Path(c.file.path) for c in calls if c.file is not None])
    clean_up(bench, due, lambda: output.collect(bench))
    if not any(p.exists() for p in due):  # a further run can only delete files that are not due
        bench.cleanup()
        bench.pause(2 * bench.ledger.cleanup_lag_s)
        output.collect(bench)
    lines = output.lines()
    events = [s for s in lines if EXPIRED_EVENT in s]
    return Cleaning(
        ttl_s=ttl_s,
        planted=tuple(Planted(p, age, not p.exists(), age in near) for p, age in planted),
        decoys=tuple(Decoy(p, kind, not os.path.lexists(p)) for p, kind in decoys),
        own=tuple((c.file.path, not os.path.exists(c.file.path)) for c in calls if c.file is not None),
        events=tuple(events),
        events_observable=bench.profile.events.observable,
        call=calls[0],
        trigger=bench.cleanup_request,
        other_lines=tuple(s for s in lines if s not in events),
        read=Planted(recently_read, OLD_AGE_S, not recently_read.exists()),
        premature=tuple(sorted(output.premature)),
        renamed=tuple(_renamed(folder, digests, before)),
        runs=output.runs,
        triggered=bench.has_trigger,
    )


def _renamed(folder: Path, digests: Mapping[bytes, str], before: Collection[str]) -> Iterator[tuple[str, str]]:
    """Old and new names of files that were renamed or moved into a subfolder; a file is recognized by its content."""
    for name in sorted(_files_below(folder).difference(before)):
        digest = _digest(folder / name)
        old = None if digest is None else digests.get(digest)
        if old is not None and not (folder / old).exists():
            yield old, name


def _files_below(folder: Path) -> set[str]:
    """The paths of the files below a folder, relative to the folder. Empty if the folder is gone, since a server may
    remove it."""
    return {os.path.relpath(os.path.join(top, name), folder) for top, _, names in os.walk(folder) for name in names}


def _digest(path: Path) -> bytes | None:
    """A digest of the content of a regular file; None if it is gone, too large, or not a regular file."""
    with suppress(OSError):
        state = path.lstat()
        if stat.S_ISREG(state.st_mode) and state.st_size <= MAX_FILE_BYTES:
            with open_preserving_atime(path) as file:
                return hashlib.sha256(file.read()).digest()
    return None


class _Output:
    """Output of the server that reports an expired file or names a planted one, collected after each run of cleanup."""

    def __init__(self, planted: Sequence[Path], own: Sequence[Path]) -> None:
        self._planted, self._own = planted, own
        self._by_process: dict[int, tuple[ServerProcess, list[str]]] = {}
        self.premature: set[str] = set()
        """Names of files that were reported as expired while they still existed."""
        self.runs = 0
        """Number of runs of cleanup."""

    def collect(self, bench: Bench) -> None:
        """Add the output of the current process up to now, after a run of cleanup."""
        self.runs += 1
        lines = [s for s in bench.output() if EXPIRED_EVENT in s or any(p.name in s for p in self._planted)]
        self._by_process[id(bench.server)] = bench.server, lines
        events = [s for s in lines if EXPIRED_EVENT in s]
        self.premature |= {
            p.name for p in (*self._planted, *self._own) if any(p.name in s for s in events) and p.exists()
        }

    def lines(self) -> list[str]:
        """The lines of all processes. All of them write to one event file, so its lines are returned only once."""
        *earlier, last = (lines for _, lines in self._by_process.values())
        return [line for lines in earlier for line in lines if not line.startswith("file: ")] + last
