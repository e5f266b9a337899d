"""Counts of explored calls. They show how many kinds of calls were tried, and how often."""

from __future__ import annotations

from collections import Counter

from lro_conformance.capture.call import Call
from lro_conformance.capture.intervention import BREAKING, RESTARTED
from lro_conformance.judging.results import Coverage, ExploredCalls
from lro_conformance.trials.exploration import Explored

SIZE_BOUNDS = (0, 1, 10, 50)
"""Results are classified by their number of records. Each of these numbers is the upper bound of a class. There is one
more class for larger results."""

OUTCOMES = ("inline", "offloaded", "failed", "unwritten")
"""The outcomes by which calls are counted. They are names of fields of `ExploredCalls`, where they are described."""


def coverage(explored: Explored) -> Coverage:
    """Counts of the explored calls by operation, detail level, number of records, and outcome. There are also counts of
    everything else that the explorer tried."""
    triples = (*explored.smallest, *explored.triples, *explored.unsteady)
    counts: Counter[tuple[str, str, str, str]] = Counter()
    for triple in triples:
        size = size_class(_records(triple.inline) or _records(triple.lowest))
        for call in triple.calls:
            if triple.broken and call is not triple.inline:
                counts[call.operation, call.detail or "", size, "unwritten"] += 1
                continue
            outcome = call.outcome if call.outcome in ("inline", "offloaded") else "failed"
            counts[call.operation, call.detail or "", size, outcome] += 1
    keys = dict.fromkeys(key[:3] for key in sorted(counts, key=_order))
    return Coverage(
        sequences=explored.sequences,
        memories=len(explored.memories),
        threshold=explored.threshold,
        in_flight=sum(t.in_flight for t in triples),
        broken=sum(i.kind in BREAKING for t in triples for i in t.before),
        sweeps=sum(t.sweep is not None for t in triples),
        restarts=sum(i.kind == RESTARTED for t in triples for i in t.before),
        series=explored.series.calls if explored.series is not None else 0,
        calls=tuple(ExploredCalls(*key, **{outcome: counts[*key, outcome] for outcome in OUTCOMES}) for key in keys),
    )


def size_class(records: int) -> str:
    """The class of results with this number of *records*: "0", "1", "2-10" …"""
    previous_bound = -1
    for bound in SIZE_BOUNDS:
        if records <= bound:
            return str(bound) if bound == previous_bound + 1 else f"{previous_bound + 1}-{bound}"
        previous_bound = bound
    return f"{previous_bound + 1}+"


def _order(key: tuple[str, str, str, str]) -> tuple[str, str, int]:
    return key[0], key[1], [size_class(n) for n in (0, 1, 2, 11, 51)].index(key[2])


def _records(call: Call) -> int:
    return len(call.file_records or call.records or [])
