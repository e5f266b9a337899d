"""The exact threshold: calls with known E at thresholds of E and E−1, and probes that distinguish wrong rules."""

from __future__ import annotations

import os
import random
import string
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from lro_conformance.capture.call import Call
from lro_conformance.capture.corpus import Memory, filler, filling
from lro_conformance.capture.estimate import tokens_per_character
from lro_conformance.capture.records import comparable_keys, id_of, size
from lro_conformance.lab.settings import Settings
from lro_conformance.lab.thresholds import HIGH, LIMIT, NEVER
from lro_conformance.trials import trial
from lro_conformance.trials.survey import EDGE_LIMIT, Survey, usual_detail
from lro_spec.tokens import CHARACTERS_PER_TOKEN, script_aware_estimate

if TYPE_CHECKING:
    from lro_conformance.lab.bench import Bench
    from lro_conformance.lab.lab import Lab

FEW = 12
"""Largest distance from the threshold, in tokens, at which a wrong comparison decides wrongly: it is off by one, counts
a wrapper around the records, or rounds to tens. A server that decides wrongly farther away compares a different
number."""

SAMPLES = 8
"""Number of further calls that are made to learn E if it varies between identical calls. It is also the number of
memories that are stored first, to measure their size, before a result is filled up to a threshold."""

TRIES = 3
"""Largest number of attempts to make a result reach a threshold exactly. Each attempt stores a memory whose length is
corrected by the result of the attempt before."""

AROUND = 0.1
"""Share by which the thresholds of `Edge.below_text` and `Edge.above_text` lie below and above the tokens of the text
that is examined there, because servers estimate the tokens of a text a little differently."""

MARGIN = 80
"""Characters by which the memory of the first attempt is longer than needed, so that the result surely exceeds the
threshold and its header states E."""

MOST_PLACED = 140
"""Largest number of memories in each of the three sets from which results are filled up to a threshold
(`_edge_by_storing`)."""

PLACING_S = 10.0
"""Longest time, in seconds, that storing `MOST_PLACED` memories in two servers may take, estimated from the time of a
call. If it would take longer, it is faster to start two more servers for the operation."""

MOST_CHARACTERS = 900
"""The title of the memory that fills up a result is shorter than this number of characters."""

LONG = "a-folder-whose-name-is-as-long-as-that-of-a-folder-may-be-" * 3 + "in-a-file-system-of-today"
"""Name of the output folder of one server, for a path of more than 260 characters in each command and the guidance."""


@dataclass(frozen=True)
class Probe:
    """A call at a threshold, and its E, which is known from a call that was offloaded."""

    call: Call
    estimate: int
    threshold: int


@dataclass(frozen=True)
class Edge:
    """Calls of one operation at a threshold of E, and just below it."""

    operation: str
    estimate: int
    """E, from identical calls at the lowest threshold; the largest if they differ."""
    drift: int
    """Difference between the largest and the smallest E of those calls. Further calls may differ more, so the
    thresholds of `at` and `below` are moved apart, each by twice this difference."""
    largest: int
    """Tokens of the largest record of the result, by the server's own measure."""
    at: tuple[Probe, ...]
    """Calls at a threshold of E, expected inline."""
    below: tuple[Probe, ...] = field(metadata={"formerly": "above"})
    """Calls at a threshold of E−1, expected to be offloaded."""
    after: Probe | None = None
    """A call at a threshold of E again, after the same server has offloaded something."""
    few_tokens_off: Probe | None = field(default=None, metadata={"formerly": "next"})
    """A call at a threshold that is `FEW` tokens farther from E, on the side where the decision was wrong. None if both
    sides were as expected, or if `other_records` is True."""
    two_percent_off: Probe | None = field(default=None, metadata={"formerly": "near"})
    """Like `few_tokens_off`, but a fiftieth of E farther, and at least twice `FEW` tokens."""
    at_half: Probe | None = field(default=None, metadata={"formerly": "half"})
    """A call at a threshold of half of E, with a token budget of 50 if the tool takes one; None unless a call of
    `below` stayed inline."""
    low: Probe | None = None
    """A call at a threshold of half of `largest`; None unless a call of `below` stayed inline."""
    below_text: Probe | None = None
    """A call at a threshold a tenth below the tokens of the text that `below` returned inline. None unless that text
    has clearly fewer tokens than E, and the result stayed inline at `two_percent_off`."""
    above_text: Probe | None = None
    """A call at a threshold a tenth above the tokens of that text."""
    other_records: bool = False
    """True if a call returned other records than the call whose E is known, so that E of its result is unknown."""


