"""The thresholds that a server accepts. The suite prefers the thresholds 1 and `MAX_THRESHOLD`; this module also has
the thresholds that are tried if the server refuses these two."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

USUAL_LIMIT = 200
"""The limit of most calls: the number of records that a call asks for."""

MAX_THRESHOLD = 1_000_000_000
"""A threshold that no result of the suite reaches."""

LOW = (16, 64, 128, 256, 512, 1024, 2048)
"""Thresholds that are tried if the server refuses 1. Higher thresholds are not tried, because most servers have no
results that exceed them."""

HIGH = (1_000_000, 200_000, 100_000)
"""Thresholds that are tried if the server refuses `MAX_THRESHOLD`. Lower thresholds are not tried, because many results
would exceed them."""

# These values are tried after a start with the preferred value (1 or `MAX_THRESHOLD`) has failed. The last value of a
# list is tried first, because the server is most likely to accept it. If the server does not start with the last value
# either, the reason is not the threshold, and no further value is tried. So a server that never starts costs only two
# starts. If the server starts with the last value, the preferred value is tried again, because the first start may have
# failed by chance. Then the other values are tried.


@dataclass
class AcceptedThresholds:
    """The range of thresholds with which a server starts. Also the detail levels at which results of the server exceed
    the lowest of these thresholds."""

    lowest: int = 1
    highest: int = MAX_THRESHOLD
    detail_by_operation: dict[str, str | None] = field(default_factory=dict[str, str | None])
    """A detail level for each operation whose results were offloaded. It is the level with the smallest result that
    clearly exceeds the lowest threshold. If no result clearly exceeds it, it is the level with the largest result."""

    def nearest(self, threshold: int) -> int:
        """Return the threshold nearest to *threshold* that the server accepts."""
        return min(max(self.lowest, threshold), self.highest)

    def find_lowest(self, starts: Callable[[int], bool]) -> bool:
        """Set `lowest` to the lowest threshold with which the server starts: 1 or a value of `LOW`.

        *starts* is called with a threshold, and returns whether the server starts with it. If the server does not start
        with the last value of `LOW`, `lowest` is not changed, and the result is False.
        """
        if not starts(LOW[-1]):
            return False
        self.lowest = next((t for t in (1, *LOW[:-1]) if starts(t)), LOW[-1])
        return True

    def find_highest(self, starts: Callable[[int], bool]) -> bool:
        """Set `highest` to the highest threshold with which the server starts: `MAX_THRESHOLD` or a value of `HIGH`.

        *starts* is called with a threshold, and returns whether the server starts with it. If the server does not start
        with the last value of `HIGH`, `highest` is not changed, and the result is False.
        """
        if not starts(HIGH[-1]):
            return False
        self.highest = next((t for t in (MAX_THRESHOLD, *HIGH[:-1]) if starts(t)), HIGH[-1])
        return True

    def choose_details(self, offloaded: Mapping[tuple[str, str | None], int | None]) -> None:
        """Choose `detail_by_operation` by the results of offloaded calls with the limit `USUAL_LIMIT`.

        *offloaded* has the server's estimate of the tokens for each of these calls. A key is the operation and the
        detail level of the call.
        """
        for name in {name for name, _ in offloaded}:
            estimates = {detail: estimate or 0 for (n, detail), estimate in offloaded.items() if n == name}
            sufficient = {
                d: e for d, e in estimates.items() if e > 1.5 * self.lowest
            }  # enough even if estimates vary a little
            self.detail_by_operation[name] = (
                min(sufficient, key=sufficient.__getitem__) if sufficient else max(estimates, key=estimates.__getitem__)
            )

    def arguments_of_offloading_call(self, name: str, count: int) -> dict[str, Any]:
        """Return keyword arguments of `Bench.call` for a result that exceeds the lowest threshold.

        If the lowest threshold is 1, or if `detail_by_operation` lacks the operation, the limit is *count*. Otherwise
        the limit is `USUAL_LIMIT` minus *count*, which is large, but is still different for different counts.
        """
        if self.lowest == 1 or name not in self.detail_by_operation:
            return {"limit": count}
        return {
            "detail": self.detail_by_operation[name],
            "limit": USUAL_LIMIT - count if count < USUAL_LIMIT else USUAL_LIMIT,
        }
