"""Records that become lines only while somebody reads them, so that a large result is in memory once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

import orjson

from lro_reference.writer import encode

_FIRST_BATCH, _BATCH = 1 << 14, 1 << 16


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
        return numbered((encode(text)[1:-1], text.count("\n") + 1) for text in self._batches())

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


def numbered(texts: Iterable[tuple[bytes, int]]) -> Iterator[bytes]:
    """The lines of texts as records, numbered from 1: a block of them for each text.

    A text is the inside of a JSON string, where every line feed is written ``\\n``, and how many lines it has. It is
    cut as it is: to parse it and write it again takes three times as long.
    """
    first = 1
    for inside, count in texts:
        lines = inside.split(b"\\n")
        if len(lines) != count:  # a backslash stood before a letter n
            lines = [line.replace(b"\0", rb"\\") for line in inside.replace(rb"\\", b"\0").split(b"\\n")]
        parts = [b""] * (2 * count)
        numbers = orjson.dumps(list(range(first, first + count)))[1:-1]
        parts[::2] = (numbers.replace(b",", b',"text":"\0"}\n{"n":') + b',"text":"').split(b"\0")
        parts[1::2] = lines
        first += count
        yield b'{"n":' + b"".join(parts) + b'"}'
