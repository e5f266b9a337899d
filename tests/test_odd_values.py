"""Values of a type that nobody expects, where a server may put any."""

from __future__ import annotations

from types import SimpleNamespace as Made
from typing import Any, cast

import pytest

from lro_conformance import notes
from lro_conformance.bench import Bench
from lro_conformance.checks import test_properties
from lro_conformance.judge import NotObserved
from lro_conformance.verdicts import Verdict
from tests.test_checks import judged, survey
from tests.test_more_checks import offloaded
from tests.words.judging import inner


@pytest.mark.parametrize("result", [["a"], "text", 0, None, True])
def test_a_store_that_answers_with_anything_but_an_object_took_nothing(result: Any) -> None:
    bench = cast("Any", Made(store=lambda _: Made(result=result)))
    assert Bench.stored(bench, {}) is False


@pytest.mark.parametrize(("result", "taken"), [({}, True), ({"isError": True}, False), ({"isError": "no"}, True)])
def test_a_store_that_answers_with_an_object_says_whether_it_took_it(result: Any, taken: bool) -> None:
    assert Bench.stored(cast("Any", Made(store=lambda _: Made(result=result))), {}) is taken


@pytest.mark.parametrize("name", [{}, [], 1, None])
def test_tools_may_have_names_that_are_none(name: Any) -> None:
    tools = [{"name": name}, {"name": "recall", "execution": {"taskSupport": "optional"}}]
    known = Made(operations={"recall": Made(tool="recall")}, tools=tools, messages=())
    assert list(inner(notes, "_offered")(known)) == [
        "recall may be called as MCP tasks: they were called directly (LRO-SCOPE-07)"
    ]


def test_a_recipe_that_a_limit_ended_is_not_tried_on_any_memories() -> None:
    tried = Made(standard=Made(requirement="LRO-REC-01"), output=Made(problem="timed out"))
    stores = Made(bench=Made(lab=Made(profile=Made(seed=Made(tool="remember")))))
    with pytest.raises(NotObserved, match=r"^a limit ended it over the server's own memories: timed out$"):
        inner(test_properties, "_any_corpus")("LRO-REC-01", None, stores, Made(tries=[tried]), None, None)


HUGE = 10**400


@pytest.mark.parametrize(
    ("said", "scores", "verdict"),
    [
        ([0.5, HUGE], [0.5, HUGE], Verdict.PASS),
        ([0.5, 1.0], [0.5, HUGE], Verdict.FAIL),
        ([-HUGE, 0.5], [0.25, 0.5], Verdict.FAIL),
        ([0, 10**20], [0, 10**20 + 1], Verdict.FAIL),
        ([0, 2.005], [0.001, 2], Verdict.PASS),
    ],
)
def test_scores_may_be_beyond_what_a_double_holds(said: Any, scores: list[Any], verdict: Verdict) -> None:
    one = offloaded(filed=[{"score": score} for score in scores])
    one.summary = {"score_range": said}
    assert judged("descriptor.score_range", survey=survey(one)).verdict is verdict
