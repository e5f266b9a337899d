"""The payload of any tool call as records: an array, JSON Lines, a table, blocks, the members of an object, or text.

MCP servers send a payload as text, as `structuredContent`, or as both. It is one payload: what is sent twice is kept
once, and the rest goes to ``extra`` of the file's header, with all that is needed to build the result again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from operator import eq
from typing import Any, cast

import orjson

from lro_proxy.payload import array as arrays
from lro_proxy.payload import delimited, jsonl
from lro_proxy.payload.array import Array, ParsedArray, in_memory, same
from lro_proxy.payload.batches import Batched, BatchedLines, encoded, numbered
from lro_proxy.payload.blocks import Blocks, value_of
from lro_proxy.payload.jsonl import JsonLines
from lro_proxy.payload.result import ToolResult, with_strings
from lro_proxy.payload.text import Text
from lro_reference.results import Lines, Records
from lro_reference.writer import encode
from lro_spec.jsonl import lossless

SMALL = 4096
"""Characters of data that is no record and still fits the header; more becomes records of its own."""
_DEEPEST = 4
_MOSTLY = 0.8
_LONG = 1024


@dataclass(frozen=True, slots=True)
class Shape:
    """A payload as records."""

    lines: Lines
    records: Records
    """The parsed records; empty for lines of text, which have no fields."""
    extra: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """The rest of the payload and its layout."""
    is_well_formed: bool = False
    """True if no line has half of a surrogate pair; False if that is not known."""


def shape(result: ToolResult) -> Shape | None:
    """The payload of a result; None if it has none. Raises `lossless.InexactError` if it cannot be kept exactly."""
    if result.is_inexact:
        raise lossless.InexactError("a key twice, NaN, half of a surrogate pair, or nesting that is too deep")
    structured, layout = result.structured, result.layout
    if result.text is not None:
        value = _value(result.text)
        repeated = {} if structured is None else _repeats_text(structured, result.text, value)
        if repeated is not None:
            return _of_text(result.text, value, {**layout, **repeated})
    elif result.blocks is not None:
        repeated = {} if structured is None else _repeats_blocks(structured, result.blocks)
        if repeated is not None:
            return _of_blocks(result.blocks, {**layout, **repeated})
    elif structured is None:
        return None
    else:
        return _of_value(structured, {"from": "structuredContent"})
    if result.size[0] <= SMALL and _is_small(texts := result.texts()):
        return _of_value(with_strings(structured), {**layout, "from": "structuredContent", "texts": texts})
    parts: dict[str, Any] = {f"content/{n}": text for n, text in enumerate(result.texts())}
    parts |= {f"structuredContent/{key}": value for key, value in _items(result.parsed_structured())}
    return _of_records(list(members(parts)), {**layout, "format": "members", "from": "separate"})


def text_shape(text: Text, extra: Mapping[str, Any]) -> Shape:
    """A text by its lines."""
    lines = text.lines()
    extra = {"format": "text", **extra, "ending": "\n" if lines.ended else ""}
    return Shape(lines, (), extra, is_well_formed=text.is_well_formed)


def _repeats_text(structured: Any, text: Text, value: Any) -> dict[str, Any] | None:
    """The header's description of structured content that repeats a text, or its JSON value; None if it does not."""
    entries = _items(structured)
    repetitions = [(key, True) for key, member in entries if member is text]
    if not repetitions:
        value = value_of(str(text)) if value is None else value
        if same(structured, value):
            return {"from": "both"}
        as_text = {key: isinstance(member, str) and _is_string_of(text, member) for key, member in entries}
        repetitions = [(key, as_text[key]) for key, member in entries if as_text[key] or same(member, value)]
    for key, is_string in repetitions:
        rest = {k: v for k, v in entries if k != key}
        if _is_small(rest):
            return _repetition(key, rest, as_text=is_string)
    return None


def _repeats_blocks(structured: Any, blocks: Blocks) -> dict[str, Any] | None:
    """The header's description of structured content that is only a list which repeats the texts, one by one.

    Its items are either the texts, or their JSON values if they have some.
    """
    entries = _items(structured)
    if len(entries) != 1:
        return None
    ((key, value),) = entries
    items = ParsedArray(cast("list[Any]", value)) if isinstance(value, list) else value
    if not isinstance(items, (Array, ParsedArray)) or len(items) != len(blocks):
        return None
    if all(map(eq, blocks.texts, chain.from_iterable(items.lossless_batches()))):
        return _repetition(key, {}, as_text=True)
    are_same = all(map(same, blocks.values(), chain.from_iterable(items.lossless_batches())))
    return _repetition(key, {}, as_text=False) if are_same else None


def _repetition(key: str, rest: dict[str, Any], *, as_text: bool) -> dict[str, Any]:
    return {"from": "both", "repeated": key, "as": "text" if as_text else "json", "structured": rest}


def _is_string_of(text: Text, member: str) -> bool:
    return len(member) == text.characters and member == str(text)


