"""Values by which a right recipe differs from a wrong one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from lro_spec.editions import StandardRecipe
from lro_spec.editions import edition as edition_named
from lro_spec.recipes.expected import Selection
from lro_spec.recipes.oracle import DEFAULT_LITERAL, evaluate
from lro_spec.recipes.probes import rearranged


def record(**fields: Any) -> dict[str, Any]:
    return {
        "namespace": "_semantic/a",
        "created": "2026-01-01T00:00:00Z",
        "provenance": {"confidence": 0.5},
        "confidence": 0.5,
        **fields,
    }


PLACED = [
    (name, level, r)
    for name in ("lro-6400", "lro-1600", "lro-paper")
    for level in ("light", "medium", "full")
    for r in edition_named(name).recipes_at(level)
]
RECIPES: list[StandardRecipe] = [r for _, _, r in PLACED]
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
    assert len(records) > 10, "one of the recipes prints ten"
    assert rearranged(effect, records) is None  # these tell a right recipe from a wrong one
    assert record() == ALIKE[0]


def test_a_file_that_is_already_sorted_is_rearranged() -> None:
    falling = [record(provenance={"confidence": c}) for c in (0.9, 0.5, 0.1)]
    assert rearranged("sort-by-confidence", falling) is not None
    assert rearranged("sort-by-confidence", falling[::-1]) is None


@pytest.mark.parametrize(
    "lacking",
    [{"provenance": {}}, {"provenance": "none"}, {"provenance": {"confidence": True}}],
    ids=["absent", "no object", "no number"],
)
def test_records_without_the_field_are_given_it(lacking: dict[str, Any]) -> None:
    records = rearranged("sort-by-confidence", [record(**lacking), *ALIKE])
    assert records is not None
    assert rearranged("sort-by-confidence", records) is None


def test_a_field_of_the_same_name_outside_the_object_gets_the_same_value() -> None:
    records = rearranged("sort-by-confidence", [{"id": str(n), "confidence": 0.5} for n in range(3)])
    assert records is not None
    assert [r["confidence"] for r in records] == [r["provenance"]["confidence"] for r in records]


def test_too_few_records_are_left_alone() -> None:
    assert rearranged("sort-by-confidence", ALIKE[:2]) is None


@pytest.mark.parametrize("effect", DEFAULT_LITERAL)
def test_a_search_finds_some_of_the_records_that_are_given_to_it(effect: str) -> None:
    records = rearranged(effect, [{"id": str(n)} for n in range(5)])
    assert records is not None
    assert rearranged(effect, records) is None
    assert 0 < sum(map(bool, chosen(effect, records))) < len(records)


def chosen(effect: str, records: list[dict[str, Any]]) -> Sequence[bool | None]:
    """Which records the specification's own command for an effect selects."""
    number = next(r.number for r in RECIPES if r.effect == effect)
    edition, detail = next((e, d) for e, d, r in PLACED if r.effect == effect)
    found = evaluate(number, records, edition=edition, detail=detail)
    assert isinstance(found, Selection)
    return found.chosen


def test_every_recipe_that_depends_on_a_field_has_values_of_it() -> None:
    effects = {r.effect for r in RECIPES} - {"identity-projection"}  # whose fields all records have
    assert effects
    nothing = [{"id": str(n)} for n in range(5)]
    assert {effect for effect in effects if rearranged(effect, nothing) is None} == set()
