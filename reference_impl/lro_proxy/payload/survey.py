"""Findings of a pass over records: their layouts, a sample from all parts of them, and how often texts occur."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

Item = TypeVar("Item")

MIN_SAMPLE_SIZE = 200
"""If there are at least this many records, a sample has at least this many. It has always fewer than twice as many."""
_GOLDEN_RATIO = 0.6180339887

Layout = tuple[tuple[str, ...], tuple[type, ...]]
"""The names and types of a record's fields."""


@dataclass(frozen=True, slots=True)
class Survey:
    """The findings of a pass over records."""

    layouts: Sequence[Layout]
    """The layouts in the order in which they first occur; empty if there are too many."""
    sample: Sequence[Mapping[str, Any]]
    """Some of the records; empty if there are too many layouts."""
    counts_by_field: Mapping[str, Counter[str]] = field(default_factory=dict[str, "Counter[str]"])
    """For each field whose texts were counted, how often each text occurs."""


def sample_place(n: int, step: int) -> int:
    """The index of the n-th item of a sample: one in every *step*, at varying offsets, as data may be periodic."""
    return n * step + int(n * _GOLDEN_RATIO % 1 * step)


_KEPT_PLACES = tuple(sample_place(n, 2) for n in range(MIN_SAMPLE_SIZE))
"""Indexes of the items that are kept when half of a full sample is dropped."""


class Sampling(Generic[Item]):
    """A sample of items whose number is not known beforehand: all items if they are few, otherwise some hundreds."""

    def __init__(self) -> None:
        self.items: list[Item] = []
        self._step = 1
        self._seen = self._next = 0

    def take(self, count: int, item: Callable[[int], Item]) -> None:
        """Take in *count* further items. The function *item* returns one of them by its index among them."""
        while self._next < self._seen + count:
            self.items.append(item(max(0, self._next - self._seen)))
            if len(self.items) == 2 * MIN_SAMPLE_SIZE:
                self.items = [self.items[n] for n in _KEPT_PLACES]
                self._step *= 2
            self._next = sample_place(len(self.items), self._step)
        self._seen += count
