"""A result with one large payload, taken from the raw line: the payload is never parsed as a whole.

What is large is cut out of the line (a text or very many, an array in the structured content, or both), and only the
skeleton that is left is parsed at once. Whatever is not this simple takes the general way.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from itertools import chain
from typing import Any, cast

import orjson

from lro_proxy.fastpath import blocks as raw_blocks
from lro_proxy.fastpath import text as raw_text
from lro_proxy.fastpath.blocks import Blocks
from lro_proxy.fastpath.text import RawLines
from lro_proxy.payload import array as arrays
from lro_proxy.payload.array import Array
from lro_proxy.payload.classify import LARGE, Shape, is_text, list_of, of_large, of_tree, repeated
from lro_proxy.payload.tables import could_be_table
from lro_reference import delegation
from lro_spec.jsonl import lossless
from lro_spec.tokens import characters_in_utf8, wide_in_utf8

WORTH_IT = LARGE
"""Lines of fewer bytes are parsed as quickly."""
_STRUCTURED = b'"structuredContent"'
_LARGEST_SKELETON = 1 << 16


@dataclass(frozen=True, slots=True)
class RawResult:
    """A message whose large payload was cut out."""

    message: dict[str, Any]
    """As parsed, with marks instead of the payload."""
    shape: Shape
    characters: int
    """How many a reader would have got."""
    wide: int
    """How many of them belong to scripts of many tokens."""


def read(line: bytearray) -> RawResult | None:
    """The message of a line whose result is one large payload; None where it is anything else."""
    try:
        return _read(line)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):  # something else stood there
        return None


def _read(line: bytearray) -> RawResult | None:
    cuts = _cut(line)
    message = cuts.message(line)
    found = None if message is None else message.get("result")
    if message is None or not isinstance(found, dict):
        return None
    result = cast("dict[str, Any]", found)
    if delegation.has_result_meta(result):
        return None
    structured = result.get("structuredContent")
    if cuts.array is not None:
        structured = arrays.placed(structured, cuts.mark + "array", cuts.array)
        if structured is None:
            return None
    content = result.get("content")
    if cuts.blocks is not None:
        result["content"] = []
        return _of_blocks(message, cuts.blocks, structured) if content == cuts.mark else None
    texts = [block for block in cast("list[Any]", content) if is_text(block)] if isinstance(content, list) else []
    if cuts.text is None:
        return None if texts else _of_structured(message, structured)
    if texts != [{"type": "text", "text": cuts.mark}]:
        return None
    start, end = cuts.text
    first = raw_text.beginning(line, start, end).lstrip()
    if not first:
        return None
    if first[0] in "[{" or could_be_table(first.rpartition("\n")[0]):  # in whole lines
        plain = raw_text.plain(line, start, end)
        value = None if cuts.array is None else arrays.value(plain.text)
        extra = _repeated(structured, cuts.mark, cuts.mark if value is None else value)
        return _of_records(message, plain, value, extra)
    extra = _repeated(structured, cuts.mark, cuts.mark)
    if extra is None or bytes(line[end - 6 : end]).lower() == rb"\u000a":  # how nobody ends a text
        return None
    return _of_lines(message, RawLines(line, start, end), extra)


@dataclass(frozen=True, slots=True)
class _Cuts:
    """What is large in a line."""

    mark: str
    text: tuple[int, int] | None = None
    """Where the inside of the first text is."""
    again: tuple[int, int] | None = None
    """Where it is once more."""
    blocks: Array | None = None
    """The content, where there are very many blocks."""
    array: Array | None = None
    """In the structured content."""

    def message(self, line: bytearray) -> dict[str, Any] | None:
        """The message with marks for what is cut out; None where too much is left. Raises `exact.InexactError`."""
        places = [(*inside, self.mark) for inside in (self.text, self.again) if inside is not None]
        if self.blocks is not None:
            places.append((self.blocks.start, self.blocks.stop, f'"{self.mark}"'))
        if self.array is not None:
            places.append((self.array.start, self.array.stop, f'"{self.mark}array"'))
        skeleton = bytearray()
        after = 0
        for start, stop, mark in places:
            skeleton += line[after:start] + mark.encode()
            after = stop
        if not places or len(skeleton) + len(line) - after > _LARGEST_SKELETON:
            return None
        parsed = lossless.parse(bytes(skeleton + line[after:]))
        return cast("dict[str, Any]", parsed) if isinstance(parsed, dict) else None


def _cut(line: bytearray) -> _Cuts:
    mark = secrets.token_hex(8)
    text = raw_text.find(line, WORTH_IT // 2)
    again = None if text is None else raw_text.find_again(line, *text)
    blocks = raw_blocks.find(line, WORTH_IT // 2) if text is None else None
    after = text[1] if text else blocks.stop if blocks else 0
    place = line.find(_STRUCTURED, after) if again is None else -1
    array = arrays.find(line, place, len(line)) if place >= 0 else None
    return _Cuts(mark, text, again, blocks, array)


def _of_blocks(message: dict[str, Any], array: Array, structured: Any) -> RawResult | None:
    blocks = Blocks(array)
    extra: dict[str, Any] | None = {}
    if structured is not None:
        ((key, items),) = structured.items()
        if not isinstance(items, Array) or len(items) != len(array):
            return None
        extra = list_of(key, blocks.texts(), blocks.values(), lambda: chain.from_iterable(items.exact()))
    if extra is None:
        return None
    return RawResult(message, blocks.shape(extra), blocks.characters, blocks.wide)


def _repeated(structured: Any, mark: str, value: Any) -> dict[str, Any] | None:
    return {} if structured is None else repeated(structured, mark, value)


def _of_lines(message: dict[str, Any], lines: RawLines, extra: dict[str, Any]) -> RawResult:
    characters = wide = 0
    for characters_in_it, wide_in_it in lines.read():
        characters += characters_in_it + 1  # the newline between two pieces
        wide += wide_in_it
    shape = Shape(lines, (), {"format": "text", **extra, "ending": "\n" * lines.ended}, whole_pairs=True)
    return RawResult(message, shape, characters - (not lines.ended), wide)


def _of_records(
    message: dict[str, Any], text: raw_text.Plain, value: Any, extra: dict[str, Any] | None
) -> RawResult | None:
    """For a text that may be JSON or a table."""
    if extra is None:
        return None
    shape = of_large(text.text, extra) if value is None else of_tree(value, extra)
    return None if shape is None else RawResult(message, shape, text.characters, text.wide)


def _of_structured(message: dict[str, Any], structured: Any) -> RawResult | None:
    shape = of_tree(structured, {"from": "structuredContent"})
    if shape is None:
        return None
    found: list[Array] = []
    around = orjson.dumps(orjson.loads(orjson.dumps(structured, default=found.append)))  # as a reader gets numbers
    characters, wide = characters_in_utf8(around) - len(b"null"), wide_in_utf8(around)
    for elements in found[0].loose():
        written = orjson.dumps(elements)
        characters += characters_in_utf8(written) - 1  # one comma for two brackets, but for the last of them
        wide += wide_in_utf8(written)
    return RawResult(message, shape, characters + 1, wide)
