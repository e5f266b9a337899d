"""What checks find in evidence that is made up: every miss, where it is seen, and why something was not looked at."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from lro_conformance.judging import derived
from lro_conformance.judging.check import EDITION, Check, checks
from lro_conformance.judging.outcome import NotApplicable, NotObserved
from lro_conformance.judging.subjects import Subjects
from lro_spec.editions import edition as edition_named
from tests.golden import Cases, Said

Evidence = Mapping[str, Any]
SHOWN = 130


def judged(*names: str) -> list[Check]:
    """The checks with these names, and those of modules with these names."""
    return [c for c in checks() if c.name in names or c.name.partition(".")[0] in names]


def found(ones: Sequence[Check], have: Evidence, edition: str) -> list[str]:
    """What each check finds, on a line; those left out that say nothing."""
    said: list[str] = []
    evidence = derived.Evidence(edition, {**{name: None for one in ones for name in one.optional}, **have})
    for one in ones:
        see = Subjects()
        told = {EDITION: edition_named(edition)} if one.takes_edition else {}
        try:
            one.function(**_available(evidence.select(one.needs)), **told, subjects=see)
        except (NotApplicable, NotObserved) as nothing:
            see.not_observed(f"{type(nothing).__name__}: {nothing}")
        missed = [f"{m.expected[:SHOWN]} / {m.observed[:SHOWN]}" for m in see.misses]
        missed[:1] = [f"{text} [{_place(see.misses[0].evidence)}]" for text in missed[:1]]
        if see.examined or see.not_observed_because:
            said.append(f"{one.name} " + "; ".join([str(see.examined), *missed, *see.not_observed_because]))
    return said


def _available(selected: Evidence) -> Evidence:
    for value in selected.values():
        if isinstance(value, Exception):
            raise value
    return selected


def _place(evidence: str) -> str:
    """Which subject it is: its file, or else the first line of what there is to look at."""
    lines = evidence.split("\n")
    return next((line for line in lines if line.startswith("file: ")), lines[0])[:60]


@dataclass
class Finding:
    """Some checks, and how evidence is made for them."""

    ones: Sequence[Check]
    make: Callable[..., Evidence]
    """From changes; sound evidence from none."""
    edition: str = "lro-6400"

    @cached_property
    def usual(self) -> list[str]:
        """What is found of sound evidence."""
        return found(self.ones, self.make(), self.edition)

    def of(self, **change: Any) -> Said:
        """What is found otherwise where something is changed."""

        def say() -> list[str]:
            there = found(self.ones, self.make(**change), self.edition)
            names = {line.partition(" ")[0] for line in there}
            gone = [f"not {line}" for line in self.usual if line.partition(" ")[0] not in names]
            return gone + [line for line in there if line not in self.usual]

        return say

    def cases(self, changes: Mapping[str, Mapping[str, Any]]) -> Cases:
        """What is found of sound evidence, and otherwise where something is changed."""
        return {"sound": lambda: self.usual, **{name: self.of(**change) for name, change in changes.items()}}
