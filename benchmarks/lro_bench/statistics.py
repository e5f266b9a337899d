"""Statistics of small samples: Wilson intervals, McNemar's exact test, Holm's correction, the bootstrap."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache

from lro_bench.corpus import SEED, Dice

_Z95 = 1.959963984540054
"""The 97.5 % quantile of the normal distribution."""
ROUNDS = 1000
"""Rounds of the bootstrap."""


def wilson(successes: int, trials: int) -> tuple[float, float]:
    """The 95 % interval of a share, from 0 to 1 (Wilson's score interval).

    Raises `ValueError` if there are no trials, or more successes than trials.
    """
    if not 0 <= successes <= trials or trials < 1:
        raise ValueError(f"{successes} of {trials} is no share")
    z2 = _Z95**2
    share = successes / trials
    middle = (share + z2 / (2 * trials)) / (1 + z2 / trials)
    half = _Z95 * math.sqrt(share * (1 - share) / trials + z2 / (4 * trials**2)) / (1 + z2 / trials)
    return max(0.0, middle - half), min(1.0, middle + half)


def mcnemar(only_first: int, only_second: int) -> float:
    """The two-sided exact p-value of the hypothesis that two conditions are equally good on the same tasks.

    The arguments are the number of tasks that were solved only under the first condition, and the number that were
    solved only under the second.
    """
    discordant = only_first + only_second
    if discordant == 0:
        return 1.0
    tail = sum(math.comb(discordant, k) for k in range(min(only_first, only_second) + 1)) / 2**discordant
    return min(1.0, 2 * tail)


def holm(p_values: Sequence[float]) -> list[float]:
    """The p-values of a family of tests, corrected by Holm's step-down method, in the order given."""
    order = sorted(range(len(p_values)), key=lambda index: p_values[index])
    corrected = [0.0] * len(p_values)
    largest = 0.0
    for rank, index in enumerate(order):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[index]))
        corrected[index] = largest
    return corrected


def bootstrap_mean(values: Sequence[float]) -> tuple[float, float]:
    """The 95 % interval of a mean by the percentile bootstrap over tasks. The same values give the same interval."""
    if not values:
        raise ValueError("no values")
    means = sorted(sum(map(values.__getitem__, row)) / len(values) for row in _draws(len(values)))
    return means[int(0.025 * ROUNDS)], means[int(0.975 * ROUNDS) - 1]


@cache
def _draws(count: int) -> list[list[int]]:
    """Indices of the tasks that are drawn in each round."""
    dice = Dice(SEED, "bootstrap", count)
    return [[dice.integer(0, count - 1) for _ in range(count)] for _ in range(ROUNDS)]


def fisher(first: int, of_first: int, second: int, of_second: int) -> float:
    """The two-sided exact p-value of the hypothesis that two unpaired shares are equal (Fisher's test)."""
    total, successes = of_first + of_second, first + second
    ways = math.comb(total, successes)

    def probability(k: int) -> float:
        return math.comb(of_first, k) * math.comb(of_second, successes - k) / ways

    observed = probability(first)
    possible = range(max(0, successes - of_second), min(of_first, successes) + 1)
    return min(1.0, sum(p for k in possible if (p := probability(k)) <= observed * (1 + 1e-9)))
