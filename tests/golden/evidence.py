"""Checks on a survey that is made up: as a sound server gives it, and with one thing changed in a call or its file."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from types import SimpleNamespace as Made
from typing import Any

from lro_conformance.capture.call import Call, descriptor_in
from lro_conformance.capture.file import FileSeen
from lro_conformance.judging.check import checks, judge
from lro_conformance.judging.derived import Evidence, captured
from lro_conformance.judging.outcome import NotApplicable
from lro_conformance.judging.subjects import reproducer_of
from lro_conformance.lab.operations import Operation
from lro_conformance.trials.survey import Inline, Survey
from lro_spec.catalogue import catalogue
from lro_spec.filenames import parse_file_name
from lro_spec.recipes.render import render
from tests.golden import Cases, Said
from tests.support.made_evidence import OUT

ULID = "01KJPY44E0A1B2C3D4E5F6G7"
PARTS = parse_file_name(f"atlatl-recall-{ULID}H8.jsonl")
assert PARTS is not None
WRITTEN = PARTS.created.timestamp()
NOTHING: Any = object()
Change = dict[str, Any]
GUIDE = (
    "{count} memories ({tokens} tokens) are in {path}, detail: {detail}. Read it with the jq recipes, by number; "
    "line 1 is a header (type lro_header), which tail -n +2 leaves out."
)


def fields(number: int, detail: str | None) -> dict[str, Any]:
    """A memory as it is at a level."""
    light = {
        "id": f"m{number}",
        "memory_type": "semantic",
        "namespace": "ab"[number % 2],
        "title": f"memory {number}",
        "score": number / 8,
    }
    summary = {"summary": "what it is about"} if detail in ("medium", "full", "inject") else {}
    full = {"content": "text " * 20, "created": "2026-01-01T00:00:00Z"} if detail == "full" else {}
    return {**light, **summary, **full}


def _lines(texts: list[bytes]) -> bytes:
    return b"".join(text + b"\n" for text in texts)


class Told(Call):
    """A call that no script makes once more."""


@reproducer_of.register
def _(_call: Told) -> str:
    return ""


def changed(whole: dict[str, Any], change: dict[str, Any]) -> dict[str, Any]:
    """With some of it put otherwise, or left out."""
    return {name: value for name, value in {**whole, **change}.items() if value is not NOTHING}


def made(
    place: int,
    operation: str,
    detail: str | None,
    limit: int | None,
    change: Change,
    *,
    inline: bool = False,
    query: str | None = "*",
) -> Call:
    """A call and its answer; with a change in it."""
    level = detail or {"inject": "medium"}.get(operation, "light")
    kept = [changed(fields(n, level), change.get("record", {})) for n in range(min(limit or 6, 6))]
    path = change.get("path", f"/out/atlatl-{operation}-{ULID}{place:02}.jsonl")
    lines = [json.dumps(r, ensure_ascii=False).encode() for r in kept]
    weight = -(-sum(map(len, lines)) // 4)
    header = {
        "type": "lro_header", "operation": operation, "query": query, "count": len(kept), "schema_version": "1.0",
        "timestamp": "2026-03-02T09:30:00Z", "estimated_tokens": weight, "detail": level,
    }  # fmt: skip
    header["timestamp"] = PARTS.created.isoformat().replace("+00:00", "Z") if PARTS is not None else ""
    text = [json.dumps(changed(header, change.get("header", {}))).encode(), *lines]
    data = change.get("data", _lines)(text)
    found = render(change.get("edition", "lro-6400"), path, detail=level)
    recipes = [{"description": r.description, "command": r.command} for r in found]
    summary = {
        "count": len(kept), "estimated_tokens": weight, "operation": operation, "top_namespaces": ["a",
        "b"][: len(kept)],
        "score_range": [0.0, (len(kept) - 1) / 8], "detail": level,
    }  # fmt: skip
    whole = {
        "offloaded": True, "summary": changed(summary, change.get("summary", {})), "file_path": path,
        "guidance": GUIDE.format(count=len(kept), tokens=weight, path=path, detail=level),
        "line_schema": {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]},
        "jq_recipes": change.get("recipes", list)(recipes),
    }  # fmt: skip
    told = json.dumps(changed(whole, change.get("descriptor", {}))) if not inline else json.dumps(kept)
    result = change.get("result", {"content": [{"type": "text", "text": told}]})
    reply: Any = Made(result=result, error=change.get("error"), raw=b"x", failure=None, request=b"", id=place)
    start: Any = Made(
        number=1 + place // 30,
        settings={},
        env={},
        argv=("serve",),
        cwd=Path("/srv"),
        output_dir=OUT,
        lines={},
        folder="",
        **change.get("start", {}),
    )
    written = FileSeen(path, data=data, mode=0o600, real_path=path, **change.get("file", {}))
    file = None if inline or result is None or change.get("no file") else written
    arguments = {"query": query, "limit": limit, "detail": detail}
    of: Any = Told
    began = change.get("began", WRITTEN)
    asked = ("recall_memories", arguments, detail, limit, change.get("query", query))
    return of(
        operation, *asked, start, (), reply, began, began + 0.5, change.get("zone", 0), file, OUT, descriptor_in(reply)
    )


@cache
def usual(place: int, operation: str, level: str | None, limit: int | None, *, inline: bool) -> Call:
    """A call in which nothing is changed. All cases share it, so that it is validated once."""
    return made(place, operation, level, limit, {}, inline=inline)


ASKED: list[tuple[str, str | None, int | None]] = [
    ("recall", None, None), ("recall", "light", None), ("recall", "medium", None), ("recall", "full", None), ("recall",
    "light", 40),
    ("recall", "light", 40), ("recall", None, 2), ("recall", None, 1), ("inject", None, None), ("inject", "medium",
    40), ("inject", "medium", 40),
    ("search", None, None), ("search", "full", None),
]  # fmt: skip


def operation(name: str) -> Operation:
    """An operation with all levels."""
    return Operation(name, f"{name}_memories", {}, "query", "limit", "detail", None, ("light", "medium", "full"), None)


def evidence(at: int | None, change: Change, *, inline: bool = False) -> dict[str, Any]:
    """A survey, and the same calls inline."""
    calls = [
        made(n, *asked, change, inline=inline) if at in (n, -1) else usual(n, *asked, inline=inline)
        for n, asked in enumerate(ASKED)
    ]
    flown = [usual(20 + n, *ASKED[place], inline=inline) for n, place in enumerate((1, 6))]
    plain = [usual(n, *asked, inline=True) for n, asked in enumerate(ASKED)]
    first: dict[tuple[str, str | None], int] = {}
    for n, (name, detail, limit) in enumerate(ASKED):
        if limit is None:
            first.setdefault((name, detail), n)
    tools = [{"name": "recall_memories", "description": "Recalls"}, {"name": "store"}]
    survey = Survey(
        operations={n: operation(n) for n in ("recall", "inject", "search")}, tools=tools,
        calls=tuple(calls),
        whole={key: calls[n] for key, n in first.items()}, repeats={"recall": (calls[4], calls[5]),
        "inject": (calls[9], calls[10])},
        tiny={"recall": calls[6]}, single={"recall": calls[7]}, together=((flown[0], calls[1]), (flown[1], calls[6])),
        budgets=(), unsettled=(),
        later={c.file.path: c.file for c in calls if c.file is not None}, unnamed=(), word=None, adjustable=True,
        anomalies=(),
        server_info={"name": "x", "version": "1"}, protocol="2025-11-25",
    )  # fmt: skip
    shown = Inline(
        {key: plain[n] for key, n in first.items()}, {"recall": plain[0], "inject": plain[8]},
        {"recall": plain[4]},
        {"recall": plain[0]}, (),
    )  # fmt: skip
    return {"survey": survey, "inline": shown}


def under(**values: Any) -> list[Change]:
    """A change to each of some fields."""
    return [{"header": {name: value}} for name, some in values.items() for value in some]


def rows(change: Callable[[list[bytes]], bytes]) -> Change:
    """A change to the bytes of a file."""
    return {"data": change}


LONG = "x" * 4001
GUIDANCE: list[str] = [
    "", " ", "a", "x" * 4000, LONG, "In {path}", "7 memories", "recipe #11", "detail: full", "12 tokens",
    "Use jq, not cat: /out/other.jsonl",
    "Detail level: light. `jq '.id' f`", "extract with #2 (titles)",
]  # fmt: skip
COMMANDS: list[Any] = [
    None,
    3,
    [],
    [3],
    [{"description": "d"}],
    [{"command": "jq . f"}],
    [{"description": "", "command": "jq . {file}"}],
]
CHANGES: list[Change] = [
    {},
    *under(type=[NOTHING, "x"], operation=[NOTHING, "search", "", 3], query=[NOTHING, None, "", "x", 3],
    count=[NOTHING, 5, 7, -1, True, "6", 6.0]),
    *under(schema_version=[NOTHING, "", "2.0", 1], detail=[NOTHING, "full", "medium", "x", "", 3]),
    *under(estimated_tokens=[NOTHING, 0, 1, -1, True, "1", 99_999, 10_000_000]),
    *under(timestamp=[NOTHING, "", "now", "2026-03-02", "2020-01-01T00:00:00Z", "2020-01-01T00:00:00", 3]),
    *({"record": {name: value}} for name in ("id", "title", "namespace", "content", "provenance", "tags",
    "score") for value in (NOTHING, None, 3, "", "y")),
    {"record": {"tags": ["x", 1]}}, {"record": {"provenance": {"confidence": 0.5}, "score": NOTHING}},
    {"record": {"id": ["x"]}}, {"record": {"extra": [1]}},
    *({"summary": {name: value}} for name in ("count", "estimated_tokens", "operation", "detail",
    "top_namespaces") for value in (NOTHING, None, -1, "x", "")),
    *({"summary": {"top_namespaces": v}} for v in ([], ["a"], ["b"], ["a", "a"], ["a", "b", "c"], [1], list("abcdef"),
    "a", {"a": 3, "b": 3}, {"a": 2})),
    *({"summary": {"score_range": v}} for v in (NOTHING, None, [], [0.0], [0.625, 0.0], [0.0, 0.63], [0.0, 0.636],
    [0.0, 0.6], ["a", 1], 3, [True, 1])),
    *({"summary": {"estimated_tokens": v}} for v in (0, 1, 50, 99_999, True, 1.5)),
    *({"summary": {"count": v}} for v in (5, 7, True, 6.0)),
    *({"descriptor": {"guidance": v}} for v in (NOTHING, None, 3, *GUIDANCE)),
    *({"descriptor": {"jq_recipes": v}} for v in COMMANDS),
    *({"descriptor": {"file_path": v}} for v in (NOTHING, None, "", 3, "relative.jsonl", "/out/other.jsonl")),
    {"descriptor": {"offloaded": False}},
    *({"descriptor": {"line_schema": v}} for v in (NOTHING, None, 3, {}, True, {"type": "x"}, {"required": ["x"]},
    {"properties": {"id": {"type": "integer"}}})),
    *({"descriptor": {"summary": v}} for v in (NOTHING, None, 3)), {"descriptor": {"summary": {}}},
    {"descriptor": {"extra": 1}},
    *({"path": f"/out/{name}"} for name in ("x.jsonl", f"lro-recall-{ULID}00.jsonl", f"atlatl-search-{ULID}00.jsonl",
    f"a/atlatl-recall-{ULID}00.jsonl")),
    {"path": f"/out/atlatl-recall-{ULID}06.jsonl"}, {"path": f"/other/atlatl-recall-{ULID}00.jsonl"},
    rows(b"\n".join), rows(lambda r: b""), rows(lambda r: b"\xef\xbb\xbf" + b"\n".join(r)),
    rows(lambda r: b"\r\n".join(r)),
    rows(lambda r: b"\n".join(r[1:])), rows(lambda r: b"\n".join([*r, r[0]])), rows(lambda r: b"\n".join([r[1], r[0],
    *r[2:]])),
    rows(lambda r: b"\n".join([*r, r[1]])), rows(lambda r: b"\n".join(r[:-1])), rows(lambda r: b"\n".join([*r, b"",
    b"x"])),
    rows(lambda r: b"\n".join([*r, b"3"])), rows(lambda r: b"\n".join([*r, b'{"id":"z","x":NaN}'])),
    rows(lambda r: r[0]), rows(lambda r: b"\n\n".join(r)),
    rows(lambda r: b"\n".join([r[0], *r[:0:-1]])), rows(lambda r: b"\n".join([*r, b"\xff"])),
    rows(lambda r: b"[1]\n" + b"\n".join(r)),
    *({"file": {"problem": v}} for v in ("is not there",)), {"no file": True}, {"result": None, "error": {"code": 1}},
    {"result": None}, {"result": {"content": []}},
    {"result": {"content": [{"type": "text", "text": "No memories."}]}}, {"result": {"content": [{"type": "text",
    "text": "no"}], "isError": True}},
    *({"began": WRITTEN + off} for off in (-86_400.0, -10.0, -3.0, 3.0, 10.0, 86_400.0)), {"query": None},
    {"query": "x"}, {"query": " "}, {"zone": 3600},
]  # fmt: skip
SURVEYED = [c for c in checks() if c.needs and set(captured(c.needs)) <= {"survey", "inline", "documented"}]


def found(have: dict[str, Any], edition: str) -> list[str]:
    """What each check finds; those left out that find nothing to look at."""
    said: list[str] = []
    known = {r.id for r in catalogue(edition)}
    evidence = Evidence(edition, {"documented": NotApplicable("the profile has no other names"), **have})
    for one in (c for c in SURVEYED if c.requirement in known):
        result = judge(one, evidence.select(one.needs), edition=edition)
        if result.subjects or result.verdict.label == "error":
            told = "" if result.verdict.label == "pass" else f": {result.expected[:50]} / {result.observed[:50]}"
            said.append(f"{one.name} {result.verdict.label} {result.subjects}{told}")
    return said


@cache
def sound(edition: str) -> list[str]:
    """The findings about a sound server, made for the first case that compares with them, not when cases are listed."""
    return found(evidence(None, {}), edition)


def of(at: int, change: Change, edition: str) -> Said:
    """What is found otherwise than of a sound server."""

    def say() -> list[str]:
        there = found(evidence(at, change), edition)
        names = {line.partition(" ")[0] for line in there}
        gone = [f"not {line}" for line in sound(edition) if line.partition(" ")[0] not in names]
        return gone + [line for line in there if line not in sound(edition)]

    return say


CASES: Cases = {
    **{f"sound by {edition}": partial(sound, edition) for edition in ("lro-6400", "lro-paper")},
    "all inline": lambda: found(evidence(None, {}, inline=True), "lro-6400"),
    **{f"first call, change {n}": of(0, change, "lro-6400") for n, change in enumerate(CHANGES)},
    **{f"every call, change {n}": of(-1, change, "lro-6400") for n, change in enumerate(CHANGES)},
    **{
        f"first call by the paper, change {n}": of(0, change, "lro-paper")
        for n, change in enumerate(CHANGES)
        if change.keys() & {"header", "summary"}
    },
}
