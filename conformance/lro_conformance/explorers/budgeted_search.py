"""A search for a violation within a budget. It decides when to end, which attempt is the smallest, and whether the
violation recurs."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

Observed = TypeVar("Observed")

MAX_SHRINKS = 60
"""Largest number of attempts to find a smaller violation. The limit is a number and not a time, so that the same seed
leads to the same violation."""

MAX_SHRINKING_S = 12.0
"""Longest time, in seconds, that finding the smallest attempt may take with a slow server."""


class Violation(AssertionError):
    """Raised by an attempt that has shown a violation, so that Hypothesis looks for a smaller one."""


class OutOfBudget(BaseException):
    """Raised when the time or the attempts are used up. It is not an `Exception`, because Hypothesis would treat that
    as another violation."""


@dataclass
class BudgetedSearch(Generic[Observed]):
    """The state of one search: its limits, the attempts without a violation, and the attempts with a violation."""

    deadline: float
    """Time of the monotonic clock after which no attempt begins; the first violation sets a new deadline."""
    is_aborted: Callable[[], bool] = lambda: False
    """Returns True if the search has to end at once."""
    clean_attempts: list[Observed] = field(default_factory=list[Observed])
    """The observations of attempts before the first violation."""
    failing: list[Observed] = field(default_factory=list[Observed])
    """The observations of attempts with a violation. The smallest attempt comes last."""
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
        self._spent = time.monotonic() > self.deadline or self._shrinks > MAX_SHRINKS or self.is_aborted()
        if self._spent:
            raise OutOfBudget

    def record_violation(self, observed: Observed) -> None:
        """Record an attempt that has shown a violation, and end it: raises `Violation`."""
        if not self.failing:
            self.deadline = time.monotonic() + MAX_SHRINKING_S
        self.failing.append(observed)
        raise Violation

    def run(self, search: Callable[[], object], repeat_attempt: Callable[[], object]) -> bool:
        """Run *search* to its end. Returns True if a violation was found and recurred.

        Hypothesis repeats an attempt with a violation while there is time. If the violation was seen only once,
        *repeat_attempt* is called, which has to repeat the attempt.
        """
        from hypothesis.errors import Flaky

        try:
            search()
        except (Violation, OutOfBudget):
            pass
        except Flaky:
            # Hypothesis repeats a violation, and raises `Flaky` if it does not recur. It also raises `Flaky` if `begin`
            # ends the repetition because the budget is spent.
            if not self._spent:
                return False
        if len(self.failing) != 1:
            return bool(self.failing)
        try:
            repeat_attempt()
        except Violation:
            return True
        return False
