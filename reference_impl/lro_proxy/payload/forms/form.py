"""The common interface of the forms of text, and what they share.

A form is a few pure functions: `begins` looks at whole lines at the beginning of a text, `read` makes records of all of
it, and `rebuild` makes the text of the records again. If a text cannot be rebuilt to the byte, `read` returns None: a
wrong guess is worse than lines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lro_proxy.payload.batches import Batched, BatchedLines, encoded
from lro_reference.results import Lines, Records

Data = bytes | bytearray
Extra = Mapping[str, Any]
Record = dict[str, Any]

SMALL = 4096
"""Maximum size of the data beside the records, which goes to the header: characters of a text, or bytes of JSON. If
there is more, the payload is not read in this way."""
BEGINNING = 1 << 14
"""Number of bytes at the beginning of a text by which its form is recognised."""
LONG_BEGINNING = 1 << 18
"""Number of bytes that are examined instead if the former have at most `FEW_LINES` line feeds."""
FEW_LINES = 16
MOST_AT_ONCE = 1 << 22
"""Maximum number of bytes of a text that is read in a form whose records are all in memory at once."""
_FIRST_PIECE, _PIECE = 1 << 14, 1 << 15
"""Minimum size in bytes of the first piece of a text, and of later ones; each goes on to the end of a line."""
_RECORDS = 500


@dataclass(frozen=True, slots=True)
class Shape:
    """A payload as records."""

    lines: Lines
    records: Records
    """The parsed records; empty for lines of text, which have no fields."""
    extra: Extra = field(default_factory=dict[str, Any])
    """The rest of the payload and its layout."""
    is_well_formed: bool = False
    """True if no line has half of a surrogate pair; False if one has, or if that is not known."""
    wide: int | None = None
    """Number of characters of wide scripts in the lines; None if they have not been counted."""


@dataclass(frozen=True, slots=True)
class Form:
    """A form of text."""

    name: str
    """Its name as ``format`` in the header's ``extra``."""
    begins: Callable[[str], bool]
    """True if whole lines at the beginning of a text may be the beginning of this form."""
    read: Callable[[Data], Shape | None]
    """The records of a UTF-8 text; None if it is not in this form, or if `rebuild` would not return it exactly."""
    rebuild: Callable[[Extra, Iterable[Mapping[str, Any]]], Iterator[str]]
    """The text, piece by piece, from ``extra`` and the records."""
    is_streamed: bool = False
    """True if no more than a batch of records is made at a time, so that the text may be of any size."""


def of_batches(batches: Callable[[], Iterable[Sequence[Record]]], extra: Extra) -> Shape:
    """Records that are made a batch at a time."""
    count = sum(map(len, batches()))
    return Shape(BatchedLines(count, lambda: encoded(batches())), Batched(count, batches), extra)


def in_batches(records: Iterable[Record]) -> Iterator[list[Record]]:
    """Records in lists of `_RECORDS`; the last one may be shorter."""
    batch: list[Record] = []
    for record in records:
        batch.append(record)
        if len(batch) == _RECORDS:
            yield batch
            batch = []
    if batch:
        yield batch


def is_rebuilt(text: Data, pieces: Iterable[str]) -> bool:
    """True if the pieces, one after the other, are exactly the text."""
    place = 0
    view = memoryview(text)
    for piece in pieces:
        data = piece.encode("utf-8", "surrogatepass")
        if bytes(view[place : place + len(data)]) != data:
            return False
        place += len(data)
    return place == len(text)


def decoded(text: Data, start: int, stop: int) -> str:
    """A part of a UTF-8 text, which may have half of a surrogate pair."""
    return str(memoryview(text)[start:stop], "utf-8", "surrogatepass")


def whole_lines(text: Data, end: int) -> Iterator[str]:
    """A text up to a place, in pieces of whole lines, some 32 KB each; without the line feed after each piece."""
    return (decoded(text, start, stop) for start, stop in places_of_lines(text, end))


def places_of_lines(text: Data, end: int, start: int = 0) -> Iterator[tuple[int, int]]:
    """Where the pieces of a text, from *start* to *end*, begin and end; each has whole lines, some 32 KB of them."""
    size = _FIRST_PIECE  # a reader of a few lines must not pay for thousands
    while start <= end:
        stop = text.find(b"\n", min(start + size, end), end)
        stop = end if stop < 0 else stop
        yield start, stop
        start, size = stop + 1, _PIECE


def lines_of(text: Data) -> Iterator[str]:
    """The lines of a text; a line feed at its end does not begin another line."""
    for piece in whole_lines(text, len(text) - text.endswith(b"\n")):
        yield from piece.split("\n")


def ending_of(text: Data) -> str:
    """The line feed at the end of a text, if there is one."""
    return "\n" if text.endswith(b"\n") else ""
