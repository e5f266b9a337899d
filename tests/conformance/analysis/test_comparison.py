"""Files against the same calls inline."""

from __future__ import annotations

from typing import Any, cast

import pytest

from lro_conformance.analysis.comparison import Comparison
from lro_conformance.capture.corpus import corpus
from tests.support.made import Made
from tests.support.made_survey import FULL, LIGHT, MEDIUM, one, survey


@pytest.mark.parametrize(
    ("filed", "shown", "level"),
    [
        (LIGHT, LIGHT, None),
        (LIGHT, MEDIUM, "light"),
        (LIGHT, FULL, "light"),
        (MEDIUM, LIGHT, None),
        (MEDIUM, MEDIUM, None),
        (MEDIUM, FULL, None),
        (FULL, LIGHT, "full"),
        (FULL, MEDIUM, "full"),
        (FULL, FULL, None),
    ],
)
def test_a_file_is_taken_for_the_level_whose_fields_it_has(filed: Any, shown: Any, level: str | None) -> None:
    whole = {
        ("recall", "light"): one(records=[LIGHT]), ("recall", "full"): one(records=[FULL]),
        ("inject", "medium"): one(records=[MEDIUM]), ("search", "medium"): one(records=[MEDIUM]),
    }  # fmt: skip
    comparison = Comparison(survey(), cast("Any", Made(whole=whole, calls=[])))
    assert comparison.other_level(one(400, 100, filed), one(records=[shown]), {}) == level


def test_a_level_is_recognised_under_the_names_of_the_server() -> None:
    brief = {"id": "a", "subject": "A"}
    whole = {("recall", "light"): one(records=[brief]), ("recall", "full"): one(records=[{**brief, "body": "text"}])}
    comparison = Comparison(survey(), cast("Any", Made(whole=whole, calls=list(whole.values()))))
    filed = one(400, 100, {"id": "a", "title": "A", "content": "text", "memory_type": "note"})
    names = {"subject": "title", "body": "content"}
    assert comparison.other_level(filed, one(records=[brief]), names) == "full"
    assert comparison.other_level(filed, one(records=[{**brief, "body": "text"}]), names) is None


def inline(**of: Any) -> Any:
    """Inline results, as far as there are any."""
    names = ("whole", "again", "edges", "elsewhere", "fullest", "repeated", "filed", "edges_elsewhere")
    return Made(**{name: {} for name in names} | {"calls": []} | of)


def test_what_differs_between_inline_results_of_one_level_is_volatile() -> None:
    def seen(detail: str | None, **fields: Any) -> Any:
        return one(detail=detail, records=[{"id": "a", **fields}])

    comparison = Comparison(
        survey(),
        inline(
            whole={("recall", None): seen(None, n=1), ("recall", "full"): seen("full", at={"s": 1, "t": 1}, n=2)},
            elsewhere={"recall": seen(None, n=3)},
            repeated={("recall", "full"): seen("full", at={"s": 1, "t": 2}, n=2)},
        ),
    )
    assert comparison.volatile("recall") == {("n",), ("at", "t")}
    assert comparison.volatile("search") == frozenset()


def test_ids_that_stay_beside_those_of_stored_memories_match_nothing() -> None:
    """A process has notes of its own, and gives those that it is told to store ids at random."""
    told = corpus()[0]

    def seen(id: str) -> Any:
        return one(records=[{"id": "fixed", "body": "its own"}, {"id": id, "body": told["content"]}])

    def unmatched(filed: str, shown: str, seeded_by: str | None = "tool") -> str | None:
        known = survey(Made(file_records=[{"id": "fixed"}, {"id": filed}]), seeded_by=seeded_by)
        return Comparison(known, inline(calls=[seen(shown)])).unmatched

    assert unmatched("x", "y") == "memories have different ids in each server process"
    assert unmatched("x", "x") is None
    assert unmatched(told["id"], told["id"]) is None
    assert unmatched("x", told["id"]) is None, "it keeps the ids that it is given, and some are in a file"
    assert unmatched("x", "y", None) is None, "what it has is its own"


