"""Thresholds that a server accepts, and fallbacks for servers that refuse the suite's preferred ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

LIMIT = 200
"""Records that a call asks for by default."""

NEVER = 1_000_000_000
"""A threshold that no result of the suite reaches."""

LOW = (16, 64, 128, 256, 512, 1024, 2048)
"""Thresholds that are tried when 1 is refused; most servers' default results do not exceed a higher one."""

HIGH = (1_000_000, 200_000, 100_000)
"""Thresholds that are tried when `NEVER` is refused; many results exceed a lower one."""

# Of both, the last is the likeliest to be accepted, and is tried first. A server that does not start with it either is
# given up: something other than the threshold keeps it from starting. So a server that never starts is started twice,
# whatever it writes about the reason. One that starts with it is given the preferred value once more, because the first
# start may have failed by chance.


@dataclass
class AcceptedThresholds:
    """The known range of thresholds that a server starts with, and calls that exceed the lowest."""

    lowest: int = 1
    highest: int = NEVER
    details: dict[str, str | None] = field(default_factory=dict[str, str | None])
    """Per offloading operation, a detail level at which `LIMIT` records exceed the lowest threshold, if that is not
    1."""

    def within(self, threshold: int) -> int:
        """The nearest threshold that the server accepts."""
        return min(max(self.lowest, threshold), self.highest)

    def find_lowest(self, starts: Callable[[int], bool]) -> bool:
        """Raise the lowest to the first of `LOW` that the server *starts* with, unless it does with 1 after all.

        Returns False if it starts with none.
        """
        if not starts(LOW[-1]):
            return False
        self.lowest = next((t for t in (1, *LOW[:-1]) if starts(t)), LOW[-1])
        return True

    def find_highest(self, starts: Callable[[int], bool]) -> bool:
        """Reduce the highest to the first of `HIGH` that the server *starts* with, unless `NEVER` does after all.

        Returns False if it starts with none.
        """
        if not starts(HIGH[-1]):
            return False
        self.highest = next((t for t in (NEVER, *HIGH[:-1]) if starts(t)), HIGH[-1])
        return True

    def learn(self, offloaded: Mapping[tuple[str, str | None], int | None]) -> None:
        """Note the estimates of `LIMIT` records, by operation and detail level."""
        for name in {name for name, _ in offloaded}:
            sizes = {detail: estimate or 0 for (n, detail), estimate in offloaded.items() if n == name}
            enough = {d: e for d, e in sizes.items() if e > 1.5 * self.lowest}  # also if they vary a little
            self.details[name] = min(enough, key=enough.__getitem__) if enough else max(sizes, key=sizes.__getitem__)

    def smallest_offloading_call(self, name: str, count: int) -> dict[str, Any]:
        """Arguments of a call whose result exceeds the lowest threshold: *count* records if that is 1."""
        if self.lowest == 1 or name not in self.details:
            return {"limit": count}
        return {"detail": self.details[name], "limit": LIMIT - count if count < LIMIT else LIMIT}
