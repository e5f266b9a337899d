"""A search for a violation: it ends within its budget, makes what it finds small, and repeats it once."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import strategies as st

from lro_conformance.explorers import budgeted_search as module
from lro_conformance.explorers.budgeted_search import BudgetedSearch
from lro_conformance.explorers.hypothesis_runner import isolated, run_examples

NUMBERS = st.integers(0, 10**6)


def searched(
    is_wrong: Callable[[int], bool],
    strategy: st.SearchStrategy[int] = NUMBERS,
    seconds: float = 30,
    is_aborted: Callable[[], bool] = lambda: False,
) -> tuple[BudgetedSearch[int], bool]:
    """A search for a wrong number, and whether one was found that is wrong again."""
    search: BudgetedSearch[int] = BudgetedSearch(time.monotonic() + seconds, is_aborted)
    last: list[int] = []

    def one(number: int) -> None:
        search.begin()
        last[:] = [number]
        if is_wrong(number):
            search.record_violation(number)
        search.clean_attempts.append(number)

    with isolated(Path("unused")):
        recurred = search.run(lambda: run_examples(strategy, one, seed=7, examples=50), lambda: one(last[0]))
    return search, recurred


def test_the_smallest_violation_comes_last() -> None:
    search, recurred = searched(lambda number: number > 1000)
    assert (search.failing[-1], recurred) == (1001, True)


def test_nothing_wrong_is_no_violation() -> None:
    search, recurred = searched(lambda number: False)
    assert (search.failing, recurred) == ([], False)
    assert search.attempts == len(search.clean_attempts) >= 50


def test_a_violation_stands_if_there_is_no_time_to_reduce_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_SHRINKING_S", 0.05)

    def slow(number: int) -> bool:
        time.sleep(0.06)
        return number > 1000

    search, recurred = searched(slow)
    assert (len(search.failing) >= 1, recurred) == (True, True)


@pytest.mark.parametrize("times", [1, 2])
def test_a_violation_that_does_not_recur_is_none(times: int) -> None:
    count = itertools.count()
    search, recurred = searched(lambda number: next(count) < times)
    assert (bool(search.failing), recurred) == (True, False)


def test_no_attempt_is_made_without_time() -> None:
    search, recurred = searched(lambda number: True, seconds=-1)
    assert (search.failing, search.clean_attempts, recurred) == ([], [], False)


def test_an_aborted_run_ends_the_search() -> None:
    aborted = iter([False, False, False])
    search, _ = searched(lambda number: False, is_aborted=lambda: next(aborted, True))
    assert len(search.clean_attempts) == 3


def test_the_same_seed_ends_with_the_same_attempt(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_SHRINKS", 3)
    ended = [searched(lambda number: number % 1000 > 500)[0].failing[-1] for _ in range(2)]
    assert ended[0] == ended[1]
