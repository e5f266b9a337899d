"""Checks of descriptors, files, levels and messages at their edges, on evidence made for it."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import pytest

from lro_conformance.analysis.exchanges import repeated_record
from lro_conformance.capture import reproduce
from lro_conformance.judging.verdicts import Verdict
from tests.conformance.checks.test_checks import call, file, judged, seen, survey
from tests.support.made import Made

PASS, FAIL, WARN, NOT_OBSERVED = Verdict.PASS, Verdict.FAIL, Verdict.WARN, Verdict.NOT_OBSERVED
Found = tuple[Verdict, int]


def offloaded(*, beside: str = "", result: Any = None, **other: Any) -> Any:
    """A call with a descriptor, found in a text."""
    descriptor: dict[str, Any] = {"summary": {}, "file_path": "/out/a.jsonl", **other.pop("descriptor", {})}
    found = Made(surrounding_text=beside, where="text", value=descriptor, text_value=descriptor, structured_value=None)
    return call(descriptor=descriptor, summary=descriptor["summary"], found_descriptor=found, result=result, **other)


class TestNoFile:
    """Where results are to be inline, the first files that lie there are told."""

    LISTING: ClassVar[Any] = {f"{letter}.jsonl": 1 for letter in "gfedcba"}

    def test_with_lro_switched_off(self) -> None:
        calls = (call(outcome="inline"), call(outcome="inline"))
        result = judged("config.disabled_stays_inline", disabled=Made(calls=calls, listing=self.LISTING))
        assert (*seen(result), result.observed) == (
            FAIL,
            3,
            "a.jsonl, b.jsonl, c.jsonl, d.jsonl, e.jsonl (1 of 3 subjects)",
        )

    def test_below_the_threshold(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(reproduce, "script", lambda *_: "")
        starts = [Made(argv=("serve", str(n)), sent=lambda: (), lines={}) for n in range(3)]
        calls = [call(outcome="inline", start=start) for start in starts]
        known = survey(call(file=file("/out/a.jsonl"), real_output_dir=Path("/out")))
        have = {"survey": known, "inline": Made(calls=calls, listing=self.LISTING, threshold=1_000_000_000)}
        result = judged("config.no_file_below_the_threshold", **have)
        assert (*seen(result), result.observed) == (FAIL, 1, "7 files in the output folder: a.jsonl, b.jsonl, c.jsonl")
        assert result.evidence == "command: serve 0"


class TestPayloadBeside:
    LONG = "0123456789" * 6

    def judged(self, *calls: Made) -> Any:
        return judged("descriptor.no_records_with_descriptor", survey=survey(*calls))

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
        one = offloaded(file_records=[{"id": i} for i in ids], beside=" ".join(ids[:beside]))
        assert repeated_record(one) == (f"the ids of {beside} records next to the descriptor" if told else None)

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
        one = offloaded(file_records=[{"id": "a"}, {"id": "b", field: text}], beside=f"found: {beside}.")
        assert repeated_record(one) == ("the text of record b next to the descriptor" if told else None)

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
        one = offloaded(file_records=[{"id": "b", "content": self.LONG}], result=result)
        assert (repeated_record(one) is not None) is told

    def test_a_field_of_the_servers_own_may(self) -> None:
        filed = [{"id": "b", "content": self.LONG}]
        assert repeated_record(offloaded(file_records=filed, descriptor={"guidance": self.LONG})) is None
        assert repeated_record(offloaded(file_records=filed, descriptor={"preview": self.LONG})) is not None

    def test_one_call_hides_none_of_the_others(self) -> None:
        clean, unfound = offloaded(), offloaded()
        unfound.found_descriptor = None
        leaking = offloaded(file_records=[{"id": "b", "content": self.LONG}], beside=self.LONG)
        inject = offloaded(operation="inject", file_records=[{"id": "b", "content": self.LONG}], beside=self.LONG)
        # of each, whether its two places agree; and of all but inject, whether a record stands beside
        assert seen(self.judged(unfound, clean, inject, leaking)) == (FAIL, 5)
        assert seen(self.judged(unfound, clean, inject)) == (PASS, 3)

    def test_two_that_differ_are_told(self) -> None:
        one = offloaded()
        one.found_descriptor.where, one.found_descriptor.structured_value = "both", {"other": 1}
        assert self.judged(one).observed.startswith("two that differ")
        one.found_descriptor.structured_value = one.found_descriptor.text_value
        assert self.judged(one).verdict is PASS

    @pytest.mark.parametrize(
        ("where", "texts", "broken"),
        [
            ("structured", ['{"summary": {}', 7], True),
            ("structured", [None, "as structured content", '{"summary": '], True),
            ("structured", ["as structured content"], False),
            ("structured", [], False),
            ("text", ['{"summary": {}'], False),
        ],
    )
    def test_a_text_that_is_no_json_where_the_descriptor_is_structured(
        self, where: str, texts: list[Any], broken: bool
    ) -> None:
        one = offloaded(result={"content": [{"type": "text", "text": text} for text in texts]})
        one.found_descriptor.where = where
        result = self.judged(one)
        assert result.verdict is (FAIL if broken else PASS)
        assert result.observed.startswith("complete in structuredContent, invalid JSON in the text: Expecting" * broken)
        one.result = None
        assert self.judged(one).verdict is PASS


class TestCursor:
    def judged(self, result: Any = None, **descriptor: Any) -> Any:
        return judged(
            "descriptor.no_cursor_with_descriptor", survey=survey(offloaded(result=result, descriptor=descriptor))
        )

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
        one.found_descriptor = None
        assert seen(judged("descriptor.no_cursor_with_descriptor", survey=survey(one, offloaded()))) == (FAIL, 2)
        one.result = {}
        assert seen(judged("descriptor.no_cursor_with_descriptor", survey=survey(one))) == (PASS, 1)


class TestDetail:
    def judged(self, *details: str, offloads: tuple[str | None, ...], other: bool = False) -> Any:
        """Whatever is asked for, the same records come; *other*: another operation minds what is asked for."""
        filed = [{"id": "a", "title": "t"}]
        calls = {
            ("recall", d): call(detail=d, file_records=filed, summary={}, header={"detail": "light"}) for d in offloads
        }
        operations = {"recall": Made(details=details)}
        if other:
            operations["search"] = Made(details=("light", "full"))
            calls |= {
                ("search", d): call(
                    operation="search", detail=d, file_records=f, summary={"detail": d}, header={"detail": d}
                )
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
            ((), (), (Verdict.NOT_APPLICABLE, 0)),
        ],
    )
    def test_is_asked_of_two_levels(
        self, details: tuple[str, ...], offloads: tuple[str | None, ...], found: Found
    ) -> None:
        assert seen(self.judged(*details, offloads=offloads)) == found

    def test_of_one_operation_hides_none_of_the_others(self) -> None:
        assert seen(self.judged("light", offloads=("light",), other=True)) == (PASS, 1)


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
        assert judged("file.header_estimate_is_stable", survey=made).verdict is verdict


class TestComplete:
    """A file and the records that the same call returns inline."""

    def judged(self, filed: str, shown: str, *, page: bool = False, volatile: bool = False, limit: int = 4) -> Any:
        result = {
            "structuredContent": {"memories": [{"id": i} for i in shown], **({"nextCursor": "x"} if page else {})}
        }
        one = call(file_records=[{"id": i} for i in filed], limit=limit)
        other = call(records=[{"id": i} for i in shown], result=result, outcome="inline", limit=limit)
        made = survey(one, repeats={"recall": (one, one)}, volatile_operations={"recall"} if volatile else set())
        others = {name: {} for name in ("whole", "again", "fullest", "repeated", "elsewhere", "edges_elsewhere")}
        inline = Made(**others, edges={"recall": other}, calls=[other])
        return judged("file.file_is_complete", survey=made, inline=inline)

    @pytest.mark.parametrize(
        ("filed", "shown", "page", "found"),
        [
            ("ab", "ab", False, (PASS, 1)),
            ("ab", "ba", False, (PASS, 1)),
            ("a", "ab", False, (FAIL, 1)),
            ("abc", "ab", False, (FAIL, 1)),
            ("abc", "ab", True, (PASS, 1)),
            ("a", "ab", True, (FAIL, 1)),
            ("aab", "ab", False, (PASS, 1)),
            ("aab", "aab", False, (PASS, 1)),
            ("ab", "aab", False, (PASS, 1)),
            ("aaab", "aab", False, (PASS, 1)),
        ],
    )
    def test_it_holds_those(self, filed: str, shown: str, page: bool, found: Found) -> None:
        assert seen(self.judged(filed, shown, page=page)) == found

    @pytest.mark.parametrize(
        ("filed", "shown", "page", "found"),
        [
            ("abcx", "abcd", False, (PASS, 1)),  # which forty come is not the same each time
            ("abc", "abcd", False, (FAIL, 1)),
            ("abcde", "abcd", False, (FAIL, 1)),
            ("abcde", "abcd", True, (PASS, 1)),
            ("abc", "abcd", True, (FAIL, 1)),
            ("abcd", "abcd", True, (PASS, 1)),
        ],
    )
    def test_of_a_restless_operation_only_the_number_counts(
        self, filed: str, shown: str, page: bool, found: Found
    ) -> None:
        assert seen(self.judged(filed, shown, page=page, volatile=True)) == found

    def test_what_is_missing_is_told(self) -> None:
        told = self.judged("ax", "abc").observed
        assert told.startswith("2 records: 2 missing, 1 additional; first missing: b")

    @pytest.mark.parametrize("limit", [5, 100])
    def test_what_no_limit_has_cut_is_compared(self, limit: int) -> None:
        assert seen(self.judged("abcx", "abcd", volatile=True, limit=limit)) == (FAIL, 1)
