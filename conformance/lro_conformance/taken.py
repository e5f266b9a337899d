"""What a server takes of the thresholds that the suite would set."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

LIMIT = 200
"""How many records a call asks for where nothing else is meant."""

NEVER = 1_000_000_000
"""A threshold that no result of the suite reaches."""


@dataclass
class Taken:
    """The range of thresholds that a server starts with, as far as is known, and what exceeds the lowest."""

    lowest: int = 1
    highest: int = NEVER
    details: dict[str, str | None] = field(default_factory=dict[str, str | None])
    """Where the lowest is not 1: for operations that offload, a detail level of which `LIMIT` records exceed it."""

    def within(self, threshold: int) -> int:
        """The nearest threshold that the server takes."""
        return min(max(self.lowest, threshold), self.highest)

    def learn(self, offloaded: Mapping[tuple[str, str | None], int | None]) -> None:
        """Take note of the estimates of `LIMIT` records, by operation and detail level."""
        for name in {name for name, _ in offloaded}:
            sizes = {detail: estimate or 0 for (n, detail), estimate in offloaded.items() if n == name}
            enough = {d: e for d, e in sizes.items() if e > 1.5 * self.lowest}  # also where they drift somewhat
            self.details[name] = min(enough, key=enough.__getitem__) if enough else max(sizes, key=sizes.__getitem__)

    def few(self, name: str, count: int) -> dict[str, Any]:
        """What a call asks for whose result is to exceed the lowest threshold: *count* records where that is 1."""
        if self.lowest == 1 or name not in self.details:
            return {"limit": count}
        return {"detail": self.details[name], "limit": LIMIT - count if count < LIMIT else LIMIT}
