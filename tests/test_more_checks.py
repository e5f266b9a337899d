"""Checks of descriptors, files, levels and messages at their edges, on evidence made for it."""

from __future__ import annotations

from types import SimpleNamespace as Made
from typing import Any, ClassVar

import pytest

from lro_conformance.checks.test_descriptor import payload_beside
from lro_conformance.verdicts import Verdict
from lro_conformance.wire.process import MODERN_VERSION
from tests.test_checks import call, file, judged, seen, survey

PASS, FAIL, WARN, NOT_OBSERVED = Verdict.PASS, Verdict.FAIL, Verdict.WARN, Verdict.NOT_OBSERVED
Found = tuple[Verdict, int]


def offloaded(*, beside: str = "", result: Any = None, **other: Any) -> Any:
    """A call with a descriptor, found in a text."""
    descriptor: dict[str, Any] = {"summary": {}, "file_path": "/out/a.jsonl", **other.pop("descriptor", {})}
    found = Made(around=beside, where="text", value=descriptor, text_value=descriptor, structured_value=None)
    return call(descriptor=descriptor, summary=descriptor["summary"], found=found, result=result, **other)


class TestSummary:
    @pytest.mark.parametrize(
        ("header", "said", "found"),
        [
            (200, 200, (PASS, 1)),
            (200, 201, (FAIL, 1)),
            (200, 86, (PASS, 1)),
            (200, 85, (FAIL, 1)),  # 101 characters ÷ 2, and 64
            (100, 0, (PASS, 1)),
            (100, -1, (NOT_OBSERVED, 0)),
            (-5, -5, (NOT_OBSERVED, 0)),
            (-1, 0, (FAIL, 1)),
            ("200", 200, (NOT_OBSERVED, 0)),
        ],
    )
    def test_estimate_may_be_less_by_the_cost_of_the_descriptor(self, header: Any, said: Any, found: Found) -> None:
        one = offloaded(header={"estimated_tokens": header}, text="x" * 101)
        one.summary = {"estimated_tokens": said}
        assert seen(judged("descriptor.summary_estimate", survey=survey(one))) == found

    def test_least_estimate_is_told(self) -> None:
        one = offloaded(header={"estimated_tokens": 10})
        one.summary = {"estimated_tokens": 11}
        result = judged("descriptor.summary_estimate", survey=survey(one))
        assert result.expected == "10 (the header's E), or that less the descriptor's own cost (at least 0)"

    @pytest.mark.parametrize(
        ("said", "verdict"),
        [
            ([0.5, 2.5], PASS),
            ([0.495, 2.505], PASS),
            ([0.48, 2.5], FAIL),
            ([0.5, 2.52], FAIL),
            ([0.52, 2.5], FAIL),
            ([0.5, 2.48], FAIL),
        ],
    )
    def test_score_range_may_be_rounded_to_hundredths(self, said: list[float], verdict: Verdict) -> None:
        one = offloaded(filed=[{"score": 0.5}, {"score": 2.5}, {"score": 1}])
        one.summary = {"score_range": said}
        assert judged("descriptor.score_range", survey=survey(one)).verdict is verdict

    @pytest.mark.parametrize(("score", "low", "high"), [(1.0, 0.99, 1.0), (1.0, 1.0, 1.01)])
    def test_score_range_that_is_a_hundredth_off_is_rounded(self, score: float, low: float, high: float) -> None:
        # 0.01 exactly: the scores are chosen so that the difference of the doubles is the double of 0.01
        base = 0.0
        one = offloaded(filed=[{"score": base}])
        one.summary = {"score_range": [base - (score - low and 0.01), base + (high - score and 0.01)]}
        assert judged("descriptor.score_range", survey=survey(one)).verdict is PASS


class TestLineSchema:
    @pytest.mark.parametrize(
        ("descriptor", "observed"),
        [({}, "none"), ({"line_schema": None}, "null"), ({"line_schema": "x"}, '"x"')],
    )
    def test_is_told_as_it_is(self, descriptor: dict[str, Any], observed: str) -> None:
        result = judged("descriptor.there_is_a_line_schema", survey=survey(offloaded(descriptor=descriptor)))
        assert (*seen(result), result.observed) == (FAIL, 1, observed)


