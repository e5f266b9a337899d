"""JSON arrays whose elements are parsed a batch at a time.

A parsed value takes five to ten times the memory of its text. Of a large array only its text is kept, and the places
where batches of whole elements begin and end. A small one is parsed at once.
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
from lro_proxy.payload.elements import Elements, Known
from lro_proxy.payload.survey import Survey
from lro_reference.writer import encode
from lro_spec.jsonl import lossless
from lro_spec.tokens import characters_in_utf8, wide_in_utf8

Text = bytes | bytearray

_FIRST, _BATCH = 1 << 14, 1 << 16
"""Usual size in bytes of the first batch of an array, and of later ones. The first one is small, because the ends of
elements can only be guessed after it, and guessing is faster."""
LARGE = 1 << 18
"""Size in bytes from which JSON is read a batch at a time."""
_LARGEST_ELEMENT = 1 << 20
"""Where the end of an element is found by parsing, it is searched for in fewer bytes than this. If it is not there, the
array is parsed at once: with elements that large, batches would save little."""
_AROUND = 1 << 14
"""An array counts as nearly all of a text if at most this many bytes are around it."""
_ELEMENTS = 1000
"""Number of elements in a batch of a `ParsedArray`."""
_CANDIDATES = 64
"""Number of brackets, from the beginning of a text, that are tried as the beginning of its array."""
_MISSES = 3
"""Number of wrong guesses of where an element ends, after which ends are no longer guessed, but found by parsing."""
_SPACE = re.compile(rb"[ \t\r\n]*")
_SPACE_IN_TEXT = re.compile(r"[ \t\r\n]*")
_OPENING = re.compile(rb'\{\s*"(?:[^"\\]|\\.)*"|[\["]')
_ELEMENT = json.JSONDecoder()


@dataclass(frozen=True, slots=True)
class _Batch:
    start: int
    stop: int
    count: int
    plain: bool
    """True if orjson parses the elements without loss."""
    are_objects: bool
    """True if all elements are objects."""
    has_escapes: bool
    """True if the text may have an escape such as ``\\u4e2d`` where the lines have the character itself."""
    lines: bytes | None = None
    """Its elements as lines, if `Look.take` has returned them."""


class Look(Protocol):
    """Collects facts about the elements of an array while it is read in batches, as long as they are objects."""

    def take(self, array: bytes) -> Known | None:
        """Take in a batch, as a JSON array, if it has only known fields and types.

        If it has others, or if reading it might lose something, it is not taken in, and None is returned.
        """
        ...

    def learn(self, records: list[dict[str, Any]]) -> None:
        """Take in objects that may have new fields and types."""
        ...


class Array:
    """An array in a text, read in batches."""

    def __init__(self, data: Text, start: int, stop: int, batches: list[_Batch], look: Look | None) -> None:
        self.start, self.stop = start, stop
        """Its place in the text."""
        self.are_objects = look is not None
        """True if all elements are objects."""
        self.has_escapes = any(batch.has_escapes for batch in batches)
        """True if the text may have an escape such as ``\\u4e2d`` where the lines have the character itself."""
        self.wide: int | None = None
        """Number of characters of wide scripts in the lines; None if they have not been counted."""
        self._look = look
        self._data, self._parts = data, batches
        self._count = sum(batch.count for batch in batches)

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Any]:
        return chain.from_iterable(self.batches())

    def findings(self) -> Survey | None:
        """Fields and other facts of the elements; None unless all are objects, and facts were collected."""
        return self._look.findings() if isinstance(self._look, Elements) else None

    def lossless_batches(self) -> Iterator[list[Any]]:
        """The elements batch by batch, as `lossless.parse` reads them."""
        return map(self._parse_lossless, self._parts)

    def parts(self) -> list[Callable[[], bytes]]:
        """A function for each batch of elements that returns its JSON, as an array."""
        return [partial(_cut, self._data, batch) for batch in self._parts]

    def texts(self) -> Iterator[bytes]:
        """The JSON of the elements batch by batch, as arrays."""
        return (part() for part in self.parts())

    def count_characters(self) -> int:
        """Number of characters of its JSON without spaces; also sets `wide`."""
        jsons = (encode(self._parse_lossless(one))[1:-1] if one.lines is None else one.lines for one in self._parts)
        sizes = list(map(characters_in_utf8, jsons))  # with a character between two elements of a batch
        self.wide = sum(wide for _, wide in sizes)
        return sum(characters + 1 for characters, _ in sizes) + 1

    def lines(self) -> Iterator[bytes]:
        """The elements as lines, a block of them for each batch."""
        for batch in self._parts:
            yield from encoded([self._parse_lossless(batch)]) if batch.lines is None else [batch.lines]

    def batches(self) -> Iterator[list[Any]]:
        """The elements batch by batch; floats and integers beyond 64 bits may lose digits."""
        return map(self._parse, self._parts)

    def _parse_lossless(self, batch: _Batch) -> list[Any]:
        return self._parse(batch) if batch.plain else lossless.parse(_cut(self._data, batch))

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
        return (self._elements[n : n + _ELEMENTS] for n in range(0, len(self._elements), _ELEMENTS))

    batches = lossless_batches

    def lines(self) -> Iterator[bytes]:
        """The elements as lines, a block of them for each batch."""
        return encoded(self.lossless_batches())


def find(data: Text, start: int, stop: int) -> Array | None:
    """The array that is nearly all of a part of a text; None if there is none, or if it has to be parsed at once."""
    place = start - 1
    for _ in range(_CANDIDATES):
        place = data.find(b"[", place + 1, start + _AROUND)
        if place < 0:
            return None
        array = read(data, place, stop)
        if array is not None and stop - start - (array.stop - array.start) <= _AROUND:
            return array
    return None


def parse(data: Text, wide: int | None = None) -> Any:
    """The value of a JSON text. If nearly all of a large text is one array, an `Array` stands for it.

    *wide* is the number of characters of wide scripts in the text, if they have been counted. Raises
    `lossless.InexactError`.
    """
    array = find(data, 0, len(data)) if len(data) >= LARGE else None
    if array is None:
        return lossless.parse(bytes(data))
    if wide is not None and not array.has_escapes:
        array.wide = wide - wide_in_utf8(bytes(data[: array.start])) - wide_in_utf8(bytes(data[array.stop :]))
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


def same(one: Any, other: Any) -> bool:
    """True if two values, as `lossless.parse` or `parse` returns them, are the same to the last digit.

    1 is neither 1.0 nor true. The order of members does not matter. False if a list or an object is nested too
    deeply for orjson, or has half of a surrogate pair.
    """
    if isinstance(one, Array) is not isinstance(other, Array):
        one, other = in_memory(one), in_memory(other)
    if type(one) is not type(other) or (isinstance(one, Sized) and len(one) != len(other)):
        return False
    if isinstance(one, str):
        return one == other
    if isinstance(one, Array):
        if one.are_objects and other.are_objects and are_same_lines(one.lines(), other.lines()):
            return True
        others = chain.from_iterable(other.lossless_batches())
        same_batches = (same(batch, list(islice(others, len(batch)))) for batch in one.lossless_batches())
        return all(same_batches)
    arrays: list[Array] = []
    others_arrays: list[Array] = []
    try:
        are_alike = _json(one, arrays) == _json(other, others_arrays)
    except TypeError:  # nested too deeply, or half of a surrogate pair
        return False
    if bool(arrays) is not bool(others_arrays):  # one was large, the other just too small
        return same(in_memory(one), in_memory(other))
    return are_alike and all(map(same, arrays, others_arrays))


def _json(value: Any, arrays: list[Array]) -> bytes:
    """The JSON of a value, with a question mark for each `Array` in it."""

    def mark(array: Array) -> orjson.Fragment:
        arrays.append(array)
        return orjson.Fragment(b"?")

    return orjson.dumps(value, default=mark, option=orjson.OPT_SORT_KEYS)


def read(data: Text, start: int, stop: int, look: Look | None = None) -> Array | None:
    """The array that begins at *start*; None if it cannot be read in batches.

    If all elements are objects, *look* has then taken them in; otherwise, only those of the first batches.
    """
    batches: list[_Batch] = []
    boundary: bytes | None = None  # the bytes between two elements, with the first key if they are objects
    look = Elements() if look is None else look
    misses, size = 0, _FIRST
    place = _after_space(data, start + 1)
    while True:
        end = -1
        batch: _Batch | None = None
        if boundary is not None and misses < _MISSES:
            end = data.find(boundary, place + _BATCH, stop) + 1
            batch = _batch(data, place, end, look) if end else None
            misses = misses + 1 if end and batch is None else misses if end else _MISSES
        if batch is None:
            end = _end_of_whole_elements(data, place, min(place + size, stop), stop)
            batch = _batch(data, place, end, look) if end else None
            if batch is None:
                return None
            size = _BATCH
        batches.append(batch)
        look = look if batch.are_objects else None
        following = _after_space(data, end)
        sign = data[following : following + 1]
        if sign == b"]":
            return Array(data, start, following + 1, batches, look)
        if sign != b",":
            return None
        place = _after_space(data, following + 1)
        opening = _OPENING.match(data, place) if boundary is None else None
        if opening is not None:
            boundary = bytes(data[end - 1 : opening.end()])


def _batch(data: Text, start: int, stop: int, look: Look | None) -> _Batch | None:
    """The elements in a part of a text; None if they are not whole, or cannot be kept exactly."""
    text = b"".join((b"[", memoryview(data)[start:stop], b"]"))
    known = None if look is None else look.take(text)
    if known is not None:
        return _Batch(start, stop, known.size, True, True, known.has_escapes, known.lines)
    try:
        values: list[Any] = orjson.loads(text)
        plain = orjson.dumps(values) == text or lossless.is_whole(values, text)
        if not plain:
            lossless.parse(text)
    except (ValueError, TypeError):  # TypeError: nested too deeply
        return None
    objects = set(map(type, values)) == {dict}
    if objects and look is not None:
        look.learn(values)
    return _Batch(start, stop, len(values), plain, objects, b"\\u" in text)


def _end_of_whole_elements(data: Text, start: int, enough: int, stop: int) -> int:
    """The end of the last element that ends before *enough*; *start* is the place of the first. 0 if none is found.

    If not even the first element ends there, four times as many bytes are tried, and so on, as long as they are fewer
    than `_LARGEST_ELEMENT`.
    """
    while enough - start < _LARGEST_ELEMENT:
        window = str(memoryview(data)[start:enough], "utf-8", "ignore")
        end = at = 0
        try:
            while True:
                element_end = _ELEMENT.raw_decode(window, at)[1]
                following = _after_space_in(window, element_end)
                sign = window[following : following + 1]
                if sign in ("]", ","):
                    end = element_end
                if sign != ",":
                    break
                at = _after_space_in(window, following + 1)
        except (ValueError, RecursionError):
            pass  # the element does not end here
        if end:
            return start + len(window[:end].encode())
        if enough == stop:
            break
        enough = min(start + 4 * (enough - start), stop)
    return 0


def _cut(data: Text, batch: _Batch) -> bytes:
    return b"".join((b"[", memoryview(data)[batch.start : batch.stop], b"]"))


def _after_space(data: Text, place: int) -> int:
    space = _SPACE.match(data, place)
    return space.end() if space else place


def _after_space_in(text: str, place: int) -> int:
    space = _SPACE_IN_TEXT.match(text, place)
    return space.end() if space else place
