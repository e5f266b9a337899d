"""Comparison of numbers at jq's precision: numbers that differ only in the last digits of a double are equal.

jq reads and writes 17 digits by way of a double, and some of its versions round differently from Python.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, cast

from lro_spec.jsonl.strict import Json, number_of

_TOLERANCE = 2.0**-50
"""Largest relative difference of two numbers that count as equal. The difference of neighbouring doubles is a few times
smaller."""


def near(a: float, b: float) -> bool:
    """True if two numbers are so close that jq may treat them as equal."""
    return math.isclose(a, b, rel_tol=_TOLERANCE)


def unify_near(records: Sequence[Any], values: Sequence[Any]) -> tuple[list[Any], list[Any]] | None:
    """Return the records and the values, in which nearly equal numbers are replaced by the least of them. Returns None
    if no numbers are nearly equal."""
    numbers = sorted({number for value in (*records, *values) for number in _numbers(value)})
    minimums = numbers[:1] + [number for previous, number in pairwise(numbers) if not near(previous, number)]
    if len(minimums) == len(numbers):
        return None
    return [_with_minimums(minimums, record) for record in records], [
        _with_minimums(minimums, value) for value in values
    ]


def _numbers(value: Json) -> Iterator[float]:
    pending: list[Any] = [value]
    while pending:
        part = pending.pop()
        if isinstance(part, dict):
            pending += cast("dict[str, Any]", part).values()
        elif isinstance(part, list):
            pending += cast("list[Any]", part)
        elif (number := number_of(part)) is not None and not math.isnan(number):
            yield number


def _with_minimums(minimums: Sequence[float], value: Json) -> Json:
    if isinstance(value, dict):
        return {key: _with_minimums(minimums, member) for key, member in cast("dict[str, Any]", value).items()}
    if isinstance(value, list):
        return [_with_minimums(minimums, item) for item in cast("list[Any]", value)]
    number = number_of(value)
    return value if number is None or math.isnan(number) else minimums[bisect_right(minimums, number) - 1]
