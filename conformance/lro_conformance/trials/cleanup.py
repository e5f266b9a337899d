"""Clean-up: back-dated files, files of the server's own, and decoys that nobody may delete."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from lro_conformance.capture.call import Call, OfACall
from lro_conformance.capture.reproduce import of_cleaning
from lro_conformance.judging.outcome import NotObserved
from lro_conformance.judging.subjects import evidence_of, location_of, reproducer_of
from lro_conformance.lab.errors import ServerTrouble
from lro_conformance.lab.operations import OPERATIONS
from lro_conformance.lab.settings import Settings
from lro_conformance.lab.thresholds import LIMIT
from lro_conformance.trials import trial
from lro_conformance.trials.decoys import DAY, OLD_S, operation_of, plant, plant_decoys
from lro_conformance.trials.expiry import Expiry, RefusedError, watch
from lro_conformance.trials.survey import Survey
from lro_conformance.trials.trigger import clean_up
from lro_spec.editions import edition as edition_named

if TYPE_CHECKING:
    from lro_conformance.lab.bench import Bench
    from lro_conformance.lab.lab import Lab
    from lro_conformance.wire.server import ServerProcess

TTL = 600
"""The TTL, in seconds, under which property checks try the ages of files."""
LONG_TTL = 2 * DAY
"""The TTL of the run that checks that the setting is respected. A count of seconds in a day begins anew before it."""
NEAR_S = 3 * 3600
"""How far from it some files lie on both sides: less than what local time there differs from UTC."""
HOUR = 3600
"""The TTL where none is set."""
CROWD = 200
"""How many fresh files are planted for a call that has no business with them."""
EXPIRED = "OffloadFileExpired"


@dataclass(frozen=True)
class Planted:
    """A file that looks like one of an earlier server process."""

    path: Path
    age_s: int
    gone: bool
    near: bool = False
    """Whether its age is so near to the TTL that a mistaken time zone counts."""

    @property
    def operation(self) -> str:
        """The operation that its name tells."""
        return operation_of(self.path.name)


@dataclass(frozen=True)
class Decoy:
    """Something that cleanup has no business with."""

    path: Path
    kind: str
    """``name``, ``folder``, ``subfolder``, ``symlink`` (its target is meant)."""
    gone: bool


@dataclass(frozen=True)
class Cleaning:
    """What one cleanup did under one TTL."""

    ttl_s: int | None
    """The TTL set; None where the default applied."""
    planted: tuple[Planted, ...]
    decoys: tuple[Decoy, ...]
    own: tuple[tuple[str, bool], ...]
    """The server's own files made just before: path, and whether it is gone."""
    events: tuple[str, ...]
    """What was emitted as OffloadFileExpired."""
    listened: bool
    """Whether the profile says where events are seen."""
    call: Call | None
    """A call that made an own file."""
    trigger: int | None = None
    """The id of the request that set cleanup off; None where it was none."""
    told: tuple[str, ...] = ()
    """What else was said then that names a planted file."""
    read: Planted | None = None
    """One more old file, which has been read just now."""
    premature: tuple[str, ...] = ()
    """The names of files that an event told of before they went, if they did."""

    @property
    def takes_fresh(self) -> bool:
        """Whether it deleted a file of the server's own that was made just before."""
        return any(gone for _, gone in self.own)

    @property
    def stuck(self) -> list[Planted]:
        """Old files that are still there though a younger one of the same operation expired and went."""
        went = {p.operation for p in self.planted if p.gone and (self.ttl_s or HOUR) < p.age_s < OLD_S}
        return [p for p in self.planted if p.age_s == OLD_S and not p.gone and p.operation in went]


@reproducer_of.register
def _(cleaning: Cleaning) -> str:
    if cleaning.call is None:
        return ""
    planted = [(p.age_s, p.operation) for p in cleaning.planted]
    decoys = [(d.path, d.kind) for d in cleaning.decoys if d.gone]
    return of_cleaning(cleaning.call, cleaning.trigger, planted=planted, decoys=decoys)


@location_of.register
def _(cleaning: Cleaning) -> str:
    return location_of(cleaning.call)


