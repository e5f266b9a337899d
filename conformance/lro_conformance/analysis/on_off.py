"""Comparison of inline results of the same calls: with LRO off, and with LRO on below the threshold."""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import comb

from lro_conformance.analysis.comparison import Comparison, lines_of
from lro_conformance.analysis.timestamps import are_of_the_run
from lro_conformance.capture.call import Call, ComparedCall, volatile_between
from lro_conformance.capture.records import (
    Path,
    at_path,
    by_id,
    envelope,
    id_of,
    lost_or_changed,
    matched,
    show,
    values_apart,
)
from lro_conformance.trials.disabled import Control, Disabled
from lro_conformance.trials.survey import Inline
from lro_spec.display import counted

NOT_SURROUNDED = "a call with LRO off was not made between two with LRO on, so its text may differ for another reason"
"""Reason why the lines of a text are not compared; see `OnOffPair.surrounded`."""


@dataclass(frozen=True)
class OnOffPair:
    """A call with LRO off, and the same call made one or more times with LRO on."""

    off: Call
    on: tuple[Call, ...]

    @property
    def at(self) -> ComparedCall:
        """The subject that reproduces both calls."""
        return ComparedCall(self.on[-1], self.off, "with LRO off")

    @property
    def ignores_limit(self) -> bool:
        """True if only the call with LRO off returned more records than its limit."""
        limit = self.off.limit
        return limit is not None and len(self.off.records or []) > limit >= max(len(c.records or []) for c in self.on)

    @property
    def is_cut(self) -> bool:
        """True if the call with LRO off returned at most one record, and each with LRO on returned several."""
        return len(self.off.records or []) <= 1 < min(len(c.records or []) for c in self.on)

    @cached_property
    def orders(self) -> set[tuple[str | None, ...]]:
        """The orders in which the calls with LRO on return their records, by id."""
        return {c.order for c in self.on}

    @property
    def volatile(self) -> set[Path]:
        """Fields that differ between the calls with LRO on."""
        first, *more = self.on
        return {p for c in more for p in volatile_between(first, c)}

    @property
    def surrounded(self) -> bool:
        """True if the call with LRO off was made between two with LRO on. Then values that are equal in those two did
        not change between them."""
        return min(c.ended for c in self.on) <= self.off.started and max(c.started for c in self.on) >= self.off.ended

    @property
    def lost_members(self) -> list[str]:
        """Members besides the records that only the result with LRO off has, except those that say that LRO is off."""
        there = {member for c in self.on for member in envelope(c.result, c.records or [])}
        usual = envelope(self.off.result, self.off.records or [])
        return sorted(m for m in usual - there if not _SAYS_THAT_IT_IS_OFF.search(m))

    @property
    def lost_lines(self) -> list[str] | None:
        """Lines that only the text with LRO off has, except those that say that LRO is off.

        Lines are compared without numbers, times and ids. None if the calls with LRO on do not agree.
        """
        first, *more = [lines_of(c.text) for c in self.on]
        lost = [line for line in lines_of(self.off.text) if line not in first and not _SAYS_THAT_IT_IS_OFF.search(line)]
        return None if any(m != first for m in more) else lost


def on_off_pairs(inline: Inline, disabled: Disabled, control: Control | None) -> list[OnOffPair]:
    """The calls that were answered inline with LRO off, each with the same calls with LRO on.

    A call is left out if there is no such call with LRO on, or if those with LRO on find different records: then they
    cannot show what LRO changes.
    """
    known: Sequence[Iterable[Call]] = (
        inline.calls, inline.elsewhere.values(), inline.fullest.values(), inline.repeated.values(),
        control.on if control is not None else (),
    )  # fmt: skip
    on = [c for calls in known for c in calls if c.outcome == "inline"]
    off = disabled.calls if control is None else control.off
    made = [c for c in off if c.outcome == "inline"]
    found = [OnOffPair(c, tuple(o for o in on if (o.tool, o.arguments) == (c.tool, c.arguments))) for c in made]
    return [t for t in found if t.on and len({frozenset(order) for order in t.orders}) == 1]


def texts_only(pairs: Sequence[OnOffPair]) -> list[OnOffPair]:
    """The pairs, if all results with LRO off are texts; none if one of them has records. Pairs of inject are included
    only if there are no others."""
    if any(p.off.records is not None for p in pairs):
        return []
    return [p for p in pairs if p.off.operation != "inject"] or list(pairs)


def difference(pair: OnOffPair, comparison: Comparison) -> tuple[str, str] | None:
    """Records that a call returns with LRO off, and what it returns instead with LRO on; None if nothing that can be
    compared differs."""
    usual, shown = pair.off.records or [], pair.on[-1].records or []
    if len(usual) != len(shown):
        return f"{counted(len(usual), 'record')}", f"{counted(len(shown), 'record')}"
    if comparison.obstacle is None:
        by_off, by_on = by_id(usual), by_id(shown)
        if missing := by_off.keys() - by_on.keys():
            return f"{len(by_off)} memories, {min(missing)} among them", f"{len(missing)} of them are missing"
        if len(pair.orders) == 1 and (share := _reversed([*by_off], [*by_on])) > MAX_REVERSED:
            return (
                f"in the order {', '.join([*by_off][:3])}, …",
                f"in a different order: {share:.0%} of the pairs are reversed",
            )
    skip = comparison.volatile(pair.off.operation) | pair.volatile
    if not pair.surrounded or (comparison.obstacle is not None and ("id",) not in skip):
        return None  # without ids in common, two processes have to show that ids are among the fields that vary
    for record, other in matched(usual, shown):
        for path in lost_or_changed(record, other, skip):
            if are_of_the_run(at_path(record, path), at_path(other, path), pair.off):
                continue
            off, on = values_apart(record, other, path)
            name = id_of(record) if comparison.obstacle is None else show(record.get("title"))
            return f"record {name}: /{'/'.join(path)} is {off}", on
    return None


def _reversed(one: list[str], other: list[str]) -> float:
    """Share of the pairs in the order *one* that are reversed in the order *other* of the same ids."""
    place = {key: n for n, key in enumerate(other)}
    seen: list[int] = []
    wrong = 0
    for key in one:
        at = bisect(seen, place[key])
        wrong += len(seen) - at
        seen.insert(at, place[key])
    return wrong / comb(max(MIN_RECORDS, len(one)), 2)


MAX_REVERSED = 0.05
"""Largest share of the pairs that may be reversed, as records that tie may come in any order."""

MIN_RECORDS = 10
"""Smaller results count as this large, so that one or two reversed pairs are within `MAX_REVERSED`."""

_SAYS_THAT_IT_IS_OFF = re.compile(r"\blro\b|offload|(?:en|dis)abled", re.IGNORECASE)
"""Words by which a result may say that LRO is off; a member or a line with one of them is not lost with LRO on."""
