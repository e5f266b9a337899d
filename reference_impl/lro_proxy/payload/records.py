"""The payload of any tool call as records.

MCP servers send a payload as text, as `structuredContent`, or as both. If both have the same data, it is kept once. All
other data goes to ``extra`` of the file's header, together with all that is needed to build the result again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import chain, islice
from operator import eq
from typing import Any, cast

from lro_proxy.payload import array as arrays
from lro_proxy.payload import forms
from lro_proxy.payload.array import Array, ParsedArray, are_same
from lro_proxy.payload.batches import BatchedLines
from lro_proxy.payload.blocks import Blocks, value_of
from lro_proxy.payload.forms import jsonl, python
from lro_proxy.payload.forms.form import MAX_BYTES_AT_ONCE, SMALL_SIZE, PayloadRecords
from lro_proxy.payload.forms.jsonl import JsonLines
from lro_proxy.payload.forms.values import main_part, members, of_records, of_value, size_of
from lro_proxy.payload.result import ToolResult, with_strings
from lro_proxy.payload.text import Text
from lro_spec.jsonl import lossless


def payload_records(result: ToolResult) -> PayloadRecords | None:
    """The payload of a result as records; None if the result has no payload.

    Raises `lossless.InexactError` if the payload cannot be kept exactly.
    """
    if result.is_inexact:
        raise lossless.InexactError("a key twice, NaN, half of a surrogate pair, or nesting that is too deep")
    structured, layout = result.structured, result.layout
    if result.text is not None:
        value = _value(result.text)
        repeated = {} if structured is None else _repeats_text(structured, result.text, value)
        if repeated is not None:
            return _of_text(result.text, value, {**layout, **repeated})
    elif result.blocks is not None:
        lines, repeated = (None, {}) if structured is None else _repeats_blocks(structured, result.blocks)
        if repeated is not None:
            return _of_blocks(result.blocks, {**layout, **repeated}, lines)
    elif structured is None:
        return None
    else:
        return _of_value(structured, {"from": "structuredContent"})
    if result.size[0] <= SMALL_SIZE and _is_small(texts := result.texts()):
        return _of_value(with_strings(structured), {**layout, "from": "structuredContent", "texts": texts})
    parts: dict[str, Any] = {f"content/{n}": text for n, text in enumerate(result.texts())}
    parts |= {f"structuredContent/{key}": value for key, value in _items(result.parsed_structured())}
    return of_records(list(members(parts)), {**layout, "format": "members", "from": "separate"})


def text_records(text: Text, extra: Mapping[str, Any]) -> PayloadRecords:
    """A text as a record for each of its lines."""
    lines = text.lines()
    extra = {"format": "text", **extra, "ending": "\n" if lines.ends_in_line_feed else ""}
    return PayloadRecords(lines, (), extra, is_well_formed=text.is_well_formed, wide_count=text.wide_count)


def _repeats_text(structured: Any, text: Text, value: Any) -> dict[str, Any] | None:
    """A description, for the file's header, of how structured content repeats a text or the JSON *value* of the text.

    None if the structured content does not repeat the text, or has much other data.
    """
    entries = _items(structured)
    repetitions = [(key, True) for key, member in entries if member is text]
    if not repetitions:
        value = value_of(str(text)) if value is None else value
        if are_same(structured, value):
            return {"from": "both"}
        as_text = {key: isinstance(member, str) and _is_string_of(text, member) for key, member in entries}
        repetitions = [(key, as_text[key]) for key, member in entries if as_text[key] or are_same(member, value)]
    for key, is_string in repetitions:
        rest = {k: v for k, v in entries if k != key}
        if _is_small(rest):
            return _repetition(key, rest, as_text=is_string)
    return None


def _repeats_blocks(structured: Any, blocks: Blocks) -> tuple[BatchedLines | None, dict[str, Any] | None]:
    """The lines of structured content that repeats the texts of blocks, and a description of this for the header.

    The description is None unless the content is an object whose only member is a list of the texts, or of their JSON
    values, in the same order. The lines are None unless they are certainly the lines of the texts.
    """
    entries = _items(structured)
    if len(entries) != 1:
        return None, None
    ((key, value),) = entries
    items = ParsedArray(cast("list[Any]", value)) if isinstance(value, list) else value
    if not isinstance(items, (Array, ParsedArray)) or len(items) != len(blocks):
        return None, None
    if items.are_objects and blocks.are_lines(items.lines()):
        return BatchedLines(len(items), items.lines), _repetition(key, {}, as_text=False)
    if all(map(eq, blocks.texts, chain.from_iterable(items.lossless_batches()))):
        return None, _repetition(key, {}, as_text=True)
    expected = chain.from_iterable(items.lossless_batches())
    repeats_values = all(are_same(batch, list(islice(expected, len(batch)))) for batch in blocks.values())
    return None, _repetition(key, {}, as_text=False) if repeats_values else None


def _repetition(key: str, rest: dict[str, Any], *, as_text: bool) -> dict[str, Any]:
    return {"from": "both", "repeated": key, "as": "text" if as_text else "json", "structured": rest}


def _is_string_of(text: Text, member: str) -> bool:
    return len(member) == text.characters and member == str(text)


def _value(text: Text) -> Any:
    """The array or object in a text that is JSON, or its `JsonLines`.

    None for any other text, and for JSON that cannot be kept exactly.
    """
    first = b"" if text.utf8 is None else _first_character(text.utf8)
    if text.utf8 is None or first not in (b"[", b"{"):
        return None
    if first == b"{" and (objects := jsonl.read(text.utf8)) is not None:
        return objects
    try:
        return arrays.parse(text.utf8, text.wide_count)
    except lossless.InexactError:
        return None


def _first_character(utf8: bytes | bytearray) -> bytes:
    return bytes(utf8[:SMALL_SIZE].lstrip()[:1] or utf8.lstrip()[:1])


def _of_text(text: Text, value: Any, extra: Mapping[str, Any]) -> PayloadRecords:
    if isinstance(value, JsonLines):
        extra = {"format": "jsonl", **extra, "ending": value.ending}
        return PayloadRecords(
            value.lines, value.records, extra, is_well_formed=value.is_well_formed, wide_count=text.wide_count
        )
    if value is not None:
        return _of_value(value, extra)
    return _of_form(text, extra) or text_records(text, extra)


def _of_form(text: Text, extra: Mapping[str, Any]) -> PayloadRecords | None:
    """The records of a text that has one of the forms, or is Python's notation of a value; None for any other text."""
    if text.utf8 is None:
        return None
    if len(text.utf8) <= MAX_BYTES_AT_ONCE and python.begins(
        str(memoryview(text.utf8)[:SMALL_SIZE], "utf-8", "replace")
    ):
        spelled = python.read(text.utf8)
        if spelled is not None:
            value, are_tuples = spelled
            return of_value(value, {**extra, "notation": "python", **({"tuples": True} if are_tuples else {})})
    found = forms.of_text(text.utf8)
    if found is None:
        return None
    return replace(found, extra={**found.extra, **extra}, is_well_formed=text.is_well_formed)


def _of_blocks(blocks: Blocks, extra: Mapping[str, Any], lines: BatchedLines | None) -> PayloadRecords:
    records = blocks.records()
    lines = lines or BatchedLines(len(records), blocks.lines)
    extra = {"format": "blocks" if blocks.are_objects else "texts", **extra}
    return PayloadRecords(lines, records, extra, is_well_formed=records.json is not None)


def _of_value(value: Any, extra: Mapping[str, Any]) -> PayloadRecords:
    """A value as records. If it is nearly all one long text, these are the records of the text."""
    part = main_part(value)
    if not isinstance(part.value, str):
        return of_value(value, extra)
    text, extra = Text.of(part.value), {**extra, **part.extra()}
    return _of_form(text, extra) or text_records(text, extra)


def _is_small(value: object) -> bool:
    return size_of(value) <= SMALL_SIZE


def _items(value: Any) -> list[tuple[str, Any]]:
    return list(cast("dict[str, Any]", value).items()) if isinstance(value, dict) else []
