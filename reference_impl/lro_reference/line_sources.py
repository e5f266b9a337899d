"""Records that become lines only while somebody reads them, so that a large result is in memory once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

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
        return numbered(self._batches())

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


def numbered(texts: Iterable[str]) -> Iterator[bytes]:
    """The lines of texts as records, numbered from 1: a block of them for each text."""
    first = 1
    for text in texts:
        records = [{"n": n, "text": line} for n, line in enumerate(text.split("\n"), first)]
        first += len(records)
        # This is between two records and never in one: in a text, the quote before the n would be escaped.
        yield encode(records)[1:-1].replace(b'"},{"n":', b'"}\n{"n":')
