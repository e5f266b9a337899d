"""The result of a tool call, and its payload: the texts and the structured content.

The large parts of a message (a text and its repetition, very many texts, an array in the structured content) are cut
out of the line and read piece by piece. Only the rest is parsed as a whole. A message without a large part is parsed as
a whole, too.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, cast

import orjson

from lro_proxy.payload import array as arrays
from lro_proxy.payload import pointers, python_values
from lro_proxy.payload.array import MIN_BATCHED_BYTES, Array, in_memory, replace_marks
from lro_proxy.payload.blocks import Blocks
from lro_proxy.payload.text import Text, end_of_string
from lro_proxy.wire.jsonrpc import parse
from lro_reference.writer import encode
from lro_spec.jsonl import lossless
from lro_spec.tokens import characters_in_utf8

Line = bytes | bytearray
_TEXT_KEY = re.compile(rb'"text"\s*:\s*"')
_CONTENT_KEY = re.compile(rb'"content"\s*:\s*(?=\[)')
_STRUCTURED_KEY = b'"structuredContent"'
_MAX_SKELETON_BYTES = 1 << 16
"""Maximum number of bytes of a line without its large parts; if there are more, the line is parsed as a whole."""
_MAX_SMALL_TEXT = 4096
"""Number of characters up to which a text is small. An embedded resource with a small text does not belong to the
payload. If another resource has a larger text, text blocks that are small altogether do not belong to it either."""
_MAX_REPETITION_DEPTH = 3
"""Number of levels of structured content that are searched for repetitions of blocks."""
_MAX_DESCRIPTOR_CHARACTERS = 1 << 16
"""A result whose payload or structured content has more characters is not searched for a descriptor or a pointer."""
_COMPARED_BYTES = 1 << 15
_PROBE_BYTES = 256
"""The repetition of a text is searched for by so many bytes at the beginning of the text."""


@dataclass(frozen=True)
class ToolResult:
    """The result of a tool call."""

    members: Mapping[str, Any]
    """The parsed result, with a mark or an empty value in place of a text or an array that was cut out of its line."""
    text: Text | None = None
    """The text of the payload's block, if it has only one (`payload_places`)."""
    blocks: Blocks | None = None
    """The texts of the payload's blocks, if it has several."""
    structured: Any = None
    """The structured content as `lossless.parse` reads it, with three differences: a large array is an `Array`, a
    member that repeats the text is `text` itself, and a block that stays in the answer is replaced by a reference. None
    if there is no structured content, or if it consists of such references only."""
    layout: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Members of the payload's blocks besides their text, such as annotations and ``_meta``. The member ``blocks`` has
    them by the index of the block. Empty if the blocks have only texts."""
    is_inexact: bool = False
    """True if `structured` or `layout` may have lost something, such as a duplicate key."""

    @cached_property
    def size(self) -> tuple[int, int]:
        """Number of characters of the payload as a reader receives it, and number of wide characters among them.

        The payload is the texts or, if there are none, the structured content.
        """
        source = self.text or self.blocks
        return self.structured_size if source is None else (source.characters, source.wide_count)

    @cached_property
    def structured_size(self) -> tuple[int, int]:
        """Number of characters of the structured content as JSON, and number of wide characters among them."""
        if self.structured is None:
            return 0, 0
        large: list[Array] = []

        def json_of(part: object) -> Any:
            return large.append(part) if isinstance(part, Array) else str(part)  # a `Text`

        try:
            around = orjson.dumps(self.structured, default=json_of)
        except TypeError:  # half of a surrogate pair, or deep nesting
            large, around = [], encode(self.parsed_structured())
        characters, wide_count = characters_in_utf8(around)
        for array in large:
            characters += array.count_characters() - len(b"null")
            wide_count += array.wide_count or 0
        return characters, wide_count

    def texts(self) -> list[str]:
        """All texts, in memory."""
        return [str(self.text)] if self.text is not None else [] if self.blocks is None else list(self.blocks.texts)

    def payload(self) -> str:
        """The payload as a reader receives it."""
        if self.text is None and self.blocks is None:
            return "" if self.structured is None else encode(self.parsed_structured()).decode()
        return "\n".join(self.texts())

    def parsed_structured(self) -> Any:
        """The structured content in memory."""
        return in_memory(with_strings(self.structured))

    def parsed(self) -> dict[str, Any]:
        """The whole result in memory."""
        members = dict(self.members)
        if "content" in members:
            texts, places = iter(self.texts()), payload_places(members)
            blocks = [
                _with_text(block, next(texts)) if place in places else block
                for place, block in enumerate(content_of(members))
            ]
            members["content"] = blocks + [
                {"type": "text", "text": text} for text in texts
            ]  # of content that was cut out
        if self.structured is not None and not members.get("structuredContent"):  # it was cut out
            members["structuredContent"] = self.parsed_structured()
        return members

    def may_have_descriptor(self) -> bool:
        """False if the result is too large for a descriptor or a pointer, or has none of the words that mark them."""
        if self.size[0] > _MAX_DESCRIPTOR_CHARACTERS or self.structured_size[0] > _MAX_DESCRIPTOR_CHARACTERS:
            return False
        json = encode(self.parsed())
        return any(mark in json for mark in (b"offloaded", b"file_path", *pointers.MARKS))


@dataclass(frozen=True, slots=True)
class Answer:
    """The message that answers a tool call."""

    message: dict[str, Any]
    result: ToolResult


def result_of_program(result: Mapping[str, Any]) -> ToolResult:
    """The result that a Python program returns.

    Raises `NoJsonError` if JSON cannot hold its structured content, and `TypeError` if that cannot be serialised.
    """
    structured = result.get("structuredContent")
    if structured is not None:
        result = {**result, "structuredContent": python_values.plain(structured)}
    return _of_parsed(result)


def read_answer(line: Line) -> Answer:
    """The answer in a line of JSON. The message must have a result."""
    answer = cut_answer(line)
    if answer is not None:
        return answer
    try:
        message: Any = lossless.parse(bytes(line))
        is_inexact = False
    except lossless.InexactError:  # a duplicate key, NaN, half of a surrogate pair, deep nesting
        message = parse(line)
        is_inexact = True
    return Answer(message, _of_parsed(message["result"], is_inexact=is_inexact))


def cut_answer(line: Line) -> Answer | None:
    """The answer in a line, with its large payload cut out; None if there is no answer, or no large payload."""
    # Nearly every text that is JSON ends near the end of the line; only if it does not, its end is searched for.
    for assumes_last in (True, False):
        with suppress(ValueError, TypeError, KeyError, AttributeError, RecursionError):  # it only looked like a result
            return _cut(line, assumes_last=assumes_last)
    return None


def content_of(result: Mapping[str, Any]) -> list[Any]:
    """The content blocks of a result."""
    content = result.get("content")
    return cast("list[Any]", content) if isinstance(content, list) else []


def payload_places(result: Mapping[str, Any]) -> frozenset[int]:
    """The indexes of the content blocks whose texts are the payload.

    They are the text blocks, and embedded resources with a large text. If there is such a resource, and the text blocks
    are short, the text blocks do not belong to the payload, and stay in the answer.
    """
    content = content_of(result)
    texts = {place: block["text"] for place, block in enumerate(content) if _is_text(block)}
    resources = {
        place
        for place, block in enumerate(content)
        if (text := _resource_text(block)) is not None and len(text) > _MAX_SMALL_TEXT
    }
    if resources and sum(map(len, texts.values())) <= _MAX_SMALL_TEXT:
        return frozenset(resources)
    return frozenset(resources | texts.keys())


def _is_text(block: object) -> bool:
    if not isinstance(block, dict):
        return False
    members = cast("dict[str, Any]", block)
    return members.get("type") == "text" and isinstance(members.get("text"), str)


def _resource_text(block: object) -> str | None:
    """The text of an embedded resource."""
    members = cast("dict[str, Any]", block) if isinstance(block, dict) else {}
    resource = members.get("resource")
    if members.get("type") != "resource" or not isinstance(resource, dict):
        return None
    text: object = cast("dict[str, Any]", resource).get("text")
    return text if isinstance(text, str) else None


def _with_text(block: dict[str, Any], text: str) -> dict[str, Any]:
    if _is_text(block):
        return {**block, "text": text}
    return {**block, "resource": {**block["resource"], "text": text}}


def _of_parsed(result: Mapping[str, Any], *, is_inexact: bool = False) -> ToolResult:
    content, places = content_of(result), payload_places(result)
    blocks = [content[place] for place in sorted(places)]
    texts = [block["text"] if _is_text(block) else str(_resource_text(block)) for block in blocks]
    kept_blocks = {place: block for place, block in enumerate(content) if place not in places}
    structured, layout = _without_blocks(result.get("structuredContent"), kept_blocks), _layout(result)
    if structured != result.get("structuredContent") and _is_repetition(structured):
        structured = None
    return ToolResult(
        result,
        text=Text.of(texts[0]) if len(texts) == 1 else None,
        blocks=Blocks.of(texts) if len(texts) > 1 else None,
        structured=structured,
        layout=layout,
        is_inexact=is_inexact and (structured is not None or bool(layout)),
    )


def _layout(result: Mapping[str, Any]) -> dict[str, Any]:
    """The members of the payload's blocks besides their text, by the indexes of the blocks."""
    content = content_of(result)
    layout = {
        str(place): more for place in sorted(payload_places(result)) if (more := _members_besides_text(content[place]))
    }
    return {"blocks": layout} if layout else {}


