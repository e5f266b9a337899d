"""The first look: with the lowest threshold everything is offloaded, and every header tells its E."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from lro_conformance.capture.call import Call
from lro_conformance.capture.claims import claims, size_of, surely_exceeds
from lro_conformance.capture.file import FileSeen, see_file
from lro_conformance.capture.records import WORDS, common_word
from lro_conformance.judging.outcome import NotObserved
from lro_conformance.lab.operations import TOOLS, Operation
from lro_conformance.lab.settings import Settings
from lro_conformance.lab.thresholds import LIMIT, NEVER
from lro_conformance.trials import trial
from lro_conformance.trials.leftovers import unnamed
from lro_conformance.wire.transcript import TOLERATED_ANOMALIES

if TYPE_CHECKING:
    from lro_conformance.lab.bench import Bench
    from lro_conformance.lab.lab import Lab
    from lro_conformance.wire.server import ServerProcess

EDGE_LIMIT = 40
"""How many records the calls ask for that the exact threshold is tested with."""

CROWDED = 1000
"""How many records one call asks for of a server that has more than the others ask for."""

SETTLING_S = 0.6
"""How long after the first call files are looked at again, at the soonest: what is written behind an answer shows."""

MANY = 40
"""How many notifications of one server are looked at."""


@dataclass(frozen=True)
class Said:
    """What a server said that is no result of a call: of a method, or as a notification."""

    kind: str
    """``initialize``, ``server/discover``, ``tools/list``, or the method of a notification."""
    value: Any
    """The result, or the parameters."""


def said(server: ServerProcess) -> tuple[Said, ...]:
    """What a server has said so far beside the results of calls."""
    opened = "server/discover" if server.modern else "initialize"
    heard = [Said(str(n["method"]), n.get("params")) for n in server.notifications()[:MANY]]
    return (Said(opened, server.handshake), *(Said("tools/list", page) for page in server.listed), *heard)


@dataclass(frozen=True)
class Survey:
    """What a server with the lowest threshold does; one that cannot be set so is seen at its own threshold."""

    operations: Mapping[str, Operation]
    tools: Sequence[Mapping[str, Any]]
    calls: tuple[Call, ...]
    """All of them but those in flight together, in the order made."""
    whole: Mapping[tuple[str, str | None], Call]
    """For each operation and detail level asked for (None: the default), the call with the usual limit."""
    repeats: Mapping[str, tuple[Call, Call]]
    """For each operation, two identical calls with `EDGE_LIMIT` records, at a detail level that is said."""
    tiny: Mapping[str, Call]
    """For each operation, a call for two records."""
    single: Mapping[str, Call]
    """For each operation, a call for one record."""
    together: tuple[tuple[Call, Call], ...]
    """Calls in flight at the same time, each beside the same call made alone."""
    budgets: tuple[Call, ...]
    """Inject calls with a small and with a large token budget, where the tool takes one."""
    unsettled: tuple[Call, ...]
    """Calls whose file grew after it was named, with the file as it was then; elsewhere it is as in the end."""
    later: Mapping[str, FileSeen]
    """The files once more, at the end."""
    unnamed: tuple[str, ...]
    """What stands in the output folder at the end that no descriptor named, registers of the files left out."""
    word: str | None
    """A query that finds something."""
    adjustable: bool
    """Whether the threshold could be set."""
    anomalies: tuple[str, ...]
    """What stood on stdout that no JSON-RPC message of MCP is."""
    named: bool
    """Whether the profile names the tools of the operations."""
    server_info: Mapping[str, Any]
    """What the server says of itself."""
    protocol: str | None
    """The version of MCP that it speaks."""
    messages: tuple[Said, ...] = ()
    """What it said beside the results of calls."""
    told: tuple[str, ...] = ()
    """Lines on stderr or in the file of events that have the name of an event in them, with the channel before it."""
    many: Call | None = None
    """A call for `CROWDED` records, where the usual limit cut the result and identical calls find the same."""
    claims: tuple[str, ...] = ()
    """Who says that it offloads, a sentence each; empty where nobody does."""
    default_tokens: int = 6400
    """The default threshold of the edition that the run is judged by."""
    lowest: int = 1
    """The lowest threshold that the server takes; 1 also where it cannot be set."""

    @property
    def offloaded(self) -> list[Call]:
        """The calls that returned a descriptor."""
        return [c for c in self.calls if c.outcome == "offloaded"]

    @property
    def answered(self) -> list[Call]:
        """The calls that returned a result that is no error."""
        return [c for c in self.calls if c.outcome in ("inline", "offloaded")]

    @property
    def files(self) -> list[Call]:
        """The calls whose file could be read."""
        return [c for c in self.offloaded if c.file is not None and c.file.problem is None]

    @property
    def concurrent_files(self) -> list[Call]:
        """The calls in flight together whose file could be read; none where a file holds another call's result
        (LRO-NAME-04), whose header says nothing of this one."""
        seen = [(c, a) for c, a in self.together if c.file is not None and c.file.problem is None]
        mixed = any(len(c.filed) != len(a.filed) for c, a in seen if c.filed and a.filed)
        shared = len({c.file.path for c, _ in seen if c.file is not None}) < len(seen)
        return [] if mixed or shared else [c for c, _ in seen if c.outcome == "offloaded"]

    @property
    def guessed(self) -> bool:
        """Whether no tool is one that LRO applies to by name: those that were tried only sound like one."""
        return not self.named and not any(o.tool == TOOLS[n] for n, o in self.operations.items())

    @property
    def implemented(self) -> bool | None:
        """Whether the server offloads at all; None when nothing it returned could tell.

        Where it is said that it does, a threshold of 1 without effect tells of that setting; a result that exceeds the
        default threshold tells of the server.
        """
        if self.offloaded:
            return True
        if self.lowest > 1 and all(map(self.is_small, self.answered)):
            return None
        if self.claims and not self.exceeds_default:
            return None
        if self.guessed:
            return False
        return False if self.returned_anything or not self.operations else None

    @property
    def returned_anything(self) -> bool:
        """Whether anything was answered that could have been offloaded."""
        listed = [c.records for c in self.answered if c.records is not None]
        # Where some results are lists, the words of others ("No memories match.") are no memory, nor are few words.
        return any(listed) if listed else any(len(c.text) > WORDS for c in self.answered)

    @cached_property
    def largest_inline(self) -> int:
        """The characters of the largest inline result."""
        return max(map(size_of, self.calls), default=0)

    @property
    def exceeds_default(self) -> bool:
        """Whether a result came inline that exceeds the default threshold by any honest estimate."""
        return surely_exceeds(self.largest_inline, self.default_tokens)

    @cached_property
    def volatile_operations(self) -> frozenset[str]:
        """The operations whose identical calls have other records or values each time: counters, times, ties."""
        return frozenset(n for n, (a, b) in self.repeats.items() if _lines(a) != _lines(b))

    @property
    def minimal_calls(self) -> Mapping[str, Call]:
        """For each operation a call that the lowest threshold offloads: of two records, of many where it is not 1."""
        return self.tiny if self.lowest == 1 else {n: a for n, (a, _) in self.repeats.items()}

    @property
    def effective(self) -> list[str]:
        """The operations for which the lowest threshold takes effect."""
        return [n for n, c in self.minimal_calls.items() if c.outcome == "offloaded"]

    def is_small(self, call: Call) -> bool:
        """Whether an inline result may lawfully be one: where the lowest threshold is not 1 and it may be within it.

        Of a text without records nobody knows what of it is counted.
        """
        small = call.records is None or not surely_exceeds(size_of(call), self.lowest)
        return self.lowest > 1 and call.outcome == "inline" and small

    def offloads(self, operation: str) -> bool:
        """Whether an operation offloaded anything."""
        return any(c.operation == operation for c in self.offloaded)


@trial("lowest threshold: descriptors, files, estimates")
def survey(lab: Lab) -> Survey:
    """Call every operation at every detail level with a threshold of 1, or the lowest that the server takes."""
    adjustable = lab.can_set("threshold_tokens")
    with lab.lowest_bench(Settings(threshold_tokens=1 if adjustable else None), keep="survey") as bench:
        if lab.seeding.is_wanted(bench):
            lab.step("survey", "the server holds too little: seeding")
            lab.seeding.begin(bench)
        seen = _look(lab, bench, adjustable)
    tells = seen.offloaded or not seen.operations or (seen.implemented is None and not seen.claims)
    if tells or not lab.can_set("enabled"):
        return seen
    lab.step("survey", "nothing was offloaded: once more with enabled = true")
    settings = Settings(threshold_tokens=1 if adjustable else None, enabled=True)
    with lab.lowest_bench(settings, keep="survey") as bench:
        again = _look(lab, bench, adjustable)
    lab.switched_on = again.implemented is True
    return again if lab.switched_on else seen


def _told(bench: Bench) -> tuple[str, ...]:
    lines = (s for s in bench.output() if not s.startswith("notifications: "))
    return tuple(s for s in lines if "OffloadWriteFailed" in s or "OffloadFileExpired" in s)[:MANY]


def _look(lab: Lab, bench: Bench, adjustable: bool) -> Survey:
    begun = time.monotonic()
    whole: dict[tuple[str, str | None], Call] = {}
    repeats: dict[str, tuple[Call, Call]] = {}
    tiny: dict[str, Call] = {}
    single: dict[str, Call] = {}
    budgets: list[Call] = []
    others: list[Call] = []
    for name, operation in bench.operations.items():
        lab.step("survey", operation.tool)
        whole[name, None] = bench.call(name)
        if whole[name, None].outcome == "no answer" and not bench.server.alive:
            raise NotObserved(f"the server died of the first call: {whole[name, None].label}")
        usual = usual_detail(operation)
        repeats[name] = (
            bench.call(name, detail=usual, limit=EDGE_LIMIT),
            bench.call(name, detail=usual, limit=EDGE_LIMIT),
        )
        tiny[name] = bench.call(name, limit=2)
        single[name] = bench.call(name, limit=1)
        for detail in operation.details:
            whole[name, detail] = bench.call(name, detail=detail)
        if operation.budget is not None:
            budgets += [bench.call(name, budget=b) for b in (50, 100_000)]
    word = common_word(r for c in whole.values() for r in (c.filed or c.records or []))
    if word is not None:
        others = [bench.call(name, query=word) for name, o in bench.operations.items() if o.query is not None]
    many = next((bench.call(n, limit=CROWDED) for n in _cut(bench, whole, repeats)), None)
    asked = [_in_flight(o, m, word) for m in (3, 5) for o in bench.operations.values()]
    together = bench.calls(asked * 2)
    alone = [bench.call(**each) for each in asked] * 2
    calls = (
        *whole.values(),
        *(c for pair in repeats.values() for c in pair),
        *tiny.values(),
        *single.values(),
        *budgets,
        *others,
    )
    calls = tuple(sorted(calls, key=lambda c: c.started))
    named = {c.file.path for c in (*calls, *together) if c.file is not None and c.file.problem is None}
    if named:
        lab.workspace.pause(max(0.0, begun + SETTLING_S - time.monotonic()))
    later = {path: see_file(path, bench.roots) for path in named}
    if _grown(calls, later):  # those that were written last may not be finished yet
        lab.workspace.pause(SETTLING_S)
        later = {path: see_file(path, bench.roots) for path in named}
    unsettled = _grown(calls, later)
    by_identity = {id(c): _settled(c, later) if c in unsettled else c for c in calls}

    def now(call: Call) -> Call:
        return by_identity.get(id(call), call)

    lab.accepted.learn({key: call.estimate for key, call in whole.items() if call.outcome == "offloaded"})
    return Survey(
        operations=bench.operations,
        tools=bench.tools,
        calls=tuple(now(c) for c in calls),
        whole={k: now(c) for k, c in whole.items()},
        repeats={n: (now(a), now(b)) for n, (a, b) in repeats.items()},
        tiny={n: now(c) for n, c in tiny.items()},
        single={n: now(c) for n, c in single.items()},
        together=tuple((now(a), b) for a, b in zip(together, alone, strict=True)),
        budgets=tuple(now(c) for c in budgets),
        unsettled=unsettled,
        later=later,
        unnamed=unnamed(bench, (r for c in calls for r in c.filed)),
        word=word,
        adjustable=adjustable,
        anomalies=tuple(str(a) for a in bench.server.transcript.anomalies if a.kind not in TOLERATED_ANOMALIES),
        named=lab.profile.operations is not None,
        server_info=bench.server.server_info,
        protocol=bench.server.protocol_version,
        messages=said(bench.server),
        told=_told(bench),
        many=many,
        claims=claims(lab.profile, bench.tools, bench.server.handshake),
        default_tokens=lab.editions.own.default_threshold_tokens,
        lowest=lab.accepted.lowest,
    )


@dataclass(frozen=True)
class Inline:
    """What the same server returns when nothing is offloaded."""

    whole: Mapping[tuple[str, str | None], Call]
    again: Mapping[str, Call]
    """The default call of each operation once more."""
    edges: Mapping[str, Call]
    """The calls with `EDGE_LIMIT` records."""
    elsewhere: Mapping[str, Call]
    """The default call of each operation in another process of the server."""
    others: tuple[Call, ...]
    many: Call | None = None
    """The call for `CROWDED` records, where the survey made one."""
    listing: Mapping[str, int] = field(default_factory=dict[str, int])
    """The offloaded files in the output folder after all of them, with their sizes."""
    fullest: Mapping[str, Call] = field(default_factory=dict[str, Call])
    """The calls for the records of most detail once more."""
    threshold: int = NEVER
    """The highest that the server takes."""

    @property
    def calls(self) -> list[Call]:
        """All of them but the one for many."""
        return [*self.whole.values(), *self.again.values(), *self.edges.values(), *self.others]


@trial("highest threshold: the same calls inline")
def inline(lab: Lab, survey: Survey) -> Inline:
    """Make the calls of the survey with a threshold that no result reaches."""
    if not lab.can_set("threshold_tokens"):
        raise NotObserved("the server's threshold cannot be set (profile: settings.threshold_tokens)")
    with lab.highest_bench(Settings(threshold_tokens=NEVER), keep="inline") as bench:
        whole = {key: bench.call(key[0], detail=key[1]) for key in survey.whole}
        again = {name: bench.call(name) for name in bench.operations}
        edges = {n: bench.call(n, detail=usual_detail(o), limit=EDGE_LIMIT) for n, o in bench.operations.items()}
        fullest = {n: bench.call(n, detail=o.details[-1]) for n, o in bench.operations.items() if o.details}
        queried = [n for n, o in bench.operations.items() if o.query is not None and survey.word is not None]
        others = [bench.call(name, query=survey.word) for name in queried]
        many = None if survey.many is None else bench.call(survey.many.operation, limit=CROWDED)
    with lab.bench(Settings(threshold_tokens=NEVER)) as another:
        elsewhere = {name: another.call(name) for name in another.operations}
    found = whole, again, edges, elsewhere, tuple(others), many, bench.listing(), fullest
    return Inline(*found, lab.accepted.highest)


def usual_detail(operation: Operation) -> str | None:
    """The level to ask for where any will do: the default, said, so that a wrong default is not in the way."""
    wanted = {"inject": "medium"}.get(operation.name, "light")
    return wanted if wanted in operation.details else next(iter(operation.details), None)


def _in_flight(operation: Operation, limit: int, word: str | None) -> dict[str, Any]:
    """What one of the calls in flight asks for: those for more records ask at another level, and for a word."""
    if limit == 3:
        return {"name": operation.name, "limit": limit, "detail": usual_detail(operation)}
    others = [d for d in operation.details if d != usual_detail(operation)]
    return {"name": operation.name, "limit": limit, "detail": others[-1] if others else None, "query": word}


def _lines(call: Call) -> list[bytes]:
    return [line.raw for line in call.file.record_lines] if call.file is not None else []


def _cut(
    bench: Bench, whole: Mapping[tuple[str, str | None], Call], repeats: Mapping[str, tuple[Call, Call]]
) -> Iterator[str]:
    """The operations whose result the usual limit cut, though a greater one may be asked for."""
    for name, operation in bench.operations.items():
        call = whole[name, None]
        greater = call.limit == LIMIT and (operation.limit_maximum or CROWDED) > LIMIT
        if greater and len(call.filed) == LIMIT and _lines(repeats[name][0]) == _lines(repeats[name][1]):
            yield name


def _grew(before: FileSeen, after: FileSeen) -> bool:
    """Whether a file was named before it was complete; one that was complete and got more is as it was named."""
    if after.problem is not None or len(after.data) <= len(before.data) or not after.data.startswith(before.data):
        return False
    return (before.header or {}).get("count") != len(before.records)


def _grown(calls: Iterable[Call], later: Mapping[str, FileSeen]) -> tuple[Call, ...]:
    return tuple(c for c in calls if c.file is not None and c.file.path in later and _grew(c.file, later[c.file.path]))


def _settled(call: Call, later: Mapping[str, FileSeen]) -> Call:
    """The call with its file as it was in the end: a file that still grew when it was named is one fault, not ten."""
    file = later.get(call.file.path) if call.file is not None else None
    return call if file is None or file.problem is not None else replace(call, file=file)
