"""A result with one large payload, taken from the raw line: the payload is never parsed as a whole.

What is large is cut out of the line (a text, an array in the structured content, or both), and only the skeleton that
is left is parsed at once. Whatever is not this simple takes the general way.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import Any, cast

import orjson

from lro_reference import arrays, exact
from lro_reference.arrays import Array
from lro_reference.proxy import raw_text
from lro_reference.proxy.raw_text import RawLines
from lro_reference.shapes import LARGE, Shape, is_text, of_large, of_tree, repeated
from lro_reference.tables import could_be_table
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
    except (ValueError, TypeError, RecursionError):  # it was no text that ended there, or no valid one
        return None


def _read(line: bytearray) -> RawResult | None:
    mark = secrets.token_hex(8)
    text = raw_text.find(line, WORTH_IT // 2)
    after = text[1] if text else 0
    cuts = [text] if text else []
    array: Array | None = None
    if text and (again := raw_text.find_again(line, *text)) is not None:
        cuts.append(again)
    elif (place := line.find(_STRUCTURED, after)) >= 0:
        array = arrays.find(line, place, len(line))
    skeleton = bytearray()
    start = 0
    for cut_start, cut_end in cuts:
        skeleton += line[start:cut_start] + mark.encode()
        start = cut_end
    if array is not None:
        skeleton += line[start : array.start] + orjson.dumps("array" + mark)
        start = array.stop
    if not start or len(skeleton) + len(line) - start > _LARGEST_SKELETON:
        return None
    parsed = exact.parse(bytes(skeleton + line[start:]))
    if not isinstance(parsed, dict):
        return None
    message = cast("dict[str, Any]", parsed)
    found = message.get("result")
    if not isinstance(found, dict) or "_meta" in found:
        return None
    result = cast("dict[str, Any]", found)
    blocks = result.get("content")
    texts = [block for block in cast("list[Any]", blocks) if is_text(block)] if isinstance(blocks, list) else []
    if texts != ([{"type": "text", "text": mark}] if text else []):
        return None
    structured = result.get("structuredContent")
    if array is not None:
        structured = arrays.placed(structured, "array" + mark, array)
    if text is None:
        return _of_structured(message, structured)
    first = raw_text.beginning(line, *text).lstrip()
    if not first or (array is not None and structured is None):
        return None
    if first[0] in "[{" or could_be_table(first.rpartition("\n")[0]):  # in whole lines
        plain = raw_text.plain(line, *text)
        value = None if array is None else arrays.value(plain.text)
        return _of_records(message, plain, value, _repeated(structured, mark, value))
    extra = _repeated(structured, mark, None)
    if extra is None or bytes(line[text[1] - 6 : text[1]]).lower() == rb"\u000a":  # how nobody ends a text
        return None
    return _of_lines(message, RawLines(line, *text), extra)


def _repeated(structured: Any, mark: str, value: Any) -> dict[str, Any] | None:
    return {} if structured is None else repeated(structured, mark, value, lambda: structured)


def _of_lines(message: dict[str, Any], lines: RawLines, extra: dict[str, Any]) -> RawResult:
    characters = wide = 0
    for text, wide_in_it in lines.read():
        characters += len(text) + 1  # the newline between two pieces
        wide += wide_in_it
    shape = Shape(lines, (), {"format": "text", **extra, "ending": "\n" * lines.ended})
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
    around = orjson.dumps(structured, default=found.append)
    characters, wide = characters_in_utf8(around) - len(b"null"), wide_in_utf8(around)
    for elements in found[0].loose():
        written = orjson.dumps(elements)
        characters += characters_in_utf8(written) - 1  # one comma for two brackets, but for the last of them
        wide += wide_in_utf8(written)
    return RawResult(message, shape, characters + 1, wide)
