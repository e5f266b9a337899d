"""The model: what each rule finds in an exchange, and what it leaves to others."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest

from lro_conformance.analysis import exchanges
from lro_conformance.analysis.estimate import ESTIMATE_OF_EARLIER_CALL
from lro_conformance.analysis.exchanges import (
    RULES,
    Context,
    Exchange,
    Exchanges,
    Judged,
    Rate,
    exchanges_of,
    extended_context,
    findings,
    scored_by_confidence,
)
from lro_conformance.capture.corpus import cjk_memories
from lro_conformance.capture.file import Line
from lro_conformance.capture.marks import MARK
from lro_conformance.judging.subjects import Subjects
from lro_conformance.trials.exploration import Triple
from lro_spec.editions import edition
from tests.support.made import Made
from tests.support.private import inner

A = {"id": "a", "title": "A", "content": "text"}
B = {"id": "b", "title": "B", "content": "more"}


def line(record: Any, problem: str | None = None) -> Line:
    return Line(2, json.dumps(record).encode(), record, problem)


def call(*records: Any, outcome: str = "offloaded", E: int | None = 10, threshold: int = 1, **other: Any) -> Any:
    """A call as rules see it: offloaded to a file of these records, or with them inline."""
    filed = list(records) if outcome == "offloaded" else []
    file = Made(problem=None, real_path="/out/x.jsonl", record_lines=[line(r) for r in filed], characters=100)
    known: dict[str, Any] = {
        "operation": "recall", "outcome": outcome, "label": "recall()", "detail": "full", "limit": 5, "query": "*",
        "settings": {"threshold_tokens": threshold}, "estimate": E, "file": file if outcome == "offloaded" else None,
        "file_records": filed, "records": list(records) if outcome == "inline" else None, "result": {}, "text": "",
        "header": {"query": "*", "estimated_tokens": E}, "summary": {}, "descriptor": {"file_path": "/out/x.jsonl"},
        "found_descriptor": None, "path": "/out/x.jsonl" if outcome == "offloaded" else "", "output_dir": "/out",
        "real_output_dir": "/out", "reply": Made(error=None, failure=None), "before": (), "arguments": {},
    }  # fmt: skip
    return Made(**{**known, **other})


def context(
    decision: str = "exact",
    *,
    volatile: frozenset[str] = frozenset(),
    obstacle: Any = None,
    stored: Any = None,
    **other: Any,
) -> Any:
    survey = Made(
        seeded_by=None, volatile_operations=volatile, lowest=1, single={"recall": Made(outcome="offloaded")}, **other
    )
    survey.operations = ("recall",)
    survey.is_small = lambda call: False
    comparison = Made(
        obstacle=obstacle,
        fields_missing_inline=frozenset(),
        unstable_operations=volatile,
        volatile=lambda name: set(),
        other_level=lambda filed, shown, names: None,
    )
    edges = Made(edges={"recall": Made(drift=0)})
    of: Any = Context
    recognisable = Made(memories_shown_in=lambda shown: [], stored=stored or {})
    return of(survey, None, edition("lro-6400"), comparison, edges, {"recall": decision}, recognisable)


def judged(id: str, exchange: Exchange, known: Any = None) -> list[bool | str]:
    """What the rules of a requirement find: whether each subject holds, or the reason why there was none."""
    found = findings(exchange, known or context(), id)
    return [f.holds if isinstance(f, Judged) else f for f in found]


def test_a_changed_value_is_marked_in_its_line_of_the_file() -> None:
    (found,) = findings(exchange(call({**A, "content": "cut"}), inline(A)), context(), "LRO-FILE-10")
    assert isinstance(found, Judged)
    assert found.mark is not None
    shown, mark = found.mark.lines
    where = MARK.fullmatch(mark)
    assert where is not None
    assert (shown[:8], shown[where.start("underline") : where.end("underline")]) == ("line 2: ", '"content": "cut"')


def test_a_value_is_named_as_in_the_file_and_as_inline() -> None:
    known = replace(context(), names={"text": "content"})
    for shown, expected in (
        ({"text": "long"}, 'is "long", as the inline field text says'),
        ({"content": "long"}, 'is "long", as inline'),
        ({}, "is a value that the inline record has, too"),
    ):
        one = exchange(call({**A, "content": "cut"}), inline({"id": "a", "title": "A", **shown}))
        (found,) = findings(one, known, "LRO-FILE-10")
        assert isinstance(found, Judged)
        assert found.expected == f"record a: /content {expected}"


@pytest.mark.parametrize(
    ("field", "shown", "holds"),
    [("title", 3, True), ("title", 4, False), ("content", 1, False)],
)
def test_an_offloaded_inject_may_preview_a_few_titles(field: str, shown: int, holds: bool) -> None:
    """However long they are, as any other descriptor may; the text of inject would have contents."""
    filed = [{"id": f"{n}", "title": f"{n} title " * 20, "content": f"{n} content " * 20} for n in range(8)]
    preview = [{"id": r["id"], field: r[field]} for r in filed[:shown]]
    one = call(*filed, operation="inject", descriptor={"file_path": "/out/x.jsonl", "preview": preview})
    assert judged("LRO-INJ-04", exchange(one, None)) == [holds]


def inline(*records: Any, **other: Any) -> Any:
    return call(*records, outcome="inline", **other)


def exchange(one: Any, twin: Any = None, **other: Any) -> Exchange:
    return Exchange(one, twin, **{"values_comparable": True, **other})


# Records


@pytest.mark.parametrize(
    ("filed", "shown", "holds"),
    [([A, B], [A, B], True), ([B, A], [A, B], True), ([A], [A, B], False), ([A, B], [A], False), ([], [A], False)],
)
def test_a_file_has_the_memories_of_its_twin(filed: list[Any], shown: list[Any], holds: bool) -> None:
    assert judged("LRO-FILE-09", exchange(call(*filed), inline(*shown))) == [holds]


@pytest.mark.parametrize(
    ("filed", "shown", "volatile", "said"),
    [
        (
            [A, B],
            [A],
            False,
            "2 records: 0 missing, 1 additional, more than inline: perhaps a limit cuts only the inline result",
        ),
        ([A, B], [A], True, "2 records, more than inline: perhaps a limit cuts only the inline result"),
        ([A], [A, B], True, "1 record"),
    ],
)
def test_a_file_with_more_records_than_inline_is_said_to_have_more(
    filed: list[Any], shown: list[Any], volatile: bool, said: str
) -> None:
    known = context(volatile=frozenset({"recall"} if volatile else ()))
    limit = len(shown)
    (found,) = findings(exchange(call(*filed, limit=limit), inline(*shown, limit=limit)), known, "LRO-FILE-09")
    assert isinstance(found, Judged)
    assert found.observed.removesuffix(" the inline result alone") == said


@pytest.mark.parametrize(
    ("limit", "volatile", "said"),
    [
        (8, False, "2 records: 0 missing, 1 additional"),
        (None, False, "2 records: 0 missing, 1 additional"),
        (None, True, "2 records"),
    ],
)
def test_no_limit_is_blamed_for_fewer_records_than_it_allows(limit: int | None, volatile: bool, said: str) -> None:
    known = context(volatile=frozenset({"recall"} if volatile else ()))
    (found,) = findings(exchange(call(A, B, limit=limit), inline(A, limit=limit)), known, "LRO-FILE-09")
    assert isinstance(found, Judged)
    assert found.observed == said


@pytest.mark.parametrize(
    ("lost", "said"),
    [
        ({"id": "", "title": "Notes on jq"}, 'record 2 of the inline result, whose id is blank: "Notes on jq"'),
        ({"id": " ", "content": "Use it."}, 'record 2 of the inline result, whose id is blank: "Use it."'),
        ({"id": "z", "title": "Notes on jq"}, "z"),
    ],
)
def test_a_missing_record_is_named_also_if_its_id_is_blank(lost: Any, said: str) -> None:
    (found,) = findings(exchange(call(A), inline(A, lost)), context(), "LRO-FILE-09")
    assert isinstance(found, Judged)
    assert found.observed == f"1 record: 1 missing, 0 additional; first missing: {said}"


def test_only_numbers_are_compared_if_a_limit_selects_other_memories_each_time() -> None:
    known = context(volatile=frozenset({"recall"}))
    assert judged("LRO-FILE-09", exchange(call(A, limit=1), inline(B, limit=1)), known) == [True]
    assert judged("LRO-FILE-09", exchange(call(A, limit=2), inline(B, limit=2)), known) == [False]


def test_memories_of_the_file_are_listed_beside_those_of_its_twin() -> None:
    (found,) = findings(exchange(call(A), inline(A, B)), context(), "LRO-FILE-09")
    assert isinstance(found, Judged)
    assert found.mark is not None
    assert found.mark.lines == ('ids inline, in another process: "a", "b"', 'ids in the file: "a"')


def test_a_file_with_broken_lines_is_not_counted() -> None:
    broken = call(A)
    broken.file.record_lines.append(line(None, "not JSON"))
    assert judged("LRO-FILE-09", exchange(broken, inline(A, B))) == [
        "a file has lines that are not strict JSON (LRO-FILE-01)"
    ]


def test_results_without_records_are_not_compared() -> None:
    prose = inline()
    prose.records = None
    assert judged("LRO-FILE-09", exchange(call(A), prose)) == [
        (
            "no records can be read in inline results (profile: inline, if they contain JSON); in a text, the suite "
            "compares the memories that it stored (profile: seed)"
        )
    ]


def test_values_in_a_text_without_a_seed_have_a_reason_that_names_the_key() -> None:
    """With a seed, the text shows what was stored, or else has records that were not found."""
    prose = inline()
    prose.records = None
    without_seed, seeded = (context(stored=known) for known in ({}, {"A": A}))
    (reason,) = judged("LRO-FILE-10", exchange(call(A), prose), without_seed)
    assert "(profile: seed)" in str(reason)
    (reason,) = judged("LRO-FILE-10", exchange(call(A), prose), seeded)
    assert "(profile: inline, if they contain JSON)" in str(reason)
    assert "(profile: seed)" not in str(reason)


@pytest.mark.parametrize(("altered", "holds"), [(False, [True, True]), (True, [True, False])])
def test_of_memories_without_a_title_a_record_has_the_text_of_one(altered: bool, holds: list[bool]) -> None:
    one, other = ({"id": key, "title": "", "content": f"This is the text of {key}."} for key in "ab")
    shown = inline(text=f"- {one['content']}\n- {other['content']}")
    shown.records = None
    filed = call(one, {**other, "content": "This is the text of b"} if altered else other)
    assert judged("LRO-FILE-10", exchange(filed, shown, stored={"a": one, "b": other})) == holds


def test_values_are_those_of_the_twin() -> None:
    assert judged("LRO-FILE-10", exchange(call(A, B), inline(A, B))) == [True, True]
    assert judged("LRO-FILE-10", exchange(call({**A, "content": "tex"}, B), inline(A, B))) == [False, True]


def test_values_that_a_server_makes_up_for_a_stored_memory_are_left_out() -> None:
    stored = {"a": {"id": "a", "title": "A"}}  # the content is the server's own
    altered = call({**A, "content": "another"})
    assert judged("LRO-FILE-10", exchange(altered, inline(A), stored=stored)) == [True]
    assert judged("LRO-FILE-10", exchange(altered, inline(A), stored={"a": A})) == [False]


def test_what_depends_on_all_memories_is_not_compared_where_two_servers_hold_others() -> None:
    filed, shown = call({**A, "score": 0.6733}, started=1_795_680_432.0), inline({**A, "score": 0.6891})
    assert judged("LRO-FILE-10", exchange(filed, shown)) == [False]
    assert judged("LRO-FILE-10", exchange(filed, shown, stored={"b": B}, has_other_memories=True)) == []
    assert judged("LRO-FILE-10", exchange(filed, shown, stored={"a": A}, has_other_memories=True)) == [True]
    ranged = call(A, B, summary={"score_range": [0.5, 0.6]})
    hits = inline(
        {**A, "score": 0.5},
        {**B, "score": 0.7},
        result={"structuredContent": {"hits": [{"score": 0.5}, {"score": 0.7}]}},
    )
    assert judged("LRO-DESC-07", exchange(ranged, hits)) == [False]
    assert judged("LRO-DESC-07", exchange(ranged, hits, has_other_memories=True)) == []


def test_the_time_at_which_each_process_stored_a_memory_is_not_compared() -> None:
    def found(filed: str, shown: str) -> list[bool | str]:
        one = call({**A, "created": filed}, started=1_795_680_432.0)  # 2026-11-26T08:07:12Z
        return judged("LRO-FILE-10", exchange(one, inline({**A, "created": shown})))

    assert found("2026-11-26T08:07:00Z", "2026-11-26T08:06:00Z") == [True]
    assert found("2026-11-26 08:07:00 UTC", "2026-11-26T08:06:00Z") == [False]
    assert found("2026-01-26T08:07:00Z", "2026-01-26T08:06:00Z") == [False]


def test_stored_memories_are_compared_by_title_where_each_process_gives_them_ids() -> None:
    stored = {"a": {**A, "tags": ["x"]}, "b": B}
    known = context(obstacle="other ids in each process")

    def found(id: str, first: Any, shown: Any = A) -> list[bool | str]:
        filed = call({**first, "id": "1", "created": "now"}, {**B, "id": "2"})
        twin = inline({**shown, "tags": ["x"], "id": "3", "created": "then"}, {**B, "id": "4"})
        return judged(id, exchange(filed, twin, stored=stored), known)

    assert found("LRO-FILE-10", {**A, "tags": ["x"]}) == [True, True], "each process may say when it stored a memory"
    assert found("LRO-FILE-10", {**A, "tags": []}) == [False, True]
    assert found("LRO-FILE-09", A) == [True]
    assert found("LRO-FILE-09", {**A, "title": "&amp;"}) == [False]
    unknown = exchange(call({**A, "id": "1"}), inline({**A, "id": "3"}))
    assert judged("LRO-FILE-10", unknown, known) == ["other ids in each process"]


def test_stored_memories_are_matched_by_title_if_the_servers_replace_ids() -> None:
    stored = {"given": {**A, "id": "given"}}
    one = exchange(call({**A, "id": "1"}), inline({**A, "id": "2"}), stored=stored)
    assert (judged("LRO-FILE-09", one), judged("LRO-FILE-10", one)) == ([True], [True])
    lost = exchange(call({**A, "id": "1", "content": ""}), inline({**A, "id": "2"}), stored=stored)
    assert judged("LRO-FILE-10", lost) == [False]


# The header and the descriptor


@pytest.mark.parametrize(
    ("asked", "header", "holds"),
    [
        ("x", {"query": "x"}, [True]),
        ("x", {"query": "y"}, [False]),
        ("x", {"other": 1}, [False]),
        ("a\n b", {"query": "a b"}, [True]),
        ("*", {"other": 1}, [True]),
        ("", {"query": "*"}, [True]),
        ("x", {"query": 3}, ["the query in a header is not a string (LRO-FILE-03)"]),
        (None, {"query": "x"}, []),
        ("x", {}, []),
    ],
)
def test_the_header_has_the_query(asked: str | None, header: Any, holds: list[bool | str]) -> None:
    assert judged("LRO-FILE-05", exchange(call(A, query=asked, header=header))) == holds


@pytest.mark.parametrize(
    ("told", "scores", "holds"),
    [
        ([0.1, 0.9], [0.9, 0.1], [True]),
        ([0.105, 0.9], [0.9, 0.1], [True]),
        ([0.2, 0.9], [0.9, 0.1], [False]),
        ([0.1, 0.8], [0.9, 0.1], [False]),
        (None, [0.9, 0.1], []),
        ([0.1, 0.9], [], []),
        ([0.1, 0.9], [1.0, 1.0], []),
    ],
)
def test_scores_are_those_of_inline_hits(told: Any, scores: list[float], holds: list[bool]) -> None:
    hits = {"structuredContent": {"hits": [{"score": s, "memory": {"id": str(s)}} for s in scores]}}
    one = exchange(call(A, summary={"score_range": told}), inline(A, result=hits))
    assert judged("LRO-DESC-07", one) == holds


def test_scores_in_the_file_are_judged_by_validation() -> None:
    hits = {"structuredContent": {"hits": [{"score": 0.5, "memory": {"id": "a"}}]}}
    one = exchange(call({**A, "score": 0.1}, summary={"score_range": [0.1, 0.1]}), inline(A, result=hits))
    assert judged("LRO-DESC-07", one) == []


def test_a_file_that_cannot_be_read_is_the_paths_fault_alone() -> None:
    unread = call(A, file=Made(problem="no such file", path="/out/x.jsonl", record_lines=[], mode=None))
    assert judged("LRO-DESC-02", exchange(unread)) == [False]
    others = [id for id in RULES if id not in ("LRO-DESC-02", "LRO-DESC-12", "LRO-DESC-13")]
    assert {id: judged(id, exchange(unread, inline(A))) for id in others} == {id: [] for id in others}


@pytest.mark.parametrize(("mode", "holds"), [(0o600, True), (0o040, True), (0o200, False), (None, True)])
def test_a_file_is_read_by_somebody_other_than_root(mode: int | None, holds: bool) -> None:
    made = Made(problem=None, path="/out/x.jsonl", record_lines=[], mode=mode)
    assert judged("LRO-DESC-02", exchange(call(A, file=made))) == [holds]


def confident(*values: Any, told: Any = None, **other: Any) -> Exchange:
    """An offloaded result with these confidences, of which score_range is the exact range unless *told*."""
    records = [{"id": f"m{n}", "provenance": {"confidence": value}} for n, value in enumerate(values)]
    told = [min(values), max(values)] if told is None else told
    return exchange(call(*records, summary={"score_range": told}, **other))


def test_scores_that_are_confidences_are_so_in_all_files_of_a_query() -> None:
    equal = [confident(0.1), confident(0.2, 0.9), confident(0.3, 0.5)]
    first_page = confident(0.4, 0.6, 0.95, told=[0.4, 0.6])
    for known, told in ((equal, [False]), (equal[:2], []), ([*equal[:2], equal[0]], [])):
        found = scored_by_confidence([*known, first_page])
        assert judged("LRO-DESC-07", first_page, replace(context(), scored_by_confidence=found)) == told
    known = replace(context(), scored_by_confidence=scored_by_confidence(equal))
    assert judged("LRO-DESC-07", equal[0], known) == [True]
    assert judged("LRO-DESC-07", confident(0.4, 0.6, told=[0.398, 0.6]), known) == [True]
    assert judged("LRO-DESC-07", confident(0.4, 0.6, told=[0.1, 0.6], query="word"), known) == []
    assert judged("LRO-DESC-07", exchange(call(A, summary={"score_range": [0.1, 0.6]})), known) == []
    unread = confident(0.4, 0.6, told=[0.1, 0.9])
    unread.call.file.record_lines.append(line(None, "not JSON"))
    assert judged("LRO-DESC-07", unread, known) == []


def test_an_offloaded_result_is_no_error_and_has_no_cursor() -> None:
    assert judged("LRO-DESC-12", exchange(call(A, result={"isError": True}))) == [False]
    assert judged("LRO-DESC-12", exchange(call(A, result={"isError": False}))) == [True]
    assert judged("LRO-DESC-13", exchange(call(A, result={"nextCursor": "x"}))) == [False]
    assert judged("LRO-DESC-13", exchange(call(A, result={"nextCursor": None, "token": "x"}))) == [True]


# The decision


@pytest.mark.parametrize(
    ("E", "threshold", "outcome", "above", "below"),
    [
        (11, 10, "offloaded", [True], []),
        (11, 10, "inline", [False], []),
        (10, 10, "inline", [], [True]),
        (10, 10, "offloaded", [], [False]),
        (11, 10, "error", [False], []),
        (9, 10, "error", [], [False]),
        (11, 10, "no answer", [], []),
    ],
)
def test_the_estimate_decides(E: int, threshold: int, outcome: str, above: list[bool], below: list[bool]) -> None:
    one = exchange(call(A, outcome=outcome, E=None, threshold=threshold), lowest=call(A, E=E))
    assert (judged("LRO-THR-06", one), judged("LRO-THR-07", one)) == (above, below)


def test_nothing_is_decided_without_an_exact_threshold() -> None:
    one = exchange(call(A, outcome="inline", threshold=5), lowest=call(A))
    assert judged("LRO-THR-06", one, context("comparison")) == [
        "the server's decisions do not follow the header's E to the token (LRO-THR-06, LRO-THR-07, LRO-FILE-13)"
    ]
    assert judged("LRO-THR-06", exchange(call(A, outcome="inline", threshold=5))) == []


def test_a_volatile_result_near_the_threshold_is_not_decided() -> None:
    near = exchange(call(A, outcome="inline", threshold=100), lowest=call(A, E=103))
    assert judged("LRO-THR-06", near) == [False]
    assert judged("LRO-THR-06", near, context(volatile=frozenset({"recall"}))) == []


def test_a_file_that_is_larger_elsewhere_is_decided_by_its_own_estimate() -> None:
    """An earlier call took values from the memories of the other process only."""
    small = call({**A, "content": ""}, E=9)
    small.file.characters = 60
    (reason,) = judged("LRO-THR-07", exchange(call(A, E=20, threshold=10), lowest=small))
    assert str(reason).startswith("another process returns other values")
    assert judged("LRO-THR-07", exchange(call(A, E=10, threshold=10), lowest=small)) == [False]
    assert judged("LRO-THR-07", exchange(call(A, E=99, threshold=10), lowest=small)) == [False]


@pytest.mark.parametrize(
    ("record", "outcome", "E", "above", "below"),
    [
        (A, "offloaded", 20, [], [False]),
        (B, "offloaded", 20, [True], []),
        (B, "offloaded", 9, [], [False]),
        (B, "inline", None, ["different"], ["different"]),
        (A, "inline", None, [], [True]),
    ],
)
def test_a_result_of_other_records_is_decided_by_its_own_estimate(
    record: Any, outcome: str, E: Any, above: list[Any], below: list[Any]
) -> None:
    """Where ties come in any order and a limit cuts them, the call at the lowest threshold tells E of other records."""
    one = exchange(call(record, outcome=outcome, E=E, threshold=10), lowest=call(A, E=9))
    ties = context(volatile=frozenset({"recall"}))
    for requirement, expected in (("LRO-THR-06", above), ("LRO-THR-07", below)):
        found = judged(requirement, one, ties)
        assert [f if isinstance(f, bool) else "different" for f in found] == expected
    assert judged("LRO-THR-07", one) == [outcome == "inline"], "records are not compared where they do not change"


def test_a_result_is_not_decided_by_what_each_server_adds_to_a_memory() -> None:
    one, other = {**A, "provenance": {"confidence": 0.5}}, {**A, "provenance": {"confidence": 0.50390625}}
    lowest = call(one, E=10)
    apart = extended_context(context(), [exchange(lowest, inline(other), lowest=lowest)]).size_variation
    assert apart == 7
    scored = exchange(lowest, inline({**other, "score": 1}), lowest=lowest)
    assert extended_context(context(), [scored]).size_variation == 0, "two forms, not two values"
    for threshold, outcome, requirement in ((8, "inline", "LRO-THR-06"), (11, "offloaded", "LRO-THR-07")):
        near = exchange(call(other, outcome=outcome, threshold=threshold), lowest=lowest)
        assert judged(requirement, near) == [False]
        assert judged(requirement, near, replace(context(), size_variation=apart)) == []
    far = exchange(call(other, outcome="inline", threshold=7), lowest=lowest)
    assert judged("LRO-THR-06", far, replace(context(), size_variation=apart)) == [False]


def test_values_are_compared_under_names_that_the_values_themselves_show() -> None:
    """Inline results have names of the server's own: what is lost under them is found, what is the same is not."""
    memories = [{"id": str(n), "title": f"t{n}", "content": f"c{n}", "tags": [f"a{n}", "b"]} for n in range(6)]
    shown = [{"id": m["id"], "title": m["title"], "body": m["content"], "labels": m["tags"]} for m in memories]
    right = exchange(call(*memories), inline(*shown))
    known = extended_context(context(), [right])
    assert known.names == {"body": "content", "labels": "tags"}
    assert judged("LRO-FILE-10", right, known) == [True] * 6
    lost = [{**m, "tags": m["tags"][:1]} for m in memories[:2]] + [{**m, "content": ""} for m in memories[2:3]]
    wrong = exchange(call(*lost, *memories[3:]), inline(*shown))
    assert judged("LRO-FILE-10", wrong, known) == [False] * 3 + [True] * 3
    assert extended_context(context(), [exchange(call(*memories[:2]), inline(*shown[:2]))]).names == {}, (
        "too few to tell"
    )