@dataclass(frozen=True)
class Edges:
    """The edges of all operations."""

    edges: Mapping[str, Edge]
    far: tuple[Probe, ...]
    """Calls at the same thresholds as those of `edges`, but of other operations or at other detail levels, with an E
    that is clearly above or below the threshold."""
    reason: str | None
    """Reason why there are no edges; None if there are some."""
    threshold: int
    """Threshold of a server just below the first edge, which is kept for the explorer; 0 if none is kept."""


@trial("exact threshold: E and E−1")
def edges(lab: Lab, survey: Survey) -> Edges:
    """Start the server with thresholds of each operation's E and E−1, and make the same call again.

    If memories can be stored, the servers of the second operation also serve the operations with smaller results:
    memories are stored until such a result reaches the servers' threshold.
    """
    reason = _reason_without_edges(survey)
    if reason is not None:
        return Edges({}, (), reason, 0)
    sized = [s for name in survey.effective if (s := _sized(lab, survey, name)) is not None]
    if any(one.most + one.margin > HIGH[-1] for one in sized):
        with lab.highest_bench(Settings(threshold_tokens=NEVER)):
            pass  # this finds the highest threshold that the server accepts, which may be below these estimates
    order = [*sized[:1], *sorted(sized[1:], key=lambda s: -s.most)]
    found: dict[str, Edge] = {}
    far: list[Probe] = []
    threshold = 0
    records_vary = False
    for number, one in enumerate(order):
        if one.name in found:
            continue
        keep = "edges" if number == 0 else None
        if records_vary:  # where a result is a text, other records would not be noticed
            one = _uncut(lab, survey, one.name) or one
        edge, seen, placed = _edge(lab, survey, one, keep, others=not far, guests=order[2:] if number == 1 else ())
        if edge.other_records and not records_vary and (uncut := _uncut(lab, survey, one.name)) is not None:
            edge, seen, placed = _edge(lab, survey, uncut, keep, others=False)
            records_vary = True
        if keep is not None:
            threshold = edge.below[0].threshold
        far += seen
        found |= {one.name: _diagnose(lab, edge), **placed}
    edges = {name: found[name] for name in survey.effective if name in found}
    not_sized = f"no header has an E of at least {lab.accepted.lowest + 2}, so E and E−1 could not be set as thresholds"
    return Edges(edges, tuple(far), None if found else not_sized, threshold)


class _Sized(NamedTuple):
    """The smallest and the largest E that identical calls of an operation have shown."""

    name: str
    least: int
    most: int
    call: Call
    """One of the calls whose E is known."""

    @property
    def drift(self) -> int:
        return self.most - self.least

    @property
    def margin(self) -> int:
        return 2 * self.drift


def _sized(lab: Lab, survey: Survey, name: str) -> _Sized | None:
    calls = _with_estimates(lab, survey, name)
    known = [c.estimate for c in calls if c.estimate is not None]
    if not known or min(known) < lab.accepted.lowest + 2:
        return None
    return _Sized(name, min(known), max(known), calls[0])


def _uncut(lab: Lab, survey: Survey, name: str) -> _Sized | None:
    """E of a call whose result is not cut by its limit, so that every process returns the same memories; None if there
    is no such call of the operation."""
    call = survey.whole.get((name, usual_detail(survey.operations[name])), survey.whole[name, None])
    estimate, limit = call.estimate, call.limit
    if (
        estimate is None
        or estimate < lab.accepted.lowest + 2
        or (limit is not None and len(call.file_records) >= limit)
    ):
        return None
    return _Sized(name, estimate, estimate, call)


