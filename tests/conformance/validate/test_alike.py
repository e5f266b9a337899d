"""Alike findings in many lines: shown as one on a terminal, and one by one in every other format."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lro_conformance.validate import alike
from tests.support.offloads import made
from tests.support.validating import HEADER, NAME, here, lines, said

__all__ = ["here", "said"]  # fixtures

SCHEMA = {"type": "object", "properties": {"id": {"type": "string"}, "title": {"type": "integer"}}}


@pytest.fixture
def descriptor(here: Path) -> Callable[[int], Path]:
    """A descriptor whose line_schema has one wrong type, with a file of so many records."""

    def make(records: int) -> Path:
        def change(value: dict[str, Any], _: list[dict[str, Any]]) -> None:
            value["line_schema"] = SCHEMA

        path = here / "descriptor.json"
        path.write_text(json.dumps(made(here, change, records), indent=1))
        return path

    return make


def test_one_wrong_type_in_line_schema_is_one_finding_with_the_first_lines(
    said: Any, descriptor: Callable[[int], Path]
) -> None:
    code, out, _ = said("--follow", str(descriptor(100)))
    assert code == 1
    assert out.count("LRO-DESC-09") == 1
    assert re.findall(r"^ +(\d+) \| ", out, re.MULTILINE) == ["2", "3", "4"]
    assert "\n       | and 97 more like this, in lines 5, 6, 7, …\n100 errors, in 1 of 2 documents" in out


def test_other_formats_have_each_finding(said: Any, descriptor: Callable[[int], Path]) -> None:
    path = str(descriptor(60))
    told = json.loads(said("--follow", "--format", "json", path)[1])
    assert [finding["line"] for finding in told["findings"]] == list(range(2, 62))
    assert said("--follow", "--format", "github", path)[1].count("title=LRO-DESC-09") == 60


def test_all_findings_are_shown_on_request(said: Any, descriptor: Callable[[int], Path]) -> None:
    out = said("--follow", "--max-findings", "0", str(descriptor(60)))[1]
    assert out.count("LRO-DESC-09") == 60
    assert "like this" not in out


def test_a_few_alike_are_all_shown(said: Any, descriptor: Callable[[int], Path]) -> None:
    out = said("--follow", str(descriptor(3)))[1]
    assert out.count("LRO-DESC-09") == 1
    assert re.findall(r"^ +(\d+) \| .*title", out, re.MULTILINE) == ["2", "3", "4"]
    assert "like this" not in out
    assert "in line 5\n" in said("--follow", str(descriptor(4)))[1]


def test_another_field_or_another_reason_is_another_finding(here: Path, said: Any) -> None:
    broken = [{"id": f"{n}", "tags": [n], "namespace": n} for n in range(9)] + [{"id": "x", "tags": 5}, b"no JSON"]
    data = [each if isinstance(each, bytes) else json.dumps(each).encode() for each in broken]
    (here / NAME).write_bytes(lines({**HEADER, "count": len(broken), "detail": "full"}) + b"\n".join(data) + b"\n")
    out = said(NAME)[1]
    assert out.count("LRO-FILE-11 /tags/0: ") == 1
    assert out.count("LRO-FILE-11 /namespace: ") == 1
    assert out.count("LRO-FILE-11 /tags: ") == 1
    assert out.count("LRO-FILE-01: ") == 1
    assert out.count("and 6 more like this, in lines 5, 6, 7, …") == 2


def test_a_limit_is_one_of_unlike_findings(here: Path, said: Any) -> None:
    (here / NAME).write_bytes(
        lines({**HEADER, "count": 41}, *({"id": f"{n}", "title": n} for n in range(40)), {"id": "a", "tags": 5})
    )
    out = said("--max-findings", "2", NAME)[1]
    assert "LRO-FILE-11 /title" in out
    assert "LRO-FILE-11 /tags" in out
    assert "not shown" not in out


def test_what_is_not_compared_is_counted(here: Path, said: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(alike, "_MAX_COMPARED", 10)
    (here / NAME).write_bytes(lines({**HEADER, "count": 40}, *({"id": f"{n}", "title": n} for n in range(40))))
    out = said(NAME)[1]
    assert "and 7 more like this" in out
    assert "40 errors, 30 of them not shown (--max-findings 0 shows all)" in out


def test_parts_of_a_descriptor_are_each_shown(here: Path, said: Any) -> None:
    recipes = [{"description": f"all {n}", "command": "cat other.jsonl | jq ."} for n in range(6)]
    value = made(here, lambda descriptor, _: descriptor.update(jq_recipes=recipes))
    (here / "descriptor.json").write_text(json.dumps(value, indent=1))
    assert said("descriptor.json")[1].count("LRO-REC-11 /jq_recipes/") == 6
