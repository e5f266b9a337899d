"""Results and files of a server with offloading switched off."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lro_conformance.capture.call import Call
from lro_conformance.capture.corpus import NOWHERE
from lro_conformance.judging.outcome import NotObserved
from lro_conformance.lab.settings import Settings
from lro_conformance.lab.thresholds import USUAL_LIMIT
from lro_conformance.trials import trial
from lro_conformance.trials.survey import EDGE_LIMIT, Inline, Survey

if TYPE_CHECKING:
    from lro_conformance.lab.bench import Bench
    from lro_conformance.lab.lab import Lab


@dataclass(frozen=True)
class Disabled:
    """Observations of a server with LRO switched off and, if it can be set, the lowest threshold."""

    calls: tuple[Call, ...]
    listing: Mapping[str, int]
    """The offloaded files in the output folder after `calls`, with their sizes."""
    nothing: tuple[Call, ...]
    """Calls with a query that finds nothing, for the operations of `calls` that take a query."""


@trial("LRO switched off")
def disabled(lab: Lab, survey: Survey) -> Disabled:
    """Call every operation that offloads, with ``enabled = false`` and, if it can be set, the lowest threshold."""
    threshold = 1 if lab.can_set("threshold_tokens") else None
    with lab.bench(Settings(enabled=False, threshold_tokens=threshold), keep_for="disabled") as bench:
        offloading = [n for n in bench.operations if survey.offloads(n)]
        calls = [bench.call(name, limit=USUAL_LIMIT) for name in offloading]
        listing = bench.listing()
        return Disabled(tuple(calls), listing, tuple(calls_with_query(bench, offloading, NOWHERE)))


def calls_with_query(bench: Bench, names: Iterable[str], query: str) -> Iterator[Call]:
    """A call with this *query* for each of the operations *names* that takes a query, as long as the server runs."""
    for name in names:
        if bench.operations[name].query is not None and bench.server.alive:
            yield bench.call(name, query=query, limit=EDGE_LIMIT)


@dataclass(frozen=True)
class Control:
    """Calls with LRO switched off, and the same calls afterwards with LRO on and a threshold that nothing reaches.

    They repeat calls of `Inline`: at each detail level, for `EDGE_LIMIT` records, and with a query of one word.
    """

    off: tuple[Call, ...]
    on: tuple[Call, ...]
    """In the order of `off`."""


@trial("LRO off and on again, below the threshold")
def control(lab: Lab, survey: Survey, inline: Inline, disabled: Disabled) -> Control:
    """Repeat the calls of `inline` in the servers of `disabled` and of `inline`."""
    kept = lab.kept["disabled"], lab.kept["inline"]
    if not all(bench.server.alive for bench in kept):
        raise NotObserved("one of the servers ended during an earlier call")
    inline_calls = [*inline.whole.values(), *inline.edges.values(), *inline.others]
    arguments = [(c.operation, c.detail, c.limit, c.query) for c in inline_calls if survey.offloads(c.operation)]
    off, on = (
        tuple(bench.call(name, detail=detail, limit=limit, query=query) for name, detail, limit, query in arguments)
        for bench in kept
    )
    return Control(off, on)
