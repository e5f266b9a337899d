"""Checks of the threshold, of estimates and of guidance on either side of each edge, on evidence made for it."""

from __future__ import annotations

from typing import Any

import pytest

from lro_conformance.judging.subjects import evidence_of
from lro_conformance.judging.verdicts import Verdict
from lro_conformance.trials.edges import Edge
from lro_conformance.trials.survey import UnmatchedToolCall
from lro_spec.editions import edition
from tests.support.made import Made
from tests.support.made_evidence import NO_EDGES, call, edge, file, judged, probe, seen, survey

PASS, FAIL, WARN, NOT_OBSERVED = Verdict.PASS, Verdict.FAIL, Verdict.WARN, Verdict.NOT_OBSERVED
ONE: list[Any] = [{}]
NONE: list[Any] = []


class Shown(Made):
    """A call that failed, shown by a text."""

    def __init__(self, text: str, **more: Any) -> None:
        super().__init__(**vars(call(outcome="error", **more)), shown=text)


@evidence_of.register
def _(one: Shown) -> str:
    return one.shown


class TestScope:
    def judged(self, *calls: Made, operation: str = "recall", tools: tuple[str, ...] = (), **other: Any) -> Any:
        made = {
            "operations": {"recall": Made(details=())},
            "tools": [{"name": name} for name in tools],
            "whole": {(c.operation, str(n)): c for n, c in enumerate(calls)},
            "calls": list(calls),
            "absent": (),
            "adjustable": True,
            "effective": ["recall"],
            "is_small": lambda call: False,
            "queries": (),
            "lowest": 1,
            "reason_not_set": lambda name: f"no way to set {name}",
            **other,
        }
        return judged(f"threshold.{operation}_is_offloaded", survey=Made(**made))

    def test_an_operation_that_is_listed_but_not_in_the_profile_is_not_observed(self) -> None:
        found = self.judged(operation="search", tools=("store", "search_memories"))
        assert found.verdict is NOT_OBSERVED
        assert "the server lists search_memories" in found.observed
        assert self.judged(operation="search", tools=("store",)).verdict is Verdict.NOT_APPLICABLE

    @pytest.mark.parametrize("operation", ["search", "recall"])
    def test_a_tool_that_returns_memories_and_never_offloads_may_perform_the_operation(self, operation: str) -> None:
        def asked(*ids: str, offloaded: bool = False, seems: str = operation, absent: tuple[str, ...] = ()) -> Any:
            query = UnmatchedToolCall("ask", ids, offloaded, seems)
            other = call(operation="inject")
            known = {"operations": {"inject": Made(details=())}, "queries": (query,), "absent": absent}
            return self.judged(other, operation=operation, **known)

        found = asked("a", "b")
        assert found.verdict is NOT_OBSERVED
        assert found.observed.startswith("ask returns memories inline")
        assert f"write {operation}: null" in found.observed
        assert asked("a", offloaded=True).verdict is Verdict.NOT_APPLICABLE
        assert asked("z").verdict is Verdict.NOT_APPLICABLE
        assert asked("a", seems="inject").verdict is Verdict.NOT_APPLICABLE
        assert asked("a", absent=(operation,)).verdict is Verdict.NOT_APPLICABLE

    def test_without_a_setting_something_has_to_be_offloaded(self) -> None:
        inline = call(outcome="inline", records=ONE)
        unseen = self.judged(inline, adjustable=False)
        assert unseen.verdict is NOT_OBSERVED
        assert unseen.observed == "no way to set threshold_tokens, and no result was above it"
        assert seen(self.judged(call(), adjustable=False)) == (PASS, 1)
        assert self.judged(inline, call(), adjustable=False).verdict is FAIL
        assert seen(self.judged(inline, call(), adjustable=False, effective=[])) == (PASS, 1)
        assert self.judged(inline, effective=[]).verdict is FAIL

    @pytest.mark.parametrize(
        ("records", "text", "verdict"),
        [
            (ONE, "", FAIL),
            (None, "x" * 201, FAIL),
            (None, "x" * 200, NOT_OBSERVED),  # as words for nothing found may be
            (None, "x", NOT_OBSERVED),
            (None, "", NOT_OBSERVED),
            (NONE, "x", NOT_OBSERVED),
            (NONE, "", NOT_OBSERVED),
        ],
    )
    def test_only_what_holds_something_had_to_be_offloaded(self, records: Any, text: str, verdict: Verdict) -> None:
        assert self.judged(call(outcome="inline", records=records, text=text)).verdict is verdict

    def test_what_may_lawfully_be_inline_is_not_held_against_it(self) -> None:
        small, large = (call(outcome="inline", records=ONE, n=n) for n in range(2))
        found = self.judged(small, large, is_small=lambda call: call.n == 0)
        assert (found.verdict, found.subjects) == (FAIL, 1)
        assert self.judged(small, is_small=lambda call: True).verdict is NOT_OBSERVED

    def test_what_another_operation_returns_is_its_own_affair(self) -> None:
        assert seen(self.judged(call(outcome="inline", records=ONE, operation="inject"), call())) == (PASS, 1)

    def test_a_short_text_that_tells_of_a_memory_holds_something(self) -> None:
        listed = call(outcome="inline", file_records=[], records=[{"title": "Rotate the keys"}], operation="search")
        text = call(outcome="inline", records=None, text="Rotate the keys")
        assert self.judged(text, calls=[listed]).verdict is FAIL
        assert self.judged(text, calls=[call(file_records=listed.records)]).verdict is FAIL

    def test_a_descriptor_counts_whatever_stands_beside_it(self) -> None:
        assert seen(self.judged(call(text=""))) == (PASS, 1)

    def test_where_nothing_came_the_end_of_an_error_is_told(self) -> None:
        other, late, early = (Shown("another's", operation=name) for name in ("search", "zoo", "inject"))
        failed = Shown("first\nsecond\n" + "x" * 299 + "yz")
        found = self.judged(other, early, late, call(outcome="offloaded", operation="x"), failed)
        assert found.observed.endswith("no call of recall returned results: " + "x" * 299 + "y")
        assert self.judged(other).observed.endswith("no call of recall returned results")


