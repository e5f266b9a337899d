"""Calls whose threshold is known, as well as E, the estimated number of tokens in their results; with the server's
decision whether to offload the result.

Reports in HTML have a chart of these calls. It shows whether the server offloads exactly the results above the
threshold.
"""

from __future__ import annotations

from collections.abc import Iterator

from lro_conformance.capture.call import Call
from lro_conformance.judging.results import DecidedCall
from lro_conformance.trials.defaults import Defaults
from lro_conformance.trials.edges import Edges, Probe


def decided_calls(edges: object, defaults: object, default_threshold: int) -> tuple[DecidedCall, ...]:
    """The calls of the trials `edges` and `defaults` that were offloaded or answered inline, and whose E is known.

    Each call is listed once. A trial without evidence contributes no calls.
    """
    found: list[DecidedCall] = []
    if isinstance(edges, Edges):
        found += (d for p in _probes(edges) for d in _decided(p.call, p.estimate, p.threshold))
    for bracket in defaults.brackets if isinstance(defaults, Defaults) else ():
        for call, estimate in (
            (bracket.inline, bracket.inline_estimate),
            (bracket.offloaded, bracket.offloaded.estimate if bracket.offloaded is not None else None),
        ):
            if call is not None and estimate is not None:
                found += _decided(call, estimate, default_threshold)
    return tuple(dict.fromkeys(found))


def _probes(edges: Edges) -> Iterator[Probe]:
    for edge in edges.edges.values():
        yield from edge.at
        yield from edge.below
        further = (edge.after, edge.few_tokens_off, edge.two_percent_off, edge.at_half, edge.low)
        yield from (p for p in further if p is not None)
    yield from edges.far


def _decided(call: Call, estimate: int, threshold: int) -> Iterator[DecidedCall]:
    outcome = call.outcome
    if outcome == "inline" or outcome == "offloaded":
        yield DecidedCall(call.operation, call.detail or "", estimate, threshold, outcome)
