"""JSON Lines: a batch of lines is parsed at a time, and the lines are written unchanged."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import orjson

from lro_proxy.payload.batches import Batched, BatchedLines
from lro_reference.writer import encode
from lro_spec.jsonl import lossless

_BATCH = 1 << 16


@dataclass(frozen=True, slots=True)
class JsonLines:
    """The lines, and the objects in them."""

    lines: BatchedLines
    records: Batched[Any]
    ending: str
    """The text after the last line."""


def read(text: bytes | bytearray) -> JsonLines | None:
    """The lines of a UTF-8 text; None unless each is an object that can be written again without loss."""
    ending = "\n" if text.endswith(b"\n") else ""
    stop = len(text) - len(ending)
    first = text.find(b"\n", 0, stop)
    if first < 1 or text[first - 1 : first] != b"}":
        return None
    count = 0
    for block in _blocks(text, stop):
        lines = block.split(b"\n")
        if not _are_objects(lines, block):
            return None
        count += len(lines)
    return JsonLines(
        BatchedLines(count, lambda: _blocks(text, stop)),
        Batched(count, lambda: ([_parse(line) for line in block.split(b"\n")] for block in _blocks(text, stop))),
        ending,
    )


def _are_objects(lines: list[bytes], block: bytes) -> bool:
    if not all(line.startswith(b"{") for line in lines):
        return False
    try:
        values: list[Any] = list(map(orjson.loads, lines))
    except ValueError:
        return _are_unusual_objects(lines, block)
    try:
        if b"\n".join(map(encode, values)) != block:
            for value, line in zip(values, lines, strict=True):
                if not lossless.is_whole(value, line):
                    lossless.parse(line)
    except ValueError:
        return False
    return True


def _are_unusual_objects(lines: list[bytes], block: bytes) -> bool:
    """True for objects that only Python's parser accepts: with half of a surrogate pair as an escape."""
    try:
        block.decode()
        return all(isinstance(lossless.parse(line), dict) for line in lines)
    except ValueError:
        return False


def _parse(line: bytes) -> Any:
    try:
        return orjson.loads(line)
    except ValueError:  # half of a surrogate pair
        return lossless.parse(line)


def _blocks(text: bytes | bytearray, stop: int) -> Iterator[bytes]:
    start = 0
    while start <= stop:
        end = text.find(b"\n", min(start + _BATCH, stop), stop)
        end = stop if end < 0 else end
        yield bytes(memoryview(text)[start:end])
        start = end + 1
