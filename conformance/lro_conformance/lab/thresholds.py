"""The thresholds that a server accepts, and those to try if it refuses the suite's preferred ones (1 and `NEVER`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

LIMIT = 200
"""The limit of most calls: the number of records that are asked for."""

NEVER = 1_000_000_000
"""A threshold that no result of the suite reaches."""

LOW = (16, 64, 128, 256, 512, 1024, 2048)
"""Thresholds that are tried if 1 is refused. Higher ones are not tried, because the results of most servers would not
exceed those."""

HIGH = (1_000_000, 200_000, 100_000)
"""Thresholds that are tried if `NEVER` is refused. Lower ones are not tried, because many results would exceed
those."""

# These are tried after a start with the preferred value (1 or `NEVER`) has failed. The last value of a list comes
# first, because it is the most likely to be accepted. If the server does not start with that one either, something
# other than the threshold prevents the start, so no further value is tried: a server that never starts costs only two
# starts. If it does start, the preferred value is tried again, because the first start may have failed by chance.


@dataclass
class AcceptedThresholds:
    """The range of thresholds with which a server starts, and the detail levels of calls whose results exceed the
    lowest of them."""

    lowest: int = 1
    highest: int = NEVER
    details: dict[str, str | None] = field(default_factory=dict[str, str | None])
    """For each operation that was offloaded, the detail level with the smallest result that clearly exceeds the lowest
    threshold, or else with the largest result."""

    def nearest(self, threshold: int) -> int:
        """The threshold that the server accepts and that is nearest to *threshold*."""
        return min(max(self.lowest, threshold), self.highest)

    def find_lowest(self, starts: Callable[[int], bool]) -> bool:
        """Set `lowest` to the lowest of 1 and the values of `LOW` with which the server starts, as *starts* finds out.

        Returns False if the server does not start with the last value of `LOW`.
        """
        if not starts(LOW[-1]):
            return False
        self.lowest = next((t for t in (1, *LOW[:-1]) if starts(t)), LOW[-1])
        return True

    def find_highest(self, starts: Callable[[int], bool]) -> bool:
        """Set `highest` to the highest of `NEVER` and the values of `HIGH` with which the server starts, as *starts*
        finds out.

        Returns False if the server does not start with the last value of `HIGH`.
        """
        if not starts(HIGH[-1]):
            return False
        self.highest = next((t for t in (NEVER, *HIGH[:-1]) if starts(t)), HIGH[-1])
        return True

    def learn(self, offloaded: Mapping[tuple[str, str | None], int | None]) -> None:
        """Choose `details`. *offloaded* has the estimates of offloaded calls with the limit `LIMIT`; its keys are the
        operation and the detail level."""
        for name in {name for name, _ in offloaded}:
            sizes = {detail: estimate or 0 for (n, detail), estimate in offloaded.items() if n == name}
            enough = {d: e for d, e in sizes.items() if e > 1.5 * self.lowest}  # enough even if estimates vary a little
            self.details[name] = min(enough, key=enough.__getitem__) if enough else max(sizes, key=sizes.__getitem__)

    def arguments_of_offloading_call(self, name: str, count: int) -> dict[str, Any]:
        """Keyword arguments of `Bench.call` for a result that exceeds the lowest threshold.

        If that threshold is 1, or `details` lacks the operation, the limit is *count*. Otherwise it is a large limit,
        `LIMIT` less *count*, so that different counts still make different calls.
        """
        if self.lowest == 1 or name not in self.details:
            return {"limit": count}
        return {"detail": self.details[name], "limit": LIMIT - count if count < LIMIT else LIMIT}
