"""The text blocks of a result that has several: Python servers send a list so, a block for each item."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, Literal

import msgspec
import orjson

from lro_proxy.payload.array import Array
from lro_proxy.payload.batches import Batched, are_same_lines, encoded, numbered
from lro_proxy.payload.elements import Elements, apart
from lro_reference.writer import encode
from lro_spec.jsonl import lossless
from lro_spec.tokens import wide_in_utf8

_BATCH = 128


class _Block(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    type: Literal["text"]
    text: str


_BLOCKS = msgspec.json.Decoder(list[_Block])


class Blocks:
    """The texts of the blocks."""

    def __init__(self, count: int, batches: Sequence[Callable[[], Sequence[str]]]) -> None:
        self._batches = batches
        self.texts = Batched(count, lambda: (batch() for batch in batches))
        self.characters, self.wide = count - 1, 0  # with a line feed between two blocks
        self.are_objects = True
        """True if every text is a JSON object."""
        self._exact = True
        self._elements = Elements(are_apart=True)
        self._known: list[bytes | None] = []
        """The lines of each batch; None if it has something new."""
        for batch in self.texts.batches():
            self.characters += sum(map(len, batch))
            joined = _joined(batch)
            self.wide += wide_in_utf8(joined)
            if self.are_objects:
                known = self._elements.take(apart(joined, b"\0"))
                is_known = known is not None and known.size == len(batch)  # none has a null character
                self._known.append(known.lines if known is not None and is_known else None)
                self.are_objects = is_known or all(map(self._is_object, batch))

    @classmethod
    def of(cls, texts: Sequence[str]) -> Blocks:
        """Blocks in memory."""
        parts = [texts[n : n + _BATCH] for n in range(0, len(texts), _BATCH)]
        return cls(len(texts), [partial(tuple, part) for part in parts])

    @classmethod
    def read(cls, array: Array) -> Blocks:
        """The blocks in an array. Raises `ValueError` unless each is a text and nothing else."""
        if not array.are_objects:
            raise ValueError("not an array of blocks")
        return cls(len(array), [partial(_texts_in, part) for part in array.parts()])

    def __len__(self) -> int:
        return len(self.texts)

    def values(self) -> Iterator[list[Any]]:
        """The values of texts that are JSON, and the other texts themselves, batch by batch."""
        return self._objects() if self.are_objects else (list(map(value_of, texts)) for texts in self.texts.batches())

    def are_lines(self, lines: Iterable[bytes]) -> bool:
        """True if the texts are the objects in blocks of lines, with members in the same order; False if in doubt."""
        return self._exact and are_same_lines(self._lines(), lines)

    def lines(self) -> Iterator[bytes]:
        """The records as lines, a block of them for each batch."""
        return self._lines() if self.are_objects and self._exact else encoded(self.records().batches())

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

    def _json(self) -> Iterator[bytes]:
        return (_array(_joined(batch)) for batch in self.texts.batches())

    def _lines(self) -> Iterator[bytes]:
        for known, batch in zip(self._known, self._batches, strict=True):
            yield b"\n".join(map(encode, orjson.loads(_array(_joined(batch()))))) if known is None else known

    def _objects(self) -> Iterator[list[Any]]:
        if self._exact:
            return map(orjson.loads, self._json())
        return (list(map(lossless.parse, texts)) for texts in self.texts.batches())


def _texts_in(part: Callable[[], bytes]) -> list[str]:
    return [block.text for block in _BLOCKS.decode(part())]


def _joined(texts: Sequence[str]) -> bytes:
    """Texts with a null character between them."""
    return "\0".join(texts).encode("utf-8", "surrogatepass")


def _array(joined: bytes) -> bytes:
    """The values of joined texts as one array."""
    return b"[%b]" % joined.replace(b"\0", b",")


def value_of(text: str) -> Any:
    """The value of a text that is JSON; the text itself if it is not."""
    try:
        return lossless.parse(text)
    except lossless.InexactError:
        return text
