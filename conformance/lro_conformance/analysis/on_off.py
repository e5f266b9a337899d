"""Comparison of the inline results of the same calls with LRO switched off, and with LRO on. With LRO on, a result is
inline if it does not exceed the threshold."""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import comb

from lro_conformance.analysis.comparison import Comparison, lines_of
from lro_conformance.analysis.timestamps import are_times_near_call
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

NOT_OFF_BETWEEN_ON = (
    "a call with LRO off was not made between two calls with LRO on, so LRO may not be the reason why its text differs"
)
"""Reason why the lines of a text are not compared (`OnOffPair.is_off_between_on`)."""


@dataclass(frozen=True)
class OnOffPair:
    """A call with LRO off, and the same call made one or more times with LRO on."""

    off: Call
    on: tuple[Call, ...]

    @property
    def subject(self) -> ComparedCall:
        """The pair as a subject of a check: the call with LRO off, and the last call with LRO on. Its script makes
        both."""
        return ComparedCall(self.on[-1], self.off, "with LRO off")

    @property
    def ignores_limit(self) -> bool:
        """True if the call with LRO off returned more records than its limit, and no call with LRO on did."""
        limit = self.off.limit
        return limit is not None and len(self.off.records or []) > limit >= max(len(c.records or []) for c in self.on)

    @property
    def off_lost_records(self) -> bool:
        """True if the call with LRO off returned at most one record, and each of the calls with LRO on returned
        several."""
        return len(self.off.records or []) <= 1 < min(len(c.records or []) for c in self.on)

    @cached_property
    def orders(self) -> set[tuple[str | None, ...]]:
        """The orders in which the calls with LRO on return their records, by id."""
        return {c.order for c in self.on}

    @property
    def volatile(self) -> set[Path]:
        """Paths of the fields that differ between the calls with LRO on."""
        first, *more = self.on
        return {p for c in more for p in volatile_between(first, c)}

    @property
    def is_off_between_on(self) -> bool:
        """True if a call with LRO on was made before the call with LRO off, and another one after it. If a value is
        equal in these two calls, it has not changed in the meantime."""
        return min(c.ended for c in self.on) <= self.off.started and max(c.started for c in self.on) >= self.off.ended

    @property
    def lost_members(self) -> list[str]:
        """The members, apart from records, that only the result with LRO off has. Members which say that LRO is off are
        left out."""
        members_with_lro = {member for c in self.on for member in envelope(c.result, c.records or [])}
        members_without_lro = envelope(self.off.result, self.off.records or [])
        return sorted(m for m in members_without_lro - members_with_lro if not _SAYS_LRO_IS_OFF.search(m))

    @property
    def lost_lines(self) -> list[str] | None:
        """Lines that only the text with LRO off has. Lines which say that LRO is off are left out. None if the texts
        with LRO on differ from each other.

        Lines are compared without numbers, times and ids.
        """
        first, *more = [lines_of(c.text) for c in self.on]
        lost = [line for line in lines_of(self.off.text) if line not in first and not _SAYS_LRO_IS_OFF.search(line)]
        return None if any(m != first for m in more) else lost


def on_off_pairs(inline: Inline, disabled: Disabled, control: Control | None) -> list[OnOffPair]:
    """The calls that were answered inline with LRO off. Each is paired with the same calls that were answered inline
    with LRO on. If *control* is not None, it has more of such calls: the calls with LRO off are taken from it, and its
    calls with LRO on are added to those of *inline*.

    A call is left out if there is no such call with LRO on. It is also left out if the calls with LRO on return
    different records, because such calls do not show what LRO changes.
    """
    calls_with_lro: Sequence[Iterable[Call]] = (
        inline.calls, inline.elsewhere.values(), inline.fullest.values(), inline.repeated.values(),
        control.on if control is not None else (),
    )  # fmt: skip
    on = [c for calls in calls_with_lro for c in calls if c.outcome == "inline"]
    off = disabled.calls if control is None else control.off
    answered = [c for c in off if c.outcome == "inline"]
    found = [OnOffPair(c, tuple(o for o in on if (o.tool, o.arguments) == (c.tool, c.arguments))) for c in answered]
    return [t for t in found if t.on and len({frozenset(order) for order in t.orders}) == 1]


def texts_only(pairs: Sequence[OnOffPair]) -> list[OnOffPair]:
    """The pairs if all results with LRO off are texts without records; otherwise an empty list. Pairs of the
    operation `inject` are included only if there are no pairs of other operations."""
    if any(p.off.records is not None for p in pairs):
        return []
    return [p for p in pairs if p.off.operation != "inject"] or list(pairs)


def difference(pair: OnOffPair, comparison: Comparison) -> tuple[str, str] | None:
    """A difference between the records that a call returns with LRO off and with LRO on, as two texts: what it returns
    with LRO off, and what it returns with LRO on. None if there is no difference that can be judged."""
    off_records, on_records = pair.off.records or [], pair.on[-1].records or []
    if len(off_records) != len(on_records):
        return f"{counted(len(off_records), 'record')}", f"{counted(len(on_records), 'record')}"
    if comparison.obstacle is None:
        by_off, by_on = by_id(off_records), by_id(on_records)
        if missing := by_off.keys() - by_on.keys():
            return f"{len(by_off)} memories, {min(missing)} among them", f"{len(missing)} of them are missing"
        if len(pair.orders) == 1 and (share := _reversed_share([*by_off], [*by_on])) > MAX_REVERSED:
            return (
                f"in the order {', '.join([*by_off][:3])}, …",
                f"in a different order: {share:.0%} of the pairs are reversed",
            )
    skipped = comparison.volatile(pair.off.operation) | pair.volatile
    if not pair.is_off_between_on or (comparison.obstacle is not None and ("id",) not in skipped):
        # Records without ids in common are compared only if calls have shown that the ids of an operation vary.
        return None
    for record, other in matched(off_records, on_records):
        for path in lost_or_changed(record, other, skipped):
            if are_times_near_call(at_path(record, path), at_path(other, path), pair.off):
                continue
            off, on = values_apart(record, other, path)
            name = id_of(record) if comparison.obstacle is None else show(record.get("title"))
            return f"record {name}: /{'/'.join(path)} is {off}", on
    return None


def _reversed_share(order: list[str], other_order: list[str]) -> float:
    """The share of all pairs of ids that have one order in *order*, and the reverse order in *other_order*. Both lists
    have the same ids."""
    rank = {key: n for n, key in enumerate(other_order)}
    sorted_ranks: list[int] = []
    reversed_pairs = 0
    for key in order:
        position = bisect(sorted_ranks, rank[key])
        reversed_pairs += len(sorted_ranks) - position
        sorted_ranks.insert(position, rank[key])
    return reversed_pairs / comb(max(MIN_RECORDS, len(order)), 2)


MAX_REVERSED = 0.05
"""Largest share of the pairs that may be reversed. Some may be reversed because records with equal scores may come in
any order."""

MIN_RECORDS = 10
"""A smaller result is treated as if it had this number of records, so that one or two reversed pairs do not exceed
`MAX_REVERSED`."""

_SAYS_LRO_IS_OFF = re.compile(r"\blro\b|offload|(?:en|dis)abled", re.IGNORECASE)
"""Words by which a result may say that LRO is off. A member or a line with such a word may be missing with LRO on."""
