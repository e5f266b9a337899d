"""The text blocks of a result that has several: Python servers send a list so, a block for each item."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

import orjson

from lro_proxy.payload.array import Array
from lro_proxy.payload.batches import Batched, numbered
from lro_spec.jsonl import lossless
from lro_spec.tokens import wide_characters


class Blocks:
    """The texts of the blocks."""

    def __init__(self, count: int, texts: Callable[[], Iterable[Sequence[str]]]) -> None:
        self.texts = Batched(count, texts)
        self.characters, self.wide = count - 1, 0  # with a line feed between two blocks
        self.are_objects = True
        """True if every text is a JSON object."""
        self._exact = True
        for text in self.texts:
            self.characters += len(text)
            self.wide += 0 if text.isascii() else wide_characters(text)
            self.are_objects = self.are_objects and self._is_object(text)

    @classmethod
    def of(cls, texts: Sequence[str]) -> Blocks:
        """Blocks in memory."""
        return cls(len(texts), lambda: [texts])

    @classmethod
    def read(cls, array: Array) -> Blocks:
        """The blocks in an array. Raises `ValueError` or `KeyError` unless each is a text and nothing else."""

        def text_of(block: dict[str, Any]) -> str:
            text = block["text"]
            if not isinstance(text, str) or block != {"type": "text", "text": text}:
                raise ValueError("not a block of text alone")
            return text

        if not array.are_objects:
            raise ValueError("not an array of blocks")
        return cls(len(array), lambda: ([text_of(block) for block in batch] for batch in array.batches()))

    def __len__(self) -> int:
        return len(self.texts)

    def values(self) -> Iterator[Any]:
        """The values of texts that are JSON, and the other texts themselves."""
        return chain.from_iterable(self._objects()) if self.are_objects else map(value_of, self.texts)

    def records(self) -> Batched[Any]:
        """The objects that the texts are, or else the texts by their numbers."""
        if self.are_objects:
            return Batched(len(self), self._objects)
        return Batched(len(self), lambda: numbered(self.texts.batches(), "text"))

    def _is_object(self, text: str) -> bool:
        if text.lstrip()[:1] != "{":
            return False
        data = text.encode("utf-8", "surrogatepass")
        try:
            value: Any = orjson.loads(data)
            if lossless.is_whole(value, data):
                return isinstance(value, dict)
        except ValueError:
            pass
        self._exact = False
        return isinstance(value_of(text), dict)

    def _objects(self) -> Iterator[list[Any]]:
        parse = orjson.loads if self._exact else lossless.parse
        return (list(map(parse, texts)) for texts in self.texts.batches())


def value_of(text: str) -> Any:
    """The value of a text that is JSON; the text itself if it is not."""
    try:
        return lossless.parse(text)
    except lossless.InexactError:
        return text
