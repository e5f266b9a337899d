"""Detail levels of a server's results, determined from the fields of the records in its files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from lro_conformance.capture.call import Call
from lro_conformance.capture.records import MEMORY_FIELDS, Record, is_blank
from lro_conformance.judging.derived import derived
from lro_conformance.trials.survey import Survey
from lro_spec.validation.record import CORE_FIELDS, POSSIBLY_EMPTY_FIELDS

NO_DETAIL = "no tool takes a detail level, or the profile names none (profile: operations)"
"""Reason why requirements on detail levels do not apply."""

IGNORES_DETAIL = "an operation returns records with the same fields at every level (LRO-DET-01)"
"""Reason why it is unknown which level a header and a summary should name."""


@dataclass(frozen=True)
class DetailLevels:
    """Detail levels of the calls of a survey."""

    survey: Survey

    def level_of(self, call: Call) -> str | None:
        """The detail level at which a call has to be answered. It is the requested level or, if none was requested, the
        default level of the operation.

        None if the specification gives no default for the operation, or if the records may be of a different level.
        """
        if call.detail is not None:
            return call.detail
        default = {"recall": "light", "inject": "medium"}.get(call.operation)
        if not self.survey.operations[call.operation].details:
            return default if default != "light" or not _has_content(call) else None
        explicit = self.survey.whole.get((call.operation, default))
        if default is None or explicit is None or not explicit.file_records or not call.file_records:
            return None
        same = set(explicit.file_records[0]) == set(call.file_records[0]) and _has_content(explicit) == _has_content(
            call
        )
        return default if same else None

    def reason_for_no_level(self, call: Call) -> str | None:
        """Reason why the level that a call's header and summary should name is unknown; None if it is known."""
        if self.level_of(call) is None:
            return "the level of a call without a requested level is not certain"
        return IGNORES_DETAIL if self.level_returned_always(call.operation) is not None else None

    def reason_for_missing_texts(self, call: Call) -> str | None:
        """Reason why all records of a file of full detail may lack some texts. None if no text is lacking in all
        records, or if the records must have the texts.

        If the same operation writes these texts for other memories, they may be empty in all memories of this file.
        """
        missing = _missing_core(call)
        texts_of_operation = self._core_fields_at_full[call.operation] & POSSIBLY_EMPTY_FIELDS
        if not missing or not texts_of_operation.issuperset(missing) or call.header.get("detail") != "full":
            return None
        texts = f"the texts {', '.join(missing)}, which other files of {call.operation} have"
        return f"no record of a file has {texts}: in the memories of this file they may be empty, and left out"

    @cached_property
    def _core_fields_at_full(self) -> Mapping[str, frozenset[str]]:
        """For each operation, the core fields that records of full detail have in at least one file."""
        found = {name: frozenset[str]() for name in self.survey.operations}
        for call in self.survey.files:
            if call.header.get("detail") == "full" and call.operation in found:
                found[call.operation] |= {*CORE_FIELDS}.difference(_missing_core(call))
        return found

    def level_returned_always(self, operation: str) -> str | None:
        """The level that an operation always returns, if it ignores the requested level. None if the requested level
        has an effect, or if it is uncertain whether it has an effect.

        It is certain that the level is ignored only if there are files of at least two requested levels, and all of
        them have the same fields. If all their headers name the same level, the result is this level.

        If the headers name several levels, or no level, the result is "the same" under two conditions: this operation's
        file of full detail lacks core fields; and other operations have files of full detail, all of which have all
        core fields. Otherwise, the result is None.
        """
        return self._levels_returned_always.get(operation)

    @cached_property
    def _levels_returned_always(self) -> dict[str, str | None]:
        return {operation: self._level_of_all_files(operation) for operation in self.survey.operations}

    def _level_of_all_files(self, operation: str) -> str | None:
        whole = self.survey.whole
        calls = {d: c for (n, d), c in whole.items() if n == operation and d is not None and c.file_records}
        if len(calls) < 2 or len({filled_fields(c.file_records) for c in calls.values()}) > 1:
            return None
        header_levels = {str(c.header.get("detail")) for c in calls.values()}
        if len(header_levels) == 1 and not header_levels & {"None", ""}:
            return header_levels.pop()
        full_call = calls.get("full")
        other_full_calls = [c for (n, d), c in whole.items() if d == "full" and n != operation and c.file_records]
        if (
            full_call is None
            or not _missing_core(full_call)
            or not other_full_calls
            or any(map(_missing_core, other_full_calls))
        ):
            return None
        return "the same"


@derived
def details(survey: Survey) -> DetailLevels:
    """Detail levels of the survey's calls."""
    return DetailLevels(survey)


def filled_fields(records: Sequence[Record]) -> frozenset[str]:
    """The documented fields that have a value in at least one record. Blank values do not count."""
    empty = set(MEMORY_FIELDS)
    for record in records:
        empty -= {k for k in empty & record.keys() if not is_blank(record[k])}
        if not empty:
            break
    return frozenset(MEMORY_FIELDS) - empty


def _missing_core(call: Call) -> list[str]:
    """Core fields that all records of a file lack."""
    return [k for k in CORE_FIELDS if not any(k in r for r in call.file_records)]


def _has_content(call: Call) -> bool:
    return any(r.get("content") not in (None, "") for r in call.file_records)