def _members_besides_text(block: dict[str, Any]) -> dict[str, Any]:
    if _is_text(block):
        return {key: value for key, value in block.items() if key not in ("type", "text")}
    resource = {key: value for key, value in block["resource"].items() if key != "text"}
    return {**block, "resource": resource}


def _without_blocks(value: Any, kept_blocks: Mapping[int, Any], depth: int = 0) -> Any:
    """Structured content with references in place of repetitions of blocks that stay in the answer."""
    if not kept_blocks or depth > _MAX_REPETITION_DEPTH:
        return value
    if isinstance(value, list):
        return [_without_blocks(item, kept_blocks, depth + 1) for item in cast("list[Any]", value)]
    if not isinstance(value, dict):
        return value
    members = cast("dict[str, Any]", value)
    place = next((place for place, block in kept_blocks.items() if block == members), None)
    if place is not None:
        return {"$ref": f"#/content/{place}"}
    return {key: _without_blocks(member, kept_blocks, depth + 1) for key, member in members.items()}


def _is_repetition(value: Any) -> bool:
    """True if structured content has nothing but references to blocks."""
    if isinstance(value, list):
        return all(map(_is_repetition, cast("list[Any]", value)))
    if not isinstance(value, dict):
        return False
    members = cast("dict[str, Any]", value)
    return list(members) == ["$ref"] or all(map(_is_repetition, members.values()))


