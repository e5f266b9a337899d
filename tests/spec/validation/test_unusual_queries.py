"""What a query does to the recipes that it stands in: whose fault a failing command is."""

from __future__ import annotations

from types import SimpleNamespace as Made
from typing import Any

import pytest

from lro_conformance.analysis.documents import Document, Documents
from lro_conformance.capture.records import common_word
from lro_conformance.judging.verdicts import Verdict
from lro_spec.findings import Finding, Kind
from lro_spec.recipes.compare import literal_error
from lro_spec.recipes.runner import JqRun
from lro_spec.validation.request import Request
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
    found = literal_error(delivered, probed)
    assert found == said if said is None or found is None else found.startswith(said)


REC = "/jq_recipes/2/command"


def broken(kind: Kind, pointer: str = REC) -> Finding:
    severity = "warning" if kind is Kind.NOT_EVALUATED else "error"
    return Finding("LRO-REC-13", kind, pointer, "it is broken", "whole", "not", severity=severity)


def asked(*found: Finding) -> Document:
    commands = [{"description": "d", "command": f"tail -n +2 {PATH} | jq ."} for _ in range(3)]
    one: Any = call(descriptor={"file_path": PATH, "jq_recipes": commands}, query="it's")
    return Document(one, Request("recall", None), None, found, None, True, True)


@pytest.mark.parametrize(
    ("usual", "odd", "verdict", "subjects"),
    [
        ((), (), Verdict.PASS, 3),
        ((), (Kind.BAD_COMMAND,), Verdict.FAIL, 3),
        ((), (Kind.BAD_LITERAL,), Verdict.FAIL, 3),
        ((), (Kind.BAD_PROGRAM,), Verdict.FAIL, 3),
        ((), (Kind.OTHER_FILE,), Verdict.FAIL, 3),
        # what it is for is judged elsewhere
        ((), (Kind.WRONG_OUTPUT,), Verdict.PASS, 3),
        ((), (Kind.READS_HEADER,), Verdict.PASS, 3),
        # wrong whatever was asked for, or more than is understood
        ((Kind.BAD_COMMAND,), (Kind.BAD_COMMAND,), Verdict.PASS, 2),
        ((Kind.OTHER_FILE,), (Kind.BAD_LITERAL,), Verdict.PASS, 2),
        ((), (Kind.NOT_EVALUATED,), Verdict.PASS, 2),
    ],
)
def test_a_query_is_blamed_for_what_it_breaks_alone(
    usual: tuple[Kind, ...], odd: tuple[Kind, ...], verdict: Verdict, subjects: int
) -> None:
    first, other = (asked(*map(broken, kinds)) for kinds in (usual, odd))
    result = judged(
        "edge_cases.any_query_keeps_recipes_valid",
        survey=survey(first.call),
        folders=Made(unusual_queries=[other.call]),
        recipes=Documents((first, other), {}),
    )
    assert (result.verdict, result.subjects) == (verdict, subjects)


def test_a_query_that_finds_nothing_tells_nothing() -> None:
    one = asked()
    have: dict[str, Any] = {
        "survey": survey(one.call),
        "folders": Made(unusual_queries=[]),
        "recipes": Documents((one,), {}),
    }
    assert judged("edge_cases.any_query_keeps_recipes_valid", **have).verdict is Verdict.NOT_OBSERVED


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


def test_a_common_word_is_in_short_texts_where_records_have_no_titles() -> None:
    headings = ("the billing outage", "the search outage", "on the weekly review")
    records = [{"ref": "outage/review", "heading": h, "body": "outage " * 40} for h in headings]
    assert common_word(records) == "outage"
