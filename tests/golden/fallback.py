"""Checks of failed writes, on evidence that is made up: as a sound server gives it, and with one thing changed."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, cast

from lro_conformance.analysis import failed_writes
from lro_conformance.capture.call import Call
from lro_conformance.capture.records import by_id
from lro_conformance.judging.subjects import reproducer_of
from lro_conformance.trials.fallback import Failing, Fallback
from tests.golden import Cases
from tests.golden.evidence import Change, evidence, fields, made
from tests.golden.finding import Evidence, Finding, judged
from tests.support.private import inner

PLACES = {"recall": 4, "inject": 9}
"""Of the repeated calls among those of the survey."""
WARNING = "Warning: offloading failed, so that the results are truncated."
EVENT = "stderr: OffloadWriteFailed no space left on device"
THRESHOLD = 24


class Told(Failing):
    """One that no script makes once more."""


@reproducer_of.register
def _(_failing: Told) -> str:
    return ""


def told(kept: Iterable[Any], *words: str, **more: Any) -> Change:
    """An inline answer: these records, and words beside them."""
    texts = [json.dumps(list(kept)), *words]
    return {"result": {"content": [{"type": "text", "text": text} for text in texts], **more}}


def written(text: str, **more: Any) -> Change:
    """An answer that is a formatted text."""
    return {"result": {"content": [{"type": "text", "text": text}], **more}}


def light(count: int) -> list[dict[str, Any]]:
    """The first memories, at the level that is asked for."""
    return [fields(n, "light") for n in range(count)]


def call(operation: str, change: Change, *, inline: bool = True) -> Call:
    """A call whose file is to lie where another's cannot."""
    level = {"recall": "light", "inject": "medium"}[operation]
    return made(PLACES[operation], operation, level, 40, change, inline=inline)


def failing(
    operation: str = "recall",
    answer: Change | None = None,
    original: Change | None = None,
    *,
    filed: bool = False,
    **other: Any,
) -> Failing:
    """A call whose result could not be written."""
    first = call(operation, original or {}, inline=False)
    known: dict[str, Any] = {
        "kind": "replaced by a file", "threshold": THRESHOLD, "server": 7, "known": by_id(first.file_records),
        "alive": True,
        "events": (EVENT,), "first": True, "events_observable": True, "new_entries": (),
    }  # fmt: skip
    shown = told(first.file_records[:1], WARNING) if answer is None else answer
    return Told(call=call(operation, shown, inline=not filed), original=first, **{**known, **other})


def have(
    *,
    recovered: tuple[Change, ...] = ({}, {}),
    skipped: Change | None = None,
    failed: tuple[Failing, ...] | None = None,
    at: int | None = None,
    change: Change | None = None,
    survey: Change | None = None,
    **first: Any,
) -> Evidence:
    """What a sound server does when writing fails; the *first* of its calls and some of the survey may be otherwise."""
    known = evidence(at, change or {})
    known["survey"].tiny["inject"] = call("inject", {}, inline=False)
    calls = (failing(**first), failing("inject")) if failed is None else failed
    again = tuple(call(n, c, inline=bool(c)) for n, c in zip(PLACES, recovered, strict=False))
    changed = replace(known["survey"], **(survey or {}))
    return {**known, "survey": changed, "fallback": Fallback(calls, again, skipped or {})}


