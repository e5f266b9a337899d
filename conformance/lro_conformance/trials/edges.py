"""The exact threshold, from both sides.

E is the server's estimate of the tokens of a result, which the header of an offloaded file states. A call whose E is
known is repeated at a threshold of E, where it should stay inline, and at a threshold of E−1, where it should be
offloaded. The calls of one operation at these thresholds are its `Edge`; each of them is a `Probe`. If the server
decides wrongly, further probes show what it compares with the threshold.
"""

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
from lro_conformance.lab.thresholds import HIGH, MAX_THRESHOLD, USUAL_LIMIT
from lro_conformance.trials import trial
from lro_conformance.trials.survey import EDGE_LIMIT, Survey, usual_detail
from lro_spec.tokens import CHARACTERS_PER_TOKEN, script_aware_estimate

if TYPE_CHECKING:
    from lro_conformance.lab.bench import Bench
    from lro_conformance.lab.lab import Lab

FEW_TOKENS = 12
"""Largest distance from the threshold, in tokens, at which a wrong comparison leads to a wrong decision: the comparison
is off by one, counts a wrapper around the records, or rounds to tens. A server that decides wrongly farther away
compares a number other than E."""

SAMPLES = 8
"""Number of further calls that are made to learn E if it varies between identical calls. It is also the number of
memories that are stored first, to measure their size, before a result is filled up to a threshold."""

MAX_FILLING_ATTEMPTS = 3
"""Maximum number of attempts to make E of a result equal to a threshold. Each attempt stores a memory whose length is
corrected by the result of the previous attempt."""

TEXT_MARGIN = 0.1
"""Distance of the thresholds of `Edge.below_text` and `Edge.above_text` from the number of tokens of a text, as a share
of that number. The distance is needed because servers estimate the tokens of a text a little differently."""

SURPLUS_CHARACTERS = 80
"""Characters by which the memory of the first attempt is longer than needed, so that the result surely exceeds the
threshold and its header states E."""

MAX_FILLING_MEMORIES = 140
"""Largest number of memories in each of the three sets from which results are filled up to a threshold
(`_edge_by_storing`)."""

MAX_FILLING_S = 10.0
"""Longest time, in seconds, that storing `MAX_FILLING_MEMORIES` memories in two servers may take, estimated from the
time of a call. If storing them takes longer, it is faster to start two more servers for the operation."""

MAX_TITLE_CHARACTERS = 900
"""The title of the memory that fills up a result is shorter than this number of characters."""

LONG_FOLDER_NAME = "a-folder-whose-name-is-as-long-as-that-of-a-folder-may-be-" * 3 + "in-a-file-system-of-today"
"""Name of the output folder of one server, for a path of more than 260 characters in each command and the guidance."""


@dataclass(frozen=True)
class Probe:
    """A call at a threshold, and its E, which is known from a call that was offloaded."""

    call: Call
    estimate: int
    threshold: int


@dataclass(frozen=True)
class Edge:
    """Calls of one operation at a threshold of E, and at a threshold just below E."""

    operation: str
    estimate: int
    """E, known from identical calls at the lowest threshold. If these calls differ, it is their largest E."""
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
    """A further call at a threshold of E, made after the calls of `at`, when the same server has offloaded
    something."""
    few_tokens_off: Probe | None = field(default=None, metadata={"formerly": "next"})
    """A call at a threshold that is `FEW_TOKENS` tokens farther from E, on the side where the decision was wrong. None
    if both sides were as expected, or if `other_records` is True."""
    two_percent_off: Probe | None = field(default=None, metadata={"formerly": "near"})
    """Like `few_tokens_off`, but farther by a fiftieth of E, or by twice `FEW_TOKENS` if that is more."""
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
    """True if a call returned records other than those of the call whose E is known, so that E of its result is
    unknown."""


@dataclass(frozen=True)
class Edges:
    """The edges of all operations."""

    edges: Mapping[str, Edge]
    far: tuple[Probe, ...]
    """Further calls at the thresholds of `edges`. They are calls of other operations, or at other detail levels, and
    their E is clearly above or below the threshold."""
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
    ranges = [s for name in survey.effective if (s := _estimate_range(lab, survey, name)) is not None]
    if any(r.highest + r.margin > HIGH[-1] for r in ranges):
        with lab.highest_bench(Settings(threshold_tokens=MAX_THRESHOLD)):
            pass  # this finds the highest threshold that the server accepts, which may be below these estimates
    order = [*ranges[:1], *sorted(ranges[1:], key=lambda s: -s.highest)]
    found: dict[str, Edge] = {}
    far: list[Probe] = []
    threshold = 0
    records_vary = False
    for number, operation in enumerate(order):
        if operation.name in found:
            continue
        keep_for = "edges" if number == 0 else None
        if records_vary:  # where a result is a text, other records would not be noticed
            operation = _uncut(lab, survey, operation.name) or operation
        edge, probes, placed = _edge(
            lab, survey, operation, keep_for, include_others=not far, guests=order[2:] if number == 1 else ()
        )
        if edge.other_records and not records_vary and (uncut := _uncut(lab, survey, operation.name)) is not None:
            edge, probes, placed = _edge(lab, survey, uncut, keep_for, include_others=False)
            records_vary = True
        if keep_for is not None:
            threshold = edge.below[0].threshold
        far += probes
        found |= {operation.name: _diagnose(lab, edge), **placed}
    edges = {name: found[name] for name in survey.effective if name in found}
    not_sized = f"no header has an E of at least {lab.accepted.lowest + 2}, so E and E−1 could not be set as thresholds"
    return Edges(edges, tuple(far), None if found else not_sized, threshold)


