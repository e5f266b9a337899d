"""The exact threshold: calls with known E at thresholds of E and E−1, and probes that distinguish wrong rules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from lro_conformance.capture.call import Call
from lro_conformance.lab.settings import Settings
from lro_conformance.trials import trial
from lro_conformance.trials.survey import EDGE_LIMIT, Survey, usual_detail

if TYPE_CHECKING:
    from lro_conformance.lab.bench import Bench
    from lro_conformance.lab.lab import Lab

FEW = 12
"""Largest distance from the threshold, in tokens, at which a wrong comparison decides wrongly: one that is off by one,
counts a wrapper as well, or compares in tens. A server that is wrong farther away compares a different number."""

SAMPLES = 8
"""Repetitions of a call whose result varies."""


@dataclass(frozen=True)
class Probe:
    """A call whose E is known from the survey, made at a threshold."""

    call: Call
    estimate: int
    threshold: int


@dataclass(frozen=True)
class Edge:
    """The two sides of one operation's edge."""

    operation: str
    estimate: int
    """E, from identical calls at a threshold of 1; the largest if they differ."""
    drift: int
    """Difference between the largest and smallest E of those calls; the exact test is widened by it."""
    largest: int
    """The largest single record of the set, in tokens as the server measures."""
    at: tuple[Probe, ...]
    """Threshold E: expected inline."""
    above: tuple[Probe, ...]
    """Threshold E−1: expected offloaded."""
    after: Probe | None = None
    """Threshold E again, after the same server has offloaded something."""
    few_tokens_off: Probe | None = field(default=None, metadata={"formerly": "next"})
    """A threshold `FEW` tokens further away; None if both sides were as expected."""
    two_percent_off: Probe | None = field(default=None, metadata={"formerly": "near"})
    """A threshold a fiftieth of E further away; None if both sides were as expected."""
    at_half: Probe | None = field(default=None, metadata={"formerly": "half"})
    """A threshold of half of E; None unless `above` stayed inline."""
    low: Probe | None = None
    """A threshold of half of the largest record; None unless `above` stayed inline."""


@dataclass(frozen=True)
class Edges:
    """The edges of all operations."""

    edges: Mapping[str, Edge]
    far: tuple[Probe, ...]
    """Calls of other operations and detail levels under the same thresholds."""
    reason: str | None
    """Reason why there are none."""
    threshold: int
    """Threshold of the server that is kept at one edge, for the explorer; 0 if none is."""


@trial("exact threshold: E and E−1")
def edges(lab: Lab, survey: Survey) -> Edges:
    """Start the server at each operation's E and at E−1 and make the same call again."""
    reason = _unadjustable(survey)
    if reason is not None:
        return Edges({}, (), reason, 0)
    found: dict[str, Edge] = {}
    far: list[Probe] = []
    threshold = 0
    for name in survey.effective:
        first = survey.repeats[name][0]
        known = _estimates(lab, survey, name)
        if not known or min(known) < lab.accepted.lowest + 2:
            continue
        estimate, drift = max(known), max(known) - min(known)
        lab.step("edges", f"{name}: E = {estimate}")
        with lab.bench(Settings(threshold_tokens=estimate + drift)) as bench:
            at = _twice(bench, name, estimate, estimate + drift)
            far += _far(lab, bench, survey, name, estimate + drift, others=not far)
            after = _after(bench, name, estimate) if name not in survey.volatile_operations else None
        below = lab.accepted.within(min(known) - drift - 1)
        keep = None if "edges" in lab.kept else "edges"
        with lab.bench(Settings(threshold_tokens=below), keep=keep) as bench:
            above = _twice(bench, name, estimate - drift, below)
            if keep is not None:
                threshold = below
        edge = Edge(name, estimate, drift, _largest(first), at, above, after)
        found[name] = _diagnose(lab, edge)
    return Edges(found, tuple(far), None if found else "no header has E", threshold)


def _estimates(lab: Lab, survey: Survey, name: str) -> list[int]:
    """Values of E of the call, from two calls of the survey and, if those differ, `SAMPLES` of a fresh server.

    If the records change with every call, only the fresh server counts: E is different after a hundred calls, and the
    edges are tried by the first calls of a server. If a limit cuts ties in any order, E varies over a wide range, of
    which two calls show little.
    """
    calls = list(survey.repeats[name])
    same = len({(c.estimate, c.filed_ids) for c in calls}) == 1
    if name in survey.volatile_operations or not same:
        with lab.bench(Settings(threshold_tokens=1)) as bench:
            samples = [_call(bench, name) for _ in range(SAMPLES)]
        calls = samples if name in survey.volatile_operations else [*calls, *samples]
    return [c.estimate for c in calls if c.estimate is not None]