def test_a_number_under_a_name_of_the_servers_own_is_followed_into_an_object() -> None:
    """Inline, the confidence is a field of its own; in the file it is a member of provenance, among others."""
    rates = [0, 0.25, 0.5, 0.75, 0.875, 1]
    memories = [
        {"id": str(n), "title": f"t{n}", "content": f"c{n}", "provenance": {"confidence": rate, "agent": "x"}}
        for n, rate in enumerate(rates)
    ]
    shown = [
        {"id": m["id"], "title": m["title"], "body": m["content"], "sure": r}
        for m, r in zip(memories, rates, strict=True)
    ]
    right = exchange(call(*memories), inline(*shown))
    known = extended_context(context(), [right])
    assert known.names == {"body": "content", "sure": "provenance.confidence"}
    assert judged("LRO-FILE-10", right, known) == [True] * 6
    other = {**memories[0], "provenance": {"confidence": 0.5, "agent": "x"}}
    lost = [{k: v for k, v in m.items() if k != "provenance"} for m in memories[1:3]]
    wrong = exchange(call(other, *lost, *memories[3:]), inline(*shown))
    assert judged("LRO-FILE-10", wrong, known) == [False] * 3 + [True] * 3
    stored = {m["id"]: m for m in memories}
    bare = [{k: v for k, v in m.items() if k != "provenance"} for m in memories]
    assert judged("LRO-FILE-10", *_extended(exchange(call(*bare), inline(*shown), stored=stored))) == [False] * 6
    scored = [{**{k: v for k, v in s.items() if k != "sure"}, "score": s["sure"]} for s in shown]
    assert judged("LRO-FILE-10", *_extended(exchange(call(*bare), inline(*scored), stored=stored))) == [True] * 6


