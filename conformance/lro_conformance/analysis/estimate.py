"""A server's estimates of the number of tokens in results: the records that they cover, how they are rounded, and
whether they are stable.

E is the estimate of one result, which the header of its file states. An E is *honest* if it is plausible for the text
of the records (`lro_conformance.capture.estimate.tolerated_range`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import gcd
from typing import cast

from lro_conformance.analysis.detail import DetailLevels
from lro_conformance.capture.call import Call, Identity, named_before
from lro_conformance.capture.estimate import characters, is_within_tolerance, tokens_per_character, tolerated_range
from lro_conformance.judging.derived import derived
from lro_conformance.trials.survey import Survey
from lro_spec.jsonl.values import whole_number
from lro_spec.tokens import MAX_FACTOR, MIN_FACTOR

SAME_SIZE = 0.03
"""Two sizes that differ by less than this share count as the same."""

_MIN_CHARACTERS = 2000
"""Least number of characters of files whose E is examined. In files of this size, it does not matter how E is rounded,
or whether the server also counts a few characters around the records, such as brackets (I-01)."""

_LOW_SHARE = 0.9
"""E is too low if E ÷ (characters ÷ 4) is not greater than this number."""

_CONSTANT_SPREAD = 0.01
"""E ÷ (characters ÷ 4) counts as the same in all files if its spread (`_spread`) is not greater than this number."""

_DIFFERENT_SPREAD = 0.05
"""Files are different enough for a comparison if the share of values in their records (`_values_share`) has at least
this spread. The rest of a record is keys and punctuation."""

_NEAR_LARGEST = 0.9
"""An E above this share of the largest E counts as equal to the largest E."""

_MUCH_LARGER = 2.5
"""If the number of characters of one result is more than this number of times that of another result, the two results
cannot have the same honest E."""

_MANY_RECORDS = 20
"""Results with at least this number of records have similar texts, even if different operations return them."""

_UNLIKE_RATIO = 1.2
"""Largest ratio between the tokens per character of two similar texts."""

MEASURES_OTHER_RECORDS = (
    "E is the estimate of records that are not in the file, or of a different detail level (LRO-THR-05)"
)
"""Reason why E is not compared with the records of a file."""

ESTIMATE_OF_EARLIER_CALL = "E may belong to an earlier call, whose file this call names (LRO-NAME-04)"
"""Reason why the E of a file says nothing about the result of the call."""

LARGER = 1.1
"""If the ratio of the sizes of two files is greater than this number, the larger file must have the greater E."""


@dataclass(frozen=True)
class Estimates:
    """The estimates of the files of a survey, and what they have in common."""

    survey: Survey
    details: DetailLevels

    @cached_property
    def rounding_step(self) -> int:
        """The number to whose multiples the server rounds its estimates: the greatest common divisor of all estimates
        in headers, if it is 10 or more. Otherwise, or if fewer than six different estimates are known, the result is
        1."""
        header_estimates = (whole_number(c.header.get("estimated_tokens")) for c in self.survey.files)
        estimates = {e for e in header_estimates if e is not None and e > 0}
        step = gcd(*estimates) if len(estimates) >= 6 else 1
        return step if step >= 10 else 1

    @cached_property
    def same_memories(self) -> tuple[tuple[Call, Call], ...]:
        """Pairs of calls of one operation at one detail level whose files have the same memories with the same
        fields."""
        return tuple(self._same_memories())

    def _same_memories(self) -> Iterator[tuple[Call, Call]]:
        first_calls: dict[tuple[object, ...], Call] = {}
        files = (c for c in self.survey.files if c.file_records)
        for call in (c for c in files if whole_number(c.header.get("estimated_tokens")) is not None):
            level = call.detail or str(call.header.get("detail"))
            key = (call.operation, level, call.file_ids, frozenset(call.file_records[0]))
            first_call = first_calls.setdefault(key, call)
            # A file that lost records may seem to have the same memories as a file with a lower limit.
            has_more = (
                len(c.file_records) > len(call.file_records) for c in self.survey.files if c.operation == call.operation
            )
            may_lack_records = first_call.limit != call.limit and any(has_more)
            if first_call is not call and not may_lack_records and not self.is_cut_short(call):
                yield first_call, call

    @cached_property
    def same_memories_have_same_estimate(self) -> bool:
        """True if files with the same memories always have the same E, apart from `estimate_tolerance`."""
        return all(
            abs(a.header["estimated_tokens"] - b.header["estimated_tokens"]) <= estimate_tolerance(a, b)
            for a, b in self.same_memories
        )

    def is_of_an_earlier_call(self, operation: str) -> bool:
        """True if the E by which an operation's exact threshold is tested may be that of a different call.

        That is so if both calls from which this E was learnt (`Survey.repeats`) name a file that had already been named
        by an earlier call.
        """
        calls = self.survey.repeats.get(operation, ())
        return bool(calls) and all(c.identity in self._named_before for c in calls)

    @cached_property
    def _named_before(self) -> frozenset[Identity]:
        return named_before(self.survey.offloaded)

    @cached_property
    def fraction(self) -> tuple[Call, float] | None:
        """The largest file, and the mean of E ÷ (characters ÷ 4), if this quotient is low and the same in all files.
        Otherwise None; also None if the files are too similar to show a difference.

        Only files of at least `_MIN_CHARACTERS` count. If the quotient is constant, the server divides the number of
        characters by a number other than 4. If the server estimated a different text, such as a rendering of the
        records, the quotient would vary with the detail level, because keys are a larger part of short records.
        """
        calls = [c for c in self.survey.files if c.estimate and c.file_records and characters(c) >= _MIN_CHARACTERS]
        calls = [c for c in calls if not self.is_cut_short(c) and not self.are_of_other_records(c.operation)]
        if not calls or _spread([_values_share(c) for c in calls]) < _DIFFERENT_SPREAD:
            return None
        shares = [4 * tokens_per_character(c) for c in calls]
        if max(shares) > _LOW_SHARE or _spread(shares) > _CONSTANT_SPREAD:
            return None
        return max(calls, key=characters), sum(shares) / len(shares)

    def call_estimated_in_part(self, operation: str, further_calls: Sequence[Call] = ()) -> Call | None:
        """A result of an operation whose E covers only a part of the records; None if there is no such result.

        Results for the same query and with the same fields are compared. If the E of the largest result is too low,
        although smaller results have an honest E, then the E of the largest result covers only a part of it. The
        largest honest E must be at least one and a half times the smallest, so that a constant does not count as an
        estimate.

        *further_calls* are calls that are not in the survey.
        """
        groups: dict[object, list[Call]] = {}
        for call in (*self.survey.files, *further_calls):
            if call.operation == operation and call.estimate and call.file_records and not self.is_cut_short(call):
                groups.setdefault((call.query, frozenset(call.file_records[0])), []).append(call)
        for calls in groups.values():
            honest = [c for c in calls if MIN_FACTOR <= 4 * tokens_per_character(c) <= MAX_FACTOR]
            honest_estimates = [c.estimate or 0 for c in honest]
            largest = max(calls, key=characters)
            if (
                honest_estimates
                and max(honest_estimates) >= 1.5 * min(honest_estimates)
                and (largest.estimate or 0) < tolerated_range(largest)[0]
            ):
                return largest if characters(largest) > max(map(characters, honest)) else None
        return None

    def estimated_before_limit(self, operation: str) -> tuple[Call, Call] | None:
        """Two calls which show that E is estimated before the limit is applied. They have different limits and the same
        E, although one file is at least twice as large as the other. E is high enough for the larger file.

        None if E grows with the limit, or if it is the same for all queries and levels.
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
        return next(((a, b) for a, b in pairs if (b.estimate or 0) >= tolerated_range(b)[0]), None)

    def call_ignoring_detail(self, operation: str) -> tuple[Call, Call] | None:
        """Two calls which show that E ignores the detail level; None if no calls show this.

        If two calls return the same records, and one file is larger by more than a tenth, its E must be greater. If
        both files have about the same size, one E must not be more than one and a half times the other E.
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

    def are_of_other_records(self, operation: str) -> bool:
        """True if E is not the estimate of the returned records, but of other records: records at a different detail
        level, the records before a limit is applied, or the records that are left when they are cut to a budget."""
        deviations = (self.call_ignoring_detail, self.estimated_before_limit, self.calls_estimated_at_budget)
        return any(deviation(operation) is not None for deviation in deviations)

    def calls_estimated_at_budget(self, operation: str) -> tuple[Call, Call] | None:
        """Two results of inject which show that E is the estimate of records that were cut to the budget; None if there
        are no such results.

        Of all results whose E is about the largest E of inject, they are the smallest and the largest. The largest E
        must be too low for the larger result, which must be clearly larger than the smaller one (`_MUCH_LARGER`). Some
        result must have less than half of the largest E, because otherwise E may be a constant. No other operation may
        have such results.
        """
        if operation != "inject":
            return None
        capped = {name: self._capped(name) for name in {c.operation for c in self.survey.files}}
        of_inject = capped.pop(operation, None)
        return of_inject if not any(capped.values()) else None

    def _capped(self, operation: str) -> tuple[Call, Call] | None:
        calls = [c for c in self.survey.files if c.operation == operation and c.estimate and c.file_records]
        largest_estimate = max((c.estimate or 0 for c in calls), default=0)
        near_largest = sorted(
            (c for c in calls if (c.estimate or 0) > _NEAR_LARGEST * largest_estimate), key=characters
        )
        estimates_vary = largest_estimate > 0 and any((c.estimate or 0) < largest_estimate / 2 for c in calls)
        if not estimates_vary or (near_largest[-1].estimate or 0) >= tolerated_range(near_largest[-1])[0]:
            return None
        return (
            (near_largest[0], near_largest[-1])
            if characters(near_largest[-1]) > _MUCH_LARGER * characters(near_largest[0])
            else None
        )

    @cached_property
    def results_with_unlike_rates(self) -> tuple[Call, Call] | None:
        """Two results of different operations at one detail level whose tokens per character differ, although both have
        many records in Latin script. None if there are no such results. The result whose E is farther from characters ÷
        4 comes first."""
        large = [
            c
            for c in self.survey.whole.values()
            if c.estimate and len(c.file_records) >= _MANY_RECORDS and self._is_latin(c)
        ]
        large = [c for c in large if not (self.is_cut_short(c) or self.memories_of_same_recall(c))]
        large = [c for c in large if not self.are_of_other_records(c.operation)]
        for one, other in combinations(sorted(large, key=_deviation, reverse=True), 2):
            is_comparable = (
                self.details.level_of(one) == self.details.level_of(other) and one.operation != other.operation
            )
            rates = tokens_per_character(one), tokens_per_character(other)
            if is_comparable and max(rates) > _UNLIKE_RATIO * min(rates):
                return one, other
        return None

    @staticmethod
    def _is_latin(call: Call) -> bool:
        wide, escapes, narrow = call.file.scripts if call.file is not None else (0, 0, 0)
        return wide + escapes < narrow / 50

    def is_cut_short(self, call: Call) -> bool | None:
        """True if the E of an inject covers more memories than its file has. This is found by a comparison with a
        recall of the same query: the file of the inject has fewer memories, and its E per character is more than 1.6
        times that of the recall.

        None if there is no such recall, or if one of the two files has no records.
        """
        recall = self._recall_for(call)
        if recall is None or not recall.file_records or not call.file_records:
            return None
        return len(call.file_records) < len(recall.file_records) and tokens_per_character(
            call
        ) > 1.6 * tokens_per_character(recall)

    def memories_of_same_recall(self, call: Call) -> int | None:
        """The number of memories in the file of a recall with the same query, level and limit as an inject, if the file
        of the inject has fewer memories, but at least one, although both files state the same E. Otherwise None.

        If the limit or E differs, nothing shows that both calls found the same memories. E proves nothing if it is
        rounded or not honest, or if results change from call to call.
        """
        recall = self._recall_for(call)
        if recall is None or recall.limit != call.limit:
            return None
        if self.survey.volatile_operations or self.rounding_step > 1:
            return None
        is_same_estimate = (
            recall.estimate == call.estimate and recall.estimate is not None and is_within_tolerance(recall)
        )
        return (
            len(recall.file_records)
            if is_same_estimate and 0 < len(call.file_records) < len(recall.file_records)
            else None
        )

    def _recall_for(self, call: Call) -> Call | None:
        """The recall with the same query as an inject, at the same detail level. If recall does not have this level, it
        is a recall whose records have the same fields. None if there is no such recall."""
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
    """The estimates of the survey's files."""
    return Estimates(survey, details)


def _spread(shares: list[float]) -> float:
    """The difference between the largest and the smallest share, divided by the smallest."""
    return max(shares) / min(shares) - 1 if min(shares) > 0 else 0.0


def _values_share(call: Call) -> float:
    """The share of the characters in record lines that belong to values, such as texts and numbers. All others belong
    to keys and punctuation."""
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
    """The difference between a call's E and characters ÷ 4, divided by characters ÷ 4."""
    return abs(4 * tokens_per_character(call) - 1)


def estimate_tolerance(one: Call, other: Call) -> int:
    """Number of tokens by which the E of two files with the same memories may differ. It is the difference between the
    numbers of characters, plus two."""
    return abs(characters(one) - characters(other)) + 2