@pytest.mark.parametrize(
    ("here", "there", "differ"),
    [
        ([{"id": "a"}, {"id": "b"}], [{"id": "a"}, {"id": "b"}], False),
        ([{"id": "a"}, {"id": "b"}], [{"id": "b"}, {"id": "a"}], True),
        ([{"id": "a"}, {"id": "b"}], [{"id": "a"}, {"id": "c"}], True),
        ([{"id": "a1", "title": "A"}], [{"id": "a2", "title": "A"}], False),
        ([{"id": "a1", "title": "A"}], [{"id": "b2", "title": "B"}], True),
        ([{"id": "a1"}], [{"id": "a2"}], True),
        ([{"title": "A"}], [{"title": "B"}], True),
        (None, None, False),
    ],
)
@pytest.mark.parametrize("calls", ["edges_elsewhere", "elsewhere"])
def test_an_operation_that_returns_other_records_in_another_process_is_restless(
    here: Any, there: Any, differ: bool, calls: str
) -> None:
    first, second = (one(records=records, text="## Note 1\n") for records in (here, there))
    known = {"edges": {"recall": first}} if calls == "edges_elsewhere" else {"whole": {("recall", None): first}}
    found = Comparison(
        survey(volatile_operations=frozenset({"search"})), inline(**known, **{calls: {"recall": second}})
    )
    assert found.unstable_operations == ({"recall", "search"} if differ else {"search"})


@pytest.mark.parametrize(
    ("seconds", "restless"),
    [([[2, 1, 1]], True), ([[1, 1, 1]], True), ([[1, 1, 2]], False), ([[2, 1], [1, 2]], False), ([[1]], False)],
)
def test_an_operation_that_returns_the_newest_first_is_restless(seconds: list[list[int]], restless: bool) -> None:
    """A process in which a second ends at another memory has another order."""
    now = 1_780_000_000.0
    calls = [
        one(started=now, file_records=[{"id": f"{n}", "at": now - 60 + s} for n, s in enumerate(of)]) for of in seconds
    ]
    found = Comparison(survey(*calls, volatile_operations=frozenset()), inline(calls=[]))
    assert found.unstable_operations == ({"recall"} if restless else set())


def test_a_time_that_changes_between_identical_calls_is_not_that_of_storing() -> None:
    now = 1_780_000_000.0
    seen = [[{"id": id, "read": now + n} for id in "ab"] for n in (0, 1)]
    first, second = (one(started=now, file_records=[], records=records) for records in seen)
    read = inline(calls=[first], whole={("recall", None): first}, again={"recall": second})
    assert Comparison(survey(volatile_operations=frozenset()), read).unstable_operations == set()
    read = inline(calls=[first], whole={("recall", None): first})
    assert Comparison(survey(volatile_operations=frozenset()), read).unstable_operations == {"recall"}


def test_a_text_is_restless_by_its_lines_without_numbers() -> None:
    texts = ["## A 1\nof 2026-01-01\n## B 2", "## A 7\nof 2026-01-02\n## B 9", "## B 1\nof 2026-01-01\n## A 2"]
    shown = [one(records=None, text=text) for text in texts]
    for other, differ in zip(shown[1:], (False, True), strict=True):
        made = inline(edges={"inject": shown[0]}, edges_elsewhere={"inject": other})
        assert Comparison(survey(volatile_operations=frozenset()), made).unstable_operations == (
            {"inject"} if differ else set()
        )


def test_files_are_compared_that_were_written_between_two_inline_results() -> None:
    key, filed, shown = ("recall", None), one(400, 100), one(records=[LIGHT])
    made = survey(whole={key: one(400, 100)})
    assert Comparison(made, inline(whole={key: shown})).pairs_between_inline_calls == [(made.whole[key], shown)]
    both = inline(whole={key: shown}, filed={key: filed}, repeated={key: shown})
    assert Comparison(made, both).pairs_between_inline_calls == [(filed, shown)]
    assert Comparison(made, inline(whole={key: shown}, filed={key: filed})).pairs_between_inline_calls == []


@pytest.mark.parametrize(("seeded_by", "remedy"), [("tool", "seed.arguments with $memory.id"), (None, "seed.tool")])
def test_what_gives_memories_the_same_ids_is_a_key_that_is_not_set_yet(seeded_by: str | None, remedy: str) -> None:
    shown = one(records=[{"id": "other"}])
    made = survey(one(), seeded_by=seeded_by)
    obstacle = Comparison(made, inline(whole={}, calls=(shown,))).obstacle
    assert obstacle is not None
    assert f"(profile: {remedy}" in obstacle