def _extended(one: Exchange) -> tuple[Exchange, Context]:
    return one, extended_context(context(), [one])


def test_an_object_is_lost_even_if_the_server_kept_only_a_part_of_what_it_was_given() -> None:
    given = {**A, "provenance": {"confidence": 0, "source_type": "inferred"}}
    lost = exchange(call(A), inline({**A, "provenance": {"confidence": 0}}), stored={"a": given})
    assert judged("LRO-FILE-10", lost) == [False]
    made_up = exchange(call(A), inline({**A, "provenance": {"agent": "7"}}), stored={"a": given})
    assert judged("LRO-FILE-10", made_up) == [True]


def test_a_value_that_is_cut_in_every_record_is_compared_with_the_whole_one() -> None:
    """No record has both alike; what a server puts together inline is no whole value."""
    names = ("x/one", "x/two", "y/one", "y/three")
    times = [f"2026-01-0{n + 1}T0{n}:00:00Z" for n in range(4)]
    memories = [
        {"id": f"{n}", "title": f"t{n}", "namespace": name.partition("/")[0], "created": time[:10]}
        for n, (name, time) in enumerate(zip(names, times, strict=True))
    ]
    shown = [
        {"id": m["id"], "title": m["title"], "product": name, "when": time, "path": f"{m['namespace']}/{m['title']}"}
        for m, name, time in zip(memories, names, times, strict=True)
    ]
    one = exchange(call(*memories, started=0), inline(*shown))
    known = extended_context(context(), [one])
    assert known.names == {"product": "namespace", "when": "created"}
    assert judged("LRO-FILE-10", one, known) == [False] * 4
    assert extended_context(context(), [exchange(call(*memories[:2]), inline(*shown[:2]))]).names == {}, (
        "too few to tell"
    )
    kept = [*memories[:3], {**memories[3], "namespace": "z", "created": "2026-02-03"}]
    assert extended_context(context(), [exchange(call(*kept), inline(*shown))]).names == {}, (
        "one is no part of the other"
    )


