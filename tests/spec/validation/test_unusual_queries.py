"""What a query does to the recipes that it stands in: whose fault a failing command is."""

from __future__ import annotations

from types import SimpleNamespace as Made
from typing import Any

import pytest

from lro_conformance.capture.records import common_word
from lro_conformance.judging.verdicts import Verdict
from lro_conformance.trials.recipes import Try
from lro_spec.recipes.compare import fails_by_its_literal
from lro_spec.recipes.runner import JqRun
from tests.support.made_evidence import ULID, call, judged, survey

PATH = f"/out/atlatl-recall-{ULID}.jsonl"
NULL = "jq: error (at <stdin>): null (null) cannot be matched, as it is not a string\n"
KEPT = 'jq: error (at <stdin>): null (null) and string ("{}") cannot have their containment checked\n'
REGEX = "jq: error (at <stdin>): Regex failure: end pattern with unmatched parenthesis\n"
OLDER = "jq: error (at <stdin>): (x (at offset 0) is not a valid regex: end pattern with unmatched parenthesis\n"


def ran(stderr: str = "", status: int = 0, problem: str = "") -> JqRun:
    return JqRun(status, b"", stderr, False, "libjq", problem)


@pytest.mark.parametrize(
    ("delivered", "probed", "said"),
    [
        (ran(), ran(), None),
        (ran(REGEX, 5), ran(), "libjq exited 5; jq: error (at <stdin>): Regex failure"),
        (ran(REGEX + NULL, 5), ran(), "libjq exited 5; jq: error (at <stdin>): Regex failure"),
        (ran(REGEX, 0), ran(), "libjq exited 0; jq: error"),  # a later record went well
        (ran("no program", 3), ran(), "libjq exited 3; no program"),
        (ran("no program", 3), None, "libjq exited 3; no program"),
        (ran("no program", 3), ran("no program", 3), None),
        (ran(REGEX, 5), None, None),
        (ran(NULL, 5), ran(NULL, 5), None),
        (ran(NULL + OLDER, 5), ran(NULL, 5), "libjq exited 5; jq: error (at <stdin>): (x (at offset 0)"),
        (ran(KEPT.format("a) (b"), 5), ran(KEPT.format("keyword"), 5), None),
        (ran(NULL + REGEX, 5), ran(f"{NULL}jq: er", 5), None),  # what was said was cut off
        (ran(REGEX, 5, "timed out"), ran(), None),
        (ran(REGEX, 5), ran("", -1, "timed out"), None),
    ],
)
def test_only_what_jq_says_of_the_command_as_it_stands_alone_is_told(
    delivered: JqRun, probed: JqRun | None, said: str | None
) -> None:
    found = fails_by_its_literal(delivered, probed)
    assert found == said if said is None or found is None else found.startswith(said)


def asked(program: str, feed: str = f"tail -n +2 {PATH}", index: int = 2) -> Made:
    recipes = [{"description": "d", "command": f"tail -n +2 {PATH} | jq ."} for _ in range(index)]
    recipes.append({"description": "d", "command": f"{feed} | jq '{program}'"})
    return call(descriptor={"file_path": PATH, "jq_recipes": recipes}, query="it's")


@pytest.mark.parametrize(
    ("usual", "odd", "refused", "verdict"),
    [
        (asked("."), asked("."), None, Verdict.PASS),
        (asked("."), asked("it's"), None, Verdict.FAIL),
        (asked("."), asked("."), ran(REGEX, 5), Verdict.FAIL),
        (asked("."), asked(".", "tail -n +2 /else.jsonl"), None, Verdict.FAIL),
        (asked("."), asked("."), ran(NULL, 0, "timed out"), Verdict.PASS),
        # wrong whatever was asked for, or more than is understood
        (asked("it's"), asked("it's"), None, Verdict.PASS),
        (asked(".", "tail -n +2 /else.jsonl"), asked(".", "tail -n +2 /else.jsonl"), None, Verdict.PASS),
        (asked(".", f"awk NF {PATH}"), asked(".", f"awk NF {PATH}"), None, Verdict.PASS),
        (asked("."), asked(".", f"awk NF {PATH}"), None, Verdict.PASS),
        (asked(".", f"awk NF {PATH}", 0), asked(".", f"awk NF {PATH}", 0), None, Verdict.NOT_OBSERVED),
    ],
)
def test_a_query_is_blamed_for_what_it_breaks_alone(
    usual: Made, odd: Made, refused: JqRun | None, verdict: Verdict
) -> None:
    command = Made(call=odd, index=2)
    said = None if refused is None else fails_by_its_literal(refused, ran())
    tried = [Made(command=command, refused=said)]
    result = judged(
        "edge_cases.any_query_keeps_recipes_valid", survey=survey(usual), folders=Made(odd=[odd], tried=tried)
    )
    assert result.verdict is verdict


def test_a_query_that_finds_nothing_tells_nothing() -> None:
    folders = Made(odd=[], tried=())
    result = judged("edge_cases.any_query_keeps_recipes_valid", survey=survey(asked(".")), folders=folders)
    assert result.verdict is Verdict.NOT_OBSERVED


def test_a_run_that_was_made_to_look_for_nothing_is_refused_only_where_it_does_not_compile() -> None:
    command = Made(call=asked("."), index=2)
    for delivered, told in ((ran(REGEX, 5), None), (ran("no program", 3), "libjq exited 3; no program")):
        assert Try(3, command, None, ran(), delivered=delivered).refused == told  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("titles", "word"),
    [
        (["Rotate the keys", "rotate them, Rotate!", "Stop"], "rotate"),
        (["Rotate keys", "rotate keys"], None),
        (["Alpha beta", "beta alphas", "Alpha", "stop"], "beta"),
        (["abc", "été"], None),
        (["Rotate", None, 5], "rotate"),
        ([], None),
    ],
)
def test_a_common_word_is_in_many_titles_but_not_in_all(titles: list[Any], word: str | None) -> None:
    assert common_word({"title": title} for title in titles) == word
