"""What checks judge by: records found in results and compared, files and calls as they were seen, sizes and levels."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from itertools import product
from pathlib import Path
from types import ModuleType
from types import SimpleNamespace as Made
from typing import Any

from lro_conformance import calls, readings, records
from lro_conformance.calls import Among, Call, FileSeen
from lro_conformance.checks import test_descriptor, test_fallback, test_file, test_unusual
from lro_spec.editions import EDITIONS
from tests.words import Cases, Said


def inner(module: ModuleType, name: str) -> Callable[..., Any]:
    """A function that a module keeps to itself."""
    return vars(module)[name]


def each(function: Callable[..., Any], *arguments: Iterable[Any]) -> Said:
    """What a function gives for all combinations."""
    return lambda: [str(function(*a)) for a in product(*map(list, arguments))]


def texts(*parts: Any) -> dict[str, Any]:
    """A result of text blocks."""
    return {"content": [{"type": "text", "text": p if isinstance(p, str) else json.dumps(p)} for p in parts]}


A, B, C = {"id": "a", "title": "A"}, {"id": "b", "title": "B"}, {"id": 3, "title": "C"}
RESULTS: list[Any] = [
    None, {}, {"content": 3}, {"content": [3, {"text": 5}]}, texts(), texts("words"), texts([A, B]),
    texts({"memories": [A]}),
    texts(A), texts(A, B), texts(A, 3), texts(A, {"x": 1}), texts([A], [A, B]), texts([A, 3]), texts({"a": [A],
    "b": [A, B]}),
    texts({"a": {"b": {"c": {"d": [A]}}}}), texts({"a": {"b": {"c": [A]}}}), texts({"entities": [A, B], "x": [A]}),
    texts("[]"),
    texts({"entities": [A, B]}), texts('found {"id": "a"} here'), texts('found [{"id": "a"}] and {"id": "b"}'),
    texts("{x [1] {"),
    texts('{"id": "a"}\n{"id": "b"}'), texts('{"id": "a"}\nwords'), texts('words\n {"id": "a"}\n{"id": "b"}'),
    texts("[" * 9999),
    texts('{"id": "a"}\n{"id": '), texts("[" * 600 + "]" * 600), texts("x " + "[" * 600 + "]" * 600),
    texts("[" * 500 + "]" * 500),
    texts('{"a": 1}\n{"b": ' + "[" * 600 + "]" * 600 + "}"), texts("{bad [1]"), texts("[bad {}"),
    texts('{"id":"a"} {"id":"b"}'),
    {"structuredContent": {"results": [A, B, C]}, "content": texts([A])["content"]}, {"structuredContent": [A],
    "content": []},
    {"structuredContent": None, "content": texts([A])["content"]}, texts([{"score": 1, "memory": A},
    {"memory": {"x": 1}}]),
    texts({"memory": A}, {"memory": B}), texts([], {"id": "a"}), texts({"a": [], "b": []}), texts([], []),
    texts("null", [A]),
    texts('{"id": "a"}\n[1]'), texts('\n{"id": "a"}'), texts([[A]]), texts({"x": {"id": 1}, "y": {"id": 2}}),
    texts("[]", A, B), texts({"a": {"b": {"c": {"d": {"e": [A]}}}}}),
]  # fmt: skip
PATHS = [None, "", ".", ".memories", "memories[]", ".results[]", ".a.b.c", "a", ".a[].b", " .x ", ".b"]
HITS: list[Any] = [
    A, {"memory": A}, {"x": {"y": 1}, "memory": A}, {"id": None, "m": A}, {"id": [1], "m": {"id": {}}}, {}, {"id": 0},
    {"id": ""},
]  # fmt: skip
SIDES: list[dict[str, Any]] = [
    {}, {"id": "a"}, {"id": "a", "title": "x"}, {"id": "a", "title": None}, {"id": "a", "title": ""}, {"id": "a",
    "score": 1},
    {"id": "a", "provenance": {"confidence": 0.5, "by": "x"}}, {"id": "a", "provenance": {"confidence": 0.75}},
    {"id": "a", "provenance": None}, {"id": "a", "extensions": {"x": []}}, {"id": "a", "extensions": {}}, {"id": "a",
    "tags": []},
    {"id": "a", "extensions": {"x": None}}, {"id": "a", "extensions": {"x": {"y": ""}}}, {"id": "a", "tags": ["t"]},
    {"id": 1.0},
    {"id": 1, "score": 2}, {"id": "a", "extensions": None}, {"score": {"a": 1}}, {"id": "a", "score": None, "rank": 0},
]  # fmt: skip
SKIPS: list[list[tuple[str, ...]]] = [
    [],
    [("title",)],
    [("provenance", "confidence")],
    [("provenance",), ("extensions", "x")],
]
MEMORIES: list[dict[str, Any]] = [
    {"title": "abc"}, {"title": "abcd"},
    {"summary": "\n  \nabc\n  the summary of it all, which is longer than forty characters"},
    {"content": "first line\nsecond"}, {"id": "memory-1"}, {"id": 1234}, {"title": None, "content": ["x"]}, {},
    {"title": "x" * 39 + " y z"},
]  # fmt: skip
PROSE = [
    "", "abc", "abcd", "has abcd in it", "the summary of it all, which is longer t",
    "the summary of it all, which is longer", "second",
    "first line", "memory-1", "1234", "x" * 39, "x" * 38,
]  # fmt: skip
SHOWN: list[Any] = ["a", "é\n\x00", {"a": {1}}, [1, "x" * 200], "x" * 158, "x" * 159, "\u2028", Path("/a")]

REC, OTHER = b'{"id":"a","content":"text"}', '{"id":"b","title":"漢字 \\u00e9"}'.encode()
HEAD = b'{"type":"lro_header","operation":"recall","estimated_tokens":12,"count":2}'
FILES = [
    b"", b"\n", HEAD + b"\n" + REC + b"\n" + OTHER + b"\n", HEAD + b"\n" + REC, REC + b"\n" + HEAD + b"\n",
    REC + b"\n\n" + OTHER + b"\n",
    HEAD + b"\n" + HEAD + b"\n" + REC + b"\n", b'{"operation":"x"}\n' + REC + b"\n" + b'{"operation":"x"}\n',
    b"3\n" + HEAD + b"\n[1]\n",
    HEAD + b"\nnot json\n" + b'{"id":"c","x":NaN}\n{"id":"d","id":"e"}\n\xff\n  \n',
    b'{"type":"other"}\n' + REC + b"\n",
    HEAD + b'\n{"id":' + b"[" * 600 + b"]" * 600 + b"}\n", HEAD + b"\n" + b"[" * 500 + b"]" * 500 + b"\n",
    b"\xef\xbb\xbf" + HEAD + b"\n",
    HEAD + b"\r\n" + REC + b"\r\n", HEAD + b"\n" + b"[" * 251 + b"{}" + b"]" * 251 + b"\n",
    HEAD + b"\n" + b"[" * 9999 + b"\n", HEAD,
    b'{"type":"lro_header","estimated_tokens":true}\n',
    b'{"type":"lro_header","estimated_tokens":9007199254740993}\n' + REC + b"\n",
    HEAD + b'\n{"id":1,"x":[' + b"[]," * 300 + b"{}]}\n", HEAD + b"\n" + "{\"t\":\"é漢\\\\u\"}".encode() + b"\n",
]  # fmt: skip


def file_of(data: bytes) -> list[str]:
    """A file as it is seen."""
    one = FileSeen("/out/x.jsonl", data=data)
    said = [
        f"{line.number} {line.raw[:30]!r} {str(line.value)[:40]} {line.problem} {str(line.record)[:30]}"
        for line in one.lines
    ]
    return [
        *said,
        f"{one.header} {[line.number for line in one.record_lines]} {one.characters} {one.scripts} {len(one.records)}",
    ]


def call(
    result: Any, file: FileSeen | None = None, *, error: Any = None, raw: bytes | None = b"", failure: Any = None
) -> Call:
    """A call that was answered so."""
    reply: Any = Made(result=result, error=error, raw=raw, failure=failure, request=b'{"x"}\n', id=7)
    start: Any = Made(
        settings={"A": 1} if file else {},
        argv=("run", "it"),
        output_dir=None,
        lines={7: 12} if file else {},
        folder="f",
    )
    of: Any = Call
    arguments = {"q": "x" * 50, "n": 1}
    return of("recall", "recall_memories", arguments, None, None, "x", start, (), reply, 0.0, 1.0, 3600, file, None)


DESCRIBED: dict[str, Any] = {
    "offloaded": True, "summary": {"estimated_tokens": 5, "count": 1}, "file_path": "/out/x.jsonl", "line_schema": {},
    "jq_recipes": [],
    "guidance": "g",
}  # fmt: skip
ANSWERS: list[Any] = [None, 3, {}, texts([A]), {**texts("failed"), "isError": True}, texts(DESCRIBED),
texts({**DESCRIBED, "summary": 3}),
                      texts("a memory says: " + json.dumps(DESCRIBED)), {**texts([A]), "isError": False}]  # fmt: skip
SEEN = [None, FileSeen("/out/x.jsonl", data=FILES[2]), FileSeen("/out/x.jsonl", data=FILES[18], lately=False),
FileSeen("/x", "why"),
        FileSeen("/out/x.jsonl", data=FILES[19]), FileSeen("/out/x.jsonl", data=b"y" * 401 + b"\nz")]  # fmt: skip


def called(result: Any) -> Said:
    """What a call tells."""

    def say() -> list[str]:
        said: list[str] = []
        for file in SEEN:
            one = call(result, file)
            said.append(
                f"{one.outcome} {one.records} {one.text[:40]!r} {one.summary} {one.path} {one.estimate} {one.weight}"
            )
            said.append(
                f"{one.label} {one.location()} {one.local} {len(one.filed)} {list(one.header)} {list(one.descriptor)}"
            )
            said += [one.evidence().replace("\n", " / ")[:500], Among(one).location()]
        return said

    return say


RAW = [None, b"", b"x" * 2000, b"x" * 2001, b" y \n"]
FAILURES = [None, Made(kind="exited", detail="code 1"), Made(kind="timeout", detail="")]


def answers() -> list[str]:
    """The beginning of an answer, or why there is none."""
    given = [
        call(None, raw=raw, failure=failure, error=error)
        for raw, failure, error in product(RAW, FAILURES, (None, {"code": 1}))
    ]
    return [f"{inner(calls, '_answer')(c.reply)[-40:]} {c.outcome} {c.weight} {readings.died(c)}" for c in given]


WORDS = ["text", "a text", "", None, "a longer text than this", "a longer text than tha", "a longer text than thas",
"a longX", "a lonX", "another",
         ["x"], {"a": 1}, 3, "a longe", "a longer", "a longerX"]  # fmt: skip
QUERIES = [None, "", "x" * 50, "x" * 99, "x" * 99 + "…", "x" * 100, "x" * 101, "x" * 150 + " …", "y" * 20]
NAMES: list[Any] = [
    ["a"],
    [],
    "a",
    {"a": 2, "b": None},
    {"a": 3},
    [{"namespace": "a", "count": 1}],
    [3],
    {"z": 1},
    {"b": 0},
    [{"name": "b"}],
    None,
]
PAIRS: list[Any] = [[1, 2], [1], [1, 2, 3], ["a", 1], [True, 1], [1.5, 2], None, (1, 2), [2, 1]]
PARTS: list[tuple[str, ...]] = [("title",), ("title", "x"), ("content",), ("x",)]
FIELDS: list[dict[str, Any]] = [{"title": ""}, {"title": "t"}, {"title": "t", "content": "c"}, {}]
WRONG: list[dict[str, Any]] = [
    {}, {"id": "a"}, {"id": "a", "title": 3}, {"id": "a", "tags": "x"}, {"id": "a", "tags": ["x", 1]}, {"id": "a",
    "tags": ["x"]}, {"id": "a", "tags": None},
    {"id": "a", "provenance": []}, {"id": "a", "temporal": "x"}, {"id": "a", "extensions": 3}, {"id": "a",
    "extensions": {}}, {"id": "a", "status": {}},
]  # fmt: skip


def counted() -> list[str]:
    """The first wrong count of a distribution."""
    counts, said = {"a": 2, "b": 1}, list[str]()
    for names, edition in product(NAMES, EDITIONS.values()):
        summary: Any = Made(summary={"top_namespaces": names})
        said.append(str(inner(test_descriptor, "_names")(names, edition)))
        said.append(str(inner(test_descriptor, "_miscounted")(summary, counts, edition)))
    return said


PAGES: list[Any] = [
    {"next_cursor": "x"}, {"hits": [A], "page": {"nextPageToken": 1}}, {"has_more": True}, {"has_more": False},
    {"next_offset": 0}, {"cursor": ""}, {"cursor": None}, {"next_offset": 1}, {"next_offset": -1}, {"total": 7},
]  # fmt: skip

BROKEN = [
    "",
    "words",
    '{"summary": {}}',
    '{"summary": {',
    'x {"summary": {',
    '{"summary": }',
    'so {"summary": } it is',
    '```json\n{"summary": }\n```',
    '\ufeff{"file_path": 3,}',
    '{"file_path": "a',
    'see {"file_path": "a',
    '{ "guidance" : x}',
    '{"other": }',
    '[{"id": "a"}, {"id": "b',
    '[{"id": "a"}, {"id": "b"}]',
    '[{"id": "a"}, {"id"... (cut)',
    '[{"id": "a"}, {"id"... ' + "x" * 60,
    *('[{"id": "a"}, {"id"' + "x" * n for n in (59, 60, 61)),
    '[{"id": "a"}, {"id"... ' + "x" * 80,
    'found [{"id": "a"}',
    '{"id": "a"',
    '{"summary": ' + "[" * 9999,
    '[{"id": "a", "x": ' + "[" * 9999,
    '{"a\\"b": "a", ',
    '{"jq_recipes": [}',
    '{"line_schema": {}} {"summary":',
]
"""Texts in which JSON breaks off, or is none."""

CASES: Cases = {
    **{f"records in {n}": lambda r=r: [str(records.find_records(r, p))[:200] for p in PATHS] + [records.text_of(r)[:80]]
       for n, r in enumerate(RESULTS)},
    "unwrapped": each(records.unwrap, HITS),
    "ids": each(records.id_of, HITS),
    "by id": lambda: [str(records.by_id([A, B, {"id": "a", "x": 1}, {}, C]))],
    "differences": each(records.differences, SIDES, SIDES),
    "lost or changed": each(records.lost_or_changed, SIDES, SIDES, SKIPS[:1]),
    "lost or changed, with skips": each(records.lost_or_changed, SIDES[:12], SIDES[:12], SKIPS[1:]),
    "volatile": lambda: [str(sorted(records.volatile_paths(s, t))) for s, t in product((SIDES[5:8], [A, B]),
    (SIDES[2:9], [A], []))],
    "telling": lambda: [
        f"{t[:20]!r}: {[records.tells_of(t, [m]) for m in MEMORIES]} {records.tells_of(t, MEMORIES)}" for t in PROSE
    ],
    "wide": lambda: [
        f"{records.wide_characters(t)} {readings.wide_share(t)}" for t in ("", "a", "漢字a", "\u2e7f\u2e80", "é")
    ],
    "shown": lambda: [records.show(v) for v in SHOWN] + [records.show("abcdef", n) for n in (6, 7, 8, 9)],
    "places": lambda: [f"{records.at_path(s, p)} {records.value_at(s, p)}" for s in SIDES for p in (("title",),
    ("provenance", "by"), ("extensions", "x", "y"))],
    "blank": lambda: [str(records.is_blank(v)) for v in (None, "", [], {}, 0, False, "a", [0], {"a": 0})],
    "sizes": lambda: [str(records.size(s)) for s in SIDES] + [str(records.as_record(v)) for v in (None, 3, {"a": 1})],
    **{f"file {n}": lambda d=d: file_of(d) for n, d in enumerate(FILES)},
    **{f"call {n}": called(result) for n, result in enumerate(ANSWERS)},
    "answers": answers,
    "beginnings": each(inner(calls, "_beginning"), [b"", b"a\nb", b"x" * 400 + b"\n", b"x" * 401]),
    "headers": each(calls.is_header, [None, {}, {"type": "lro_header"}, {"type": "x"}, ["lro_header"]]),
    "no path": lambda: [str(calls.see_file(p, ())) for p in (None, "", 3, "a\0b", "/" + "a" * 4096, "/" + "a" * 4095,
    "\ud800", "/nowhere/at/all")],
    "no time": lambda: [str(calls.written_since(p, 0.0)) for p in ("relative", "/nowhere/at/all",
    "/a\0b")] + [calls.real_path("a\0b")],
    "descriptors that break off": each(lambda text: records.broken_descriptor(text) is not None, BROKEN),
    "records that break off": each(records.cut_off, BROKEN, [(), ("a",), ("zz", "a"), ("b",)]),
    "cut": each(inner(test_fallback, "_is_cut"), WORDS, WORDS),
    "details": each(inner(test_fallback, "_details"), ["", "stderr: abc", "stderr: ab",
    "file: {\"event\": \"x\", \"why\": \"disk\"}", "x: {\"params\": {\"data\": \"full\"}}",
        "stderr: OffloadWriteFailed 2026-01-01T00:00:00Z no",
        "n: {\"params\": {\"data\": {\"error\": \"ENOSPC\", \"time\": \"abc\"}}}", "n: [1]"]),
    "queries": each(inner(test_unusual, "_said"), QUERIES, ["x" * 100, "x" * 101, "x" * 150, "x" * 99, "y"]),
    "counted": counted,
    "pairs of scores": each(inner(test_descriptor, "_pair"), PAIRS),
    "blank sides": each(inner(test_file, "_blank_side"), FIELDS, FIELDS, PARTS),
    "wrong fields": each(inner(test_file, "_wrong_field"), WRONG),
    "numbers and texts": lambda: [
        str([inner(m, n)(v) for m, n in ((test_file, "_count"), (test_descriptor, "_whole"), (test_file, "_text"))])
        for v in (-1, 0, 1, True, "1", "", None, 1.0)
    ],
    "texts": each(inner(test_descriptor, "_text"), [None, "", "a", 1]),
    "pages": lambda: [str(records.is_a_page(texts(page))) for page in PAGES],
    "sizes of others": lambda: [str(records.size(r)) for r in ({"t": "é"}, {"t": "漢", "u": [1, None]})],
}  # fmt: skip
