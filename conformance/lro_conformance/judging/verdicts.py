"""Verdicts, their order, and the roll-up from checks to requirements to levels.

All verdicts have an order, from the best to the worst. A requirement has the worst verdict of those of its checks that
observed something. There is one exception: `CheckResult.hindered`.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum
from typing import Literal

from lro_spec.catalogue import Requirement

LevelVerdict = Literal["proved", "attested", "unproved", "failed"]


class Verdict(IntEnum):
    """Outcome of one check or one requirement; the greater the value, the worse the outcome."""

    NOT_APPLICABLE = 0
    NOT_JUDGED = 1
    """The catalogue excludes the requirement from checking, so the verdict of no level depends on it."""
    PASS = 2
    ATTESTED = 3
    NOT_OBSERVED = 4
    WARN = 5
    FAIL = 6
    ERROR = 7

    @property
    def label(self) -> str:
        """The verdict as reports spell it: ``not-applicable``, ``pass``, …"""
        return self.name.lower().replace("_", "-")

    @classmethod
    def of(cls, label: str) -> Verdict:
        """The verdict with this label. Raises `KeyError` if no verdict has it."""
        return cls[label.upper().replace("-", "_")]


def requirement_verdict(checks: Iterable[Verdict], *, attested: bool = False) -> Verdict:
    """Return the verdict of a requirement that follows from the verdicts of its checks.

    Checks that observed nothing and checks that do not apply count only if the requirement has no other checks. In that
    case the verdict is *not-applicable* if no check applies, and otherwise *not-observed*. If the user has *attested*
    the requirement, the verdict is *attested* instead of *not-observed*; any other verdict stays, so that an
    attestation never hides a failure.
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
    """Return the verdict on a level. It follows from the verdicts of all MUSTs of this level and of lower levels,
    without those that are not judged.

    The level is *failed* if one of these MUSTs failed. Otherwise it is *unproved* if one was not observed or had an
    error, or if there are no such MUSTs. Otherwise it is *attested* if one is attested. Otherwise it is *proved*: each
    MUST passed, has a warning or does not apply.

    A *warn* on a MUST does not prevent the level, because it is not a failure of the server. It shows an erratum of the
    specification, or an allowed value that some readers do not understand.
    """
    counted = [(r, v) for r, v in judged if v is not Verdict.NOT_JUDGED]
    binding = [v for r, v in counted if r.keyword == "MUST" and r.level is not None and r.level <= level]
    if Verdict.FAIL in binding:
        return "failed"
    if Verdict.NOT_OBSERVED in binding or Verdict.ERROR in binding or not binding:
        return "unproved"
    return "attested" if Verdict.ATTESTED in binding else "proved"


def achieved(levels: dict[int, LevelVerdict]) -> int:
    """The highest level that is proved together with every level below it; 0 if the lowest level is not proved."""
    reached = 0
    for level in sorted(levels):
        if levels[level] != "proved":
            break
        reached = level
    return reached
