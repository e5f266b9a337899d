"""Detection of changes of the machine's wall clock: times before and after it is set cannot be compared."""

from __future__ import annotations

import threading
import time

LEAST_STEP_S = 1.0
"""Smallest step of the clock, in seconds, that counts. A clock that is slewed takes half an hour to gain or lose it."""


class WallClock:
    """Watches whether the wall clock is set, by an administrator, a time server or after a sleep of the machine."""

    def __init__(self) -> None:
        self._ahead = _ahead()
        self._lock = threading.Lock()
        self.times_set = 0
        """Number of times that the clock was seen to be set."""
        self.last_step_s = 0.0
        """Seconds by which the clock was set the last time."""

    def look(self) -> int:
        """Look at the clock and return `times_set`. A change that is undone between two looks goes unnoticed."""
        with self._lock:
            now = _ahead()
            step, self._ahead = now - self._ahead, now
            if abs(step) >= LEAST_STEP_S:
                self.times_set += 1
                self.last_step_s = step
            return self.times_set


def _ahead() -> float:
    """Seconds by which the wall clock is ahead of the monotonic clock, which cannot be set."""
    return time.time() - time.monotonic()
