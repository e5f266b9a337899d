"""The text blocks of a result that has several: Python servers send a list so, a block for each item."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import msgspec
import orjson

from lro_proxy.payload.array import Array
from lro_proxy.payload.batches import Batched, numbered
from lro_spec.jsonl import lossless
from lro_spec.tokens import wide_characters

_BATCH = 128
_ELEMENTS = msgspec.json.Decoder(list[msgspec.Raw])


class Blocks:
    """The texts of the blocks."""

    def __init__(self, count: int, texts: Callable[[], Iterable[Sequence[str]]]) -> None:
        self.texts = Batched(count, texts)
        self.characters, self.wide = count - 1, 0  # with a line feed between two blocks
        self.are_objects = True
        """True if every text is a JSON object."""
        self._exact = True
        for batch in self.texts.batches():
            whole = "".join(batch)
            self.characters += len(whole)
            self.wide += 0 if whole.isascii() else wide_characters(whole)
            self.are_objects = self.are_objects and (_are_plain_objects(batch) or all(map(self._is_object, batch)))

    @classmethod
    def of(cls, texts: Sequence[str]) -> Blocks:
        """Blocks in memory."""
        return cls(len(texts), lambda: (texts[n : n + _BATCH] for n in range(0, len(texts), _BATCH)))

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

    def values(self) -> Iterator[list[Any]]:
        """The values of texts that are JSON, and the other texts themselves, batch by batch."""
        return self._objects() if self.are_objects else (list(map(value_of, texts)) for texts in self.texts.batches())

    def records(self) -> Batched[Any]:
        """The objects that the texts are, or else the texts by their numbers."""
        if self.are_objects:
            return Batched(len(self), self._objects, self._json if self._exact else None)
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

    def _json(self) -> Iterator[bytes]:
        return map(_array, self.texts.batches())

    def _objects(self) -> Iterator[list[Any]]:
        if self._exact:
            return map(orjson.loads, self._json())
        return (list(map(lossless.parse, texts)) for texts in self.texts.batches())


def _array(texts: Sequence[str]) -> bytes:
    """The values of texts as one array."""
    return f"[{','.join(texts)}]".encode("utf-8", "surrogatepass")


def _are_plain_objects(texts: Sequence[str]) -> bool:
    """True if texts are objects of which orjson loses nothing."""
    array = _array(texts)
    try:
        values = orjson.loads(array)
        elements = [bytes(raw) for raw in _ELEMENTS.decode(array)]
        are_objects = set(map(type, values)) <= {dict} and elements == [text.strip().encode() for text in texts]
        return are_objects and lossless.is_whole(values, array)
    except ValueError:
        return False


def value_of(text: str) -> Any:
    """The value of a text that is JSON; the text itself if it is not."""
    try:
        return lossless.parse(text)
    except lossless.InexactError:
        return text
