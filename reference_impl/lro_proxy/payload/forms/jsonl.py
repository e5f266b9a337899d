"""JSON Lines: a batch of lines is parsed at a time, and the lines are written unchanged."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import msgspec
import orjson

from lro_proxy.payload.batches import Batched, BatchedLines, has_all_members, parse
from lro_proxy.payload.elements import Elements, array_of
from lro_spec.jsonl import lossless

_FIRST_BLOCK_BYTES, _BLOCK_BYTES = 1 << 14, 1 << 16
_RAW_DECODER = msgspec.json.Decoder(list[msgspec.Raw])


@dataclass(frozen=True, slots=True)
class JsonLines:
    """The lines, and the objects in them."""

    lines: BatchedLines
    records: Batched[Any]
    ending: str
    """The line feed after the last line; empty if there is none."""
    is_well_formed: bool
    """True if orjson can parse every line. A line that it cannot parse usually has half of a surrogate pair."""


def read(text: bytes | bytearray) -> JsonLines | None:
    """The lines of a UTF-8 text that are JSON objects; None for any other text.

    There must be several lines. The first one must end with a brace, and no object may have a key twice. Numbers may
    lose digits in `JsonLines.records`, but not in `JsonLines.lines`.
    """
    ending = "\n" if text.endswith(b"\n") else ""
    stop = len(text) - len(ending)
    first = text.find(b"\n", 0, stop)
    if first < 1 or text[first - 1 : first] != b"}":
        return None
    count, is_well_formed = 0, True
    # A block with only known fields and types is decoded fast (`Elements`). Any other block is parsed into
    # dictionaries, from which `elements` learns new fields and types.
    elements = Elements()
    for block in _blocks(text, stop):
        known = elements.take_lines(block)
        if known is not None:
            count += known.size
            continue
        lines = block.split(b"\n")
        objects = _objects(lines, block)
        if objects is not None:
            elements.learn(objects)
        elif _are_unusual_objects(lines, block):
            is_well_formed = False
        else:
            return None
        count += len(lines)
    records = Batched(
        count,
        lambda: (list(map(parse, block.split(b"\n"))) for block in _blocks(text, stop)),
        (lambda: map(array_of, _blocks(text, stop))) if is_well_formed else None,
    )
    records.findings = elements.findings() if is_well_formed else None
    return JsonLines(BatchedLines(count, lambda: _blocks(text, stop)), records, ending, is_well_formed)


def _objects(lines: list[bytes], block: bytes) -> list[dict[str, Any]] | None:
    """The objects in the lines.

    None if a line is not an object, if a member would be lost, or if orjson cannot parse a line.
    """
    if not all(line.startswith(b"{") for line in lines):
        return None
    array = array_of(block)
    try:
        values: list[Any] = orjson.loads(array)
        if [bytes(raw) for raw in _RAW_DECODER.decode(array)] != lines:
            values = list(map(orjson.loads, lines))
        if not has_all_members(values, array):
            for line in lines:
                lossless.parse(line)
    except ValueError:
        return None
    return values


def _are_unusual_objects(lines: list[bytes], block: bytes) -> bool:
    """True if all lines are objects that `lossless.parse` can read.

    Among them may be lines that orjson cannot parse, usually because of half of a surrogate pair as an escape
    (``\\ud83d``).
    """
    try:
        block.decode()
        return all(line.startswith(b"{") and isinstance(lossless.parse(line), dict) for line in lines)
    except ValueError:
        return False


def _blocks(text: bytes | bytearray, stop: int) -> Iterator[bytes]:
    start, size = 0, _FIRST_BLOCK_BYTES
    while start <= stop:
        end = text.find(b"\n", min(start + size, stop), stop)
        end = stop if end < 0 else end
        yield bytes(memoryview(text)[start:end])
        start, size = end + 1, _BLOCK_BYTES
