"""Counts of explored calls, as a measure of how much of the space of calls was tried."""

from __future__ import annotations

from collections import Counter

from lro_conformance.capture.call import Call
from lro_conformance.capture.intervention import BREAKING, RESTARTED
from lro_conformance.judging.results import Coverage, ExploredCalls
from lro_conformance.trials.exploration import Explored

SIZES = (0, 1, 10, 50)
"""Upper bounds, in records, of the classes of results. Larger results are in one more class, which has no bound."""

SIDES = ("inline", "offloaded", "failed", "unwritten")
"""The outcomes by which calls are counted: names of fields of `ExploredCalls`, which describes them."""


def coverage(explored: Explored) -> Coverage:
    """Counts of the explored calls by operation, detail level, number of records, and outcome; and counts of everything
    else that the explorer tried."""
    triples = (*explored.smallest, *explored.triples, *explored.unsteady)
    counts: Counter[tuple[str, str, str, str]] = Counter()
    for triple in triples:
        size = size_class(_records(triple.inline) or _records(triple.lowest))
        for call in triple.calls:
            if triple.broken and call is not triple.inline:
                counts[call.operation, call.detail or "", size, "unwritten"] += 1
                continue
            side = call.outcome if call.outcome in ("inline", "offloaded") else "failed"
            counts[call.operation, call.detail or "", size, side] += 1
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
        calls=tuple(ExploredCalls(*key, **{side: counts[*key, side] for side in SIDES}) for key in keys),
    )


def size_class(records: int) -> str:
    """The class of results with this number of *records*: "0", "1", "2-10" …"""
    below = -1
    for bound in SIZES:
        if records <= bound:
            return str(bound) if bound == below + 1 else f"{below + 1}-{bound}"
        below = bound
    return f"{below + 1}+"


def _order(key: tuple[str, str, str, str]) -> tuple[str, str, int]:
    return key[0], key[1], [size_class(n) for n in (0, 1, 2, 11, 51)].index(key[2])


def _records(call: Call) -> int:
    return len(call.file_records or call.records or [])