class TestDefault:
    """The default threshold of lro-6400, seen from both sides."""

    def judged(self, offloaded: int, inline: int | None = None, *, volatile: bool = False, **other: Any) -> Any:
        small = call(outcome="inline", records=ONE, **other)
        bracket = Made(
            operation="recall",
            detail=None,
            inline=small,
            inline_estimate=inline,
            offloaded=call(estimate=offloaded),
        )
        return judged(
            "threshold.default_threshold",
            survey=survey(
                volatile_operations={"recall"} if volatile else set(), operations={"recall": Made(details=())}
            ),
            edges=NO_EDGES,
            defaults=Made(brackets=(bracket,), enabled=(), preset={}),
            text=edition("lro-6400"),
        )

    @pytest.mark.parametrize(
        ("offloaded", "inline", "volatile", "verdict"),
        [
            (6401, 6400, False, PASS),
            (6400, 6400, False, FAIL),
            (6401, 6401, False, FAIL),
            (9000, 4500, False, PASS),
            (9000, 4499, False, NOT_OBSERVED),  # it may be anything in between
            (6096, 6400, True, PASS),
            (6095, 6400, True, FAIL),
            (7000, 6736, True, PASS),
            (7000, 6737, True, FAIL),
        ],
    )
    def test_lies_between_a_result_that_is_offloaded_and_one_that_is_not(
        self, offloaded: int, inline: int, volatile: bool, verdict: Verdict
    ) -> None:
        assert self.judged(offloaded, inline, volatile=volatile).verdict is verdict

    def test_that_is_far_from_both_results_is_not_observed_and_both_are_named(self) -> None:
        observed = self.judged(158_698, 3541).observed
        start = (
            "the largest inline result has 3,541 tokens and the smallest offloaded result has 158,698, too far apart"
        )
        assert observed.startswith(start)

    @pytest.mark.parametrize(("size", "verdict"), [(42_666, PASS), (42_667, FAIL), (1000, PASS), (100_000, FAIL)])
    def test_of_a_result_without_an_estimate_is_judged_by_its_characters(self, size: int, verdict: Verdict) -> None:
        assert self.judged(6401, text="x" * size).verdict is verdict

    @pytest.mark.parametrize(
        ("inline", "offloaded", "verdict"),
        [(6400, None, NOT_OBSERVED), (6401, None, FAIL), (None, 6401, NOT_OBSERVED), (None, 6400, FAIL)],
    )
    def test_is_not_proved_by_one_side(self, inline: int | None, offloaded: int | None, verdict: Verdict) -> None:
        bracket = Made(
            operation="recall",
            detail=None,
            inline=None if inline is None else call(outcome="inline", records=ONE),
            inline_estimate=inline,
            offloaded=None if offloaded is None else call(estimate=offloaded),
        )
        found = judged(
            "threshold.default_threshold",
            survey=survey(volatile_operations=set(), operations={"recall": Made(details=())}),
            edges=NO_EDGES,
            defaults=Made(brackets=(bracket,), enabled=(), preset={}),
            text=edition("lro-6400"),
        )
        assert found.verdict is verdict


