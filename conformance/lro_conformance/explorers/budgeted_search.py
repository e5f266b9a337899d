"""A search for a violation within a budget: when it ends, which attempt is the smallest, and whether it recurs."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

Observed = TypeVar("Observed")

SHRINKS = 60
"""Number of smaller attempts after a violation: a count, so that the same seed ends with the same attempt."""

SHRINKING_S = 12.0
"""Longest time, in seconds, that finding the smallest attempt may take with a slow server."""


class Violation(AssertionError):
    """An attempt has shown a violation."""


class OutOfBudget(BaseException):
    """The time or the attempts are used up. Not an `Exception`, which Hypothesis would take for another violation."""


@dataclass
class BudgetedSearch(Generic[Observed]):
    """One search."""

    until: float
    """Time of the monotonic clock at which it ends."""
    is_aborted: Callable[[], bool] = lambda: False
    """Returns True if it has to end at once."""
    steady: list[Observed] = field(default_factory=list[Observed])
    """What attempts showed before the first violation."""
    failing: list[Observed] = field(default_factory=list[Observed])
    """What attempts with a violation showed, the smallest last."""
    attempts: int = 0
    _shrinks: int = 0
    _spent: bool = False

    def begin(self) -> None:
        """Begin an attempt. Raises `OutOfBudget` if there is nothing left for it."""
        self.attempts += not self.failing
        self._shrinks += bool(self.failing)
        self._spent = time.monotonic() > self.until or self._shrinks > SHRINKS or self.is_aborted()
        if self._spent:
            raise OutOfBudget

    def found(self, observed: Observed) -> None:
        """End an attempt that has shown a violation. Raises `Violation`."""
        if not self.failing:
            self.until = time.monotonic() + SHRINKING_S
        self.failing.append(observed)
        raise Violation

    def run(self, search: Callable[[], object], again: Callable[[], object]) -> bool:
        """Run *search* to its end; True if a violation was found and recurred.

        *again* repeats the last attempt, if there was no time for it.
        """
        from hypothesis.errors import Flaky

        try:
            search()
        except (Violation, OutOfBudget):
            pass
        except Flaky:
            if not self._spent:  # otherwise Hypothesis only wonders why nothing more is drawn
                return False
        if len(self.failing) != 1:
            return bool(self.failing)
        try:
            again()
        except Violation:
            return True
        return False