def _edge(
    lab: Lab, survey: Survey, one: _Sized, keep: str | None, *, others: bool, guests: Sequence[_Sized] = ()
) -> tuple[Edge, list[Probe], dict[str, Edge]]:
    """The edge of an operation, found with two servers of its own.

    *guests* are operations with smaller results. Returns also probes farther from the edge, and the edges, by name, of
    those guests whose results could be filled up with stored memories to the threshold of these servers.
    """
    name, estimate, drift = one.name, one.most, one.drift
    lab.step("edges", f"{name}: E = {estimate}")
    reached, not_reached = estimate + one.margin, lab.accepted.nearest(one.least - one.margin - 1)
    with ExitStack() as stack:
        upper = stack.enter_context(lab.bench(Settings(threshold_tokens=reached)))
        limit = one.call.limit
        at = _twice(upper, name, estimate, reached, limit)
        far = _far(lab, upper, survey, name, reached, others=others)
        after = _after(upper, name, estimate, reached, limit) if name not in survey.volatile_operations else None
        if not guests:
            stack.close()
        lower = stack.enter_context(lab.bench(Settings(threshold_tokens=not_reached), keep=keep, folder=LONG))
        below = _twice(lower, name, estimate - drift, not_reached, limit)
        others_came = drift == 0 and any(_returned_others(p.call, one.call, lower.memories) for p in (*at, *below))
        edge = Edge(name, estimate, drift, _largest(one.call), at, below, after, other_records=others_came)
        placed: dict[str, Edge] = {}
        if drift == 0 and _is_as_expected(edge):
            guests = [g for g in guests if g.drift == 0 and _can_be_filled(lab, survey, g.name)]
            # before any memory is stored
            probes_of_guests = [_far(lab, upper, survey, g.name, estimate, others=False) for g in guests]
            for guest, probes in zip(guests, probes_of_guests, strict=True):
                filled = _edge_by_storing(upper, lower, survey, guest.name, estimate)
                if filled is not None:
                    placed[guest.name] = filled
                    far += probes
    return edge, far, placed


def _is_as_expected(edge: Edge) -> bool:
    """Return whether all calls at E are inline, also the one after an offloaded call, and those at E−1 offloaded."""
    at = (*edge.at, *([edge.after] if edge.after is not None else []))
    return all(p.call.outcome == "inline" for p in at) and all(p.call.outcome == "offloaded" for p in edge.below)


def _can_be_filled(lab: Lab, survey: Survey, name: str) -> bool:
    """Return whether results of an operation can be filled up with stored memories.

    That is so if storing is possible and fast, and if the operation takes a query, takes no token budget, returns the
    same for identical calls, and is not inject.
    """
    seed, operation = lab.profile.seed, survey.operations[name]
    stores = seed is not None and seed.tool is not None
    is_steady = name not in survey.volatile_operations
    calls = survey.repeats[name]
    is_quick = 2 * MOST_PLACED * min(c.ended - c.started for c in calls) < PLACING_S
    can_be_filled = stores and is_steady and is_quick
    return can_be_filled and operation.query is not None and operation.budget is None and name != "inject"


def _edge_by_storing(upper: Bench, lower: Bench, survey: Survey, name: str, threshold: int) -> Edge | None:
    """The edge of an operation on servers of another one: memories are stored until E of a result is *threshold*.

    This is the threshold of *upper*. That of *lower* is one less, so *lower* offloads the result and states E in its
    header. Returns None if no result reaches this E exactly, or if a decision is not as expected: then the operation
    needs servers of its own.
    """
    chance = random.Random(name)
    words = ["".join(chance.choices(string.ascii_lowercase, k=8)) for _ in range(1 + TRIES)]
    detail, usual = usual_detail(upper.operations[name]), survey.repeats[name][0]

    def call(bench: Bench, word: str) -> Call:
        return bench.call(name, detail=detail, query=word, limit=LIMIT)

    def store(*memories: Memory) -> bool:
        return all([bench.stored(m) for m in memories for bench in (upper, lower)])  # noqa: C419 - both servers get it

    # memories that all words find, those that only the first word finds, and those that only the other words find
    base, more, rest = (filling(w, MOST_PLACED) for w in (words, words[:1], words[1:]))
    if not store(*base[:SAMPLES]) or not usual.estimate:
        return None
    if not (known := call(upper, words[0]).records):
        return None
    count = threshold * SAMPLES * sum(map(size, usual.file_records)) // (usual.estimate * sum(map(size, known)))
    half = count * 3 // 4
    if not SAMPLES < half <= MOST_PLACED or not store(*base[SAMPLES:half], *more[:half]):
        return None
    larger = call(lower, words[0])  # its E shows how many characters make a token
    own = [
        line
        for line in (larger.file.record_lines if larger.file is not None else ())
        if id_of(line.record or {}) in {m["id"] for m in base[:half]}
    ]
    if larger.estimate is None or len(own) < half:
        return None
    lengths = [len(line.raw.decode("utf-8", "replace")) for line in own]
    wanted = threshold / tokens_per_character(larger)
    if not store(*rest[: max(0, int(half * (wanted / sum(lengths) - 1)) - 1)]):
        return None
    spacing = sum(lengths) / sum(size(line.record or {}) for line in own)  # relative to compact JSON
    known = call(upper, words[1]).records or []
    length = round(wanted - spacing * sum(map(size, known))) - lengths[0] + len(base[0]["title"]) + MARGIN
    for word in words[1:]:
        if not len(word) < length < MOST_CHARACTERS or not store(filler(word, length)):
            return None
        result = call(lower, word)
        if result.estimate is None:
            return None
        if result.estimate == threshold:
            break
        length += (threshold - result.estimate) * CHARACTERS_PER_TOKEN  # assumed to be the server's rate
    else:
        return None
    at = tuple(Probe(call(upper, word), threshold, threshold) for _ in range(2))
    below = (Probe(result, threshold, threshold - 1), Probe(call(lower, word), threshold, threshold - 1))
    has_offloaded = upper.call(name, detail=_richest(upper, name)).outcome == "offloaded"
    after = Probe(call(upper, word), threshold, threshold) if has_offloaded else None
    edge = Edge(name, threshold, 0, _largest(result), at, below, after)
    return edge if _is_as_expected(edge) else None