class TestContradiction:
    @pytest.mark.parametrize(
        ("inline", "offloaded", "verdict"),
        [(1100, 1000, PASS), (1101, 1000, FAIL), (900, 1000, PASS), (None, 1000, PASS), (5, 4, FAIL)],
    )
    def test_a_result_a_tenth_larger_than_one_that_is_offloaded_is_offloaded(
        self, inline: int | None, offloaded: int, verdict: Verdict
    ) -> None:
        shown = call(outcome="inline")
        one = Made(operation="recall", detail=None, inline=shown, inline_estimate=inline, offloaded=None)
        other = Made(
            operation="search", detail=None, inline=None, inline_estimate=None, offloaded=call(estimate=offloaded)
        )
        found = judged(
            "threshold.one_threshold_for_all",
            survey=survey(operations={"recall": Made(details=("light", "full"))}),
            edges=Made(edges={"recall": edge()}, reason=None, far=(probe(call(), 9, 8),)),
            defaults=Made(brackets=(one, other), enabled=(), preset={}),
        )
        assert found.verdict is verdict


class TestFar:
    @pytest.mark.parametrize(
        ("estimate", "threshold", "outcome", "found"),
        [
            (9, 8, "offloaded", (PASS, 1)),
            (9, 9, "inline", (PASS, 1)),
            (9, 9, "offloaded", (FAIL, 1)),
            (9, 8, "inline", (FAIL, 1)),
            (8, 9, "inline", (PASS, 1)),
            (9, 8, "error", (NOT_OBSERVED, 0)),
            (9, 9, "no answer", (NOT_OBSERVED, 0)),
        ],
    )
    def test_other_calls_are_decided_by_the_same_threshold(
        self, estimate: int, threshold: int, outcome: str, found: tuple[Verdict, int]
    ) -> None:
        edges = Made(edges={"recall": edge()}, reason=None, far=(probe(call(outcome=outcome), estimate, threshold),))
        result = judged(
            "threshold.one_threshold_for_all",
            survey=survey(operations={"recall": Made(details=("light", "full"))}),
            edges=edges,
            defaults=Made(brackets=()),
        )
        assert seen(result) == found

    def test_one_operation_without_levels_has_nothing_to_compare(self) -> None:
        made = survey(operations={"recall": Made(details=("light",))})
        edges = Made(edges={"recall": edge()}, reason=None, far=())
        found = judged("threshold.one_threshold_for_all", survey=made, edges=edges, defaults=Made(brackets=()))
        assert found.verdict is Verdict.NOT_APPLICABLE

    def test_an_error_hides_none_of_the_others(self) -> None:
        far = (probe(call(outcome="error"), 9, 8), probe(call(outcome="inline"), 9, 8))
        result = judged(
            "threshold.one_threshold_for_all",
            survey=survey(operations={"recall": Made(details=("light", "full"))}),
            edges=Made(edges={"recall": edge()}, reason=None, far=far),
            defaults=Made(brackets=()),
        )
        assert seen(result) == (FAIL, 1)


