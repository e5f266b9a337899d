"""How a server decides and what its estimates cover, as several checks read it."""

from __future__ import annotations

from types import SimpleNamespace as Made
from typing import Any

import pytest

from lro_conformance.analysis import threshold

readings: Any = threshold
"""What is made up is no survey, but looks like one."""

A, B, C = {"id": "a", "title": "A"}, {"id": "b", "title": "B"}, {"id": 3, "title": "C"}


def one(
    characters: int = 400,
    estimate: Any = 100,
    *filed: dict[str, Any],
    scripts: Any = None,
    header: Any = ...,
    **other: Any,
) -> Any:
    """A call as readings see it."""
    file = Made(characters=characters, scripts=scripts or (0, 0, characters), problem=None)
    known: dict[str, Any] = {
        "operation": "recall", "detail": None, "limit": None, "query": "*", "file": file, "estimate": estimate,
        "filed": list(filed) or [A],
        "header": {"estimated_tokens": estimate} if header is ... else header, "records": None, "outcome": "offloaded",
    }  # fmt: skip
    return Made(**{**known, **other})


FULL = {"id": "a", "memory_type": "m", "namespace": "n", "title": "t", "content": "c", "created": "d"}
LIGHT = {"id": "a", "title": "t"}
MEDIUM = {"id": "a", "title": "t", "summary": "s"}


def survey(*files: Made, details: tuple[str, ...] = ("light", "full"), **other: Any) -> Any:
    """A survey with these files."""
    known: dict[str, Any] = {
        "files": files, "whole": {}, "volatile_operations": (), "repeats": {},
        "operations": {n: Made(details=details) for n in ("recall", "search", "inject")},
    }  # fmt: skip
    return Made(**{**known, **other})


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
    assert readings.rounding_step(survey(*(one(estimate=e) for e in estimates))) == step


def probe(threshold: int, outcome: str) -> Any:
    """A call at a threshold."""
    return Made(threshold=threshold, call=Made(outcome=outcome))


SIDES_OF = [
    ("inline", "offloaded"),
    ("offloaded", "offloaded"),
    ("inline", "inline"),
    ("offloaded", "inline"),
    ("error", "offloaded"),
]


def edge(sides: tuple[str, str], **other: Any) -> Any:
    """An edge at 100 tokens."""
    at, above = sides
    found = (probe(100, at), probe(100, "inline")), (probe(99, above), probe(99, "offloaded"))
    known: dict[str, Any] = {"after": None, "next": None, "near": None, "half": None, "low": None}
    return Made(
        **{"operation": "recall", "estimate": 100, "largest": 20, "at": found[0], "above": found[1], **known, **other}
    )


RULES: list[tuple[dict[str, Any], str, str, str]] = [
    ({}, "comparison", "comparison", "own threshold"),
    ({"near": probe(102, "inline")}, "comparison", "comparison", "comparison"),
    ({"near": probe(98, "offloaded")}, "comparison", "comparison", "comparison"),
    ({"near": probe(98, "inline")}, "comparison", "comparison", "own threshold"),
    ({"near": probe(100, "inline")}, "comparison", "comparison", "comparison"),
    (
        {"next": probe(103, "offloaded"), "near": probe(110, "inline")},
        "another figure",
        "another figure",
        "another figure",
    ),
    ({"next": probe(103, "inline"), "near": probe(110, "inline")}, "comparison", "comparison", "comparison"),
    (
        {"next": probe(97, "inline"), "near": probe(90, "offloaded")},
        "another figure",
        "another figure",
        "another figure",
    ),
    ({"half": probe(50, "inline"), "low": probe(10, "offloaded")}, "per record", "budgeted", "per record"),
    ({"half": probe(50, "inline"), "low": probe(10, "inline")}, "comparison", "comparison", "own threshold"),
    ({"half": probe(50, "offloaded"), "low": probe(10, "offloaded")}, "comparison", "comparison", "own threshold"),
    (
        {"half": probe(50, "inline"), "low": probe(10, "offloaded"), "largest": 50},
        "comparison",
        "comparison",
        "own threshold",
    ),
    ({"half": probe(50, "inline")}, "comparison", "comparison", "own threshold"),
    ({"low": probe(1, "offloaded")}, "comparison", "comparison", "own threshold"),
    (
        {"half": probe(50, "inline"), "low": probe(10, "offloaded"), "largest": 49},
        "per record",
        "budgeted",
        "per record",
    ),
    ({"next": probe(103, "offloaded")}, "comparison", "comparison", "own threshold"),
    (
        {"half": probe(50, "inline"), "low": probe(10, "offloaded"), "largest": 60},
        "comparison",
        "comparison",
        "own threshold",
    ),
    (
        {"half": probe(50, "inline"), "low": probe(10, "offloaded"), "largest": 50, "estimate": 101},
        "comparison",
        "comparison",
        "own threshold",
    ),
]
"""What is known of an edge that is not exact: the rule of recall, of inject, and of recall beside an exact search."""


