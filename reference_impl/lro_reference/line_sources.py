"""Records that become lines only while somebody reads them, so that a large result is in memory once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import orjson

from lro_reference.writer import encode

_BATCH = 1 << 20


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
        number = 0
        for batch in self._batches():
            for line in batch.split("\n"):
                number += 1
                try:
                    yield b'{"n":%d,"text":%b}' % (number, orjson.dumps(line))
                except TypeError:  # half of a surrogate pair: only an escape can carry it
                    yield encode({"n": number, "text": line})

    def _batches(self) -> Iterator[str]:
        # In batches of whole lines, or a hundred thousand small strings would outweigh the text itself.
        start, end = 0, len(self._text) - self._text.endswith("\n")
        while True:
            stop = self._text.find("\n", min(start + _BATCH, end), end)
            if stop < 0:
                yield self._text[start:end]
                return
            yield self._text[start:stop]
            start = stop + 1
