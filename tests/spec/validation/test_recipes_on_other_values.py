"""Recipes on records that lack the field, or have one value of it: what any command does there is shown by others."""

from __future__ import annotations

import json
from typing import Any

import pytest

from lro_spec.editions import edition
from lro_spec.findings import Finding, Kind
from lro_spec.recipes.render import render
from lro_spec.validation.recipes import RecipeJudge, Sample

PATH = "/out/atlatl-recall-01J9Z3YV5W8Q2N4T6B8D0F2H4K.jsonl"
LRO = edition("lro-6400")
HEADER = {"type": "lro_header", "operation": "recall", "detail": "full"}
BARE = [{"id": str(n), "url": f"https://example.org/{n}"} for n in range(5)]
"""Records that have no field of a memory but their ids."""


def found(number: int, jq: str | None, records: list[dict[str, Any]] = BARE) -> list[tuple[str, Kind, str]]:
    """Rule, kind and severity of what is found of recipe *number* when its jq is replaced."""
    return [(f.rule, f.kind, f.severity) for f in findings_of(number, jq, records)]


def findings_of(number: int, jq: str | None, records: list[dict[str, Any]] = BARE) -> list[Finding]:
    """The findings on recipe *number* when its jq is replaced."""
    lines = b"".join(json.dumps(line).encode() + b"\n" for line in (HEADER, *records))
    commands = [r.command for r in render("lro-6400", PATH, detail="full")]
    if jq is not None:
        commands[number - 1] = f"tail -n +2 {PATH} | {jq}"
    descriptor = {"jq_recipes": [{"description": "d", "command": command} for command in commands]}
    rule = LRO.recipes_at("full")[number - 1].requirement
    with RecipeJudge() as judge:
        findings = judge.judge(descriptor, Sample(lines, HEADER, records), LRO).findings
    return [f for f in findings if f.rule == rule]


EVENTS = [
    {"id": str(n), "memory_type": "event" if n % 2 else "fact", "namespace": "garden", "entities": ["a"] * (n % 2)}
    for n in range(6)
]
"""Records of which those with entities are those of one type."""


@pytest.mark.parametrize("operator", ["!=", "="])
def test_the_same_records_by_chance_are_no_search_at_another_place(operator: str) -> None:
    """Recipe 7 returns the records with entities, whatever type somebody looks for."""
    assert found(6, "jq 'select(.memory_type == \"event\")'", EVENTS) == []
    assert found(6, f"jq 'select(.memory_type {operator} \"event\")'", EVENTS) == [
        ("LRO-REC-06", Kind.WRONG_OUTPUT, "error")
    ]


@pytest.mark.parametrize(
    ("number", "jq"),
    [
        (1, "jq -r '[.title, .rank] | @tsv'"),
        (2, "jq 'select(.url | startswith(\"_semantic\"))'"),
        (3, 'jq \'select(.url | test("keyword"; "i"))\''),
        (4, "jq 'empty'"),
        (4, "jq '{title, url}'"),
        (4, "jq -s 'sort_by(.provenance.confidence)'"),
        (6, "jq 'select(.url | test(\"zzz\"))'"),
        (7, "jq 'empty'"),
        (8, "jq -s 'group_by(.url[:5]) | map({namespace: null, count: length}) | sort_by(-.count)'"),
        (9, "jq -s 'empty'"),
        (9, "jq -s '.[:10]'"),
        (10, 'jq \'select(.url | test("pattern"; "i"))\''),
    ],
)
def test_a_command_that_reads_another_field_or_none_is_wrong(number: int, jq: str) -> None:
    ((_, kind, severity),) = found(number, jq)
    assert (kind, severity) == (Kind.WRONG_OUTPUT, "error")


@pytest.mark.parametrize(
    ("number", "jq", "field"),
    [
        (4, "jq -s 'sort_by(.provenance.confidence)'", ".provenance.confidence"),
        (8, "jq -s 'group_by(.url[:5]) | map({namespace: null, count: length}) | sort_by(-.count)'", ".namespace"),
    ],
)
def test_values_that_the_suite_put_into_the_records_are_said_to_be_its_own(number: int, jq: str, field: str) -> None:
    (finding,) = findings_of(number, jq)
    assert f"the wrong output once the suite gives the file's records other values of {field}; " in finding.message
    assert str(finding.expected).startswith("with the suite's values: ")


@pytest.mark.parametrize("number", range(1, 11))
def test_the_commands_of_the_specification_are_not_wrong(number: int) -> None:
    assert {severity for _, _, severity in found(number, None)} <= {"warning"}


def test_the_erratum_is_told_of_the_command_that_the_specification_prints() -> None:
    assert [kind for _, kind, _ in found(4, None)] == [Kind.FAILS_AS_PRINTED]


def test_a_command_that_takes_records_without_the_field_is_right() -> None:
    assert found(4, "jq -s 'sort_by(-(.provenance.confidence // 0))'") == []
