"""How far a run has got: the state that a view shows, kept by consuming events."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

from lro_conformance.events import CheckJudged, Event, RunStarted, TrialFinished, TrialStarted, TrialStep
from lro_conformance.report.text import one_line
from lro_conformance.verdicts import Verdict


@dataclass(frozen=True, slots=True)
class TrialProgress:
    """One experiment; times are in seconds of *clock*."""

    name: str
    title: str = ""
    state: Literal["waiting", "running", "done", "broken"] = "waiting"
    detail: str = ""
    started: float = 0.0
    seconds: float = 0.0


class Progress:
    """Trials in the order announced, and how many checks gave which verdict. Safe to feed from many threads."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._trials: dict[str, TrialProgress] = {}
        self._checks: dict[Verdict, int] = {}

    def apply(self, event: Event) -> None:
        """Takes note of *event*; a trial that was not announced is added at the end."""
        with self._lock:
            match event:
                case RunStarted(trials=names):
                    self._trials = {name: TrialProgress(name) for name in names}
                case TrialStarted(trial=name, title=title):
                    self._set(name, title=one_line(title, 80), state="running", started=self._clock())
                case TrialStep(trial=name, detail=detail):
                    self._set(name, detail=one_line(detail, 80))
                case TrialFinished(trial=name, seconds=seconds, problem=problem):
                    state = "done" if problem is None else "broken"
                    self._set(name, state=state, seconds=seconds, detail=one_line(problem or "", 80))
                case CheckJudged(result=result):
                    self._checks[result.verdict] = self._checks.get(result.verdict, 0) + 1
                case _:
                    pass

    def trials(self) -> tuple[TrialProgress, ...]:
        """All trials, those under way with their time so far."""
        with self._lock:
            now = self._clock()
            return tuple(
                replace(t, seconds=now - t.started) if t.state == "running" else t for t in self._trials.values()
            )

    def checks(self) -> dict[Verdict, int]:
        """How many checks gave each verdict so far."""
        with self._lock:
            return dict(self._checks)

    def _set(self, name: str, **changes: object) -> None:
        known = self._trials.get(name, TrialProgress(one_line(name, 40)))
        self._trials[name] = replace(known, **changes)  # pyright: ignore[reportArgumentType] - the fields above
