"""Texts of results, read a piece at a time, and their lines as records.

A large text is read from its JSON string in the message. Parsing the string as a whole would hold the text in memory
three times, or four times if it has a character beyond Latin-1.

A *form* is a notation of text that has records of its own, such as the rows of a table or the entries of a log
(`lro_proxy.payload.forms`). A text without such a form is split into its lines.

In this module, *message* is always a JSON-RPC message as one line of bytes, which contains the text as a JSON string.
The lines of the text itself are `TextLines`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import chain
from typing import Any

import orjson

from lro_proxy.payload import forms
from lro_proxy.payload.forms.form import BEGINNING_BYTES, FEW_LINES, LONG_BEGINNING_BYTES, Data, ending_of, whole_lines
from lro_reference.writer import encode
from lro_spec.tokens import wide_characters, wide_characters_in_utf8

_CUT_AFTER = re.compile(rb"[ ,:;]")
"""A JSON string can be cut after these characters, because they are never part of an escape."""
_JSON_BEGINNING = re.compile(rb'(?:\s|\\[nrt])*([\[{])(?:\s|\\[nrt])*(?:\\"|[\[{])')
"""The beginning of a JSON string whose text is probably JSON. It does not match a log that begins with a bracket."""
_FIRST_PIECE_BYTES, _PIECE_BYTES = 1 << 14, 1 << 16
_MAX_SINGLE_BRACES = 64
"""Number of braces that are examined one by one. After these, a quote followed by a brace is searched for."""
_TAIL_BYTES = 1 << 15
"""The end of a text is first searched for in this many bytes before the end of the message, or before
``structuredContent``."""
_MAX_LINE_LENGTH, _CUT_WINDOW = 4000, 500
"""The first is the length in characters above which a line is cut. The second is the number of characters before the
cut that are searched for a better place to cut, such as a blank."""
_BACKSLASH, _QUOTE = ord("\\"), ord('"')
_LINE_FEED_STAND_IN = "\x7f"
"""Stands for a line feed while a text is encoded as JSON. JSON does not escape this character, so that it stays a
single byte, which is found faster than two bytes. Few texts contain it."""
_LOWER_ASCII = bytes(range(ord(_LINE_FEED_STAND_IN)))
_CACHED_RECORDS = 1 << 14
"""Number of beginnings of records that are kept in memory. Together they take a megabyte."""


class Text:
    """A text of a result. It is held in UTF-8 or, if it certainly has none of the forms, only as its lines."""

    def __init__(
        self,
        string: Callable[[], str],
        characters: int,
        wide_count: int,
        utf8: Data | None,
        lines: TextLines | None = None,
        *,
        is_well_formed: bool = True,
    ) -> None:
        self._string, self._lines = string, lines
        self.is_well_formed = is_well_formed
        """False if the text has half of a surrogate pair."""
        self.characters = characters
        self.wide_count = wide_count
        """Number of wide characters (Chinese, Japanese, Korean and emoji), which take more tokens than others."""
        self.utf8 = utf8
        """The text in UTF-8; None if it is held as its lines only, because it has none of the forms."""

    @classmethod
    def of(cls, text: str) -> Text:
        """A text in memory, which may have half of a surrogate pair."""
        try:
            utf8, is_well_formed = text.encode(), True
        except UnicodeEncodeError:
            utf8, is_well_formed = text.encode("utf-8", "surrogatepass"), False
        return cls(lambda: text, len(text), wide_characters_in_utf8(utf8), utf8, is_well_formed=is_well_formed)

    @classmethod
    def read(cls, message: Data, start: int, end: int) -> Text:
        """The text of a JSON string in a message. Its quotes are just before *start* and at *end*.

        Raises `ValueError` if there is no valid JSON string at this place, or if it has half of a surrogate pair.
        """

        def string() -> str:
            return orjson.loads(memoryview(message)[start - 1 : end + 1])

        # `_has_line_feed_before` would overlook a line feed at the end that is written as a Unicode escape.
        if _may_have_records(message, start, end) or message[end - 6 : end].lower() == rb"\u000a":
            utf8 = bytearray()
            characters = wide_count = 0
            for text in _pieces(message, start, end):
                piece = text.encode()
                utf8 += piece
                characters += len(text)
                wide_count += wide_characters_in_utf8(piece)
            return cls(string, characters, wide_count, utf8)
        ends_in_line_feed = _has_line_feed_before(message, start, end)
        lines = TextLines(_lines_of_json(message, start, end - 2 * ends_in_line_feed), ends_in_line_feed)
        return cls(string, lines.characters, lines.wide_count, None, lines)

    def __str__(self) -> str:
        return self._string()

    def lines(self) -> TextLines:
        """The lines of the text as records."""
        if self._lines is None:
            data = self.utf8 or b""
            ends_in_line_feed = bool(ending_of(data))
            self._lines = TextLines(whole_lines(data, len(data) - ends_in_line_feed), ends_in_line_feed)
        return self._lines


class TextLines:
    """The lines of a text as records ``{"n", "text"}``, numbered from 1.

    A line feed at the end of the text does not begin another line. Only a line feed ends a line: any other character,
    including a carriage return, stays in the text of its line. A long line is cut into several records, which are
    numbered by ``part``, from 1.
    """

    def __init__(self, texts: Iterable[str], ends_in_line_feed: bool) -> None:
        self.ends_in_line_feed = ends_in_line_feed
        """True if a line feed ends the text."""
        self._pieces = list(chain.from_iterable(map(_pieces_of, texts)))
        self._count = sum(piece.count for piece in self._pieces)
        self.has_cut_lines = any(piece.parts for piece in self._pieces)
        """True if a line is cut into parts."""
        self.characters = sum(piece.characters + 1 for piece in self._pieces) - (not ends_in_line_feed)
        self.wide_count = sum(piece.wide_count for piece in self._pieces)

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[bytes]:
        return (line for block in self.blocks() for line in block.split(b"\n"))

    def blocks(self) -> Iterator[bytes]:
        """The records, a block of them for each piece of the text."""
        # A piece was serialised as one string, which is split here: serialising each line separately takes three times
        # as long.
        first = 1
        for piece in self._pieces:
            if piece.parts:
                records = ({"n": first, "part": part, "text": text} for part, text in enumerate(piece.parts, 1))
                yield b"\n".join(map(encode, records))
                first += 1
                continue
            lines = piece.json.split(piece.line_feed)
            if len(lines) != piece.count:  # a backslash stood before a letter n
                lines = [line.replace(b"\0", rb"\\") for line in piece.json.replace(rb"\\", b"\0").split(rb"\n")]
            parts = [b'"}'] * (2 * piece.count + 1)
            last = first + piece.count - 1
            parts[:-1:2] = (
                _first_beginnings()[first - 1 : last] if last <= _CACHED_RECORDS else _beginnings(first, last)
            )
            parts[0] = parts[0].removeprefix(b'"}\n')
            parts[1::2] = lines
            first += piece.count
            yield b"".join(parts)


def text_of_records(records: Iterable[Mapping[str, Any]]) -> str:
    """The text of which these records are the lines, or the parts of lines."""
    return "".join(("" if record.get("part", 1) > 1 else "\n") + record["text"] for record in records)[1:]


@dataclass(frozen=True, slots=True)
class _Piece:
    """Some whole lines of a text, or one long line."""

    json: bytes
    """The lines as one JSON string, without its quotes; empty for a long line."""
    line_feed: bytes
    """The bytes that separate the lines in `json`; empty for a long line."""
    count: int
    """Number of records: the number of lines, or the number of parts of the long line."""
    characters: int
    wide_count: int
    parts: tuple[str, ...] = ()
    """The parts of a long line, which is a piece of its own."""


def _pieces_of(text: str) -> Iterator[_Piece]:
    """The pieces of a text that has only whole lines; a long line is a piece of its own."""
    start = place = 0
    while len(text) - place > _MAX_LINE_LENGTH:
        end = text.rfind("\n", place, place + _MAX_LINE_LENGTH + 1)
        if end >= 0:
            place = end + 1
            continue
        end = text.find("\n", place)
        end = len(text) if end < 0 else end
        if start < place:
            yield _piece(text[start : place - 1])
        parts = tuple(_parts(text, place, end))
        wide_count = sum(wide_characters(part) for part in parts if not part.isascii())
        yield _Piece(b"", b"", len(parts), end - place, wide_count, parts)
        start = place = end + 1
    if start <= len(text):
        yield _piece(text[start:])


def _parts(text: str, start: int, stop: int) -> Iterator[str]:
    """A long line in parts. If a blank, comma, semicolon or ``>`` is near the end of a part, the part ends after it."""
    while stop - start > _MAX_LINE_LENGTH:
        end = start + _MAX_LINE_LENGTH
        cut_after = max(text.rfind(sign, end - _CUT_WINDOW, end) for sign in " ,;>")
        end = cut_after + 1 if cut_after >= 0 else end
        yield text[start:end]
        start = end
    yield text[start:stop]


def _piece(text: str) -> _Piece:
    if _LINE_FEED_STAND_IN in text:
        json = encode(text)[1:-1]
        return _Piece(json, rb"\n", text.count("\n") + 1, len(text), wide_characters_in_utf8(json))
    json, line_feed = encode(text.replace("\n", _LINE_FEED_STAND_IN))[1:-1], _LINE_FEED_STAND_IN.encode()
    rest = json.translate(None, _LOWER_ASCII)  # shorter, but it still has all characters that are counted
    return _Piece(json, line_feed, rest.count(line_feed) + 1, len(text), wide_characters_in_utf8(rest))


@cache
def _first_beginnings() -> list[bytes]:
    """The beginnings of the first records, which are the same in all files.

    They are kept because making them takes as long as splitting the text.
    """
    return _beginnings(1, _CACHED_RECORDS)


def _beginnings(first: int, last: int) -> list[bytes]:
    """For each record from *first* to *last*, the bytes between the text of the record before it and its own text."""
    numbers = orjson.dumps(list(range(first, last + 1)))[1:-1]
    return (b'"}\n{"n":' + numbers.replace(b",", b',"text":"\0"}\n{"n":') + b',"text":"').split(b"\0")


def end_of_string(message: Data, start: int, *, assumes_last: bool) -> int:
    """The place of the quote that probably ends a text: it is not escaped, and closes its block. -1 if there is none.

    Only `Text.read` shows whether the text really ends there. With *assumes_last*, a text that is JSON is assumed to be
    the last one in the message: an end near the end of the message is then accepted without searching everything
    before.
    """
    json = _JSON_BEGINNING.match(message, start)
    if json is not None:  # in JSON, only the last bracket can stand before a quote that is not escaped
        closing = b"]" if json[1] == b"[" else b"}"
        if assumes_last and (
            end := _end_of_json(message, max(start, len(message) - _TAIL_BYTES), len(message), closing)
        ):
            return end
        # Most texts end shortly before the structured content or the end of the message, so the whole message need not
        # be searched. `rfind` comes first because, if there is no structured content, it takes a fifth of the
        # time of `find`.
        has_more = message.rfind(b'"structuredContent"', start) >= 0
        stop = message.find(b'"structuredContent"', start) if has_more else len(message)
        end = _end_of_json(message, max(start, stop - _TAIL_BYTES), stop, closing)
        # Within a text every quote is escaped, so a key "type" before the end that was found shows that another block
        # begins in between. Then the end is searched for from the beginning of the text.
        if not end or message.rfind(b'"type"', start, end) >= 0:
            end = _end_of_json(message, start, len(message), closing)
        return end or -1
    brace = message.find(b"}", start)
    for _ in range(
        _MAX_SINGLE_BRACES
    ):  # one byte is found many times faster than two, but source code is full of braces
        if brace < 0 or (message[brace - 1] == _QUOTE and not _is_escaped(message, brace - 1)):
            return brace - 1 if brace > start else -1
        brace = message.find(b"}", brace + 1)
    end = message.find(b'"}', brace - 1)
    while end >= 0 and _is_escaped(message, end):
        end = message.find(b'"}', end + 1)
    return end


def _end_of_json(message: Data, start: int, stop: int, closing: bytes) -> int:
    """The place of the first quote after a closing bracket, directly or after one line feed; 0 if there is none."""
    end = message.find(closing + b'"', start, stop)
    with_line_feed = message.find(closing + b'\\n"', start, end if end >= 0 else stop)
    return with_line_feed + 3 if with_line_feed >= 0 else end + 1


def _is_escaped(text: Data, place: int) -> bool:
    """True if an odd number of backslashes stands before a place."""
    before = place
    while before > 0 and text[before - 1] == _BACKSLASH:
        before -= 1
    return (place - before) % 2 == 1


def _has_line_feed_before(message: Data, start: int, end: int) -> bool:
    return message.endswith(b"\\n", start, end) and not _is_escaped(message, end - 2)


def _may_have_records(message: Data, start: int, end: int) -> bool:
    """True if the text in a JSON string begins like one of the forms."""
    beginning, stop = _beginning(message, start, end, BEGINNING_BYTES)
    if beginning.count("\n") <= FEW_LINES and stop < end:
        beginning, stop = _beginning(message, start, end, LONG_BEGINNING_BYTES)
    return forms.may_begin(beginning if stop == end else beginning.rpartition("\n")[0] or beginning)


def _beginning(message: Data, start: int, end: int, size: int) -> tuple[str, int]:
    stop = _place_to_cut(message, start + size, end)
    return orjson.loads(b'"%b"' % message[start:stop]), stop


def _pieces(message: Data, start: int, end: int) -> Iterator[str]:
    """The text in a JSON string, some 64 KB at a time."""
    while start < end:
        stop = _place_to_cut(message, start + _PIECE_BYTES, end)
        yield orjson.loads(b"".join((b'"', memoryview(message)[start:stop], b'"')))
        start = stop


def _place_to_cut(message: Data, earliest: int, end: int) -> int:
    cut = _CUT_AFTER.search(message, min(earliest, end), end)
    return cut.end() if cut else end


def _lines_of_json(message: Data, start: int, end: int) -> Iterator[str]:
    """The text in a JSON string, some 64 KB at a time, in whole lines; without the line feed after each piece."""
    size = _FIRST_PIECE_BYTES  # reading a few lines must not take as long as reading thousands
    while start <= end:
        stop = message.find(b"\\n", min(start + size, end), end)
        while stop >= 0 and _is_escaped(message, stop):
            stop = message.find(b"\\n", stop + 1, end)
        stop = end if stop < 0 else stop
        yield orjson.loads(b'"%b"' % memoryview(message)[start:stop])
        start, size = stop + 2, _PIECE_BYTES
