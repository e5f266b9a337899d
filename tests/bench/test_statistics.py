"""Statistics, held to values that are known from elsewhere."""

from __future__ import annotations

import pytest

from lro_bench.statistics import bootstrap_mean, fisher, holm, mcnemar, wilson


@pytest.mark.parametrize(
    ("successes", "trials", "low", "high"),
    [(14, 15, 0.702, 0.988), (0, 15, 0.0, 0.204), (86, 90, 0.891, 0.983), (81, 263, 0.255, 0.366)],
)
def test_wilson(successes: int, trials: int, low: float, high: float) -> None:
    assert wilson(successes, trials) == pytest.approx((low, high), abs=0.0006)


def test_wilson_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="1 of 0"):
        wilson(1, 0)


@pytest.mark.parametrize(("one", "other", "p"), [(0, 0, 1.0), (5, 5, 1.0), (0, 6, 0.03125), (2, 10, 0.0386)])
def test_mcnemar(one: int, other: int, p: float) -> None:
    assert mcnemar(one, other) == mcnemar(other, one) == pytest.approx(p, abs=0.0001)


def test_holm() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([]) == []


def test_fisher_is_that_of_the_tea_tasting() -> None:
    assert fisher(3, 4, 1, 4) == pytest.approx(0.4857, abs=0.0001)
    assert fisher(86, 90, 76, 90) == pytest.approx(0.023, abs=0.001)


def test_bootstrap_is_repeatable_and_contains_the_mean() -> None:
    values = [float(value) for value in range(1, 31)]
    low, high = bootstrap_mean(values)
    assert low < 15.5 < high
    assert (low, high) == bootstrap_mean(values)
    assert bootstrap_mean([7.0, 7.0]) == (7.0, 7.0)
