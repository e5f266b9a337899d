"""Checks of unusual queries, clients, folders and memories, on evidence that is made up: sound, and otherwise."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from lro_conformance.analysis.documents import Documents, validated
from lro_conformance.capture.call import Call
from lro_conformance.capture.corpus import DELICATE_IDS, delicate_memory, large, mixed_memories, odd_query, rough_memory
from lro_conformance.checks import test_edge_cases
from lro_conformance.trials.disabled import Disabled
from lro_conformance.trials.fallback import Fallback
from lro_conformance.trials.folders import AWKWARD, Folders
from lro_conformance.trials.seeded import Seeded
from lro_conformance.trials.survey import Survey
from lro_conformance.wire.reply import Failure
from lro_spec.editions import edition
from lro_spec.validation.request import Request
from tests.golden import Cases
from tests.golden.evidence import NOTHING, ULID, Change, evidence, made
from tests.golden.finding import Evidence, Finding, judged
from tests.support.private import inner

QUERY = odd_query("memory")
ODD = {"query": QUERY, "header": {"query": QUERY}}
AWAY = f"/out/{AWKWARD}/atlatl-recall-{ULID[:10]}Z1B2C3D4E5F6G700.jsonl"
UNSET = {"path": f"/tmp/atlatl-recall-{ULID[:10]}Y1B2C3D4E5F6G700.jsonl"}
DIED = {"result": None, "failure": Failure("exited", "exit code 1")}
LATE = {"result": None, "failure": Failure("timeout", "no answer within 5 s")}
ERROR: Change = {"result": None, "error": {"code": -32602, "message": "nothing found"}}


def of(records: Sequence[dict[str, Any]], place: int, **change: Any) -> Call:
    """A call whose file has these records."""
    head = {"count": len(records), **change.pop("header", {})}
    texts = [json.dumps(record, ensure_ascii=False).encode() for record in records]
    weight = sum(len(t.decode()) for t in texts) // 4
    head.setdefault("estimated_tokens", weight)

    def lines(kept: list[bytes]) -> bytes:
        return b"".join(text + b"\n" for text in (kept[0], *texts))

    return made(place, "recall", "full", 5, {"data": lines, "header": head, **change})


def shown(records: Sequence[dict[str, Any]], place: int) -> Call:
    """A call that has these records inline."""
    text = json.dumps(records, ensure_ascii=False)
    return made(place, "recall", "full", 5, {"result": {"content": [{"type": "text", "text": text}]}}, inline=True)


def answered(change: Change, place: int = 0) -> Call:
    """A call whose answer is no file; the reason may be a failure."""
    call = made(place, "recall", None, 5, change, inline=True)
    reply: Any = call.reply
    reply.failure = change.get("failure")
    return call


@cache
def usual() -> Evidence:
    """What a sound server does otherwise."""
    return evidence(None, {})


FIVE = [{"id": f"s{n}"} for n in range(5)]
TWO = [{**delicate_memory(), "id": id} for id in DELICATE_IDS]
BIG = large(400)
WORDS: Change = {"result": {"content": [{"type": "text", "text": "nothing"}]}}


def seeded(**change: Any) -> Seeded:
    """What a sound server makes of memories that were stored."""
    known: dict[str, Any] = {
        "wide": (of([{"id": "w", "title": "漢字"}], 30, header={"estimated_tokens": 10}),),
        "large": shown([BIG], 31), "large_filed": of([BIG], 32), "large_estimate": 250,
        "huge": of([{"id": "h", "content": "archaeopteryx " * 300}], 33),
        "delicate": shown(TWO, 34), "delicate_filed": of(TWO, 35), "rough": shown([rough_memory()], 36),
        "rough_filed": of([rough_memory()], 37), "mixed": (of(mixed_memories()[:2], 38), of(mixed_memories()[2:], 39)),
    }  # fmt: skip
    return Seeded(**{**known, **change})


def folders(**change: Any) -> Folders:
    """What a sound server does in unusual circumstances."""
    odd = made(40, "recall", "light", 40, ODD), made(41, "search", "full", 40, ODD)
    known: dict[str, Any] = {
        "unset": (made(42, "recall", None, 5, UNSET), made(43, "inject", None, 5, UNSET)),
        "real_temps": (Path("/tmp"),),
        "refused": None, "by_other_client": (made(44, "recall", None, 5, {}), made(45, "inject", None, 5, {})),
        "unusual_queries": odd,
        "nothing": (answered(WORDS, 46), made(47, "search", None, 5, WORDS, inline=True)),
        "awkward": (made(0, "recall", "light", 5, {"path": AWAY}),), "awkward_dir": Path("/out", AWKWARD),
    }  # fmt: skip
    return Folders(**{**known, **change})


def documents(survey: Survey, folder: Folders) -> Documents:
    """What validation finds in descriptors, as far as no recipe is run."""
    calls = [c for c in (*survey.files[:1], *folder.unusual_queries) if c.outcome == "offloaded"]
    return Documents(tuple(validated(c, Request(c.operation, c.detail), edition("lro-6400")) for c in calls), {})


def have(
    *,
    at: int | None = None,
    change: Change | None = None,
    folder: Change | None = None,
    seed: Change | None = None,
    off: Sequence[Change] = (WORDS, WORDS),
    switched: tuple[Call, ...] = (),
    again: tuple[Call, ...] = (),
    **survey: Any,
) -> Evidence:
    """The evidence of a sound server, with some of it changed."""
    known = usual() if at is None else evidence(at, change or {})
    asked = zip(NAMES, off, strict=False)
    off_calls = tuple(made(n, name, None, 5, c, inline=True) for n, (name, c) in enumerate(asked))
    looked, unusual = replace(known["survey"], **survey), folders(**(folder or {}))
    return {
        "survey": looked,
        "inline": replace(known["inline"], again={call.operation: call for call in again}),
        "disabled": Disabled(switched, {}, off_calls),
        "folders": unusual,
        "recipes": documents(looked, unusual),
        "seeded": seeded(**(seed or {})),
        "fallback": Fallback((), (), {}),
    }


def grew(more: bytes = b"") -> Change:
    """A file that was not complete when it was named."""
    settled = usual()["survey"].calls[0]
    early = replace(settled, file=replace(settled.file, data=settled.file.data[:-1]))
    after = replace(settled.file, data=settled.file.data + more)
    return {"unsettled": (early,), "later": {**usual()["survey"].later, settled.path: after}}


NAMES = ("recall", "search")


def odd(first: Change, second: Change | None = None) -> Change:
    """Calls with an unusual query otherwise."""
    one = made(40, "recall", "light", 40, {**ODD, **first})
    other = made(41, "search", "full", 40, {**ODD, **(second or {})})
    return {"folder": {"unusual_queries": (one, other)}}


def told(query: Any) -> Change:
    """A header that tells a query otherwise."""
    return odd({"header": {"query": query}})


def recipe(number: int, change: Callable[[dict[str, Any]], Any]) -> Change:
    """One of the recipes otherwise."""
    return {"recipes": lambda rs: [change(r) if n == number else r for n, r in enumerate(rs)]}  # type: ignore[misc]


def command(old: str, new: str) -> Callable[[dict[str, Any]], Any]:
    """A recipe with something else in the place of a part of its command."""
    return lambda r: {**r, "command": r["command"].replace(old, new)}


def awkward(change: Change) -> Change:
    """A call in a folder with an awkward name otherwise."""
    return {"folder": {"awkward": (made(0, "recall", "light", 5, {"path": AWAY, **change}),)}}


def twin(**value: Any) -> Change:
    """The memory with careful values otherwise in its file."""
    return {"seed": {"delicate_filed": of([{**one, **value} for one in TWO], 35)}}


OTHER = command("/out/", "/other/")
EARLIER = command("/out/", "/0/")
LATER = command("/out/", "/p/")
NO_PROGRAM = command("jq ", "jq '(' ")
BEYOND = command("| jq", "| awk '{print $1}' | jq")
WIDE = of([{"id": "w", "title": "漢字"}], 30, header={"estimated_tokens": 10})
CHANGES: dict[str, Change] = {
    "a file cannot be read": odd({"file": {"problem": "cannot be opened"}}),
    "no file can be read": {"folder": {"unusual_queries": ()}},
    "the header has no query": told(NOTHING),
    "the header has another query": told("memory"),
    "the header has null": told(None),
    "the header has a number": told(5),
    "the header has the query on one line": told(" ".join(QUERY.split())),
    "the header is not there": odd({"data": lambda rows: b"\n".join(rows[1:])}),
    "the header of the first tells nothing, of the other nothing true": odd(
        {"header": {"query": 3}}, {"header": {"query": "x"}}
    ),
    "a long query is cut": odd({"query": "x " * 200, "header": {"query": "x " * 60 + "…"}}),
    "a recipe is wrong": odd({}, recipe(2, NO_PROGRAM)),
    "a recipe has no description": odd({}, recipe(2, lambda r: {**r, "description": " "})),
    "a recipe is of another file": odd({}, recipe(2, OTHER)),
    "a recipe is of an earlier file": odd({}, recipe(2, EARLIER)),
    "a recipe is of a later file": odd({}, recipe(2, LATER)),
    "a recipe is more than is understood": odd({}, recipe(2, BEYOND)),
    "two recipes are more than is understood, and one is wrong": odd(
        recipe(2, BEYOND), {"recipes": lambda rs: [BEYOND(rs[0]), *rs[1:5], NO_PROGRAM(rs[5]), *rs[6:]]}
    ),
    "a recipe is always wrong": {"at": -1, "change": recipe(2, NO_PROGRAM), **odd({}, recipe(2, NO_PROGRAM))},
    "a recipe is always of another file": {"at": -1, "change": recipe(2, OTHER), **odd({}, recipe(2, OTHER))},
    "a recipe is always of an earlier file": {"at": -1, "change": recipe(2, EARLIER), **odd({}, recipe(2, EARLIER))},
    "a recipe is always wrong, and another one here": {
        "at": -1, "change": recipe(0, NO_PROGRAM), **odd({}, {"recipes": lambda rs: [NO_PROGRAM(r) for r in rs[:3]]}),
    },
    "a recipe is wrong in the first call": {"at": 0, "change": recipe(2, NO_PROGRAM)},
    "a recipe is wrong in the second call": {"at": 1, "change": recipe(2, NO_PROGRAM)},
    "nothing is found, and it is an error": {"folder": {"nothing": (answered(ERROR), answered(WORDS))}},
    "nothing is found, and the server ends": {"folder": {"nothing": (answered(DIED), answered(WORDS))}},
    "nothing is found too late": {"folder": {"nothing": (answered(LATE), answered(ERROR))}},
    "nothing is found, and is offloaded": {"folder": {"nothing": (made(46, "recall", None, 5, {}),)}},
    "nothing is found, and always an error": {"off": (ERROR, WORDS), "folder": {"nothing": (answered(ERROR), made(
        47, "search", None, 5, ERROR, inline=True))}},
    "nothing is found, and only here": {"off": (), "folder": {"nothing": (answered(ERROR),)}},
    "an unusual query is answered inline": {
        "folder": {"unusual_queries": (shown([{"id": "a"}, {"id": "b"}], 40), made(41, "search", "full", 40, ODD))},
    },
    "an unusual query is answered inline, and so is the usual one": {
        "folder": {
            "unset": (made(42, "recall", None, 5, WORDS, inline=True), made(43, "inject", None, 5, UNSET)),
            "unusual_queries": (shown([{"id": "a"}], 40),),
        },
    },
    "an unusual query finds nothing": {
        "folder": {"unusual_queries": (shown([], 40), made(41, "recall", "light", 40, ODD))},
    },
    "switched off, all is there": {"switched": (shown(FIVE, 60),), "again": (shown(FIVE, 61),)},
    "switched off, two are there": {"switched": (shown(FIVE[:2], 60),), "again": (shown(FIVE, 61),)},
    "switched off, one is there": {"switched": (shown(FIVE[:1], 60),), "again": (shown(FIVE, 61),)},
    "switched off, none is there": {"switched": (shown([], 60),), "again": (shown([*FIVE, *FIVE], 61),)},
    "switched off, one of four is there": {"switched": (shown(FIVE[:1], 60),), "again": (shown(FIVE[1:], 61),)},
    "switched off, a text is there": {"switched": (answered(WORDS, 60),), "again": (shown(FIVE, 61),)},
    "switched on, a text is there": {"switched": (shown(FIVE[:1], 60),), "again": (answered(WORDS, 61),)},
    "switched off, it is offloaded": {"switched": (of(FIVE[:1], 60),), "again": (shown(FIVE, 61),)},
    "switched on, it is offloaded": {"switched": (shown(FIVE[:1], 60),), "again": (of(FIVE, 61),)},
    "switched off, one was not asked for otherwise": {
        "switched": (replace(shown(FIVE[:1], 60), operation="search"), shown(FIVE[:1], 61)),
        "again": (shown(FIVE, 62),),
    },
    "another client is not served": {
        "folder": {
            "by_other_client": (made(44, "recall", None, 5, {}), made(45, "inject", None, 5, WORDS, inline=True))
        },
    },
    "another client gets no answer": {
        "folder": {"by_other_client": (answered({"result": None}), made(45, "inject", None, 5, WORDS, inline=True))},
    },
    "no client is served": {
        "folder": {
            "unset": (made(42, "recall", None, 5, WORDS, inline=True), made(43, "inject", None, 5, {})),
            "by_other_client": tuple(made(44, name, None, 5, WORDS, inline=True) for name in ("recall", "inject")),
        },
    },
    "a large memory is cut": {"seed": {"large_filed": of([{**BIG, "content": BIG["content"][:300]}], 32)}},
    "a large memory grew": {"seed": {"large_filed": of([{**BIG, "content": BIG["content"] + "z"}], 32)}},
    "a large memory lost its title": {"seed": {"large_filed": of([{**BIG, "title": None}], 32)}},
    "a large memory is not in the file": {"seed": {"large_filed": of([rough_memory()], 32)}},
    "a large memory is in no file": {"seed": {"large_filed": None}},
    "a large memory is not inline": {"seed": {"large": shown([rough_memory()], 31)}},
    "a large memory is nowhere": {"seed": {"large": None, "large_filed": None}},
    "a large memory is twice in the file": {
        "seed": {"large_filed": of([BIG, {**BIG, "content": f"{BIG['content']} once more"}], 32)},
    },
    "a large memory stands on a line with a fault, too": {
        "seed": {
            "large_filed": of([BIG], 32, data=lambda rows: b"\n".join(
                [rows[0], json.dumps(BIG).replace("}", ', "x": NaN}').encode(), json.dumps(BIG).encode()])),
        },
    },
    "letters are composed": twin(title="zwitterion caf\u00e9"),
    "a fraction is rounded": twin(provenance={"confidence": 0.12, "source_type": "observation", "agent": "suite"}),
    "two fields are otherwise": twin(tags=["x"], entities=[]),
    "a value is otherwise inline than it was stored": {
        "seed": {"delicate": shown([{**one, "status": "new"} for one in TWO], 34)},
    },
    "the careful memory is not inline": {"seed": {"delicate": None}},
    "the careful memory is in no file": {"seed": {"delicate_filed": None}},
    "the careful memory is not in the file": {"seed": {"delicate_filed": of([rough_memory()], 35)}},
    "the careful memory is nowhere": {"seed": {"delicate": None, "delicate_filed": None}},
    "one of two is lost": {"seed": {"delicate_filed": of(TWO[:1], 35)}},
    "one of two is inline": {"seed": {"delicate": shown(TWO[:1], 34), "delicate_filed": of(TWO[:1], 35)}},
    "one of two is inline, and two are filed": {"seed": {"delicate": shown(TWO[:1], 34)}},
    "rough values are lost": {"seed": {"rough_filed": of([{**rough_memory(), "extensions": {}}], 37)}},
    "rough values are refused": {"seed": {"rough": None, "rough_filed": None}},
    "an estimate is that of another call": {
        "seed": {"rough_filed": of([rough_memory()], 37, header={"estimated_tokens": 9})},
    },
    "an estimate is not there": {
        "seed": {"wide": (of([{"id": "w"}], 30, header={"estimated_tokens": None}, summary={"estimated_tokens": ""}),)},
    },
    "an estimate is inject's": {"seed": {"wide": (replace(WIDE, operation="inject"),)}},
    "estimates are of another level": {"at": 3, "change": {"header": {"estimated_tokens": 135}}},
    "estimates of another operation are of another level": {
        "at": 3, "change": {"header": {"estimated_tokens": 135}},
        "seed": {"wide": (replace(WIDE, operation="search"),)},
    },
    "a huge memory is inline": {"seed": {"huge": shown([{"id": "h", "content": "archaeopteryx " * 300}], 33)}},
    "a huge memory is not huge": {"seed": {"huge": shown([{"id": "h", "content": "archaeopteryx " * 100}], 33)}},
    "a huge memory is not there": {"seed": {"huge": None}},
    "a huge memory is as large as may be": {
        "seed": {"huge": shown([{"id": "h", "content": "archaeopteryx" + "x" * 3987}], 33), "large_estimate": 300},
    },
    "a huge memory is inline, and the estimate is of another": {
        "seed": {
            "huge": shown([{"id": "h", "content": "archaeopteryx " * 300}], 33),
            "rough_filed": of([rough_memory()], 37, header={"estimated_tokens": 9}),
        },
    },
    "a recipe is of a later file everywhere": {"at": -1, "change": recipe(0, LATER), **awkward(recipe(0, LATER))},
    "an awkward folder breaks a recipe": awkward(recipe(2, command("'\"'\"'", "'"))),
    "an awkward folder is not the recipe's": awkward(recipe(2, OTHER)),
    "an awkward folder is an earlier one": awkward(recipe(2, EARLIER)),
    "an awkward folder is a later one": awkward(recipe(2, LATER)),
    "a recipe is wrong everywhere": {"at": -1, "change": recipe(0, NO_PROGRAM), **awkward({"recipes": lambda rs: [
        NO_PROGRAM(rs[0]), OTHER(rs[1])]})},
    "a recipe is of another file everywhere": {"at": -1, "change": recipe(0, OTHER), **awkward(recipe(0, OTHER))},
    "a recipe is of an earlier file everywhere": {
        "at": -1, "change": recipe(0, EARLIER), **awkward(recipe(0, EARLIER)),
    },
    "an awkward folder has nothing": {"folder": {"awkward": (answered(WORDS),)}},
    "something is left": {"unnamed": tuple("abcdefg")},
    "a file went": {"later": {}},
    "the first file went": {"later": dict(list(usual()["survey"].later.items())[1:])},
    "a file grew, and not any more": grew(),
    "a file grew, and once more": grew(b"more"),
    "a file was changed": {"at": 0, "change": {"data": lambda rows: b"x"}},
}  # fmt: skip


def estimates() -> list[str]:
    """Which estimates of a file are roughly honest."""
    said: list[str] = []
    last: bool | None = None
    for n in range(1200):
        one = of([{"id": "w", "title": "x" * 900}], 30, header={"estimated_tokens": n})
        now = inner(test_edge_cases, "_roughly_honest")(one)
        if now is not last:
            said.append(f"from {n} on {now}")
        last = now
    return said


FINDING = Finding(judged("edge_cases", "hardening", "config.disabled_truncates_nothing"), have)
CASES: Cases = {**FINDING.cases(CHANGES), "rough estimates": estimates}
