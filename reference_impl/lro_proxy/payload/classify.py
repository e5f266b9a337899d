"""The result of any tool call as records: an array, JSON Lines, a table, blocks, the members of an object, or text.

MCP servers send a payload as text, as `structuredContent`, or as both. It is one payload: what is sent twice is kept
once, and what is no record goes to the file header's ``extra``, with all that is needed to build the result again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import eq
from typing import Any, cast

import orjson

from lro_proxy.payload import array, jsonl
from lro_proxy.payload.array import Array, same
from lro_proxy.payload.lines import Batched, BatchedLines, EncodedLines, TextLines, encoded
from lro_proxy.payload.tables import large_table, table
from lro_reference.results import Lines, Records
from lro_reference.writer import encode
from lro_spec.jsonl import lossless

SMALL = 4096
"""What is no record may have so many characters in the header; more becomes records of its own."""
LARGE = 1 << 18
"""Payloads of fewer bytes are parsed whole."""
_DEEPEST = 4
_MOSTLY = 0.8


@dataclass(frozen=True, slots=True)
class Shape:
    """A payload as records."""

    lines: Lines
    records: Records
    """Parsed; empty for text, which has nothing to look into."""
    extra: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """The rest of the payload and how it was laid out."""
    whole_pairs: bool = False
    """Whether it is known, without a look at the lines, that none of them has half of a surrogate pair."""


def text_of(result: Mapping[str, Any]) -> str:
    """The payload as a reader would have got it: the text blocks, or the structured content where there are none."""
    texts = _texts(result)
    if texts:
        return texts[0] if len(texts) == 1 else "\n".join(texts)
    structured = result.get("structuredContent")
    return "" if structured is None else encode(structured).decode()


def structured_beside_text(result: Mapping[str, Any]) -> str:
    """Structured content that stands beside texts, as JSON; empty where there is no such thing."""
    structured = result.get("structuredContent")
    return encode(structured).decode() if structured is not None and _texts(result) else ""


def shape(result: Mapping[str, Any], again: Callable[[], Mapping[str, Any]]) -> Shape | None:
    """The payload of a `tools/call` result; None where it has none.

    *again* gives the same result parsed with `exact.parse`, for what only its structured content holds.
    """
    texts = _texts(result)
    structured = result.get("structuredContent")
    layout = _layout(result) and _layout(again())
    if structured is None:
        if not texts:
            return None
        return _of_text(texts[0], layout) if len(texts) == 1 else _of_blocks(texts, list(map(value_of, texts)), layout)
    structured = again()["structuredContent"]
    if not texts:
        return _of_value(structured, layout | {"from": "structuredContent"})
    if len(texts) == 1:
        said = repeated(structured, texts[0], value_of(texts[0]))
        if said is not None:
            return _of_text(texts[0], layout | said)
    else:
        values = list(map(value_of, texts))
        if (said := _listed(structured, texts, values)) is not None:
            return _of_blocks(texts, values, layout | said)
    if _is_small(texts):
        return _of_value(structured, layout | {"from": "structuredContent", "texts": texts})
    parts = {f"content/{n}": text for n, text in enumerate(texts)}
    parts |= {f"structuredContent/{key}": value for key, value in _items(structured)}
    return _of_records(list(members(parts)), layout | {"format": "members", "from": "separate"})


def repeated(structured: Any, text: str, value: Any) -> dict[str, Any] | None:
    """What the header says of structured content that repeats a text, or the value of its JSON; None if it does not.

    Both values are as `exact.parse` reads them; of a text that is no JSON it is the text.
    """
    if same(structured, value):
        return {"from": "both"}
    for key, member in _items(structured):
        if member == text or same(member, value):
            rest = {k: v for k, v in _items(structured) if k != key}
            if _is_small(rest):
                return _both(key, rest, as_text=member == text)
    return None


def list_of(
    key: str, texts: Iterable[str], values: Iterable[Any], items: Callable[[], Iterable[Any]]
) -> dict[str, Any] | None:
    """What the header says of structured content that is nothing but a list which repeats the texts, as many.

    Its items are either the texts or their *values*, those of their JSON where they are JSON.
    """
    if all(map(eq, texts, items())):
        return _both(key, {}, as_text=True)
    return _both(key, {}, as_text=False) if all(map(same, values, items())) else None


def _both(key: str, rest: dict[str, Any], *, as_text: bool) -> dict[str, Any]:
    return {"from": "both", "repeated": key, "as": "text" if as_text else "json", "structured": rest}


def _texts(result: Mapping[str, Any]) -> list[str]:
    return [block["text"] for block in _blocks(result) if is_text(block)]


def is_text(block: object) -> bool:
    """Whether a content block is text."""
    if not isinstance(block, dict):
        return False
    members = cast("dict[str, Any]", block)
    return members.get("type") == "text" and isinstance(members.get("text"), str)


def _blocks(result: Mapping[str, Any]) -> list[Any]:
    content = result.get("content")
    return cast("list[Any]", content) if isinstance(content, list) else []


def _layout(result: Mapping[str, Any]) -> dict[str, Any]:
    """What text blocks say besides their text (annotations, ``_meta``), by their place."""
    said = {
        str(place): more
        for place, block in enumerate(_blocks(result))
        if is_text(block) and (more := {k: v for k, v in block.items() if k not in ("type", "text")})
    }
    return {"blocks": said} if said else {}


def of_large(text: bytes | bytearray, extra: dict[str, Any]) -> Shape | None:
    """The same as for any text, without all its records in memory at once; None where that cannot be."""
    first = str(text[:SMALL], "utf-8", "ignore").lstrip()[:1]
    if first in ("[", "{"):
        try:
            value = array.value(text)
        except lossless.InexactError:
            value = None
        if value is not None:
            return of_tree(value, extra)
        found = jsonl.read(text) if first == "{" else None
        return (
            None
            if found is None
            else Shape(found.lines, found.records, {"format": "jsonl", **extra, "ending": found.ending})
        )
    found = large_table(text)
    return None if found is None else Shape(found.lines, found.records, {"format": "table", **extra, **found.layout})


def of_tree(value: Any, extra: dict[str, Any]) -> Shape | None:
    """The payload with an `Array` in it; None where that is no array to be taken for the records."""
    return _of_value(value, extra) if isinstance(_large_array(value)[0], Array) else None


def _of_large_text(text: str, extra: dict[str, Any]) -> Shape | None:
    try:
        return of_large(text.encode(), extra)
    except UnicodeEncodeError:  # half of a surrogate pair
        return None


def _of_text(text: str, extra: dict[str, Any]) -> Shape:
    if len(text) >= LARGE and (found := _of_large_text(text, extra)) is not None:
        return found
    if text[:1] in ("[", "{") or text.lstrip()[:1] in ("[", "{"):
        try:
            return _of_value(lossless.parse(text), extra)
        except lossless.InexactError:
            pass
        if (lines := _json_lines(text)) is not None:
            raw, records, ending = lines
            return Shape(raw, records, {"format": "jsonl", **extra, "ending": ending})
    elif (found := table(text)) is not None:
        return Shape(found.lines, found.records, {"format": "table", **extra, **found.layout})
    ending = text.endswith("\n")
    return Shape(TextLines(text), (), {"format": "text", **extra, "ending": "\n" if ending else ""})


def _json_lines(text: str) -> tuple[Lines, Sequence[Mapping[str, Any]], str] | None:
    ending = "\n" if text.endswith("\n") else ""
    lines = text.removesuffix("\n").split("\n")
    if len(lines) < 2 or not lines[0].endswith("}"):
        return None
    records: list[Any] = []
    try:
        for line in lines:
            records.append(lossless.parse(line))
            if not isinstance(records[-1], dict) or not line.startswith("{"):
                return None
        return [line.encode() for line in lines], records, ending
    except (lossless.InexactError, UnicodeEncodeError):
        return None


def _of_blocks(texts: list[str], values: list[Any], extra: dict[str, Any]) -> Shape:
    if all(isinstance(value, dict) for value in values):
        return _of_records(values, {"format": "blocks", **extra})
    return _of_records([{"n": n, "text": text} for n, text in enumerate(texts, 1)], {"format": "texts", **extra})


def _of_value(value: Any, extra: dict[str, Any]) -> Shape:
    found, at, around = _large_array(value)
    if found is not None:
        more = {"format": "json", **extra, "at": at} | ({} if around is None else {"around": around})
        if isinstance(found, Array):
            return _of_array(found, more)
        if all(isinstance(item, dict) for item in found):
            return _of_records(found, more)
        return _of_records([{"n": n, "value": item} for n, item in enumerate(found, 1)], {**more, "wrapped": True})
    if isinstance(value, dict):
        return _of_records(list(members(cast("dict[str, Any]", value))), {"format": "members", **extra})
    return _of_records([{"value": value}], {"format": "value", **extra})


def _of_array(found: Array, extra: dict[str, Any]) -> Shape:
    count = len(found)
    if found.objects:
        return Shape(BatchedLines(count, found.lines), Batched(count, found.loose), extra)
    lines = BatchedLines(count, lambda: encoded(_wrapped(found.exact())))
    return Shape(lines, Batched(count, lambda: _wrapped(found.loose())), {**extra, "wrapped": True})


def _wrapped(batches: Iterable[list[Any]]) -> Iterator[list[Any]]:
    first = 1
    for batch in batches:
        yield [{"n": n, "value": item} for n, item in enumerate(batch, first)]
        first += len(batch)


def _of_records(records: list[Any], extra: dict[str, Any]) -> Shape:
    return Shape(EncodedLines(records), records, extra)


def _large_array(value: Any) -> tuple[list[Any] | Array | None, str, Any]:
    """The array that is nearly all of a value, where it is (a JSON pointer), and the value with null in its place."""
    if isinstance(value, (list, Array)):
        return cast("list[Any] | Array", value), "", None
    if not isinstance(value, dict):
        return None, "", None
    top = cast("dict[str, Any]", value)
    pointer, node = "", top
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
            return cast("list[Any] | Array", member), pointer, around
        if not isinstance(member, dict):
            break
        node, inner = cast("dict[str, Any]", member), dict[str, Any]()
        place[key] = inner
        place = inner
    return None, "", None


def _size(value: object) -> int:
    if isinstance(value, (dict, Array)):
        found: list[Array] = []
        size = len(orjson.dumps(value, default=found.append))
        return size + sum(one.stop - one.start for one in found)
    return len(orjson.dumps(value)) if isinstance(value, (list, str)) else 8


def _is_small(value: object) -> bool:
    return _size(value) <= SMALL


def value_of(text: str) -> Any:
    """The value of a text's JSON; the text itself where it is none."""
    try:
        return lossless.parse(text)
    except lossless.InexactError:
        return text


def _listed(structured: Any, texts: list[str], values: list[Any]) -> dict[str, Any] | None:
    """The same of structured content whose only member is a list of the texts, which is how Python servers send one."""
    entries = _items(structured)
    if len(entries) != 1 or not isinstance(entries[0][1], list):
        return None
    key, items = entries[0][0], cast("list[Any]", entries[0][1])
    return list_of(key, texts, values, lambda: items) if len(items) == len(texts) else None


def _items(value: Any) -> list[tuple[str, Any]]:
    return list(cast("dict[str, Any]", value).items()) if isinstance(value, dict) else []


_LONG = 1024


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
