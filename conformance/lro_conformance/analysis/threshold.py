"""A server's rule for offloading, inferred from calls at its exact threshold.

E is the server's estimate of the tokens in a result, which the header of the file states. A result must be offloaded if
E exceeds the threshold. An *edge* is a group of calls of one operation, at thresholds around the E of
the result.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from lro_conformance.analysis.estimate import Estimates
from lro_conformance.judging.derived import derived
from lro_conformance.trials.edges import Edge, Edges, Probe
from lro_spec.tokens import exceeds_threshold

Decision = Literal[
    "exact", "comparison", "per record", "budgeted", "own threshold", "another figure", "text", "other records"
]
"""The rule by which an operation decides whether to offload a result.

- "exact": the result is offloaded if E exceeds the threshold, as required
- "comparison": E is compared with the threshold in a wrong way, for example by ≥ instead of >
- "per record": the sizes of single records are compared with the threshold
- "budgeted": the operation `inject` compares the size of its text, usually after the text was cut to a budget
- "own threshold": the operation has another threshold than other operations
- "another figure": a number other than the header's E is compared
- "text": the tokens of the text that is returned inline are compared
- "other records": the rule is unknown, because each process returns different records
"""

MAX_DRIFT_SHARE = 0.05
"""Largest difference of E between two equal calls that is allowed if results change from call to call. It is a share of
the threshold."""


@derived
def decisions(edges: Edges, estimates: Estimates) -> Mapping[str, Decision]:
    """The rule of each operation. Each wrong rule violates a single requirement, and only that requirement is
    reported."""
    exact_operations = {name for name, edge in edges.edges.items() if is_exact(edge)}
    decided: dict[str, Decision] = {}
    for name, edge in edges.edges.items():
        if name in exact_operations:
            decided[name] = "exact"
        elif edge.other_records:
            decided[name] = "other records"
        elif estimates.rounding_step > 1 or _compares_another_number(edge):
            decided[name] = "another figure"
        elif compares_the_text(edge) and not estimates.are_of_other_records(name):
            decided[name] = "text" if name != "inject" else "budgeted"
        elif _compares_only_a_part(edge):
            decided[name] = "per record" if name != "inject" else "budgeted"
        else:
            decided[name] = "own threshold" if exact_operations and not _is_right_nearby(edge) else "comparison"
    if "per record" in decided.values():
        decided = {n: "per record" if r == "budgeted" else r for n, r in decided.items()}
    return decided


def is_another_figure_stated(decided: Mapping[str, Decision] | None, estimates: Estimates) -> bool:
    """True if headers state a figure other than the one that the server compares with the threshold, or if E differs
    between files with the same memories. Then a decision may be right although it looks wrong by the header."""
    return not estimates.same_memories_have_same_estimate or not {"another figure", "text"}.isdisjoint(
        (decided or {}).values()
    )


def offloads_everything_after_first(edges: Edges) -> bool:
    """True if a server offloads everything once it has offloaded a result."""
    return any(
        is_exact(e) and e.after is not None and e.after.call.outcome == "offloaded" for e in edges.edges.values()
    )


def is_exact(edge: Edge) -> bool:
    """True if every call at a threshold of E is answered inline, and every call at a threshold just below E is
    offloaded."""
    return all(p.call.outcome == "inline" for p in edge.at) and all(p.call.outcome == "offloaded" for p in edge.below)


def _is_right_nearby(edge: Edge) -> bool:
    """True if the decision is right at a threshold that differs from E by about a fiftieth of E. Then only the
    comparison is wrong, and not the threshold."""
    return edge.two_percent_off is not None and _is_right(edge, edge.two_percent_off)


def _compares_another_number(edge: Edge) -> bool:
    """True if the decision is wrong at a threshold that differs from E by a few tokens, but right at a threshold that
    differs more. This shows that the server compares a number other than E."""
    probe = edge.few_tokens_off
    return probe is not None and not _is_right(edge, probe) and _is_right_nearby(edge)


def _is_right(edge: Edge, probe: Probe) -> bool:
    return probe.call.outcome == ("offloaded" if exceeds_threshold(edge.estimate, probe.threshold) else "inline")


def compares_the_text(edge: Edge) -> bool:
    """True if the server compares the tokens of the text that it returns inline, instead of E.

    Such a server offloads the result at a threshold just below the tokens of the text, but not at a threshold just
    above them, although E is clearly larger.
    """
    if edge.below_text is None or edge.above_text is None:
        return False
    return edge.below_text.call.outcome == "offloaded" and edge.above_text.call.outcome == "inline"


def _compares_only_a_part(edge: Edge) -> bool:
    """True if the server compares only a part of the result, such as a single record.

    The result of such a server is inline even at a threshold of half of E, but is offloaded at a threshold of half of
    the tokens of the largest record.
    """
    if edge.at_half is None or edge.low is None or edge.largest >= edge.estimate // 2:
        return False
    return edge.at_half.call.outcome == "inline" and edge.low.call.outcome == "offloaded"