class TestTotal:
    def judged(self, *edges: Edge) -> Any:
        made = Made(edges={e.operation: e for e in edges}, reason=None)
        return judged("threshold.total_is_compared", survey=survey(), edges=made)

    @pytest.mark.parametrize(("largest", "found"), [(98, (PASS, 1)), (99, (NOT_OBSERVED, 0)), (120, (NOT_OBSERVED, 0))])
    def test_counts_where_no_record_exceeds_the_threshold_alone(self, largest: int, found: tuple[Verdict, int]) -> None:
        assert seen(self.judged(edge(largest=largest))) == found

    def test_is_told_with_the_threshold_that_is_nearest(self) -> None:
        half, low = probe(call(outcome="inline"), 100, 50), probe(call(), 100, 5)
        found = self.judged(edge(below="inline", at_half=half, low=low))
        assert found.verdict is FAIL
        assert (
            "a result of 100 tokens whose records have at most 10 each, is offloaded at threshold 99" in found.expected
        )

    def test_of_one_operation_hides_none_of_the_others(self) -> None:
        one, other = edge(largest=99), edge(operation="search", largest=10)
        inject = edge(operation="inject", largest=10)
        assert seen(self.judged(one, inject, other)) == (PASS, 2)


class TestSizes:
    def few(self, single: Any, tiny: Any, **other: Any) -> Any:
        offloaded = [call(), call(operation="search")]
        made = survey(*offloaded, single={"search": single}, tiny={"search": tiny}, **other)
        return judged("threshold.one_record_is_offloaded", survey=made)

    def test_few_records_are_judged_for_each_operation(self) -> None:
        """Also for one that offloads larger results only: another operation shows that the threshold takes effect."""
        nothing, inline = (call(operation="search", outcome="inline", records=r) for r in (NONE, ONE))
        offloaded = call(operation="search")
        assert seen(self.few(inline, offloaded)) == (FAIL, 2)
        assert seen(self.few(inline, inline)) == (FAIL, 2)
        assert seen(self.few(nothing, offloaded)) == (PASS, 1)
        assert self.few(nothing, nothing).verdict is NOT_OBSERVED
        assert self.few(inline, inline, effective=[]).verdict is NOT_OBSERVED, "the setting has no effect"
        assert self.few(inline, inline, adjustable=False).verdict is NOT_OBSERVED, "the default is in force"
        assert self.few(inline, inline, is_small=lambda call: True).verdict is NOT_OBSERVED
        for length, verdict in ((201, FAIL), (200, NOT_OBSERVED)):  # a short text may say that nothing was found
            text = call(operation="search", outcome="inline", records=None, text="x" * length)
            assert self.few(text, text).verdict is verdict

    @pytest.mark.parametrize(
        ("outcome", "records", "verdict"),
        [
            ("inline", ONE, PASS),
            ("inline", NONE, NOT_OBSERVED),
            ("inline", [*ONE, *ONE], NOT_OBSERVED),
            ("offloaded", None, FAIL),
        ],
    )
    def test_a_large_memory_has_to_be_alone(self, outcome: str, records: Any, verdict: Verdict) -> None:
        seeded = Made(large=call(outcome=outcome, records=records), large_estimate=10)
        found = judged("threshold.large_memory_below_threshold_stays_inline", survey=survey(), seeded=seeded)
        assert found.verdict is verdict
        if verdict is FAIL:
            assert found.expected == "one memory of 10 tokens at threshold 20 is returned inline"

    @pytest.mark.parametrize(
        ("length", "outcome", "verdict"),
        [
            (1334, "offloaded", PASS),
            (1334, "inline", FAIL),
            (1333, "offloaded", NOT_OBSERVED),
            (10_000, "inline", FAIL),
        ],
    )
    def test_a_huge_memory_is_surely_above_the_threshold(self, length: int, outcome: str, verdict: Verdict) -> None:
        from lro_conformance.capture.corpus import OTHER_WORD

        text = OTHER_WORD + "x" * (length - len(OTHER_WORD))
        huge = call(outcome=outcome, file_records=[{"content": "no"}, {"content": text}, {"content": OTHER_WORD}])
        seeded = Made(huge=huge, large_estimate=100, files=[], large_filed=None)
        assert judged("edge_cases.huge_memory_is_offloaded", survey=survey(), seeded=seeded).verdict is verdict

    @pytest.mark.parametrize(
        ("outcome", "lowest", "small", "verdict"),
        [
            ("inline", 64, False, FAIL),
            ("inline", 64, True, NOT_OBSERVED),
            ("inline", 2, False, FAIL),
            ("inline", 1, False, NOT_OBSERVED),
            ("offloaded", 64, False, NOT_OBSERVED),
        ],
    )
    def test_a_large_memory_tells_where_a_small_one_does_not(
        self, outcome: str, lowest: int, small: bool, verdict: Verdict
    ) -> None:
        from lro_conformance.capture.corpus import LARGE_WORD

        alone = call(
            outcome=outcome, records=[{"content": LARGE_WORD}], file_records=[{"content": LARGE_WORD}], text="x" * 10
        )
        made = survey(lowest=lowest, is_small=lambda call: small)
        seeded = Made(huge=None, large_estimate=0, files=[], large_filed=alone)
        found = judged("edge_cases.huge_memory_is_offloaded", survey=made, seeded=seeded)
        assert found.verdict is verdict
        if verdict is FAIL:
            assert found.expected == f"one memory of 10 characters is offloaded at threshold {lowest}"
        none = call(outcome=outcome, records=[{"content": "other"}], file_records=[])
        seeded = Made(huge=None, large_estimate=0, files=[], large_filed=none)
        assert judged("edge_cases.huge_memory_is_offloaded", survey=made, seeded=seeded).verdict is NOT_OBSERVED

    @pytest.mark.parametrize(
        ("estimate", "share", "verdict"),
        [(30, 100, PASS), (29, 100, WARN), (60, 100, PASS), (30, 40, PASS), (29, 40, WARN), (1, 39, NOT_OBSERVED)],
    )
    def test_a_wide_text_weighs_more(self, estimate: int, share: int, verdict: Verdict) -> None:
        text = "漢" * share + "x" * (100 - share)
        lines = [Made(raw=text.encode())]
        wide = call(estimate=estimate, file=file(record_lines=lines))
        other = call(estimate=2, file_records=[], file=file(scripts=(0, 0, 10_000)))
        found = judged("threshold.wide_scripts_weigh_more", survey=survey(other), seeded=Made(wide=(wide,)))
        assert found.verdict in (verdict, FAIL if verdict is WARN else verdict)


class TestGuidance:
    def judged(self, guidance: str, check: str = "guidance_is_true", **other: Any) -> Any:
        summary = {"count": 1000, "estimated_tokens": 20_000, "detail": "light", **other}
        descriptor: dict[str, Any] = {
            "guidance": guidance,
            "file_path": "/out/a.jsonl",
            "jq_recipes": ONE * 3,
            "summary": summary,
        }
        one = call(descriptor=descriptor, summary=summary, header={}, file_records=[])
        return judged(f"guidance.{check}", survey=survey(one, tools=[]), text=edition("lro-6400"))

    @pytest.mark.parametrize(("detail", "found"), [("light", (PASS, 1)), ("full", (FAIL, 1)), ("", (NOT_OBSERVED, 0)),
                                                   (3, (NOT_OBSERVED, 0))])  # fmt: skip
    def test_names_the_level(self, detail: Any, found: tuple[Verdict, int]) -> None:
        result = self.judged("a LIGHT one", "guidance_names_the_detail", detail=detail)
        assert seen(result) in (found, (WARN, found[1]) if found[0] is FAIL else found)
