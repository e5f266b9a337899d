"""Detection of changes of the machine's wall clock. Times before and after a change cannot be compared."""

from __future__ import annotations

import threading
import time

MIN_STEP_S = 1.0
"""Smallest change, in seconds, by which the clock counts as set. A clock that is slewed, not set, takes half an hour to
gain or lose this second."""


class WallClock:
    """Watches whether the wall clock is set, by an administrator, a time server or after a sleep of the machine."""

    def __init__(self) -> None:
        self._seconds_ahead = _seconds_ahead()
        self._lock = threading.Lock()
        self.times_set = 0
        """Number of times that the clock was seen to be set."""
        self.last_step_s = 0.0
        """Seconds by which the clock was set the last time."""

    def look(self) -> int:
        """Look at the clock and return `times_set`. A change that is undone between two looks goes unnoticed."""
        with self._lock:
            now = _seconds_ahead()
            step, self._seconds_ahead = now - self._seconds_ahead, now
            if abs(step) >= MIN_STEP_S:
                self.times_set += 1
                self.last_step_s = step
            return self.times_set


def _seconds_ahead() -> float:
    """Seconds by which the wall clock is ahead of the monotonic clock, which cannot be set."""
    return time.time() - time.monotonic()