def _with_estimates(lab: Lab, survey: Survey, name: str) -> list[Call]:
    """Calls whose E is known: two calls of the survey and, if their E or records differ, `SAMPLES` of a fresh server.

    If the records differ, only the calls of the fresh server are returned: E may be different after a hundred calls,
    and the edges are tried by the first calls of a server. Two calls would not suffice: if a limit cuts off equally
    ranked records in random order, E varies over a wider range than they show.
    """
    calls = list(survey.repeats[name])
    same = len({(c.estimate, c.file_ids) for c in calls}) == 1
    if name in survey.volatile_operations or not same:
        with lab.bench(Settings(threshold_tokens=1)) as bench:
            samples = [_call(bench, name) for _ in range(SAMPLES)]
        calls = samples if name in survey.volatile_operations else [*calls, *samples]
    return [c for c in calls if c.estimate is not None]


def _reason_without_edges(survey: Survey) -> str | None:
    if not survey.adjustable:
        return survey.reason_not_set("threshold_tokens")
    if not survey.offloaded:
        return f"nothing was offloaded with a threshold of {survey.lowest}"
    if not survey.effective:
        return f"a threshold of {survey.lowest} has no effect: small results stay inline"
    return None


def _returned_others(call: Call, known: Call, stored: Iterable[Memory] = ()) -> bool:
    """Return whether a call has other records than a *known* call, or its text shows other *stored* memories instead.

    An inline result with a different number of records does not count: it may be one page of them.
    """
    if call.outcome == "inline" and call.records is None:
        titles = {str(r["title"]) for r in known.file_records if r.get("title")}
        others = (title for m in stored if (title := m.get("title")) and title not in titles)
        return any(t not in call.text for t in titles) and any(title in call.text for title in others)
    keys, known_keys = comparable_keys(call.file_records or call.records or [], known.file_records)
    return bool(call.file_records or len(keys) == len(known_keys)) and sorted(keys) != sorted(known_keys)


def _twice(bench: Bench, name: str, estimate: int, threshold: int, limit: int | None) -> tuple[Probe, ...]:
    return tuple(Probe(_call(bench, name, limit), estimate, threshold) for _ in range(2))


def _after(bench: Bench, name: str, estimate: int, threshold: int, limit: int | None) -> Probe | None:
    """The call again, after the server has offloaded one at the richest detail level; None if it offloaded none."""
    if bench.call(name, detail=_richest(bench, name)).outcome != "offloaded":
        return None
    return Probe(_call(bench, name, limit), estimate, threshold)


def _richest(bench: Bench, name: str) -> str | None:
    return next(reversed(bench.operations[name].details), None)


