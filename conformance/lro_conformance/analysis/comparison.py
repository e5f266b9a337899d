"""Comparison of offloaded files with the inline results of the same calls."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from lro_conformance.analysis.detail import filled_fields
from lro_conformance.capture.call import Call
from lro_conformance.capture.records import Path, by_id, volatile_paths
from lro_conformance.judging.derived import derived
from lro_conformance.trials.survey import Inline, Survey


@dataclass(frozen=True)
class Comparison:
    """Calls of a survey, and the same calls with a threshold that no result reaches."""

    survey: Survey
    inline: Inline

    @cached_property
    def pairs(self) -> list[tuple[Call, Call]]:
        """Each call whose file was read, with the same call inline."""
        offloaded, inline = self.survey, self.inline
        found = [(c, inline.whole[key]) for key, c in offloaded.whole.items() if key in inline.whole]
        found += [(offloaded.repeats[n][0], c) for n, c in inline.edges.items() if n in offloaded.repeats]
        return [(a, b) for a, b in found if a.file is not None and a.file.problem is None and b.records is not None]

    @cached_property
    def obstacle(self) -> str | None:
        """Reason why files cannot be compared with inline results of another process; None if they can."""
        filed = {k for c in self.survey.files for k in by_id(c.filed)}
        shown = {k for c in self.inline.calls for k in by_id(c.records or [])}
        if not filed:
            return "records of files have no id"
        if not shown:
            return "no records with ids can be read in inline results (profile: inline)"
        return None if filed & shown else "memories have different ids in each server process"

    def volatile(self, operation: str) -> set[Path]:
        """Fields that differ between identical inline calls, within a server process or between two."""
        inline = self.inline
        first = inline.whole.get((operation, None))
        paths = _volatile(first, inline.again.get(operation)) | _volatile(first, inline.elsewhere.get(operation))
        for more in (inline.edges.get(operation), inline.fullest.get(operation)):
            if more is not None:
                paths |= _volatile(inline.whole.get((operation, more.detail)), more)
        return paths

    def other_level(self, filed: Call, shown: Call) -> str | None:
        """The other detail level whose fields a file has, if they are not those that the call shows inline."""
        fields = filled_fields(filed.filed)
        if fields == filled_fields(shown.records or []):
            return None
        whole = self.inline.whole
        others = {d: c for (n, d), c in whole.items() if n == filed.operation and d not in (None, filed.detail)}
        return next((d for d, c in others.items() if c.records and filled_fields(c.records) == fields), None)


@derived
def comparison(survey: Survey, inline: Inline) -> Comparison:
    """Comparison of the survey's files with the same calls inline."""
    return Comparison(survey, inline)


def _volatile(a: Call | None, b: Call | None) -> set[Path]:
    return volatile_paths(a.records or [], b.records or []) if a is not None and b is not None else set()
