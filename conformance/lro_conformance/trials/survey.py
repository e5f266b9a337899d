"""The first observation of a server. At the lowest threshold, every result is offloaded, and the header of each file
states E, the estimated number of tokens of the result."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from lro_conformance.capture.call import Call, descriptor_in, shared_paths
from lro_conformance.capture.claims import claims, is_proxy, size_of, surely_exceeds
from lro_conformance.capture.file import FileSeen, see_file
from lro_conformance.capture.recipes import paths_named
from lro_conformance.capture.records import MAX_MESSAGE_CHARACTERS, as_record, by_id, common_word, find_records, id_of
from lro_conformance.capture.warnings import write_failure
from lro_conformance.judging.outcome import NotObserved
from lro_conformance.lab.operations import Operation, reading_tools
from lro_conformance.lab.queries import replace_poor_queries
from lro_conformance.lab.settings import Settings
from lro_conformance.lab.thresholds import MAX_THRESHOLD, USUAL_LIMIT
from lro_conformance.profile.model import reason_not_set
from lro_conformance.trials import trial
from lro_conformance.trials.leftovers import unnamed
from lro_conformance.wire.transcript import violations
from lro_spec.filenames import real_path
from lro_spec.validation.record import resembles_memory

if TYPE_CHECKING:
    from lro_conformance.lab.bench import Bench
    from lro_conformance.lab.lab import Lab
    from lro_conformance.wire.server import ServerProcess

EDGE_LIMIT = 40
"""Value of `limit` in the calls that test the exact threshold."""

LARGE_LIMIT = 1000
"""Value of `limit` in one additional call, which is made if the usual limit (`USUAL_LIMIT`) truncates a result."""

SETTLING_S = 0.6
"""Minimum time, in seconds, from the first call until the files are read again, to detect writes after the answer."""

APART_S = 1.1
"""Seconds between two identical calls, so that a field that holds the time in whole seconds differs."""

FURTHER_ROUNDS, FURTHER_ROUNDS_S = 8, 0.8
"""Maximum number of further rounds of concurrent calls, and the number of seconds within which all of them should
end."""

MAX_KEPT = 40
"""Maximum number that is kept per server of each of these: notifications, event lines, and concurrent calls whose
result differs from that of the same call made alone."""


@dataclass(frozen=True)
class ServerMessage:
    """A message of a server other than the result of a tool call: the result of another method, or a notification."""

    kind: str
    """``initialize``, ``server/discover``, ``tools/list``, or the method of a notification."""
    value: Any
    """The result, or the parameters."""


def messages_of(server: ServerProcess) -> tuple[ServerMessage, ...]:
    """The messages of a server so far, except results of tool calls. Of its notifications, only the first `MAX_KEPT`
    are included."""
    opened = "server/discover" if server.modern else "initialize"
    notes = [ServerMessage(str(n["method"]), n.get("params")) for n in server.notifications()[:MAX_KEPT]]
    return (
        ServerMessage(opened, server.handshake),
        *(ServerMessage("tools/list", page) for page in server.listed),
        *notes,
    )


@dataclass(frozen=True)
class UnmatchedToolCall:
    """A call of a tool that is not used for any operation, although it seems to search or to recall."""

    tool: str
    ids: tuple[str, ...]
    """The ids of the records in the inline result."""
    offloaded: bool
    operation: str = "search"
    """The operation that it seems to perform."""


@dataclass(frozen=True)
class Survey:
    """Observations of a server at the lowest threshold, or at its own if the threshold cannot be set."""

    operations: Mapping[str, Operation]
    tools: Sequence[Mapping[str, Any]]
    calls: tuple[Call, ...]
    """All calls in their order, except the concurrent calls, `many`, and the calls of `queries`."""
    whole: Mapping[tuple[str, str | None], Call]
    """Maps an operation and a requested detail level (None if none was requested) to the call with the usual limit."""
    repeats: Mapping[str, tuple[Call, Call]]
    """For each operation, two identical calls with `EDGE_LIMIT` records, at an explicit detail level."""
    tiny: Mapping[str, Call]
    """For each operation, a call for two records."""
    single: Mapping[str, Call]
    """For each operation, a call for one record."""
    together: tuple[tuple[Call, Call], ...]
    """Concurrent calls, each paired with the same call made alone."""
    budgets: tuple[Call, ...]
    """Calls of inject with a small and a large token budget in turn, if the tool takes a token budget. The first two
    calls have the usual limit, and the last two have no limit. If the tool takes no limit, only the last two are
    made."""
    unsettled: tuple[Call, ...]
    """The calls whose file was still growing when the server answered, each with the file as it was then. In all other
    fields, such as `calls` and `whole`, the same calls have the final file."""
    later: Mapping[str, FileSeen]
    """Maps the path of each file that a call named to the file as it was when it was read again at the end."""
    unnamed: tuple[str, ...]
    """Files that were in the output folder at the end, but were not named by a descriptor. Registers (`leftovers`) are
    not included."""
    word: str | None
    """A word that records contain, so that a query for it has results; None if none was found."""
    adjustable: bool
    """True when the threshold could be set."""
    anomalies: tuple[str, ...]
    """Output on stdout that is not a JSON-RPC message of MCP."""
    server_info: Mapping[str, Any]
    """The server's description of itself."""
    protocol: str | None
    """The protocol version of MCP that the server speaks."""
    messages: tuple[ServerMessage, ...] = ()
    """The server's messages other than results of tool calls."""
    event_lines: tuple[str, ...] = field(default=(), metadata={"formerly": "told"})
    """Lines from stderr or the event file that contain an event name, prefixed with the channel."""
    many: Call | None = None
    """A call for `LARGE_LIMIT` records; None unless the usual limit truncated the result and identical calls agree."""
    claims: tuple[str, ...] = ()
    """Claims that the server offloads, one sentence each."""
    default_tokens: int = 6400
    """The default threshold of the edition by which the run is judged."""
    lowest: int = 1
    """The lowest threshold that the server accepts; 1 if the threshold cannot be set."""
    queries: tuple[UnmatchedToolCall, ...] = ()
    """Calls of tools that seem to search or recall, made for an operation for which no tool is known."""
    client: str | None = None
    """The name of the client that the profile names; None if the suite gave its own name."""
    real: Mapping[str, str] = field(default_factory=dict[str, str])
    """Maps each path named in a descriptor or recipe to its real path at the time of the run."""
    absent: tuple[str, ...] = ()
    """Operations that the profile sets to null, because the server does not have them."""
    seeded_by: str | None = None
    """Key of `seed` in the profile by which the server got the suite's memories (``tool``, ``env``, ``command``). None
    if the server did not get these memories."""
    proxied: bool = False
    """True if the server is a proxy, by its profile, its command or its capabilities."""
    fixed: Mapping[str, str] = field(default_factory=dict[str, str])
    """Settings that a flag of the server's command fixes, with that flag."""

    def reason_not_set(self, setting: str) -> str:
        """The reason why no value of a setting could be given to the server."""
        return reason_not_set(setting, self.fixed)

    @property
    def offloaded(self) -> list[Call]:
        """The calls that were offloaded, including those that named a file without a descriptor."""
        return [c for c in self.calls if c.outcome == "offloaded"]

    @property
    def answered(self) -> list[Call]:
        """The calls that returned a result other than an error."""
        return [c for c in self.calls if c.outcome in ("inline", "offloaded")]

    @property
    def files(self) -> list[Call]:
        """The calls whose file could be read."""
        return [c for c in self.offloaded if c.file is not None and c.file.problem is None]

    @property
    def concurrent_files(self) -> list[Call]:
        """Concurrent calls that were offloaded to a readable file.

        Empty if two of them name the same file, or if a file has the result of a different call (LRO-NAME-04).
        """
        seen = [(c, a) for c, a in self.together if c.file is not None and c.file.problem is None]
        mixed = any(a.file_records and not self.has_records_of(c, a) for c, a in seen)
        shared = len({c.file.path for c, _ in seen if c.file is not None}) < len(seen)
        return [] if mixed or shared else [c for c, _ in seen if c.outcome == "offloaded"]

    @property
    def files_change(self) -> bool:
        """True if a file that is named by only one call was changed after this call had returned (LRO-HARD-07)."""
        shared = shared_paths((*self.files, *(c for c, _ in self.together)))
        kept = ((c.file, self.later.get(c.path)) for c in self.files if c.path not in shared)
        return any(file is not None and now is not None and now.data != file.data for file, now in kept)

    def has_records_of(self, call: Call, alone: Call) -> bool:
        """Return whether the file of a concurrent call has the records of the same call made *alone*.

        The records are compared by their ids and the names of their fields. If identical calls of the operation return
        different records, only the numbers of records are compared.
        """
        if call.operation in self.volatile_operations:
            return len(call.file_records) == len(alone.file_records)
        return _records_of(call) == _records_of(alone)

    @property
    def seed_advice(self) -> str:
        """A phrase for messages about missing records. It names the profile's key for seeding; if the server was
        seeded, it says so and names the key that was used."""
        if self.seeded_by is None:
            return "profile: seed"
        return f"though it was given the suite's memories, profile: seed.{self.seeded_by}"

    @property
    def implemented(self) -> bool | None:
        """True if the server offloads, False if it does not, and None if its results do not show whether it does.

        The results of a proxy do not show it if only results without memories are offloaded (`offloads_other_records`).
        Only an inline result above the threshold in force shows that a server does not offload. If the server claims to
        offload, a threshold of 1 without effect may only mean that the setting is wrong, so the result has to exceed
        the default threshold. If a flag of the server's command fixes the threshold, the threshold in force is unknown.
        """
        if self.offloaded:
            return None if self.offloads_other_records else True
        if "threshold_tokens" in self.fixed or (self.lowest > 1 and all(map(self.is_small, self.answered))):
            return None
        if (self.claims or not self.adjustable) and not self.exceeds_default:
            return None
        return False if self.returned_anything else None

    @property
    def offloads_other_records(self) -> bool:
        """True for a proxy whose files hold no memories, because the tools behind the proxy perform no operation of
        LRO."""
        calls = (*self.offloaded, *(c for c, _ in self.together if c.outcome == "offloaded"))
        return self.proxied and bool(calls) and not any(resembles_memory(r) for c in calls for r in c.file_records)

    @property
    def returned_anything(self) -> bool:
        """True when the server returned anything that could have been offloaded, without saying that a write failed."""
        whole = [c for c in self.answered if write_failure(c) is None]
        listed = [c.records for c in whole if c.records is not None]
        # A text such as "No memories match." is not a memory: only long texts count, and only if no result is a list.
        return any(listed) if listed else any(len(c.text) > MAX_MESSAGE_CHARACTERS for c in whole)

    @cached_property
    def largest_inline(self) -> int:
        """The characters of the largest inline result."""
        return max(map(size_of, self.calls), default=0)

    @property
    def exceeds_default(self) -> bool:
        """True if an inline result exceeds the default threshold by any estimate that is within the tolerance."""
        return surely_exceeds(self.largest_inline, self.default_tokens)

    @cached_property
    def volatile_operations(self) -> frozenset[str]:
        """The operations whose identical calls return different records or values, for example because of counters,
        times, or records of equal rank."""
        return frozenset(n for n, (a, b) in self.repeats.items() if _lines(a) != _lines(b))

    @property
    def minimal_calls(self) -> Mapping[str, Call]:
        """Per operation, the smallest call that should be offloaded at the lowest accepted threshold."""
        return self.tiny if self.lowest == 1 else {n: a for n, (a, _) in self.repeats.items()}

    @property
    def effective(self) -> list[str]:
        """The operations for which the lowest threshold takes effect."""
        return [n for n, c in self.minimal_calls.items() if c.outcome == "offloaded"]

    def is_small(self, call: Call) -> bool:
        """Return whether a result is inline, but may be too small to exceed the lowest threshold.

        If the lowest threshold is 1, no result is too small. A text without records may always be too small, since it
        is unknown which part of the text the server counts.
        """
        small = call.records is None or not surely_exceeds(size_of(call), self.lowest)
        return self.lowest > 1 and call.outcome == "inline" and small

    def offloads(self, operation: str) -> bool:
        """Return whether any call of an operation was offloaded."""
        return any(c.operation == operation for c in self.offloaded)


