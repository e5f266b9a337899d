"""Results for a proxy to forward: small ones with each type of content block, and large ones of every kind."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

BIG = "12345678901234567890123"
"""An integer that no double can represent."""
EXACT = "1.10"
"""A decimal number whose last digit is lost if it is parsed and written again."""
CURSOR = "lro-probe-cursor-77"
"""The value of a member of an object that also has a large array. This value must be in the file, too."""
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
"""A PNG image of one pixel, in Base64."""
_MARK = re.compile(rb"mk[a-z]+\d{5}x")
"""A word made by `mark`."""

LINK = {"type": "resource_link", "uri": "file:///lro/probe.txt", "name": "probe", "mimeType": "text/plain"}
IMAGE = {"type": "image", "data": PIXEL, "mimeType": "image/png", "annotations": {"audience": ["user"]}}


@dataclass(frozen=True)
class Large:
    """A result above the threshold, and the parts of the result that must be in the file."""

    result: str
    """The result as JSON, as the server writes it."""
    records: Sequence[Any] = ()
    """The records of the result, if each of them has to be compared with the record of the file."""
    lines: Sequence[str] = ()
    """Texts that must be in the file unbroken."""
    count: int = 0
    """Number of pieces of the payload that have a mark (see `mark`)."""
    typed: bool = False
    """True when it is a result of the tool with an output schema."""
    beside: Sequence[Mapping[str, Any]] = field(default_factory=tuple)
    """The content blocks other than text, in their order."""


def mark(kind: str, number: int) -> str:
    """A word that occurs only once, in piece *number* of the payload of this *kind*."""
    return f"mk{kind}{number:05}x"


def marks(data: bytes) -> list[bytes]:
    """The words of `mark` that some bytes contain, in their order."""
    return _MARK.findall(data)


def dumps(value: Any) -> str:
    """JSON on one line, as the suite's server writes it."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def words(characters: int) -> str:
    """An English text of this many characters, in lines."""
    line = "the quick brown fox jumps over the lazy dog near the river\n"
    return (line * (characters // len(line) + 1))[:characters]


def text_result(text: str, **more: Any) -> str:
    """A result with one text."""
    return dumps({"content": [{"type": "text", "text": text}], **more})


def small() -> dict[str, str]:
    """Results of at most a few hundred characters, as JSON."""
    embedded = {"type": "resource", "resource": {"uri": "file:///lro/a", "mimeType": "text/plain", "text": "a\r\n"}}
    audio = {"type": "audio", "data": "UklGRg==", "mimeType": "audio/wav"}
    text = {
        "type": "text",
        "text": 'grün 😀 \u2028 "quoted" \\ back\ttab\r\nline 漢字',
        "annotations": {"priority": 0.5},
    }
    value: dict[str, Any] = {"items": [{"id": 1, "name": "ä", "none": None, "yes": True, "list": [1, [2, {}]]}]}
    return {
        "a text": dumps({"content": [text], "isError": False}),
        "nothing": dumps({"content": []}),
        "blocks of every type": dumps({"content": [text, IMAGE, audio, LINK, embedded]}),
        "text and structured content": text_result(dumps(value), structuredContent=value),
        "members that nobody knows": text_result("a", _meta={"lro-probe/kept": {"deep": [1]}}, lroProbe={"x": 1}),
    }


def exact() -> str:
    """A small result whose bytes change if it is parsed and written again."""
    return (
        '{"content": [ {"type":"text","text":"caf\\u00e9 \\ud83d\\ude00"} ],'
        f'"structuredContent":{{"z":{BIG},"a":{EXACT},"e":1e2}}}}'
    )


@cache
def large(characters: int) -> Mapping[str, Large]:
    """Large results by kind, each with a payload of about this many *characters* or more."""
    number = characters // 80 + 20
    return {**_arrays(number), **_other(number)}


def _arrays(number: int) -> dict[str, Large]:
    kinds = ("array", "object", "both", "brief", "only", "jsonl")
    rows = {kind: [_record(kind, n) for n in range(number)] for kind in kinds}
    both, brief, only = ({"items": rows[kind]} for kind in ("both", "brief", "only"))
    object_with_array = {"total": number, "items": rows["object"], "cursor": CURSOR}
    twice = text_result(json.dumps(both, indent=1), structuredContent=both)
    alone = dumps({"content": [], "structuredContent": only})
    return {
        "an array": _of(rows["array"], text_result(dumps(rows["array"]))),
        "an object around an array": _of(rows["object"], text_result(dumps(object_with_array)), lines=[CURSOR]),
        "text and structured content": _of(rows["both"], twice, typed=True),
        "structured content alone": _of(rows["only"], alone, typed=True),
        "a short text beside structured content": _of(
            rows["brief"], text_result(f"{number} rows.", structuredContent=brief), typed=True
        ),
        "JSON Lines": _of(rows["jsonl"], text_result("".join(dumps(r) + "\n" for r in rows["jsonl"]))),
    }


def _other(number: int) -> dict[str, Large]:
    numbers, parts = range(number), range(number // 10)
    texts = [
        f'{mark("text", n)} line {n}: it\'s "so" \\ so and {n * 7919} bytes of grün 😀 漢字 and more' for n in numbers
    ]
    beside = [
        f"{mark('beside', n)} a line beside an image and {'long ' * (1 + n % 7)}enough to count for it" for n in numbers
    ]
    members = f'"big":{BIG},"exact":{EXACT},"more":"{"x" * 30}"'
    digits = ",".join(f'{{"id":"{mark("digits", n)}",{members}}}' for n in numbers)
    names = "id,name,amount,active,code"
    cells = [
        [mark("table", n), f"name {n}", f"{n}.50", "yes" if n % 3 else "no", f"{n:012}-{'z' * 40}"] for n in numbers
    ]
    tree = {f"part {a}": {mark("tree", 10 * a + b): f"value {a}.{b}: {'y' * 60}" for b in range(10)} for a in parts}
    values = [value for part in tree.values() for value in part.values()]
    blocks = [{"type": "text", "text": "\n".join(beside)}, IMAGE, LINK]
    return {
        "a table": Large(
            text_result("\n".join([names, *map(",".join, cells)])),
            lines=[cell for row in cells for cell in (row[0], row[1], row[4])],
            count=number,
        ),
        "text": Large(text_result("\n".join(texts) + "\n"), lines=texts, count=number),
        "an object of objects": Large(text_result(dumps(tree)), lines=values, count=len(values)),
        "numbers": Large(text_result(f"[{digits}]"), count=number),
        "text beside an image": Large(dumps({"content": blocks}), lines=beside, count=number, beside=[IMAGE, LINK]),
    }


def _record(kind: str, n: int) -> dict[str, Any]:
    deep = {"list": [n, None, n % 2 == 0], "ratio": n / 8}
    return {"id": mark(kind, n), "n": n, "text": f'grün 😀 漢字 "{n}" \\ \r\n\t', "deep": deep}


def _of(records: list[dict[str, Any]], result: str, *, lines: Sequence[str] = (), typed: bool = False) -> Large:
    return Large(result, records=records, lines=lines, count=len(records), typed=typed)
