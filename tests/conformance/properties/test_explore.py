"""Exploring with Hypothesis: what misses is found, made small, and never lost for want of time."""

from __future__ import annotations

import itertools
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import strategies as st
from lro_conformance.properties.explore import Live

from lro_conformance.judging.subjects import Miss, Subjects
from lro_conformance.properties import explore as module

NUMBERS = st.integers(0, 10**6)


@pytest.fixture
def live() -> Live:
    return fresh()


def fresh() -> Live:
    return Live(
        cast(
            "Any",
            SimpleNamespace(
                seed=7, forget_experiments=lambda: None, workspace=SimpleNamespace(root=Path("unused"), aborted=False)
            ),
        )
    )


def too_large(number: int) -> Miss | bool:
    return Miss("at most a thousand", str(number), "") if number > 1000 else True


def test_the_smallest_that_misses_is_the_finding(live: Live) -> None:
    see = Subjects()
    live.explore(see, NUMBERS, too_large)
    assert [m.observed for m in see.misses] == ["1001"]


def test_checks_that_share_a_name_see_the_same_examples_made_once(live: Live) -> None:
    made: list[int] = []

    def observe(number: int) -> int:
        made.append(number)
        return number

    first, second = list[int](), list[int]()
    one, two = Subjects(), Subjects()
    live.judge(one, "numbers", NUMBERS, observe, lambda n: first.append(n) is None)
    live.judge(two, "numbers", NUMBERS, observe, lambda n: second.append(n) is None)
    assert made == first == second
    assert one.examined == two.examined == len(made) >= 12


def test_a_miss_among_shared_examples_is_made_small(live: Live) -> None:
    see = Subjects()
    live.judge(see, "numbers", NUMBERS, lambda n: n, too_large)
    assert [m.observed for m in see.misses] == ["1001"]


def test_a_miss_stands_also_when_there_is_no_time_to_make_it_small(live: Live, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SHRINKING_S", 0.05)

    def slow(number: int) -> Miss | bool:
        time.sleep(0.06)
        return too_large(number)

    see = Subjects()
    live.explore(see, NUMBERS, slow)
    assert len(see.misses) == 1


def test_no_example_is_tried_when_the_time_of_the_run_is_used_up(live: Live) -> None:
    live.left_s = -1.0
    see = Subjects()
    live.explore(see, NUMBERS, too_large)
    assert (see.examined, see.misses) == (0, [])
    assert see.not_observed_because


@pytest.mark.parametrize("misses", [1, 2])
def test_a_miss_that_does_not_come_again_is_no_finding(live: Live, misses: int) -> None:
    count = itertools.count()

    def at_first(_: int) -> Miss | bool:
        return Miss("always well", "not the first times", "") if next(count) < misses else True

    see = Subjects()
    live.judge(see, "numbers", NUMBERS, lambda n: n, at_first)
    assert (see.examined, see.misses) == (0, [])
    assert see.not_observed_because


def test_the_same_seed_ends_with_the_same_example_however_many_would_be_smaller(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "SHRINKS", 3)
    texts = st.lists(st.integers(0, 999), min_size=5, max_size=40)
    ended: list[str] = []
    for _ in range(2):
        see = Subjects()
        fresh().explore(see, texts, lambda ns: Miss("", str(ns), "") if sum(ns) > 500 else True)
        ended += [m.observed for m in see.misses]
    assert len(ended) == 2
    assert ended[0] == ended[1]
