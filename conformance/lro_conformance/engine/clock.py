"""The wall clock of the machine, watched for being set: times before and after it was set do not compare."""

from __future__ import annotations

import threading
import time

LEAST_S = 1.0
"""Seconds by which a clock has to be set to be noticed. To slew a clock so far takes half an hour."""


class WallClock:
    """Watches whether the wall clock is set, by an administrator, a time server or after a sleep of the machine."""

    def __init__(self) -> None:
        self._ahead = _ahead()
        self._lock = threading.Lock()
        self.times_set = 0
        """Number of times that it was set since this began."""
        self.last_step_s = 0.0
        """Seconds by which it was set the last time."""

    def look(self) -> int:
        """Look at the clock; returns `times_set`. Being set there and back between two looks is not noticed."""
        with self._lock:
            now = _ahead()
            step, self._ahead = now - self._ahead, now
            if abs(step) >= LEAST_S:
                self.times_set += 1
                self.last_step_s = step
            return self.times_set


def _ahead() -> float:
    """Seconds by which the wall clock is ahead of the monotonic one, which nobody sets."""
    return time.time() - time.monotonic()
