"""Values by which a right recipe differs from a wrong one."""

from __future__ import annotations

from typing import Any

import pytest

from lro_spec.editions import StandardRecipe
from lro_spec.editions import edition as edition_named
from lro_spec.recipes.probes import rearranged


def record(**fields: Any) -> dict[str, Any]:
    return {
        "namespace": "_semantic/a",
        "created": "2026-01-01T00:00:00Z",
        "provenance": {"confidence": 0.5},
        "confidence": 0.5,
        **fields,
    }


ALIKE = [record() for _ in range(5)]


@pytest.mark.parametrize(
    "effect",
    [
        "sort-by-confidence",
        "sort-by-flat-confidence",
        "top-by-confidence",
        "sort-by-created",
        "count-by-namespace",
        "with-entities",
    ],
)
def test_records_that_are_all_alike_are_given_different_values(effect: str) -> None:
    records = rearranged(effect, ALIKE)
    assert records is not None
    assert len(records) == len(ALIKE)
    assert rearranged(effect, records) is None  # these tell a right recipe from a wrong one
    assert record() == ALIKE[0]


def test_a_file_that_is_already_sorted_is_rearranged() -> None:
    falling = [record(provenance={"confidence": c}) for c in (0.9, 0.5, 0.1)]
    assert rearranged("sort-by-confidence", falling) is not None
    assert rearranged("sort-by-confidence", falling[::-1]) is None


@pytest.mark.parametrize(
    "records",
    [
        [record(provenance={}), *ALIKE],
        [record(provenance="none"), *ALIKE],
        [record(provenance={"confidence": True}), *ALIKE],
        ALIKE[:2],
    ],
    ids=["absent", "no object", "no number", "too few"],
)
def test_records_without_the_field_are_left_alone(records: list[dict[str, Any]]) -> None:
    assert rearranged("sort-by-confidence", records) is None


def test_every_recipe_that_sorts_or_counts_in_order_has_values() -> None:
    recipes: list[StandardRecipe] = [
        r
        for name in ("lro-6400", "lro-1600", "lro-paper")
        for level in ("light", "medium", "full")
        for r in edition_named(name).recipes_at(level)
    ]
    ordered = {r.effect for r in recipes if r.effect.startswith(("sort-", "top-")) or r.effect == "count-by-namespace"}
    assert ordered
    assert {effect for effect in ordered if rearranged(effect, ALIKE) is None} == set()