@trial("lowest threshold: descriptors, files, estimates")
def survey(lab: Lab) -> Survey:
    """Call every operation at every detail level with a threshold of 1, or the lowest that the server accepts."""
    adjustable = lab.can_set("threshold_tokens")
    with lab.lowest_bench(Settings(threshold_tokens=1 if adjustable else None), keep_for="survey") as bench:
        remarks = replace_poor_queries(bench)
        if lab.seeding.is_wanted(bench):
            lab.step("survey", "the server has too few memories: seeding")
            remarks = lab.seeding.begin(bench, lambda: lab.bench(Settings()))
        lab.ledger.remark(*remarks)
        observed = _observe(lab, bench, adjustable)
    decided = observed.offloaded or not observed.operations or (observed.implemented is None and not observed.claims)
    if decided or not lab.can_set("enabled"):
        return observed
    lab.step("survey", "nothing was offloaded: trying again with enabled = true")
    lab.needs_enabled = True
    with lab.lowest_bench(Settings(threshold_tokens=1 if adjustable else None), keep_for="survey") as bench:
        observed_again = _observe(lab, bench, adjustable)
    lab.needs_enabled = observed_again.implemented is True
    return observed_again if lab.needs_enabled else observed


def _event_lines(bench: Bench) -> tuple[str, ...]:
    lines = (s for s in bench.output() if not s.startswith("notifications: "))
    return tuple(s for s in lines if "OffloadWriteFailed" in s or "OffloadFileExpired" in s)[:MAX_KEPT]


