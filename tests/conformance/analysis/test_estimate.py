"""How a server rounds, what its estimates cover, and whether they are steady."""

from __future__ import annotations

from typing import Any

import pytest

from lro_conformance.analysis.estimate import estimate_tolerance
from lro_conformance.capture.estimate import is_within_tolerance, tokens_per_character, tolerated_range
from tests.support.made_survey import A, B, C, estimates, one
from tests.support.made_survey import estimates as made_estimates


@pytest.mark.parametrize(
    ("estimates", "step"),
    [
        ((10, 20, 30, 40, 50, 60), 10),
        ((10, 20, 30, 40, 50), 1),
        ((9, 18, 27, 36, 45, 54), 1),
        ((10, 20, 30, 40, 50, 61), 1),
        ((0, 10, 20, 30, 40, 50, 60), 10),
        ((-5, 10, 20, 30, 40, 50, 60), 10),
        ((0, 10, 20, 30, 40, 50), 1),
        ((1, 10, 20, 30, 40, 50, 60), 1),
        ((11, 22, 33, 44, 55, 66), 11),
        ((25, 50, 75, 100, 125, 150, "x"), 25),
        ((1, 20, 40, 60, 80, 100), 1),
    ],
)
def test_estimates_are_rounded_where_six_are_multiples_of_ten_or_more(estimates: tuple[Any, ...], step: int) -> None:
    assert made_estimates(*(one(estimate=e) for e in estimates)).rounding_step == step


@pytest.mark.parametrize(
    ("calls", "pairs", "steady"),
    [
        ([one(400, 100), one(400, 100)], [(0, 0, 2)], True),
        ([one(400, 100), one(402, 101)], [(0, 1, 4)], True),
        ([one(400, 100), one(402, 105)], [(0, 1, 4)], False),
        ([one(400, 100), one(402, 104)], [(0, 1, 4)], True),
        ([one(400, 100), one(400, 103)], [(0, 1, 2)], False),
        ([one(400, 100), one(400, 102)], [(0, 1, 2)], True),
        ([one(400, 100), one(400, 99, B)], [], True),
        ([one(400, 100), one(400, 90, {"id": "a"})], [], True),
        ([one(400, 100), one(400, 90, operation="search")], [], True),
        ([one(400, 100), one(400, None)], [], True),
        ([one(400, 100), one(400, True)], [], True),
        ([one(400, 100, A, B), one(300, 90), one(300, 80, limit=5)], [], True),
        ([one(400, 100, A), one(400, 90, A, limit=5)], [(0, 1, 2)], False),
        ([one(), one(header={})], [], True),
        ([one(400, 100, A, B), one(400, 50, A, B, limit=2), one(900, 90, A, B, C)], [], True),
        ([one(400, 100, file_records=[]), one(400, 90, file_records=[])], [], True),
        ([one(400, 100, A), one(400, 90, A, limit=5), one(900, 90, A, B, C, operation="inject")], [(0, 1, 2)], False),
        ([one(399, 100), one(402, 100)], [(0, 1, 5)], True),
        ([one(400, 100, A, {"id": "b"}), one(400, 90, A, B)], [(0, 1, 2)], False),
        ([one(400, 100, detail="light"), one(400, 90, detail="full")], [], True),
        ([one(400, 100, A, B, limit=9), one(400, 90, A, B, limit=5), one(100, 20, A, limit=1)], [(0, 1, 2)], False),
        (
            [one(400, 100, A, limit=1), one(400, 90, A, limit=5), one(900, 90, A, B, C, operation="search")],
            [(0, 1, 2)],
            False,
        ),
    ],
)
def test_files_of_the_same_memories_have_the_same_estimate(
    calls: list[Any], pairs: list[tuple[int, int, int]], steady: bool
) -> None:
    found = [(calls.index(a), calls.index(b), estimate_tolerance(a, b)) for a, b in estimates(*calls).same_memories]
    assert (found, estimates(*calls).same_memories_have_same_estimate) == (pairs, steady)


@pytest.mark.parametrize(
    ("characters", "scripts", "bounds", "weight"),
    [
        (4000, None, (536, 1865), 0.0003),
        (4000, (1000, 10, 2940), (528, 3408), 0.0003),
        (0, None, (0, 65), 0.25),
    ],
)
def test_an_estimate_is_honest_between_its_bounds(
    characters: int, scripts: Any, bounds: tuple[int, int], weight: float
) -> None:
    least, most = bounds
    assert tolerated_range(one(characters, scripts=scripts)) == bounds
    assert round(tokens_per_character(one(characters, 1, scripts=scripts)), 4) == weight
    honest = [is_within_tolerance(one(characters, e, scripts=scripts)) for e in (least - 1, least, most, most + 1)]
    assert honest == [False, True, True, False]


@pytest.mark.parametrize(
    ("calls", "part", "before", "otherwise"),
    [
        ([one(400, 100), one(800, 200), one(8000, 200)], 2, None, False),
        ([one(400, 100), one(800, 200), one(8000, 2000)], None, None, False),
        ([one(400, 100), one(8000, 200)], None, None, False),
        ([one(400, 100), one(600, 150), one(8000, 200)], 2, None, False),
        ([one(400, 100), one(596, 149), one(8000, 200)], None, None, False),
        ([one(8000, 2000), one(400, 100), one(300, 0)], None, None, False),
        ([one(400, 100), one(800, 200), one(8000, 200, query="x")], None, None, False),
        ([one(400, 100), one(800, 200), one(8000, 200, {"id": "b"})], None, None, False),
        ([], None, None, False),
        ([one(400, 100), one(800, 200), one(8000, 200, operation="search")], None, None, False),
        ([one(400, 100), one(800, 200), one(8000, 200, file_records=[])], None, None, False),
        ([one(400, 100, limit=1), one(4000, 100, limit=9), one(400, 50, query="x")], None, None, False),
        ([one(400, 1000, limit=1), one(4000, 1002, limit=9), one(9, 3, limit=9, query="x")], None, (0, 1), True),
        ([one(400, 1000, limit=1), one(4000, 1003, limit=9), one(9, 3, limit=9, query="x")], None, None, False),
        ([one(400, 1000, limit=1), one(800, 1000, limit=9), one(9, 3, limit=9, query="x")], None, (0, 1), True),
        ([one(400, 1000, limit=1), one(799, 1000, limit=9), one(9, 3, limit=9, query="x")], None, None, False),
        ([one(400, 1000, limit=1), one(4000, 1000, limit=9)], None, None, False),
        ([one(400, 100, limit=1), one(4000, 100, limit=9), one(9, 3, limit=9, query="x")], None, None, False),
        ([one(400, 1000), one(4000, 1000, limit=9), one(9, 3, limit=9, query="x")], None, None, False),
    ],
)
def test_an_estimate_may_cover_a_part_or_precede_the_limit(
    calls: list[Any], part: int | None, before: tuple[int, int] | None, otherwise: bool
) -> None:
    covered = estimates(*calls).call_estimated_in_part("recall")
    limited = estimates(*calls).estimated_before_limit("recall")
    assert (covered and calls.index(covered)) == part
    assert (limited and tuple(calls.index(c) for c in limited)) == before
    assert estimates(*calls).are_of_other_records("recall") is otherwise
