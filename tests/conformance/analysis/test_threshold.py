"""How a server decides and what its estimates cover, as several checks read it."""

from __future__ import annotations

from types import SimpleNamespace as Made
from typing import Any, cast

import pytest

from lro_conformance.analysis.threshold import decisions, offloads_everything_after_first
from tests.support.made_survey import estimates, one


def decided(known: Any = None, **edges: Any) -> dict[str, Any]:
    """Rule of each operation with these edges."""
    return dict(decisions(cast("Any", Made(edges=edges)), known or estimates()))


def probe(threshold: int, outcome: str) -> Any:
    """A call at a threshold."""
    return Made(threshold=threshold, call=Made(outcome=outcome))


SIDES_OF = [
    ("inline", "offloaded"),
    ("offloaded", "offloaded"),
    ("inline", "inline"),
    ("offloaded", "inline"),
    ("error", "offloaded"),
]


def edge(sides: tuple[str, str], **other: Any) -> Any:
    """An edge at 100 tokens."""
    at, below = sides
    found = (probe(100, at), probe(100, "inline")), (probe(99, below), probe(99, "offloaded"))
    known: dict[str, Any] = {
        "after": None,
        "few_tokens_off": None,
        "two_percent_off": None,
        "at_half": None,
        "low": None,
        "below_text": None,
        "above_text": None,
        "other_records": False,
    }
    return Made(
        **{"operation": "recall", "estimate": 100, "largest": 20, "at": found[0], "below": found[1], **known, **other}
    )


RULES: list[tuple[dict[str, Any], str, str, str]] = [
    ({"below_text": probe(63, "offloaded"), "above_text": probe(77, "inline")}, "text", "budgeted", "text"),
    (
        {
            "below_text": probe(27, "offloaded"),
            "above_text": probe(33, "inline"),
            "at_half": probe(50, "inline"),
            "low": probe(10, "offloaded"),
        },
        "text",
        "budgeted",
        "text",
    ),
    (
        {"below_text": probe(63, "inline"), "above_text": probe(77, "inline")},
        "comparison",
        "comparison",
        "own threshold",
    ),
    (
        {"below_text": probe(63, "offloaded"), "above_text": probe(77, "offloaded")},
        "comparison",
        "comparison",
        "own threshold",
    ),
    ({}, "comparison", "comparison", "own threshold"),
    ({"two_percent_off": probe(102, "inline")}, "comparison", "comparison", "comparison"),
    ({"two_percent_off": probe(98, "offloaded")}, "comparison", "comparison", "comparison"),
    ({"two_percent_off": probe(98, "inline")}, "comparison", "comparison", "own threshold"),
    ({"two_percent_off": probe(100, "inline")}, "comparison", "comparison", "comparison"),
    (
        {"few_tokens_off": probe(103, "offloaded"), "two_percent_off": probe(110, "inline")},
        "another figure",
        "another figure",
        "another figure",
    ),
    (
        {"few_tokens_off": probe(103, "inline"), "two_percent_off": probe(110, "inline")},
        "comparison",
        "comparison",
        "comparison",
    ),
    (
        {"few_tokens_off": probe(97, "inline"), "two_percent_off": probe(90, "offloaded")},
        "another figure",
        "another figure",
        "another figure",
    ),
    ({"at_half": probe(50, "inline"), "low": probe(10, "offloaded")}, "per record", "budgeted", "per record"),
    ({"at_half": probe(50, "inline"), "low": probe(10, "inline")}, "comparison", "comparison", "own threshold"),
    ({"at_half": probe(50, "offloaded"), "low": probe(10, "offloaded")}, "comparison", "comparison", "own threshold"),
    (
        {"at_half": probe(50, "inline"), "low": probe(10, "offloaded"), "largest": 50},
        "comparison",
        "comparison",
        "own threshold",
    ),
    ({"at_half": probe(50, "inline")}, "comparison", "comparison", "own threshold"),
    ({"low": probe(1, "offloaded")}, "comparison", "comparison", "own threshold"),
    (
        {"at_half": probe(50, "inline"), "low": probe(10, "offloaded"), "largest": 49},
        "per record",
        "budgeted",
        "per record",
    ),
    ({"few_tokens_off": probe(103, "offloaded")}, "comparison", "comparison", "own threshold"),
    (
        {"at_half": probe(50, "inline"), "low": probe(10, "offloaded"), "largest": 60},
        "comparison",
        "comparison",
        "own threshold",
    ),
    (
        {"at_half": probe(50, "inline"), "low": probe(10, "offloaded"), "largest": 50, "estimate": 101},
        "comparison",
        "comparison",
        "own threshold",
    ),
]
"""What is known of an edge that is not exact: the rule of recall, of inject, and of recall beside an exact search."""


@pytest.mark.parametrize("sides", SIDES_OF[1:])
@pytest.mark.parametrize(("known", "recall", "inject", "beside"), RULES)
def test_an_edge_that_is_not_exact_shows_another_rule(
    sides: tuple[str, str], known: dict[str, Any], recall: str, inject: str, beside: str
) -> None:
    here = edge(sides, **known)
    assert decided(recall=here) == {"recall": recall}
    assert decided(inject=here) == {"inject": inject}
    both = decided(recall=here, search=edge(SIDES_OF[0]))
    assert both == {"recall": beside, "search": "exact"}


@pytest.mark.parametrize("known", [known for known, *_ in RULES])
def test_an_edge_that_is_exact_is_so_whatever_else_is_known(known: dict[str, Any]) -> None:
    assert decided(recall=edge(SIDES_OF[0], **known)) == {"recall": "exact"}


def test_where_estimates_are_rounded_the_figure_is_another() -> None:
    rounded = estimates(*(one(estimate=10 * n) for n in range(1, 8)))
    assert decided(rounded, recall=edge(SIDES_OF[1])) == {"recall": "another figure"}


@pytest.mark.parametrize(
    ("sides", "after", "latches"),
    [
        (SIDES_OF[0], "offloaded", True),
        (SIDES_OF[0], "inline", False),
        (SIDES_OF[0], None, False),
        (SIDES_OF[1], "offloaded", False),
    ],
)
def test_a_server_latches_that_offloads_everything_after_an_exact_edge(sides: Any, after: Any, latches: bool) -> None:
    later = probe(100, after) if after else None
    assert offloads_everything_after_first(Made(edges={"recall": edge(sides, after=later)})) is latches