def test_contents_that_are_alike_are_as_they_were_stored_or_all_of_them_are_not() -> None:
    stored = cjk_memories()[:20]
    altered = {**stored[7], "content": stored[7]["content"][:99] + stored[7]["content"][100:]}
    others = [m for m in stored if m["id"] != altered["id"]]
    assert judged("LRO-FILE-10", exchange(call(*stored))) == [True] * 20
    assert judged("LRO-FILE-10", exchange(call(altered, *others))) == [False] + [True] * 19
    assert judged("LRO-FILE-10", exchange(call(altered, *others[:8]))) == [], "too few to tell"
    shortened = [{**m, "content": m["content"][:500]} for m in stored]
    assert judged("LRO-FILE-10", exchange(call(*shortened[:10], *others[10:]))) == [], "a server's own way"


def test_records_are_told_apart_by_their_titles_under_another_name() -> None:
    """Their ids are numbers, which are those of other memories in another process."""
    stored = {str(n): {"id": str(n), "title": f"t{n}", "content": f"c{n}"} for n in range(4)}
    filed = [{**m, "id": f"{7 + n}"} for n, m in enumerate(stored.values())]
    shown = [{"id": f"{8 + n}", "subject": m["title"], "body": m["content"]} for n, m in enumerate(stored.values())]
    one = exchange(call(*filed), inline(*shown), stored=stored)
    known = extended_context(context(), [one])
    assert known.names == {"subject": "title", "body": "content"}
    for requirement, expected in (("LRO-FILE-09", [True]), ("LRO-FILE-10", [True] * 4)):
        assert judged(requirement, replace(one, names=known.names), known) == expected