def _observe(lab: Lab, bench: Bench, adjustable: bool) -> Survey:
    begun = time.monotonic()
    whole: dict[tuple[str, str | None], Call] = {}
    repeats: dict[str, tuple[Call, Call]] = {}
    tiny: dict[str, Call] = {}
    single: dict[str, Call] = {}
    budgets: list[Call] = []
    calls_by_word: list[Call] = []
    for name, operation in bench.operations.items():
        lab.step("survey", operation.tool)
        whole[name, None] = bench.call(name)
        if whole[name, None].outcome == "no answer" and not bench.server.alive:
            raise NotObserved(f"the server exited during the call {whole[name, None].label}")
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
            limits = (USUAL_LIMIT, None) if operation.limit is not None else (None,)
            budgets += [bench.call(name, limit=limit, budget=b) for limit in limits for b in (50, 100_000)]
    word = common_word(r for c in whole.values() for r in (c.file_records or c.records or []))
    if word is not None:
        calls_by_word = [bench.call(name, query=word) for name, o in bench.operations.items() if o.query is not None]
    many = next((bench.call(n, limit=LARGE_LIMIT) for n in _truncated_operations(bench, whole, repeats)), None)
    answered = any(c.outcome in ("inline", "offloaded") for c in (*whole.values(), *tiny.values()))
    # A server that answers every call with an error, for example because it has no network, can take long for each.
    concurrent = [o for o in bench.operations.values() if answered]
    requests = [_concurrent_arguments(o, m, word) for m in (3, 5, EDGE_LIMIT) for o in concurrent]
    together = _calls_in_flight(bench, requests)
    queries = tuple(_calls_of_unmatched_tools(bench)) if adjustable and bench.operations else ()
    calls = (
        *whole.values(),
        *(c for pair in repeats.values() for c in pair),
        *tiny.values(),
        *single.values(),
        *budgets,
        *calls_by_word,
    )
    calls = tuple(sorted(calls, key=lambda c: c.started))
    named_paths = {
        c.file.path for c in (*calls, *(c for c, _ in together)) if c.file is not None and c.file.problem is None
    }
    if named_paths:
        if adjustable:
            lab.begin("inline", lambda: _call_inline(lab, whole, word, many))
        lab.workspace.pause(max(0.0, begun + SETTLING_S - time.monotonic()))
    later = {path: see_file(path, bench.roots) for path in named_paths}
    if _calls_with_growing_file(calls, later):  # the last files may not be complete yet
        lab.workspace.pause(SETTLING_S)
        later = {path: see_file(path, bench.roots) for path in named_paths}
    unsettled = _calls_with_growing_file(calls, later)
    by_identity = {id(c): _settled(c, later) if c in unsettled else c for c in calls}

    def settled(call: Call) -> Call:
        return by_identity.get(id(call), call)

    lab.accepted.choose_details({key: call.estimate for key, call in whole.items() if call.outcome == "offloaded"})
    return Survey(
        operations=bench.operations,
        tools=bench.tools,
        calls=tuple(settled(c) for c in calls),
        whole={k: settled(c) for k, c in whole.items()},
        repeats={n: (settled(a), settled(b)) for n, (a, b) in repeats.items()},
        tiny={n: settled(c) for n, c in tiny.items()},
        single={n: settled(c) for n, c in single.items()},
        together=tuple((settled(a), b) for a, b in together),
        budgets=tuple(settled(c) for c in budgets),
        unsettled=unsettled,
        later=later,
        real={p: real_path(p) for p in paths_named((*calls, *(c for c, _ in together)))},
        unnamed=unnamed(bench, (r for c in calls for r in c.file_records)),
        word=word,
        adjustable=adjustable,
        anomalies=tuple(map(str, violations(bench.server.transcript.anomalies))),
        server_info=bench.server.server_info,
        protocol=bench.server.protocol_version,
        messages=messages_of(bench.server),
        event_lines=_event_lines(bench),
        many=many,
        claims=claims(lab.profile, bench.tools, bench.server.handshake),
        default_tokens=lab.editions.own.default_threshold_tokens,
        lowest=lab.accepted.lowest,
        client=lab.profile.client.name,
        queries=queries,
        absent=tuple(n for n, o in (lab.profile.operations or {}).items() if o is None),
        seeded_by=lab.seeded_by,
        proxied=is_proxy(lab.profile, bench.server.handshake),
        fixed=lab.profile.fixed,
    )


