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
from lro_spec.tokens import wide_characters

WORTH_IT = 1 << 18
"""Lines of fewer bytes are parsed as quickly."""
_KEY = re.compile(rb'"text"\s*:\s*"')
_FIRST_PIECE, _PIECE = 1 << 14, 1 << 16
_PROBE = 256
_BACKSLASH = ord("\\")


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
    if end - start < WORTH_IT // 2:
        return None
    raw = bytes(line[start:end])
    mark = f"text-{secrets.token_hex(8)}".encode()
    skeleton = line[:start] + mark
    # Servers that declare an output schema send the text once more.
    again = line.find(b':"' + raw[:_PROBE], end)
    if again >= 0 and line.startswith(raw, again + 2) and line.startswith(b'"', again + 2 + len(raw)):
        skeleton += line[end : again + 2] + mark
        end = again + 2 + len(raw)
    if len(line) - end > SMALL:
        return None
    skeleton += line[end:]
    try:
        message = orjson.loads(skeleton)
        extra = _extra(message, mark.decode())
        return None if extra is None else _taken(message, RawLines(raw), extra)
    except ValueError:  # it was no text that ended there, or no valid one
        return None


def _end(line: bytearray, start: int) -> int:
    """Where the text seems to end: at a quote that is not escaped, and closes its block; -1: nowhere."""
    end = line.find(b'"}', start)
    while end >= 0 and _escaped(line, end):
        end = line.find(b'"}', end + 1)
    return end


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
    characters = wide = newlines = 0
    for number, text in enumerate(lines.pieces()):
        if number == 0 and (text.lstrip()[:1] in ("[", "{", "") or could_be_table(text)):
            return None
        characters += len(text) + 1  # the newline between two pieces
        wide += 0 if text.isascii() else wide_characters(text)
        newlines += text.count("\n") + 1
    lines.count = newlines
    shape = Shape(lines, (), {"format": "text", **extra, "ending": "\n" * lines.ended})
    return RawText(message, shape, characters - (not lines.ended), wide)


class RawLines:
    """The lines of a text that is still JSON as records ``{"n", "text"}``, like `line_sources.TextLines`."""

    def __init__(self, raw: bytes) -> None:
        self._raw = raw
        self.count = 0
        """How many there are; whoever has read the pieces once says so."""
        self.ended = raw.endswith(b"\\n") and not _escaped(raw, len(raw) - 2)
        """Whether a newline ends the text."""

    def __len__(self) -> int:
        return self.count

    def __iter__(self) -> Iterator[bytes]:
        return (line for block in self.blocks() for line in block.split(b"\n"))

    def blocks(self) -> Iterator[bytes]:
        """The records, some thousand at a time."""
        return numbered(self.pieces())

    def pieces(self) -> Iterator[str]:
        """The text in whole lines, some thousand at a time. Raises `ValueError` where it is no JSON string."""
        start, end = 0, len(self._raw) - 2 * self.ended
        size = _FIRST_PIECE  # whoever wants a few lines must not pay for thousands
        while start <= end:
            stop = self._raw.find(b"\\n", min(start + size, end), end)
            while stop >= 0 and _escaped(self._raw, stop):
                stop = self._raw.find(b"\\n", stop + 1, end)
            stop = end if stop < 0 else stop
            yield orjson.loads(b'"' + self._raw[start:stop] + b'"')
            start, size = stop + 2, _PIECE