def with_strings(value: Any) -> Any:
    """Structured content with a string in place of each member that is a `Text`."""
    if isinstance(value, dict):
        return {k: str(v) if isinstance(v, Text) else v for k, v in cast("dict[str, Any]", value).items()}
    return value


@dataclass(frozen=True, slots=True)
class _String:
    """A JSON string in a line, with its quotes."""

    start: int
    stop: int


@dataclass(frozen=True, slots=True)
class _LargeParts:
    """The large parts of a line that holds a tool's result. They are guesses until the rest of the line is parsed."""

    text: _String | None = None
    """The first text."""
    repeated: _String | None = None
    """A repetition of the text, in the structured content."""
    blocks: Array | None = None
    """The content, if it has very many blocks."""
    texts: Blocks | None = None
    """The texts of these blocks."""
    array: Array | None = None
    """An array in the structured content."""

    def by_name(self) -> dict[str, _String | Array]:
        """The parts that were found, in the order in which they can stand in a line."""
        parts = {"text": self.text, "blocks": self.blocks, "repeated": self.repeated, "array": self.array}
        return {name: part for name, part in parts.items() if part is not None}


def _cut(line: Line, *, assumes_last: bool) -> Answer | None:
    parts = _large_parts(line, assumes_last=assumes_last)
    mark = secrets.token_hex(8)
    skeleton, after = bytearray(), 0
    for name, part in parts.by_name().items():
        skeleton += line[after : part.start] + f'"{mark}{name}"'.encode()
        after = part.stop
    if not skeleton or len(skeleton) + len(line) - after > _MAX_SKELETON_BYTES:
        return None
    message = lossless.parse(bytes(skeleton + line[after:]))
    return Answer(message, _fill_in(message["result"], mark, parts, line))


