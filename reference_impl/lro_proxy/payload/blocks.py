"""The text blocks of a result that has several: Python servers send a list so, a block for each item."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Literal

import msgspec
import orjson

from lro_proxy.payload.array import Array
from lro_proxy.payload.batches import Batched, are_same_lines, numbered
from lro_proxy.payload.elements import Elements
from lro_spec.jsonl import lossless
from lro_spec.tokens import wide_characters

_BATCH = 128
_SPACE = b" \t\r\n"
_LINES = bytes.maketrans(b"\0", b"\n")


class _Block(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    type: Literal["text"]
    text: str


_BLOCKS = msgspec.json.Decoder(list[_Block])


class Blocks:
    """The texts of the blocks."""

    def __init__(self, count: int, texts: Callable[[], Iterable[Sequence[str]]]) -> None:
        self.texts = Batched(count, texts)
        self.characters, self.wide = count - 1, 0  # with a line feed between two blocks
        self.are_objects = True
        """True if every text is a JSON object."""
        self._exact = True
        self._elements = Elements()
        for batch in self.texts.batches():
            whole = "".join(batch)
            self.characters += len(whole)
            self.wide += 0 if whole.isascii() else wide_characters(whole)
            self.are_objects = self.are_objects and (self._are_plain(batch) or all(map(self._is_object, batch)))

    @classmethod
    def of(cls, texts: Sequence[str]) -> Blocks:
        """Blocks in memory."""
        return cls(len(texts), lambda: (texts[n : n + _BATCH] for n in range(0, len(texts), _BATCH)))

    @classmethod
    def read(cls, array: Array) -> Blocks:
        """The blocks in an array. Raises `ValueError` unless each is a text and nothing else."""
        if not array.are_objects:
            raise ValueError("not an array of blocks")
        return cls(len(array), lambda: ([block.text for block in _BLOCKS.decode(part)] for part in array.texts()))

    def __len__(self) -> int:
        return len(self.texts)

    def values(self) -> Iterator[list[Any]]:
        """The values of texts that are JSON, and the other texts themselves, batch by batch."""
        return self._objects() if self.are_objects else (list(map(value_of, texts)) for texts in self.texts.batches())

    def are_lines(self, lines: Iterable[bytes]) -> bool:
        """True if the texts are the objects in blocks of lines, with members in the same order; False if in doubt."""
        return self._exact and are_same_lines((self._elements.lines(array) for array in self._json()), lines)

    def records(self) -> Batched[Any]:
        """The objects that the texts are, or else the texts by their numbers."""
        if self.are_objects:
            records = Batched(len(self), self._objects, self._json if self._exact else None)
            records.findings = self._elements.findings() if self._exact else None
            return records
        return Batched(len(self), lambda: numbered(self.texts.batches(), "text"))

    def _is_object(self, text: str) -> bool:
        if text.lstrip()[:1] != "{":
            return False
        data = text.encode("utf-8", "surrogatepass")
        try:
            value: Any = orjson.loads(data)
            if lossless.is_whole(value, data):
                self._elements.learn([value] if isinstance(value, dict) else [])
                return isinstance(value, dict)
        except ValueError:
            pass
        self._exact = False
        return isinstance(value_of(text), dict)

    def _are_plain(self, texts: Sequence[str]) -> bool:
        """True if texts are objects with nothing new, of which orjson loses nothing."""
        return self._elements.take(_array(texts), _as_lines(texts)) is not None

    def _json(self) -> Iterator[bytes]:
        return map(_array, self.texts.batches())

    def _objects(self) -> Iterator[list[Any]]:
        if self._exact:
            return map(orjson.loads, self._json())
        return (list(map(lossless.parse, texts)) for texts in self.texts.batches())


def _array(texts: Sequence[str]) -> bytes:
    """The values of texts as one array."""
    return f"[{','.join(texts)}]".encode("utf-8", "surrogatepass")


def _as_lines(texts: Sequence[str]) -> bytes:
    """Texts without spaces, each in a line."""
    return "\0".join(texts).encode("utf-8", "surrogatepass").translate(_LINES, _SPACE)


def value_of(text: str) -> Any:
    """The value of a text that is JSON; the text itself if it is not."""
    try:
        return lossless.parse(text)
    except lossless.InexactError:
        return text