@pytest.mark.parametrize("sides", SIDES_OF[1:])
@pytest.mark.parametrize(("known", "recall", "inject", "beside"), RULES)
def test_an_edge_that_is_not_exact_shows_another_rule(
    sides: tuple[str, str], known: dict[str, Any], recall: str, inject: str, beside: str
) -> None:
    here = edge(sides, **known)
    assert readings.rules(survey(), Made(edges={"recall": here})) == {"recall": recall}
    assert readings.rules(survey(), Made(edges={"inject": here})) == {"inject": inject}
    both = readings.rules(survey(), Made(edges={"recall": here, "search": edge(SIDES_OF[0])}))
    assert both == {"recall": beside, "search": "exact"}


@pytest.mark.parametrize("known", [known for known, *_ in RULES])
def test_an_edge_that_is_exact_is_so_whatever_else_is_known(known: dict[str, Any]) -> None:
    assert readings.rules(survey(), Made(edges={"recall": edge(SIDES_OF[0], **known)})) == {"recall": "exact"}


def test_where_estimates_are_rounded_the_figure_is_another() -> None:
    rounded = survey(*(one(estimate=10 * n) for n in range(1, 8)))
    assert readings.rules(rounded, Made(edges={"recall": edge(SIDES_OF[1])})) == {"recall": "another figure"}


@pytest.mark.parametrize(
    ("sides", "after", "latches"),
    [
        (SIDES_OF[0], "offloaded", True),
        (SIDES_OF[0], "inline", False),
        (SIDES_OF[0], None, False),
        (SIDES_OF[1], "offloaded", False),
    ],
)
def test_a_server_latches_that_offloads_everything_after_an_exact_edge(sides: Any, after: Any, latches: bool) -> None:
    later = probe(100, after) if after else None
    assert readings.latches_after_offloading(Made(edges={"recall": edge(sides, after=later)})) is latches


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
        ([one(400, 100, filed=[]), one(400, 90, filed=[])], [], True),
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
    found = [(calls.index(a), calls.index(b), readings.slack_of(a, b)) for a, b in readings.of_the_same(survey(*calls))]
    assert (found, readings.is_steady(survey(*calls))) == (pairs, steady)


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
    assert readings.honest_range(one(characters, scripts=scripts)) == bounds
    assert round(readings.tokens_per_character(one(characters, 1, scripts=scripts)), 4) == weight
    honest = [readings.is_honest(one(characters, e, scripts=scripts)) for e in (least - 1, least, most, most + 1)]
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
        ([one(400, 100), one(800, 200), one(8000, 200, filed=[])], None, None, False),
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
    covered = readings.covers_part(survey(*calls), "recall")
    limited = readings.before_the_limit(survey(*calls), "recall")
    assert (covered and calls.index(covered)) == part
    assert (limited and tuple(calls.index(c) for c in limited)) == before
    assert readings.measures_differently(survey(*calls), "recall") is otherwise


