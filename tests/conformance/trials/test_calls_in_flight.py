"""Concurrent calls of the survey: many where a server answers several at a time, and those that differ are kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from lro_conformance.trials import survey
from tests.support.made import Made
from tests.support.private import inner


class Bench:
    """Answers each call with a record for its limit, and the *wrong*-th concurrent one with another."""

    def __init__(self, wrong: Sequence[int], *, concurrent: bool = True) -> None:
        self.wrong = wrong
        self.made = 0
        self.concurrent = concurrent

    def calls(self, wanted: Sequence[Mapping[str, Any]]) -> list[Made]:
        return [self._answer(one["limit"], concurrent=True) for one in wanted]

    def call(self, limit: int) -> Made:
        return self._answer(limit, concurrent=False)

    def _answer(self, limit: int, *, concurrent: bool) -> Made:
        self.made += concurrent
        record = "another" if concurrent and self.made - 1 in self.wrong else str(limit)
        header = {"count": 1, "timestamp": self.made}
        reply = Made(sent_at=self.made, elapsed_s=limit if self.concurrent else 1)
        return Made(outcome="offloaded", file_records=[{"id": record}], header=header, reply=reply)


def in_flight(bench: Bench) -> list[tuple[Made, Made]]:
    return inner(survey, "_calls_in_flight")(bench, [{"limit": 5}, {"limit": 3}])


def ids(pairs: Sequence[tuple[Made, Made]]) -> list[tuple[str, str]]:
    return [(call.file_records[0]["id"], alone.file_records[0]["id"]) for call, alone in pairs]


def test_of_many_calls_those_are_kept_that_differ_from_the_call_alone() -> None:
    """And the first ones, whether they do or not."""
    rounds = 4 + 4 * survey.FURTHER_ROUNDS
    bench = Bench(wrong=(1, 6, rounds - 1))
    first = [("5", "5"), ("another", "3"), ("5", "5"), ("3", "3")]
    assert ids(in_flight(bench)) == [*first, ("another", "5"), ("another", "3")]
    assert bench.made == rounds


def test_no_more_are_kept_than_are_looked_at() -> None:
    assert len(in_flight(Bench(wrong=range(4, 1000)))) == min(4 + survey.MAX_KEPT, 4 + 4 * survey.FURTHER_ROUNDS)


def test_calls_that_a_server_refuses_for_their_number_are_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    answer = Bench._answer

    def refused(bench: Bench, limit: int, *, concurrent: bool) -> Made:
        made = answer(bench, limit, concurrent=concurrent)
        return Made(**{**vars(made), "outcome": "error", "file_records": []}) if concurrent and bench.made > 4 else made

    monkeypatch.setattr(Bench, "_answer", refused)
    assert len(in_flight(Bench(wrong=()))) == 4


def test_a_slow_server_is_asked_only_once(monkeypatch: pytest.MonkeyPatch) -> None:
    times = iter((0.0, survey.FURTHER_ROUNDS_S * 1.1))
    monkeypatch.setattr(survey, "time", Made(monotonic=lambda: next(times)))
    bench = Bench(wrong=())
    assert ids(in_flight(bench)) == [("5", "5"), ("3", "3")] * 2
    assert bench.made == 4


def test_a_server_that_answers_one_call_after_another_is_asked_only_once() -> None:
    bench = Bench(wrong=(), concurrent=False)
    assert len(in_flight(bench)) == bench.made == 4