EQUAL: Change = {"at": 3, "change": {"header": {"estimated_tokens": 135}}}
"""An estimate that does not follow the detail level: full has what light has."""
ERROR: Change = {"result": None, "error": {"code": -32603, "message": "disk"}}
FILED: Change = {"answer": {}, "filed": True, "events": ()}
HALF: Change = {"warning": "Offloading failed: no space left, sorry. Ask later."}
PROSE = "## Context\n\nmemory 0\nmemory 1"
CHANGES: dict[str, Change] = {
    "an error": {"answer": ERROR},
    "no answer": {"answer": {"result": None}},
    "an error as a result": {"answer": written("disk full", isError=True)},
    "the end of the server": {"alive": False},
    "the end of the server without an answer": {"answer": {"result": None}, "alive": False},
    "all records": {"answer": told(light(6), WARNING)},
    "more records than are known": {"answer": told(light(7), WARNING)},
    "two records": {"answer": told(light(2), WARNING)},
    "two records that weigh little": {"answer": told(light(2), WARNING), "returned_estimate": 43},
    "the first record twice": {"answer": told([*light(1), *light(1)], WARNING), "threshold": 400},
    "the first record twice, and one more is known": {
        "answer": told([*light(1), *light(1)], WARNING), "threshold": 400, "known": by_id(light(7)),
    },
    "the first record twice, and one less is known": {
        "answer": told([*light(1), *light(1)], WARNING), "threshold": 400, "known": by_id(light(5)),
    },
    "records without ids": {"answer": told([{"title": "memory 0"}, {"title": "memory 1"}], WARNING), "threshold": 400},
    "a file that is nowhere, as all are": {
        **FILED, "answer": {"file": {"problem": "does not exist"}}, "original": {"file": {"problem": "does not exist"}},
    },
    "no record": {"answer": told([], WARNING)},
    "no record, where the first would fit": {"answer": told([], WARNING), "threshold": 400},
    "no record, and none is known": {"answer": told([], WARNING), "known": {}, "threshold": 400},
    "a record that was cut": {"answer": told([{**fields(0, "light"), "title": "memo"}], WARNING)},
    "a record of which two fields went missing": {
        "answer": told([{"id": "m0", "score": 0.0, "namespace": "a"}], WARNING),
    },
    "a record that was cut in two places": {
        "answer": told([{"id": "m0", "namespace": "a", "title": "memo", "score": 0.0}], WARNING),
    },
    "a counter went on": {"answer": told([{**fields(0, "light"), "score": 9}], WARNING)},
    "a record that nobody knows": {"answer": told([{"id": "new", "title": "m"}], WARNING)},
    "dishonest": {"original": {"header": {"estimated_tokens": 1}}},
    "dishonest, and not by the level": {"original": {"header": {"estimated_tokens": 1}}, **EQUAL},
    "not by the level": EQUAL,
    "not by the level, and all is inline": {**EQUAL, "answer": told(light(6)), "events": ()},
    "not by the level, and more is inline": {**EQUAL, "answer": told(light(7)), "events": ()},
    "not by the level, and a text is inline": {**EQUAL, "answer": written(PROSE), "events": ()},
    "not by the level, and all is inline with an event": {**EQUAL, "answer": told(light(6))},
    "not by the level, and some is inline": {**EQUAL, "answer": told(light(5)), "events": ()},
    "not by the level, and there is an error": {**EQUAL, "answer": ERROR, "events": ()},
    "all is inline, and unremarked": {"answer": told(light(6)), "events": ()},
    "without effect": {"survey": {"tiny": {}}},
    "without effect of one": {"survey": {"tiny": {"inject": call("inject", {}, inline=False)}}},
    "two events without details": {"events": ("stderr: OffloadWriteFailed", "stderr: OffloadWriteFailed no")},
    "fields for a warning": {"answer": told(light(1), '{"offload_failed": true, "truncated": true}')},
    "fields for a warning, in another spelling": {"answer": told(light(1), '{"offloadFailed": true, "cut": true}')},
    "fields that warn of nothing": {"answer": told(light(1), '{"offload_failed": false, "truncated": false}')},
    "no warning": {"answer": told(light(1))},
    "nothing of the failure": {"answer": told(light(1), "The results are truncated.")},
    "nothing of the truncation": {"answer": told(light(1), "Offloading failed.")},
    "half of it in another language": {"answer": told(light(1), "offload error: ne andmoj estas tro longaj kaj ni")},
    "the other half": {"answer": told(light(1), "truncated: ne andmoj estas tro longaj kaj ni")},
    "in another language": {"answer": told(light(1), "la rezulto ne povis esti konservita en dosiero, do mallonga")},
    "no warning, and what is left of memories is no warning": {
        "answer": told([{"id": f"m{n}", "title": f"memory {n}", "tags": ["api", "ops"]} for n in range(4)]),
    },
    "no warning, and memories have escapes": {
        "answer": written(json.dumps([{"id": "m0", "content": "fallo de caf\u00e9 <tronqu\u00e9> d'hier \U0001f600"}])),
    },
    "no warning, and memories have escapes of another kind": {
        "answer": written(r'[{"id": "m0", "content": "a \u003Cfailed\u003e write is truncated"}]'),
    },
    "a warning with escapes": {"answer": told(light(1), r"{\"warning\": \"Write \u0066ailed; tr\u0075ncated\"}")},
    "a warning beside the content": {"answer": told(light(1), _meta={"note": WARNING})},
    "the words are a memory's": {
        "answer": told([{**fields(0, "light"), "title": 'it "failed"\nand was truncated'}]),
    },
    "three letters are a memory's": {"answer": told([{**fields(0, "light"), "title": "cut"}], "It failed.")},
    "the words are also a memory's": {
        "answer": told([{**fields(0, "light"), "tags": ["failed", "truncated"]}], WARNING),
    },
    "the words are the rest of a memory's": {
        "answer": told([{"id": "m0", "title": "how to write", "content": "how to write it; failed, truncated"}]),
    },
    "the words are the rest of a longer text of a memory's": {
        "answer": told([{"id": "m0", "title": "how we write it", "content": "how we write it: failed, truncated"}]),
    },
    "a text": {"answer": written(f"{PROSE}\n\n{WARNING}")},
    "a text without a warning": {"answer": written(PROSE)},
    "a text whose words are a memory's": {
        "answer": written("## Context\n\nthey failed it, omitted"),
        "known": {"m0": {"id": "m0", "title": "they failed it, omitted"}},
    },
    "a text whose words are twelve letters of a memory": {
        "answer": written("## Context\n\nfailed, only"), "known": {"m0": {"id": "m0", "title": "failed, only"}},
    },
    "a text whose words are thirteen letters of a memory": {
        "answer": written("## Context\n\nfailed, only!"), "known": {"m0": {"id": "m0", "title": "failed, only!"}},
    },
    "a text whose words are a filed memory's": {
        "answer": written("## Context\n\nthey failed it, omitted"), "known": {},
        "original": {"record": {"title": "they failed it, omitted"}},
    },
    "a descriptor": {**FILED, "answer": {"file": {"problem": "cannot be opened"}, "data": lambda _: b""}},
    "a descriptor of a file after all": FILED,
    "a descriptor of a torn file": {**FILED, "answer": {"data": lambda rows: b"\n".join(rows)[:-20]}},
    "a descriptor of a file with too few": {**FILED, "answer": {"data": lambda rows: b"\n".join(rows[:-1])}},
    "a descriptor of an empty file": {**FILED, "answer": {"data": lambda _: b""}},
    "a file_path beside the records": {
        "answer": told(light(1), WARNING, structuredContent={"file_path": "/out/x.jsonl"}),
    },
    "file_paths beside the records": {
        "answer": told(light(1), WARNING, structuredContent={"file_path": "/out/x", "a": {"file_path": "/out/y"}}),
    },
    "a warning of half, as text and structured": {
        "answer": told(light(1), json.dumps(HALF), structuredContent={"results": light(1), "score": 0.5, **HALF}),
    },
    "half a warning in a member that is true": {
        "answer": told(light(1), structuredContent={"results": light(1), "truncated": True}),
    },
    "a file_path is a memory's": {"answer": told([{**fields(0, "light"), "file_path": "/out/x.jsonl"}], WARNING)},
    "no event": {"events": ()},
    "no event, and none may be visible": {"events": (), "events_observable": False},
    "an event without details": {"events": ("stderr: OffloadWriteFailed",)},
    "an event, though none may be visible": {"events_observable": False},
    "an event without and one with details": {"events": ("stderr: OffloadWriteFailed", EVENT)},
    "an event of two letters": {"events": ("stderr: OffloadWriteFailed no",)},
    "an event of three letters": {"events": ("stderr: OffloadWriteFailed EIO",)},
    "an event of a number": {"events": ('stderr: {"event": "OffloadWriteFailed", "errno": 28}',)},
    "an event of a number that is none of an error": {
        "events": ('stderr: {"event": "OffloadWriteFailed", "operation": "recall", "bytes": 28000, "error": null}',),
    },
    "a sentence of a number": {"events": ("stderr: OffloadWriteFailed [Errno 28]",)},
    "a sentence of the operation": {"events": ("stderr: OffloadWriteFailed operation=recall",)},
    "litter": {"new_entries": ("x.tmp", "y.tmp")},
    "recovered in part": {"recovered": ({}, written("text"))},
    "recovered in the other part": {"recovered": (written("text"), {})},
    "not recovered": {"recovered": (written("text"), written("text"))},
    "not recovered, and not first": {"recovered": (written("text"), written("text")), "first": False},
    "not first": {"first": False},
    "nothing was tried": {"failed": (), "skipped": {"removed": "why", "read-only": "because"}},
    "a failure is told of successes": {
        "survey": {"event_lines": ("x: OffloadWriteFailed a", "x: OffloadWriteFailed b")}
    },
    "a failure is told, and one was": {
        "survey": {"event_lines": ("x: OffloadWriteFailed a",)}, "at": 0,
        "change": {"file": {"problem": "cannot be opened"}},
    },
    "a failure is told, and not all was filed": {
        "survey": {"event_lines": ("file: OffloadWriteFailed a",)}, "at": 0,
        "change": {"no file": True, **written("inline")},
    },
    "no failure was told at all": {"failed": (failing(events=()),)},
}  # fmt: skip


