"""A server's estimates E: the records that they cover, how they are rounded, and whether they are stable."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import gcd
from typing import cast

from lro_conformance.analysis.detail import DetailLevels
from lro_conformance.capture.call import Call, Identity, named_before
from lro_conformance.capture.estimate import characters, honest_range, is_honest, tokens_per_character
from lro_conformance.judging.derived import derived
from lro_conformance.trials.survey import Survey
from lro_spec.jsonl.values import whole_number
from lro_spec.tokens import HIGH, LOW

SAME_SIZE = 0.03
"""Two sizes that differ by less than this share count as the same."""

_MIN_CHARACTERS = 2000
"""From this number of characters on, it does not matter how E is rounded, or whether the server also counts a few
characters around the records, such as brackets (I-01)."""

_LOW_SHARE = 0.9
"""E is too low if it is at most this share of characters ÷ 4."""

_CONSTANT_SPREAD = 0.01
"""E ÷ (characters ÷ 4) counts as the same in all files if its spread (`_spread`) is at most this."""

_DIFFERENT_SPREAD = 0.05
"""Files differ enough for a comparison if the share of values, as opposed to keys and punctuation, in their records
(`_values_share`) has at least this spread."""

_NEAR_LARGEST = 0.9
"""An E above this share of the largest one counts as equal to it."""

_MUCH_LARGER = 2.5
"""Two results cannot have the same honest E if the larger has more than this many times the characters of the
smaller."""

_MANY_RECORDS = 20
"""Results with at least this many records have texts of a similar kind, whatever operation returns them."""

_UNLIKE_RATIO = 1.2
"""Largest ratio between the tokens per character of two texts of a similar kind."""

MEASURES_OTHER_RECORDS = (
    "E is the estimate of records that are not in the file, or of a different detail level (LRO-THR-05)"
)
"""Reason why E is not compared with the records of a file."""

ESTIMATE_OF_EARLIER_CALL = "E may belong to an earlier call, whose file this call names (LRO-NAME-04)"
"""Reason why a result cannot be judged by the E of its file."""

LARGER = 1.1
"""Ratio of sizes above which the larger file must have the greater E."""


@dataclass(frozen=True)
class Estimates:
    """Estimates of the files of a survey."""

    survey: Survey
    details: DetailLevels

    @cached_property
    def rounding_step(self) -> int:
        """Common divisor of all estimates: 10 or more if headers round; 1 otherwise, or if too few are known."""
        stated = (whole_number(c.header.get("estimated_tokens")) for c in self.survey.files)
        known = {e for e in stated if e is not None and e > 0}
        step = gcd(*known) if len(known) >= 6 else 1
        return step if step >= 10 else 1

    @cached_property
    def same_memories(self) -> tuple[tuple[Call, Call], ...]:
        """Pairs of calls of one operation at one detail level whose files have the same memories with the same
        fields."""
        return tuple(self._same_memories())

    def _same_memories(self) -> Iterator[tuple[Call, Call]]:
        known: dict[tuple[object, ...], Call] = {}
        files = (c for c in self.survey.files if c.file_records)
        for other in (c for c in files if whole_number(c.header.get("estimated_tokens")) is not None):
            level = other.detail or str(other.header.get("detail"))
            key = (other.operation, level, other.file_ids, frozenset(other.file_records[0]))
            one = known.setdefault(key, other)
            # A file that lost records may seem to have the same memories as one with a lower limit.
            more = (
                len(c.file_records) > len(other.file_records)
                for c in self.survey.files
                if c.operation == other.operation
            )
            partly = one.limit != other.limit and any(more)
            if one is not other and not partly and not self.is_cut_short(other):
                yield one, other

    @cached_property
    def are_steady(self) -> bool:
        """True if the same memories have the same E each time."""
        return all(
            abs(a.header["estimated_tokens"] - b.header["estimated_tokens"]) <= slack(a, b)
            for a, b in self.same_memories
        )

    def is_of_an_earlier_call(self, operation: str) -> bool:
        """True if an operation's exact threshold may be tested with the E of a different call: both calls from which
        this E was learnt (`Survey.repeats`) name a file that an earlier call had already named."""
        calls = self.survey.repeats.get(operation, ())
        return bool(calls) and all(c.identity in self._named_before for c in calls)

    @cached_property
    def _named_before(self) -> frozenset[Identity]:
        return named_before(self.survey.offloaded)

    @cached_property
    def fraction(self) -> tuple[Call, float] | None:
        """The largest file, and the mean of E ÷ (characters ÷ 4), if this share is low and the same in all files.

        Only files of at least `_MIN_CHARACTERS` count. A constant share means that the server divides by a number other
        than 4. If the server estimated a text other than the record lines, such as a rendered one, the share would vary
        with the detail level, since keys weigh more where records are short. None if the files are too similar to show
        the difference.
        """
        known = [c for c in self.survey.files if c.estimate and c.file_records and characters(c) >= _MIN_CHARACTERS]
        known = [c for c in known if not self.is_cut_short(c) and not self.measure_differently(c.operation)]
        if not known or _spread([_values_share(c) for c in known]) < _DIFFERENT_SPREAD:
            return None
        shares = [4 * tokens_per_character(c) for c in known]
        if max(shares) > _LOW_SHARE or _spread(shares) > _CONSTANT_SPREAD:
            return None
        return max(known, key=characters), sum(shares) / len(shares)

    def call_estimated_in_part(self, operation: str, more: Sequence[Call] = ()) -> Call | None:
        """The largest of an operation's results for one query with the same fields, if its E is too low although
        smaller results have an honest E: then E covers only a part of the set. None if there is no such result.

        The largest honest E must be at least one and a half times the smallest, so that a constant does not count as an
        estimate. *more* are calls besides those of the survey.
        """
        groups: dict[object, list[Call]] = {}
        for call in (*self.survey.files, *more):
            if call.operation == operation and call.estimate and call.file_records and not self.is_cut_short(call):
                groups.setdefault((call.query, frozenset(call.file_records[0])), []).append(call)
        for calls in groups.values():
            honest = [c for c in calls if LOW <= 4 * tokens_per_character(c) <= HIGH]
            known = [c.estimate or 0 for c in honest]
            largest = max(calls, key=characters)
            if known and max(known) >= 1.5 * min(known) and (largest.estimate or 0) < honest_range(largest)[0]:
                return largest if characters(largest) > max(map(characters, honest)) else None
        return None

    def estimated_before_limit(self, operation: str) -> tuple[Call, Call] | None:
        """Two calls with different limits and the same E, although one file is at least twice as large as the other,
        and E is high enough for the larger one.

        None if E grows with the limit, or is a constant, that is, the same for other queries and levels.
        """
        groups: dict[object, list[Call]] = {}
        for call in self.survey.files:
            if call.operation == operation and call.estimate and call.file_records and call.limit is not None:
                groups.setdefault((call.query, frozenset(call.file_records[0])), []).append(call)
        pairs = [(min(calls, key=characters), max(calls, key=characters)) for calls in groups.values()]
        pairs = [(a, b) for a, b in pairs if a.limit != b.limit and characters(b) >= 2 * characters(a)]
        same = all(abs((a.estimate or 0) - (b.estimate or 0)) <= 2 for a, b in pairs)
        if not same or len({c.estimate for calls in groups.values() for c in calls}) < 2:
            return None
        return next(((a, b) for a, b in pairs if (b.estimate or 0) >= honest_range(b)[0]), None)

    def call_ignoring_detail(self, operation: str) -> tuple[Call, Call] | None:
        """Two calls which show that E does not follow the detail level; None if no calls show this.

        Of two calls for the same records, the one whose file is larger by more than a tenth must have the greater E. If
        the files have the same size, one E must not be more than one and a half times the other.
        """
        whole = self.survey.whole
        calls = [c for (n, _), c in whole.items() if n == operation and c.estimate and characters(c)]
        ids = {id(c): c.file_ids for c in calls}
        for one in calls:
            for other in calls:
                if one is other or ids[id(one)] != ids[id(other)] or not ids[id(one)]:
                    continue
                sizes, estimates = characters(other) / characters(one), (other.estimate or 0) / (one.estimate or 1)
                if (sizes > LARGER and estimates <= 1) or (abs(sizes - 1) < SAME_SIZE and estimates > 1.5):
                    return one, other
        return None

    def measure_differently(self, operation: str) -> bool:
        """True if E is the estimate of another set than the returned one: at a different detail level, before a limit
        is applied, or cut to a budget."""
        deviations = (self.call_ignoring_detail, self.estimated_before_limit, self.calls_estimated_at_budget)
        return any(deviation(operation) is not None for deviation in deviations)

    def calls_estimated_at_budget(self, operation: str) -> tuple[Call, Call] | None:
        """The smallest and the largest of those results of inject that have about the largest E, if this E is too low
        for the larger one: then E is the estimate of a set that was cut to the budget.

        None if no result has less than half of that E, since E may then be a constant. Also None if the larger result
        is not clearly larger than the smaller one (`_MUCH_LARGER`), or if other operations have such results, too.
        """
        if operation != "inject":
            return None
        found = {name: self._capped(name) for name in {c.operation for c in self.survey.files}}
        own = found.pop(operation, None)
        return own if not any(found.values()) else None

    def _capped(self, operation: str) -> tuple[Call, Call] | None:
        calls = [c for c in self.survey.files if c.operation == operation and c.estimate and c.file_records]
        cap = max((c.estimate or 0 for c in calls), default=0)
        same = sorted((c for c in calls if (c.estimate or 0) > _NEAR_LARGEST * cap), key=characters)
        grows = cap > 0 and any((c.estimate or 0) < cap / 2 for c in calls)
        if not grows or (same[-1].estimate or 0) >= honest_range(same[-1])[0]:
            return None
        return (same[0], same[-1]) if characters(same[-1]) > _MUCH_LARGER * characters(same[0]) else None

    @cached_property
    def unlike(self) -> tuple[Call, Call] | None:
        """Two results of different operations at one detail level whose tokens per character differ, although both have
        many records in Latin script. The one whose E is farther from characters ÷ 4 comes first."""
        large = [
            c
            for c in self.survey.whole.values()
            if c.estimate and len(c.file_records) >= _MANY_RECORDS and self._is_latin(c)
        ]
        large = [c for c in large if not (self.is_cut_short(c) or self.memories_of_same_recall(c))]
        large = [c for c in large if not self.measure_differently(c.operation)]
        for one, other in combinations(sorted(large, key=_deviation, reverse=True), 2):
            same = self.details.level_of(one) == self.details.level_of(other) and one.operation != other.operation
            rates = tokens_per_character(one), tokens_per_character(other)
            if same and max(rates) > _UNLIKE_RATIO * min(rates):
                return one, other
        return None

    @staticmethod
    def _is_latin(call: Call) -> bool:
        wide, escapes, narrow = call.file.scripts if call.file is not None else (0, 0, 0)
        return wide + escapes < narrow / 50

    def is_cut_short(self, call: Call) -> bool | None:
        """True if an inject's E covers more memories than its file has, compared with a recall of the same query: the
        file has fewer memories, and E per character is more than 1.6 times that of the recall.

        None if there is no such recall, or if one of the two files has no records.
        """
        known = self._recall_for(call)
        if known is None or not known.file_records or not call.file_records:
            return None
        return len(call.file_records) < len(known.file_records) and tokens_per_character(
            call
        ) > 1.6 * tokens_per_character(known)

    def memories_of_same_recall(self, call: Call) -> int | None:
        """Number of memories in the file of a recall with the same query, level and limit, if the file of an inject has
        fewer although both files state the same E.

        None if the limit or E differs, because then nothing shows that both found the same set; also None if the file
        of the inject is empty or has as many, or if E proves nothing: it is rounded or not honest, or results change
        from call to call.
        """
        known = self._recall_for(call)
        if known is None or known.limit != call.limit:
            return None
        if self.survey.volatile_operations or self.rounding_step > 1:
            return None
        same = known.estimate == call.estimate and known.estimate is not None and is_honest(known)
        return len(known.file_records) if same and 0 < len(call.file_records) < len(known.file_records) else None

    def _recall_for(self, call: Call) -> Call | None:
        """The recall with an inject's query at the same detail level or, if recall has no such level, with the same
        fields; None if there is none."""
        recall, level = self.survey.operations.get("recall"), self.details.level_of(call)
        if call.operation != "inject" or recall is None:
            return None
        recalls = [(at, c) for (n, at), c in self.survey.whole.items() if n == "recall" and c.query == call.query]
        if level is None or level in recall.details:
            return next((c for at, c in recalls if at == level), None)
        return next(
            (
                c
                for _, c in recalls
                if c.file_records and call.file_records and c.file_records[0].keys() == call.file_records[0].keys()
            ),
            None,
        )


@derived
def estimates(survey: Survey, details: DetailLevels) -> Estimates:
    """Estimates of the survey's files."""
    return Estimates(survey, details)


def _spread(shares: list[float]) -> float:
    """Excess of the largest share over the smallest, relative to the smallest."""
    return max(shares) / min(shares) - 1 if min(shares) > 0 else 0.0


def _values_share(call: Call) -> float:
    """Share of the record lines that is in texts and numbers, not in keys and punctuation."""
    return sum(map(_characters_of_values, call.file_records)) / characters(call)


def _characters_of_values(value: object) -> int:
    if isinstance(value, str):
        return len(value)
    if isinstance(value, dict):
        return sum(map(_characters_of_values, cast("dict[str, object]", value).values()))
    if isinstance(value, list):
        return sum(map(_characters_of_values, cast("list[object]", value)))
    return 0 if value is None else len(str(value))


def _deviation(call: Call) -> float:
    """Distance of a call's E from characters ÷ 4, relative to the latter."""
    return abs(4 * tokens_per_character(call) - 1)


def slack(one: Call, other: Call) -> int:
    """Tokens by which the E of two files with the same memories may differ: one for each character by which their sizes
    differ, and two more."""
    return abs(characters(one) - characters(other)) + 2
