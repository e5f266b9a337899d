"""Files: each with one fault, or none, and what lies beside it."""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Collection, Iterator
from copy import deepcopy
from functools import partial
from types import SimpleNamespace
from typing import Any

from lro_spec.findings import Finding
from lro_spec.jsonl.compression import unpacked
from lro_spec.jsonl.lines import Block
from lro_spec.validation.duplicates import SeenIds
from lro_spec.validation.file import FileState, judge_file
from tests.golden import Cases

HEADER: dict[str, Any] = {
    "type": "lro_header",
    "operation": "recall",
    "query": None,
    "count": 2,
    "schema_version": "1.0",
    "timestamp": "2026-03-02T09:30:00Z",
    "estimated_tokens": 10,
    "detail": "light",
}
A, B = {"id": "a"}, {"id": "b"}
NAME = "atlatl-recall-01KJPY44E0A1B2C3D4E5F6G7H8.jsonl"


def told(finding: Finding) -> str:
    """A finding with the place in its excerpt."""
    part = finding.excerpt
    return str(finding) if part is None else f"{finding} @ {part.mark} of {len(part.text)}"


def of(
    *lines: Any, name: str | None = None, limit: int = 1 << 20, edition: str = "lro-6400", end: bytes = b"\n"
) -> Any:
    """What is said of a file of these lines: values, or bytes as they are."""
    data = b"\n".join(line if isinstance(line, bytes) else _line(line) for line in lines) + end
    return lambda: _said(io.BytesIO(data), FileState(edition), name, limit)


def in_parts(*lines: Any, ids: SeenIds | None = None) -> Any:
    """What is said of a file that comes a line at a time, so that each is a block."""
    left = [(line if isinstance(line, bytes) else _line(line)) + b"\n" for line in lines]

    def say() -> list[str]:
        parts = iter(left)
        stream = SimpleNamespace(read=lambda _: next(parts, b""))  # type: ignore[reportUnknownLambdaType]
        return _said(stream, FileState("lro-6400", ids=deepcopy(ids) or SeenIds()), None, 1 << 20)

    return say


def _said(stream: Any, state: FileState, name: str | None, limit: int) -> list[str]:
    found = [told(f) for f in judge_file(stream, state, name, limit)]
    known = f"opaque {state.opaque}, doubtful {state.doubtful}"
    return [f"{state.lines} lines, {state.records} records, at {state.part}, {known}", *found]


class Reader:
    """Tells what it is given."""

    def __init__(self, schema: object) -> None:
        self.schema = schema
        self.told: list[str] = []

    def take(
        self, records: list[dict[str, Any]], block: Block, satisfied: bool, known: Collection[str] = ()
    ) -> Iterator[Finding]:
        first, last = records[0]["id"], records[-1]["id"]
        place = f"line {block.number}, byte {block.offset}, {len(block.lines)} lines"
        self.told.append(f"{len(records)} from {first!r} to {last!r}, {place}" + (", satisfied" if satisfied else ""))
        return iter(())


def taken(*lines: Any, end: bytes = b"\n", schema: object = None) -> Any:
    """The same with what a reader of the records is given."""

    def say() -> list[str]:
        reader = Reader(schema)
        texts = [line if isinstance(line, bytes) else _line(line) for line in lines]
        found = judge_file(io.BytesIO(b"\n".join(texts) + end), FileState("lro-6400", reader))
        return [*map(told, found), *reader.told[:2], *reader.told[2:][-2:]]

    return say


def of_bytes(data: bytes) -> Any:
    """What is said of bytes that have to be unpacked."""
    return lambda: [
        told(f).partition(", got")[0] for f in judge_file(unpacked(io.BytesIO(data)), FileState("lro-6400"))
    ]


def broken_off(after: int) -> Any:
    """What is said of a compressed file that breaks off behind so many lines."""
    lines = [head(), *(_line({"id": str(n)}) for n in range(after - 1))]
    packed = gzip.compress(b"".join(line + b"\n" for line in lines), compresslevel=0, mtime=0)
    return lambda: _said(unpacked(io.BytesIO(packed[:-4])), FileState("lro-6400"), None, 1 << 20)


def _line(value: Any, **changed: Any) -> bytes:
    return json.dumps({**value, **changed} if changed else value, separators=(",", ":"), ensure_ascii=False).encode()