def _calls_of_unmatched_tools(bench: Bench) -> Iterator[UnmatchedToolCall]:
    """Call the tools that seem to perform an operation for which no tool is known."""
    provided = {*bench.operations, *(bench.profile.operations or {})}
    for tool, operation, arguments in reading_tools(bench.tools, {o.tool for o in bench.operations.values()}):
        if operation not in provided and bench.server.alive:
            reply = bench.call_other(tool, arguments)
            result = as_record(reply.result)
            records = find_records(result, bench.profile.inline_records) or []
            yield UnmatchedToolCall(tool, tuple(by_id(records)), descriptor_in(reply) is not None, operation)


@dataclass(frozen=True)
class Inline:
    """Calls of the survey, repeated with a threshold that no result reaches, so that nothing should be offloaded."""

    whole: Mapping[tuple[str, str | None], Call]
    """Maps an operation and a requested detail level (None if none was requested) to the call with the usual limit."""
    again: Mapping[str, Call]
    """The call of each operation at the default level, made once more by the same process, at once after the calls of
    `whole`."""
    edges: Mapping[str, Call]
    """For each operation, the call with `EDGE_LIMIT` records."""
    elsewhere: Mapping[str, Call]
    """The call of each operation at the default level, in a second process of the server."""
    others: tuple[Call, ...]
    """Calls with the query `Survey.word`, of the operations that take a query."""
    many: Call | None = None
    """The call for `LARGE_LIMIT` records; None if the survey made none."""
    listing: Mapping[str, int] = field(default_factory=dict[str, int])
    """The offloaded files in the output folder after all calls of the first process, with their sizes."""
    fullest: Mapping[str, Call] = field(default_factory=dict[str, Call])
    """For each operation, the call at its richest detail level, in the second process. In evidence recorded by version
    0.1.0, they were made in the first process again."""
    threshold: int = MAX_THRESHOLD
    """The highest threshold that the server accepts."""
    filed: Mapping[tuple[str, str | None], Call] = field(default_factory=dict[tuple[str, "str | None"], Call])
    """The calls of `Survey.whole` that were offloaded, made once more on the server of the survey, after `Inline.whole`
    and before `repeated`."""
    repeated: Mapping[tuple[str, str | None], Call] = field(default_factory=dict[tuple[str, "str | None"], Call])
    """All calls of `whole`, made once more by the same process, at least `APART_S` later and after `filed`."""
    edges_elsewhere: Mapping[str, Call] = field(default_factory=dict[str, Call])
    """The calls of `edges` in the second process."""

    @property
    def calls(self) -> list[Call]:
        """The calls of `whole`, `again`, `edges` and `others`."""
        return [*self.whole.values(), *self.again.values(), *self.edges.values(), *self.others]


