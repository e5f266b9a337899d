"""Checks of a proxy, on evidence that is made up: as a sound one gives it, and with one thing changed."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

from lro_conformance.capture.call import Call
from lro_conformance.capture.recipes import Command
from lro_conformance.trials.extensions import payloads
from lro_conformance.trials.extensions.payloads import Large, dumps
from lro_conformance.trials.extensions.proxy import (
    LARGE_RESULT_FACTOR,
    CallWithMessages,
    Cancelled,
    Forwarded,
    Proxied,
    Recipe,
    Together,
)
from lro_conformance.trials.extensions.upstream import FLOOD, ITEMS_SCHEMA, SAMPLING_PARAMS, STEPS
from lro_conformance.wire.reply import Failure
from lro_spec.recipes.runner import JqRun
from tests.golden import Cases
from tests.golden.asked import asked, descriptor, filed, lines_of, text
from tests.golden.finding import Evidence, Finding, found, judged

THRESHOLD = 100
LARGE = payloads.large(LARGE_RESULT_FACTOR * 4 * THRESHOLD)
EITHER = {"type": "object", "anyOf": [ITEMS_SCHEMA, {"required": ["file_path"]}]}
RAN = JqRun(0, b"", "", timed_out=False, engine="jq")
TIMEOUT = Failure("timeout", "no answer within 5 s")
Change = dict[str, Any]


def inline(kind: str, given: str, operation: str = "say", **other: Any) -> Forwarded:
    """A result that came as it was given."""
    return Forwarded(kind, asked(operation, json.loads(given), raw=given.encode(), **other), given)


def answered(kind: str, given: str, result: Any = None, operation: str = "say", **other: Any) -> Forwarded:
    """A result that came as another."""
    return Forwarded(kind, asked(operation, result, **other), given)


def rows(one: Large) -> list[str]:
    """What of a payload stands in a file, line by line."""
    if one.records:
        return [dumps(record) for record in one.records]
    if one.lines:
        return [dumps({"text": line}) for line in one.lines]
    said = json.loads(one.result)["content"][0]["text"]
    return said[1:-1].replace("},{", "}\n{").split("\n")


def offloaded(
    kind: str,
    one: Large,
    *,
    data: bytes | None = None,
    path: str | None = None,
    file: Change | None = None,
    content: Callable[[list[Any]], Any] = list,
    structured: Any = ...,
    **more: Any,
) -> Forwarded:
    """A result that left as a descriptor."""
    where = path or f"/out/{kind.replace(' ', '-')}.jsonl"
    head = {"context": [line for line in one.lines if one.records]}
    seen = filed(where, lines_of(*rows(one), header=head) if data is None else data, **(file or {}))
    result = descriptor(where)
    inner = json.loads(result["content"][0]["text"])
    blocks = [*result["content"], *one.beside]
    whole = {**result, "content": content(blocks), **more}
    if one.typed and structured is not None:
        whole["structuredContent"] = inner if structured is ... else structured
    return Forwarded(kind, asked("typed" if one.typed else "say", whole, seen), one.result)


def told(call: Call, *messages: Any) -> CallWithMessages:
    """A call, and what arrived before its answer."""
    return CallWithMessages(call, tuple(dumps({"jsonrpc": "2.0", **m}) for m in messages), "", "lro-probe-token")


def step(number: int, token: Any = "lro-probe-token", message: str | None = None) -> Change:
    """A notification of progress."""
    said = {"progressToken": token, "progress": number, "message": message or f"step {number}"}
    return {"method": "notifications/progress", "params": said}


def log(data: Any = ..., level: str = "warning", logger: str = "lro-probe") -> Change:
    """A log message."""
    said = {"level": level, "logger": logger, "data": {"n": 1} if data is ... else data}
    return {"method": "notifications/message", "params": said}


def request(params: Any = SAMPLING_PARAMS) -> Change:
    """A request of the server's."""
    return {"id": "x", "method": "sampling/createMessage", "params": params}


def recipe(command: str = "tail -n +2 /out/a.jsonl | jq .", run: JqRun | None = RAN) -> Recipe:
    """A recipe and its run."""
    call = asked("say", descriptor("/out/a.jsonl"), filed("/out/a.jsonl"))
    return Recipe(call, Command(call, 0, "d", command), run)


STEPPED = [step(n) for n in range(1, STEPS + 1)]
FLOODED = [log({"n": n}, "info", "lro-probe-flood") for n in range(FLOOD)]
DECLINED = asked("ask", text('{"error": {"code": -32601}}'))
DONE = asked("tell", text("done"))
REFUSED = '{"code":-32099,"message":"refused ä","data":{"why":["kept",1]}}'
PARTLY = text("\n".join(LARGE["text"].lines[:3]) + "\nWarning: offloading failed; this is the first part only.")