class TestPayloadBeside:
    LONG = "0123456789" * 6

    def judged(self, *calls: Made) -> Any:
        return judged("descriptor.no_payload_beside_it", survey=survey(*calls))

    @pytest.mark.parametrize(
        ("length", "known", "beside", "told"),
        [
            (8, 4, 3, False),
            (8, 4, 4, True),
            (7, 4, 4, False),  # so short an id may stand there by chance
            (9, 4, 4, True),
            (8, 16, 4, False),
            (8, 16, 5, True),
            (8, 24, 6, False),
            (8, 24, 7, True),
            (8, 27, 6, False),
            (8, 27, 7, True),
        ],
    )
    def test_ids_of_more_than_a_quarter_of_the_records_are_a_payload(
        self, length: int, known: int, beside: int, told: bool
    ) -> None:
        ids = [f"{n:0{length}}" for n in range(1, known + 1)]
        one = offloaded(filed=[{"id": i} for i in ids], beside=" ".join(ids[:beside]))
        assert payload_beside(one) == (f"the ids of {beside} records stand beside it" if told else None)

    @pytest.mark.parametrize(
        ("text", "beside", "told"),
        [
            (LONG, LONG, True),
            (LONG, LONG[:59], False),
            (LONG + "and more", LONG, True),
            (LONG[:59], LONG, False),
            (LONG[:58], LONG[:58], False),
        ],
    )
    @pytest.mark.parametrize("field", ["content", "title"])
    def test_sixty_characters_of_a_record_are_one(self, field: str, text: str, beside: str, told: bool) -> None:
        one = offloaded(filed=[{"id": "a"}, {"id": "b", field: text}], beside=f"found: {beside}.")
        assert payload_beside(one) == ("the text of record b stands beside it" if told else None)

    @pytest.mark.parametrize(
        ("result", "told"),
        [
            ({"content": [{"type": "text", "text": LONG}]}, False),  # where the descriptor itself stands
            ({"content": [{"type": "text", "text": "", "_meta": {"x": LONG}}]}, True),
            ({"_meta": {"x": [LONG]}}, True),
            ({"structuredContent": {"x": LONG}}, False),
            ({"content": LONG}, False),
        ],
    )
    def test_any_member_may_carry_it(self, result: Any, told: bool) -> None:
        one = offloaded(filed=[{"id": "b", "content": self.LONG}], result=result)
        assert (payload_beside(one) is not None) is told

    def test_a_field_of_the_servers_own_may(self) -> None:
        filed = [{"id": "b", "content": self.LONG}]
        assert payload_beside(offloaded(filed=filed, descriptor={"guidance": self.LONG})) is None
        assert payload_beside(offloaded(filed=filed, descriptor={"preview": self.LONG})) is not None

    def test_one_call_hides_none_of_the_others(self) -> None:
        clean, unfound = offloaded(), offloaded()
        unfound.found = None
        leaking = offloaded(filed=[{"id": "b", "content": self.LONG}], beside=self.LONG)
        inject = offloaded(operation="inject", filed=[{"id": "b", "content": self.LONG}], beside=self.LONG)
        assert seen(self.judged(unfound, clean, inject, leaking)) == (FAIL, 2)
        assert seen(self.judged(unfound, clean, inject)) == (PASS, 1)

    def test_two_that_differ_are_told(self) -> None:
        one = offloaded()
        one.found.where, one.found.structured_value = "both", {"other": 1}
        assert self.judged(one).observed.startswith("two that differ")
        one.found.structured_value = one.found.text_value
        assert self.judged(one).verdict is PASS


