"""Rules of failed writes on results that hardly exceed the threshold, or are one record."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace as Made
from typing import Any, cast

import pytest

from lro_conformance.analysis.failed_writes import (
    FailedWrites,
    failed_writes,
    has_fewer_records,
    not_truncated,
    remark_on_announced,
    wrong_output,
)
from lro_conformance.analysis.sequences import TripleInSequence, failing_of
from lro_conformance.capture.intervention import FROM_START, MENDED, REMOVED, REPLACED, SIZE_LIMIT, Intervention
from lro_conformance.capture.overall import Overall
from lro_conformance.capture.records import by_id, size
from lro_conformance.capture.reproduce import Conversation
from lro_conformance.trials.fallback import Failing, Fallback

MANY = [{"id": f"m{n}", "content": "text " * 20} for n in range(20)]
RICH = [{"id": f"m{n}", "tags": ["tag"] * 30, "content": "text " * 400} for n in range(2)]
ONE = [{"id": "m", "content": "text " * 400}]


def failing(known: list[dict[str, Any]], shown: list[dict[str, Any]], *, above: float) -> Failing:
    """A failed write of a result that exceeds the threshold by this factor, which came inline as *shown*."""
    characters = sum(map(size, known))
    estimate = characters // 4
    original = Made(estimate=estimate, file_records=known, file=Made(characters=characters))
    of: Any = Made(
        call=Made(records=shown, text="", result={}, operation="recall"), original=original, known=by_id(known),
        threshold=int(estimate / above), returned_estimate=None, kind="replaced by a file",
    )  # fmt: skip
    return cast("Failing", of)


@pytest.mark.parametrize(
    ("known", "shown", "above", "holds"),
    [
        (MANY, MANY, 3.0, False),
        (MANY, MANY[:6], 3.0, True),
        (MANY, MANY, 1.002, True),  # by the server's measure of an inline result, all of them may fit
        (ONE, [{**ONE[0], "content": "text"}], 3.0, True),
        (ONE, ONE, 1.002, True),
        (RICH, [{**RICH[0], "content": ""}, {"id": "m1"}], 500.0, False),
        (RICH, [{**RICH[0], "content": ""}], 500.0, True),  # nothing else of it can be cut
        (MANY, [{"warning": "some words on what could not be written, and why"}], 500.0, True),
    ],
)
def test_all_records_may_come_if_they_may_fit(known: Any, shown: Any, above: float, holds: bool) -> None:
    one = failing(known, shown, above=above)
    assert (not_truncated(one, ()) is None) is holds
    assert [found.holds for found in has_fewer_records(one) if not isinstance(found, str)] == [holds]


def test_a_first_record_without_an_id_may_be_too_large_to_come() -> None:
    nameless = [{"number": n, "content": "text " * 20} for n in range(20)]
    assert (
        not_truncated(failing(nameless, [], above=3.0), ())
        == "no records, although the first one (31 tokens) would fit"
    )
    assert not_truncated(failing(nameless, [], above=500.0), ()) is None


def test_a_result_without_records_has_nothing_to_truncate() -> None:
    """Its E may exceed the threshold all the same, if it is that of the whole result."""
    nothing: Any = failing([], [], above=1.0)
    nothing.threshold = 1
    assert not_truncated(nothing, ()) is None


def test_a_record_that_is_too_large_by_itself_has_to_be_cut() -> None:
    assert not_truncated(failing(RICH, RICH[:1], above=500.0), ()) == "1 records of about 553 tokens"


def test_a_single_record_far_above_the_threshold_has_to_be_cut() -> None:
    assert not_truncated(failing(ONE, ONE, above=3.0), ()) == "1 records of about 505 tokens"


@pytest.mark.parametrize(("estimate", "judged"), [(101, 0), (105, 0), (106, 1), (None, 1)])
def test_a_result_that_may_fit_the_next_time_is_not_judged_as_a_failed_write(estimate: int | None, judged: int) -> None:
    def triple(broken: str) -> Any:
        calls = [
            Made(
                operation="recall", arguments={}, before=(), file_records=MANY, records=MANY, outcome=outcome,
                estimate=estimate, settings={"threshold_tokens": 100}, reply=Made(failure=None),
            )
            for outcome in ("offloaded", "inline")
        ]  # fmt: skip
        return Made(calls=calls, lowest=calls[0], inline=calls[1], broken=broken, events=(), before=(), sweep=None)

    of: Any = TripleInSequence
    assert len(list(failing_of(of(triple("replaced by a file"), (triple(""),)), observable=True))) == judged


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("Offloading failed, so the results are truncated.", False),
        ("Offloading failed, so the results are truncated:\n- 記憶庫 3", True),
        ("Offloading failed, so the results are truncated:\n- " + "text " * 9, True),
    ],
)
def test_a_text_has_to_show_some_record_by_its_title_however_short_or_by_a_text_of_its_own(
    text: str, holds: bool
) -> None:
    known = [{**record, "title": f"記憶庫 {number}"} for number, record in enumerate(MANY)]
    one: Any = failing(known, [], above=3.0)
    one.call.records, one.call.text = None, text
    assert (not_truncated(one, ()) is None) is holds


RECALL, SEARCH = "recall", "search"


def failing_calls(*kinds_and_operations: tuple[str, str], process: int = 1) -> list[Failing]:
    """Failed writes of one process, in this order."""
    start = cast("Any", Made(number=process))
    return [
        Failing(
            kind=kind, call=cast("Any", Made(start=start, identity=(process, id), operation=operation)), threshold=1,
            server=1, original=cast("Any", None), known={}, alive=True, events=(), first=id == 0,
            events_observable=True, new_entries=(),
        )
        for id, (kind, operation) in enumerate(kinds_and_operations)
    ]  # fmt: skip


def steps_of(failing: Failing) -> list[str | int]:
    """The steps before a failed write: kinds of interventions, and ids of calls."""
    return [s.kind if isinstance(s, Intervention) else s.identity[1] for s in failing.steps]


def test_a_later_failed_write_is_shown_after_the_earlier_ones() -> None:
    """The folder is mended and broken again where the kind changes."""
    failing = failing_calls((FROM_START, RECALL), (FROM_START, SEARCH), (REPLACED, RECALL), (REPLACED, SEARCH))
    writes = FailedWrites(failing, (), {})
    assert steps_of(writes.in_context(failing[0], {(1, 0)})) == []
    assert steps_of(writes.in_context(failing[1], {(1, n) for n in (1, 2, 3)})) == [FROM_START, 0]
    third = writes.in_context(failing[2], {(1, 2), (1, 3)})
    assert steps_of(third) == [FROM_START, 0, 1, MENDED, REPLACED]


def test_what_a_kind_or_an_operation_explains_is_shown_alone() -> None:
    failing = failing_calls(
        (FROM_START, RECALL), (FROM_START, SEARCH), (REPLACED, RECALL), (REPLACED, SEARCH), (REMOVED, RECALL),
        (REMOVED, SEARCH),
    )  # fmt: skip
    writes = FailedWrites(failing, (), {})
    assert steps_of(writes.in_context(failing[2], {(1, 2), (1, 3)})) == []  # a later kind was right
    assert steps_of(writes.in_context(failing[4], {(1, 4), (1, 5)})) == []  # two earlier kinds were right
    assert steps_of(writes.in_context(failing[1], {(1, n) for n in (1, 3, 5)})) == []  # every search
    assert steps_of(writes.in_context(failing[3], {(1, n) for n in (3, 4, 5)})) == [
        FROM_START, 0, 1, MENDED, REPLACED, 2,
    ]  # fmt: skip


def test_before_a_size_limit_the_earlier_failures_are_repeated_and_mended() -> None:
    first, last = failing_calls((FROM_START, RECALL), (SIZE_LIMIT, RECALL))
    steps = FailedWrites([first, last], (), {}).in_context(replace(last, limit=4096), {(1, 1)}).steps
    assert steps == (Intervention(FROM_START), first.call, Intervention(MENDED), Intervention(SIZE_LIMIT, largest=4096))


def test_only_the_first_of_a_process_was_announced() -> None:
    one = failing_calls(*[(REPLACED, RECALL)] * 3)
    two = failing_calls(*[(REPLACED, RECALL)] * 2, process=2)
    firsts = [(f, f.first) for f in (*two, *one)]
    assert remark_on_announced(firsts) == (
        "; only the first failed write of each server process has such an event (2 of 5 failed writes)"
    )
    none_of_two = [(f, f.first and f in one) for f in (*one, *two)]
    assert remark_on_announced(none_of_two) == (
        "; only the first failed write of some server processes has such an event (1 of 5 failed writes)"
    )


@pytest.mark.parametrize("announced", [(True, False, True), (False, False, False), (False, True, False)])
def test_nothing_is_remarked_if_others_were_announced_or_none(announced: tuple[bool, ...]) -> None:
    assert remark_on_announced([*zip(failing_calls(*[(REPLACED, RECALL)] * 3), announced, strict=True)]) == ""


def test_calls_once_writing_works_come_after_the_failed_writes_of_their_process() -> None:
    """Those of one kind are enough where another process did not write again after its first."""
    kept = failing_calls((FROM_START, RECALL), (REPLACED, RECALL), (REMOVED, RECALL))
    again = [
        cast("Any", Made(start=f.call.start, identity=(1, 7 + n), outcome="offloaded")) for n, f in enumerate(kept[:2])
    ]
    found: Any = failed_writes(Fallback(tuple(kept), tuple(again), {}), {}).recovered
    assert steps_of(found[0]) == [FROM_START, 0, MENDED, REPLACED, 1, MENDED, REMOVED, 2, MENDED]
    assert steps_of(found[1])[-2:] == [MENDED, 7]
    gave_up = failing_calls((FROM_START, RECALL))
    fresh = failing_calls((REPLACED, RECALL), (REMOVED, RECALL), process=2)
    again = [cast("Any", Made(start=fresh[0].call.start, identity=(2, 7), outcome="offloaded"))]
    found = failed_writes(Fallback((*gave_up, *fresh), tuple(again), {}), {}).recovered
    assert steps_of(found[0]) == [REPLACED, 0, MENDED]


@pytest.mark.parametrize(
    ("at", "steps"),
    [
        (10.5, []),
        (11.05, []),
        (12.5, [FROM_START, 0, MENDED, REPLACED]),
        (9.9, None),  # before the first of them
        (11.9, None),  # between two
        (13.9, None),
        (None, None),
    ],
)
def test_wrong_output_during_a_failed_write_is_shown_with_those_before_it(
    at: float | None, steps: list[str | int] | None
) -> None:
    failing = failing_calls((FROM_START, RECALL), (REPLACED, RECALL))
    elsewhere = failing_calls((REMOVED, RECALL), process=2)
    for one, started in ((failing[0], 10.0), (failing[1], 12.0), (elsewhere[0], 10.2)):
        cast("Any", one.call).started, cast("Any", one.call).ended = started, started + 1
    start = failing[0].call.start
    found = {"fallback": Fallback((*failing, *elsewhere), (), {})}
    shown = wrong_output(Overall(("a line",), 2, start, first_at=at), found)
    if steps is None:
        assert shown == Conversation(start)
    else:
        assert isinstance(shown, Failing)
        assert (shown.call.start, steps_of(shown)) == (start, steps)


def test_wrong_output_is_shown_by_the_conversation_if_no_write_was_made_to_fail() -> None:
    start = cast("Any", Made(number=1))
    assert wrong_output(Overall(("a line",), 2, start, first_at=1.0), {}) == Conversation(start)
    assert wrong_output(Overall((), 2), {}) is None
