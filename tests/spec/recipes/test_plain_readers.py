"""Recipes besides the standard ones may be any pipeline of tools that only read their file and print."""

from __future__ import annotations

import pytest

from lro_spec.recipes.pipeline import file_read
from lro_spec.recipes.render import render
from lro_spec.validation.descriptor import validate_descriptor

FILE = "/out/a b.jsonl"
READING = [
    f"tail -n +2 '{FILE}' | jq -r .title | head -5",
    f"tail -n +2 '{FILE}' | jq -r .title | sort | uniq -c | sort -k1,1nr | head -n 3",
    f"wc -l '{FILE}'",
    f"grep -c decision '{FILE}'",
    f"sort '{FILE}' | uniq",
    f"cat '{FILE}' | cut -d , -f 1 | tr a-z A-Z",
]
OTHERS = [
    f"rm -f '{FILE}'",
    f"sort -o x '{FILE}'",
    f"sort --compress-program=sh '{FILE}'",
    f"uniq '{FILE}' copy",
    f"cat '{FILE}' | uniq - copy",
    f"cat '{FILE}' | grep -f names x",
    f"grep -r x '{FILE}'",
    f"wc -l '{FILE}' > n",
    f"wc -l '{FILE}' && true",
    f"wc -l '{FILE}' /etc/passwd",
    f"jq -f program '{FILE}'",
    "",
    "wc -l",
]


def of(extra: str, without: int = 0) -> list[tuple[str, str]]:
    recipes = [{"description": r.description, "command": r.command} for r in render("lro-6400", FILE)][without:]
    descriptor = {"file_path": FILE, "jq_recipes": [*recipes, {"description": "More", "command": extra}]}
    found = validate_descriptor(descriptor)
    return [(f.rule, f.severity) for f in found if f.pointer.startswith("/jq_recipes") and f.severity == "error"]


@pytest.mark.parametrize("command", READING)
def test_a_row_of_readers_is_welcome_beside_the_ten_and_not_in_their_place(command: str) -> None:
    assert file_read(command) == FILE
    assert of(command) == []
    assert of(command, without=1) == [("LRO-REC-13", "error")]


@pytest.mark.parametrize("command", OTHERS)
def test_what_may_do_more_is_refused(command: str) -> None:
    assert file_read(command) is None
    assert ("LRO-REC-11", "error") in of(command) or ("LRO-REC-13", "error") in of(command) or not command


def test_one_that_reads_another_file_is_told_as_that() -> None:
    assert of("wc -l /out/other") == [("LRO-REC-11", "error")]


@pytest.mark.parametrize("command", ["jq . /out/other", "jq . {file}"])
def test_a_long_path_is_cut_where_it_is_told(command: str) -> None:
    path = "/out/" + "x" * 5_000
    descriptor = {"file_path": path, "jq_recipes": [{"description": "More", "command": command}]}
    (told,) = [f for f in validate_descriptor(descriptor) if f.rule == "LRO-REC-11"]
    assert told.expected == f"{path[:119]}…"