@trial("highest threshold: the same calls inline")
def inline(lab: Lab, survey: Survey) -> Inline:
    """Make the calls of the survey with a threshold that no result reaches.

    Then the same calls are offloaded once more and, after that, made inline once more. Values that depend on the clock
    or on a counter differ between the two inline results. All other values were the same when the file was written,
    because it was written between the two inline results.
    """
    if not lab.can_set("threshold_tokens"):
        raise NotObserved(survey.reason_not_set("threshold_tokens"))
    first, made = lab.result_of("inline", lambda: _call_inline(lab, survey.whole, survey.word, survey.many))
    with lab.bench(Settings(threshold_tokens=MAX_THRESHOLD)) as second:
        elsewhere = {name: second.call(name) for name in second.operations}
        fullest = {n: second.call(n, detail=o.details[-1]) for n, o in second.operations.items() if o.details}
        again_elsewhere = {n: _edge_call(second, n) for n in second.operations}
    offloading = lab.kept["survey"]
    filed = {key: offloading.call(key[0], detail=key[1]) for key, c in survey.whole.items() if c.outcome == "offloaded"}
    lab.workspace.pause(max(0.0, made + APART_S - time.monotonic()))
    return replace(
        first,
        elsewhere=elsewhere,
        fullest=fullest,
        threshold=lab.accepted.highest,
        filed=filed,
        repeated={key: lab.kept["inline"].call(key[0], detail=key[1]) for key in survey.whole},
        edges_elsewhere=again_elsewhere,
    )


