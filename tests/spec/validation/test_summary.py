"""What a summary and a header say of their file, on either side of each edge."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest

from lro_spec.editions import edition
from lro_spec.jsonl.lines import Block
from lro_spec.messages import OffloadSummary
from lro_spec.tokens import estimate_limits, tokens_of_counts, wide_characters
from lro_spec.validation.state import ANY_NUMBER, RecordCount
from lro_spec.validation.summary import (
    Facts,
    Range,
    distribution,
    estimate_of_header,
    summary_against_file,
    wrong_namespaces,
)

LRO = edition("lro-6400")
SUMMARY: dict[str, Any] = {
    "count": 3,
    "estimated_tokens": 500,
    "operation": "recall",
    "top_namespaces": ["a", "b"],
    "score_range": None,
    "detail": "full",
}


def said(found: Any) -> list[str]:
    return [str(finding) for finding in found]


class TestRanges:
    def test_only_numbers_count(self) -> None:
        numbers = Range()
        for value in (True, False, "9", None, [9]):
            numbers.add(value)
        assert (numbers.low, numbers.high) == (None, None)
        for value in (2, 0.5, 3, 1):
            numbers.add(value)
        assert (numbers.low, numbers.high) == (0.5, 3)

    @pytest.mark.parametrize(
        ("low", "high", "about"),
        [
            (0, 4, True),
            (0.01, 4, True),
            (0.011, 4, False),
            (-0.011, 4, False),
            (0, 4.02, False),
            (0, 3.98, False),
            (2, 4, False),
            (0, 2, False),
            (4, 0, False),
        ],
    )
    def test_the_ends_hold_to_a_hundredth(self, low: float, high: float, about: bool) -> None:
        assert Range(0, 4).is_about(low, high) is about

    def test_the_upper_end_holds_to_a_hundredth(self) -> None:
        assert Range(-4, 0).is_about(-4, 0.01)
        assert not Range(-4, 0).is_about(-4, 0.011)

    @pytest.mark.parametrize("part", [Range(), Range(low=1.0), Range(high=1.0)])
    def test_what_lacks_an_end_is_about_nothing(self, part: Range) -> None:
        assert not part.is_about(1.0, 1.0)


class TestFacts:
    def taken(self, records: list[dict[str, Any]], *, scored: bool = False) -> Facts:
        facts = Facts(scored=scored)
        facts.take(records, Block(2, 0, [json.dumps(r, ensure_ascii=False).encode() for r in records]))
        return facts

    def test_nothing_is_counted_before_there_is_a_line(self) -> None:
        facts = Facts()
        assert (facts.scored, facts.characters, facts.wide_characters, facts.escapes) == (False, 0, 0, 0)

    def test_characters_are_counted_and_the_bytes_beyond_them(self) -> None:
        facts = self.taken([{"a": "é漢"}, {"b": '"'}])
        assert (facts.characters, facts.wide_characters, facts.escapes) == (22, 3, 1)
        facts.take([{}], Block(4, 0, [b'{"a": "\\\\"}']))
        assert (facts.characters, facts.wide_characters, facts.escapes) == (33, 3, 3)

    def test_namespaces_are_counted_whatever_they_are(self) -> None:
        facts = self.taken([{"namespace": "a"}, {"namespace": "a"}, {"namespace": None}, {}])
        assert facts.namespaces == Counter({"a": 2, None: 2})
        facts.take([{"namespace": "b"}, {"namespace": ["x"]}, {"namespace": "b"}], Block(6, 0, [b"{}", b"{}", b"{}"]))
        assert facts.namespaces is not None
        assert facts.namespaces["b"] == 2

    @pytest.mark.parametrize(("many", "counted"), [(20_000, True), (20_001, False)])
    def test_more_namespaces_than_memory_is_for_are_not_counted(self, many: int, counted: bool) -> None:
        facts = Facts()
        facts.take([{"namespace": str(n)} for n in range(many)], Block(2, 0, [b""]))
        assert (facts.namespaces is not None) is counted
        facts.take([{"namespace": "0"}], Block(2, 0, [b""]))
        assert (facts.namespaces is not None) is counted

    def test_scores_and_confidences_are_looked_for_where_they_are_wanted(self) -> None:
        records: list[dict[str, Any]] = [
            {"score": 0.5, "provenance": {"confidence": 0.1}},
            {"score": 0.25, "provenance": {"confidence": 0.9}},
            {"provenance": [1]},
        ]
        facts = self.taken(records, scored=True)
        assert (facts.scores, facts.confidences) == (Range(0.25, 0.5), Range(0.1, 0.9))
        assert self.taken(records).scores == Range()


class TestEstimates:
    @pytest.mark.parametrize(
        ("facts", "low", "high"),
        [
            (Facts(characters=4000), 536, 1865),
            (Facts(characters=4006), 536, 1867),
            (Facts(characters=4000, wide_characters=100), 536, 2020),
            (Facts(characters=4000, wide_characters=100, escapes=10), 528, 2013),
            (Facts(characters=10, escapes=10), 0, 85),
            (Facts(characters=3, wide_characters=9), 0, 83),
        ],
    )
    def test_a_header_tells_between_the_bounds(self, facts: Facts, low: int, high: int) -> None:
        for tokens, holds in ((low, True), (low - 1, False), (high, True), (high + 1, False)):
            for operation, mark in (("recall", ""), ("inject", "warning: ")):
                found = said(estimate_of_header({"estimated_tokens": tokens, "operation": operation}, facts))
                characters = f"about a quarter of their {facts.characters} characters"
                expected = (
                    f"{mark}LRO-THR-02 /estimated_tokens: the estimate does not fit the record lines: expected {low} "
                    f"to {high}, {characters}, got {tokens} — estimate the lines as they are written"
                )
                assert found == ([] if holds else [expected])

    @pytest.mark.parametrize("tokens", [None, True, "3", 1.5])
    def test_what_is_no_number_is_no_estimate(self, tokens: object) -> None:
        assert said(estimate_of_header({"estimated_tokens": tokens}, Facts())) == []

    def test_of_characters_of_each_kind(self) -> None:
        assert estimate_limits(0, 0, 0) == (0, 65)
        assert estimate_limits(100, 0, 1000) == (101, 715)
        assert estimate_limits(0, 100, 1000) == (101, 715)
        assert [tokens_of_counts(n, w) for n, w in ((0, 0), (4, 0), (5, 0), (1, 1), (6, 6), (7, 6))] == [
            0,
            1,
            2,
            1,
            5,
            6,
        ]

    def test_wide_characters_are_those_of_these_blocks(self) -> None:
        edges = ["\u1100", "\u11ff", "\u2e80", "\u303f", "\u3040", "\u31ff", "\u3200", "\ua4cf", "\ua960", "\ud7ff"]
        edges += ["\uf900", "\ufaff", "\ufe30", "\ufe4f", "\uff00", "\uffef", "\u2600", "\u27bf", "\U0001f000"]
        edges += ["\U0001faff", "\U00020000", "\U0003ffff", "\ua97f", "\uac00"]
        outside = ["a", "é", "\x7f", "\x80", "\u10ff", "\u1200", "\u2e7f", "\ua4d0", "\uabff", "\ufb00", "\u25ff"]
        assert wide_characters("".join(edges)) == len(edges)
        assert wide_characters("x".join(outside)) == 0


class TestSummaries:
    def found(self, facts: Facts | None = None, header: Any = None, records: int | None = 3, **changed: Any) -> Any:
        counted = facts or Facts(namespaces=Counter({"a": 2, "b": 1}))
        summary = {**SUMMARY, **changed}
        count = ANY_NUMBER if records is None else RecordCount(records, records)
        return said(summary_against_file({"summary": summary}, header or {}, counted, count, LRO))

    def test_that_are_true_have_no_findings(self) -> None:
        assert self.found(header={"operation": "recall", "detail": "full", "estimated_tokens": 500}) == []

    def test_count_the_records_where_they_can_be_counted(self) -> None:
        assert self.found(records=4) == [
            (
                "LRO-DESC-03 /summary/count: count does not match the file: expected 4, the number of record lines, "
                "got 3 — count what is written, after filtering and capping"
            )
        ]
        assert self.found(records=None) == []

    @pytest.mark.parametrize(
        ("least", "most", "expected"),
        [
            (4, 5, "expected 4 to 5, depending on what the unreadable lines are, got 3"),
            (1, 2, "expected 1 to 2, depending on what the unreadable lines are, got 3"),
            (2, 4, None),
            (3, 4, None),
        ],
    )
    def test_count_as_many_records_as_there_can_be(self, least: int, most: int, expected: str | None) -> None:
        known = RecordCount(least, most)
        found = said(summary_against_file({"summary": {**SUMMARY, "count": 3}}, {}, Facts(), known, LRO))
        assert [expected in one for one in found if "LRO-DESC-03" in one] == ([True] if expected else [])

    def test_agree_with_the_header(self) -> None:
        assert self.found(header={"operation": "search", "detail": "light"}) == [
            (
                "LRO-DESC-05 /summary/operation: summary and header do not agree on operation: "
                'expected the same in both, got "recall" in the summary, "search" in the header — '
                "fill header and summary from the same variable"
            ),
            (
                "LRO-DESC-08 /summary/detail: summary and header do not agree on detail: "
                'expected the same in both, got "full" in the summary, "light" in the header — '
                "fill header and summary from the same variable"
            ),
        ]
        assert self.found(header={"operation": 3, "detail": None}) == []

    def test_tell_an_estimate_that_is_the_headers_less_the_descriptor(self) -> None:
        length = len(json.dumps({"summary": SUMMARY}))
        whole = 500 + length // 2 + 64
        for tokens, holds in ((whole, True), (whole - 1, False), (whole + 1, False)):
            least = f"but at least {tokens - length // 2 - 64}, got"
            found = self.found(header={"estimated_tokens": tokens})
            assert len(found) == (0 if holds or tokens < whole else 1)
            assert all(least in one and f"{tokens} in the header" in one for one in found)
        assert self.found(header={"estimated_tokens": 500}) == []
        assert len(self.found(header={"estimated_tokens": 499})) == 1
        assert "at least 759, got" in self.found(header={"estimated_tokens": 1000}, query="é" * 200)[0]
        assert self.found(header={"estimated_tokens": 0}, estimated_tokens=0) == []
        assert "at least 0, got" in self.found(header={"estimated_tokens": 0}, estimated_tokens=1)[0]
        assert "at least 0, got" in self.found(header={"estimated_tokens": -5}, query={1})[0]
        assert self.found(header={"estimated_tokens": True}) == self.found(header={"estimated_tokens": "5"}) == []

    def test_name_the_most_frequent_namespaces(self) -> None:
        counts = Counter[object]({name: 20 - n for n, name in enumerate("abcdefgh")})
        assert self.found(Facts(namespaces=counts), top_namespaces=list("abcde")) == []
        assert self.found(Facts(namespaces=counts), top_namespaces=list("abcdf")) == [
            (
                "LRO-DESC-06 /summary/top_namespaces: top_namespaces do not match the file: "
                '"e" is more frequent than one that is listed: expected at most 5 of the file\'s most frequent '
                "namespaces: a (20), b (19), c (18), d (17), e (16), f (15), "
                'got ["a","b","c","d","f"]'
            )
        ]
        assert self.found(Facts(), top_namespaces=["a"]) == []  # records without any tell nothing of the memories
        assert self.found(Facts(namespaces=None), top_namespaces=["x"]) == []
        (one,) = self.found(Facts(), records=0, count=0, top_namespaces=["x"])
        assert "most frequent namespaces: there are none, got" in one
        assert self.found(Facts(), records=0, count=0, top_namespaces=[]) == []
        assert self.found(Facts(), records=None, top_namespaces=["x"]) == []
        assert self.found(Facts(namespaces=Counter({"a": 1, "": 5, None: 5})), top_namespaces=["a"]) == []

    @pytest.mark.parametrize(
        ("names", "wrong"),
        [
            (["a", "b", "c", "d", "e", "f"], "6 are listed"),
            (["a", "a"], "a namespace is listed twice"),
            ([], "the list is empty"),
            (["a", "x"], '"x" is not in the file'),
            (["b"], '"a" is more frequent than one that is listed'),
            (["a"], None),
            (["a", "b", "c"], None),
            (["a", "c"], None),
            (["a", "b", "c", "d", "e"], None),
        ],
    )
    def test_names_are_wrong_in_one_way(self, names: list[str], wrong: str | None) -> None:
        assert wrong_namespaces(names, Counter({"a": 3, "b": 2, "c": 2, "d": 2, "e": 2, "f": 2})) == wrong

    def test_names_of_nothing_are_none(self) -> None:
        assert wrong_namespaces([], Counter()) is None

    @pytest.mark.parametrize(
        ("told", "read"),
        [
            ({"a": 1}, {"a": 1}),
            (["a", "b"], {"a": None, "b": None}),
            ([{"namespace": "a", "count": 2}, {"name": "b"}], {"a": 2, "b": None}),
            (["a", "a"], None),
            ([1], None),
            ("a", None),
            (None, None),
            ([], {}),
        ],
    )
    def test_a_distribution_is_read_in_any_form(self, told: object, read: object) -> None:
        assert distribution(told) == read

    def test_tell_scores_or_confidences(self) -> None:
        facts = Facts(namespaces=None, scores=Range(0.2, 0.6), confidences=Range(0.5, 0.9))
        assert self.found(facts, score_range=[0.2, 0.6]) == self.found(facts, score_range=[0.5, 0.9]) == []
        assert self.found(facts, score_range=None) == []
        assert self.found(Facts(namespaces=None), score_range=[0, 1]) == []
        assert self.found(facts, score_range=[0.2, 0.9]) == [
            (
                "LRO-DESC-07 /summary/score_range: score_range does not match the file: "
                "expected [0.2, 0.6], the scores in the file, got [0.2,0.9]"
            )
        ]

    def test_may_have_a_range_of_one_score(self) -> None:
        assert OffloadSummary.from_dict({**SUMMARY, "score_range": [0.5, 0.5]}).score_range == (0.5, 0.5)