class TestCursor:
    def judged(self, result: Any = None, **descriptor: Any) -> Any:
        return judged("descriptor.no_cursor_beside_it", survey=survey(offloaded(result=result, descriptor=descriptor)))

    @pytest.mark.parametrize("name", ["nextCursor", "cursor", "next_page_token", "pageToken", "NEXT_CURSOR"])
    def test_leads_to_a_next_page_by_any_of_these_names(self, name: str) -> None:
        assert self.judged({name: "x"}).observed == f'{name} is "x"'
        assert self.judged(**{name: 7}).observed == f"{name} is 7"

    @pytest.mark.parametrize("value", [None, False, "", 0])
    def test_that_is_empty_leads_nowhere(self, value: object) -> None:
        assert seen(self.judged({"nextCursor": value}, cursor=value)) == (PASS, 1)

    @pytest.mark.parametrize("value", [True, "x", 1, -1, {}, []])
    def test_that_holds_something_leads_somewhere(self, value: object) -> None:
        assert seen(self.judged({"nextCursor": value})) == (FAIL, 1)

    @pytest.mark.parametrize("name", ["token", "TOKEN", "cursors", "my_cursor", "tokens"])
    def test_another_name_means_something_else(self, name: str) -> None:
        assert self.judged({name: "x"}).verdict is PASS

    def test_is_found_wherever_it_stands(self) -> None:
        assert self.judged({"content": [{"type": "text"}, {"_meta": {"cursor": "x"}}]}).verdict is FAIL
        assert self.judged(paging=[{"next": 1}, {"nextCursor": "x"}]).verdict is FAIL

    def test_a_field_of_records_is_none(self) -> None:
        schema = {"properties": {"cursor": {"type": "string"}}}
        assert self.judged({"line_schema": schema}, line_schema=schema).verdict is PASS
        assert self.judged(line_schema=schema, jq_recipes=[{"cursor": "x"}], then={"cursor": "x"}).verdict is FAIL
        assert self.judged({"jq_recipes": [{"cursor": "x"}], "then": {"cursor": "x"}}).verdict is FAIL

    def test_in_a_result_needs_no_descriptor(self) -> None:
        one = offloaded(result={"cursor": "x"})
        one.found = None
        assert seen(judged("descriptor.no_cursor_beside_it", survey=survey(one, offloaded()))) == (FAIL, 2)
        one.result = {}
        assert seen(judged("descriptor.no_cursor_beside_it", survey=survey(one))) == (PASS, 1)


class TestDetail:
    def judged(self, *details: str, offloads: tuple[str | None, ...], other: bool = False) -> Any:
        """Whatever is asked for, the same records come; *other*: another operation minds what is asked for."""
        filed = [{"id": "a", "title": "t"}]
        calls = {("recall", d): call(detail=d, filed=filed, summary={}, header={"detail": "light"}) for d in offloads}
        operations = {"recall": Made(details=details)}
        if other:
            operations["search"] = Made(details=("light", "full"))
            calls |= {
                ("search", d): call(operation="search", detail=d, filed=f, summary={"detail": d}, header={"detail": d})
                for d, f in (("light", filed), ("full", [{"id": "a", "title": "t", "content": "c"}]))
            }
        made = survey(*calls.values(), whole=calls, operations=operations)
        return judged("detail.detail_takes_effect", survey=made)

    @pytest.mark.parametrize(
        ("details", "offloads", "found"),
        [
            (("light", "full"), ("light", "full"), (FAIL, 1)),
            (("light", "medium", "full"), ("light", "medium", "full"), (FAIL, 1)),
            (("light", "full"), ("light",), (NOT_OBSERVED, 0)),
            (("light",), ("light", "full"), (NOT_OBSERVED, 0)),
            (("light", "full"), ("light", None), (NOT_OBSERVED, 0)),
            ((), (), (NOT_OBSERVED, 0)),
        ],
    )
    def test_is_asked_of_two_levels(
        self, details: tuple[str, ...], offloads: tuple[str | None, ...], found: Found
    ) -> None:
        assert seen(self.judged(*details, offloads=offloads)) == found

    def test_of_one_operation_hides_none_of_the_others(self) -> None:
        assert seen(self.judged("light", offloads=("light",), other=True)) == (PASS, 1)