def _call_inline(
    lab: Lab, whole: Mapping[tuple[str, str | None], Call], word: str | None, many: Call | None
) -> tuple[Inline, float]:
    """Make the calls of the survey inline.

    These are the calls with the keys of *whole*, the call *many* if it is not None, and calls with the query *word*.
    The calls of a second process are not made here. Returns the calls, and the time by the monotonic clock when they
    had ended. The survey begins to make these calls while it waits, since they have to be made again `APART_S` later.
    """
    with lab.highest_bench(Settings(threshold_tokens=MAX_THRESHOLD), keep_for="inline") as bench:
        queried = [n for n, o in bench.operations.items() if o.query is not None and word is not None]
        made = Inline(
            whole={key: bench.call(key[0], detail=key[1]) for key in whole},
            again={name: bench.call(name) for name in bench.operations},
            edges={n: _edge_call(bench, n) for n in bench.operations},
            elsewhere={},
            others=tuple(bench.call(name, query=word) for name in queried),
            many=None if many is None else bench.call(many.operation, limit=LARGE_LIMIT),
            listing=bench.listing(),
        )
        return made, time.monotonic()


def _edge_call(bench: Bench, name: str) -> Call:
    return bench.call(name, detail=usual_detail(bench.operations[name]), limit=EDGE_LIMIT)


def usual_detail(operation: Operation) -> str | None:
    """The detail level for calls that need no particular level.

    This is the default of the specification or, if the tool does not take that level, the tool's first level. The level
    is sent explicitly, because the server's own default may be wrong.
    """
    wanted = {"inject": "medium"}.get(operation.name, "light")
    return wanted if wanted in operation.details else next(iter(operation.details), None)


