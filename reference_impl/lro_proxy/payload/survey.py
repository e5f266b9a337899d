"""Findings of a pass over records: their layouts, a sample from all over them, and how often texts occur."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

Item = TypeVar("Item")

SAMPLE = 200
"""Minimum number of records in a sample, if there are so many; a sample has fewer than twice as many."""
_GOLDEN = 0.6180339887

Layout = tuple[tuple[str, ...], tuple[type, ...]]
"""The names and types of a record's fields."""


@dataclass(frozen=True, slots=True)
class Survey:
    """The findings of a pass."""

    layouts: Sequence[Layout]
    """The layouts in the order in which they first occur; none if there are too many."""
    sample: Sequence[Mapping[str, Any]]
    """Some of the records; none if there are too many layouts."""
    counted: Mapping[str, Counter[str]] = field(default_factory=dict[str, "Counter[str]"])
    """By field, for the fields whose texts were counted: the number of times that each text occurs."""


def place(n: int, step: int) -> int:
    """The place of the n-th item of a sample: one in every *step*, at varying offsets, as data may be periodic."""
    return n * step + int(n * _GOLDEN % 1 * step)


_HALF = tuple(place(n, 2) for n in range(SAMPLE))
"""Places of the items that stay when half of a full sample is dropped."""


class Sampling(Generic[Item]):
    """A sample of items whose number is not known beforehand: all items if they are few, otherwise some hundreds."""

    def __init__(self) -> None:
        self.chosen: list[Item] = []
        self._step = 1
        self._seen = self._next = 0

    def take(self, count: int, item: Callable[[int], Item]) -> None:
        """Take in *count* further items; *item* returns the one at a place among them."""
        while self._next < self._seen + count:
            self.chosen.append(item(max(0, self._next - self._seen)))
            if len(self.chosen) == 2 * SAMPLE:
                self.chosen = [self.chosen[n] for n in _HALF]
                self._step *= 2
            self._next = place(len(self.chosen), self._step)
        self._seen += count
