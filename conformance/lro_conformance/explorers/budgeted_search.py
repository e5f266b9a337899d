"""A search for a violation within a budget: when it ends, which attempt is the smallest, and whether it recurs."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

Observed = TypeVar("Observed")

SHRINKS = 60
"""Largest number of attempts to find a smaller violation. It is not a time, so that the same seed leads to the same
violation."""

SHRINKING_S = 12.0
"""Longest time, in seconds, that finding the smallest attempt may take with a slow server."""


class Violation(AssertionError):
    """Raised by an attempt that has shown a violation, so that Hypothesis looks for a smaller one."""


class OutOfBudget(BaseException):
    """The time or the attempts are used up. Not an `Exception`, which Hypothesis would treat as another violation."""


@dataclass
class BudgetedSearch(Generic[Observed]):
    """One search: when it ends, the attempts without a violation, and those with one."""

    deadline: float
    """Time of the monotonic clock after which no attempt begins; the first violation sets it anew."""
    is_aborted: Callable[[], bool] = lambda: False
    """Returns True if the search has to end at once."""
    clean_attempts: list[Observed] = field(default_factory=list[Observed])
    """The observations of attempts before the first violation."""
    failing: list[Observed] = field(default_factory=list[Observed])
    """The observations of attempts with a violation, the smallest last."""
    attempts: int = 0
    """Number of attempts, without those that look for a smaller violation."""
    _shrinks: int = 0
    """Number of attempts that look for a smaller violation."""
    _spent: bool = False
    """True if `begin` has refused the last attempt."""

    def begin(self) -> None:
        """Count an attempt that is about to begin.

        Raises `OutOfBudget` if no time or attempts are left for it, or if the search is aborted.
        """
        self.attempts += not self.failing
        self._shrinks += bool(self.failing)
        self._spent = time.monotonic() > self.deadline or self._shrinks > SHRINKS or self.is_aborted()
        if self._spent:
            raise OutOfBudget

    def found(self, observed: Observed) -> None:
        """Record an attempt that has shown a violation, and end it: raises `Violation`."""
        if not self.failing:
            self.deadline = time.monotonic() + SHRINKING_S
        self.failing.append(observed)
        raise Violation

    def run(self, search: Callable[[], object], again: Callable[[], object]) -> bool:
        """Run *search* to its end; True if a violation was found and recurred.

        Hypothesis repeats a violation while there is time. If it was seen only once, *again* is called, which has to
        repeat the attempt.
        """
        from hypothesis.errors import Flaky

        try:
            search()
        except (Violation, OutOfBudget):
            pass
        except Flaky:
            # Hypothesis repeats a violation, and raises this if it does not recur; also if `begin` ends the repetition,
            # because the budget is spent.
            if not self._spent:
                return False
        if len(self.failing) != 1:
            return bool(self.failing)
        try:
            again()
        except Violation:
            return True
        return False
