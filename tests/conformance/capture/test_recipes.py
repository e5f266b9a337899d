"""The recipes of captured descriptors: their numbers, their texts, the paths that they name."""

from __future__ import annotations

from typing import Any, cast

import pytest

from lro_conformance.capture.recipes import Command, paths_named, without_path
from lro_conformance.judging.subjects import evidence_of
from tests.golden.evidence import made


def one(change: dict[str, Any] | None = None) -> Any:
    return made(0, "recall", "full", None, change or {})


def test_a_recipe_is_told_by_its_place_from_one() -> None:
    for index in (1, 2):
        assert evidence_of(Command(one(), index, "d", "jq .")).startswith(f"recipe #{index + 1}: jq .\n")


@pytest.mark.parametrize(
    ("text", "bare"),
    [
        ("tail -n +2 /a/b.jsonl | jq .", "tail -n +2 FILE | jq ."),
        ("jq . '/a b.jsonl'\n<x.jsonl", "jq . '/a FILE\nFILE"),
        ("jq '.jsonl.x'", "jq FILE"),
        ("jq .json l", "jq .json l"),
        (None, "None"),
        ("x" * 2_000_000, "x" * 2_000_000),  # an expression that looks for the end from every place takes hours
    ],
)
def test_commands_are_alike_whatever_file_they_are_for(text: Any, bare: str) -> None:
    assert without_path(Command(cast("Any", None), 0, "d", text)) == bare


def test_paths_are_those_of_descriptors_and_commands() -> None:
    other = one({"recipes": lambda _: [{"description": "d", "command": "jq . /other/x.jsonl"}, {"command": "rm x"}]})
    path = one().descriptor["file_path"]
    assert paths_named([one()]) == {path}
    assert paths_named([other]) == {path, "/other/x.jsonl"}
