"""Recipes beside the standard ones, and those of files without records: `--follow` says which jq cannot read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lro_spec.validation import Finding, follow
from tests.support.offloads import Change, empty, header, made


def found(tmp_path: Path, change: Change, *commands: str) -> list[Finding]:
    def more(descriptor: dict[str, Any], lines: list[dict[str, Any]]) -> None:
        change(descriptor, lines)
        path = descriptor["file_path"]
        more = [c.replace("F", path) for c in commands]
        descriptor["jq_recipes"] += [{"description": f"More {n}", "command": c} for n, c in enumerate(more)]

    return [finding for finding in follow(made(tmp_path, more)) if finding.rule == "LRO-REC-13"]


@pytest.mark.parametrize("change", [header(), empty()])
def test_one_that_jq_cannot_read_is_found(tmp_path: Path, change: Change):
    commands = ["jq '.a' F", "jq 'select(' F", "tail -n +2 F | jq .a | jq '.['", "jq younger F"]
    told = found(tmp_path, change, *commands)
    assert [(finding.pointer, finding.severity) for finding in told] == [
        ("/jq_recipes/11/command", "error"),
        ("/jq_recipes/12/command", "error"),
        ("/jq_recipes/13/command", "warning"),
    ]
    assert "syntax error" in told[0].observed


def test_they_are_not_run(tmp_path: Path):
    commands = ["jq -n 'last(repeat(1))' F", "tail -n +2 F | jq -s 'last(repeat(1))'", "jq error F", "sort F"]
    assert found(tmp_path, header(), *commands) == []
