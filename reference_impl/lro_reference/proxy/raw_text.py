"""A result that is one large text, taken from the raw line: a piece of it is parsed at a time.

Parsing the whole line would hold the text three times over, four times where it has a character beyond Latin-1. So the
text is cut out of the line, and only the skeleton that is left is parsed at once. Whatever is not this simple takes the
general way.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

import orjson

from lro_reference.line_sources import numbered
from lro_reference.shapes import SMALL, Shape, is_text
from lro_reference.tables import could_be_table
from lro_spec.tokens import wide_characters, wide_in_utf8

WORTH_IT = 1 << 18
"""Lines of fewer bytes are parsed as quickly."""
_KEY = re.compile(rb'"text"\s*:\s*"')
_FIRST_PIECE, _PIECE = 1 << 14, 1 << 15
_PROBE = 256
_FEW = 64
_BACKSLASH, _QUOTE = ord("\\"), ord('"')


@dataclass(frozen=True, slots=True)
class RawText:
    """A message whose large text was cut out."""

    message: dict[str, Any]
    """As parsed, with a mark instead of the text."""
    shape: Shape
    characters: int
    wide: int
    """How many of the characters belong to scripts of many tokens."""


def read(line: bytearray) -> RawText | None:
    """The message of a line whose result is one large text; None where it is anything else."""
    key = _KEY.search(line)
    if key is None:
        return None
    start = key.end()
    end = _end(line, start)
    if end - start < WORTH_IT // 2 or bytes(line[end - 6 : end]).lower() == rb"\u000a":  # how nobody ends a text
        return None
    text_end, length = end, end - start
    mark = f"text-{secrets.token_hex(8)}".encode()
    skeleton = line[:start] + mark
    # Servers that declare an output schema send the text once more.
    again = line.find(b':"' + line[start : start + _PROBE], end) + 2
    if again > 1 and line.startswith(b'"', again + length) and _equal(line, start, again, length):
        skeleton += line[end:again] + mark
        end = again + length
    if len(line) - end > SMALL:
        return None
    skeleton += line[end:]
    try:
        message = orjson.loads(skeleton)
        extra = _extra(message, mark.decode())
        return None if extra is None else _taken(message, RawLines(line, start, text_end), extra)
    except ValueError:  # it was no text that ended there, or no valid one
        return None


def _end(line: bytearray, start: int) -> int:
    """Where the text seems to end: at a quote that is not escaped, and closes its block; -1: nowhere."""
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


def _extra(message: Any, mark: str) -> dict[str, Any] | None:
    """What the header tells of the result besides its text; None where there is more to it than that."""
    found = cast("dict[str, Any]", message).get("result") if isinstance(message, dict) else None
    if not isinstance(found, dict) or "_meta" in found:
        return None
    result = cast("dict[str, Any]", found)
    blocks = result.get("content")
    texts = [block for block in cast("list[Any]", blocks) if is_text(block)] if isinstance(blocks, list) else []
    if texts != [{"type": "text", "text": mark}]:
        return None
    structured = result.get("structuredContent")
    if structured is None:
        return {}
    if isinstance(structured, dict) and list(cast("dict[str, Any]", structured).values()) == [mark]:
        return {"from": "both", "repeated": next(iter(cast("dict[str, Any]", structured))), "structured": {}}
    return None


def _taken(message: dict[str, Any], lines: RawLines, extra: dict[str, Any]) -> RawText | None:
    characters = wide = 0
    for number, (text, wide_in_it) in enumerate(lines.read()):
        if number == 0 and (text.lstrip()[:1] in ("[", "{", "") or could_be_table(text)):
            return None
        characters += len(text) + 1  # the newline between two pieces
        wide += wide_in_it
    shape = Shape(lines, (), {"format": "text", **extra, "ending": "\n" * lines.ended})
    return RawText(message, shape, characters - (not lines.ended), wide)


@dataclass(frozen=True, slots=True)
class _Piece:
    """Whole lines of the text, by their place in the message."""

    start: int
    stop: int
    count: int
    escaped: bool
    """Whether a character is written in a longer way than needed: a line feed, too, may be ``\\u000a``."""


class RawLines:
    """The lines of a text that is still JSON as records ``{"n", "text"}``, like `line_sources.TextLines`."""

    def __init__(self, line: bytearray, start: int, end: int) -> None:
        self.ended = line.endswith(b"\\n", start, end) and not _escaped(line, end - 2)
        """Whether a newline ends the text."""
        self._line, self._start, self._end = line, start, end - 2 * self.ended
        self._pieces: list[_Piece] = []

    def __len__(self) -> int:
        return sum(piece.count for piece in self._pieces)

    def __iter__(self) -> Iterator[bytes]:
        return (line for block in self.blocks() for line in block.split(b"\n"))

    def blocks(self) -> Iterator[bytes]:
        """The records, some thousand at a time."""
        return numbered((self._plain(piece), piece.count) for piece in self._pieces)

    def read(self) -> Iterator[tuple[str, int]]:
        """The text in whole lines, some thousand at a time, each with how many wide characters it has.

        This counts the lines, so it comes once and first. Raises `ValueError` where the text is no JSON string.
        """
        start, end = self._start, self._end
        size = _FIRST_PIECE  # whoever wants a few lines must not pay for thousands
        while start <= end:
            stop = self._line.find(b"\\n", min(start + size, end), end)
            while stop >= 0 and _escaped(self._line, stop):
                stop = self._line.find(b"\\n", stop + 1, end)
            stop = end if stop < 0 else stop
            inside = self._cut(start, stop)
            text = orjson.loads(b'"' + inside + b'"')
            escaped = len(orjson.dumps(text)) != len(inside) + 2  # nothing is shorter than what orjson writes
            self._pieces.append(_Piece(start, stop, text.count("\n") + 1, escaped))
            yield text, 0 if text.isascii() else wide_characters(text) if escaped else wide_in_utf8(inside)
            start, size = stop + 2, _PIECE

    def _cut(self, start: int, stop: int) -> bytes:
        return bytes(memoryview(self._line)[start:stop])

    def _plain(self, piece: _Piece) -> bytes:
        """The inside of a JSON string with every line feed written ``\\n``."""
        inside = self._cut(piece.start, piece.stop)
        return orjson.dumps(orjson.loads(b'"' + inside + b'"'))[1:-1] if piece.escaped else inside