def _unadjustable(survey: Survey) -> str | None:
    if not survey.adjustable:
        return "the server's threshold cannot be set (profile: settings.threshold_tokens)"
    if not survey.offloaded:
        return f"nothing was offloaded with a threshold of {survey.lowest}"
    if not survey.effective:
        return f"a threshold of {survey.lowest} has no effect: small results stay inline"
    return None


def _twice(bench: Bench, name: str, estimate: int, threshold: int) -> tuple[Probe, ...]:
    return tuple(Probe(_call(bench, name), estimate, threshold) for _ in range(2))


def _after(bench: Bench, name: str, estimate: int) -> Probe | None:
    """The call at its threshold again, after the server has offloaded something else; None if it offloaded nothing."""
    if bench.call(name, detail=_richest(bench, name)).outcome != "offloaded":
        return None
    return Probe(_call(bench, name), estimate, estimate)


def _richest(bench: Bench, name: str) -> str | None:
    return next(reversed(bench.operations[name].details), None)


def _call(bench: Bench, name: str, budget: int | None = None) -> Call:
    return bench.call(name, detail=usual_detail(bench.operations[name]), limit=EDGE_LIMIT, budget=budget)


def _far(lab: Lab, bench: Bench, survey: Survey, own: str, threshold: int, *, others: bool) -> list[Probe]:
    """This operation at other detail levels, with results somewhat above and somewhat below; and *others* as well."""
    probes: list[Probe] = []
    usual = {n: usual_detail(o) for n, o in bench.operations.items()}
    wanted = [(n, usual[n], survey.repeats[n][0]) for n in bench.operations if n != own and others]
    wanted += [(n, d, c) for (n, d), c in survey.whole.items() if n == own and d not in (None, usual[n])]
    for name, detail, known in wanted:
        if not known.estimate or name not in survey.effective:
            continue
        for share in (1.3, 0.75):
            limit = max(1, round(len(known.filed) * share * threshold / known.estimate))
            estimate = lab.kept["survey"].call(name, detail=detail, limit=limit).estimate
            if estimate is not None and abs(estimate - threshold) > max(8, threshold // 10):
                probes.append(Probe(bench.call(name, detail=detail, limit=limit), estimate, threshold))
    return probes


def _largest(call: Call) -> int:
    """The largest record of a file in the server's tokens: E times its share of the characters."""
    lengths = [len(line.raw.decode("utf-8", "replace")) for line in call.file.record_lines] if call.file else []
    total = sum(lengths)
    return max(1, (call.estimate or 0) * max(lengths) // total) if total else 1


def _diagnose(lab: Lab, edge: Edge) -> Edge:
    """Distinguish a wrong comparison from a wrong quantity by up to four more starts, if a side is not as expected."""
    late = any(p.call.outcome == "inline" for p in edge.above)
    if not late and all(p.call.outcome == "inline" for p in edge.at):
        return edge
    far = max(2 * FEW, edge.estimate // 50)
    beside = lab.accepted.within(edge.above[0].threshold - far) if late else edge.at[0].threshold + far
    little = lab.accepted.within(edge.above[0].threshold - FEW) if late else edge.at[0].threshold + FEW
    with lab.bench(Settings(threshold_tokens=beside)) as bench:
        two_percent_off = Probe(_call(bench, edge.operation), edge.estimate, beside)
    with lab.bench(Settings(threshold_tokens=little)) as bench:
        few_tokens_off = Probe(_call(bench, edge.operation), edge.estimate, little)
    edge = replace(edge, two_percent_off=two_percent_off, few_tokens_off=few_tokens_off)
    if not late:
        return edge
    half, low = lab.accepted.within(edge.estimate // 2 - 1), lab.accepted.within(edge.largest // 2)
    with lab.bench(Settings(threshold_tokens=half)) as bench:
        at_half = Probe(_call(bench, edge.operation, budget=50), edge.estimate, half)
    with lab.bench(Settings(threshold_tokens=low)) as bench:
        at_low = Probe(_call(bench, edge.operation), edge.estimate, low)
    return replace(edge, at_half=at_half, low=at_low)