def _call(bench: Bench, name: str, limit: int | None = EDGE_LIMIT, budget: int | None = None) -> Call:
    return bench.call(name, detail=usual_detail(bench.operations[name]), limit=limit, budget=budget)


def _far(lab: Lab, bench: Bench, survey: Survey, own: str, threshold: int, *, others: bool) -> list[Probe]:
    """Calls whose results are somewhat above and somewhat below the threshold. They are of the operation *own* at other
    detail levels and, if *others* is True, also of other operations."""
    probes: list[Probe] = []
    usual = {n: usual_detail(o) for n, o in bench.operations.items()}
    lowest = lab.kept["survey"]
    wanted = [(n, usual[n], survey.repeats[n][0]) for n in bench.operations if n != own and others]
    wanted += [(n, d, c) for (n, d), c in survey.whole.items() if n == own and d not in (None, usual[n])]
    for name, detail, known in wanted:
        if not known.estimate or name not in survey.effective:
            continue
        for share in (1.3, 0.75):
            limit = max(1, round(len(known.file_records) * share * threshold / known.estimate))
            named = frozenset(lowest.named_files)
            offloaded = lowest.call(name, detail=detail, limit=limit)
            is_new = os.path.basename(offloaded.path) not in named  # an old file states the E of an earlier call
            estimate = offloaded.estimate if is_new else None
            if estimate is not None and abs(estimate - threshold) > max(8, threshold // 10):
                probes.append(Probe(bench.call(name, detail=detail, limit=limit), estimate, threshold))
    return probes


def _largest(call: Call) -> int:
    """Tokens of the largest record of a file, by the server's own measure: E times the share of its characters."""
    lengths = [len(line.raw.decode("utf-8", "replace")) for line in call.file.record_lines] if call.file else []
    total = sum(lengths)
    return max(1, (call.estimate or 0) * max(lengths) // total) if total else 1


def _diagnose(lab: Lab, edge: Edge) -> Edge:
    """If a side is not as expected, make calls by which a wrong comparison can be told from a wrong quantity.

    This takes two more servers or, if the server offloads too late, up to six.
    """
    is_late = any(p.call.outcome == "inline" for p in edge.below)
    if not is_late and all(p.call.outcome == "inline" for p in edge.at):
        return edge
    if edge.other_records:
        return edge
    limit = edge.at[0].call.limit
    far = max(2 * FEW, edge.estimate // 50)
    two_percent = lab.accepted.nearest(edge.below[0].threshold - far) if is_late else edge.at[0].threshold + far
    few = lab.accepted.nearest(edge.below[0].threshold - FEW) if is_late else edge.at[0].threshold + FEW
    with lab.bench(Settings(threshold_tokens=two_percent)) as bench:
        two_percent_off = Probe(_call(bench, edge.operation, limit), edge.estimate, two_percent)
    with lab.bench(Settings(threshold_tokens=few)) as bench:
        few_tokens_off = Probe(_call(bench, edge.operation, limit), edge.estimate, few)
    edge = replace(edge, two_percent_off=two_percent_off, few_tokens_off=few_tokens_off)
    if not is_late:
        return edge
    half, low = lab.accepted.nearest(edge.estimate // 2 - 1), lab.accepted.nearest(edge.largest // 2)
    with lab.bench(Settings(threshold_tokens=half)) as bench:
        at_half = Probe(_call(bench, edge.operation, limit, budget=50), edge.estimate, half)
    with lab.bench(Settings(threshold_tokens=low)) as bench:
        at_low = Probe(_call(bench, edge.operation, limit), edge.estimate, low)
    edge = replace(edge, at_half=at_half, low=at_low)
    tokens = min((text_tokens(p.call) for p in edge.below if p.call.outcome == "inline"), default=0)
    around = [lab.accepted.nearest(round(share * tokens)) for share in (1 - AROUND, 1 + AROUND)]
    if two_percent_off.call.outcome != "inline" or not low < around[0] < around[1] < two_percent:
        return edge
    probes: list[Probe] = []
    for threshold in around:
        with lab.bench(Settings(threshold_tokens=threshold)) as bench:
            probes.append(Probe(_call(bench, edge.operation, limit), edge.estimate, threshold))
    return replace(edge, below_text=probes[0], above_text=probes[1])


def text_tokens(call: Call) -> int:
    """Tokens of a result's text, estimated from its characters."""
    return script_aware_estimate(call.text)
