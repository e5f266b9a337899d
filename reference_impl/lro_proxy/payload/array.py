"""JSON arrays whose elements are parsed a batch at a time.

A parsed value takes five to ten times the memory of its text. Of a large array, only the text is kept, and the places
where batches of whole elements begin and end. A small array is parsed at once.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Callable, Iterator, Mapping, Sized
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from typing import Any, Protocol, cast

import orjson

from lro_proxy.payload.batches import are_same_lines, encoded
from lro_proxy.payload.elements import Elements, KnownBatch
from lro_proxy.payload.survey import Survey
from lro_reference.writer import encode
from lro_spec.jsonl import lossless
from lro_spec.tokens import characters_in_utf8, wide_characters_in_utf8

Text = bytes | bytearray

_FIRST_BATCH_BYTES, _BATCH_BYTES = 1 << 14, 1 << 16
"""Usual size in bytes of the first batch of an array, and of later batches. The first batch is small: the ends of its
elements are found by parsing, while those of later batches can be guessed, which is faster."""
MIN_BATCHED_BYTES = 1 << 18
"""Size in bytes from which JSON is read a batch at a time."""
_MAX_ELEMENT_BYTES = 1 << 20
"""Fewer bytes than this are searched for the end of an element if it is found by parsing. If the end is not among them,
the array is parsed at once, because with such large elements, batches would save little."""
_MAX_SURROUNDING_BYTES = 1 << 14
"""An array counts as nearly all of a text if at most this many bytes are around it."""
_BATCH_ELEMENTS = 1000
"""Number of elements in a batch of a `ParsedArray`."""
_MAX_CANDIDATES = 64
"""Number of brackets, from the beginning of a text, that are tried as the beginning of its array."""
_MAX_WRONG_GUESSES = 3
"""After this number of wrong guesses of where an element ends, all further ends are found by parsing."""
_SPACE = re.compile(rb"[ \t\r\n]*")
_SPACE_IN_TEXT = re.compile(r"[ \t\r\n]*")
_OPENING = re.compile(rb'\{\s*"(?:[^"\\]|\\.)*"|[\["]')
_DECODER = json.JSONDecoder()


@dataclass(frozen=True, slots=True)
class _Batch:
    start: int
    stop: int
    count: int
    is_lossless: bool
    """True if orjson parses the elements without loss."""
    are_objects: bool
    """True if all elements are objects."""
    has_escapes: bool
    """True if the text may have an escape such as ``\\u4e2d`` where the lines have the character itself."""
    lines: bytes | None = None
    """Its elements as lines, if `ElementCollector.take` has returned them."""


class ElementCollector(Protocol):
    """Collects facts about the elements of an array while it is read in batches, as long as they are objects."""

    def take(self, array: bytes) -> KnownBatch | None:
        """Take in a batch, as a JSON array, if it has only known fields and types.

        If the batch has others, or if reading it might lose something, it is not taken in, and None is returned.
        """
        ...

    def learn(self, records: list[dict[str, Any]]) -> None:
        """Take in objects that may have new fields and types."""
        ...


class Array:
    """An array in a text, read in batches."""

    def __init__(
        self, data: Text, start: int, stop: int, batches: list[_Batch], collector: ElementCollector | None
    ) -> None:
        self.start, self.stop = start, stop
        """Its place in the text."""
        self.are_objects = collector is not None
        """True if all elements are objects."""
        self.has_escapes = any(batch.has_escapes for batch in batches)
        """True if the text may have an escape such as ``\\u4e2d`` where the lines have the character itself."""
        self.wide_count: int | None = None
        """Number of characters of wide scripts in the lines; None if they have not been counted."""
        self._collector = collector
        self._data, self._batches = data, batches
        self._count = sum(batch.count for batch in batches)

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Any]:
        return chain.from_iterable(self.batches())

    def findings(self) -> Survey | None:
        """Fields and other facts of the elements; None if not all are objects, or if no facts were collected."""
        return self._collector.findings() if isinstance(self._collector, Elements) else None

    def lossless_batches(self) -> Iterator[list[Any]]:
        """The elements batch by batch, as `lossless.parse` reads them."""
        return map(self._parse_lossless, self._batches)

    def parts(self) -> list[Callable[[], bytes]]:
        """A function for each batch of elements that returns its JSON, as an array."""
        return [partial(_cut, self._data, batch) for batch in self._batches]

    def texts(self) -> Iterator[bytes]:
        """The JSON of the elements batch by batch, as arrays."""
        return (part() for part in self.parts())

    def count_characters(self) -> int:
        """Number of characters of its JSON without spaces; also sets `wide_count`."""
        jsons = (
            encode(self._parse_lossless(batch))[1:-1] if batch.lines is None else batch.lines for batch in self._batches
        )
        sizes = list(map(characters_in_utf8, jsons))  # including the character between two elements of a batch
        self.wide_count = sum(wide_count for _, wide_count in sizes)
        return sum(characters + 1 for characters, _ in sizes) + 1

    def lines(self) -> Iterator[bytes]:
        """The elements as lines, a block of them for each batch."""
        for batch in self._batches:
            yield from encoded([self._parse_lossless(batch)]) if batch.lines is None else [batch.lines]

    def batches(self) -> Iterator[list[Any]]:
        """The elements batch by batch; floats and integers beyond 64 bits may lose digits."""
        return map(self._parse, self._batches)

    def _parse_lossless(self, batch: _Batch) -> list[Any]:
        return self._parse(batch) if batch.is_lossless else lossless.parse(_cut(self._data, batch))

    def _parse(self, batch: _Batch) -> list[Any]:
        return orjson.loads(_cut(self._data, batch))


class ParsedArray:
    """An array in memory."""

    def __init__(self, elements: list[Any]) -> None:
        self._elements = elements
        self.are_objects = all(isinstance(item, dict) for item in elements)
        """True if all elements are objects."""

    def __len__(self) -> int:
        return len(self._elements)

    def lossless_batches(self) -> Iterator[list[Any]]:
        """The elements, a thousand at a time."""
        return (self._elements[n : n + _BATCH_ELEMENTS] for n in range(0, len(self._elements), _BATCH_ELEMENTS))

    batches = lossless_batches

    def lines(self) -> Iterator[bytes]:
        """The elements as lines, a block of them for each batch."""
        return encoded(self.lossless_batches())


def find(data: Text, start: int, stop: int) -> Array | None:
    """The array that is nearly all of a text from *start* to *stop*; None unless it can be read in batches."""
    place = start - 1
    for _ in range(_MAX_CANDIDATES):
        place = data.find(b"[", place + 1, start + _MAX_SURROUNDING_BYTES)
        if place < 0:
            return None
        array = read(data, place, stop)
        if array is not None and stop - start - (array.stop - array.start) <= _MAX_SURROUNDING_BYTES:
            return array
    return None


def parse(data: Text, wide_count: int | None = None) -> Any:
    """The value of a JSON text. If nearly all of a large text is one array, the value has an `Array` in its place.

    *wide_count* is the number of characters of wide scripts in the text, if they have been counted. Raises
    `lossless.InexactError` if the value cannot be kept exactly.
    """
    array = find(data, 0, len(data)) if len(data) >= MIN_BATCHED_BYTES else None
    if array is None:
        return lossless.parse(bytes(data))
    if wide_count is not None and not array.has_escapes:
        array.wide_count = (
            wide_count
            - wide_characters_in_utf8(bytes(data[: array.start]))
            - wide_characters_in_utf8(bytes(data[array.stop :]))
        )
    mark = secrets.token_hex(8)
    skeleton = b'%b"%b"%b' % (data[: array.start], mark.encode(), data[array.stop :])
    return replace_marks(lossless.parse(skeleton), {mark: array})


def replace_marks(value: Any, marks: Mapping[str, Any]) -> Any:
    """The value with each mark in it replaced by its value in *marks*; lists are not searched."""
    if isinstance(value, str):
        return marks.get(value, value)
    if isinstance(value, dict):
        return {key: replace_marks(member, marks) for key, member in cast("dict[str, Any]", value).items()}
    return value


def in_memory(value: Any) -> Any:
    """A value with a list in place of each `Array` in it; lists are not searched."""
    if isinstance(value, Array):
        return list(chain.from_iterable(value.lossless_batches()))
    if isinstance(value, dict):
        return {key: in_memory(member) for key, member in cast("dict[str, Any]", value).items()}
    return value


def are_same(first: Any, second: Any) -> bool:
    """True if two values, as `lossless.parse` or `parse` returns them, are the same to the last digit.

    1 differs from 1.0 and from true. The order of members does not matter. False if a list or an object is nested too
    deeply for orjson, or has half of a surrogate pair.
    """
    if isinstance(first, Array) is not isinstance(second, Array):
        first, second = in_memory(first), in_memory(second)
    if type(first) is not type(second) or (isinstance(first, Sized) and len(first) != len(second)):
        return False
    if isinstance(first, str):
        return first == second
    if isinstance(first, Array):
        if first.are_objects and second.are_objects and are_same_lines(first.lines(), second.lines()):
            return True
        second_elements = chain.from_iterable(second.lossless_batches())
        same_batches = (
            are_same(batch, list(islice(second_elements, len(batch)))) for batch in first.lossless_batches()
        )
        return all(same_batches)
    first_arrays: list[Array] = []
    second_arrays: list[Array] = []
    try:
        are_alike = _json(first, first_arrays) == _json(second, second_arrays)
    except TypeError:  # nested too deeply, or half of a surrogate pair
        return False
    if bool(first_arrays) is not bool(second_arrays):  # one was large, the other just too small
        return are_same(in_memory(first), in_memory(second))
    return are_alike and all(map(are_same, first_arrays, second_arrays))


def _json(value: Any, arrays: list[Array]) -> bytes:
    """The JSON of a value, with a question mark for each `Array` in it."""

    def mark(array: Array) -> orjson.Fragment:
        arrays.append(array)
        return orjson.Fragment(b"?")

    return orjson.dumps(value, default=mark, option=orjson.OPT_SORT_KEYS)


def read(data: Text, start: int, stop: int, collector: ElementCollector | None = None) -> Array | None:
    """The array that begins at *start*; None if it cannot be read in batches.

    *collector* takes in the elements as long as they are objects. So it has taken in all of them if all are objects,
    and otherwise only those of the first batches.
    """
    batches: list[_Batch] = []
    boundary: bytes | None = None  # the bytes between two elements, with the first key if they are objects
    collector = Elements() if collector is None else collector
    wrong_guesses, size = 0, _FIRST_BATCH_BYTES
    place = _after_space(data, start + 1)
    while True:
        end = -1
        batch: _Batch | None = None
        if boundary is not None and wrong_guesses < _MAX_WRONG_GUESSES:
            end = data.find(boundary, place + _BATCH_BYTES, stop) + 1
            batch = _batch(data, place, end, collector) if end else None
            wrong_guesses = wrong_guesses + 1 if end and batch is None else wrong_guesses if end else _MAX_WRONG_GUESSES
        if batch is None:
            end = _end_of_whole_elements(data, place, min(place + size, stop), stop)
            batch = _batch(data, place, end, collector) if end else None
            if batch is None:
                return None
            size = _BATCH_BYTES
        batches.append(batch)
        collector = collector if batch.are_objects else None
        following = _after_space(data, end)
        sign = data[following : following + 1]
        if sign == b"]":
            return Array(data, start, following + 1, batches, collector)
        if sign != b",":
            return None
        place = _after_space(data, following + 1)
        opening = _OPENING.match(data, place) if boundary is None else None
        if opening is not None:
            boundary = bytes(data[end - 1 : opening.end()])


def _batch(data: Text, start: int, stop: int, collector: ElementCollector | None) -> _Batch | None:
    """The elements in a part of a text; None if they are not whole, or cannot be kept exactly."""
    text = b"".join((b"[", memoryview(data)[start:stop], b"]"))
    known = None if collector is None else collector.take(text)
    if known is not None:
        return _Batch(start, stop, known.size, True, True, known.has_escapes, known.lines)
    try:
        values: list[Any] = orjson.loads(text)
        is_lossless = orjson.dumps(values) == text or lossless.is_lossless(values, text)
        if not is_lossless:
            lossless.parse(text)
    except (ValueError, TypeError):  # TypeError: nested too deeply
        return None
    objects = set(map(type, values)) == {dict}
    if objects and collector is not None:
        collector.learn(values)
    return _Batch(start, stop, len(values), is_lossless, objects, b"\\u" in text)


def _end_of_whole_elements(data: Text, start: int, limit: int, stop: int) -> int:
    """The end of the last element that ends before *limit*; *start* is where the first one begins. 0 if there is none.

    If not even the first element ends before *limit*, four times as many bytes are tried, and so on, as long as their
    number is below `_MAX_ELEMENT_BYTES`.
    """
    while limit - start < _MAX_ELEMENT_BYTES:
        window = str(memoryview(data)[start:limit], "utf-8", "ignore")
        end = position = 0
        try:
            while True:
                element_end = _DECODER.raw_decode(window, position)[1]
                following = _after_space_in(window, element_end)
                sign = window[following : following + 1]
                if sign in ("]", ","):
                    end = element_end
                if sign != ",":
                    break
                position = _after_space_in(window, following + 1)
        except (ValueError, RecursionError):
            pass  # the element does not end here
        if end:
            return start + len(window[:end].encode())
        if limit == stop:
            break
        limit = min(start + 4 * (limit - start), stop)
    return 0


def _cut(data: Text, batch: _Batch) -> bytes:
    return b"".join((b"[", memoryview(data)[batch.start : batch.stop], b"]"))


def _after_space(data: Text, place: int) -> int:
    space = _SPACE.match(data, place)
    return space.end() if space else place


def _after_space_in(text: str, place: int) -> int:
    space = _SPACE_IN_TEXT.match(text, place)
    return space.end() if space else place
