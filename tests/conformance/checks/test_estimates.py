"""Checks of estimates, and of the default threshold where several results tell of it, on evidence made for it."""

from __future__ import annotations

from typing import Any

import pytest

from lro_conformance.capture.estimate import tolerated_range
from lro_conformance.judging.verdicts import Verdict
from tests.support.made import Made
from tests.support.made_evidence import NO_EDGES, call, edge, file, judged, seen, survey

PASS, FAIL, WARN, NOT_OBSERVED = Verdict.PASS, Verdict.FAIL, Verdict.WARN, Verdict.NOT_OBSERVED
ALL: Any = {name: Made(details=()) for name in ("recall", "search", "inject")}


def weighed(estimate: Any, characters: int = 4000, id: str = "a", **other: Any) -> Any:
    """A file of so many characters, none of them wide, and its E."""
    return call(
        estimate=estimate if type(estimate) is int else None,
        header={"estimated_tokens": estimate, "detail": "light"},
        file_records=[{"id": id}],
        file=file(characters=characters, scripts=(0, 0, characters)),
        **other,
    )


def surveyed(*files: Any, whole: Any = None) -> Any:
    return survey(
        *files, operations=ALL, volatile_operations=set(), repeats={}, single={}, budgets=(), whole=whole or {}
    )


def bracket(inline: int | None, offloaded: int | None) -> Made:
    """A result that stayed inline by default, and a larger one that did not."""
    return Made(
        operation="recall",
        detail=None,
        inline=None if inline is None else call(outcome="inline", records=[{}]),
        inline_estimate=inline,
        offloaded=None if offloaded is None else call(estimate=offloaded),
    )


class TestDefault:
    def judged(self, *brackets: Made, files: tuple[Any, ...] = (), edges: Any = NO_EDGES) -> Any:
        defaults = Made(brackets=brackets, enabled=(), preset={})
        return judged("threshold.default_threshold", survey=surveyed(*files), edges=edges, defaults=defaults)

    def test_is_a_twentieth_vaguer_where_estimates_are_rounded(self) -> None:
        rounded = [weighed(10 * n, 40 * n, id=str(n)) for n in range(1, 7)]
        assert self.judged(bracket(6400, 6100)).verdict is FAIL
        assert seen(self.judged(bracket(6400, 6100), files=tuple(rounded))) == (PASS, 2)
        assert self.judged(bracket(6400, 6095), files=tuple(rounded)).verdict is FAIL
        assert self.judged(bracket(6736, 6900), files=tuple(rounded)).verdict is PASS

    def test_cannot_be_told_by_an_estimate_that_is_not_steady(self) -> None:
        assert seen(self.judged(bracket(6400, 6401), files=(weighed(100), weighed(200)))) == (NOT_OBSERVED, 0)
        assert seen(self.judged(bracket(6400, 6401), files=(weighed(100), weighed(100)))) == (PASS, 2)

    def test_nor_by_one_that_is_not_compared(self) -> None:
        astray = edge(at="offloaded", below="offloaded")
        rounded = tuple(weighed(10 * n, 40 * n, id=str(n)) for n in range(1, 7))
        edges = Made(edges={"recall": astray}, reason=None, far=())
        assert seen(self.judged(bracket(6400, 6401), files=rounded, edges=edges)) == (NOT_OBSERVED, 0)

    def test_of_two_that_cross_it_is_told_by_these_alone(self) -> None:
        never = bracket(6401, None)
        assert self.judged(bracket(6400, 6401), never).verdict is FAIL
        assert seen(self.judged(bracket(6400, 6401), bracket(6000, 6500), never)) == (PASS, 4)
        three = (bracket(6400, 6401), bracket(6000, 6500), bracket(6100, 6600))
        assert seen(self.judged(*three, never)) == (PASS, 6)

    def test_of_one_that_crosses_all_are_looked_at(self) -> None:
        assert seen(self.judged(bracket(6400, 6401), bracket(6000, None))) == (PASS, 3)