def fleet(number: int, change: Callable[[bytes], bytes] = lambda data: data, **other: Any) -> Forwarded:
    """A large result among others in flight."""
    given = LARGE["text"].result.replace("mktext", f"mkfleet{'abcd'[number]}")
    data = lines_of(*rows(LARGE["text"])).replace(b"mktext", b"mkfleet" + b"abcd"[number : number + 1])
    where = other.pop("path", f"/out/fleet{number}.jsonl")
    call = asked("say", descriptor(where), filed(where, change(data), **other))
    return Forwarded(f"large {number}", call, given)


def put_in(other: bytes) -> Callable[[bytes], bytes]:
    """A file with something else in the place of one piece."""
    return lambda data: data.replace(b"mkfleeta00001x", other)


SMALL = [inline(f"small {n}", payloads.text_result(f"call {n}")) for n in range(2)]
WAITED = inline("waited", payloads.text_result("released"))


@cache
def sound() -> Proxied:
    """What a sound proxy makes of everything."""
    big = LARGE["text"].result[:-1] + ',"isError":true}'
    kept = ("an array", "text and structured content")
    return Proxied(
        threshold=THRESHOLD,
        tools=({"name": "p_say"}, {"name": "p_typed", "outputSchema": EITHER}),
        names={"say": "p_say", "typed": "p_typed"},
        small=tuple(inline(kind, given) for kind, given in payloads.small().items()),
        exact=inline("numbers and escapes", payloads.exact()),
        large=tuple(offloaded(kind, one) for kind, one in LARGE.items()),
        recipes=(recipe(), recipe("jq . /out/a.jsonl")),
        errors=(
            inline("a small error", payloads.text_result("no such file: ä", isError=True)),
            inline("a large error", big),
            answered("a JSON-RPC error", REFUSED, operation="refuse", error=json.loads(REFUSED)),
        ),
        notified=told(DONE, *STEPPED, log()),
        requested=told(DECLINED, request()),
        together=Together((SMALL[0], fleet(0), SMALL[1], fleet(1)), WAITED),
        cancelled=Cancelled(
            asked("heard", text("{}")), (5,), ({"method": "notifications/cancelled", "params": {"requestId": 5}},)
        ),
        ended=tuple(asked(name, error={"code": -32000, "message": "ended"}) for name in ("wait", "end")),
        unwritable=(
            *(inline(kind, LARGE[kind].result) for kind in kept),
            answered("text", LARGE["text"].result, PARTLY),
        ),
        copies=(),
    )


def have(**change: Any) -> Evidence:
    """The evidence of a sound proxy, with some of it changed."""
    return {"proxied": replace(sound(), **change)}


def large(kind: str, made: Forwarded | None = None, **other: Any) -> Change:
    """One large result otherwise."""
    one = made or offloaded(kind, LARGE[kind], **other)
    return {"large": tuple(one if known.kind == kind else known for known in sound().large)}


def put(name: str, place: int, made: Any) -> Change:
    """One of some otherwise."""
    known = list(getattr(sound(), name))
    known[place] = made
    return {name: tuple(known)}


def together(*passed: Forwarded, waited: Forwarded | None = WAITED) -> Change:
    """Other calls in flight."""
    return {"together": Together(passed, waited)}


def heard(*notes: Any, waiting: tuple[Any, ...] = (5,)) -> Change:
    """What the server heard of a cancellation."""
    return {"cancelled": Cancelled(asked("heard", text("{}")), waiting, notes)}


def cancelled(id: Any, method: str = "notifications/cancelled") -> Change:
    """A notification that a call was cancelled."""
    return {"method": method, "params": {"requestId": id}}


def schema(listed: Any) -> Change:
    """Another schema for the tool that has one; one of a name that sorts after it has none that is right."""
    last = {"name": "p_z", "outputSchema": {"type": "x"}}
    return {"tools": ({"name": "a"}, last, {"name": "p_typed", "outputSchema": listed})}


ARRAY, BOTH, IMAGE = "an array", "text and structured content", "text beside an image"
DIGITS = lines_of(*rows(LARGE["numbers"]))
SEEN = lines_of(*rows(LARGE[ARRAY]))


def marks(pieces: int) -> str:
    """The marks of so many pieces."""
    return " ".join(payloads.mark("array", n) for n in range(pieces))


def shows(pieces: int) -> Change:
    """An answer with so many of forty pieces."""
    return large(ARRAY, preview=marks(pieces))