class _EstimateRange(NamedTuple):
    """The smallest and the largest E that identical calls of an operation have shown."""

    name: str
    lowest: int
    highest: int
    call: Call
    """One of the calls whose E is known."""

    @property
    def drift(self) -> int:
        return self.highest - self.lowest

    @property
    def margin(self) -> int:
        return 2 * self.drift


def _estimate_range(lab: Lab, survey: Survey, name: str) -> _EstimateRange | None:
    calls = _with_estimates(lab, survey, name)
    known = [c.estimate for c in calls if c.estimate is not None]
    if not known or min(known) < lab.accepted.lowest + 2:
        return None
    return _EstimateRange(name, min(known), max(known), calls[0])


def _uncut(lab: Lab, survey: Survey, name: str) -> _EstimateRange | None:
    """The E of a call whose result is not cut off by its limit, so that every process returns the same memories. None
    if the operation has no such call."""
    call = survey.whole.get((name, usual_detail(survey.operations[name])), survey.whole[name, None])
    estimate, limit = call.estimate, call.limit
    if (
        estimate is None
        or estimate < lab.accepted.lowest + 2
        or (limit is not None and len(call.file_records) >= limit)
    ):
        return None
    return _EstimateRange(name, estimate, estimate, call)


def _edge(
    lab: Lab,
    survey: Survey,
    known: _EstimateRange,
    keep_for: str | None,
    *,
    include_others: bool,
    guests: Sequence[_EstimateRange] = (),
) -> tuple[Edge, list[Probe], dict[str, Edge]]:
    """The edge of an operation, found with two servers of its own; probes farther from the edge; and the edges of
    guests.

    *guests* are operations with smaller results. A guest has an edge if its result could be filled up with stored
    memories to the threshold of these servers. The edges of guests are returned by their names.
    """
    name, estimate, drift = known.name, known.highest, known.drift
    lab.step("edges", f"{name}: E = {estimate}")
    reached, not_reached = estimate + known.margin, lab.accepted.nearest(known.lowest - known.margin - 1)
    with ExitStack() as stack:
        upper = stack.enter_context(lab.bench(Settings(threshold_tokens=reached)))
        limit = known.call.limit
        at = _two_probes(upper, name, estimate, reached, limit)
        far = _far_probes(lab, upper, survey, name, reached, include_others=include_others)
        after = (
            _probe_after_offloading(upper, name, estimate, reached, limit)
            if name not in survey.volatile_operations
            else None
        )
        if not guests:
            stack.close()
        lower = stack.enter_context(
            lab.bench(Settings(threshold_tokens=not_reached), keep_for=keep_for, folder=LONG_FOLDER_NAME)
        )
        below = _two_probes(lower, name, estimate - drift, not_reached, limit)
        others_came = drift == 0 and any(_returned_others(p.call, known.call, lower.memories) for p in (*at, *below))
        edge = Edge(
            name, estimate, drift, _tokens_of_largest_record(known.call), at, below, after, other_records=others_came
        )
        placed: dict[str, Edge] = {}
        if drift == 0 and _is_as_expected(edge):
            guests = [g for g in guests if g.drift == 0 and _can_be_filled(lab, survey, g.name)]
            # before any memory is stored
            probes_of_guests = [_far_probes(lab, upper, survey, g.name, estimate, include_others=False) for g in guests]
            for guest, probes in zip(guests, probes_of_guests, strict=True):
                filled = _edge_by_storing(upper, lower, survey, guest.name, estimate)
                if filled is not None:
                    placed[guest.name] = filled
                    far += probes
    return edge, far, placed


def _is_as_expected(edge: Edge) -> bool:
    """Return whether all calls at E are inline, including the call of `Edge.after`, and all calls at E−1 are
    offloaded."""
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
    is_quick = 2 * MAX_FILLING_MEMORIES * min(c.ended - c.started for c in calls) < MAX_FILLING_S
    can_be_filled = stores and is_steady and is_quick
    return can_be_filled and operation.query is not None and operation.budget is None and name != "inject"