head = partial(_line, HEADER)
MANY = [{"id": str(n), "title": "x" * 30} for n in range(3000)]
SMILE, HIGH, LOW = b"\\ud83d\\ude00", b"\\ud83d", b"\\ude00"
PAIRS = [
    *(b" " * n + SMILE + b"\\u0041" + HIGH + b" " + LOW for n in range(8)),
    *(HIGH, LOW, SMILE + LOW, SMILE + HIGH, HIGH + HIGH + LOW, HIGH + b"\\n" + LOW, HIGH + b"\\u0041", b"\\" + HIGH),
    *(HIGH + code + b" " + LOW for code in (b"\\udbff", b"\\udc00", b"\\udfff", b"\\ue000")),
    *(code + b" " + HIGH for code in (b"\\ud7ff", b"\\ud800", b"\\udbff", b"\\udc00", b"\\udfff", b"\\ue000")),
]
DEEP = b'{"id":"b","x":' + b"[" * 100_000 + b"]" * 100_000 + b"}"
LONG = json.dumps({"id": "b", "title": "x" * 200, "tags": [1]}).encode()

CASES: Cases = {
    "empty": of(end=b""),
    "sound": of(HEADER, A, B),
    "sound without a last line feed": of(HEADER, A, B, end=b""),
    "sound with a name": of(HEADER, A, B, name=NAME),
    "no header": of(A, B),
    "no header but a number": of(3, B),
    "no header and a faulty record": of({"id": ""}, B),
    "a header of another type": of(head(type="header"), A, B),
    "a header twice": of(HEADER, A, HEADER, B),
    "a header too late": of(A, HEADER, B),
    "an id twice in a block": of(head(count=4), A, B, {"id": "c", "x": 1}, {"x": "é", "id": "a"}),
    "an id twice, spaced": of(head(count=3), A, b'  {"id" : "a"}', B),
    "an id twice at the end": of(head(count=3), A, B, A, end=b""),
    "byte order mark": of(b"\xef\xbb\xbf" + head(), A, B),
    "byte order mark, count off": of(b"\xef\xbb\xbf" + head(count=5), A, B),
    "byte order mark in line 2": of(HEADER, b'\xef\xbb\xbf{"id":"a"}', B),
    "carriage returns": of(HEADER, b'{"id":"a"}\r', b'{"id":"b"}\r'),
    "a carriage return in the header": of(head() + b"\r", b'{"id":"a"}\r', B),
    "a carriage return in the last line": of(HEADER, A, b'{"id":"b"}\r', end=b""),
    "carriage returns alone": of(head() + b'\r{"id":"a"}\r', end=b""),
    "a carriage return between two lines": of(HEADER, b'{"id":"a"}\r{"id":"b"}'),
    "a carriage return and a fault": of(head(count=3), A, b'{"id":""}\r', B),
    "blank lines": of(HEADER, A, b" \t", B, b""),
    "a blank first line": of(b"", HEADER, A),
    "too long": of(head(count=1), b'{"id":"aaaa"}' + b" " * 200, B, limit=180),
    "too long a header": of(HEADER, A, limit=50),
    "too long by one": of(head(count=1), b'{"id":"' + b"a" * 172 + b'"}', limit=180),
    "as long as allowed": of(head(count=1), b'{"id":"' + b"a" * 171 + b'"}', limit=180),
    "count as a double": of(head(count=2.0), A, B),
    "count as true": of(head(count=True), A),
    "count too high": of(head(count=3), A, B),
    "count too low": of(head(count=1), A, B),
    "cut off": of(HEADER, A, b'{"id":"b"', end=b""),
    "cut off in a string": of(HEADER, A, b'{"id":"b', end=b""),
    "cut off in a character": of(HEADER, A, b'{"id":"\xc3', end=b""),
    "incomplete within the file": of(HEADER, b'{"id":"a"', B),
    "extra text": of(HEADER, A, b'{"id":"b"} x', end=b""),
    "not UTF-8": of(HEADER, A, '{"é":1,"id":"'.encode() + b'\xff"}'),
    "a key twice": of(HEADER, A, b'{"id":"b","x":1,"x":2}'),
    "a key twice in an object": of(HEADER, A, b'{"id":"b","y":[{"x":1,"x":2}]}'),
    "NaN": of(HEADER, A, b'{"id":"b","x":NaN}'),
    "a number beyond doubles": of(HEADER, A, b'{"id":"b","x":1e999}'),
    "a very long integer": of(HEADER, A, b'{"id":"b","x":' + b"1" * 4001 + b"}"),
    "half a surrogate pair": of(HEADER, A, b'{"id":"b","x":"\\uD800"}'),
    "an escaped quote by number": of(HEADER, A, b'{"id":"b","x":"\\u0022"}'),
    "byte order mark, not UTF-8": of(b'\xef\xbb\xbf{"type":"\xff"}', A),
    "byte order mark, too long": of(b"\xef\xbb\xbf" + head(), A, limit=150),
    "an id twice in a later block": of(head(count=3002), *MANY, {"id": "2999"}, {"id": "é", "title": "2999"}),
    "a header in a later block": of(head(count=3000), *MANY, HEADER),
    "carriage returns in a later block": of(head(count=3002), *MANY, b'{"id":"a"}\r', b'{"id":"b"}\r'),
    "a carriage return within a later block": of(head(count=3001), *MANY, b'{"id":"a",\r"title":"b"}'),
    "faults in a later block": of(head(count=3002), *MANY, {"id": ""}, {"id": "a", "content": "x"}),
    "records that are read": taken(HEADER, A, B),
    "records that are read, without a line feed": taken(HEADER, A, {"id": ""}, B, end=b""),
    "records that are read by blocks": taken(head(count=3001), *MANY, {"id": "a", "x": 1}),
    "records that are read and fit": taken(head(count=3000), *MANY, schema={"required": ["title"]}),
    "records that are read and do not fit": taken(head(count=3001), *MANY, A, schema={"required": ["title"]}),
    "compressed and cut off": of_bytes(gzip.compress(b"\n".join((head(), _line(A), _line(B))) * 1000, mtime=0)[:60]),
    "compressed and cut off further on": of_bytes(
        gzip.compress(b"\n".join(map(_line, (HEADER, *MANY))), compresslevel=0, mtime=0)[:-20]
    ),
    "compressed and wrong": of_bytes(b"\x1f\x8b\x08\x00" + b"x" * 30),
    "nested too deep": of(HEADER, A, DEEP),
    "text that is no JSON": of(HEADER, b"a" * 70 + b'{"id"', B),
    "a delimiter lacks": of(HEADER, A, b'{"id":"b" "x":1}'),
    "values that are no records": of(head(count=4), 3, None, [], "x"),
    "records at fault": of(
        head(count=3),
        {"id": ""},
        {"title": 1},
        {"id": "c", "content": "x", "tags": ["a", 1], "provenance": {"confidence": "x"}},
    ),
    "a fault far into a line": of(head(count=1), LONG),
    "a light record with content": of(head(count=1), {"id": "a", "content": "x"}),
    "a full record without content": of(head(count=1, detail="full"), {"id": "a"}),
    "a medium record with content": of(head(count=1, detail="medium"), {"id": "a", "content": "x"}),
    "no detail that is known": of(head(count=1, detail="all"), {"id": "a", "content": "x"}),
    "a detail that is no word": of(head(count=1, detail=3), {"id": "a", "content": "x"}),
    "header fields that lack": of(b'{"type":"lro_header","count":0}'),
    "header fields of other types": of(head(count="2", query=3, schema_version="", timestamp=5), A, B),
    "another name": of(HEADER, A, B, name="x.jsonl"),
    "a name of another operation": of(HEADER, A, B, name=NAME.replace("recall", "search")),
    "a name of another time": of(HEADER, A, B, name=NAME.replace("01KJPY", "01KJPZ")),
    "a name without a header": of(A, name="x.jsonl"),
    "as the paper has it": of(HEADER, A, B, edition="lro-paper", name="lro" + NAME[6:]),
    "against the paper": of(head(count=3, detail=3), A, {"id": 3}, edition="lro-paper", name=NAME),
    "text behind a value": of(head(count=2), A, b'{"id":"b"} {"id":"c"}', B),
    "two values": of(head(count=2), A, b"3 4", B),
    "a line that is no text": of(head(count=2), A, b"\xff\xfe", B),
    "a long line of many": of(head(count=3), A, b'{"id":"' + b"a" * 300 + b'"}', B, limit=200),
    "records of others": of(head(schema_version="0", extra={}), {"x": 1}, 3, {"type": "lro_header"}),
    "records of others, twice": of(head(schema_version="0", extra={}), A, A, {"id": 3}),
    "a header with half a surrogate pair": of(head()[:-1] + b',"x":"\\ud800"}', A, B),
    "surrogate pairs": of(head(count=len(PAIRS)), *(b'{"id":"%d","x":"%b"}' % (n, p) for n, p in enumerate(PAIRS))),
    "cut off behind a space": of(HEADER, A, b'{"id":"b" ', end=b""),
    "compressed and cut off behind a first line": broken_off(1),
    "compressed and cut off behind two lines": broken_off(2),
    "compressed and cut off behind three lines": broken_off(3),
    "in parts": in_parts(head(count=3), A, B, {"id": "c"}),
    "in parts, records of others": in_parts(
        head(count=3, schema_version="0", extra={}), {"x": 1}, {"id": 3}, 3, HEADER
    ),
    "in parts, at fault": in_parts(head(count=7), A, A, b'{"id":"c"}\r', b'{"id":"d"}\r', {"id": ""}, b"{", b"", [], A),
    "in parts, more ids than are kept": in_parts(head(count=5), A, B, {"id": "c"}, {"id": "c"}, A, ids=SeenIds(2, 1)),
    "against lro-1600": of(head(count=3, operation="fetch"), A, {"id": 3}, edition="lro-1600"),
}
