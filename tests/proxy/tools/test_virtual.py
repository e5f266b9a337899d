"""The family `virtual`: ranges of characters, searches, queries."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lro_proxy.tools.toolbox import Toolbox
from lro_reference.interceptor import Offloaded, ResultSet, intercept
from lro_reference.settings import Settings

RECORDS = [
    {"id": f"m{n}", "title": f"日本語 𝄞 {n}", "namespace": "x", "n": n, "big": 10**22 + n, "tags": ["a", {}, []]}
    for n in range(40)
]


@pytest.fixture(scope="module")
def toolbox(tmp_path_factory: pytest.TempPathFactory) -> tuple[Toolbox, Path]:
    folder = tmp_path_factory.mktemp("out")
    settings = Settings(threshold_tokens=1, output_dir=str(folder))
    toolbox = Toolbox(["virtual"], settings, prefix="lro_")
    outcome = intercept(ResultSet("recall", "full", RECORDS, {}, "1.0.0"), settings, lambda event: None)
    assert isinstance(outcome, Offloaded)
    response = toolbox.publish(outcome.response)
    assert "lro_read_large_output" in response.guidance
    return toolbox, Path(response.file_path)


def called(toolbox: tuple[Toolbox, Path], tool: str, **arguments: Any) -> str:
    answer = toolbox[0].call(f"lro_{tool}", {"filename": toolbox[1].name, **arguments})
    assert not answer.is_error, answer.texts
    return answer.texts[0]


def test_names_have_the_prefix(toolbox: tuple[Toolbox, Path]) -> None:
    listed = [tool.name for tool in toolbox[0].tools]
    assert listed == ["lro_read_large_output", "lro_search_large_output", "lro_query_large_output"]


@pytest.mark.parametrize(("start", "end"), [(0, 0), (0, 1), (0, 200), (199, 210), (250, 251), (900, 10**9)])
def test_a_range_is_of_characters_from_0_its_end_exclusive(toolbox: tuple[Toolbox, Path], start: int, end: int) -> None:
    text = toolbox[1].read_text(encoding="utf-8")
    assert called(toolbox, "read_large_output", start=start, end=end) == text[start:end]


def test_ranges_put_together_are_the_file(toolbox: tuple[Toolbox, Path]) -> None:
    text = toolbox[1].read_text(encoding="utf-8")
    parts = [called(toolbox, "read_large_output", start=n, end=n + 97) for n in range(0, len(text), 97)]
    assert "".join(parts) == text
    assert called(toolbox, "read_large_output", start=len(text), end=len(text) + 5) == ""


def test_a_character_is_never_cut_where_a_block_ends(tmp_path: Path) -> None:
    settings = Settings(threshold_tokens=1, output_dir=str(tmp_path))
    toolbox = Toolbox(["virtual"], settings)
    records = [{"id": "1", "title": "x" + "日" * 200_000, "namespace": "n"}]
    outcome = intercept(ResultSet("recall", "full", records, {}, "1"), settings, lambda event: None)
    assert isinstance(outcome, Offloaded)
    path = Path(toolbox.publish(outcome.response).file_path)
    text = path.read_text(encoding="utf-8")
    for start in (0, 87_000, len(text) - 100):
        arguments = {"filename": path.name, "start": start, "end": start + 900}
        assert toolbox.call("read_large_output", arguments).texts[0] == text[start : start + 900]


def test_a_search_shows_numbered_lines_and_two_around(toolbox: tuple[Toolbox, Path]) -> None:
    found = called(toolbox, "search_large_output", pattern='"N":(5|6|20),').splitlines()
    numbers = [line.partition(":")[0] for line in found]
    expected = ["  5", "  6", "> 7", "> 8", "  9", "  10", "--", "  20", "  21", "> 22", "  23", "  24"]
    assert numbers == expected
    assert json.loads(found[2].partition(": ")[2]) == RECORDS[5]


def test_case_counts_when_it_is_said_to(toolbox: tuple[Toolbox, Path]) -> None:
    assert called(toolbox, "search_large_output", pattern='"N":5', case_sensitive=True) == "No matches found."


def test_max_results_counts_matching_lines(toolbox: tuple[Toolbox, Path]) -> None:
    found = called(toolbox, "search_large_output", pattern="TITLE", max_results=3)
    assert sum(line.startswith(">") for line in found.splitlines()) == 3
    assert found.endswith("\n(More than 3 lines match: raise max_results, or use a narrower pattern.)")
    assert "more" not in called(toolbox, "search_large_output", pattern='"n":3,', max_results=1)


def test_a_query_in_its_three_layouts(toolbox: tuple[Toolbox, Path]) -> None:
    query = "select(.n == 3) | {title, big, tags}"
    compact = called(toolbox, "query_large_output", query=query, compact=True)
    assert compact == '{"title":"日本語 𝄞 3","big":10000000000000000000003,"tags":["a",{},[]]}'
    indented = called(toolbox, "query_large_output", query=query)
    expected = {key: RECORDS[3][key] for key in ("title", "big", "tags")}
    assert indented == json.dumps(expected, indent=2, ensure_ascii=False)
    assert called(toolbox, "query_large_output", query="select(.n == 3) | .title", raw=True) == "日本語 𝄞 3"
    assert called(toolbox, "query_large_output", query="empty") == "The query returned nothing."
