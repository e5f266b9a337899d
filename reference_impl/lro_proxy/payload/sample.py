"""A pass over records: their layouts, a sample from all over them, and the frequency of texts in a likely field."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import Any

from lro_proxy.payload.forms.tables import Rows
from lro_reference.results import Records

SAMPLE = 200
MOST_LAYOUTS = 2000
"""Records of more different layouts have nothing in common that a schema could state."""
_WORTH_A_GUESS = 1000
_MOST_VALUES = 10_000
_GOLDEN = 0.6180339887

Layout = tuple[tuple[str, ...], tuple[type, ...]]
"""The names and types of a record's fields."""
Guess = Callable[[Sequence[Layout], Sequence[Mapping[str, Any]]], str | None]


@dataclass(frozen=True, slots=True)
class Survey:
    """The findings of a pass."""

    layouts: Sequence[Layout]
    """The layouts in the order in which they first occur; none if there are too many."""
    sample: Sequence[Mapping[str, Any]]
    guessed: str | None = None
    """The field whose texts were counted."""
    counted: Counter[str] = field(default_factory=Counter[str])


def survey(records: Records, guess: Guess) -> Survey:
    """Look at every record; if they are many, *guess* names, from the first ones, a field whose texts are counted."""
    step = max(1, len(records) // SAMPLE)
    if isinstance(records, Rows):
        return _of_rows(records, step, guess)
    layouts: dict[Layout, None] = {}
    sample: list[Mapping[str, Any]] = []
    read = iter(records)
    head = list(islice(read, SAMPLE))
    guessed = guess([_layout(record) for record in head], head) if len(records) >= _WORTH_A_GUESS else None
    counted = Counter[str]()
    wanted = _place(0, step)
    for place, record in enumerate(chain(head, read)):
        layout = _layout(record)
        if layout not in layouts:
            layouts[layout] = None
            if len(layouts) > MOST_LAYOUTS:
                return Survey((), ())
        if place == wanted:
            sample.append(record)
            wanted = _place(len(sample), step)
        if guessed is not None and isinstance(text := record.get(guessed), str):
            counted[text] += 1
            guessed = guessed if len(counted) <= _MOST_VALUES else None
    return Survey(tuple(layouts), sample, guessed, counted)


def count(records: Records, name: str) -> Counter[str]:
    """The frequency of each text of a field."""
    if isinstance(records, Rows):
        column = records.names.index(name)
        return Counter(row[column] for batch in records.rows() for row in batch)
    return Counter(text for record in records if isinstance(text := record.get(name), str))


def _of_rows(records: Rows, step: int, guess: Guess) -> Survey:
    names = tuple(records.names)
    layouts = [(names, types) for types in records.layouts()]
    sample: list[Mapping[str, Any]] = []
    guessed, column, place = None, 0, 0
    counted = Counter[str]()
    for batch in records.rows():
        if place == 0 and len(records) >= _WORTH_A_GUESS:
            guessed = guess(layouts, records.records(batch[:SAMPLE]))
            column = 0 if guessed is None else names.index(guessed)
        while (wanted := _place(len(sample), step) - place) < len(batch):
            sample += records.records([batch[wanted]])
        place += len(batch)
        if guessed is not None:
            counted.update([row[column] for row in batch])
            guessed = guessed if len(counted) <= _MOST_VALUES else None
    return Survey(layouts, sample, guessed, counted)


def _place(n: int, step: int) -> int:
    """The place of the n-th record of a sample: one in every *step*, not always the same, as data may be periodic."""
    return n * step + int(n * _GOLDEN % 1 * step)


def _layout(record: Mapping[str, Any]) -> Layout:
    return tuple(record), tuple(map(type, record.values()))
