"""Parameters of calls: a caller's words in recipes, parts of long answers, and ranges beyond the end."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lro_proxy.payload.interceptor import Interceptor
from lro_proxy.tools.toolbox import Toolbox
from lro_reference.settings import Settings

ISSUES = [{"number": n, "title": f"Issue {n} of C++ (a.b)" if n % 3 else "aXb", "state": "open"} for n in range(60)]
MEMORIES = [{"id": f"m{n}", "title": f"title {n}", "namespace": "a", "content": "x" * 40} for n in range(60)]


class Asked:
    """A payload that was offloaded, and the tools that read it."""

    def __init__(self, folder: Path, payload: Any, family: str = "extract") -> None:
        settings = Settings(threshold_tokens=100, output_dir=str(folder))
        self.toolbox = Toolbox([family], settings)
        lro = Interceptor(settings, emit=lambda event: None, publish=self.toolbox.publish)
        text = payload if isinstance(payload, str) else json.dumps(payload)
        result = lro.result({"content": [{"type": "text", "text": text}]}, tool="list")
        self.told = json.loads(result["content"][0]["text"])
        self.key = "file_path" if family == "extract" else "file"

    def number(self, what: str) -> int:
        return next(n for n, r in enumerate(self.told["jq_recipes"], 1) if r["description"].startswith(what))

    def __call__(self, tool: str = "lro_extract", **arguments: Any) -> str:
        answer = self.toolbox.call(tool, {self.key: self.told["file_path"], **arguments})
        return answer.is_error * "refused: " + answer.texts[0]


@pytest.fixture
def issues(tmp_path: Path) -> Asked:
    return Asked(tmp_path, ISSUES)


# --- words of one's own


@pytest.mark.parametrize(
    ("params", "many"), [({"keyword": "a.b"}, 40), ({"pattern": "a.b"}, 60), ({"keyword": 'c++ (A" | halt'}, 0)]
)
def test_a_recipe_that_was_made_for_a_file_takes_a_word(issues: Asked, params: dict[str, Any], many: int) -> None:
    text = issues(recipe=issues.number("Records with a word"), params={**params, "n": 60})
    assert len(text.splitlines()) == many or text == "No record matches."
    assert many or text == "No record matches."


def test_an_empty_pattern_is_a_pattern(issues: Asked) -> None:
    text = issues(recipe=issues.number("Records with a word"), params={"pattern": "", "n": 2, "skip": 1})
    assert [line.split("\t")[0] for line in text.splitlines()] == ["1", "2"]


def test_rows_of_a_recipe_go_on_where_the_last_ones_ended(issues: Asked) -> None:
    number, pattern = issues.number("Records with a word"), {"pattern": ""}
    texts = [issues(recipe=number, params={**pattern, "skip": skip}) for skip in (0, 20, 40)]
    assert [text.split("\t")[0] for text in "\n".join(texts).splitlines()] == [str(n) for n in range(60)]


def test_without_a_word_the_answer_says_what_was_looked_for(issues: Asked) -> None:
    text = issues(recipe=issues.number("Records with a word"))
    assert text.startswith("No record matches.")
    assert 'placeholder "word"' in text
    assert f"- a word: recipe #{issues.number('Records with a word')} with params" in issues.told["guidance"]


def test_lines_of_text_are_called_so_and_counted_by_a_word(tmp_path: Path) -> None:
    asked = Asked(tmp_path, "some text\nwith a Needle\n" * 100)
    assert "(200 lines of text, " in asked.told["guidance"]
    assert asked(recipe=asked.number("How many lines have a word"), params={"keyword": "needle"}) == "100"


def test_a_recipe_without_a_word_takes_none(issues: Asked) -> None:
    text = issues(recipe=2, params={"keyword": "x"})
    assert text.startswith("refused: recipe 2 of this file has no parameter keyword: it takes n and skip")


@pytest.mark.parametrize("payload", [ISSUES, MEMORIES], ids=["records", "memories"])
def test_what_would_be_passed_over_is_refused(tmp_path: Path, payload: Any) -> None:
    asked = Asked(tmp_path, payload)
    both = asked(recipe=3, params={"keyword": "a", "pattern": "b"})
    assert both == "refused: give either keyword (plain text) or pattern (a regular expression), not both"
    assert asked(recipe=1, slurp=True).startswith("refused: slurp is only for a query")
    assert "No parameter" not in asked(recipe=1, slurp=False)


def test_no_parameter_of_a_standard_recipe_is_passed_over(tmp_path: Path) -> None:
    text = Asked(tmp_path, MEMORIES)(recipe=3, params={"pattern": "title", "namespace": "b"})
    assert text == "refused: recipe 3 has no parameter namespace; it takes keyword, pattern, n, skip"


# --- beyond the end


@pytest.mark.parametrize(
    ("payload", "asking"),
    [
        (ISSUES, {"query": "."}),
        (ISSUES, {"recipe": 1, "params": {"pattern": ""}}),
        (MEMORIES, {"query": "."}),
        (MEMORIES, {"recipe": 1}),
        (MEMORIES, {"recipe": 5}),
    ],
)
def test_skip_beyond_the_end_tells_how_many_there_are(tmp_path: Path, payload: Any, asking: dict[str, Any]) -> None:
    text = Asked(tmp_path, payload)(**{**asking, "params": {**asking.get("params", {}), "skip": 60}})
    assert "here are 60 results, so none remains after the first 60" in text
    assert "No record matches" not in text


def test_skip_where_nothing_matches_is_nothing(issues: Asked) -> None:
    assert issues(query="select(.number > 99)", params={"skip": 1}) == "No record matches."


# --- one long line


LONG = "".join(f"{n:07d} " for n in range(50_000))


@pytest.fixture(scope="module")
def long(tmp_path_factory: pytest.TempPathFactory) -> Asked:
    return Asked(tmp_path_factory.mktemp("long"), [{"n": 1, "text": LONG}], "scratchpad")


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("head", {}),
        ("read", {}),
        ("slice", {"start": 2, "end": 2}),
        ("grep", {"pattern": "0000007"}),
        ("get_in", {"path": "0.text"}),
        ("iterate_over", {"fields": ["text"]}),
    ],
)
def test_what_is_too_large_is_told_with_its_size_and_a_way(long: Asked, tool: str, arguments: dict[str, Any]) -> None:
    told = json.loads(long(tool, **arguments))
    assert told["error"] == f"{tool}_too_large"
    assert 100_000 <= told["estimated_tokens"] <= 100_100
    assert any("read or get_in with start and end" in way for way in told["suggestions"])


def test_every_part_of_a_long_line_can_be_read(long: Asked) -> None:
    assert long("get_in", path="0.text", start=80_000, end=80_007) == "0010000"
    assert long("get_in", path="0.text", start=399_992) == "0049999 "
    parts = [long("get_in", path="0.text", start=at) for at in range(0, len(LONG), 10_000)][:3]
    assert "".join(parts) == LONG[:30_000]
    whole = Path(long.told["file_path"]).read_text()
    assert long("read", start=5) == whole[5:10_005]
    assert long("read", start=100, end=120) == whole[100:120]


@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        ("get_in", {"path": "0.text", "start": 10**6}, "the text has 400000 characters"),
        ("get_in", {"path": "0.text", "start": 5, "end": 4}, "there is nothing from 5 to before 4"),
        ("get_in", {"path": "0.n", "start": 0}, "this is number: use offset and limit"),
        ("read", {"start": 10**6}, "lies beyond the end: the file has"),
        ("read", {"start": 5, "end": 4}, "lies before start"),
    ],
)
def test_a_range_of_nothing_is_refused(long: Asked, tool: str, arguments: dict[str, Any], said: str) -> None:
    text = long(tool, **arguments)
    assert text.startswith("refused: ")
    assert said in text


def test_a_query_is_told_how_to_take_a_part_of_a_line(tmp_path: Path) -> None:
    asked = Asked(tmp_path, [{"n": 1, "text": LONG}])
    text = asked(query=".")
    assert ".text[:10000]" in text
    assert len(asked(query=".text[10000:20000]")) == 10_002
    records = Asked(tmp_path, [{"a": LONG}])(query=".")
    assert "tostring[:10000]" in records
    assert "such as {id, title}" in Asked(tmp_path, [{**MEMORIES[0], "content": LONG}])(query=".")
