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
    """An experiment has progressed; *detail* says in a few words what it does now."""

    trial: str
    detail: str


@dataclass(frozen=True, slots=True)
class TrialFinished:
    """An experiment has ended; *problem* is the reason if it could not be completed."""

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
"""A function that receives the events. It is also called from worker threads, so it must be thread-safe."""


def redacting(observer: Observer | None, masks: Masks) -> Observer:
    """An observer that masks secrets in each event and passes it on to *observer*, if there is one."""
    if observer is None:
        return lambda event: None
    return lambda event: observer(masks.value(event))
