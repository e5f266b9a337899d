"""The recomputed paper: every figure has its verdict, and a falsified one is found."""

from __future__ import annotations

import copy
import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lro_bench.material import timings
from lro_bench.paper import compare, fractions_near, published, savings, unexpected
from lro_bench.paper_views import text_lines, timing_lines, to_json, to_markdown
from lro_conformance.cli.main import main
from tests.support.paths import ROOT
from tests.tools.bench_pages import PAPER, paper_page

RECOMPUTED = ("design", "theory", "table1", "table5", "table7", "cross_model", "claims")


def test_every_figure_has_its_verdict() -> None:
    comparisons = compare(published())
    assert len({one.id for one in comparisons}) == len(comparisons)
    assert unexpected(comparisons, published()) == []
    counts = Counter(one.verdict for one in comparisons)
    assert counts["contradicts"] == len(published()["contradictions"])
    assert all(one.why for one in comparisons if one.verdict == "not reproducible without a model")


def test_what_can_be_recomputed_is() -> None:
    verdicts = {one.id: one.verdict for one in compare(published())}
    tables = [id for id in verdicts if id.partition("/")[0] in ("table1", "table5", "table7", "theory")]
    assert len(tables) == 24 + 12 + 5 + 6
    assert {verdicts[id] for id in tables} == {"equal"}
    assert verdicts["cross_model/lro_tokens/Haiku"] == "within rounding"


def numbers(node: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths of all numbers in a structure."""
    if isinstance(node, dict):
        for key, value in node.items():
            yield from numbers(value, (*path, key))
    elif isinstance(node, list):
        for place, value in enumerate(node):
            yield from numbers(value, (*path, place))
    elif isinstance(node, (int, float)):
        yield path


CHECKED = [
    path
    for section in ("table1", "table3", "table5", "table6", "table7", "table8")
    for path in numbers(published()[section], (section,))
    if path[1] != "sizes"
]


@pytest.mark.parametrize("section", sorted({path[0] for path in CHECKED}))
def test_a_falsified_figure_is_found(section: str) -> None:
    for path in [path for path in CHECKED if path[0] == section]:
        figures = copy.deepcopy(dict(published()))
        node: Any = figures
        for step in path[:-1]:
            node = node[step]
        node[path[-1]] += 0.09 if path[1] == "ratio" else 2.2
        assert unexpected(compare(figures), figures), path


@pytest.mark.parametrize("key", [key for key, value in published()["claims"].items() if isinstance(value, list)])
def test_a_falsified_range_of_the_prose_is_found(key: str) -> None:
    if key.endswith("_ms") or f"claims/{key}" in published()["contradictions"]:
        return  # it needs a model, or contradicts already
    for place in (0, 1):
        figures = copy.deepcopy(dict(published()))
        figures["claims"][key][place] += 0.2 if key == "access_ratio" and place else 2
        if key != "access_ratio" or place:
            assert unexpected(compare(figures), figures), (key, place)


def test_a_figure_that_is_equal_only_by_rounding_shows_a_digit_more() -> None:
    (tokens,) = [one for one in compare(published()) if one.id == "cross_model/inline_tokens/GPT"]
    assert (tokens.published, tokens.ours, tokens.verdict) == ("567 K", "566.5 K", "equal")


def test_falsified_tokens_are_found_by_the_table_that_follows_from_them() -> None:
    for row in ("LRO", "Inline"):
        figures = copy.deepcopy(dict(published()))
        figures["table4"][row][4] += 40
        assert any(text.startswith("table5/") for text in unexpected(compare(figures), figures))


def test_formulae() -> None:
    assert savings(500, 5, 155, 800) == pytest.approx(0.98, abs=0.001)
    assert savings(5, 5, 155, 800) < 0  # a loss is shown as one
    assert (4, 31) in fractions_near(12.9)


def test_command_prints_each_figure_beside_ours(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "paper", "-v"]) == 0
    shown = capsys.readouterr().out
    assert "savings at k/n = 0.02, n = 250" in shown
    assert "published 158 K | ours 159.0 K | within rounding" in " ".join(shown.split())
    comparisons = compare(published())
    assert len(json.loads(to_json(comparisons))["comparisons"]) == len(comparisons)
    assert to_markdown(comparisons).count("**contradicts**") == len(published()["contradictions"])
    assert len(list(text_lines(comparisons, verbose=False))) < len(list(text_lines(comparisons, verbose=True)))


@pytest.mark.parametrize(
    ("target", "told"),
    [("{}/none/x", "the directory {}/none does not exist"), ("/dev/full", "No space left on device")],
)
@pytest.mark.parametrize("option", ["--json", "--markdown"])
def test_a_file_that_cannot_be_written_is_named_as_it_was_given(
    option: str, target: str, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = target.format(tmp_path)
    assert main(["bench", "paper", option, given]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line == f"lro: {option} {given}: {told.format(tmp_path)}: name another file"


def test_each_command_tells_its_exit_codes_and_verbose_is_told_alike_everywhere(
    capsys: pytest.CaptureFixture[str],
) -> None:
    codes = {"paper": "012", "run": "023", "report": "02", "corpora": "01"}
    for command, expected in codes.items():
        assert main(["bench", command, "--help"]) == 0
        told = " ".join(capsys.readouterr().out.partition("Exit code:")[2].partition("Options:")[0].split())
        assert "".join(re.findall(r"(?:^|, (?:or )?)([0-3]) ", told)) == expected, command
    page = (ROOT / "docs/bench.md").read_text(encoding="utf-8")
    assert re.search(r"lro bench paper -v +# every published figure", page)


def test_the_page_of_the_documents_is_that_of_today() -> None:
    assert PAPER.read_text(encoding="utf-8") == paper_page()


def test_a_start_is_measured_of_a_program_that_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    made = timings(50, 20)
    assert made["start of grep"] is not None
    assert made["start of grep"][0] > 0.1  # no process starts faster
    monkeypatch.setenv("PATH", "/nowhere")
    lines = list(timing_lines(published()))
    assert "  start of jq: published 50 to 100 ms | ours no jq on the PATH" in lines
