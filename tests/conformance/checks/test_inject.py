"""Checks of inject: its text below the threshold, and its file whatever the budget, on evidence made for it."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest

from lro_conformance.judging.verdicts import Verdict
from tests.support.made import Made
from tests.support.made_evidence import call, file, judged, seen, survey

PASS, FAIL, NOT_OBSERVED = Verdict.PASS, Verdict.FAIL, Verdict.NOT_OBSERVED
Found = tuple[Verdict, int]


class TestFormatted:
    """What inject returns below the threshold."""

    ID: ClassVar[Any] = {"id": "m1"}
    WORDS: ClassVar[Any] = {"id": "m1", "title": "about the harbour"}

    def judged(self, *calls: Made, known: Any = (), others: Any = (), unstable: bool = False) -> Any:
        files = [call(operation="inject", arguments={"query": "*"}, file_records=list(known))] if known else []
        files += [call(operation="search", arguments={"query": "*"}, file_records=list(others))] if others else []
        made = survey(*files, operations={"inject": Made(details=())})
        return judged(
            "inject.text_inline_below_the_threshold",
            survey=made,
            inline=Made(calls=calls),
            comparison=Made(unstable_operations={"inject"} if unstable else set()),
        )

    def shown(self, text: str, *, outcome: str = "inline", **other: Any) -> Any:
        return call(operation="inject", arguments={"query": "*"}, outcome=outcome, text=text, **other)

    def test_tells_of_a_memory(self) -> None:
        assert seen(self.judged(self.shown("about the harbour"), known=[self.WORDS])) == (PASS, 1)
        assert seen(self.judged(self.shown("about nothing"), known=[self.WORDS])) == (FAIL, 1)
        assert seen(self.judged(self.shown("x", records=[{"id": "z"}]), known=[])) == (PASS, 1)

    def test_any_memory_counts_where_each_process_finds_others(self) -> None:
        other = {"id": "m2", "title": "about the lighthouse"}
        shown = self.shown("about the lighthouse")
        assert seen(self.judged(shown, known=[self.WORDS], others=[other])) == (FAIL, 1)
        assert seen(self.judged(shown, known=[self.WORDS], others=[other], unstable=True)) == (PASS, 1)
        assert seen(self.judged(shown, known=[self.WORDS], unstable=True)) == (FAIL, 1)

    def test_where_no_words_are_known_a_text_cannot_be_judged(self) -> None:
        assert seen(self.judged(self.shown("about nothing"), known=[self.ID])) == (NOT_OBSERVED, 0)
        assert seen(self.judged(self.shown("about nothing"))) == (NOT_OBSERVED, 0)

    def test_but_an_error_can(self) -> None:
        result = self.judged(self.shown("no", outcome="error"), known=[self.ID])
        assert (*seen(result), result.observed) == (FAIL, 1, "an error")
        assert seen(self.judged(self.shown("no", outcome="error"))) == (NOT_OBSERVED, 0)

    def test_one_call_hides_none_of_the_others(self) -> None:
        other = self.shown("about nothing")
        other.arguments = {"query": "another"}
        assert seen(self.judged(other, self.shown("about the harbour"), known=[self.WORDS])) == (PASS, 1)


class TestBudgets:
    """The file of inject with a small and a large budget, and without any."""

    def judged(
        self, small: str, large: str, plain: str | None = None, *, first: bool = False, unlimited: tuple[str, ...] = ()
    ) -> Any:
        def of(ids: str, **other: Any) -> Made:
            return call(operation="inject", file_records=[{"id": i} for i in ids], **other)

        whole: dict[Any, Any] = {("inject", None): of(plain)} if plain is not None else {}
        if first:
            whole = {("inject", "light"): of("abc"), ("recall", None): call(estimate=1), **whole}
        budgets = tuple(map(of, (small, large, *unlimited)))
        made = survey(whole=whole, budgets=budgets, operations={"inject": Made(details=())}, repeats={}, single={})
        return judged("inject.file_holds_the_set_before_budgeting", survey=made)

    @pytest.mark.parametrize(
        ("small", "large", "verdict"),
        [("abc", "abc", PASS), ("ab", "abc", FAIL), ("abc", "ab", FAIL), ("", "abc", FAIL)],
    )
    def test_holds_the_same_whatever_the_budget(self, small: str, large: str, verdict: Verdict) -> None:
        assert self.judged(small, large).verdict is verdict

    def test_holds_the_same_without_a_limit_too(self) -> None:
        assert seen(self.judged("abc", "abc", "abc", unlimited=("ab", "ab"))) == (PASS, 3)
        assert seen(self.judged("abc", "abc", "abc", unlimited=("a", "abcd"))) == (FAIL, 3)

    @pytest.mark.parametrize(
        ("plain", "found"),
        [("abc", (PASS, 2)), ("ab", (FAIL, 2)), ("abcd", (FAIL, 2)), ("", (FAIL, 2)), (None, (PASS, 1))],
    )
    def test_holds_the_same_without_any(self, plain: str | None, found: Found) -> None:
        assert seen(self.judged("abc", "abc", plain)) == found

    def test_where_no_recall_tells_another_level_may(self) -> None:
        """Nothing is recalled at medium detail, which is the default of inject, and five memories at full."""
        short = call(
            operation="inject",
            detail="full",
            file_records=[{"id": "a"}],
            estimate=1000,
            file=file(characters=400, scripts=(0, 0, 400)),
        )
        plain = call(operation="inject", file_records=[{"id": "a"}])
        recall = call(
            detail="full",
            file_records=[{"id": i} for i in "abcde"],
            estimate=1000,
            file=file(characters=4000, scripts=(0, 0, 4000)),
        )
        whole = {("inject", None): plain, ("inject", "full"): short, ("recall", "full"): recall}
        operations = {n: Made(details=("medium", "full")) for n in ("inject", "recall")}
        made = survey(whole=whole, budgets=(), operations=operations, volatile_operations=set())
        result = judged("inject.file_holds_the_set_before_budgeting", survey=made)
        assert (*seen(result), result.observed) == (FAIL, 1, "1 memory, far too few for this E")

    def test_without_anything_to_compare_with_says_so(self) -> None:
        result = self.judged("", "")
        assert result.verdict is NOT_OBSERVED
        assert "takes no token budget" in result.observed