CHANGES: dict[str, Change] = {
    "a small one is offloaded": put("small", 0, offloaded("a text", Large(payloads.small()["a text"]))),
    "a small one is another": put("small", 1, answered("nothing", '{"content":[]}', text("x"))),
    "a small one has something added": put("small", 1, answered("nothing", '{"content":[]}', {"content": [], "x": 1})),
    "a small one is written anew": put("small", 0, inline("a text", payloads.small()["a text"] + " ")),
    "a small one without an answer": put("small", 0, answered("nothing", '{"content":[]}', failure=TIMEOUT)),
    "digits are lost": {"exact": answered("numbers", payloads.exact(), json.loads(payloads.exact()))},
    "a large one is inline": large(ARRAY, inline(ARRAY, LARGE[ARRAY].result)),
    "a large one is an error": large(ARRAY, answered(ARRAY, "{}", error={"code": 1, "message": "too large"})),
    "a large one names no file": large(ARRAY, answered(ARRAY, LARGE[ARRAY].result, descriptor(""))),
    "a large one is in no file that can be read": large(ARRAY, file={"problem": "cannot be opened"}),
    "a file that can be read, and no descriptor": large(
        ARRAY, Forwarded(ARRAY, asked("say", None, filed("/out/x", SEEN), error={"code": 1}), LARGE[ARRAY].result)
    ),
    "a file is empty": large(ARRAY, data=b""),
    "a file has no header": large(ARRAY, data=SEEN.partition(b"\n")[2]),
    "a file has its header last": large(ARRAY, data=b"3\n" + SEEN.partition(b"\n")[2] + SEEN.partition(b"\n")[0]),
    "a file begins with something else": large(ARRAY, data=b"x\n" + SEEN),
    "a file has a line that is no JSON": large(ARRAY, data=SEEN + b"{\n"),
    "a file has a line that is no JSON in the middle": large(ARRAY, data=SEEN.replace(b"\n", b"\n{\n", 2)),
    "a file has one line only": large(ARRAY, data=lines_of()),
    "a file has a line more than it says": large(ARRAY, data=SEEN + b"{}\n"),
    "a file has a line less than it says": large(ARRAY, data=SEEN.rpartition(b"{")[0]),
    "a file has a whole line less than it says": large(ARRAY, data=b"\n".join(SEEN.split(b"\n")[:-2])),
    "a file has a record less": large(ARRAY, data=lines_of(*rows(LARGE[ARRAY])[1:])),
    "a file has another record": large(ARRAY, data=SEEN.replace(b'"n":3', b'"n":4')),
    "a file has not what is around": large("an object around an array", data=SEEN.replace(b"mkarray", b"mkobject")),
    "a file lacks a line of text": large("text", data=lines_of(*rows(LARGE["text"])[1:])),
    "a number lost digits": large("numbers", data=DIGITS.replace(payloads.BIG.encode(), b"1.2345678901234568e+22", 1)),
    "all numbers lost digits": large("numbers", data=DIGITS.replace(payloads.EXACT.encode(), b"1.1")),
    "a number stands in the header, too": large(
        "numbers", data=DIGITS.replace(b"{", b'{"x":' + payloads.BIG.encode() + b",", 1)
    ),
    "a record is there twice": large(ARRAY, data=lines_of(*rows(LARGE[ARRAY]), rows(LARGE[ARRAY])[0])),
    "two records are there thrice": large(ARRAY, data=lines_of(*rows(LARGE[ARRAY]), *rows(LARGE[ARRAY])[4:6] * 2)),
    **{f"an answer shows {n} pieces": shows(n) for n in (1, 13, 14, 20, 27, 40)},
    "an answer of sixty shows twenty": {
        "threshold": 200, "unwritable": (),
        "large": (offloaded(ARRAY, payloads.large(3200)[ARRAY], preview=marks(20)),),
    },
    "no output schema": schema(None),
    "an output schema that is none": schema({"type": "x"}),
    "an output schema that is true": schema(True),
    "an output schema that is the server's": schema(ITEMS_SCHEMA),
    "an output schema without the server's": schema({"required": ["file_path"]}),
    "no structured content": large(BOTH, structured=None),
    "structured content with two faults": {
        **large(BOTH, structured={"a": 1, "b": 2}),
        **schema({"anyOf": [ITEMS_SCHEMA, {"required": ["file_path", "x"]}]}),
    },
    "structured content with faults in two places": {
        **large(BOTH, structured={"items": [1, 2]}), **schema({"properties": {"items": {"items": {"type": "object"}}}}),
    },
    "an error of a typed tool": large(BOTH, answered(BOTH, "{}", operation="typed", error={"code": 1})),
    "an image is lost": large(IMAGE, content=lambda blocks: [b for b in blocks if b["type"] != "image"]),
    "all blocks are lost": large(IMAGE, content=lambda blocks: blocks[:1]),
    "blocks are turned round": large(IMAGE, content=lambda blocks: blocks[::-1]),
    "a block is twice there": large(IMAGE, content=lambda blocks: [*blocks, blocks[-1]]),
    "a block with a link is another": large(IMAGE, content=lambda blocks: [*blocks[:-1], {**blocks[-1], "name": "z"}]),
    "content that is none": large(IMAGE, content=lambda _: "x"),
    "blocks that are none": large(IMAGE, content=lambda blocks: [*blocks, 3]),
    "an error with blocks": large(IMAGE, answered(IMAGE, "{}", error={"code": 1})),
    "an error is offloaded": put("errors", 0, offloaded("a small error", Large(payloads.text_result("no")))),
    "an error is none any more": put(
        "errors", 0, answered("a small error", payloads.text_result("x", isError=True), text("x"))
    ),
    "an error is a result": put("errors", 2, answered("a JSON-RPC error", REFUSED, text("x"), "refuse")),
    **{
        f"an error has as its {key} {value}": put(
            "errors", 2, answered("an error", REFUSED, operation="refuse", error={**json.loads(REFUSED), key: value})
        )
        for key, value in (("code", 1), ("message", "y"), ("data", {"why": "z"}), ("message", "probe: refused ä"))
    },
    "an error without a message": put("errors", 2, answered("e", REFUSED, operation="refuse", error={"code": -32099})),
    "a small one in flight gets no answer": together(answered("small 0", "{}", failure=TIMEOUT), fleet(0), waited=None),
    "a small one in flight gets another": together(answered("small 0", SMALL[0].given, text("call 1")), fleet(0)),
    "a large one in flight is inline": together(inline("large 0", fleet(0).given), fleet(1)),
    "a large one in flight is inline with more": together(
        answered("large 0", fleet(0).given, raw=fleet(0).given.encode() + fleet(1).given.encode()), fleet(1)
    ),
    "a large one in flight is in part inline": together(
        answered("large 0", fleet(0).given, text("mkfleeta00000x")), fleet(1)
    ),
    "a large one in flight is an error": together(answered("large 0", fleet(0).given, error={"code": 1}), fleet(1)),
    "two in flight share a file": together(fleet(0), fleet(1, path="/out/fleet0.jsonl"), fleet(2)),
    "three in flight share a file": together(*(fleet(n, path="/out/x") for n in range(3))),
    "a file of another call": together(fleet(0, put_in(b"mkfleetb00001x")), fleet(1)),
    "a file in flight that lacks something": together(fleet(0, put_in(b"")), fleet(1)),
    "the one that waited gets another": together(*SMALL, waited=answered("waited", WAITED.given, text("other"))),
    "the one that waited gets nothing": together(*SMALL, waited=answered("waited", WAITED.given, failure=TIMEOUT)),
    "nothing was cancelled": {"cancelled": None},
    "another is cancelled": heard(cancelled(6)),
    "another is cancelled, too": heard(cancelled(6), cancelled(5)),
    "no cancellation is heard": heard(),
    "another notification is heard": heard(cancelled(5, "notifications/x")),
    "of two that wait one is cancelled": heard(cancelled("b"), waiting=("a", "b")),
    "nothing is known to wait": heard(cancelled(6), waiting=()),
    "nothing is known to wait, nor heard": heard(waiting=()),
    "no progress": {"notified": told(DONE, log())},
    "progress turned round": {"notified": told(DONE, *STEPPED[::-1], log())},
    "progress with a step less": {"notified": told(DONE, *STEPPED[1:], log())},
    "progress with a step more": {"notified": told(DONE, *STEPPED, step(STEPS + 1), log())},
    "progress twice": {"notified": told(DONE, *STEPPED, *STEPPED, log())},
    "progress of another token": {"notified": told(DONE, *(step(n, "a") for n in range(1, 4)), log())},
    "progress of other tokens, too": {"notified": told(DONE, step(1, "a"), *STEPPED, step(1, "z"), log())},
    "progress of a later token": {"notified": told(DONE, *(step(n, "z") for n in range(1, 4)), log())},
    "progress with other words": {"notified": told(DONE, *STEPPED[:2], step(3, message="z"), log())},
    "no log message": {"notified": told(DONE, *STEPPED)},
    "a log message of another level": {"notified": told(DONE, *STEPPED, log(level="info"))},
    "a log message of other data": {"notified": told(DONE, *STEPPED, log({"n": 2}))},
    "two log messages": {"notified": told(DONE, *STEPPED, log(level="info"), log())},
    "a flood": {"flooded": told(DONE, *FLOODED)},
    "a flood with one less": {"flooded": told(DONE, *FLOODED[1:])},
    "a flood with one more": {"flooded": told(DONE, *FLOODED, FLOODED[-1])},
    "a flood in another order": {"flooded": told(DONE, *FLOODED[1:], FLOODED[0])},
    "a flood beside other messages": {"flooded": told(DONE, log(), *FLOODED)},
    "no request": {"requested": told(asked("ask", text("x")))},
    "a request with a parameter less": {"requested": told(DECLINED, request({"maxTokens": 5}))},
    "a request with a parameter more": {"requested": told(DECLINED, request({**SAMPLING_PARAMS, "temperature": 1}))},
    **{
        f"a request for {n} tokens": {"requested": told(DECLINED, request({**SAMPLING_PARAMS, "maxTokens": n}))}
        for n in (4, 6)
    },
    "a request of another method": {"requested": told(asked("ask", text("x")), {**request(), "method": "x"})},
    "a request with another answer": {"requested": told(asked("ask", text('{"result": {}}')), request())},
    "a request without an answer": {"requested": told(asked("ask", failure=TIMEOUT), request())},
    "a recipe of another file": {"recipes": (recipe("jq . /out/b.jsonl"), recipe())},
    "a recipe of an earlier file": {"recipes": (recipe("jq . /out/0.jsonl"), recipe())},
    "a recipe that is none": {"recipes": (recipe("rm /out/a.jsonl", None), recipe())},
    "a recipe that is none, and ran": {"recipes": (recipe("rm /out/a.jsonl"), recipe())},
    "a recipe that fails": {"recipes": (recipe(run=replace(RAN, status=5, stderr="jq: error\n" + "x" * 300)),)},
    "a recipe that does not end": {
        "recipes": (recipe(run=replace(RAN, status=-9, problem="ran out of time")),),
    },
    "a copy is kept": {"copies": ("/tmp/proxy.log",)},
    "nobody looked for copies": {"copies": None},
    "no file, so no copies": {"copies": ("/tmp/proxy.log",), "large": ()},
    "the end is not told": {"ended": (asked("wait", failure=TIMEOUT), asked("end", text("x")))},
    "the end was not tried": {"ended": ()},
    "writing cannot fail": {"unwritable": (), "problem": "no setting"},
    "writing cannot fail, and nobody knows why": {"unwritable": ()},
    "a descriptor though nothing can be written": put(
        "unwritable", 0, offloaded(ARRAY, LARGE[ARRAY], file={"problem": "is not there"})
    ),
    "a descriptor without a file": put("unwritable", 0, answered(ARRAY, LARGE[ARRAY].result, descriptor(""))),
    "a descriptor, as it could be written": put("unwritable", 0, offloaded(ARRAY, LARGE[ARRAY])),
    "an error as nothing can be written": put("unwritable", 0, answered(ARRAY, LARGE[ARRAY].result, error={"code": 1})),
    "a part without a warning": put(
        "unwritable", 2, answered("text", LARGE["text"].result, text(LARGE["text"].lines[0]))
    ),
    "nothing with a warning": put("unwritable", 2, answered("text", LARGE["text"].result, text("It failed."))),
    "all without a warning, and more": put(
        "unwritable", 2, inline("text", LARGE["text"].result.replace("mktext00000x", "mktext00000x mkother00000x")),
    ),
}  # fmt: skip


def edges(check: str, outcome: Callable[[str, str], Forwarded]) -> list[str]:
    """From how many characters on a text is missed, at some thresholds."""
    said: list[str] = []
    ones = judged(check)
    for threshold in (1, 20, 200, 245):
        last: bool | None = None
        for size in range(290, 480):
            one = outcome(f"a text of {size}", payloads.text_result("x" * size))
            now = "/" in found(ones, have(threshold=threshold, edge=(one,)), "lro-6400")[0]
            if now is not last:
                said.append(f"{threshold}: from {size} on {'missed' if now else 'right'}")
            last = now
    return said


FINDING = Finding(judged("proxy"), have)
CASES: Cases = {
    **FINDING.cases(CHANGES),
    "texts that are offloaded": lambda: edges(
        "proxy.inline_up_to_the_threshold", lambda kind, given: offloaded(kind, Large(given))
    ),
    "texts that are inline": lambda: edges("proxy.offloaded_above_the_threshold", inline),
}
