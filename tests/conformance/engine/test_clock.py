"""Trials during which the clock of the machine is set are made again, and say nothing if that does not help."""

from __future__ import annotations

import itertools
import threading
import time
from pathlib import Path

import pytest

from lro_conformance import profile as profiles
from lro_conformance.engine import capture, clock
from lro_conformance.engine.clock import MIN_STEP_S, WallClock
from lro_conformance.engine.run import certify
from lro_conformance.judging.results import Report
from lro_conformance.report.view import facts
from tests.servers.variants import profile_text


def test_a_clock_that_is_set_is_noticed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    wall = time.time()
    monkeypatch.setattr(clock, "_seconds_ahead", lambda: wall)
    watch = WallClock()
    assert [watch.look(), watch.look()] == [0, 0]
    wall -= 3600
    assert [watch.look(), watch.look()] == [1, 1]
    assert watch.last_step_s == pytest.approx(-3600)


def test_a_clock_that_is_slewed_is_not_set(monkeypatch: pytest.MonkeyPatch) -> None:
    ahead = itertools.count(0.0, MIN_STEP_S / 10)
    monkeypatch.setattr(clock, "_seconds_ahead", lambda: next(ahead))
    watch = WallClock()
    assert {watch.look() for _ in range(100)} == {0}


class SetInEachFirstAttempt(WallClock):
    """A clock that is set during the first attempt of every trial."""

    looks = threading.local()

    def look(self) -> int:
        number = self.looks.number = getattr(self.looks, "number", -1) + 1
        return number % 4 > 0  # before, after; before, after


class SetInEveryAttempt(WallClock):
    """A clock that is set all the time."""

    def look(self) -> int:
        self.times_set += 1
        self.last_step_s = -86_400.0
        return self.times_set


def certified(tmp_path: Path) -> Report:
    path = tmp_path / "lro.yaml"
    path.write_text(profile_text(), encoding="utf-8")
    return certify(profiles.load(path), seed=1, jobs=2, examples=2)


@pytest.mark.long
def test_trials_that_are_made_again_find_the_same(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(capture, "WallClock", SetInEachFirstAttempt)
    report = certified(tmp_path)
    assert [r.requirement.id for r in report.requirements if r.verdict.label in ("fail", "warn", "error")] == []
    assert report.achieved == 3
    assert report.starts > 28, "nearly all servers were started twice"


def test_a_clock_that_is_set_all_the_time_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(capture, "WallClock", SetInEveryAttempt)
    report = certified(tmp_path)
    assert report.achieved is None or report.achieved == 0
    said = "\n".join(f.text for f in facts(report)) + str(report.failure)
    assert "the clock of this machine was set during each of 4 attempts, the last time by -86,400 s" in said