@pytest.mark.parametrize("titled", [True, False])
def test_notes_that_a_counter_numbers_are_told_apart_by_their_texts(titled: bool) -> None:
    """A process that was given more has other numbers for the same notes; the tool that stores them takes no title."""
    stored = {
        f"given {n}": {"id": f"given {n}", "title": f"t{n}", "content": f"{n} is what we noted"} for n in range(3)
    }

    def noted(first: int) -> list[dict[str, Any]]:
        notes = enumerate((m["content"] for m in stored.values()), first)
        return [{"id": f"n{n}", "content": text} | ({"title": text[:9]} if titled else {}) for n, text in notes]

    def found(id: str, filed: Sequence[dict[str, Any]]) -> list[bool | str]:
        one = exchange(call(*filed), inline(*noted(7)), stored=stored)
        known = extended_context(context(), [one])
        return [holds for e in known.applied_to([one]) for holds in judged(id, e, known)]

    assert found("LRO-FILE-09", noted(8)) == [True]
    assert found("LRO-FILE-10", noted(8)) == [True] * 3
    assert found("LRO-FILE-09", noted(8)[1:]) == [False]
    added = {"memory_type": "note"}
    assert found("LRO-FILE-10", [{**n, **added} for n in noted(8)]) == [False] * 3, "names are not mapped here"
    if titled:
        assert found("LRO-FILE-10", [{**n, "content": "cut"} for n in noted(8)]) == [False] * 3


