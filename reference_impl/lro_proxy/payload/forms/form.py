"""The common interface of the forms of text, and what they share.

A form is a few pure functions: `begins` looks at whole lines at the beginning of a text, `read` turns the whole text
into records, and `rebuild` turns the records into the text again. If the text cannot be rebuilt to the byte, `read`
returns None, because records of a wrongly guessed form are worse than lines of text.
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

SMALL_SIZE = 4096
"""Maximum size of the data beside the records, which goes to the header, in characters of a text or bytes of JSON. If
there is more such data, the payload is not read in this way."""
BEGINNING_BYTES = 1 << 14
"""Number of bytes at the beginning of a text by which its form is recognised."""
LONG_BEGINNING_BYTES = 1 << 18
"""Number of bytes that are examined instead if the first `BEGINNING_BYTES` have at most `FEW_LINES` line feeds."""
FEW_LINES = 16
MAX_BYTES_AT_ONCE = 1 << 22
"""Maximum number of bytes of a text whose records are all in memory at once. A larger text needs a streamed form."""
_FIRST_PIECE_BYTES, _PIECE_BYTES = 1 << 14, 1 << 15
"""Minimum size in bytes of the first piece of a text, and of later pieces. Each piece ends with a whole line."""
_BATCH_RECORDS = 500


@dataclass(frozen=True, slots=True)
class PayloadRecords:
    """A payload as records, and the rest of the payload, which belongs to no record."""

    lines: Lines
    records: Records
    """The parsed records; empty for lines of text, which have no fields."""
    extra: Extra = field(default_factory=dict[str, Any])
    """The rest of the payload, and what else is needed to build the payload again. It goes to the file's header."""
    is_well_formed: bool = False
    """True if it is known that no line has half of a surrogate pair."""
    wide_count: int | None = None
    """Number of wide characters (Chinese, Japanese, Korean and emoji) in the lines; None if they were not counted."""


@dataclass(frozen=True, slots=True)
class Form:
    """A form of text."""

    name: str
    """Its name as ``format`` in the header's ``extra``."""
    begins: Callable[[str], bool]
    """True if whole lines at the beginning of a text may be the beginning of this form."""
    read: Callable[[Data], PayloadRecords | None]
    """The records of a UTF-8 text; None if it is not in this form, or if `rebuild` would not return it exactly."""
    rebuild: Callable[[Extra, Iterable[Mapping[str, Any]]], Iterator[str]]
    """Returns the text, piece by piece, given ``extra`` and the records."""
    is_streamed: bool = False
    """True if only one batch of records is in memory at a time, so that the text may be of any size."""


def of_batches(batches: Callable[[], Iterable[Sequence[Record]]], extra: Extra) -> PayloadRecords:
    """Records that are made a batch at a time."""
    count = sum(map(len, batches()))
    return PayloadRecords(BatchedLines(count, lambda: encoded(batches())), Batched(count, batches), extra)


def in_batches(records: Iterable[Record]) -> Iterator[list[Record]]:
    """Records in lists of `_BATCH_RECORDS`; the last list may be shorter."""
    batch: list[Record] = []
    for record in records:
        batch.append(record)
        if len(batch) == _BATCH_RECORDS:
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
    """A text up to *end*, in pieces of whole lines, about 32 KB each. The line feed after each piece is left out."""
    return (decoded(text, start, stop) for start, stop in places_of_lines(text, end))


def places_of_lines(text: Data, end: int, start: int = 0) -> Iterator[tuple[int, int]]:
    """The beginning and end of each piece of a text from *start* to *end*. A piece is about 32 KB of whole lines."""
    size = _FIRST_PIECE_BYTES  # reading a few lines must not take as long as reading thousands
    while start <= end:
        stop = text.find(b"\n", min(start + size, end), end)
        stop = end if stop < 0 else stop
        yield start, stop
        start, size = stop + 1, _PIECE_BYTES


def lines_of(text: Data) -> Iterator[str]:
    """The lines of a text; a line feed at its end does not begin another line."""
    for piece in whole_lines(text, len(text) - text.endswith(b"\n")):
        yield from piece.split("\n")


def ending_of(text: Data) -> str:
    """The line feed at the end of a text; empty if there is none."""
    return "\n" if text.endswith(b"\n") else ""