def _edge_by_storing(upper: Bench, lower: Bench, survey: Survey, name: str, threshold: int) -> Edge | None:
    """The edge of an operation on servers of another operation: memories are stored until E of a result is *threshold*.

    *upper* has this threshold. The threshold of *lower* is one less, so *lower* offloads the result and states E in the
    header. Returns None if no result has exactly this E, or if a decision is not as expected. In that case, the
    operation needs servers of its own.
    """
    chance = random.Random(name)
    words = ["".join(chance.choices(string.ascii_lowercase, k=8)) for _ in range(1 + MAX_FILLING_ATTEMPTS)]
    detail, usual = usual_detail(upper.operations[name]), survey.repeats[name][0]

    def call(bench: Bench, word: str) -> Call:
        return bench.call(name, detail=detail, query=word, limit=USUAL_LIMIT)

    def store(*memories: Memory) -> bool:
        return all([bench.try_to_store(m) for m in memories for bench in (upper, lower)])  # noqa: C419 - both servers get it

    # memories that are found by all words, by only the first word, and by only the other words
    for_all, for_first, for_others = (filling(w, MAX_FILLING_MEMORIES) for w in (words, words[:1], words[1:]))
    if not store(*for_all[:SAMPLES]) or not usual.estimate:
        return None
    if not (sample := call(upper, words[0]).records):
        return None
    count = threshold * SAMPLES * sum(map(size, usual.file_records)) // (usual.estimate * sum(map(size, sample)))
    half = count * 3 // 4
    if not SAMPLES < half <= MAX_FILLING_MEMORIES or not store(*for_all[SAMPLES:half], *for_first[:half]):
        return None
    larger = call(lower, words[0])  # its E shows how many characters make a token
    own_lines = [
        line
        for line in (larger.file.record_lines if larger.file is not None else ())
        if id_of(line.record or {}) in {m["id"] for m in for_all[:half]}
    ]
    if larger.estimate is None or len(own_lines) < half:
        return None
    lengths = [len(line.raw.decode("utf-8", "replace")) for line in own_lines]
    wanted_characters = threshold / tokens_per_character(larger)
    if not store(*for_others[: max(0, int(half * (wanted_characters / sum(lengths) - 1)) - 1)]):
        return None
    spacing = sum(lengths) / sum(size(line.record or {}) for line in own_lines)  # relative to compact JSON
    present = call(upper, words[1]).records or []
    length = (
        round(wanted_characters - spacing * sum(map(size, present)))
        - lengths[0]
        + len(for_all[0]["title"])
        + SURPLUS_CHARACTERS
    )
    for word in words[1:]:
        if not len(word) < length < MAX_TITLE_CHARACTERS or not store(filler(word, length)):
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
    edge = Edge(name, threshold, 0, _tokens_of_largest_record(result), at, below, after)
    return edge if _is_as_expected(edge) else None


