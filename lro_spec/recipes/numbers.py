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
"""Relative difference up to which two numbers count as equal: a few times that of neighbouring doubles."""


def near(a: float, b: float) -> bool:
    """True if two numbers are so close that jq may treat them as equal."""
    return math.isclose(a, b, rel_tol=_TOLERANCE)


def unify_near(records: Sequence[Any], values: Sequence[Any]) -> tuple[list[Any], list[Any]] | None:
    """Records and values in which nearly equal numbers are replaced by the least of them; None if no numbers are nearly
    equal."""
    found = sorted({number for value in (*records, *values) for number in _numbers(value)})
    firsts = found[:1] + [number for before, number in pairwise(found) if not near(before, number)]
    if len(firsts) == len(found):
        return None
    return [_with(firsts, record) for record in records], [_with(firsts, value) for value in values]


def _numbers(value: Json) -> Iterator[float]:
    left: list[Any] = [value]
    while left:
        part = left.pop()
        if isinstance(part, dict):
            left += cast("dict[str, Any]", part).values()
        elif isinstance(part, list):
            left += cast("list[Any]", part)
        elif (number := number_of(part)) is not None and not math.isnan(number):
            yield number


def _with(firsts: Sequence[float], value: Json) -> Json:
    if isinstance(value, dict):
        return {key: _with(firsts, member) for key, member in cast("dict[str, Any]", value).items()}
    if isinstance(value, list):
        return [_with(firsts, item) for item in cast("list[Any]", value)]
    number = number_of(value)
    return value if number is None or math.isnan(number) else firsts[bisect_right(firsts, number) - 1]
