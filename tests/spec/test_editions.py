"""Editions: frozen facts, found by name."""

from __future__ import annotations

import dataclasses

import pytest

from lro_spec.catalogue import catalogue
from lro_spec.editions import DEFAULT_EDITION, EDITIONS, OTHER_TOOLS_EDITION, edition


def test_default_edition_comes_first():
    assert next(iter(EDITIONS)) == DEFAULT_EDITION == "lro-6400"


@pytest.mark.parametrize(
    ("name", "threshold", "prefix", "operations"),
    [
        ("lro-6400", 6400, "atlatl", ("recall", "search", "inject")),
        ("lro-1600", 1600, "atlatl", ("recall", "search", "inject", "list")),
        ("lro-paper", 1600, "lro", ()),
    ],
)
def test_what_each_text_fixes(name: str, threshold: int, prefix: str, operations: tuple[str, ...]):
    text = edition(name)
    assert (text.default_threshold_tokens, text.file_prefix, text.operations) == (threshold, prefix, operations)
    assert text.default_ttl_seconds == 3600
    assert text.default_detail == ({} if name == "lro-paper" else {"recall": "light", "inject": "medium"})


def test_unknown_edition_names_the_known_and_the_nearest():
    with pytest.raises(ValueError, match=r"'lro-640'.*lro-6400, lro-1600, lro-paper.*did you mean 'lro-6400'"):
        edition("lro-640")
    with pytest.raises(ValueError, match=r"lro-paper$"):
        edition("nothing like it")


@pytest.mark.parametrize("name", ["lro-6400", "lro-1600"])
@pytest.mark.parametrize("detail", ["light", "medium", "full"])
def test_library_holds_ten_numbered_recipes_at_every_detail_level(name: str, detail: str):
    assert sorted(r.number for r in edition(name).recipes_at(detail)) == list(range(1, 11))


def test_every_recipe_has_a_purpose_that_its_edition_requires() -> None:
    for text in EDITIONS.values():
        required = {r.id for r in catalogue(text.name) if r.excluded is None}
        assert {recipe.requirement for recipe in text.recipes} <= required


def test_recipe_n_of_the_default_edition_fulfils_requirement_n() -> None:
    assert [r.requirement for r in edition("lro-6400").recipes] == [f"LRO-REC-{n:02}" for n in range(1, 11)]


def test_every_recipe_names_the_file_once_and_skips_the_header():
    for text in EDITIONS.values():
        for recipe in text.recipes:
            assert recipe.command.count("{file}") == 1
            assert recipe.command.startswith("tail -n +2 {file} | jq ")
            assert recipe.description


def test_editions_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        edition("lro-6400").default_threshold_tokens = 1  # type: ignore[misc]
    with pytest.raises(TypeError):
        edition("lro-6400").settings["enabled"] = "X"  # type: ignore[index]
    with pytest.raises(TypeError):
        EDITIONS["mine"] = edition("lro-6400")  # type: ignore[index]


def test_names_of_files_are_what_cleanup_looks_for():
    names = ["atlatl-recall-x.jsonl", "lro-recall-x.jsonl", "atlatl.jsonl", "atlatl-recall-x.json", "xatlatl-x.jsonl"]
    assert [n for n in names if edition("lro-6400").is_file_name(n)] == names[:1]
    assert [n for n in names if edition("lro-paper").is_file_name(n)] == names[1:2]


def test_results_of_other_tools_have_the_edition_that_lists_no_operations():
    assert [name for name, known in EDITIONS.items() if not known.operations] == [OTHER_TOOLS_EDITION]
