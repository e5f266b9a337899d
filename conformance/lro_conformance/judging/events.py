"""Events that happen during a run; views consume them, the engine knows no view."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from lro_conformance.judging.results import CheckResult, Report
from lro_spec.redaction import Masks


@dataclass(frozen=True, slots=True)
class RunStarted:
    """A run begins; *trials* are the names of the experiments it will make."""

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
    """An experiment got on; *detail* is a few words."""

    trial: str
    detail: str


@dataclass(frozen=True, slots=True)
class TrialFinished:
    """An experiment ended; *problem* is set when it could not be carried through."""

    trial: str
    seconds: float
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class CheckJudged:
    """A check gave its verdict."""

    result: CheckResult


@dataclass(frozen=True, slots=True)
class RunFinished:
    """The run is over."""

    report: Report


Event = RunStarted | TrialStarted | TrialStep | TrialFinished | CheckJudged | RunFinished
Observer = Callable[[Event], None]
"""Called from worker threads too; an observer locks what it must."""


def redacting(observer: Observer | None, masks: Masks) -> Observer:
    """Observer that passes every event on without secrets."""
    if observer is None:
        return lambda event: None
    return lambda event: observer(masks.value(event))