def test_which_memories_a_limit_keeps_may_depend_on_times_that_each_process_gives_them() -> None:
    """By whole seconds, it shows only in some runs: as many other records are no violation where a limit cut them."""
    c = {"id": "c", "title": "C", "content": "most"}
    filed, shown = ([{**r, "created": f"2026-11-26T08:07:{s:02}Z"} for s, r in enumerate((A, B, c), n)] for n in (0, 2))

    def found(limit: int | None, filed: list[Any], shown: list[Any], time: str = "2026-11-26T08:07:30Z") -> Any:
        moment = datetime.fromisoformat(time).timestamp()
        return judged("LRO-FILE-09", exchange(call(*filed, limit=limit, started=moment), inline(*shown)))

    assert found(2, filed[:2], shown[1:]) == [True]
    assert found(None, filed[:2], shown[1:]) == [True], "there may be a limit of its own"
    assert found(3, filed[:2], shown[1:]) == [False], "nothing was cut"
    assert found(2, filed[:1], shown[1:]) == [False], "fewer records"
    assert found(2, [A, B], [B, c]) == [False], "records without a time"
    assert found(2, filed[:2], shown[1:], "2027-03-27T08:07:30Z") == [False], "not the time of the run"

    def titled(titles: str) -> list[Any]:
        times = (f"2026-11-26T08:07:{n:02}Z" for n in range(len(titles)))
        return [
            {"id": f"{titles}{n}", "title": t, "created": c} for n, (t, c) in enumerate(zip(titles, times, strict=True))
        ]

    moment = datetime.fromisoformat("2026-11-26T08:07:30Z").timestamp()
    for filed_titles, holds in (("AAD", True), ("AD", False)):
        filed_call = call(*titled(filed_titles), limit=3, started=moment)
        one = exchange(filed_call, inline(*titled("ABC")), stored={"a": {"id": "a", "title": "A"}})
        assert judged("LRO-FILE-09", one) == [holds], "records are counted, not titles"


def test_an_estimate_is_not_judged_by_the_lines_that_can_be_read() -> None:
    broken = call(A)
    broken.file.record_lines = [line(A, "not JSON")]
    known = replace(context(), rates={"recall": Rate(0.25, 0.0, 0.0)})
    assert judged("LRO-THR-05", exchange(broken, inline(A)), known)[-1:] == [
        "a file has lines that are not strict JSON (LRO-FILE-01)"
    ]


def test_ids_that_the_suite_gave_tell_records_apart() -> None:
    stored = {id: {"id": id, "title": "t", "content": f"{id} is what we noted"} for id in "ab"}
    one = exchange(call(*stored.values()), inline(*stored.values()), stored=stored)
    assert not extended_context(context(), [one]).gives_own_ids