@evidence_of.register
def _(cleaning: Cleaning) -> str:
    lines = [f"ttl_seconds: {'default' if cleaning.ttl_s is None else cleaning.ttl_s}"]
    state = {True: "deleted", False: "still there"}
    lines += [f"{p.path.name}: {p.age_s} s old, {state[p.gone]}" for p in cleaning.planted]
    lines += [f"{Path(path).name}: the server's own, fresh, {state[gone]}" for path, gone in cleaning.own]
    lines += [f"{d.path.name} ({d.kind}): deleted" for d in cleaning.decoys if d.gone]
    return "\n".join(lines)


@dataclass(frozen=True)
class Crowd:
    """Many fresh files in the output folder, and a call that wrote one more."""

    call: Call
    files: int
    gone: tuple[str, ...]
    """The names of those that were not there any more after the call."""


@evidence_of.register
def _(crowd: Crowd) -> str:
    deleted = ", ".join(crowd.gone[:5])
    return f"{evidence_of(crowd.call)}\nwith {crowd.files} fresh files in the folder; deleted: {deleted}"


@dataclass(frozen=True)
class Sessions(OfACall):
    """A fresh file of one process of the server, and the start of another."""

    call: Call
    at_start: str | None
    """The name of a file of an earlier process that the start took away."""


@dataclass(frozen=True)
class Cleanup:
    """All cleanups of the run."""

    crowd: Crowd | None
    set_ttl: Cleaning | None
    own: Expiry | None
    reason: str | None
    sessions: Sessions | None = None
    refused: str | None = None
    """Why no file of the server's own could be watched, where the server does not start with a short TTL."""


@trial("cleanup under a TTL of two days, and of seconds")
def cleanup(lab: Lab, survey: Survey) -> Cleanup:
    """Set the TTL and look what cleanup deletes; both at the same time where each server has a folder of its own."""
    if not survey.files:
        raise NotObserved("nothing was offloaded to a file that could be read")
    if not lab.can_set("ttl_seconds"):
        return Cleanup(None, None, None, "the server's TTL cannot be set (profile: settings.ttl_seconds)")
    threshold = 1 if survey.adjustable else None
    name = survey.files[0].operation

    others = [n for n in survey.operations if n != name and survey.offloads(n)]
    expire = partial(watch, lab, threshold, name, others)
    with ThreadPoolExecutor(1, "cleanup") as beside:
        expiry = beside.submit(expire) if lab.can_set("output_dir") else None
        try:
            crowd, set_ttl, sessions = _scan(lab, Settings(threshold, LONG_TTL), survey.files[0], LONG_TTL)
        except ServerTrouble:  # one that refuses so long a TTL says so
            with lab.bench_if_accepted(Settings(threshold, TTL)) as taken:
                ttl_s = TTL if taken is not None else 2 * HOUR
            crowd, set_ttl, sessions = _scan(lab, Settings(threshold, ttl_s), survey.files[0], ttl_s)
        try:
            own, refused = expiry.result() if expiry is not None else expire(), None
        except RefusedError as why:
            own, refused = None, str(why)
    return Cleanup(crowd, set_ttl, own, None, sessions, refused)


