"""Values of a type that nobody expects, where a server may put any."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from types import SimpleNamespace as Made
from typing import Any, cast

import pytest

from lro_conformance.engine import notes
from lro_conformance.lab.bench import Bench
from lro_spec.editions import EDITIONS
from lro_spec.validation import follow
from lro_spec.validation.linked import Following
from tests.support.offloads import made, rules
from tests.support.private import inner


@pytest.mark.parametrize("result", [["a"], "text", 0, None, True])
def test_a_store_that_answers_with_anything_but_an_object_took_nothing(result: Any) -> None:
    bench = cast("Any", Made(store=lambda _: Made(result=result)))
    assert Bench.try_to_store(bench, {}) is False


@pytest.mark.parametrize(("result", "taken"), [({}, True), ({"isError": True}, False), ({"isError": "no"}, True)])
def test_a_store_that_answers_with_an_object_says_whether_it_took_it(result: Any, taken: bool) -> None:
    assert Bench.try_to_store(cast("Any", Made(store=lambda _: Made(result=result))), {}) is taken


@pytest.mark.parametrize("name", [{}, [], 1, None])
def test_tools_may_have_names_that_are_none(name: Any) -> None:
    tools = [{"name": name}, {"name": "recall", "execution": {"taskSupport": "optional"}}]
    known = Made(operations={"recall": Made(tool="recall", possible_details={})}, tools=tools, messages=())
    (found,) = inner(notes, "_unused_features")(known)
    assert found.startswith("recall may be called as MCP tasks, but the server does not declare the capability")
    assert found.endswith(": called only without a task (LRO-SCOPE-07)")


HUGE = 10**400


@pytest.mark.parametrize(
    ("said", "scores", "found"),
    [
        ([0.5, HUGE], [0.5, HUGE], False),
        ([0.5, 1.0], [0.5, HUGE], False),  # the line is no JSON that all readers take alike: LRO-FILE-01
        ([0, 10**20], [0, 10**20 + 1], False),  # the same double
        ([0, 2.005], [0.001, 2], False),
        ([0, 2.02], [0.001, 2], True),
    ],
)
def test_scores_may_be_beyond_what_a_double_holds(
    tmp_path: Path, said: list[Any], scores: list[Any], found: bool
) -> None:
    def change(descriptor: dict[str, Any], lines: list[dict[str, Any]]) -> None:
        descriptor["summary"]["score_range"] = said
        for line, score in zip(lines[1:], scores, strict=True):
            line["score"] = score

    assert ("LRO-DESC-07" in rules(list(follow(made(tmp_path, change, count=len(scores)))))) is found


ODD: tuple[Any, ...] = (None, 0, -1, 1.5, True, "", "x", [], [None], ["a", "a"], {}, {"a": None}, [[1]], HUGE)


@pytest.mark.parametrize("edition", EDITIONS)
def test_no_value_of_a_descriptor_makes_validation_raise(tmp_path: Path, edition: str) -> None:
    whole = made(tmp_path)
    data = Path(whole["file_path"]).read_bytes()
    for place in places(whole):
        for value in ODD:
            changed = deepcopy(whole)
            holder: Any = changed
            for key in place[:-1]:
                holder = holder[key]
            holder[place[-1]] = value
            for finding in Following(changed, edition=edition, content=data, recipes=False).findings():
                assert finding.rule


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path to each value in a document, of lists only to the first entry."""
    if path:
        yield path
    entries = value.items() if isinstance(value, dict) else enumerate(value[:1]) if isinstance(value, list) else ()
    for key, one in entries:
        yield from places(one, (*path, key))