def test_an_estimate_is_at_the_rate_of_nearly_all_other_files() -> None:
    """Otherwise it may be that of an earlier result; the rate is known by files of different sizes."""

    def of(
        size: int,
        estimate: int,
        special: int = 0,
        escapes: int = 0,
        *,
        file_records: Any = A,
        records: int = 1,
        separators: int = 0,
        quotes: int = 0,
    ) -> Exchange:
        sized = Made(
            problem=None, real_path="/out/x.jsonl", record_lines=[line(file_records)], characters=size,
            special_characters=special + escapes, backslashes=escapes, separators=separators, quotes=quotes,
        )  # fmt: skip
        return exchange(call(*[file_records] * records, E=estimate, file=sized), inline(A))

    rates = inner(exchanges, "_rates")
    usual = [of(size, size // 4) for size in range(1000, 11_000, 1000)]
    known = replace(context(), rates=rates([*usual, of(4000, 4000)]))
    assert rates(usual) == {"recall": (0.25, 0, 0)}
    assert rates(usual[:7]) == {}, "too few sizes"
    assert rates([of(size, size // (4 + size % 3)) for size in range(1000, 11_000, 1000)]) == {}, "no common rate"
    sampled = [of(size, size // 5, records=20) for size in range(9000, 19_000, 1000)]
    assert rates([*usual, *sampled]) == {"recall": (0.25, 0, 0)}, "of files with few records, all are measured"
    quoted = [of(size, size // 5, records=20, quotes=size // 10) for size in range(9000, 30_000, 1000)]
    assert rates([*usual, *quoted]) == {"recall": (0.25, 0, 0)}, "the share of quotation marks is that of those files"
    for one, expected in (
        (of(8000, 2000), [True]),
        (of(8000, 2150), [True]),  # an envelope, or the rounding of each record
        (of(8000, 2600), [False]),
        (of(8000, 1400), [False]),
        (of(8000, 2600, special=400), [True]),  # each may be two tokens
        (of(8000, 1000, special=4000), [False]),  # but none counts less than any other character
        (of(8000, 1000, escapes=1000), [True]),  # unless it is measured before it is escaped
        (replace(of(8000, 2600), values_comparable=False), []),
    ):
        assert judged("LRO-THR-05", one, known) == expected
    spaced = replace(
        known, rates=rates([of(size, size // 4, separators=size // 10) for size in range(1000, 11_000, 900)])
    )
    for one, expected in (
        (of(8000, 2300), [True]),  # a long text, whose E is that of a spelling with fewer characters, as of all others
        (of(8000, 2600), [False]),
        (of(8000, 1800), [True]),  # or with more
        (of(8000, 1500), [False]),
        (of(8000, 2300, separators=800), [False]),
    ):
        assert judged("LRO-THR-05", one, spaced) == expected
    quoted = replace(known, rates=rates([of(size, size // 4, quotes=size // 20) for size in range(1000, 11_000, 900)]))
    for one, expected in (
        (of(8000, 1800, quotes=1200), [True]),  # short texts, whose E is that of a spelling without quotation marks
        (of(8000, 1500, quotes=1200), [False]),
        (of(8000, 1780, quotes=400), [False]),  # no more quotation marks than in all others
    ):
        assert judged("LRO-THR-05", one, quoted) == expected
    (reason,) = judged("LRO-THR-05", of(8000, 2600, file_records={**A, "content": "cut"}), known)
    assert "not those of the call" in str(reason), "LRO-FILE-10 comes first"


def test_a_result_without_an_estimate_is_above_the_lowest_threshold() -> None:
    lost = inline(A, B, E=None)
    assert judged("LRO-THR-06", exchange(lost, inline(A, B), lowest=lost)) == [False]
    nothing = inline(E=None)
    assert judged("LRO-THR-06", exchange(nothing, inline(), lowest=nothing)) == []


def test_a_single_memory_that_was_stored_counts() -> None:
    lost = inline(A, E=None)
    one = exchange(lost, inline(A), lowest=lost, stored={"a": A})
    assert judged("LRO-THR-08", one) == [False]
    assert judged("LRO-THR-06", one) == ["a single memory is judged by LRO-THR-08"]
    filed = call(A)
    assert judged("LRO-THR-08", exchange(filed, inline(A), lowest=filed, stored={"a": A})) == [True]
    under_another = exchange(lost, inline({**A, "id": "1"}), lowest=lost, stored={"a": A})
    assert judged("LRO-THR-08", under_another) == []
    assert judged("LRO-THR-08", replace(under_another, gives_own_ids=True)) == [False]


def test_no_file_is_written_beside() -> None:
    assert judged("LRO-THR-07", exchange(call(A), lowest=call(A), stray=("atlatl-x.jsonl",))) == [False]


def test_the_estimate_is_the_same_at_each_threshold() -> None:
    assert judged("LRO-FILE-13", exchange(call(A, E=10), lowest=call(A, E=10))) == [True]
    assert judged("LRO-FILE-13", exchange(call(A, E=14), lowest=call(A, E=10))) == [False]
    assert judged("LRO-FILE-13", exchange(call(B, E=14), lowest=call(A, E=10))) == [
        "the files of the same call hold different records"
    ]


# Exchanges of triples


def test_calls_in_lockstep_have_their_twins_and_their_estimate() -> None:
    lowest, middle, shown = call(A), call(A, outcome="inline"), inline(A)
    made = exchanges_of([Triple(lowest, shown, middle, in_flight=True, stray=("x",))], [A])
    assert [e.call for e in made] == [lowest, middle, shown]
    assert [e.twin is shown for e in made] == [True, True, False]
    assert all(e.lowest is lowest and e.in_flight for e in made)
    assert [e.stray for e in made] == [("x",), (), ()]
    assert all(e.stored == {"a": A} for e in made)


def test_a_call_is_judged_by_the_version_of_a_memory_that_was_stored_last_before_it() -> None:
    """Otherwise the inline result of an earlier call would have values that nobody gave, which are not compared."""
    older, newer = {**A, "title": "older"}, {**A, "title": "newer"}
    right = Triple(call(older), inline(older), stored=1)
    stale = Triple(call(older), inline(newer), stored=2)
    made = exchanges_of([right, stale, right], [older, newer])
    assert [e.stored["a"]["title"] for e in made] == ["older"] * 2 + ["newer"] * 2 + ["older"] * 2
    offloaded = [e for e in made if e.call.outcome == "offloaded"]
    assert [judged("LRO-FILE-10", e) for e in offloaded] == [[True], [False], [True]]
    swapped = exchanges_of([Triple(call(newer), inline(older), stored=1)], [older, newer])
    assert judged("LRO-FILE-10", swapped[0]) == [False]


def test_the_fields_of_a_memory_that_was_stored_again_are_not_compared_between_files() -> None:
    """A server may hold both versions, and find either."""
    tagged, bare, other = {**A, "tags": ["x"]}, {**A, "title": "newer"}, {**B, "tags": ["y"]}
    start = object()
    files = (call(tagged, start=start), call(bare, other, start=start))

    def judged_after(*memories: Any) -> list[list[bool | str]]:
        made = [e for e in exchanges_of([Triple(c, inline()) for c in files], memories) if e.has_file]
        survey = Made(lowest=1, volatile_operations=(), operations=("recall",))
        known = replace(context(), survey=survey, fields_by_memory=inner(exchanges, "_fields_by_memory")(made))
        return [[f.holds for f in inner(exchanges, "_fields_of_each")(e, known)] for e in made]

    assert judged_after(tagged) == [[], [False]]
    assert judged_after(tagged, bare) == [[], []]


def test_values_of_several_versions_of_a_memory_are_not_compared() -> None:
    older, newer = {**A, "title": "older"}, {**A, "title": "newer"}
    made = exchanges_of([Triple(call(older, newer, B), inline(newer, older, B))], [older, newer])
    assert judged("LRO-FILE-10", made[0]) == [True]
    made = exchanges_of([Triple(call(older, B), inline(newer, B))], [older, newer])
    assert judged("LRO-FILE-10", made[0]) == [False, True]


def test_values_of_several_memories_with_one_title_are_not_compared() -> None:
    """The servers give ids of their own, and find memories in any order."""
    first, second = {"title": "", "content": "one"}, {"title": "", "content": "two"}
    stored = [{"id": "a", **first}, {"id": "b", **second}]
    (filed, *_) = exchanges_of(
        [
            Triple(
                call({"id": "1", **first}, {"id": "2", **second}), inline({"id": "1", **second}, {"id": "2", **first})
            )
        ],
        stored,
    )
    assert filed.paired_by == "title"
    assert judged("LRO-FILE-10", filed) == []


def test_a_file_belongs_to_the_first_call_that_names_it() -> None:
    first, second = call(A), call(A)
    made = exchanges_of([Triple(first, inline(A)), Triple(second, inline(A))], [])
    assert [judged("LRO-NAME-04", e) for e in made if e.call.outcome == "offloaded"] == [[True], [False]]


def test_what_is_judged_by_the_file_of_an_earlier_call_is_not_observed() -> None:
    """A descriptor from a cache has the E of another result."""
    lowest = call(A, E=500)
    inlined = exchange(inline(A, threshold=100), lowest=lowest)
    named: Any = frozenset({lowest.identity})
    for repeated, seen in ((frozenset[Any](), (1, [])), (named, (0, [ESTIMATE_OF_EARLIER_CALL]))):
        found = Subjects()
        Exchanges([inlined], context(), repeated).judge("LRO-THR-06", found)
        assert (found.examined, found.not_observed_because) == seen


def test_of_two_memories_with_one_title_a_file_has_both() -> None:
    """Each process gives stored memories ids of its own."""
    stored = {"x": {**A, "id": "x"}, "y": {**A, "id": "y"}}
    shown = inline({**A, "id": "1"}, {**A, "id": "2"})
    for filed, holds in ((({**A, "id": "7"}, {**A, "id": "8"}), True), (({**A, "id": "7"},), False)):
        assert judged("LRO-FILE-09", exchange(call(*filed), shown, stored=stored)) == [holds]


def test_a_field_of_files_that_no_inline_record_shows_is_compared_with_nothing() -> None:
    """It may have been altered in every record, so that nothing tells which field it is."""
    shown, filed = (
        {**A, "saved": "2026-01-02T03:04:05Z", "name": "A"},
        {**A, "created": "2026-01-02", "tags": []},
    )
    made = Exchanges([exchange(call(filed), inline(shown))], context())
    assert made.fields_missing_inline == ("created",)


def test_a_budget_of_tokens_may_leave_out_records_in_a_wide_script() -> None:
    """They may count for six times their characters."""
    rule = inner(exchanges, "_is_whole_inject")
    latin, wide = {"id": "a", "content": "x" * 400}, {"id": "b", "content": "記" * 400}

    def known(characters: int) -> Any:
        return Made(largest_inject=(10, characters), survey=Made(operations={"inject": Made(budget="max_tokens")}))

    asked, another = call(operation="inject"), {**latin, "id": "c"}
    assert rule(asked, [latin], [another], known(2000))
    assert not rule(asked, [latin], [wide], known(2000))
    assert rule(asked, [latin], [wide], known(5000))
    assert not rule(call(operation="inject", arguments={"max_tokens": 9}), [latin], [another], known(2000))
