"""Certifying the servers of tests/servers/faults and tests/servers/sound: a job in, what was found of it out.

Jobs run in processes of their own, as many at a time as there are cores (fixture ``certified`` of conftest.py), and the
benchmark does the same; so all that goes in or out can be pickled. Where test processes run side by side already, each
does its own jobs, one after the other.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from typing import Any
from zlib import crc32

from lro_conformance import profile as profiles
from lro_conformance.engine.capture import DEFAULT_SEQUENCES
from lro_conformance.engine.run import certify
from lro_conformance.judging.verdicts import Verdict
from tests.servers.editions.catalogue import Variant, variants
from tests.servers.faults.catalogue import Fault, faults
from tests.servers.sound.catalogue import Sound, sounds
from tests.servers.variants import profile_text
from tests.support.frozen import BASE, Standing, as_frozen, frozen_standings, standing

AHEAD = 8
"""How many jobs are under way before anybody asks for what they found."""

CALLED_FALSELY = (
    "counts_accesses",
    "ties_come_in_any_order",
    "inline_is_jsonl",
)
"""Sound servers that are always explored: those that a naive model would accuse first."""

BLAMED = (Verdict.WARN.label, Verdict.FAIL.label, Verdict.ERROR.label)


@dataclass(frozen=True, slots=True)
class Job:
    """One certification of one server."""

    server: str
    only: str | None = None
    """The one requirement to judge; None for all of them."""
    explored: bool = False
    """True if the server is explored as well."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a certification found."""

    verdicts: Mapping[str, str]
    """The verdict of each requirement, by its id."""
    checks: Mapping[str, str]
    """The verdict of each check, by its name."""
    messages: Mapping[str, tuple[str, ...]]
    """Of each requirement that is not as it should be, what its checks say: expected, then observed."""
    achieved: int
    failure: str | None
    seconds: float
    standing: Standing = field(default_factory=dict[str, Any])
    """All judgements of the report, without words."""

    @property
    def blamed(self) -> dict[str, tuple[str, ...]]:
        """What was blamed, and in which words."""
        return {id: self.messages[id] for id, verdict in self.verdicts.items() if verdict in BLAMED}


def certified(job: Job) -> Outcome:
    """Do one job."""
    known: Mapping[str, Fault | Sound | Variant] = {**faults(), **sounds(), **variants()}
    with tempfile.TemporaryDirectory() as folder:
        if job.server == BASE[1]:
            profile = profiles.profile_for_command(("lro", "serve"))
        else:
            path = Path(folder) / "lro.yaml"
            text = profile_text() if job.server == BASE[0] else profile_text(job.server, known[job.server].profile)
            path.write_text(text, encoding="utf-8")
            profile = profiles.load(path)
        report = certify(
            profile,
            seed=1,
            jobs=1,
            only=None if job.only is None else {job.only},
            examples=DEFAULT_SEQUENCES if job.explored else 0,
        )
    return Outcome(
        verdicts={r.requirement.id: r.verdict.label for r in report.requirements},
        checks={c.name: c.verdict.label for r in report.requirements for c in r.checks},
        messages={
            r.requirement.id: tuple(f"{c.expected}: {c.observed}" for c in r.checks if c.verdict.label in BLAMED)
            for r in report.requirements
            if r.verdict.label in BLAMED
        },
        achieved=report.achieved,
        failure=report.failure,
        seconds=report.duration_s,
        standing=standing(report.to_dict()),
    )


def explored_servers() -> set[str]:
    """The servers that are explored: those whose fault shows in no other way, and those that might be accused."""
    return {name for name, fault in faults().items() if fault.explored} | set(CALLED_FALSELY)


def now_and_then(job: Job, outcome: Outcome) -> tuple[Standing, Standing]:
    """The standing of a server, and the one that was frozen; both empty if it was not frozen by such a job."""
    then = frozen_standings().get(job.server)
    if then is None or job != Job(job.server, explored=job.server in explored_servers()):
        return {}, {}
    return as_frozen(outcome.standing, job.server), then


@contextmanager
def side_by_side(jobs: Iterable[Job], at_once: int | None = None) -> Generator[Callable[[Job], Outcome]]:
    """Gives a function that returns what a job found, and meanwhile does those that come after it in *jobs*: *at_once*
    of them (default: one per core)."""
    order = list(dict.fromkeys(jobs))
    started: dict[Job, Future[Outcome]] = {}
    pool = ProcessPoolExecutor(at_once or os.cpu_count() or 1, mp_context=get_context("spawn"))

    def outcome(job: Job) -> Outcome:
        at = order.index(job)
        for one in order[at : at + AHEAD]:
            if one not in started:
                started[one] = pool.submit(certified, one)
        return started[job].result()

    try:
        yield outcome
    finally:
        pool.shutdown(cancel_futures=True)


def spread(names: Mapping[str, Sequence[str]], most: int) -> list[str]:
    """At most *most* names out of named groups of them: from each group in turn, in an order that never changes."""
    groups = [sorted(group, key=_shuffled) for group in names.values()]
    turns = [group[turn] for turn in range(max(map(len, groups), default=0)) for group in groups if turn < len(group)]
    return list(dict.fromkeys(turns))[:most]


def _shuffled(name: str) -> int:
    return crc32(name.encode())