def turns(of: Callable[[int], object], numbers: Iterable[int]) -> list[str]:
    """What something gives from where on."""
    said: list[str] = []
    last: object = None
    for n in numbers:
        now = of(n)
        if not said or (now is None) != (last is None):
            said.append(f"{n}: {now}")
        last = now
    return said


def weighed(**of: Any) -> Callable[[int], object]:
    """What is wrong with the records of an answer, by one number of it."""

    def wrong(n: int) -> object:
        one = failing(**{k: v(n) if callable(v) else v for k, v in of.items()})
        return cast("Callable[..., object]", inner(failed_writes, "not_truncated"))(one, ())

    return wrong


WHOLE: list[Any] = [
    "a longer text than this", "a longer text", "", None, ["x"], {"a": 1}, 3,
]  # fmt: skip
PARTS: list[Any] = [
    "a longeX", "a longer", "a longer TEXT than thi", "a longer text tXan thi", "a longer text than thi", None, "a", 3,
]  # fmt: skip

FINDING = Finding(judged("fallback", "hardening.no_temporary_files_remain"), have)
CASES: Cases = {
    **FINDING.cases(CHANGES),
    "how many tokens are too many": lambda: turns(
        weighed(answer=lambda _: told(light(2)), threshold=20, returned_estimate=int), range(1, 120)
    ),
    "how low a threshold is too low": lambda: turns(
        weighed(answer=lambda _: told(light(3)), threshold=int), range(1, 120)
    ),
    "how long a text is too long": lambda: turns(
        weighed(answer=lambda n: written("x" * n), threshold=5), range(800, 900)
    ),
    "how low a threshold is too low for none": lambda: turns(
        weighed(answer=lambda _: told([]), threshold=int, original={"no file": True}, known={"m0": {"title": "oddly"}}),
        range(1, 200),
    ),
    "what is cut": lambda: [f"{w}: {[p for p in PARTS if inner(failed_writes, '_is_cut')(w, p)]}" for w in WHOLE],
}
