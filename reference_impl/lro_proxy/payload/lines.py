"""Records that become lines only while somebody reads them, so that a large result is in memory once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain
from typing import Any

import orjson

from lro_reference.writer import encode
from lro_spec.tokens import wide_in_utf8

_FIRST_BATCH, _BATCH = 1 << 14, 1 << 16
_STAND_IN = "\x7f"
"""For a line feed: JSON does not escape it, hardly a text has it, and one byte is found faster than two."""
_ASCII = bytes(range(ord(_STAND_IN)))
_KEPT = 1 << 14
"""How many beginnings of records are kept in memory: a megabyte."""


class EncodedLines:
    """Parsed records, serialised one by one."""

    def __init__(self, records: Sequence[Any]) -> None:
        self._records = records

    def __len__(self) -> int:
        return len(self._records)

    def __iter__(self) -> Iterator[bytes]:
        return map(encode, self._records)


class Batched:
    """Records that are parsed a batch at a time, whenever they are read: no more than a batch of them ever exists."""

    def __init__(self, count: int, batches: Callable[[], Iterable[Sequence[Any]]]) -> None:
        self._count, self._batches = count, batches

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Any]:
        return chain.from_iterable(self._batches())


class BatchedLines:
    """Lines that are made a batch at a time."""

    def __init__(self, count: int, blocks: Callable[[], Iterator[bytes]]) -> None:
        self._count, self.blocks = count, blocks

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[bytes]:
        return (line for block in self.blocks() for line in block.split(b"\n"))


def encoded(batches: Iterable[Sequence[Any]]) -> Iterator[bytes]:
    """A block of lines for each batch of records."""
    return (b"\n".join(map(encode, batch)) for batch in batches)


class TextLines:
    """The lines of a text as records ``{"n", "text"}``, numbered from 1; a last newline ends a line and begins none.

    Only a line feed ends a line: everything else, a carriage return too, stays in its text.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._count = text.count("\n") + (not text.endswith("\n"))

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[bytes]:
        return (line for block in self.blocks() for line in block.split(b"\n"))

    def blocks(self) -> Iterator[bytes]:
        """The records, some thousand at a time."""
        return numbered(map(inside, self._batches()))

    def _batches(self) -> Iterator[str]:
        # In batches of whole lines, or a hundred thousand small strings would outweigh the text itself.
        start, end = 0, len(self._text) - self._text.endswith("\n")
        size = _FIRST_BATCH  # whoever wants a few lines must not pay for thousands
        while True:
            stop = self._text.find("\n", min(start + size, end), end)
            if stop < 0:
                yield self._text[start:end]
                return
            yield self._text[start:stop]
            start, size = stop + 1, _BATCH


@dataclass(frozen=True, slots=True)
class Inside:
    """Lines of text as JSON strings, without the quotes."""

    text: bytes
    count: int
    between: bytes
    """What stands between two of them."""
    wide: int
    """How many characters belong to scripts of many tokens."""


def inside(text: str) -> Inside:
    """The lines of a text; for `numbered`."""
    if _STAND_IN in text:
        made = encode(text)[1:-1]
        return Inside(made, text.count("\n") + 1, rb"\n", wide_in_utf8(made))
    made, between = encode(text.replace("\n", _STAND_IN))[1:-1], _STAND_IN.encode()
    few = made.translate(None, _ASCII)  # for what is looked for now there is little else to look through
    return Inside(made, few.count(between) + 1, between, wide_in_utf8(few))


def numbered(texts: Iterable[Inside]) -> Iterator[bytes]:
    """The lines of texts as records, numbered from 1: a block of them for each text.

    A text is cut as it is: to write each line by itself takes three times as long.
    """
    first = 1
    for one in texts:
        lines = one.text.split(one.between)
        if len(lines) != one.count:  # a backslash stood before a letter n
            lines = [line.replace(b"\0", rb"\\") for line in one.text.replace(rb"\\", b"\0").split(one.between)]
        parts = [b'"}'] * (2 * one.count + 1)
        last = first + one.count - 1
        parts[:-1:2] = _beginnings()[first - 1 : last] if last <= _KEPT else _made(first, last)
        parts[0] = parts[0].removeprefix(b'"}\n')
        parts[1::2] = lines
        first += one.count
        yield b"".join(parts)


@cache
def _beginnings() -> list[bytes]:
    """Those of the first records, which every file has: for a text of a megabyte they take as long as cutting it."""
    return _made(1, _KEPT)


def _made(first: int, last: int) -> list[bytes]:
    """What stands between the texts of a record and the one before it."""
    numbers = orjson.dumps(list(range(first, last + 1)))[1:-1]
    return (b'"}\n{"n":' + numbers.replace(b",", b',"text":"\0"}\n{"n":') + b',"text":"').split(b"\0")
