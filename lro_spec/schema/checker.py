"""Validation of every record of a file against its descriptor's ``line_schema``, for files and schemas of any size.

A record that jsonschema-rs accepts is valid. If jsonschema-rs refuses a record, jsonschema explains the violation.
jsonschema also decides whether there is a violation, unless the two libraries are known to agree. jsonschema runs in
this process if the schema is tame, which means that it is evaluated in time proportional to the record. Otherwise it
runs in a child process with limits. The time that jsonschema takes for all records together is limited.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from typing import TYPE_CHECKING, Any, NamedTuple

from lro_spec.findings import MAX_LAZY_BYTES, Finding, Kind, excerpt
from lro_spec.jsonl.lines import Block
from lro_spec.jsonl.parse import exact
from lro_spec.jsonl.strict import position
from lro_spec.schema.fast import (
    FastValidator,
    accepts,
    distinguishes_long_integers,
    foreign_fast_validator,
    refusal_is_final,
    text_of,
)
from lro_spec.schema.untrusted import SchemaChild, Violation, is_tame, judge_of, validator_of

if TYPE_CHECKING:
    from jsonschema.protocols import Validator

PATIENCE_S = 30.0
"""Time limit for validating records with jsonschema, for all records of a file together."""

_BATCH = 500
"""Number of records that are collected before a child process validates them together."""
_CALL_TIMEOUT_S = 5.0
"""Time limit for one call of the child process. If a record uses up this time or the memory, the next call begins after
that record."""
_MAX_COMPARED = 200
"""Maximum number of violations that are explained only to find out whether they repeat an earlier finding."""
_RULE = "LRO-DESC-09"

_Explain = Callable[[], Violation]


@dataclass(frozen=True, slots=True)
class _Line:
    number: int
    data: bytes
    record: dict[str, Any]
    reported: tuple[str, ...]
    """JSON pointers to values that are reported already."""


class _Traits(NamedTuple):
    """Traits of a schema that decide how records are validated against it."""

    fast_validator: FastValidator | None
    """None if jsonschema-rs cannot be used for the schema."""
    refusal_is_final: bool
    """True if jsonschema is known to refuse each record that jsonschema-rs refuses."""
    tame: bool
    """True if jsonschema may run in this process (`is_tame`)."""
    distinguishes_long_integers: bool
    """True if the schema may treat an integer beyond 64 bits and the nearest double differently."""


def _traits(schema: object) -> _Traits:
    return _Traits(
        foreign_fast_validator(schema), refusal_is_final(schema), is_tame(schema), distinguishes_long_integers(schema)
    )


@lru_cache(maxsize=64)
def _traits_of(text: str) -> _Traits:
    return _traits(json.loads(text))


class LineSchemaChecker:
    """Validates records against one schema, which must be valid (`lro_spec.schema.line_schema.schema_problem`)."""

    def __init__(self, schema: object, patience_s: float = PATIENCE_S) -> None:
        text = text_of(schema)
        traits = _traits(schema) if text is None else _traits_of(text)
        self._schema = schema
        self._fast_validator, self._refusal_is_final, self._tame, self._distinguishes_long_integers = traits
        self._remaining_s = patience_s
        self._patience_s = patience_s
        self._child: SchemaChild | None = None
        self._waiting: list[_Line] = []
        self.judged = 0
        """Number of records that were validated."""
        self._unjudged = 0
        """Number of records that were not validated, because the time was used up."""
        self._compared = 0
        """Number of violations so far in lines in which a value was reported already."""

    def take(
        self, records: list[dict[str, Any]], block: Block, *, satisfied: bool = False, reported: Collection[str] = ()
    ) -> Iterator[Finding]:
        """Findings about the records of a block. Some of these findings may come only with a later block.

        *satisfied* is true if all of the records are known to satisfy the schema. *reported* is only given with a
        single record: it has JSON pointers to values that have been reported already. A violation at one of these
        values causes no further finding.
        """
        if satisfied or (not self._distinguishes_long_integers and self._all_pass(records)):
            self.judged += len(records)
            return
        for place, read in enumerate(records):
            data = block.lines[place]
            record = exact(data, read) if self._distinguishes_long_integers else read
            if accepts(self._fast_validator, record):
                self.judged += 1
                continue
            record = exact(data, read)  # the refusal may come from a long integer that orjson has rounded
            if record is not read and accepts(self._fast_validator, record):
                self.judged += 1
                continue
            self._waiting.append(_Line(block.number + place, data, record, tuple(reported)))
            if len(self._waiting) >= (1 if self._tame else _BATCH):
                yield from self._validate_waiting()

    def end(self) -> Iterator[Finding]:
        """The remaining findings, after the last record."""
        yield from self._validate_waiting()
        if self._child is not None:
            self._child.close()
        if self._unjudged:
            were = "line was" if self._unjudged == 1 else "lines were"
            message = f"{self._unjudged} {were} not checked against line_schema"
            expected = f"a schema that needs less than {self._patience_s:g} s for the lines that jsonschema-rs refuses"
            observed = f"{self.judged} {'line' if self.judged == 1 else 'lines'} checked until then"
            hint = "recursion, and regular expressions that need backtracking, are slow"
            yield Finding(_RULE, Kind.NOT_EVALUATED, "", message, expected, observed, hint, severity="warning")

    def _all_pass(self, records: list[dict[str, Any]]) -> bool:
        try:
            return self._fast_validator is not None and all(map(self._fast_validator, records))
        except (ValueError, OverflowError):  # half a surrogate pair, which jsonschema-rs cannot represent
            return False

    def _validate_waiting(self) -> Iterator[Finding]:
        waiting, self._waiting = self._waiting, []
        while waiting and self._remaining_s > 0:
            began = time.monotonic()
            violations, judged = self._violations(waiting)
            self._remaining_s -= time.monotonic() - began
            self.judged += judged
            for place, explain in violations:
                if not self._is_repetition(waiting[place], explain):
                    yield _finding(waiting[place], explain)
            waiting = waiting[judged:]  # the rest, if the time of a call was used up
        self._unjudged += len(waiting)

    def _is_repetition(self, line: _Line, explain: _Explain) -> bool:
        """True if a violation only repeats what was reported about the line already.

        Explaining a violation takes time. So after `_MAX_COMPARED` violations in such lines, all further violations in
        them are assumed to be repetitions.
        """
        if not line.reported:
            return False
        self._compared += 1
        return self._compared > _MAX_COMPARED or explain().about in line.reported

    def _violations(self, waiting: list[_Line]) -> tuple[list[tuple[int, _Explain]], int]:
        """Return the violations and the number of lines that were validated. A violation is given by the index of its
        line and a function that explains it."""
        if self._tame:
            violations_here = [
                (place, partial(self._explained, line)) for place, line in enumerate(waiting) if self._violates(line)
            ]
            return violations_here, len(waiting)
        time_s = min(_CALL_TIMEOUT_S, self._remaining_s)
        child = self._child = self._child or SchemaChild()
        judgement = child.judge(self._schema, [w.record for w in waiting], len(waiting), time_s)
        violations, judged = judgement.violations, judgement.judged
        # If a record used up the time or the memory, the last violation says so. Its index is `judged`, since the
        # record does not count as judged. A record that had less time than usual is not reported.
        if time_s < min(_CALL_TIMEOUT_S, self._patience_s):
            violations = tuple((place, violation) for place, violation in violations if place < judged)
        judged += any(place >= judged for place, _ in violations)  # so that the next call begins after that record
        return [(place, partial(_identity, violation)) for place, violation in violations], judged

    @cached_property
    def _validator(self) -> Validator:
        return validator_of(self._schema)

    @cached_property
    def _judge(self) -> Callable[[object], Violation | None]:
        return judge_of(self._schema)

    def _violates(self, line: _Line) -> bool:
        """True if a record violates the schema; jsonschema decides, unless jsonschema-rs is known to agree with it."""
        try:
            if self._fast_validator is not None and self._refusal_is_final:
                return not self._fast_validator(line.record)
            return not self._validator.is_valid(line.record)
        except Exception:  # half a surrogate pair in jsonschema-rs, an odd schema of draft 3 in jsonschema
            return self._judge(line.record) is not None

    def _explained(self, line: _Line) -> Violation:
        return self._judge(line.record) or Violation("", "the record is not valid")


def _identity(violation: Violation) -> Violation:
    return violation


def _finding(line: _Line, explain: _Explain) -> Finding:
    def compute() -> Finding:
        violation, text = explain(), line.data.decode("utf-8", "replace")
        index = position(text, violation.pointer)
        return Finding(
            _RULE,
            Kind.SCHEMA_VIOLATION,
            violation.pointer if index is not None else "",
            "the line does not satisfy line_schema",
            violation.expected or "a record that can be checked against line_schema",
            violation.observed or str(violation),
            "if the record is right, line_schema is too narrow",
            line=line.number,
            column=(index or 0) + 1,
            excerpt=excerpt(text, index or 0),
        )

    if len(line.data) > MAX_LAZY_BYTES:
        return compute()
    return Finding.lazy(_RULE, Kind.SCHEMA_VIOLATION, line.number, "error", None, compute)
