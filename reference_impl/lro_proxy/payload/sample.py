"""A pass over records that finds out what they have in common (`lro_proxy.payload.survey.Survey`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any, TypeGuard

from lro_proxy.payload.batches import Batched
from lro_proxy.payload.elements import Layouts, can_be_named, layout_of, texts_of
from lro_proxy.payload.survey import MIN_SAMPLE_SIZE, Layout, Sampling, Survey
from lro_reference.results import Records

_MIN_RECORDS_TO_GUESS = 1000
"""If there are at least this many records, a field is guessed, so that its texts are counted without a second pass."""
_MAX_VALUES = 10_000
"""If the guessed field has more different texts than this, its texts are no longer counted."""
GuessField = Callable[[Sequence[Layout], Sequence[Mapping[str, Any]]], str | None]
"""Guesses a field from the layouts of the first records and these records. Returns its name, or None for no field."""


def survey(records: Records, guess_field: GuessField) -> Survey:
    """The findings of a pass over every record.

    If findings were already collected while the records were read, these are returned instead. If there are many
    records, *guess_field* chooses a field from the first of them, and the texts of this field are counted.
    """
    if _are_batched(records) and records.findings is not None:
        return records.findings
    layouts = Layouts()
    sample = Sampling[Mapping[str, Any]]()
    guessed_field: str | None = None
    counts = Counter[str]()
    for number, batch in enumerate(_batches(records)):
        layouts.learn(batch)
        if number == 0 and len(records) >= _MIN_RECORDS_TO_GUESS:
            first_records = list(islice(records, MIN_SAMPLE_SIZE))
            guessed_field = guess_field(list(map(layout_of, first_records)), first_records)
        if layouts.are_many:
            return Survey((), ())
        sample.take(len(batch), batch.__getitem__)
        if guessed_field is not None:
            counts.update(_texts(batch, guessed_field))
            guessed_field = guessed_field if len(counts) <= _MAX_VALUES else None
    return Survey(layouts.as_list(), sample.items, {} if guessed_field is None else {guessed_field: counts})


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
