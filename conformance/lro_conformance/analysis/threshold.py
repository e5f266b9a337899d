"""A server's rule for offloading, inferred from calls at its exact threshold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from lro_conformance.analysis.estimate import Estimates
from lro_conformance.judging.derived import derived
from lro_conformance.trials.edges import Edge, Edges, Probe
from lro_spec.tokens import exceeds

Decision = Literal[
    "exact", "comparison", "per record", "budgeted", "own threshold", "another figure", "text", "other records"
]
"""Rule by which an operation decides at its exact threshold.

- "exact": as required
- "comparison": by a wrong comparison
- "per record": by the size of single records
- "budgeted": by the text of inject, mostly after it was cut to a budget
- "own threshold": by another threshold than other operations
- "another figure": by another figure than the header's E
- "text": by the tokens of the returned text
- "other records": unknown, because each process returns different records
"""

DRIFT = 0.05
"""Share of the threshold by which E may differ between two equal calls if results change from call to call."""


@derived
def decisions(edges: Edges, estimates: Estimates) -> Mapping[str, Decision]:
    """The rule of each operation. Each wrong rule breaks one requirement, so that only this one is reported."""
    exact = {name for name, edge in edges.edges.items() if is_exact(edge)}
    found: dict[str, Decision] = {}
    for name, edge in edges.edges.items():
        if name in exact:
            found[name] = "exact"
        elif edge.other_records:
            found[name] = "other records"
        elif estimates.rounding_step > 1 or _compares_another_number(edge):
            found[name] = "another figure"
        elif compares_the_text(edge) and not estimates.measure_differently(name):
            found[name] = "text" if name != "inject" else "budgeted"
        elif _compares_only_a_part(edge):
            found[name] = "per record" if name != "inject" else "budgeted"
        else:
            found[name] = "own threshold" if exact and not _is_right_nearby(edge) else "comparison"
    if "per record" in found.values():
        found = {n: "per record" if r == "budgeted" else r for n, r in found.items()}
    return found


def is_another_figure_stated(decided: Mapping[str, Decision] | None, estimates: Estimates) -> bool:
    """True if headers state another figure than the server compares, or if the same memories have different E:
    decisions that look wrong by the header may then be right."""
    return not estimates.are_steady or not {"another figure", "text"}.isdisjoint((decided or {}).values())


def latches_after_offloading(edges: Edges) -> bool:
    """True if a server that has offloaded once offloads everything from then on."""
    return any(
        is_exact(e) and e.after is not None and e.after.call.outcome == "offloaded" for e in edges.edges.values()
    )


def is_exact(edge: Edge) -> bool:
    """True if every call is inline at a threshold of E, and offloaded at a threshold of E−1."""
    return all(p.call.outcome == "inline" for p in edge.at) and all(p.call.outcome == "offloaded" for p in edge.below)


def _is_right_nearby(edge: Edge) -> bool:
    """True if the decision is right at a threshold about a fiftieth of E away from E, so that only the comparison is
    wrong, and not the threshold."""
    return edge.two_percent_off is not None and _is_right(edge, edge.two_percent_off)


def _compares_another_number(edge: Edge) -> bool:
    """True if the decision is wrong at a threshold that is a few tokens from E, but right at one that is farther away:
    a different number is compared."""
    few = edge.few_tokens_off
    return few is not None and not _is_right(edge, few) and _is_right_nearby(edge)


def _is_right(edge: Edge, probe: Probe) -> bool:
    return probe.call.outcome == ("offloaded" if exceeds(edge.estimate, probe.threshold) else "inline")


def compares_the_text(edge: Edge) -> bool:
    """True if the server compares the tokens of the text that it returns inline: it offloads the result at a threshold
    just below them, but not at one just above them, although E is clearly larger."""
    if edge.below_text is None or edge.above_text is None:
        return False
    return edge.below_text.call.outcome == "offloaded" and edge.above_text.call.outcome == "inline"


def _compares_only_a_part(edge: Edge) -> bool:
    """True if the result is inline even at a threshold of half of E, but offloaded at one of half of the tokens of the
    largest record: only a part of the set is compared."""
    if edge.at_half is None or edge.low is None or edge.largest >= edge.estimate // 2:
        return False
    return edge.at_half.call.outcome == "inline" and edge.low.call.outcome == "offloaded"