class TestHonesty:
    LOW, HIGH = tolerated_range(weighed(1))

    def judged(self, *files: Any, whole: Any = None) -> Any:
        return judged("threshold.estimate_is_honest", survey=surveyed(*files, whole=whole))

    def test_bounds_are_those_of_the_clause(self) -> None:
        assert (self.LOW, self.HIGH) == (536, 1865)  # 0.6 and 1.8 times 1000, and 64 tokens either way


class TestWideScripts:
    def judged(self, *texts: tuple[str, int]) -> Any:
        wide = [call(estimate=e, file=file(record_lines=[Made(raw=t.encode())])) for t, e in texts]
        return judged("threshold.wide_scripts_weigh_more", survey=surveyed(), seeded=Made(wide=tuple(wide)))

    @pytest.mark.parametrize(("estimate", "verdict"), [(1000, PASS), (1, NOT_OBSERVED)])
    def test_is_judged_where_other_texts_are_weighed_honestly(self, estimate: int, verdict: Verdict) -> None:
        wide = call(estimate=30, file=file(record_lines=[Made(raw=("漢" * 100).encode())]))
        made = surveyed(weighed(estimate))
        found = judged("threshold.wide_scripts_weigh_more", survey=made, seeded=Made(wide=(wide,)))
        assert found.verdict is verdict

    def test_one_text_hides_none_of_the_others(self) -> None:
        assert seen(self.judged(("plain" * 9, 1), ("漢" * 100, 30))) == (PASS, 1)
        assert self.judged(("plain" * 9, 1), ("漢" * 100, 29)).verdict is WARN

    @pytest.mark.parametrize(("length", "estimate", "verdict"), [(99, 29, WARN), (99, 30, PASS), (0, 1, NOT_OBSERVED)])
    def test_is_judged_to_the_token(self, length: int, estimate: int, verdict: Verdict) -> None:
        result = self.judged(("漢" * length, estimate))
        assert result.verdict is verdict
        assert verdict is not WARN or result.expected.startswith("an estimate of at least 30 tokens")


@pytest.mark.parametrize(
    ("small", "large", "found"),
    [
        (20, 22, (NOT_OBSERVED, 0)),  # a tenth exactly
        (20, 23, (FAIL, 1)),
        (1000, 1050, (NOT_OBSERVED, 0)),
        (1000, 1200, (FAIL, 1)),
    ],
)
def test_an_estimate_follows_levels_that_differ_by_more_than_a_tenth(
    small: int, large: int, found: tuple[Verdict, int]
) -> None:
    calls = [weighed(10, n, detail=d) for n, d in ((small, "light"), (large, "full"))]
    made = surveyed(*calls, whole={("recall", None): calls[0], ("recall", "full"): calls[1]})
    made.operations = {"recall": Made(details=("light", "full"))}
    assert seen(judged("threshold.estimate_follows_detail", survey=made)) == found


def test_defaults_that_contradict_each_other_need_no_other_evidence() -> None:
    brackets = (bracket(8000, None), bracket(None, 7000))
    found = judged(
        "threshold.one_threshold_for_all",
        survey=surveyed(),
        edges=NO_EDGES,
        defaults=Made(brackets=brackets, enabled=(), preset={}),
    )
    assert seen(found) == (FAIL, 1)


@pytest.mark.parametrize(("text", "verdict"), [("No memories found.", NOT_OBSERVED), ("x" * 201, FAIL)])
def test_while_no_memory_is_known_few_words_may_say_that_nothing_was_found(text: str, verdict: Verdict) -> None:
    one = call(outcome="inline", records=None, text=text, file_records=[])
    made = survey(operations=ALL, tools=[], whole={("recall", None): one}, calls=[one], adjustable=True)
    assert judged("threshold.recall_is_offloaded", survey=made).verdict is verdict