def _fill_in(result: dict[str, Any], mark: str, parts: _LargeParts, line: Line) -> ToolResult:
    """The result of a message with marks in place of its parts. Raises `ValueError` if a mark is in a wrong place."""
    structured = result.get("structuredContent")
    if structured is not None:
        result["structuredContent"] = {}
    if parts.blocks is not None:
        if result["content"] != f"{mark}blocks" or parts.texts is None or not parts.texts.are_texts:
            raise ValueError("not the content, or not only texts")
        result["content"] = []
    if parts.array is not None and not all(map(_is_text, content_of(result))):
        raise ValueError("the structured content may repeat blocks that stay in the answer")
    rest = _of_parsed(result)
    if parts.text is not None:
        if rest.text is None or str(rest.text) != f"{mark}text":
            raise ValueError("not the only text")
        rest = replace(rest, text=Text.read(line, parts.text.start + 1, parts.text.stop - 1))
    if parts.blocks is not None:
        rest = replace(rest, blocks=parts.texts)
    return replace(rest, structured=_fill_in_structured(structured, mark, parts, rest.text))


def _fill_in_structured(structured: Any, mark: str, parts: _LargeParts, text: Text | None) -> Any:
    if parts.repeated is not None:
        marked = f"{mark}repeated"
        if marked not in structured.values():
            raise ValueError("not a member of the structured content")
        return {key: text if member == marked else member for key, member in structured.items()}
    if parts.array is not None:
        filled = replace_marks(structured, {f"{mark}array": parts.array})
        if filled == structured:
            raise ValueError("not in the structured content")
        return filled
    return structured


def _large_parts(line: Line, *, assumes_last: bool) -> _LargeParts:
    min_length = min(len(line), MIN_BATCHED_BYTES) // 2
    key = _TEXT_KEY.search(line)
    end = -1 if key is None else end_of_string(line, key.end(), assumes_last=assumes_last)
    if key is not None and end - key.end() >= min_length:
        text, repeated = _String(key.end() - 1, end + 1), _repetition(line, key.end(), end)
        blocks = texts = None
    else:
        text = repeated = None
        blocks, texts = _very_many_blocks(line)
    array = None
    if repeated is None and len(line) >= MIN_BATCHED_BYTES:
        place = line.find(_STRUCTURED_KEY, text.stop if text else blocks.stop if blocks else 0)
        array = arrays.find(line, place, len(line)) if 0 <= place <= len(line) - min_length else None
    return _LargeParts(text, repeated, blocks, texts, array)


def _very_many_blocks(line: Line) -> tuple[Array, Blocks] | tuple[None, None]:
    key = _CONTENT_KEY.search(line) if len(line) >= MIN_BATCHED_BYTES else None
    content = None if key is None else Blocks.read(line, key.end())
    if content is None or len(content[0]) < 2 or content[0].stop - content[0].start < MIN_BATCHED_BYTES // 2:
        return None, None
    return content


def _repetition(line: Line, start: int, end: int) -> _String | None:
    """The member of an object that repeats a text as a string. Servers with an output schema send such members."""
    second = line.find(b':"' + line[start : min(start + _PROBE_BYTES, end)], end) + 2
    length = end - start
    if second > 1 and line.startswith(b'"', second + length) and _are_equal(line, start, second, length):
        return _String(second - 1, second + length + 1)
    return None


def _are_equal(line: Line, first: int, second: int, length: int) -> bool:
    """True if two parts of a line are equal. They are compared piece by piece, so that neither is copied."""
    places = range(0, length, _COMPARED_BYTES)
    return all(
        line[first + offset : first + min(offset + _COMPARED_BYTES, length)]
        == line[second + offset : second + min(offset + _COMPARED_BYTES, length)]
        for offset in places
    )
