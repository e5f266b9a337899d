"""A large text in a raw line of JSON: a piece of it is parsed at a time.

Parsing it whole would hold it three times over, four times where it has a character beyond Latin-1.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import orjson

from lro_proxy.payload.lines import Inside, inside, numbered
from lro_spec.tokens import wide_in_utf8

_KEY = re.compile(rb'"text"\s*:\s*"')
_CUT = re.compile(rb"[ ,:;]")
"""Between these and what follows a JSON string can be cut: they are part of no escape."""
_JSON = re.compile(rb'(?:\s|\\[nrt])*([\[{])(?:\s|\\[nrt])*(?:\\"|[\[{])')
"""How a text begins that is JSON, and no log with a bracket at its beginning."""
_FIRST_PIECE, _PIECE = 1 << 14, 1 << 15
_PROBE = 256
_FEW = 64
_BACKSLASH, _QUOTE = ord("\\"), ord('"')


def find(line: bytearray, least: int) -> tuple[int, int] | None:
    """Where the inside of the first text of a line's message begins and ends, if it has so many bytes."""
    key = _KEY.search(line)
    if key is None:
        return None
    start = key.end()
    end = _end(line, start)
    return (start, end) if end - start >= least else None


def find_again(line: bytearray, start: int, end: int) -> tuple[int, int] | None:
    """Where the same text stands once more, as a member of an object: servers that declare an output schema do that."""
    again = line.find(b':"' + line[start : start + _PROBE], end) + 2
    length = end - start
    if again > 1 and line.startswith(b'"', again + length) and _equal(line, start, again, length):
        return again, again + length
    return None


@dataclass(frozen=True, slots=True)
class Plain:
    """A text in UTF-8."""

    text: bytearray
    characters: int
    wide: int
    """How many of the characters belong to scripts of many tokens."""


def plain(line: bytearray, start: int, end: int) -> Plain:
    """The text whose JSON this is. Raises `ValueError` where it is none."""
    made = bytearray()
    characters = wide = 0
    while start < end:
        cut = _CUT.search(line, min(start + _PIECE, end), end)
        stop = cut.end() if cut else end
        text: str = orjson.loads(b'"%b"' % line[start:stop])
        piece = text.encode()
        made += piece
        characters += len(text)
        wide += wide_in_utf8(piece)
        start = stop
    return Plain(made, characters, wide)


def beginning(line: bytearray, start: int, end: int) -> str:
    """The first thousands of characters of a text. Raises `ValueError` where it is no text."""
    cut = _CUT.search(line, min(start + _FIRST_PIECE, end), end)
    return orjson.loads(b'"%b"' % line[start : cut.end() if cut else end])


def _end(line: bytearray, start: int) -> int:
    """Where the text seems to end: at a quote that is not escaped, and closes its block; -1: nowhere."""
    json = _JSON.match(line, start)
    if json is not None:  # then its last bracket alone can stand before a quote as it is
        closing = b"]" if json[1] == b"[" else b"}"
        end = line.find(closing + b'"', start)
        ended = line.find(closing + b'\\n"', start, end if end >= 0 else len(line))
        return ended + 3 if ended >= 0 else end + 1 if end >= 0 else -1
    brace = line.find(b"}", start)
    for _ in range(_FEW):  # one byte is found many times as fast as two; but a program is full of it
        if brace < 0 or (line[brace - 1] == _QUOTE and not _escaped(line, brace - 1)):
            return brace - 1 if brace > start else -1
        brace = line.find(b"}", brace + 1)
    end = line.find(b'"}', brace - 1)
    while end >= 0 and _escaped(line, end):
        end = line.find(b'"}', end + 1)
    return end


def _equal(line: bytearray, one: int, other: int, length: int) -> bool:
    """Whether two parts of a line are the same, compared without a copy of either."""
    places = range(0, length, _PIECE)
    return all(
        line[one + at : one + min(at + _PIECE, length)] == line[other + at : other + min(at + _PIECE, length)]
        for at in places
    )


def _escaped(text: bytes | bytearray, place: int) -> bool:
    """Whether an odd number of backslashes stands before a place."""
    before = place
    while before > 0 and text[before - 1] == _BACKSLASH:
        before -= 1
    return (place - before) % 2 == 1


class RawLines:
    """The lines of a text that is still JSON as records ``{"n", "text"}``, like `line_sources.TextLines`."""

    def __init__(self, line: bytearray, start: int, end: int) -> None:
        self.ended = line.endswith(b"\\n", start, end) and not _escaped(line, end - 2)
        """Whether a newline ends the text."""
        self._line, self._start, self._end = line, start, end - 2 * self.ended
        self._pieces: list[Inside] = []

    def __len__(self) -> int:
        return sum(piece.count for piece in self._pieces)

    def __iter__(self) -> Iterator[bytes]:
        return (line for block in self.blocks() for line in block.split(b"\n"))

    def blocks(self) -> Iterator[bytes]:
        """The records, some thousand at a time."""
        return numbered(self._pieces)

    def read(self) -> Iterator[tuple[int, int]]:
        """Reads the text some thousand lines at a time: how many characters these have, and how many of them are wide.

        This comes once and first. Raises `ValueError` where the text is no JSON string, or has half a surrogate pair.
        """
        start, end = self._start, self._end
        size = _FIRST_PIECE  # whoever wants a few lines must not pay for thousands
        while start <= end:
            stop = self._line.find(b"\\n", min(start + size, end), end)
            while stop >= 0 and _escaped(self._line, stop):
                stop = self._line.find(b"\\n", stop + 1, end)
            stop = end if stop < 0 else stop
            text: str = orjson.loads(b'"%b"' % memoryview(self._line)[start:stop])
            piece = inside(text)
            self._pieces.append(piece)
            yield len(text), piece.wide
            start, size = stop + 2, _PIECE
