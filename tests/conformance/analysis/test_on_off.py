"""Results with LRO off against those with LRO on."""

from __future__ import annotations

from typing import Any, cast

import pytest

from lro_conformance.analysis.on_off import OnOffPair, difference, on_off_pairs
from tests.support.made import Made

HERE: Any = Made(obstacle=None, volatile=lambda operation: frozenset())
ELSEWHERE: Any = Made(
    obstacle="memories have different ids in every server process",
    volatile=lambda operation: frozenset({("id",), ("created",)}),  # pyright: ignore[reportUnknownLambdaType]
)


def records(*ids: str, **fields: Any) -> list[dict[str, Any]]:
    return [{"id": id, "title": f"title of {id}", **fields} for id in ids]


def call(found: list[dict[str, Any]] | None, at: float = 0.0, *, limit: int | None = None, **members: Any) -> Any:
    """A call that returned these records at some time, in an object with these members."""
    result = {"structuredContent": {"results": found, **members}}
    return Made(
        operation="recall", tool="recall_memories", arguments={"limit": limit}, limit=limit, outcome="inline",
        records=found, text="", started=at, ended=at + 0.1, result=result,
    )  # fmt: skip


def pair(off: Any, *on: Any) -> OnOffPair:
    return OnOffPair(off, on)


def found(off: Any, *on: Any, comparison: Any = HERE) -> str:
    differing = difference(pair(off, *on), comparison)
    return "" if differing is None else " / ".join(differing)


MANY = [f"m{n:02}" for n in range(20)]


@pytest.mark.parametrize(
    ("on", "said"),
    [
        (MANY, ""),
        (MANY[:10], "20 records / 10 records"),
        ([*MANY[1:], "new"], "20 memories, m00 among them / 1 of them are missing"),
        (MANY[::-1], "in the order m00, m01, m02, … / in a different order: 100% of the pairs are reversed"),
        ([*MANY[2:], *MANY[:2]], "in the order m00, m01, m02, … / in a different order: 19% of the pairs are reversed"),
        ([MANY[1], MANY[0], *MANY[2:]], ""),
    ],
)
def test_number_ids_and_order_are_those_without_lro(on: list[str], said: str) -> None:
    assert found(call(records(*MANY)), call(records(*on)), call(records(*on))) == said


def test_two_ties_among_few_records_are_no_other_order() -> None:
    assert found(call(records("a", "b", "c", "d")), call(records("b", "a", "d", "c"))) == ""


def test_an_order_that_varies_is_not_compared() -> None:
    assert found(call(records(*MANY)), call(records(*MANY)), call(records(*MANY[::-1]))) == ""


def test_the_time_at_which_each_process_stored_a_memory_is_not_compared() -> None:
    now = 1_795_680_432.0  # 2026-11-26T08:07:12Z

    def differing(off: str, on: str) -> str:
        with_it = records("a", created=on)
        return found(call(records("a", created=off), now), call(with_it, now - 1), call(with_it, now + 1))

    assert differing("2026-11-26T08:07:00Z", "2026-11-26T08:06:00Z") == ""
    assert differing("2026-01-26T08:07:00Z", "2026-01-26T08:06:00Z").startswith("record a: /created is ")


def test_ids_of_each_process_are_not_compared() -> None:
    off, on = call(records("a", "b")), call(records("c", "d"))
    assert found(off, on, comparison=ELSEWHERE) == ""
    assert found(off, call(records("c")), comparison=ELSEWHERE) == "2 records / 1 record"


def test_records_with_ids_of_each_process_are_compared_by_title() -> None:
    off = [{"id": "a", "title": "one", "created": "now", "status": "active"}]
    on = [{"id": "c", "title": "one", "created": "then"}]
    said = 'record "one": /status is "active" / absent'
    assert found(call(off, 5), call(on, 4), call(on, 6), comparison=ELSEWHERE) == said
    assert found(call(off * 2, 5), call(on * 2, 4), call(on * 2, 6), comparison=ELSEWHERE) == ""  # which is which?


def test_values_are_compared_where_nothing_changed_before_and_afterwards() -> None:
    off, on = records("a", status="active"), records("a", status="stale")
    said = 'record a: /status is "active" / "stale"'
    assert found(call(off, 5), call(on, 4), call(on, 6)) == said
    assert found(call(off, 5), call(on, 6), call(on, 7)) == ""  # it may have changed in between
    assert found(call(off, 5), call(off, 4), call(on, 6)) == ""  # it did change


def test_a_limit_that_is_ignored_with_lro_off_is_no_difference_of_the_operation() -> None:
    on = call(records("a", "b"), limit=2)
    assert pair(call(records("a", "b", "c"), limit=2), on).ignores_limit
    assert not pair(call(records("a", "b"), limit=2), on).ignores_limit
    assert not pair(call(records("a", "b", "c"), limit=2), call(records("a", "b", "c"), limit=2)).ignores_limit
    assert pair(call(records("a")), on).off_lost_records


def test_members_may_be_added_and_not_lost() -> None:
    off = call(records("a"), count=1, page={"next": None}, lro="disabled")
    assert pair(off, call(records("a"), count=1, page={"next": None}, offloaded=False)).lost_members == []
    assert pair(off, call(records("a"), page={})).lost_members == [
        "structuredContent: count", "structuredContent: page.next",
    ]  # fmt: skip


def test_lines_of_a_text_are_compared_but_for_their_numbers() -> None:
    def text(words: str) -> Any:
        return Made(text=words)

    off = text("# Context\n\nfirst, 3 s ago\nsecond\n(LRO is disabled)")
    assert pair(off, text("# Context\nfirst, 7 s ago\nsecond\nmore")).lost_lines == []
    assert pair(off, text("# Context\nfirst, 7 s ago")).lost_lines == ["second"]
    assert pair(off, text("# Context"), text("first")).lost_lines is None


def test_lines_of_a_text_are_compared_but_for_ids_that_each_process_gives() -> None:
    def text(id: str, kind: str) -> Any:
        return Made(text=f"## One\n- id: `{id}`\n- type: {kind}")

    off = text("e0a0fc5b-0f70-40ec-90e0-cd0a0dbd0b01", "semantic")
    assert pair(off, text("bccd5151-b697-4807-b12a-5cb53418ce4b", "semantic")).lost_lines == []
    assert pair(off, text("bccd5151-b697-4807-b12a-5cb53418ce4b", "")).lost_lines == ["- type: semantic"]


def test_calls_that_find_other_memories_each_time_have_no_twin() -> None:
    def made(*later: Any) -> list[OnOffPair]:
        off = call(records("a", "b"))
        inline = Made(calls=[call(records("a", "b"))], elsewhere={}, fullest={}, repeated={})
        disabled, control = Made(calls=()), Made(off=(off,), on=later)
        return on_off_pairs(cast("Any", inline), cast("Any", disabled), cast("Any", control))

    assert len(made()) == len(made(call(records("b", "a")))) == 1
    assert made(call(records("a", "c"))) == []
