"""Events of a run. The engine emits them, and views consume them; the engine does not know the views."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from lro_conformance.judging.results import CheckResult, Report
from lro_spec.redaction import Masks


@dataclass(frozen=True, slots=True)
class RunStarted:
    """A run begins; *trials* are the names of its experiments."""

    command: tuple[str, ...]
    edition: str
    trials: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TrialStarted:
    """An experiment begins."""

    trial: str
    title: str


@dataclass(frozen=True, slots=True)
class TrialStep:
    """An experiment has progressed; *detail* says in a few words what the experiment does now."""

    trial: str
    detail: str


@dataclass(frozen=True, slots=True)
class TrialFinished:
    """An experiment has ended. If it could not be completed, *problem* is the reason; otherwise it is None."""

    trial: str
    seconds: float
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class CheckJudged:
    """A check has been judged."""

    result: CheckResult


@dataclass(frozen=True, slots=True)
class RunFinished:
    """The run is over."""

    report: Report


Event = RunStarted | TrialStarted | TrialStep | TrialFinished | CheckJudged | RunFinished
Observer = Callable[[Event], None]
"""A function that receives the events. It must be thread-safe, because it is also called from worker threads."""


def redacting(observer: Observer | None, masks: Masks) -> Observer:
    """Return an observer that masks secrets in each event and then passes the event on to *observer*. If *observer* is
    None, the events are dropped."""
    if observer is None:
        return lambda event: None
    return lambda event: observer(masks.value(event))
