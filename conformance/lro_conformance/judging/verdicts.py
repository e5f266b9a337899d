"""Verdicts, their order, and the roll-up from checks to requirements to levels.

The order is total and worst last: of the checks that observed something, a requirement takes the `max`.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum
from typing import Literal

from lro_spec.catalogue import Requirement

LevelVerdict = Literal["proved", "attested", "unproved", "failed"]


class Verdict(IntEnum):
    """Outcome of one check or one requirement; a greater value is a worse one."""

    NOT_APPLICABLE = 0
    NOT_JUDGED = 1
    """Of a requirement that the catalogue excludes from checking; it counts in no roll-up."""
    PASS = 2
    ATTESTED = 3
    NOT_OBSERVED = 4
    WARN = 5
    FAIL = 6
    ERROR = 7

    @property
    def label(self) -> str:
        """The spelling of reports: ``not-applicable``, ``pass``, …"""
        return self.name.lower().replace("_", "-")

    @classmethod
    def of(cls, label: str) -> Verdict:
        """The verdict with this label. Raises `KeyError` for any other."""
        return cls[label.upper().replace("-", "_")]


def requirement_verdict(checks: Iterable[Verdict], *, attested: bool = False) -> Verdict:
    """The verdict of a requirement from those of its checks.

    Checks that observed nothing do not count; only if no check observed anything, the verdict is *not-observed*.
    *attested* fills only that gap and never hides a failure.
    """
    verdicts = [v for v in checks if v is not Verdict.NOT_JUDGED]
    seen = [v for v in verdicts if v not in (Verdict.NOT_OBSERVED, Verdict.NOT_APPLICABLE)]
    if seen:
        return max(seen)
    worst = max(verdicts, default=Verdict.NOT_OBSERVED)
    if attested and worst is Verdict.NOT_OBSERVED:
        return Verdict.ATTESTED
    return worst


def level_verdict(level: int, judged: Iterable[tuple[Requirement, Verdict]]) -> LevelVerdict:
    """Verdict on a level: it is proved if every MUST up to it that is judged passed or does not apply.

    A *warn* on a MUST is no failure of the server, but an erratum of the specification, or an allowed value that not
    all readers understand, so it does not prevent the level.
    """
    counted = [(r, v) for r, v in judged if v is not Verdict.NOT_JUDGED]
    binding = [v for r, v in counted if r.keyword == "MUST" and r.level is not None and r.level <= level]
    if Verdict.FAIL in binding:
        return "failed"
    if Verdict.NOT_OBSERVED in binding or Verdict.ERROR in binding or not binding:
        return "unproved"
    return "attested" if Verdict.ATTESTED in binding else "proved"


def achieved(levels: dict[int, LevelVerdict]) -> int:
    """The highest level that is proved together with every level below it; 0 if the first is not."""
    reached = 0
    for level in sorted(levels):
        if levels[level] != "proved":
            break
        reached = level
    return reached