def _value(text: Text) -> Any:
    """The array or object in a text, or its `JsonLines`; None if it is neither."""
    first = b"" if text.utf8 is None else _first_character(text.utf8)
    if text.utf8 is None or first not in (b"[", b"{"):
        return None
    if first == b"{" and (objects := jsonl.read(text.utf8)) is not None:
        return objects
    try:
        return arrays.parse(text.utf8)
    except lossless.InexactError:
        return None


def _first_character(utf8: bytes | bytearray) -> bytes:
    return bytes(utf8[:SMALL].lstrip()[:1] or utf8.lstrip()[:1])


def _of_text(text: Text, value: Any, extra: Mapping[str, Any]) -> Shape:
    if isinstance(value, JsonLines):
        return Shape(value.lines, value.records, {"format": "jsonl", **extra, "ending": value.ending})
    if value is not None:
        return _of_value(value, extra)
    if text.utf8 is not None and _first_character(text.utf8) not in (b"[", b"{"):
        table = delimited.read(text.utf8)
        if table is not None:
            return Shape(table.lines, table.records, {"format": "table", **extra, **table.layout})
    return text_shape(text, extra)


def _of_blocks(blocks: Blocks, extra: Mapping[str, Any]) -> Shape:
    records = blocks.records()
    lines = BatchedLines(len(records), lambda: encoded(records.batches()))
    return Shape(lines, records, {"format": "blocks" if blocks.are_objects else "texts", **extra})


def _of_value(value: Any, extra: Mapping[str, Any]) -> Shape:
    array, at, around = _large_array(value)
    if array is not None:
        return _of_array(array, {"format": "json", **extra, "at": at} | ({} if around is None else {"around": around}))
    if isinstance(value, dict):
        return _of_records(list(members(in_memory(value))), {"format": "members", **extra})
    return _of_records([{"value": value}], {"format": "value", **extra})


def _of_array(array: Array | ParsedArray, extra: Mapping[str, Any]) -> Shape:
    count = len(array)
    if array.are_objects:
        return Shape(BatchedLines(count, array.lines), Batched(count, array.batches), extra)
    lines = BatchedLines(count, lambda: encoded(numbered(array.lossless_batches(), "value")))
    return Shape(lines, Batched(count, lambda: numbered(array.batches(), "value")), {**extra, "wrapped": True})


def _of_records(records: list[Any], extra: Mapping[str, Any]) -> Shape:
    return _of_array(ParsedArray(records), extra)


def _large_array(value: Any) -> tuple[Array | ParsedArray | None, str, Any]:
    """The array that is nearly all of a value, its place (a JSON pointer), and the value with null in that place."""
    if isinstance(value, (list, Array)):
        return _as_array(cast("list[Any] | Array", value)), "", None
    if not isinstance(value, dict):
        return None, "", None
    node = cast("dict[str, Any]", value)
    pointer = ""
    around: dict[str, Any] = {}
    place = around
    for _ in range(_DEEPEST):
        sizes = {key: _size(member) for key, member in node.items()}
        key = max(sizes, key=sizes.__getitem__, default=None)
        total = sum(sizes.values())
        if key is None or sizes[key] < _MOSTLY * total or total - sizes[key] > SMALL:
            break
        member = node[key]
        if not isinstance(member, Array) and not member:
            break
        pointer += "/" + key.replace("~", "~0").replace("/", "~1")
        place.update({k: None if k == key else v for k, v in node.items()})
        if isinstance(member, (list, Array)):
            return _as_array(cast("list[Any] | Array", member)), pointer, around
        if not isinstance(member, dict):
            break
        node, inner = cast("dict[str, Any]", member), dict[str, Any]()
        place[key] = inner
        place = inner
    return None, "", None


def _as_array(value: list[Any] | Array) -> Array | ParsedArray:
    return ParsedArray(value) if isinstance(value, list) else value


def _size(value: object) -> int:
    """The size of a value as JSON, in bytes; numbers and other short values count alike."""
    if isinstance(value, (dict, Array)):
        large: list[Array] = []
        try:
            size = len(orjson.dumps(value, default=large.append))
        except TypeError:  # half of a surrogate pair, or deep nesting
            return len(encode(in_memory(value)))
        return size + sum(array.stop - array.start for array in large)
    return len(encode(value)) if isinstance(value, (list, str)) else 8


def _is_small(value: object) -> bool:
    return _size(value) <= SMALL


def _items(value: Any) -> list[tuple[str, Any]]:
    return list(cast("dict[str, Any]", value).items()) if isinstance(value, dict) else []


def members(value: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """``{"member", "value"}`` for each member; arrays by their items and long texts by their lines, numbered from 1."""
    for key, member in value.items():
        if isinstance(member, list) and len(cast("list[Any]", member)) > 1:
            for n, item in enumerate(cast("list[Any]", member), 1):
                yield {"member": key, "n": n, "value": item}
        elif isinstance(member, str) and len(member) > _LONG:
            for n, line in enumerate(member.split("\n"), 1):
                yield {"member": key, "n": n, "text": line}
        else:
            yield {"member": key, "value": member}
