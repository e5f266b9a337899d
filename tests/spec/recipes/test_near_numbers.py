"""Numbers that a double cannot represent, in outputs of recipes: no server fails because jq rounds."""

from __future__ import annotations

import json
from typing import Any

import pytest

from lro_spec.recipes.compare import agrees
from lro_spec.recipes.numbers import near, unify_near
from lro_spec.recipes.pipeline import parse_command
from lro_spec.recipes.render import render
from lro_spec.recipes.runner import JqRun, JqRunner

BEYOND = [18446744073709651617, -18446744073709651617, 2**53 + 1, 12345678901234567890.125, 0.12345678901234567890123]


def _records(number: float) -> list[dict[str, Any]]:
    return [
        {
            "id": f"m{n}",
            "memory_type": "semantic",
            "namespace": "_semantic/a",
            "title": "keyword",
            "content": "pattern",
            "created": f"2026-03-0{n + 1}T09:30:00Z",
            "tags": ["TAG"],
            "entities": [{"name": "e"}],
            "provenance": {"confidence": 0.5 + n / 10},
            "n": number,
        }
        for n in range(3)
    ]


@pytest.mark.parametrize("beyond", BEYOND)
def test_standard_recipes_are_not_accused_of_what_jq_makes_of_a_number(beyond: float):
    records = _records(beyond)
    data = "".join(json.dumps(line) + "\n" for line in ({"type": "lro_header"}, *records)).encode()
    with JqRunner() as runner:
        for number, recipe in enumerate(render("lro-6400", "/x.jsonl"), 1):
            found = agrees(number, runner.run(parse_command(recipe.command), data), records)
            assert found.ok, (number, found)


def _printed(*values: Any) -> JqRun:
    return JqRun(0, "".join(json.dumps(value) + "\n" for value in values).encode(), "", False, "libjq")


def test_only_the_last_digits_of_a_double_are_passed_over():
    records = _records(18446744073709651617)
    for number, ok in ((18446744073709654016, True), (18446744073709650000, True), (18446744073710000000, False)):
        assert agrees(6, _printed(*_records(number)), records).ok is ok
    assert not agrees(6, _printed(*_records(0.1)), _records(0.1000001)).ok


def test_a_table_has_the_digits_that_jq_prints():
    records = [{"title": "a", "provenance": {"confidence": 18446744073709651617}}]
    for cell, ok in (("18446744073709650000", True), ("18446744073709654016", True), ("1.8446744e+19", False)):
        assert agrees(1, JqRun(0, f"a\t{cell}\n".encode(), "", False, "jq 1.6"), records).ok is ok


def test_what_is_near_is_one_number():
    assert near(18446744073709651968, 18446744073709654016)
    assert not near(1.0, 1.00000000000001)
    assert unify_near([{"a": 1}], [{"a": 1.0}]) is None
    assert unify_near([], []) is None
    assert unify_near([{"a": [1, True, "1"]}], [1.0000000000000002]) == ([{"a": [1.0, True, "1"]}], [1.0])
    assert unify_near([float("nan")], [1]) is None
