"""A pass over records that finds out what they have in common (`lro_proxy.payload.survey.Survey`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any, TypeGuard

from lro_proxy.payload.batches import Batched
from lro_proxy.payload.elements import Layouts, can_be_named, layout_of, texts_of
from lro_proxy.payload.survey import SAMPLE, Layout, Sampling, Survey
from lro_reference.results import Records

_WORTH_A_GUESS = 1000
"""Number of records from which a field is guessed, so that counting its texts needs no second pass."""
_MOST_VALUES = 10_000
"""Number of different texts up to which the texts of the guessed field are counted."""
Guess = Callable[[Sequence[Layout], Sequence[Mapping[str, Any]]], str | None]
"""Returns the name of a field, given the layouts of the first records and these records; None for no field."""


def survey(records: Records, guess: Guess) -> Survey:
    """The findings of a pass over every record, or those of the pass that has read the records, if it collected them.

    If there are many records, *guess* looks at the first of them, and names a field whose texts are counted.
    """
    if _are_batched(records) and records.findings is not None:
        return records.findings
    layouts = Layouts()
    sample = Sampling[Mapping[str, Any]]()
    guessed: str | None = None
    counted = Counter[str]()
    for number, batch in enumerate(_batches(records)):
        layouts.learn(batch)
        if number == 0 and len(records) >= _WORTH_A_GUESS:
            head = list(islice(records, SAMPLE))
            guessed = guess(list(map(layout_of, head)), head)
        if layouts.are_many:
            return Survey((), ())
        sample.take(len(batch), batch.__getitem__)
        if guessed is not None:
            counted.update(_texts(batch, guessed))
            guessed = guessed if len(counted) <= _MOST_VALUES else None
    return Survey(layouts.found(), sample.chosen, {} if guessed is None else {guessed: counted})


def count(records: Records, name: str) -> Counter[str]:
    """The frequency of each text of a field."""
    if _are_batched(records):
        if (texts := records.texts(name)) is not None:
            return Counter(texts)
        if records.json is not None and can_be_named(name):
            return Counter(texts_of(records.json(), name))
    return Counter(chain.from_iterable(_texts(batch, name) for batch in _batches(records)))


def _are_batched(records: Records) -> TypeGuard[Batched[Mapping[str, Any]]]:
    return isinstance(records, Batched)


def _batches(records: Records) -> Iterator[Sequence[Mapping[str, Any]]]:
    return iter(records.batches()) if _are_batched(records) else iter([list(records)])


def _texts(records: Iterable[Mapping[str, Any]], name: str) -> Iterator[str]:
    return (text for record in records if isinstance(text := record.get(name), str))