def _with_estimates(lab: Lab, survey: Survey, name: str) -> list[Call]:
    """Calls whose E is known: two calls of the survey and, if their E or their records differ, `SAMPLES` calls of a
    fresh server.

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
    """Return whether a call returned records other than those of a *known* call, or a text with other *stored*
    memories.

    An inline result with a different number of records does not count, because it may be only one page of the records.
    """
    if call.outcome == "inline" and call.records is None:
        titles = {str(r["title"]) for r in known.file_records if r.get("title")}
        other_titles = (title for m in stored if (title := m.get("title")) and title not in titles)
        return any(t not in call.text for t in titles) and any(title in call.text for title in other_titles)
    keys, known_keys = comparable_keys(call.file_records or call.records or [], known.file_records)
    return bool(call.file_records or len(keys) == len(known_keys)) and sorted(keys) != sorted(known_keys)


def _two_probes(bench: Bench, name: str, estimate: int, threshold: int, limit: int | None) -> tuple[Probe, ...]:
    return tuple(Probe(_call(bench, name, limit), estimate, threshold) for _ in range(2))


def _probe_after_offloading(bench: Bench, name: str, estimate: int, threshold: int, limit: int | None) -> Probe | None:
    """The call again, after the server has offloaded a call at the richest detail level; None if it offloaded no such
    call."""
    if bench.call(name, detail=_richest(bench, name)).outcome != "offloaded":
        return None
    return Probe(_call(bench, name, limit), estimate, threshold)


def _richest(bench: Bench, name: str) -> str | None:
    return next(reversed(bench.operations[name].details), None)


def _call(bench: Bench, name: str, limit: int | None = EDGE_LIMIT, budget: int | None = None) -> Call:
    return bench.call(name, detail=usual_detail(bench.operations[name]), limit=limit, budget=budget)


def _far_probes(
    lab: Lab, bench: Bench, survey: Survey, own: str, threshold: int, *, include_others: bool
) -> list[Probe]:
    """Calls whose results are somewhat above and somewhat below the threshold. They are calls of the operation *own* at
    other detail levels and, if *include_others* is True, also calls of other operations."""
    probes: list[Probe] = []
    usual_details = {n: usual_detail(o) for n, o in bench.operations.items()}
    lowest = lab.kept["survey"]
    requests = [(n, usual_details[n], survey.repeats[n][0]) for n in bench.operations if n != own and include_others]
    requests += [(n, d, c) for (n, d), c in survey.whole.items() if n == own and d not in (None, usual_details[n])]
    for name, detail, known in requests:
        if not known.estimate or name not in survey.effective:
            continue
        for share in (1.3, 0.75):
            limit = max(1, round(len(known.file_records) * share * threshold / known.estimate))
            files_before = frozenset(lowest.named_files)
            offloaded = lowest.call(name, detail=detail, limit=limit)
            is_new = os.path.basename(offloaded.path) not in files_before  # an old file states the E of an earlier call
            estimate = offloaded.estimate if is_new else None
            if estimate is not None and abs(estimate - threshold) > max(8, threshold // 10):
                probes.append(Probe(bench.call(name, detail=detail, limit=limit), estimate, threshold))
    return probes


def _tokens_of_largest_record(call: Call) -> int:
    """Tokens of the largest record of a file, by the server's own measure: E times the record's share of the
    characters."""
    lengths = [len(line.raw.decode("utf-8", "replace")) for line in call.file.record_lines] if call.file else []
    total = sum(lengths)
    return max(1, (call.estimate or 0) * max(lengths) // total) if total else 1


def _diagnose(lab: Lab, edge: Edge) -> Edge:
    """If a decision is not as expected, add calls that distinguish a wrong comparison from a comparison of a wrong
    number.

    This takes two more servers or, if the server offloads too late, up to six.
    """
    offloads_too_late = any(p.call.outcome == "inline" for p in edge.below)
    if not offloads_too_late and all(p.call.outcome == "inline" for p in edge.at):
        return edge
    if edge.other_records:
        return edge
    limit = edge.at[0].call.limit
    large_distance = max(2 * FEW_TOKENS, edge.estimate // 50)
    two_percent_threshold = (
        lab.accepted.nearest(edge.below[0].threshold - large_distance)
        if offloads_too_late
        else edge.at[0].threshold + large_distance
    )
    few_off = (
        lab.accepted.nearest(edge.below[0].threshold - FEW_TOKENS)
        if offloads_too_late
        else edge.at[0].threshold + FEW_TOKENS
    )
    with lab.bench(Settings(threshold_tokens=two_percent_threshold)) as bench:
        two_percent_off = Probe(_call(bench, edge.operation, limit), edge.estimate, two_percent_threshold)
    with lab.bench(Settings(threshold_tokens=few_off)) as bench:
        few_tokens_off = Probe(_call(bench, edge.operation, limit), edge.estimate, few_off)
    edge = replace(edge, two_percent_off=two_percent_off, few_tokens_off=few_tokens_off)
    if not offloads_too_late:
        return edge
    half, low = lab.accepted.nearest(edge.estimate // 2 - 1), lab.accepted.nearest(edge.largest // 2)
    with lab.bench(Settings(threshold_tokens=half)) as bench:
        at_half = Probe(_call(bench, edge.operation, limit, budget=50), edge.estimate, half)
    with lab.bench(Settings(threshold_tokens=low)) as bench:
        at_low = Probe(_call(bench, edge.operation, limit), edge.estimate, low)
    edge = replace(edge, at_half=at_half, low=at_low)
    tokens = min((text_tokens(p.call) for p in edge.below if p.call.outcome == "inline"), default=0)
    text_thresholds = [lab.accepted.nearest(round(share * tokens)) for share in (1 - TEXT_MARGIN, 1 + TEXT_MARGIN)]
    if (
        two_percent_off.call.outcome != "inline"
        or not low < text_thresholds[0] < text_thresholds[1] < two_percent_threshold
    ):
        return edge
    probes: list[Probe] = []
    for threshold in text_thresholds:
        with lab.bench(Settings(threshold_tokens=threshold)) as bench:
            probes.append(Probe(_call(bench, edge.operation, limit), edge.estimate, threshold))
    return replace(edge, below_text=probes[0], above_text=probes[1])


def text_tokens(call: Call) -> int:
    """Tokens of a result's text, estimated from its characters."""
    return script_aware_estimate(call.text)
