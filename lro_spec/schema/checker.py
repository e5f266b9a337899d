"""A descriptor's ``line_schema`` against every line of its file, whoever wrote the schema, however long the file.

The gate lets through what is sound; what it stops, and everything where there is none, is looked at closely: in
this process where the schema is tame, else in a child with limits. All close looks together have a limit on time.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from lro_spec.findings import Finding, Kind, excerpt
from lro_spec.jsonl.lines import Block
from lro_spec.jsonl.parse import exact
from lro_spec.jsonl.position import position
from lro_spec.schema.fast import foreign_gate, passes, tells_long_integers_apart
from lro_spec.schema.untrusted import SchemaChild, Violation, is_tame, judge_of

PATIENCE_S = 30.0
"""How long close looks at lines may take, all together."""

_BATCH = 500
_LOOK_S = 5.0
_RULE = "LRO-DESC-09"


@dataclass(frozen=True, slots=True)
class _Line:
    number: int
    data: bytes
    record: dict[str, Any]


class LineJudge:
    """Holds records against one schema, which must be one (`lro_spec.schema.line_schema.schema_problem`)."""

    def __init__(self, schema: object, patience_s: float = PATIENCE_S) -> None:
        self._schema = schema
        self._gate = foreign_gate(schema)
        self._tame = is_tame(schema)
        self._by_digits = tells_long_integers_apart(schema)
        self._left_s = patience_s
        self._patience_s = patience_s
        self._judge: Callable[[object], Violation | None] | None = None
        self._child: SchemaChild | None = None
        self._waiting: list[_Line] = []
        self.judged = 0
        """How many records were."""
        self._unjudged = 0

    def take(self, records: list[dict[str, Any]], block: Block, *, fit: bool = False) -> Iterator[Finding]:
        """What the schema says against the records of a block; some of it may come with a later block.

        *fit* where they are known to satisfy it.
        """
        if fit or (not self._by_digits and self._all_pass(records)):
            self.judged += len(records)
            return
        for place, read in enumerate(records):
            data = block.lines[place]
            record = exact(data, read) if self._by_digits else read
            if passes(self._gate, record):
                self.judged += 1
                continue
            record = exact(data, read)
            if record is not read and passes(self._gate, record):
                self.judged += 1
                continue
            self._waiting.append(_Line(block.number + place, data, record))
            if len(self._waiting) >= (1 if self._tame else _BATCH):
                yield from self._look()

    def end(self) -> Iterator[Finding]:
        """What is left to say after the last record."""
        yield from self._look()
        if self._child is not None:
            self._child.close()
        if self._unjudged:
            were = "line was" if self._unjudged == 1 else "lines were"
            message = f"{self._unjudged} {were} not held against line_schema"
            expected = f"a schema that takes less than {self._patience_s:g} s for the lines that need a close look"
            observed = f"{self.judged} {'line' if self.judged == 1 else 'lines'} judged until then"
            hint = "recursion and regular expressions that need backtracking take the time"
            yield Finding(_RULE, Kind.NOT_EVALUATED, "", message, expected, observed, hint, severity="warning")

    def _all_pass(self, records: list[dict[str, Any]]) -> bool:
        try:
            return self._gate is not None and all(map(self._gate, records))
        except (ValueError, OverflowError):  # half a surrogate pair, for which the gate has no word
            return False

    def _look(self) -> Iterator[Finding]:
        waiting, self._waiting = self._waiting, []
        while waiting and self._left_s > 0:
            began = time.monotonic()
            found, judged = self._of(waiting)
            self._left_s -= time.monotonic() - began
            self.judged += judged
            yield from self._told(waiting, found)
            waiting = waiting[judged:]  # behind a line that took all the time of one look
        self._unjudged += len(waiting)

    def _of(self, waiting: list[_Line]) -> tuple[list[tuple[int, Violation]], int]:
        """What one look finds, by the place of each line, and how many lines it came through."""
        if self._tame:
            judge = self._judge = self._judge or judge_of(self._schema)
            found = [(place, said) for place, line in enumerate(waiting) if (said := judge(line.record))]
            judged = len(waiting)
        else:
            time_s = min(_LOOK_S, self._left_s)
            child = self._child = self._child or SchemaChild()
            judgement = child.judge(self._schema, [w.record for w in waiting], len(waiting), time_s)
            found, judged = list(judgement.violations), judgement.judged
            if time_s < min(_LOOK_S, self._patience_s):  # too little to blame a line for taking all of it
                found = [(place, said) for place, said in found if place < judged]
        return found, judged + any(place >= judged for place, _ in found)

    def _told(self, waiting: list[_Line], found: list[tuple[int, Violation]]) -> Iterator[Finding]:
        for place, said in found:
            line = waiting[place]
            text = line.data.decode("utf-8", "replace")
            at = position(text, said.pointer)
            yield Finding(
                _RULE,
                Kind.SCHEMA_VIOLATION,
                said.pointer if at is not None else "",
                "the line does not satisfy line_schema",
                said.expected or "a record that line_schema can be held against",
                said.observed or str(said),
                line=line.number,
                column=(at or 0) + 1,
                excerpt=excerpt(text, at or 0),
            )