@pytest.mark.parametrize(
    ("whole", "levels", "deaf", "follows"),
    [
        ({}, [None, None, "full", None, None], None, None),
        (
            {
                ("recall", "light"): one(400, 100, LIGHT, header={"detail": "light"}),
                ("recall", "full"): one(900, 200, FULL, header={"detail": "full"}),
            },
            ["light", None, "full", None, None],
            None,
            None,
        ),
        (
            {
                ("recall", "light"): one(400, 100, LIGHT, header={"detail": "light"}),
                ("recall", "full"): one(400, 100, LIGHT, header={"detail": "light"}),
            },
            ["light", None, "full", None, None],
            "light",
            None,
        ),
        (
            {
                ("recall", "light"): one(400, 100, LIGHT, header={"detail": "light"}),
                ("recall", "full"): one(400, 100, LIGHT, header={"detail": "full"}),
            },
            ["light", None, "full", None, None],
            None,
            None,
        ),
        (
            {
                ("recall", "light"): one(400, 100, LIGHT, header={}),
                ("recall", "full"): one(400, 100, LIGHT, header={"detail": None}),
            },
            ["light", None, "full", None, None],
            None,
            None,
        ),
        (
            {
                ("recall", "light"): one(400, 100, LIGHT, header={"detail": "light"}),
                ("recall", "full"): one(400, 200, LIGHT, header={"detail": "full"}),
                ("search", "full"): one(400, 100, FULL),
            },
            ["light", None, "full", None, None],
            "the same",
            "no detail asked for: E = 100 for 400 characters; no detail asked for: E = 200 for 400 characters",
        ),
        (
            {
                ("recall", "light"): one(400, 100, LIGHT, header={"detail": "light"}),
                ("recall", "full"): one(400, 151, LIGHT, header={"detail": "full"}),
                ("search", "full"): one(400, 100, LIGHT),
                ("inject", "medium"): one(400, 100, MEDIUM),
            },
            ["light", None, "full", "medium", None],
            None,
            "no detail asked for: E = 100 for 400 characters; no detail asked for: E = 151 for 400 characters",
        ),
        (
            {
                ("recall", "light"): one(400, 100, FULL, header={"detail": "light"}),
                ("recall", "full"): one(440, 100, FULL, header={"detail": "full"}),
                ("search", "full"): one(400, 100, FULL),
            },
            [None, "light", "full", None, None],
            None,
            None,
        ),
        (
            {
                ("recall", "light"): one(400, 100, LIGHT),
                ("recall", "full"): one(441, 100, FULL),
                ("recall", None): one(400, 100, LIGHT),
            },
            ["light", None, "full", None, None],
            None,
            "no detail asked for: E = 100 for 400 characters; no detail asked for: E = 100 for 441 characters",
        ),
        (
            {("recall", "light"): one(400, 100, LIGHT), ("recall", "full"): one(412, 160, FULL)},
            ["light", None, "full", None, None],
            None,
            None,
        ),
        ({("recall", "light"): one(400, 100, LIGHT, filed=[])}, [None, None, "full", None, None], None, None),
        (
            {
                ("recall", "light"): one(400, 100, LIGHT),
                ("recall", "full"): one(411, 160, FULL),
                ("inject", "medium"): one(4, 1, {**MEDIUM, "content": "c"}),
            },
            ["light", None, "full", None, None],
            None,
            "no detail asked for: E = 100 for 400 characters; no detail asked for: E = 160 for 411 characters",
        ),
        (
            {
                ("recall", "light"): one(400, 100, LIGHT, header={"detail": ""}),
                ("recall", "full"): one(400, 100, LIGHT, header={"detail": ""}),
            },
            ["light", None, "full", None, None],
            None,
            None,
        ),
        (
            {
                ("recall", "light"): one(0, 100, LIGHT),
                ("recall", "full"): one(400, None, FULL),
                ("recall", "medium"): one(400, 100, B),
            },
            ["light", None, "full", None, None],
            None,
            None,
        ),
        (
            {
                ("recall", "light"): one(400, 100, LIGHT, header={"detail": "light"}),
                ("inject", "full"): one(400, 100, LIGHT, header={"detail": "light"}),
            },
            ["light", None, "full", None, None],
            None,
            None,
        ),
        (
            {("recall", d): one(400, 100, LIGHT, header={"detail": "light"}) for d in ("light", "medium", "full")},
            ["light", None, "full", None, None],
            "light",
            None,
        ),
        (
            {
                ("recall", "light"): one(400, 100, LIGHT, header={"detail": "light"}),
                ("recall", "full"): one(400, 100, FULL, header={"detail": "light"}),
            },
            ["light", None, "full", None, None],
            None,
            None,
        ),
        (
            {
                ("recall", "light"): one(400, 100, LIGHT, header={"detail": "light"}),
                ("recall", "full"): one(400, 100, LIGHT, header={"detail": "full"}),
                ("inject", "full"): one(400, 100, FULL),
            },
            ["light", None, "full", None, None],
            "the same",
            None,
        ),
        ({("recall", "light"): one(400, 100, {**LIGHT, "content": ""})}, [None, None, "full", None, None], None, None),
        (
            {("recall", "light"): one(400, 100, LIGHT), ("recall", "full"): one(900, 100, B)},
            ["light", None, "full", None, None],
            None,
            None,
        ),
        (
            {("recall", "light"): one(400, 100, LIGHT), ("recall", "full"): one(404, 150, LIGHT)},
            ["light", None, "full", None, None],
            None,
            None,
        ),
    ],
)
def test_a_level_is_told_by_fields_where_headers_do_not_tell_it(
    whole: dict[Any, Any], levels: list[str | None], deaf: str | None, follows: str | None
) -> None:
    known = survey(*whole.values(), whole=whole, details=("light", "full"))
    calls = [
        one(400, 100, LIGHT), one(400, 100, FULL), one(400, 100, FULL, detail="full"),
        one(400, 100, MEDIUM, operation="inject"), one(filed=[]),
    ]  # fmt: skip
    assert [readings.level_of(known, c) for c in calls] == levels
    assert (readings.ignored_detail(known, "recall"), readings.follows_detail(known, "recall")) == (deaf, follows)


@pytest.mark.parametrize(
    ("filed", "shown", "level"),
    [
        (LIGHT, LIGHT, None),
        (LIGHT, MEDIUM, "light"),
        (LIGHT, FULL, "light"),
        (MEDIUM, LIGHT, None),
        (MEDIUM, MEDIUM, None),
        (MEDIUM, FULL, None),
        (FULL, LIGHT, "full"),
        (FULL, MEDIUM, "full"),
        (FULL, FULL, None),
    ],
)
def test_a_file_is_taken_for_the_level_whose_fields_it_has(filed: Any, shown: Any, level: str | None) -> None:
    whole = {
        ("recall", "light"): one(records=[LIGHT]), ("recall", "full"): one(records=[FULL]),
        ("inject", "medium"): one(records=[MEDIUM]), ("search", "medium"): one(records=[MEDIUM]),
    }  # fmt: skip
    assert readings.taken_for(Made(whole=whole), one(400, 100, filed), one(records=[shown])) == level
