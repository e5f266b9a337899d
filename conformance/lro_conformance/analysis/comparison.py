"""Comparison of offloaded files with the inline results of the same calls.

The inline results come from another server process, whose threshold is so high that it offloads nothing.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from lro_conformance.analysis.detail import filled_fields
from lro_conformance.analysis.timestamps import are_newest_first
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
    """The calls of a survey, and the same calls to a server whose threshold is not reached by any result."""

    survey: Survey
    inline: Inline

    @cached_property
    def pairs(self) -> list[tuple[Call, Call]]:
        """Pairs of a call of the survey and the same call inline. A pair is left out if the file of the first call
        could not be read, or if no records were found in the result of the second call.

        The calls are those with the usual limit and, for each operation, one call with the limit `EDGE_LIMIT` (of
        `lro_conformance.trials.survey`).
        """
        offloaded, inline = self.survey, self.inline
        found = [(c, inline.whole[key]) for key, c in offloaded.whole.items() if key in inline.whole]
        found += [(offloaded.repeats[n][0], c) for n, c in inline.edges.items() if n in offloaded.repeats]
        return [(a, b) for a, b in found if a.file is not None and a.file.problem is None and b.records is not None]

    @cached_property
    def unstable_operations(self) -> frozenset[str]:
        """Operations whose identical calls do not have the same result: they write different files in one process; or
        they return different records, or another order of the records, in a different process.

        If a limit cuts the result, another order may lead to different records.
        """
        return self.survey.volatile_operations | self.operations_differing_between_processes

    @cached_property
    def operations_differing_between_processes(self) -> frozenset[str]:
        """Operations that return different records, or the same records in another order, in a different process, or
        whose order makes this possible (`_operations_with_the_newest_first`).

        A possible cause is that records with equal scores may come in any order. Another one is that each process sets
        the times by which memories are ordered.
        """
        inline = self.inline
        first_calls = {name: inline.whole[name, None] for name in inline.elsewhere if (name, None) in inline.whole}
        pairs = [(name, first_calls[name], inline.elsewhere[name]) for name in first_calls]
        pairs += [(name, inline.edges[name], c) for name, c in inline.edges_elsewhere.items() if name in inline.edges]
        differing = frozenset(name for name, one, other in pairs if _differ(one, other))
        return differing | self._operations_with_the_newest_first

    @cached_property
    def _operations_with_the_newest_first(self) -> frozenset[str]:
        """Operations whose records, in every result, are in the order of a time at which the process stored them, the
        latest first.

        Memories of one second, for example, may come in the order in which they were stored. Then the order depends on
        when a second has ended, even if no process has shown another order so far.
        """
        in_order = defaultdict[str, list[bool]](list)
        for call in (*self.survey.files, *self.inline.calls):
            records = call.file_records or call.records or []
            if len(records) > 1:
                names = records[0].keys() - {path[0] for path in self.volatile(call.operation)}
                in_order[call.operation].append(
                    any(are_newest_first((record.get(name) for record in records), call) for name in names)
                )
        return frozenset(name for name, found in in_order.items() if all(found))

    @cached_property
    def unmatched(self) -> str | None:
        """Reason why records of files cannot be paired by id with records of inline results from another process; None
        if they can be paired."""
        file_ids = {k for c in self.survey.files for k in c.file_ids}
        inline_ids = {k for c in self.inline.calls for k in by_id(c.records or [])}
        if not file_ids:
            return "the records of files have no ids"
        if not inline_ids:
            return "no records with ids can be read in inline results"
        stored = corpus() if self.survey.seeded_by == "tool" else ()
        ids_of_stored = ids_of_memories((r for c in self.inline.calls for r in c.records or []), stored)
        kept_ids = ids_of_stored & {m["id"] for m in stored}
        # If the server gave new ids to all stored memories, only the ids of stored memories are compared, because the
        # memories that the server has from elsewhere may have the same ids in each process.
        comparable_ids = ids_of_stored if ids_of_stored and not kept_ids else inline_ids
        return None if file_ids & comparable_ids else "memories have different ids in each server process"

    @cached_property
    def obstacle(self) -> str | None:
        """Reason why files cannot be compared with inline results; None if they can be compared. If a key of the
        profile can help, the reason names it."""
        return self.unmatched and f"{self.unmatched}, so files cannot be compared with inline results ({self._remedy})"

    @cached_property
    def fields_missing_inline(self) -> frozenset[str]:
        """The fields of a memory that all inline records lack. Empty if there are no inline records. A server
        may add these fields when it writes files: for example, it may write the same memory type for all memories."""
        inline_names = {name for call in self.inline.calls for record in call.records or [] for name in record}
        return frozenset(MEMORY_FIELDS) - inline_names if inline_names else frozenset()

    @property
    def _remedy(self) -> str:
        """The key of the profile that would make the comparison possible. If no key can help, the text says what the
        server would have to do."""
        records = [r for c in self.inline.calls for r in c.records or []]
        if not any(c.file_ids for c in self.survey.files) or (records and not by_id(records)):
            needed = "an id, the same in files and inline"
            return f"no key of the profile helps: the server would have to give each record {needed}"
        if not records:
            return "profile: inline.records, the path of the records in an inline result"
        server_advice = "the key server, so that each start has the same data"
        if self.survey.seeded_by == "tool":  # The tool gives every memory a different id.
            return f"profile: seed.arguments with $memory.id, if the tool takes an id, or {server_advice}"
        return f"profile: seed.tool, or {server_advice}"

    @cached_property
    def pairs_between_inline_calls(self) -> list[tuple[Call, Call]]:
        """The pairs whose values are compared. For each of them, the same call was answered inline before the file was
        written, and again afterwards.

        If a field is not `volatile`, both inline results have the same value. So the field also had this value when the
        file was written, even if other fields change with time.

        Evidence that was recorded by version 0.1.0 lacks these calls (`Inline.filed`). In that case, all `pairs` are
        compared.
        """
        inline = self.inline
        found = [(c, inline.whole[key]) for key, c in inline.filed.items() if key in inline.repeated]
        readable = [(a, b) for a, b in found if a.file is not None and a.file.problem is None and b.records is not None]
        return readable if inline.filed else self.pairs

    def volatile(self, operation: str) -> frozenset[Path]:
        """Paths of the fields that differ between inline calls at the same detail level. The calls may be to one server
        process or to two.

        Some of these calls have different limits. But a memory must have the same values in all of them.
        """
        return self._volatile.get(operation, frozenset())

    @cached_property
    def _volatile(self) -> dict[str, frozenset[Path]]:
        inline, paths = self.inline, defaultdict[str, set[Path]](set)
        first: dict[tuple[str, str | None], Call] = {}
        for calls in (inline.whole, inline.again, inline.edges, inline.elsewhere, inline.fullest, inline.repeated):
            for call in calls.values():
                first_call = first.setdefault((call.operation, call.detail), call)
                paths[call.operation] |= volatile_between(first_call, call)
        return {operation: frozenset(found) for operation, found in paths.items()}

    def other_level(self, call: Call, twin: Call, names: Mapping[str, str]) -> str | None:
        """Return the detail level whose fields are in the file of a *call*, if this level differs from the requested
        one.

        *twin* is the inline result of the same call. Returns None if the file has the same fields as *twin*, or if its
        fields are not those of another level.

        *names* maps the server's own names of inline fields to those of MIF.
        """

        def fields(records: Sequence[Record]) -> frozenset[str]:
            return filled_fields([renamed(record, names) for record in records] if names else records) - added

        added = self.fields_missing_inline.difference(path_of(name)[0] for name in names.values())
        file_fields = fields(call.file_records)
        if file_fields == fields(twin.records or []):
            return None
        whole = self.inline.whole
        calls_by_level = {d: c for (n, d), c in whole.items() if n == call.operation and d not in (None, call.detail)}
        return next((d for d, c in calls_by_level.items() if c.records and fields(c.records) == file_fields), None)


def _differ(one: Call, other: Call) -> bool:
    """True if two results have different records, or the same records in another order. If both results are texts
    without records, their lines are compared."""
    if one.records is None and other.records is None:
        return lines_of(one.text) != lines_of(other.text)
    keys, other_keys = comparable_keys(one.records or [], other.records or [])
    return bool(keys and other_keys) and keys != other_keys


def lines_of(text: str) -> list[str]:
    """The lines of a text without the values that may differ between processes: numbers, times and ids."""
    return [line for part in text.splitlines() if (line := _VARYING_VALUE.sub("0", part).strip())]


# A match can begin only where a word begins, and possessive quantifiers do not go back in the text, so the time that
# the search takes is proportional to the length of the text.
_VARYING_VALUE = re.compile(r"(?<![\w-])[^\W\d]*+(?:-[^\W\d]*+)*+\d[\w-]*")


@derived
def comparison(survey: Survey, inline: Inline) -> Comparison:
    """Comparison of the survey's files with the same calls inline."""
    return Comparison(survey, inline)
