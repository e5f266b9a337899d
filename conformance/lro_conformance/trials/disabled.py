"""Results and files of a server with offloading switched off."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lro_conformance.capture.call import Call
from lro_conformance.capture.corpus import NOWHERE
from lro_conformance.lab.settings import Settings
from lro_conformance.lab.thresholds import LIMIT
from lro_conformance.trials import trial
from lro_conformance.trials.survey import EDGE_LIMIT, Inline, Survey, usual_detail

if TYPE_CHECKING:
    from lro_conformance.lab.bench import Bench
    from lro_conformance.lab.lab import Lab


@dataclass(frozen=True)
class Disabled:
    """Observations of a server with the lowest threshold and LRO switched off."""

    calls: tuple[Call, ...]
    listing: Mapping[str, int]
    """The offloaded files in the output folder, with their sizes."""
    nothing: tuple[Call, ...]
    """Calls of those operations with a query that finds nothing."""
    others: tuple[Call, ...] = ()
    """Calls of those operations at each detail level, for `EDGE_LIMIT` records, and with a query of one word."""


@trial("LRO switched off")
def disabled(lab: Lab, survey: Survey) -> Disabled:
    """Call every operation that offloads, with ``enabled = false`` and a threshold of 1."""
    threshold = 1 if lab.can_set("threshold_tokens") else None
    with lab.bench(Settings(enabled=False, threshold_tokens=threshold)) as bench:
        offloading = [n for n in bench.operations if survey.offloads(n)]
        calls = [bench.call(name, limit=LIMIT) for name in offloading]
        listing = bench.listing()
        nothing = tuple(asking(bench, offloading, NOWHERE))
        return Disabled(tuple(calls), listing, nothing, tuple(_others(bench, offloading, survey.word)))


def _others(bench: Bench, names: Iterable[str], word: str | None) -> Iterator[Call]:
    for name in names:
        operation = bench.operations[name]
        yield bench.call(name, detail=usual_detail(operation), limit=EDGE_LIMIT)
        yield from (bench.call(name, detail=detail) for detail in operation.details)
        if operation.query is not None and word is not None:
            yield bench.call(name, query=word)


def asking(bench: Bench, names: Iterable[str], query: str) -> Iterator[Call]:
    """Calls of each operation that takes a query, as long as the server runs."""
    for name in names:
        if bench.operations[name].query is not None and bench.server.alive:
            yield bench.call(name, query=query, limit=EDGE_LIMIT)


@dataclass(frozen=True)
class Control:
    """The calls of `Disabled`, made once more with LRO switched on and a threshold that no result reaches."""

    calls: tuple[Call, ...]


@trial("LRO switched on again, below the threshold")
def control(lab: Lab, inline: Inline, disabled: Disabled) -> Control:
    """Repeat the calls that were made with LRO switched off; `inline` has made them before."""
    bench = lab.kept["inline"]
    made = (*disabled.calls, *disabled.others)
    return Control(tuple(bench.call(c.operation, detail=c.detail, limit=c.limit, query=c.query) for c in made))