class TestHeaderWithoutMark:
    """Where the text marks no header, it is known by its fields."""

    def judged(self, *values: Any) -> Any:
        lines = [
            Made(number=n, value=v, record=v if isinstance(v, dict) else None, problem=None, raw=b"x")
            for n, v in enumerate(values, 1)
        ]
        made = call(file=file(lines=lines, record_lines=lines[1:]))
        return judged("file.header_is_first_and_only", survey=survey(made), by="lro-paper")

    @pytest.mark.parametrize(
        ("first", "verdict"),
        [
            ({"operation": "recall", "count": 1}, FAIL),
            ({"operation": "recall", "count": 1, "query": "x"}, PASS),
            ({"operation": "recall", "count": 1, "query": "x", "timestamp": "x"}, PASS),
            ({"type": "lro_header"}, PASS),
            ([1], FAIL),
        ],
    )
    def test_has_three_of_its_fields(self, first: Any, verdict: Verdict) -> None:
        result = self.judged(first, {"id": "a"}, {"id": "b"})
        assert result.verdict is verdict
        if verdict is FAIL:
            assert result.observed.startswith("line 1 is {" if isinstance(first, dict) else "line 1 is [")

    def test_that_is_marked_stands_first(self) -> None:
        marked = {"type": "lro_header", "operation": "recall", "count": 1, "query": "x"}
        assert self.judged(marked, {"id": "a"}).verdict is PASS
        assert self.judged({"id": "a"}, marked).observed == "on lines [2]"
        assert self.judged(marked, marked).observed == "on lines [1, 2]"


def test_where_core_fields_lack_the_first_records_are_told_of_each_file() -> None:
    deaf = {"recall": Made(details=())}
    light = call(detail="light", filed=[{"id": "x"}], header={"detail": "light"}, summary={"detail": "light"})
    calls = [
        call(detail="full", filed=[{"id": "a", "first": 1}, {"id": "b"}], header={"detail": "full"}, summary={}),
        call(operation="search", detail="full", filed=[{"id": "c"}], header={"detail": "full"}, summary={}),
    ]
    result = judged("file.core_fields_are_there", survey=survey(light, *calls, operations=deaf))
    assert seen(result) == (FAIL, 2)
    assert result.observed.endswith("they have id, first (2 of 2 subjects)")


class TestHeaderEstimate:
    @pytest.mark.parametrize(
        ("again", "size", "verdict"),
        [(100, 400, PASS), (102, 400, PASS), (103, 400, FAIL), (97, 400, FAIL), (105, 403, PASS), (106, 403, FAIL)],
    )
    def test_is_the_same_but_for_what_files_differ_in_size(self, again: int, size: int, verdict: Verdict) -> None:
        one, other = (
            call(header={"estimated_tokens": n, "detail": "light"}, file=file(characters=c))
            for n, c in ((100, 400), (again, size))
        )
        made = survey(one, other, operations={"recall": Made(details=())})
        assert judged("file.header_estimate_is_steady", survey=made).verdict is verdict


class TestBudgets:
    """The file of inject with a small and a large budget, and without any."""

    def judged(self, small: str, large: str, plain: str | None = None, *, first: bool = False) -> Any:
        def of(ids: str, **other: Any) -> Made:
            return call(operation="inject", filed=[{"id": i} for i in ids], **other)

        whole: dict[Any, Any] = {("inject", None): of(plain)} if plain is not None else {}
        if first:
            whole = {("inject", "light"): of("abc"), ("recall", None): call(estimate=1), **whole}
        made = survey(
            whole=whole, budgets=(of(small), of(large)), operations={"inject": Made(details=())}, repeats={}, single={}
        )
        return judged("inject.file_holds_the_set_before_budgeting", survey=made)

    @pytest.mark.parametrize(
        ("small", "large", "verdict"), [("abc", "abc", PASS), ("ab", "abc", FAIL), ("abc", "ab", FAIL)]
    )
    def test_holds_the_same_whatever_the_budget(self, small: str, large: str, verdict: Verdict) -> None:
        assert self.judged(small, large).verdict is verdict

    @pytest.mark.parametrize(
        ("plain", "found"),
        [("abc", (PASS, 2)), ("ab", (FAIL, 2)), ("abcd", (FAIL, 2)), ("", (PASS, 1)), (None, (PASS, 1))],
    )
    def test_holds_the_same_without_any(self, plain: str | None, found: Found) -> None:
        assert seen(self.judged("abc", "abc", plain)) == found

    def test_without_anything_to_compare_with_says_so(self) -> None:
        result = self.judged("", "abc")
        assert result.verdict is NOT_OBSERVED
        assert "takes no token budget" in result.observed