def _concurrent_arguments(operation: Operation, limit: int, word: str | None) -> dict[str, Any]:
    """Arguments of one of the concurrent calls. A call for five records has a different level, and the query *word*."""
    if limit != 5:
        return {"name": operation.name, "limit": limit, "detail": usual_detail(operation)}
    others = [d for d in operation.details if d != usual_detail(operation)]
    return {"name": operation.name, "limit": limit, "detail": others[-1] if others else None, "query": word}


def _calls_in_flight(bench: Bench, requests: Sequence[Mapping[str, Any]]) -> list[tuple[Call, Call]]:
    """Concurrent calls, each with the same call made alone.

    If the server processes several calls at a time, and is fast, further rounds are made. From these rounds, a call is
    kept only if its result differs from that of the same call made alone. Errors are not kept, since a server may
    refuse some of the calls if there are many.
    """
    begun = time.monotonic()
    first = bench.calls([*requests, *requests])
    seconds = max(0.001, time.monotonic() - begun)
    rounds = min(FURTHER_ROUNDS, int(FURTHER_ROUNDS_S / seconds)) if _is_concurrent(first) else 0
    further = bench.calls([*requests, *requests] * rounds)
    alone = [bench.call(**each) for each in requests]
    expected = list(map(_stable_parts, alone))
    pairs = ((c, n % len(requests)) for n, c in enumerate(further) if c.outcome in ("inline", "offloaded"))
    different = [(c, alone[n]) for c, n in pairs if _stable_parts(c) != expected[n]]
    return [*zip(first, alone * 2, strict=True), *different[:MAX_KEPT]]


def _is_concurrent(calls: Sequence[Call]) -> bool:
    """Return whether a call was answered before an earlier one."""
    times = [call.reply.sent_at + call.reply.elapsed_s for call in calls]
    return times != sorted(times)


def _stable_parts(call: Call) -> tuple[object, ...]:
    """The parts of a result that should stay the same when the call is repeated, unless its records change."""
    return call.outcome, _records_of(call), {k: v for k, v in call.header.items() if k != "timestamp"}


def _records_of(call: Call) -> tuple[object, ...]:
    """The ids of the records in the file of a call, and their fields."""
    return [id_of(record) for record in call.file_records], {field for record in call.file_records for field in record}


def _lines(call: Call) -> list[bytes]:
    return [line.raw for line in call.file.record_lines] if call.file is not None else []


def _truncated_operations(
    bench: Bench, whole: Mapping[tuple[str, str | None], Call], repeats: Mapping[str, tuple[Call, Call]]
) -> Iterator[str]:
    """The operations whose result was truncated by the usual limit.

    An operation is left out if its tool does not accept a larger limit, or if identical calls differ.
    """
    for name, operation in bench.operations.items():
        call = whole[name, None]
        greater = call.limit == USUAL_LIMIT and (operation.limit_maximum or LARGE_LIMIT) > USUAL_LIMIT
        if greater and len(call.file_records) == USUAL_LIMIT and _lines(repeats[name][0]) == _lines(repeats[name][1]):
            yield name


def _grew(before: FileSeen, after: FileSeen) -> bool:
    """Return whether a file was incomplete when it was named, and grew later. A file that was complete does not
    count."""
    if after.problem is not None or len(after.data) <= len(before.data) or not after.data.startswith(before.data):
        return False
    return (before.header or {}).get("count") != len(before.records)


def _calls_with_growing_file(calls: Iterable[Call], later: Mapping[str, FileSeen]) -> tuple[Call, ...]:
    return tuple(c for c in calls if c.file is not None and c.file.path in later and _grew(c.file, later[c.file.path]))


def _settled(call: Call, later: Mapping[str, FileSeen]) -> Call:
    """The call with the final state of its file, so that a file that grew late makes only one requirement fail, and not
    ten."""
    file = later.get(call.file.path) if call.file is not None else None
    return call if file is None or file.problem is not None else replace(call, file=file)
