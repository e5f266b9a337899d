"""A result of very many text blocks in a raw line: so Python servers send a list, a block for each item."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain
from typing import Any

import orjson

from lro_proxy.payload import array as arrays
from lro_proxy.payload.array import Array
from lro_proxy.payload.classify import Shape, value_of
from lro_proxy.payload.lines import Batched, BatchedLines, encoded
from lro_spec.jsonl import lossless
from lro_spec.tokens import wide_characters

_CONTENT = re.compile(rb'"content"\s*:\s*(?=\[)')


def find(line: bytearray, least: int) -> Array | None:
    """The blocks of a line's message, if they have so many bytes."""
    key = _CONTENT.search(line)
    found = None if key is None else arrays.read(line, key.end(), len(line))
    return found if found is not None and len(found) > 1 and found.stop - found.start >= least else None


class Blocks:
    """Blocks that are nothing but text. Raises `ValueError` where they are not."""

    def __init__(self, array: Array) -> None:
        self._array = array
        self.characters, self.wide = len(array) - 1, 0  # with a newline between two blocks
        self._objects = self._exact = True
        for block in chain.from_iterable(array.loose()):
            text = block["text"]
            if block != {"type": "text", "text": text} or not isinstance(text, str):
                raise ValueError("not a block of text alone")
            self.characters += len(text)
            self.wide += 0 if text.isascii() else wide_characters(text)
            self._look_at(text)

    def texts(self) -> Iterator[str]:
        """The texts, parsed once more."""
        return chain.from_iterable(self._texts())

    def values(self) -> Iterator[Any]:
        """Those of their JSON; a text that is no JSON is its own."""
        return chain.from_iterable(self._values(self._parse)) if self._objects else map(value_of, self.texts())

    def _look_at(self, text: str) -> None:
        """Whether a text is an object, as long as all of them are objects."""
        if not self._objects:
            return
        data = text.encode()
        value: Any = orjson.loads(data) if text.lstrip()[:1] == "{" else None
        self._objects = isinstance(value, dict)
        if self._objects and not lossless.is_whole(value, data):
            lossless.parse(data)
            self._exact = False

    def shape(self, extra: dict[str, Any]) -> Shape:
        """The records: the objects that the texts are, or else the texts."""
        count = len(self._array)
        if self._objects:
            lines = BatchedLines(count, lambda: encoded(self._values(self._parse)))
            return Shape(lines, Batched(count, lambda: self._values(orjson.loads)), {"format": "blocks", **extra})
        return Shape(
            BatchedLines(count, lambda: encoded(self._numbered())),
            Batched(count, self._numbered),
            {"format": "texts", **extra},
        )

    def _parse(self, text: str) -> Any:
        return orjson.loads(text) if self._exact else lossless.parse(text)

    def _values(self, parse: Any) -> Iterator[list[Any]]:
        return ([parse(text) for text in texts] for texts in self._texts())

    def _numbered(self) -> Iterator[list[dict[str, Any]]]:
        first = 1
        for texts in self._texts():
            yield [{"n": n, "text": text} for n, text in enumerate(texts, first)]
            first += len(texts)

    def _texts(self) -> Iterator[list[str]]:
        return ([block["text"] for block in batch] for batch in self._array.loose())
