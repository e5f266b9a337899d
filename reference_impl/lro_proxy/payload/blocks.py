"""The text blocks of a result that has several of them: Python servers send a list as one block per item."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, Literal

import msgspec
import orjson

from lro_proxy.payload import array as arrays
from lro_proxy.payload.array import Array
from lro_proxy.payload.batches import Batched, are_same_lines, encoded, numbered
from lro_proxy.payload.elements import Elements, KnownBatch, array_of
from lro_reference.writer import encode
from lro_spec.jsonl import lossless
from lro_spec.tokens import wide_characters_in_utf8

_BATCH_TEXTS = 128
"""Number of texts in a batch, for blocks in memory."""


class _Block(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    type: Literal["text"]
    text: msgspec.Raw


_BLOCKS = msgspec.json.Decoder(list[_Block])
_TEXTS = msgspec.json.Decoder(list[str])
_BYTES_BESIDE_TEXT = len('{"type":"text","text":},')
"""Bytes that a block in its shortest spelling has besides its text, with the comma before the next one."""


class Blocks:
    """The texts of several text blocks, and facts about them."""

    def __init__(self) -> None:
        self._batches: Sequence[Callable[[], Sequence[str]]] = ()
        self._count = self._characters = 0
        self.wide_count = 0
        self.are_texts = True
        """False if a block has anything but a text. In that case, the other attributes are not valid."""
        self.are_objects = True
        """True if every text is a JSON object."""
        self._are_exact = True
        """True if orjson reads every object without loss."""
        self._elements = Elements()
        self._known_lines: list[bytes | None] = []
        """The objects of each batch as lines; None for a batch whose lines are not known."""

    @classmethod
    def of(cls, texts: Sequence[str]) -> Blocks:
        """Blocks in memory."""
        blocks = cls()
        parts = [texts[n : n + _BATCH_TEXTS] for n in range(0, len(texts), _BATCH_TEXTS)]
        for part in parts:
            blocks._take_texts(part)
        blocks._batches = [partial(tuple, part) for part in parts]
        return blocks

    @classmethod
    def read(cls, line: bytes | bytearray, start: int) -> tuple[Array, Blocks] | None:
        """The array that begins at *start*, and the blocks in it; None if the array cannot be read in batches."""
        blocks = cls()
        array = arrays.read(line, start, len(line), blocks)
        if array is None:
            return None
        blocks.are_texts = blocks.are_texts and array.are_objects
        blocks._batches = [partial(_texts_in, part) for part in array.parts()]
        return array, blocks

    def take(self, array: bytes) -> KnownBatch | None:
        """Take in a batch of text blocks, as a JSON array, if all are in their shortest spelling.

        If there is anything else, the batch is not taken in, and None is returned.
        """
        try:
            texts = [block.text for block in _BLOCKS.decode(array)]
            if len(array) - 1 != sum(map(len, texts)) + _BYTES_BESIDE_TEXT * len(texts):
                return None
            self._take_texts(_TEXTS.decode(b"[%b]" % b",".join(texts)))
        except ValueError:
            return None
        return KnownBatch(len(texts), None)

    def learn(self, records: list[dict[str, Any]]) -> None:
        """Take in blocks in another spelling, or note that not all are text blocks."""
        self.are_texts = self.are_texts and all(map(_is_text, records))
        if self.are_texts:
            self._take_texts([block["text"] for block in records])

    def _take_texts(self, texts: Sequence[str]) -> None:
        joined = _joined(texts)
        self._count += len(texts)
        self._characters += sum(map(len, texts))
        self.wide_count += wide_characters_in_utf8(joined)
        if self.are_objects:
            known = self._elements.take_texts(joined)
            is_known = known is not None and known.size == len(texts)  # then no text has the null character itself
            self._known_lines.append(known.lines if known is not None and is_known else None)
            self.are_objects = is_known or all(map(self._is_object, texts))

    @property
    def texts(self) -> Batched[str]:
        """The texts of all blocks."""
        return Batched(self._count, lambda: (batch() for batch in self._batches))

    @property
    def characters(self) -> int:
        """Number of characters, with a line feed between two blocks."""
        return self._characters + self._count - 1

    def __len__(self) -> int:
        return self._count

    def values(self) -> Iterator[list[Any]]:
        """The value of each text that is JSON, and any other text itself, batch by batch."""
        return self._objects() if self.are_objects else (list(map(value_of, texts)) for texts in self.texts.batches())

    def are_lines(self, lines: Iterable[bytes]) -> bool:
        """True if the texts are certainly the same objects as those in *lines*, with the same order of members.

        *lines* are blocks of lines.
        """
        return self.are_objects and self._are_exact and are_same_lines(self._lines(), lines)

    def lines(self) -> Iterator[bytes]:
        """The records as lines, a block of them for each batch."""
        return self._lines() if self.are_objects and self._are_exact else encoded(self.records().batches())

    def records(self) -> Batched[Any]:
        """The objects in the texts, if each text is an object; otherwise the texts, numbered."""
        if self.are_objects:
            records = Batched(len(self), self._objects, self._json if self._are_exact else None)
            records.findings = self._elements.findings() if self._are_exact else None
            return records
        return Batched(len(self), lambda: numbered(self.texts.batches(), "text"))

    def _is_object(self, text: str) -> bool:
        """True if a text is a JSON object. Also collects its facts, or notes that orjson cannot read it losslessly."""
        if text.lstrip()[:1] != "{":
            return False
        data = text.encode("utf-8", "surrogatepass")
        try:
            value: Any = orjson.loads(data)
            if lossless.is_lossless(value, data):
                self._elements.learn([value] if isinstance(value, dict) else [])
                return isinstance(value, dict)
        except ValueError:
            pass
        self._are_exact = False
        return isinstance(value_of(text), dict)

    def _json(self) -> Iterator[bytes]:
        return (array_of(_joined(batch), b"\0") for batch in self.texts.batches())

    def _lines(self) -> Iterator[bytes]:
        for known, batch in zip(self._known_lines, self._batches, strict=True):
            yield b"\n".join(map(encode, orjson.loads(array_of(_joined(batch()), b"\0")))) if known is None else known

    def _objects(self) -> Iterator[list[Any]]:
        if self._are_exact:
            return map(orjson.loads, self._json())
        return (list(map(lossless.parse, texts)) for texts in self.texts.batches())


def _is_text(block: dict[str, Any]) -> bool:
    return set(block) == {"type", "text"} and block["type"] == "text" and isinstance(block["text"], str)


def _texts_in(part: Callable[[], bytes]) -> list[str]:
    return [block["text"] for block in orjson.loads(part())]


def _joined(texts: Sequence[str]) -> bytes:
    """Texts with a null character between them."""
    return "\0".join(texts).encode("utf-8", "surrogatepass")


def value_of(text: str) -> Any:
    """The value of a text that is JSON; the text itself if it is not."""
    try:
        return lossless.parse(text)
    except lossless.InexactError:
        return text
