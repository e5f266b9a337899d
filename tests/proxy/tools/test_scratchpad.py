"""The family `scratchpad`: exploring a file by line and by structure, within a budget."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lro_proxy import Interceptor
from lro_proxy.tools.budget import Budget
from lro_proxy.tools.toolbox import Toolbox
from lro_reference.events import Event
from lro_reference.interceptor import Offloaded, ResultSet, intercept
from lro_reference.settings import Settings
from lro_spec.tokens import script_aware_estimate

RECORDS: list[dict[str, Any]] = [
    {
        "id": f"m{n}",
        "title": f"title {n}",
        "org.example": {"rounds": [{"by": "r1", "ok": n % 2 == 0}]},
        "content": "\n".join(f"line {k}" for k in range(8)),
        "digits": 1.5 if n else 2,
    }
    for n in range(12)
]
del RECORDS[3]["title"]


@pytest.fixture
def toolbox(tmp_path: Path) -> tuple[Toolbox, Path]:
    settings = Settings(threshold_tokens=1, output_dir=str(tmp_path))
    toolbox = Toolbox(["scratchpad"], settings)
    outcome = intercept(ResultSet("recall", "full", RECORDS, {}, "1"), settings, lambda event: None)
    assert isinstance(outcome, Offloaded)
    return toolbox, Path(toolbox.publish(outcome.response).file_path)


def offloaded_text(folder: Path, text: str) -> tuple[Toolbox, Path]:
    """A toolbox, and the file of what a tool has answered."""
    settings = Settings(threshold_tokens=1, output_dir=str(folder))
    toolbox = Toolbox(["scratchpad"], settings)
    interceptor = Interceptor(settings, emit=lambda event: None, publish=toolbox.publish)
    result = interceptor.result({"content": [{"type": "text", "text": text}]}, tool="read")
    return toolbox, Path(json.loads(result["content"][0]["text"])["file_path"])


def called(toolbox: tuple[Toolbox, Path], tool: str, **arguments: Any) -> str:
    answer = toolbox[0].call(tool, {"file": toolbox[1].name, **arguments})
    assert not answer.is_error, answer.texts
    return answer.texts[0]


def test_there_are_eight_tools(toolbox: tuple[Toolbox, Path]) -> None:
    names = [tool.name for tool in toolbox[0].tools]
    assert names == ["schema", "item_schema", "head", "grep", "get_in", "iterate_over", "slice", "read"]


def test_lines_are_counted_from_1_and_both_ends_included(toolbox: tuple[Toolbox, Path]) -> None:
    lines = toolbox[1].read_text(encoding="utf-8").splitlines()
    assert called(toolbox, "slice", start=2, end=4).splitlines() == lines[1:4]
    assert called(toolbox, "head", lines=3).splitlines() == lines[:3]
    assert called(toolbox, "read").splitlines() == lines
    beyond = toolbox[0].call("slice", {"file": toolbox[1].name, "start": 500, "end": 501})
    assert beyond.is_error
    assert beyond.texts == ("start (500) lies beyond the end: the file has 13 lines",)


def test_grep_marks_hits_and_merges_regions(toolbox: tuple[Toolbox, Path]) -> None:
    found = called(toolbox, "grep", pattern="title (4|6)", context=1).splitlines()
    assert [line.partition(":")[0] for line in found] == ["  5", "> 6", "  7", "> 8", "  9"]


def test_an_invalid_expression_is_searched_for_as_it_is(toolbox: tuple[Toolbox, Path]) -> None:
    assert called(toolbox, "grep", pattern='rounds":[{').startswith("  1: ")


def test_schema_shows_kinds_and_sizes_to_a_depth(toolbox: tuple[Toolbox, Path]) -> None:
    assert called(toolbox, "schema", max_depth=2).splitlines() == [
        "records: array(12), lines 2-13",
        "  [0]: object(5), line 2",
        "    id: string(2)",
        "    title: string(7)",
        '    "org.example": object(1)',
        "    content: string(55), 8 lines",
        "    digits: number",
    ]
    assert "ok: boolean" in called(toolbox, "schema", max_depth=5)


def test_schema_of_a_markdown_text_is_its_sections_by_the_lines_of_the_file(tmp_path: Path) -> None:
    text = (
        "# Guide\n\nintro\n\n## Install ##\n\n```sh\n# no heading\n## nor this\n```\n### Windows\nx\n\n## Use\ny\nz\n"
    )
    box, file = offloaded_text(tmp_path, text)
    assert called((box, file), "schema").splitlines() == [
        "records: array(4), lines 2-5",
        "  # Guide: lines 2-5",
        "    ## Install: lines 3-4",
        "      ### Windows: line 4",
        "    ## Use: line 5",
    ]
    use = called((box, file), "slice", start=5, end=5).splitlines()
    assert [json.loads(line)["text"] for line in use] == ["## Use\ny\nz\n"]
    assert called((box, file), "schema", max_depth=1).splitlines()[1:] == ["  # Guide: lines 2-5"]


def test_comments_of_a_program_are_no_sections(tmp_path: Path) -> None:
    found = offloaded_text(tmp_path, "# one\nx = 1\n\n\n# two\ny = 2\nz = 3\n" * 3)
    assert called(found, "schema").splitlines()[:2] == ["records: array(21), lines 2-22", "  [0]: object(2), line 2"]


def test_schema_shows_the_sections_of_a_text_within_a_record(tmp_path: Path) -> None:
    records = [{"id": n, "readme": "# A\ntext\ntext\n## B\ntext\ntext\ntext"} for n in range(30)]
    found = offloaded_text(tmp_path, json.dumps(records))
    assert called(found, "schema").splitlines()[3:] == [
        "    readme: string(33), 7 lines",
        "      # A: lines 1-7",
        "        ## B: lines 4-7",
    ]
    assert called(found, "get_in", path="0.readme", offset=3, limit=1) == "## B"


def test_a_schema_that_is_too_large_says_how_it_gets_smaller(tmp_path: Path) -> None:
    text = "\n".join(f"## {'long title ' * 7}{n}\ntext\ntext" for n in range(2000))
    refusal = json.loads(called(offloaded_text(tmp_path, text), "schema"))
    assert refusal["error"] == "schema_too_large"
    assert "schema with a smaller max_depth" in refusal["suggestions"]


def test_item_schema_counts_who_has_what(toolbox: tuple[Toolbox, Path]) -> None:
    found = json.loads(called(toolbox, "item_schema"))
    assert found["items"] == 12
    assert found["keys"]["title"] == {"types": ["string"], "in": "11 of 12"}
    assert json.loads(called(toolbox, "item_schema", offset=3, limit=1))["keys"].get("title") is None


@pytest.mark.parametrize(
    ("path", "value"),
    [("0.title", "title 0"), ('1."org.example".rounds.0.by', "r1"), ("0.digits", "2"), ("2.digits", "1.5")],
)
def test_a_path_leads_to_its_value(toolbox: tuple[Toolbox, Path], path: str, value: str) -> None:
    assert called(toolbox, "get_in", path=path) == value


def test_the_root_is_the_array_of_records_and_long_texts_are_read_by_lines(toolbox: tuple[Toolbox, Path]) -> None:
    assert json.loads(called(toolbox, "get_in", path="", offset=2, limit=2)) == RECORDS[2:4]
    assert called(toolbox, "get_in", path="0.content", offset=2, limit=2) == "line 2\nline 3"


def test_a_missing_key_is_told_with_the_prefix_that_is_right_and_what_there_is(toolbox: tuple[Toolbox, Path]) -> None:
    answer = toolbox[0].call("get_in", {"file": str(toolbox[1]), "path": "0.provenance.confidence"})
    assert answer.is_error
    assert answer.texts == ("no 'provenance' at '0': there are id, title, \"org.example\", content, digits",)


def test_iterate_over_shows_fields_and_cuts_long_texts_with_a_hint(toolbox: tuple[Toolbox, Path]) -> None:
    rows = [
        json.loads(row) for row in called(toolbox, "iterate_over", fields=["title", "content"], limit=4).splitlines()
    ]
    assert [row["title"] for row in rows] == ["title 0", "title 1", "title 2", None]
    assert rows[0]["content"].splitlines() == [*(f"line {k}" for k in range(5)), "… (8 lines: get_in returns all)"]
    inner = called(toolbox, "iterate_over", path='0."org.example".rounds', fields=["by"])
    assert json.loads(inner) == {"by": "r1"}


def test_a_field_that_no_item_has_is_told_with_those_there_are(toolbox: tuple[Toolbox, Path]) -> None:
    *rows, told = called(toolbox, "iterate_over", fields=["titel", "id"], limit=2).splitlines()
    assert [json.loads(row) for row in rows] == [{"titel": None, "id": "m0"}, {"titel": None, "id": "m1"}]
    there = 'there are id, title, "org.example", content, digits'
    assert told == f"(in none of these items: no 'titel' at the root: {there})"


def test_an_answer_above_the_limit_of_a_call_is_withheld_successfully() -> None:
    budget = Budget(per_call=10, context_window=1000)
    refusal = json.loads(budget.spend("head", "x" * 44, ["ask for less"]))
    assert refusal == {
        "error": "head_too_large",
        "estimated_tokens": 11,
        "per_call_limit": 10,
        "suggestions": ["ask for less"],
    }
    assert budget.tokens_extracted == 0
    assert budget.spend("head", "x" * 40, []) == "x" * 40


def test_all_answers_together_keep_a_fifth_of_the_window_free() -> None:
    budget = Budget(per_call=100, context_window=250)  # 200 to spend
    assert budget.spend("head", "x" * 400, []) == "x" * 400
    assert budget.spend("head", "x" * 240, []) == "x" * 240
    assert json.loads(budget.spend("head", "x" * 240, []))["remaining_budget_tokens"] == 40
    assert budget.spend("head", "x" * 160, []) == "x" * 160


def test_what_was_saved_and_given_out_is_told(toolbox: tuple[Toolbox, Path]) -> None:
    text = called(toolbox, "head", lines=2)
    events: list[Event] = []
    toolbox[0].report(events.append)
    (event,) = events
    assert event.name == "ScratchpadUsage"
    assert event.details["tokens_extracted"] == script_aware_estimate(text)
    assert isinstance(event.details["tokens_intercepted"], int)