def _scan(
    lab: Lab, settings: Settings, known: Call, ttl_s: int
) -> tuple[Crowd | None, Cleaning | None, Sessions | None]:
    """Clean up under a TTL, far from UTC, with a file of an earlier process in the folder from the start."""
    earlier: list[Path] = []
    name, file = known.operation, known.file

    def prepare(folder: Path) -> None:
        folder.mkdir()
        if file is not None:
            earlier.append(plant(folder, file, 60, name, lab.editions.convention_of(file.path)))

    with lab.bench(settings, prepare=prepare, in_far_zone=True) as bench:
        lab.step("cleanup", f"ttl_seconds = {ttl_s}")
        crowd = _crowd(bench, name)
        taken = next((p.name for p in earlier if not p.exists()), None)
        near = (ttl_s - NEAR_S, ttl_s + NEAR_S) if ttl_s > 2 * NEAR_S else ()
        set_ttl = clean(bench, ttl_s, (ttl_s // 2, 2 * ttl_s), lambda: bench.offloading_call(name, LIMIT), near)
    if crowd is None or bench.output_dir is None:  # elsewhere other servers may clean up, by a TTL of their own
        return crowd, set_ttl, None
    return crowd, set_ttl, Sessions(crowd.call, taken)


def _crowd(bench: Bench, name: str) -> Crowd | None:
    """Plant many fresh files, make a call, and see which of them it deleted; None without a file to go by."""
    first = bench.offloading_call(name, 2)
    if first.file is None or first.file.problem is not None:
        return None
    folder = Path(os.path.dirname(first.file.path))
    convention = bench.editions.convention_of(first.file.path)
    planted = [plant(folder, first.file, 1 + n % 60, name, convention) for n in range(CROWD)]
    call = bench.offloading_call(name, 2)
    there = set(os.listdir(folder))
    for path in planted:
        path.unlink(missing_ok=True)
    names = [*(p.name for p in planted), os.path.basename(first.file.path)]
    return Crowd(call, len(names), tuple(n for n in names if n not in there))


def clean(
    bench: Bench, ttl_s: int | None, ages: Sequence[int], make: Callable[[], Call], near: Sequence[int] = ()
) -> Cleaning | None:
    """Plant files of these ages, and of others *near* to the TTL, beside decoys and an own file, set cleanup off, and
    look; None without an own file."""
    calls = [c for c in (make(), make()) if c.file is not None and c.file.problem is None]
    if not calls or calls[0].file is None or bench.output_dir is None:
        return None
    template, folder = calls[0].file, Path(os.path.dirname(calls[0].file.path))
    operation, convention = calls[0].operation, bench.editions.convention_of(calls[0].file.path)
    known = edition_named(convention).operations or OPERATIONS
    planted = [(plant(folder, template, age, operation, convention), age) for age in (*ages, *near, OLD_S)]
    planted += [(plant(folder, template, OLD_S, n, convention), OLD_S) for n in known if n != operation]
    read = plant(folder, template, OLD_S, operation, convention)
    os.utime(read, (time.time(), read.stat().st_mtime))
    decoys = plant_decoys(folder, bench.workdir, template.data, operation, convention)
    due = [p for p, age in planted if age > (ttl_s or edition_named(convention).default_ttl_seconds)]
    due.append(read)
    heard = _Heard([p for p, _ in planted], [Path(c.file.path) for c in calls if c.file is not None])
    clean_up(bench, due, lambda: heard.listen(bench))
    if not any(p.exists() for p in due):  # whatever the next run deletes is fresh
        bench.cleanup()
        bench.pause(2 * bench.ledger.cleanup_lag_s)
        heard.listen(bench)
    said = heard.said()
    events = [s for s in said if EXPIRED in s]
    return Cleaning(
        ttl_s=ttl_s,
        planted=tuple(Planted(p, age, not p.exists(), age in near) for p, age in planted),
        decoys=tuple(Decoy(p, kind, not os.path.lexists(p)) for p, kind in decoys),
        own=tuple((c.file.path, not os.path.exists(c.file.path)) for c in calls if c.file is not None),
        events=tuple(events),
        listened=bench.profile.events.observable,
        call=calls[0],
        trigger=bench.cleanup_request,
        told=tuple(s for s in said if s not in events),
        read=Planted(read, OLD_S, not read.exists()),
        premature=tuple(sorted(heard.premature)),
    )


class _Heard:
    """What is said of some files in every run of a cleanup: where that is a restart, each process has its own say."""

    def __init__(self, planted: Sequence[Path], own: Sequence[Path]) -> None:
        self._planted, self._own = planted, own
        self._by_process: dict[int, tuple[ServerProcess, list[str]]] = {}
        self.premature: set[str] = set()
        """The names of files that were told of as expired, and were still there then."""

    def listen(self, bench: Bench) -> None:
        """Take note of what was said up to now."""
        said = [s for s in bench.output() if EXPIRED in s or any(p.name in s for p in self._planted)]
        self._by_process[id(bench.server)] = bench.server, said
        told = [s for s in said if EXPIRED in s]
        self.premature |= {
            p.name for p in (*self._planted, *self._own) if any(p.name in s for s in told) and p.exists()
        }

    def said(self) -> list[str]:
        """All of it; a file of events is one for all processes."""
        *earlier, last = (said for _, said in self._by_process.values())
        return [line for said in earlier for line in said if not line.startswith("file: ")] + last
