"""Descriptions of recipes that tell commands apart, and those that do not."""

from __future__ import annotations

import pytest

from lro_spec.editions import EDITIONS
from lro_spec.findings import Kind
from lro_spec.validation.descriptions import unhelpful_descriptions

STANDARD = [
    (r.description, r.command.replace("{file}", "/out/content-titles.jsonl")) for r in EDITIONS["lro-6400"].recipes
]
TABLE = [
    "List all titles with scores", "Filter by namespace prefix", "Search titles by keyword",
    "Sort by confidence (descending)", "Extract IDs and titles only", "Filter by memory type",
    "Get memories with entities", "Count by namespace", "Get top N by score", "Full-text search in content",
]  # fmt: skip
"""The specification's own."""


def kinds(recipes: list[tuple[str, str]]) -> list[Kind]:
    return [f.kind for f in unhelpful_descriptions([{"description": d, "command": c} for d, c in recipes])]


def described(descriptions: list[str]) -> list[tuple[str, str]]:
    return [(d, command) for d, (_, command) in zip(descriptions, STANDARD, strict=True)]


@pytest.mark.parametrize("edition", EDITIONS)
@pytest.mark.parametrize("detail", ["light", "medium", "full"])
def test_those_of_every_edition_fit(edition: str, detail: str) -> None:
    recipes = EDITIONS[edition].recipes_at(detail)
    assert kinds([(r.description, r.command.replace("{file}", "/a.jsonl")) for r in recipes]) == []


def test_those_of_the_text_and_any_others_fit() -> None:
    assert kinds(described(TABLE)) == []
    assert kinds(described([f"Rezept {n}" for n in range(10)])) == []
    assert kinds([]) == []


def test_those_of_any_order_fit() -> None:
    assert kinds(described(TABLE)[::-1]) == []


@pytest.mark.parametrize("by", range(1, 10))
def test_lists_that_are_out_of_step_do_not(by: int) -> None:
    assert kinds(described(TABLE[by:] + TABLE[:by])) == [Kind.OTHER_RECIPE]


def test_one_of_other_fields_may_be_a_matter_of_words() -> None:
    assert kinds(described(["Table of content", *TABLE[1:]])) == []


def test_two_commands_may_share_one_and_three_may_not() -> None:
    more = [("Search", f"tail -n +2 /a.jsonl | jq 'select(.title == \"{word}\")'") for word in ("a", "b", "c")]
    assert kinds([*STANDARD, *more[:2]]) == []
    assert kinds([*STANDARD, more[0], more[0], more[0]]) == []
    assert kinds([*STANDARD, *more[:2], ("search ", more[2][1])]) == [Kind.REPEATED_ITEM]
