"""Comparison of offloaded files with the inline results of the same calls."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from lro_conformance.analysis.detail import filled_fields
from lro_conformance.capture.call import Call, volatile_between
from lro_conformance.capture.corpus import corpus
from lro_conformance.capture.records import (
    MEMORY_FIELDS,
    Path,
    Record,
    by_id,
    comparable_keys,
    ids_of_memories,
    path_of,
    renamed,
)
from lro_conformance.judging.derived import derived
from lro_conformance.trials.survey import Inline, Survey


@dataclass(frozen=True)
class Comparison:
    """Calls of a survey, and the same calls with a threshold that no result reaches."""

    survey: Survey
    inline: Inline

    @cached_property
    def pairs(self) -> list[tuple[Call, Call]]:
        """Pairs of a call of the survey whose file could be read, and the same call inline, whose result shows records.

        They are the calls with the usual limit, and for each operation one with the limit `EDGE_LIMIT`.
        """
        offloaded, inline = self.survey, self.inline
        found = [(c, inline.whole[key]) for key, c in offloaded.whole.items() if key in inline.whole]
        found += [(offloaded.repeats[n][0], c) for n, c in inline.edges.items() if n in offloaded.repeats]
        return [(a, b) for a, b in found if a.file is not None and a.file.problem is None and b.records is not None]

    @cached_property
    def unstable_operations(self) -> frozenset[str]:
        """Operations whose identical calls write different files in one process, or in two processes return different
        records or a different order of them.

        Where a limit cuts the result, a different order may mean different records.
        """
        return self.survey.volatile_operations | self.reordered

    @cached_property
    def reordered(self) -> frozenset[str]:
        """Operations that return different records, or the same ones in a different order, in another process.

        Ties may come in any order, or each process may set the times by which memories are ordered.
        """
        inline = self.inline
        known = {name: inline.whole[name, None] for name in inline.elsewhere if (name, None) in inline.whole}
        pairs = [(name, known[name], inline.elsewhere[name]) for name in known]
        pairs += [(name, inline.edges[name], c) for name, c in inline.edges_elsewhere.items() if name in inline.edges]
        return frozenset(name for name, one, other in pairs if _differ(one, other))

    @cached_property
    def unmatched(self) -> str | None:
        """Reason why records of files cannot be matched by id with inline results of another process; None if they
        can."""
        filed = {k for c in self.survey.files for k in c.file_ids}
        shown = {k for c in self.inline.calls for k in by_id(c.records or [])}
        if not filed:
            return "the records of files have no ids"
        if not shown:
            return "no records with ids can be read in inline results"
        stored = corpus() if self.survey.seeded_by == "tool" else ()
        ours = ids_of_memories((r for c in self.inline.calls for r in c.records or []), stored)
        given = ours & {m["id"] for m in stored}
        matched = filed & (ours if ours and not given else shown)  # the server's own memories may have fixed ids
        return None if matched else "memories have different ids in each server process"

    @cached_property
    def obstacle(self) -> str | None:
        """Reason why files cannot be compared with inline results, with the key of the profile that helps, if any; None
        if they can."""
        return self.unmatched and f"{self.unmatched}, so files cannot be compared with inline results ({self._remedy})"

    @cached_property
    def added(self) -> frozenset[str]:
        """Fields of a memory that no inline record has; empty if there are no inline records. Files may add these
        fields, for example one type for all memories."""
        shown = {name for call in self.inline.calls for record in call.records or [] for name in record}
        return frozenset(MEMORY_FIELDS) - shown if shown else frozenset()

    @property
    def _remedy(self) -> str:
        """The key of the profile that helps or, if none does, what the server lacks."""
        records = [r for c in self.inline.calls for r in c.records or []]
        if not any(c.file_ids for c in self.survey.files) or (records and not by_id(records)):
            needed = "an id, the same in files and inline"
            return f"no key of the profile helps: the server would have to give each record {needed}"
        if not records:
            return "profile: inline.records, the path of the records in an inline result"
        same = "server, so that each start has the same data"
        if self.survey.seeded_by == "tool":  # and the tool gives every memory an id of its own
            return f"profile: seed.arguments with $memory.id, if the tool takes an id, or {same}"
        return f"profile: seed.tool, or {same}"

    @cached_property
    def bracketed(self) -> list[tuple[Call, Call]]:
        """The pairs whose values are compared: the same call was inline both before and after the file was written.

        A field that is not `volatile` had the same value both times. So it also had that value when the file was
        written, even if fields change with the clock. Evidence that version 0.1.0 recorded does not have these calls
        (`Inline.filed`); then all `pairs` are compared.
        """
        inline = self.inline
        found = [(c, inline.whole[key]) for key, c in inline.filed.items() if key in inline.repeated]
        usable = [(a, b) for a, b in found if a.file is not None and a.file.problem is None and b.records is not None]
        return usable if inline.filed else self.pairs

    def volatile(self, operation: str) -> frozenset[Path]:
        """Fields that differ between inline calls at the same detail level, in one server process or in two.

        Some of these calls have different limits, but the same memory has to have the same values in all of them.
        """
        return self._volatile.get(operation, frozenset())

    @cached_property
    def _volatile(self) -> dict[str, frozenset[Path]]:
        inline, paths = self.inline, defaultdict[str, set[Path]](set)
        first: dict[tuple[str, str | None], Call] = {}
        for calls in (inline.whole, inline.again, inline.edges, inline.elsewhere, inline.fullest, inline.repeated):
            for call in calls.values():
                known = first.setdefault((call.operation, call.detail), call)
                paths[call.operation] |= volatile_between(known, call)
        return {operation: frozenset(found) for operation, found in paths.items()}

    def other_level(self, filed: Call, shown: Call, names: Mapping[str, str]) -> str | None:
        """The other detail level whose fields a file has instead of those that the call shows inline; None if there is
        none. *names* maps the server's own names of inline fields to MIF's."""

        def fields(records: Sequence[Record]) -> frozenset[str]:
            return filled_fields([renamed(record, names) for record in records] if names else records) - added

        added = self.added.difference(path_of(name)[0] for name in names.values())
        found = fields(filed.file_records)
        if found == fields(shown.records or []):
            return None
        whole = self.inline.whole
        others = {d: c for (n, d), c in whole.items() if n == filed.operation and d not in (None, filed.detail)}
        return next((d for d, c in others.items() if c.records and fields(c.records) == found), None)


def _differ(one: Call, other: Call) -> bool:
    """True if two results hold different records, or the same in another order, or are texts with different lines."""
    if one.records is None and other.records is None:
        return lines_of(one.text) != lines_of(other.text)
    keys, other_keys = comparable_keys(one.records or [], other.records or [])
    return bool(keys and other_keys) and keys != other_keys


def lines_of(text: str) -> list[str]:
    """The lines of a text without the values that each process may set itself: numbers, times and ids."""
    return [line for part in text.splitlines() if (line := _VARYING.sub("0", part).strip())]


# A match can begin only where a word begins, and possessive quantifiers do not go back in the text, so the time that
# the search takes is proportional to the length of the text.
_VARYING = re.compile(r"(?<![\w-])[^\W\d]*+(?:-[^\W\d]*+)*+\d[\w-]*")


@derived
def comparison(survey: Survey, inline: Inline) -> Comparison:
    """Comparison of the survey's files with the same calls inline."""
    return Comparison(survey, inline)