def starts() -> tuple[Made, Made]:
    """A call to each of two servers, the transcripts of which lie in two folders."""
    first, second = (
        Made(argv=("serve", name), sent=list[bytes], settings={}, lines={1: b"x"}, folder=name) for name in ("a", "b")
    )
    return call(start=first), call(start=second)


class TestMessages:
    @pytest.fixture(autouse=True)
    def without_scripts(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("lro_conformance.reproducing.paste", lambda start, sent: "script")  # pyright: ignore[reportUnknownArgumentType, reportUnknownLambdaType]

    def survey(self, *calls: Made, protocol: str = "2025-11-25", **other: Any) -> Made:
        return survey(*calls, protocol=protocol, messages=(), **other)

    OLD: ClassVar[Any] = {"content": [{"type": "text", "text": "x"}]}
    NEW: ClassVar[Any] = {**OLD, "resultType": "complete"}

    def eras(self, *results: Any, outcome: str = "offloaded", messages: tuple[Any, ...] = ()) -> Made:
        calls = [(call(result=r, outcome=outcome), call(label="recall(x)")) for r in results]
        return Made(calls=calls, messages=messages, protocol=MODERN_VERSION)

    def test_results_by_the_other_protocol_are_looked_at(self) -> None:
        name = "protocol.shape_by_the_other_protocol"
        made = self.survey(*starts())
        assert seen(judged(name, survey=made, eras=self.eras(self.NEW, None, self.NEW))) == (PASS, 2)
        result = judged(name, survey=made, eras=self.eras(self.OLD))
        assert result.verdict is FAIL
        assert result.expected == f"a result of MCP {MODERN_VERSION}"
        assert "resultType" in result.observed

    def test_and_so_are_messages(self) -> None:
        one = Made(kind="tools/call", value=self.OLD)
        name = "protocol.shape_by_the_other_protocol"
        result = judged(name, survey=self.survey(*starts()), eras=self.eras(messages=(one,)))
        assert seen(result) == (FAIL, 1)
        assert "resultType" in result.observed
        assert result.location == "a/transcript.jsonl:1"

    def test_stdout_of_the_first_server_is_told(self) -> None:
        calls = starts()
        for one in calls:
            one.reply = Made(raw=b"x")
        made = self.survey(*calls, anomalies=("one", "two", "three", "four"))
        result = judged("protocol.only_messages_on_stdout", survey=made)
        assert seen(result) == (FAIL, 5)
        assert result.location == "a/transcript.jsonl:1"

    @pytest.mark.parametrize(
        ("protocol", "result", "verdict"),
        [
            ("2025-11-25", OLD, PASS),
            (MODERN_VERSION, OLD, FAIL),
            (MODERN_VERSION, NEW, PASS),
            ("2099-01-01", OLD, PASS),  # of what is not known nothing is asked that is
        ],
    )
    def test_are_judged_by_the_protocol_that_was_agreed(self, protocol: str, result: Any, verdict: Verdict) -> None:
        made = self.survey(call(result=result), protocol=protocol)
        assert judged("protocol.shape_of_results", survey=made).verdict is verdict
        made = self.survey(*starts(), protocol=protocol)
        made.messages = (Made(kind="tools/call", value=result),)
        assert judged("protocol.shape_of_messages", survey=made).verdict is verdict

    @pytest.mark.parametrize(("outcome", "verdict"), [("offloaded", PASS), ("inline", FAIL), ("error", FAIL)])
    def test_any_protocol_is_served(self, outcome: str, verdict: Verdict) -> None:
        eras = self.eras(self.NEW, outcome=outcome)
        assert seen(judged("protocol.any_protocol_is_served", eras=eras)) == (verdict, 1)

    def test_structured_content_is_told_of_with_what_is_wrong(self) -> None:
        schema = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
        one = call(result={"structuredContent": {"a": "x"}}, tool="t")
        made = self.survey(one, operations={"recall": Made(output_schema=schema)})
        result = judged("protocol.output_schema", survey=made)
        assert seen(result) == (FAIL, 1)
        assert '"x"' in result.observed or "integer" in result.observed
