"""Documents by other editions: what each asks for is found, what it leaves out is not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lro_conformance.cli.main import main
from lro_spec.editions import EDITIONS
from lro_spec.recipes.render import render
from lro_spec.validation import follow, validate_descriptor, validate_file, validate_header

ULID = "01KJPY44E0A1B2C3D4E5F6G7H8"
LEAN = {
    "operation": "recall",
    "count": 1,
    "schema_version": "1.0",
    "timestamp": "2026-03-02T09:30:00Z",
    "estimated_tokens": 23,
    "detail": "light",
}
RECORD = {"id": "a", "title": "T", "namespace": "_semantic/x", "created": "2026-01-01T00:00:00Z", "tags": ["k"]}


def lean(folder: Path, *lines: dict[str, Any]) -> dict[str, Any]:
    """A descriptor with nothing but what the first level of the paper asks for, and its file."""
    path = folder / f"lro-recall-{ULID}.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in (lines or (LEAN, RECORD))), encoding="utf-8")
    places = [{"namespace": "_semantic/x", "count": 1}]
    summary = {"count": 1, "estimated_tokens": 23, "operation": "recall", "top_namespaces": places}
    return {"summary": summary, "file_path": str(path)}


def told(findings: Any) -> list[tuple[str, str]]:
    return [(f.rule, f.severity) for f in findings]


def test_the_papers_header_needs_no_mark_and_no_query():
    assert told(validate_header(LEAN, edition="lro-paper")) == []
    assert told(validate_header(LEAN)) == [("LRO-FILE-02", "error")]
    assert told(validate_header({**LEAN, "type": "other"}, edition="lro-paper")) == [("LRO-FILE-02", "error")]
    assert told(validate_header({**LEAN, "count": -1}, edition="lro-paper")) == [("LRO-FILE-03", "error")]


def test_the_papers_first_level_is_path_and_summary(tmp_path: Path):
    value = lean(tmp_path)
    found = told(validate_descriptor(value, edition="lro-paper"))
    assert sorted(found) == [(id, "warning") for id in ("LRO-DESC-14", "LRO-GUI-01", "LRO-REC-13")]
    assert ("LRO-DESC-01", "error") in told(validate_descriptor(value))
    assert told(validate_descriptor({**value, "summary": None}, edition="lro-paper"))[-1] == ("LRO-DESC-01", "error")


def test_a_distribution_is_held_against_the_file(tmp_path: Path):
    value = lean(tmp_path)
    right = told(follow(value, edition="lro-paper"))
    assert [id for id, severity in right if severity == "error"] == []
    value["summary"]["top_namespaces"] = {"_episodic": 1}
    assert ("LRO-DESC-06", "error") in told(follow(value, edition="lro-paper"))


def test_the_paper_knows_no_memories(tmp_path: Path):
    path = lean(tmp_path, LEAN, {"title": 7})["file_path"]
    assert told(validate_file(path, edition="lro-paper")) == []
    assert ("LRO-FILE-11", "error") in told(validate_file(path))


@pytest.mark.parametrize(("extra", "found"), [(0, []), (1, [("LRO-REC-13", "warning")])])
def test_the_revision_allows_ten_recipes_and_no_more(tmp_path: Path, extra: int, found: list[tuple[str, str]]):
    path = str(tmp_path / f"atlatl-list-{ULID}.jsonl")
    recipes = [r.to_dict() for r in render("lro-1600", path, "light")]
    summary = {**lean(tmp_path)["summary"], "operation": "list", "top_namespaces": ["_semantic/x"], "detail": "light"}
    value = {
        "offloaded": True,
        "summary": summary,
        "file_path": path,
        "line_schema": {"type": "object", "properties": {"id": {"type": "string"}}},
        "jq_recipes": [*recipes, *recipes[:extra]],
        "guidance": "Use the recipes.",
    }
    assert told(validate_descriptor(value, edition="lro-1600")) == found
    assert told(validate_descriptor(value)) == [("LRO-DESC-05", "warning")]


@pytest.mark.parametrize(("words", "severity"), [("count by namespace", "warning"), ("namespace count", "error")])
def test_what_the_text_itself_misquotes_is_a_warning(tmp_path: Path, words: str, severity: str):
    path = f"{tmp_path}/atlatl-recall-{ULID}.jsonl"
    recipes = [r.to_dict() for r in render("lro-1600", path, "light")]
    recipes[5]["description"] = "Count by namespace"
    value = {**lean(tmp_path), "file_path": path, "jq_recipes": recipes, "guidance": f"{path}, #8 ({words})"}
    found = validate_descriptor(value, edition="lro-1600")
    assert [f.severity for f in found if f.rule == "LRO-GUI-05"] == [severity]


def test_a_wrong_recipe_is_blamed_under_its_purpose(tmp_path: Path):
    path = tmp_path / f"atlatl-recall-{ULID}.jsonl"
    header = {"type": "lro_header", **LEAN}
    path.write_text("".join(json.dumps(line) + "\n" for line in (header, RECORD)), encoding="utf-8")
    recipes = [r.to_dict() for r in render("lro-1600", str(path), "light")]
    recipes[8] = {"description": "Namespaces", "command": f"tail -n +2 {path} | jq .id"}
    summary = {**lean(tmp_path)["summary"], "top_namespaces": ["_semantic/x"], "detail": "light"}
    value = {
        "offloaded": True,
        "summary": summary,
        "file_path": str(path),
        "line_schema": {"type": "object", "properties": {"id": {"type": "string"}}},
        "jq_recipes": recipes,
        "guidance": "Use the recipes.",
    }
    found = told(follow(value, edition="lro-1600"))
    assert [rule for rule, severity in found if severity == "error"] == ["LRO-REC-17"]


def test_the_command_line_validates_by_an_edition(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = tmp_path / "descriptor.json"
    path.write_text(json.dumps(lean(tmp_path)), encoding="utf-8")
    assert main(["validate", "--edition", "lro-paper", "--follow", str(path)]) == 0
    assert main(["validate", "--follow", str(path)]) == 1
    assert main(["validate", "--edition", "all", str(path)]) == 2
    assert ", ".join(EDITIONS) in capsys.readouterr().err


@pytest.mark.parametrize(
    ("program", "refers"),
    [(".score", True), (".score.x", True), (".score_of.score", False), (".x.score", False), (".scores", False)],
)
def test_no_recipe_of_a_later_edition_refers_to_the_score(tmp_path: Path, program: str, refers: bool):
    path = tmp_path / f"atlatl-recall-{ULID}.jsonl"
    command = f"tail -n +2 {path} | jq '{program}'"
    value = {"file_path": str(path), "jq_recipes": [{"description": "Some field", "command": command}] * 10}
    found = [f for f in validate_descriptor(value, edition="lro-1600") if f.rule == "LRO-REC-20"]
    assert [f.pointer for f in found] == ([f"/jq_recipes/{n}/command" for n in range(10)] if refers else [])
    assert [f for f in validate_descriptor(value) if f.rule == "LRO-REC-20"] == []
