"""Rules for one exchange: what the specification requires of any call, its result and its file.

An *exchange* is a call of an operation and what is known of the same call under other settings. Its *twin* is the same
call, answered inline by a server that offloads nothing. E is the server's estimate of the tokens in a result, which the
header of the file states.

A rule is a pure function of an `Exchange` and a `Context`. It yields a `Judged` for each subject that it examined. If
it could examine nothing, it yields the reason. `Exchanges.judge` applies the rules of a requirement to every exchange
of the run.

Defects that can be seen in a descriptor or a file alone are found by `lro_spec.validation`
(`lro_conformance.analysis.documents`).
"""

from __future__ import annotations

import json
import pathlib
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, islice
from math import ceil
from statistics import median
from typing import Any, Literal, NamedTuple, cast

from lro_conformance.analysis.comparison import Comparison
from lro_conformance.analysis.detail import DetailLevels, filled_fields
from lro_conformance.analysis.documents import calls_of_run
from lro_conformance.analysis.estimate import ESTIMATE_OF_EARLIER_CALL, Estimates, estimate_tolerance
from lro_conformance.analysis.prose import (
    RecognisableMemories,
    members_shown_in,
    text_contains_memory,
    titles_missing_from,
)
from lro_conformance.analysis.results import cursor_beside, differing_descriptors, is_failure
from lro_conformance.analysis.sequences import in_sequence
from lro_conformance.analysis.threshold import MAX_DRIFT_SHARE, Decision, decisions, is_another_figure_stated
from lro_conformance.analysis.timestamps import are_times_near_call, place_of_time, ulid_time, written_at
from lro_conformance.capture.call import Call, CallInContext, Identity, died, mark_if_indirect
from lro_conformance.capture.claims import size_of, surely_exceeds
from lro_conformance.capture.corpus import (
    DELICATE_IDS,
    cjk_memories,
    corpus,
    delicate_memory,
    large,
    many_small,
    rough_memory,
)
from lro_conformance.capture.estimate import characters, tokens_per_character
from lro_conformance.capture.file import OUTSIDE
from lro_conformance.capture.intervention import Intervention
from lro_conformance.capture.marks import mark_in_file
from lro_conformance.capture.records import (
    MEMORY_FIELDS,
    Path,
    Record,
    as_record,
    at_path,
    by_id,
    has_path,
    hit_scores,
    id_of,
    ids_of_memories,
    is_a_page,
    is_blank,
    lost_or_changed,
    names_are_mapped,
    names_of_cut_fields,
    names_of_fields,
    of_same_memories,
    own_name,
    path_of,
    renamed,
    repeated_ids,
    show,
    show_path,
    size,
    strings_in,
    texts_of_memory,
    values_apart,
    was_given,
    wide_characters,
)
from lro_conformance.judging.derived import derived
from lro_conformance.judging.subjects import ESTIMATE_IN_HEADERS, Mark, MarkedSubject, Subjects
from lro_conformance.trials.edges import Edges
from lro_conformance.trials.exploration import AfterStoring, Explored, Triple
from lro_conformance.trials.seeded import LARGE_SIZES, Seeded
from lro_conformance.trials.survey import Inline, Survey
from lro_spec.display import counted
from lro_spec.editions import Edition
from lro_spec.jsonl.strict import surely_equal
from lro_spec.tokens import CHARACTERS_PER_TOKEN, exceeds_threshold
from lro_spec.validation.payload import OPENING_LENGTH, preview_limit, records_shown


@dataclass(frozen=True)
class Exchange:
    """A call of an operation, and what is known of the same call under other settings."""

    call: Call
    twin: Call | None = None
    """An identical call that was answered inline by a server with the same memories; None if there is no such call."""
    lowest: Call | None = None
    """An identical call at the lowest threshold, to a server with the same memories. If it was offloaded, the header
    of its file states E. It may be `call` itself. None if there is no such call."""
    values_comparable: bool = False
    """True if the values of the two results can be compared, because the twin was made in lockstep with the call, or
    soon before or after it."""
    in_flight: bool = False
    """True if other calls were under way at the same time, so that only the whole conversation reproduces the
    exchange."""
    earlier_call_of_file: Call | None = None
    """An earlier call that named the same file; None if the call has a file of its own."""
    stray: tuple[str, ...] = ()
    """Offloaded files that appeared during the call, but that its result does not name."""
    stored: Mapping[str, Record] = field(default_factory=dict[str, Record])
    """The memories that the suite had given to the servers of the call and of its twin, by id. Of several versions of a
    memory it is the latest."""
    stored_again: frozenset[str] = frozenset()
    """The ids under which the suite had stored more than one version of a memory. A server may hold all versions."""
    has_other_memories: bool = False
    """True if these servers also hold other memories, which may differ between the servers. Then values that depend on
    all memories, such as scores, may differ."""
    steps: tuple[Call | Intervention, ...] = ()
    """Calls and interventions that have to come before the call to reproduce the exchange; empty if the call alone
    reproduces it."""
    names: Mapping[str, str] = field(default_factory=dict[str, str])
    """The server's own names of inline fields, mapped to the names of MIF (`names_of_fields`)."""
    gives_own_ids: bool = False
    """True if the server gives new ids to the memories that the suite stores, by a counter or at random. Then a memory
    may have a different id in another process, and an id may belong to a different memory there."""

    @cached_property
    def subject(self) -> Call | CallInContext | AfterStoring:
        """The subject whose script reproduces this exchange."""
        found = by_id(self.call.file_records or self.call.records or []).keys()
        memories = tuple(m for key, m in self.stored.items() if key in found)
        if memories or self.steps:
            return AfterStoring(self.call, memories, self.in_flight, self.steps)
        return CallInContext(self.call) if self.in_flight else self.call

    @property
    def has_file(self) -> bool:
        """True if the call was offloaded to a file that could be read."""
        return self.call.outcome == "offloaded" and self.call.file is not None and self.call.file.problem is None

    @cached_property
    def paired_by(self) -> Literal["id", "title", "content"]:
        """The field by which records of the file are paired with records of the inline result.

        It is the id, with two exceptions. If the servers replaced the ids of stored memories, it is the title or, if
        records have no titles, the content. If inline records have no ids, but all have different titles, it is the
        title.
        """
        inline_records = [renamed(r, self.names) for r in self._records]
        stored = {m.get("title") for m in self.stored.values()}
        stored_records = [r for r in inline_records if r.get("title") in stored]
        if stored_records:
            return "id" if any(id_of(r) in self.stored for r in stored_records) else "title"
        if self.gives_own_ids:
            return "id" if self._has_ids_of(inline_records) else self._text_of_each(inline_records)
        titles = [str(r.get("title")) for r in inline_records if r.get("title")]
        return "title" if not by_id(inline_records) and len({*titles}) == len(inline_records) > 0 else "id"

    def _has_ids_of(self, inline_records: Sequence[Record]) -> bool:
        """True if the file has a record with the same id and the same title for each of these records."""
        filed = by_id(self.call.file_records)
        pairs = [(r, filed.get(id_of(r) or "")) for r in inline_records]
        return all(f is not None and ("title" not in r or f.get("title") == r["title"]) for r, f in pairs)

    def _text_of_each(self, inline_records: Sequence[Record]) -> Literal["id", "title", "content"]:
        """The field, title or content, that is a text in all of these records and all records of the file. If there is
        no such field, it is the id."""
        records = (*inline_records, *self.call.file_records)
        if all(isinstance(r.get("title"), str) for r in records):
            return "title"
        return "content" if all(isinstance(r.get("content"), str) for r in records) else "id"

    @property
    def has_broken_lines(self) -> bool:
        """True if some record lines of the file are not strict JSON."""
        return self.call.file is not None and any(line.problem is not None for line in self.call.file.record_lines)

    @property
    def is_one_stored_memory(self) -> bool:
        """True if the inline result is a single memory that was stored by the suite."""
        if len(self._records) != 1:
            return False
        by_its_text = self.gives_own_ids and bool(ids_of_memories(self._records, self.stored.values()))
        return id_of(self._records[0]) in self.stored or by_its_text

    @property
    def _records(self) -> Sequence[Record]:
        return (self.twin.records if self.twin is not None else None) or []

    def index(self, records: Iterable[Record]) -> dict[str, Record]:
        """Records by the value of their `paired_by` field. If several records have the same value, the first one
        counts."""
        if self.paired_by == "id":
            return by_id(records)
        return {text: alike[0] for text, alike in _by_text(records, self.paired_by).items()}

    @cached_property
    def file_records(self) -> Mapping[str, Record]:
        """The records in the file, by the value of their `paired_by` field; empty if there is no file."""
        return self.index(self.call.file_records)

    @cached_property
    def inline_records(self) -> Mapping[str, Record]:
        """The records of the inline result, by the value of their `paired_by` field; empty if there are no such
        records."""
        found: dict[str, Record] = {}
        for record in self._records:
            for key in self.index([renamed(record, self.names)]):
                found.setdefault(key, record)
        return found

    @cached_property
    def ambiguous_keys(self) -> frozenset[str]:
        """Values of the `paired_by` field that do not tell which records belong together, because several records of
        the file, or of the inline result, have them. An id is ambiguous only if the suite stored several versions of
        its memory."""
        inline_records = [renamed(r, self.names) for r in self._records]

        def repeated(records: Sequence[Record]) -> set[str]:
            if self.paired_by != "id":
                return {text for text, alike in _by_text(records, self.paired_by).items() if len(alike) > 1}
            return repeated_ids(records).keys() & self.stored_again

        return frozenset(repeated(self.call.file_records) | repeated(inline_records))

    @cached_property
    def stored_by_key(self) -> Mapping[str, Record]:
        """The memories that the suite gave to the servers, by the same keys as `inline_records`."""
        if not self.gives_own_ids:
            return self.index(self.stored.values())
        memories_by_text = {text: m for m in self.stored.values() for text in texts_of_memory(m)}
        texts = (
            (key, " ".join(text.split())) for key, record in self.inline_records.items() for text in strings_in(record)
        )
        return {key: memories_by_text[text] for key, text in texts if text in memories_by_text}

    def obstacle(self, comparison: Comparison) -> str | None:
        """Reason why the records of the file cannot be paired with records of the inline result; None if they can be
        paired."""
        if self.paired_by != "id":
            return None
        changed = self.gives_own_ids and not self._has_ids_of([renamed(r, self.names) for r in self._records])
        if changed or (
            self.stored and not self.inline_records.keys() & (self.stored.keys() | self.file_records.keys())
        ):
            return "each process gives stored memories ids of its own, and inline results show no titles"
        return None if self.names and self.inline_records.keys() & self.file_records.keys() else comparison.obstacle


_MemoryKey = tuple[int, str, str]
"""A server process, a detail level, and the id of a memory."""


class Rate(NamedTuple):
    """The rate by which the server estimates nearly all files of an operation."""

    tokens: float
    """Number of tokens per character."""
    separators: float
    """The median, over these files, of the number of JSON separators per character (`FileSeen.separators`)."""
    quotes: float
    """The median, over these files, of the number of quotation marks per character."""


@dataclass(frozen=True)
class Context:
    """Evidence about the server as a whole, which is needed to judge a single exchange."""

    survey: Survey
    details: DetailLevels
    edition: Edition
    comparison: Comparison | None = None
    """None if there are no inline results."""
    edges: Edges | None = None
    """None if no exact threshold could be tried."""
    decisions: Mapping[str, Decision] | None = None
    """The rule by which each operation decides; None if no exact threshold could be tried."""
    recognisable: RecognisableMemories | None = None
    """Memories to look for in inline results that are text; None if there are no inline results."""
    fields_by_memory: Mapping[_MemoryKey, frozenset[str]] = field(default_factory=dict[_MemoryKey, frozenset[str]])
    """The documented fields that have a value for a memory in any file."""
    scored_by_confidence: frozenset[tuple[str, str | None]] = frozenset()
    """Operations and queries for which the scores are the memories' confidences; see the function of the same name."""
    headers_state_another_figure: bool = False
    """True if headers state a figure other than the one that is compared with the threshold
    (`is_another_figure_stated`)."""
    maps_names: bool = False
    """True if inline fields have names of the server's own, but the names of MIF in files."""
    names: Mapping[str, str] = field(default_factory=dict[str, str])
    """The server's own names of inline fields, mapped to the names of MIF (`names_of_fields`). Only names whose meaning
    is known are included."""
    rates: Mapping[str, Rate] = field(default_factory=dict[str, Rate])
    """The rate of each operation for which nearly all files have the same rate (`_rates`)."""
    gives_own_ids: bool = False
    """True if the server gives new ids to the memories that the suite stores (`_gives_own_ids`)."""
    size_variation: int = 0
    """Largest difference, in characters, between the sizes of a record on servers in lockstep (`_size_variation`)."""

    def applied_to(self, exchanges: Sequence[Exchange]) -> Sequence[Exchange]:
        """The exchanges, to which the context's `names` and `gives_own_ids` are added."""
        if not self.names and not self.gives_own_ids:
            return exchanges
        return [replace(e, names=self.names, gives_own_ids=self.gives_own_ids) for e in exchanges]

    @property
    def unstable_operations(self) -> frozenset[str]:
        """Operations whose identical calls may return different records (`Comparison.unstable_operations`)."""
        return self.survey.volatile_operations if self.comparison is None else self.comparison.unstable_operations

    @cached_property
    def largest_inject(self) -> tuple[int, int]:
        """The numbers of records and characters in the largest inline result of inject at the default budget. Zeros if
        no such result has records."""
        calls = () if self.comparison is None else self.comparison.inline.calls
        found = [c.records for c in calls if c.operation == "inject" and c.records]
        return max(((len(r), sum(map(size, r))) for r in found), key=lambda one: one[1], default=(0, 0))

    @cached_property
    def volatile(self) -> Mapping[str, frozenset[Path]]:
        """For each operation, the paths of the fields that differ between inline calls (`Comparison.volatile`)."""
        known = self.comparison
        return {} if known is None else {name: known.volatile(name) for name in self.survey.operations}


@dataclass(frozen=True, slots=True)
class Judged:
    """One subject that a rule examined."""

    holds: bool
    expected: str = ""
    observed: str = ""
    mark: Mark | None = None
    """The place of the defect in the evidence."""
    depends_on: tuple[Call, ...] = ()
    """Other calls on whose files the judgement depends."""
    place: str = ""
    """The place of the defect in a document; see `lro_conformance.judging.subjects.place_of`."""


Rule = Callable[[Exchange, Context], Iterator[Judged | str]]
"""A demand of a requirement on an exchange. A rule yields a reason instead of a `Judged` if it could examine
nothing."""


@dataclass(frozen=True)
class Exchanges:
    """All exchanges of a run."""

    exchanges: Sequence[Exchange]
    context: Context
    repeated: frozenset[Identity] = frozenset()
    """The calls whose file had already been named by an earlier call of the run."""

    def judge(self, requirement: str, subjects: Subjects) -> None:
        """Examine every exchange by the rules of a requirement."""
        for exchange in self.exchanges:
            for found in findings(exchange, self.context, requirement):
                if isinstance(found, str):
                    subjects.not_observed(found)
                elif not found.holds and any(c.identity in self.repeated for c in found.depends_on):
                    subjects.not_observed(ESTIMATE_OF_EARLIER_CALL)
                else:
                    subject = self._subject_of(exchange, found)
                    subjects.expect(found.holds, expected=found.expected, observed=found.observed, subject=subject)

    def alters(self, call: Call) -> bool:
        """Return whether the records or values in a call's file differ from those of its inline result."""
        return any(_alters(e, self.context) for e in self.exchanges if e.call.identity == call.identity)

    @property
    def names(self) -> Mapping[str, str]:
        """The server's own names of inline fields, mapped to the names of MIF."""
        return self.context.names

    @property
    def fields_missing_inline(self) -> tuple[str, ...]:
        """The documented fields of files that all inline records lack, under MIF's name as well as under a known name
        of the server's own."""
        both = [e for e in self.exchanges if e.has_file and e.inline_records]
        filed = {key for e in both for record in e.call.file_records for key in filled_fields([record])}
        shown = {key for e in both for record in e.inline_records.values() for key in renamed(record, self.names)}
        return tuple(field for field in ("id", *MEMORY_FIELDS) if field in filed - shown)

    @property
    def operations_compared_by_text(self) -> tuple[str, ...]:
        """The operations whose files were compared with memories in a text, because the inline result has no
        records."""
        found = (e.call.operation for e in self.exchanges if e.has_file and shown_in_text(e, self.context))
        return tuple(dict.fromkeys(found))

    @property
    def by_title(self) -> bool:
        """True if records of a file were paired with inline records by title."""
        return any(e.has_file and e.paired_by == "title" for e in self.exchanges)

    @property
    def hidden_scores(self) -> tuple[str, ...]:
        """The operations whose score_range could not be compared with anything. Their files and inline results have no
        scores, and it is unknown whether the scores are the memories' confidences."""
        ranged = [e for e in self.exchanges if e.has_file and _is_a_range(e.call.summary.get("score_range"))]
        shown = {e.call.operation for e in ranged if self._shows_scores(e)}
        return tuple(dict.fromkeys(o for e in ranged if (o := e.call.operation) not in shown))

    def _shows_scores(self, exchange: Exchange) -> bool:
        call, twin = exchange.call, exchange.twin
        by_confidence = (call.operation, call.query) in self.context.scored_by_confidence
        return by_confidence or any("score" in r for r in call.file_records) or bool(twin and hit_scores(twin.result))

    def _subject_of(self, exchange: Exchange, found: Judged) -> object:
        subject = MarkedSubject(exchange.subject, found.mark) if found.mark else exchange.subject
        if found.holds:
            return subject
        marked = mark_if_indirect((exchange.call,), self.repeated, subject, in_flight=exchange.in_flight)
        return MarkedSubject(subject, None, found.place) if marked is subject and found.place else marked


def findings(exchange: Exchange, context: Context, requirement: str) -> Iterator[Judged | str]:
    """Everything that the rules of a requirement yield for an exchange."""
    for rule in RULES[requirement]:
        yield from rule(exchange, context)


@derived
def exchanges(
    survey: Survey,
    details: DetailLevels,
    estimates: Estimates,
    repeated: frozenset[Identity],
    found: Mapping[str, Any],
    edition: Edition,
) -> Exchanges:
    """Every call of the run with its twin. Of the explorer's calls, those of the shortest sequences come first."""
    inline = found.get("inline")
    edges = found.get("edges")
    explored = found.get("explored")
    context = context_of(
        survey,
        details,
        estimates,
        edition,
        inline if isinstance(inline, Inline) else None,
        edges if isinstance(edges, Edges) else None,
    )
    inline_calls = (*inline.calls, inline.many) if isinstance(inline, Inline) else ()
    twins = {_key(call): call for call in inline_calls if call is not None and call.outcome == "inline"}
    comparable_ids = (
        {id(c) for c, _ in context.comparison.pairs_between_inline_calls}
        if context.comparison is not None
        else set[int]()
    )
    explicit = [*_seeded(found.get("seeded"))]
    if isinstance(explored, Explored):
        explicit += exchanges_of(explored.smallest + explored.triples, explored.memories, len(explored.smallest))
        handled_ids = {id(c) for t in (*explored.smallest, *explored.triples, *explored.unsteady) for c in t.calls}
    else:
        handled_ids = set[int]()
    handled_ids |= {id(e.call) for e in explicit}
    concurrent_ids = {id(c) for c, _ in survey.together}
    # A server may refuse some of many concurrent calls.
    answered = [(c, a) for c, a in survey.together if c.outcome in ("inline", "offloaded")]
    call_alone = {id(c): a for c, a in answered if c.operation not in survey.volatile_operations}
    made = [
        Exchange(
            c,
            _twin(c, twins),
            call_alone.get(id(c)),
            values_comparable=id(c) in comparable_ids,
            in_flight=id(c) in concurrent_ids,
        )
        for c in calls_of_run(survey, found)
        if id(c) not in handled_ids
    ]
    # If files grow after descriptors have named them, only the files of the survey were read again later.
    all_exchanges = made if survey.unsettled else [*made, *explicit]
    context = extended_context(context, all_exchanges)
    all_exchanges = context.applied_to(all_exchanges)
    by_confidence = scored_by_confidence(all_exchanges)
    context = replace(
        context,
        fields_by_memory=_fields_by_memory(all_exchanges),
        scored_by_confidence=by_confidence,
        rates=_rates(all_exchanges),
    )
    return Exchanges(all_exchanges, context, repeated)


def _fields_by_memory(exchanges: Iterable[Exchange]) -> dict[_MemoryKey, frozenset[str]]:
    """The documented fields that have a value for a memory in files, without memories that were stored again."""
    found: dict[_MemoryKey, frozenset[str]] = {}
    for exchange in (e for e in exchanges if e.has_file and e.call.detail is not None):
        call = exchange.call
        for memory, record in by_id(call.file_records).items():
            if memory not in exchange.stored_again:
                key = (id(call.start), call.detail or "", memory)
                found[key] = found.get(key, frozenset()) | filled_fields([record])
    return found


def scored_by_confidence(exchanges: Iterable[Exchange]) -> frozenset[tuple[str, str | None]]:
    """Operations and queries for which score_range is known to be the range of the confidences in the file. It was
    exactly this range in several files, which have at least `MIN_RANGES` different ranges."""
    ranges_by_query: dict[tuple[str, str | None], set[tuple[float, float]]] = {}
    for call in (e.call for e in exchanges if e.has_file):
        confidences = _confidences(call)
        if confidences is not None and call.summary.get("score_range") == list(confidences):
            ranges_by_query.setdefault((call.operation, call.query), set()).add(confidences)
    return frozenset(key for key, ranges in ranges_by_query.items() if len(ranges) >= MIN_RANGES)


def _rates(exchanges: Iterable[Exchange]) -> dict[str, Rate]:
    """The rate of each operation for which nearly all files have the same rate (`_same_rate`).

    If this is not true of all files, it is enough if it is true of the files with few records (`_FEW_RECORDS`), because
    a server may estimate long results by a sample. Files with more than 1 % of special characters do not count
    (`FileSeen.special_characters`).
    """
    files: dict[str, list[Call]] = {}
    for call in (e.call for e in exchanges if _has_estimate(e)):
        if call.file is not None and 100 * call.file.special_characters <= characters(call):
            files.setdefault(call.operation, []).append(call)
    rates: dict[str, Rate] = {}
    for operation, calls in files.items():
        for measured in (calls, [c for c in calls if len(c.file_records) <= _FEW_RECORDS]):
            if (rate := _same_rate(measured)) is not None:
                rates[operation] = Rate(rate, median(map(_separators, measured)), median(map(_quotes, measured)))
                break
    return rates


def _separators(call: Call) -> float:
    """The share of JSON separators in the characters of a file's records."""
    return call.file.separators / characters(call) if call.file is not None else 0.0


def _quotes(call: Call) -> float:
    """The share of quotation marks in the characters of a file's records."""
    return call.file.quotes / characters(call) if call.file is not None else 0.0


def _same_rate(calls: Sequence[Call]) -> float | None:
    """The number of tokens per character of at least nine in ten of these files. None if the files differ more, or if
    they have too few different sizes to infer a rate."""
    share, tokens = _SAME_RATE_TOLERANCE
    rate = median(map(tokens_per_character, calls)) if calls else 0
    expected = {id(c): rate * characters(c) for c in calls}
    matching = [c for c in calls if abs((c.estimate or 0) - expected[id(c)]) <= share * expected[id(c)] + tokens]
    return rate if len(matching) >= 0.9 * len(calls) and len({characters(c) for c in matching}) >= _MIN_SIZES else None


def _has_estimate(exchange: Exchange) -> bool:
    return exchange.has_file and bool(exchange.call.file_records and exchange.call.estimate)


_SAME_RATE_TOLERANCE, _OTHER_RATE_TOLERANCE = (0.01, 40), (0.05, 80)
"""Largest deviations of E from the E that a rate gives. Each is a share of the latter, plus a number of tokens for
rounding and for a few characters around the records. If the deviation is within the first limit, the file has this
rate. If it is beyond the second limit, the E of the file is wrong."""

_MIN_SIZES = 8
"""Least number of different file sizes that are needed to infer a rate."""

_FEW_RECORDS = 5
"""If a result has at most this number of records, the estimate surely covers all of them, even if the server estimates
longer results by a sample."""


def extended_context(context: Context, exchanges: Sequence[Exchange]) -> Context:
    """The context, extended by what these exchanges show of the server: its own names of fields, whether it gives new
    ids to stored memories, and by how much the size of a record varies (`_size_variation`)."""

    def inline_with(others: Callable[[Exchange], Mapping[str, Record]]) -> Iterator[tuple[Record, Record]]:
        for exchange in exchanges:
            other_records = others(exchange)
            yield from (
                (record, other_records[key]) for key, record in exchange.inline_records.items() if key in other_records
            )

    def of_files(exchange: Exchange) -> Mapping[str, Record]:
        return exchange.file_records if exchange.has_file else {}

    def of_same_titles(others: Callable[[Exchange], Iterable[Record]]) -> Iterator[tuple[Record, Record]]:
        for exchange in exchanges:
            inline_records = exchange.twin.records if exchange.twin is not None else None
            if inline_records and "title" not in inline_records[0]:
                yield from of_same_memories(inline_records, others(exchange))

    def filed_with_titles() -> Iterator[tuple[Record, Record]]:
        return of_same_titles(lambda exchange: exchange.call.file_records if exchange.has_file else ())

    corpus_memories = corpus() if context.survey.seeded_by is not None else ()
    names = {
        **names_of_fields(inline_with(of_files)),
        **names_of_fields(filed_with_titles()),
        **names_of_fields(inline_with(lambda exchange: exchange.stored_by_key)),
        **names_of_fields(of_same_titles(lambda exchange: (*corpus_memories, *exchange.stored.values()))),
        **context.names,
    }
    names |= names_of_cut_fields(chain(inline_with(of_files), filed_with_titles()), names)
    return replace(
        context,
        maps_names=context.maps_names or bool(names) or any(names_are_mapped(*pair) for pair in inline_with(of_files)),
        names=names,
        gives_own_ids=context.gives_own_ids if (own := _gives_own_ids(context.survey, exchanges)) is None else own,
        size_variation=max(context.size_variation, _size_variation(exchanges)),
    )


def _size_variation(exchanges: Iterable[Exchange]) -> int:
    """Largest difference, in characters, between the sizes of a record in the file and in the inline result of servers
    in lockstep.

    Each server sets some values itself. If the lengths of these values differ, E differs, too.
    """
    return max(
        (
            abs(size(record) - size(inline_record))
            for e in exchanges
            if e.call is e.lowest and e.has_file
            for key, inline_record in e.inline_records.items()
            for record in (e.file_records.get(key, {}),)
            if record.keys() == inline_record.keys() and not surely_equal(record, inline_record)
        ),
        default=0,
    )


MIN_RANGES = 3
"""Least number of different ranges of confidences to which score_range has to be equal, to exclude chance."""


def _confidences(call: Call) -> tuple[float, float] | None:
    """The lowest and the highest confidence in a file. None if the file has no records, or if some record line cannot
    be read or has no confidence."""
    if call.file is None or any(line.record is None for line in call.file.record_lines):
        return None
    values = [as_record(record.get("provenance")).get("confidence") for record in call.file_records]
    numbers = [v for v in values if isinstance(v, int | float) and not isinstance(v, bool)]
    return (min(numbers), max(numbers)) if numbers and len(numbers) == len(values) else None


def _seeded(found: object) -> Iterator[Exchange]:
    """The exchanges of calls for memories that were stored by the suite, each with the same call inline."""
    if not isinstance(found, Seeded):
        return
    contents = {r.get("content") for r in (found.large.records or [])} if found.large is not None else set[object]()
    candidates = [m for m in map(large, LARGE_SIZES) if m["content"] in contents]
    if contents == {None}:  # Without contents, it is unknown which memory it is, but all have the same title.
        candidates = [{k: v for k, v in large(LARGE_SIZES[0]).items() if k != "content"}]
    pairs = (
        (found.large_filed, found.large, candidates),
        (found.delicate_filed, found.delicate, [{**delicate_memory(), "id": key} for key in DELICATE_IDS]),
        (found.rough_filed, found.rough, [rough_memory()]),
        (found.many_filed, found.many, many_small()),
    )
    for offloaded_call, inline_call, memories in pairs:
        if offloaded_call is not None and inline_call is not None and inline_call.outcome == "inline":
            stored = {m["id"]: m for m in memories}
            yield Exchange(offloaded_call, inline_call, values_comparable=True, stored=stored, has_other_memories=True)


def context_of(
    survey: Survey,
    details: DetailLevels,
    estimates: Estimates,
    edition: Edition,
    inline: Inline | None,
    edges: Edges | None,
) -> Context:
    """The context, as far as it follows from the evidence of these trials."""
    comparison = None if inline is None else Comparison(survey, inline)
    decided = None if edges is None else decisions(edges, estimates)
    recognisable = None if inline is None else RecognisableMemories(survey)
    stated = is_another_figure_stated(decided, estimates)
    return Context(
        survey, details, edition, comparison, edges, decided, recognisable, headers_state_another_figure=stated
    )


def exchanges_of(triples: Sequence[Triple], memories: Sequence[Record], reduced: int = 0) -> list[Exchange]:
    """The exchanges of calls that were made in lockstep. The twin of a call is the call of the same triple with a
    threshold that no result reaches, if that call was answered inline.

    The first *reduced* triples belong to sequences in which every step is needed. Calls whose folder was broken, or
    that were not offloaded again afterwards, are left out, because they are judged as failed writes
    (`lro_conformance.analysis.failed_writes`).
    """
    made: list[Exchange] = []
    first_call_of_file: dict[str, Call] = {}
    stored_before: dict[int | None, tuple[Mapping[str, Record], frozenset[str]]] = {}
    for current in in_sequence(triples, reduced):
        triple = current.triple
        if triple.stored not in stored_before:
            earlier = memories[: triple.stored]
            stored_before[triple.stored] = {m["id"]: m for m in earlier}, frozenset(repeated_ids(earlier))
        stored, stored_again = stored_before[triple.stored]
        for call in triple.calls if not triple.broken and not current.is_stuck else (triple.inline,):
            path = call.path if call.outcome == "offloaded" else ""
            made.append(
                Exchange(
                    call,
                    twin=triple.inline if call is not triple.inline and triple.inline.outcome == "inline" else None,
                    lowest=None if triple.broken or current.is_stuck else triple.lowest,
                    values_comparable=True,
                    in_flight=triple.in_flight,
                    earlier_call_of_file=first_call_of_file.get(path) if path else None,
                    stray=triple.stray if call is triple.lowest else (),
                    stored=stored,
                    stored_again=stored_again,
                    steps=current.steps(call),
                )
            )
            if path:
                first_call_of_file.setdefault(path, call)
    return made


def _by_text(records: Iterable[Record], field: str) -> dict[str, list[Record]]:
    """Records by the text of a *field*. White space in the text is collapsed, because altered white space is judged by
    LRO-FILE-10."""
    found: dict[str, list[Record]] = {}
    for record in records:
        found.setdefault(" ".join(str(record.get(field)).split()), []).append(record)
    return found


def _gives_own_ids(survey: Survey, exchanges: Sequence[Exchange]) -> bool | None:
    """Return whether the server gives new ids to the memories that the suite stores.

    True if inline records show memories that the suite stored, but none of the ids that the suite gave them. None if
    they show no memories that the suite stored.
    """
    stored = {m["id"]: m for m in corpus()} if survey.seeded_by == "tool" else {}
    for memories in {id(e.stored): e.stored for e in exchanges}.values():
        stored |= memories
    inline_records = [record for e in exchanges for record in e.inline_records.values()]
    # The records with ids of stored memories come first: this is the usual case, and is tested quickly.
    if ids_of_memories([r for r in inline_records if id_of(r) in stored], stored.values()):
        return False
    return True if ids_of_memories(inline_records, stored.values()) else None


def _key(call: Call) -> tuple[str, str, int]:
    """A key that is equal for calls which a server answers alike. It consists of the operation, the arguments, and the
    number of earlier requests that changed the state of the process."""
    return call.operation, json.dumps(dict(call.arguments), sort_keys=True, default=str), len(call.before)


def _twin(call: Call, twins: Mapping[tuple[str, str, int], Call]) -> Call | None:
    """An identical call that was answered inline by a server in the same time zone with the same memories. None if
    there is no such call, or if *call* was not offloaded."""
    twin = twins.get(_key(call)) if call.outcome == "offloaded" else None
    return None if twin is None or twin.start.env.get("TZ") != call.start.env.get("TZ") else twin


# The header


def _query(exchange: Exchange, context: Context) -> Iterator[Judged | str]:
    """The header's query is that of the call. Only white space may differ.

    If the call asks for everything, by a blank query or by ``*``, the header may have a blank query, ``*``, or no
    query.
    """
    call = exchange.call
    if not exchange.has_file or call.query is None or not call.header:
        return
    recorded = call.header.get("query")
    if recorded is not None and not isinstance(recorded, str):
        yield "the query in a header is not a string (LRO-FILE-03)"
        return
    everything = not call.query.strip() or call.query == "*"
    yield Judged(
        (recorded or "").split() == call.query.split() or (everything and recorded in (None, "", "*")),
        f'"query": {show(call.query)}',
        _shown_query(recorded, call.query) if "query" in call.header else "no query",
    )


def _shown_query(query: str | None, sent: str) -> str:
    cut = query is not None and len(query) < len(sent) and sent.startswith(query.rstrip("… .")) and len(sent) > 100
    return f"the first {len(query or '')} of {len(sent)} characters" if cut else show(query)


def _timestamp(exchange: Exchange, context: Context) -> Iterator[Judged | str]:
    """The header's timestamp is the time at which the file was written."""
    if exchange.has_file and (found := written_at(exchange.call)) is not None:
        place = place_of_time(exchange.call, context.edition)
        yield found if isinstance(found, str) else Judged(*found, place=place)


def _estimate_of_these(exchange: Exchange, context: Context) -> Iterator[Judged | str]:
    """E is the estimate of the records in the file. This is judged only if nearly all files of the operation have the
    same rate."""
    call, rate = exchange.call, context.rates.get(exchange.call.operation)
    if rate is None or call.file is None or not _has_estimate(exchange) or not exchange.values_comparable:
        return
    if exchange.has_broken_lines or _alters(exchange, context):
        yield BROKEN_LINES if exchange.has_broken_lines else ALTERED
        return
    size, separators, quotes = characters(call), _separators(call), _quotes(call)
    # At each separator, the text whose characters the server counts may have one space less or more than the file, and
    # it may lack the quotation marks. The share of separators and quotation marks is not the same in all files.
    spacings = (1.0, (1 - separators) / (1 - rate.separators), (1 + separators) / (1 + rate.separators))
    factors = [spacing * quoting for spacing in spacings for quoting in (1.0, (1 - quotes) / (1 - rate.quotes))]
    # The server may count an escape such as \\u0041 as one character or as six.
    least_tokens = min(factors) * rate.tokens * (size - 6 * call.file.backslashes)
    most_tokens = max(factors) * rate.tokens * size + 2 * call.file.special_characters
    share, tokens = _OTHER_RATE_TOLERANCE
    low, high = max(0, round((1 - share) * least_tokens - tokens)), round((1 + share) * most_tokens + tokens)
    yield Judged(
        low <= (call.estimate or 0) <= high,
        f"E between {low} and {high} for {size} characters, at the rate of nearly all other files of {call.operation}",
        f"E = {call.estimate}",
    )


# The records

ALTERED = "the records of the file are not those of the call (LRO-FILE-09, LRO-FILE-10)"
BROKEN_LINES = "a file has lines that are not strict JSON (LRO-FILE-01)"


def _alters(exchange: Exchange, context: Context) -> bool:
    found = (f for rule in (_complete, _values) for f in rule(exchange, context))
    return any(isinstance(f, Judged) and not f.holds for f in found)


def _complete(exchange: Exchange, context: Context) -> Iterator[Judged | str]:
    """The file has exactly the memories that the same call returns inline."""
    call, twin, comparison = exchange.call, exchange.twin, context.comparison
    if not exchange.has_file or twin is None or comparison is None:
        yield from _no_inline_result(exchange, context)
        return
    if exchange.has_broken_lines:
        yield BROKEN_LINES
        return
    records = twin.records
    if records is None:
        yield from _complete_by_text(exchange, context)
        return
    inline_records, file_records = exchange.inline_records, exchange.file_records
    # The inline result of inject is cut to the budget, but its file is not.
    may_be_partial = is_a_page(twin.result) or call.operation == "inject"
    if exchange.obstacle(comparison) is None and inline_records and not _is_a_selection(exchange, context):
        missing, added = inline_records.keys() - file_records.keys(), file_records.keys() - inline_records.keys()
        if may_be_partial and not _is_whole_inject(call, records, [file_records[key] for key in added], context):
            added = set[str]()
        # If records are paired by title, several of them may have the same title.
        memories = len(inline_records) if exchange.paired_by == "id" else len(records)
        lacks_some = not missing and len(call.file_records) < memories
        yield Judged(
            not missing and not added and not lacks_some,
            f"the {counted(memories, 'memory')} that the call returns inline",
            (
                f"{len(call.file_records)} records: some of several with the same {exchange.paired_by} are missing"
                if lacks_some
                else f"{counted(len(call.file_records), 'record')}: {len(missing)} missing, {len(added)} additional"
            )
            + (f"; first missing: {_name_of_missing(exchange, records, missing)}" if missing else "")
            + (_cut_inline(twin) if added and not missing else ""),
            mark=Mark(
                (
                    _list_of(f"{exchange.paired_by}s inline, in another process", inline_records),
                    _list_of(f"{exchange.paired_by}s in the file", file_records),
                )
            ),
        )
        return
    has_more = may_be_partial and len(call.file_records) > len(records)
    yield Judged(
        len(call.file_records) == len(records) or has_more,
        f"{counted(len(records), 'record')}, as inline",
        f"{counted(len(call.file_records), 'record')}"
        + (_cut_inline(twin) if len(call.file_records) > len(records) else ""),
    )


def _cut_inline(twin: Call) -> str:
    """A remark on an inline result that has fewer records than the file. Empty if its number of records is not its
    limit."""
    cut = twin.limit is not None and len(twin.records or ()) == twin.limit
    return ", more than inline: perhaps a limit cuts only the inline result" if cut else ""


def _list_of(what: str, keys: Iterable[str]) -> str:
    """A line of evidence that lists the records of a result."""
    first = [*islice(keys, _MAX_LISTED + 1)]
    return (
        f"{what}: {', '.join(show(key, 40) for key in first[:_MAX_LISTED])}{', …' if len(first) > _MAX_LISTED else ''}"
    )


_MAX_LISTED = 3
"""Largest number of records that a line of evidence lists."""


def _name_of_missing(exchange: Exchange, records: Sequence[Record], missing: Collection[str]) -> str:
    """The `paired_by` value of a missing record. If all missing records have a blank one, it is the position of a
    missing record in the inline result, with the first words of the record."""
    nonblank_keys = [key for key in missing if key.strip()]
    if nonblank_keys:
        return min(nonblank_keys)
    place, record = next((n, r) for n, r in enumerate(records, 1) if exchange.index([r]).keys() & missing)
    beginning = next((text for key in ("title", "content") if (text := str(record.get(key) or "").strip())), "")
    field = exchange.paired_by
    return f"record {place} of the inline result, whose {field} is blank: {show(beginning or dict(record), 60)}"


def _is_whole_inject(call: Call, inline_records: Sequence[Record], added: Sequence[Record], context: Context) -> bool:
    """Return whether the budget of inject cannot be the reason why the *added* records of a file are not among the
    *inline_records*.

    That is so if another inline result of inject is surely larger than the inline records and the added records
    together (`MUCH_LARGER`), and has at least as many records. Then the added records would have fitted. But nothing is
    known of a budget that the call itself sets.
    """
    if call.operation != "inject" or not added or context.survey.operations["inject"].budget in call.arguments:
        return False
    records, characters = context.largest_inject
    together = [*inline_records, *added]
    weight = sum(
        size(r) + WIDE_WEIGHT * wide_characters(json.dumps(r, ensure_ascii=False, default=str)) for r in together
    )
    return records >= len(together) and characters >= MUCH_LARGER * weight


WIDE_WEIGHT = 5
"""Number of other characters that a wide character may count for, besides itself, in a budget of tokens."""

MUCH_LARGER = 1.5
"""If one result has this number of times the characters of another result, it is surely the larger one, whatever the
server counts for its budget."""


def _complete_by_text(exchange: Exchange, context: Context) -> Iterator[Judged | str]:
    """The file has each known memory whose title and content are in the inline text. If the text shows a memory several
    times, the file has it as often."""
    call, twin, recognisable = exchange.call, exchange.twin, context.recognisable
    if recognisable is None or twin is None or call.operation in context.unstable_operations:
        return
    known = shown_in_text(exchange, context)
    if not known:
        yield NO_RECORDS if context.survey.seeded_by is not None else f"{NO_RECORDS}; {SEED_HINT}"
        return
    missing = titles_missing_from(call, known, twin.text)
    yield Judged(
        not missing,
        f"the {counted(len(known), 'memory')} whose title and content the call shows inline",
        f"{counted(len(call.file_records), 'record')}, {len(missing)} missing"
        + (f"; first missing: {show(missing[0])}" if missing else ""),
    )
    for (title, content), times in Counter((m["title"], m["content"]) for m in _stored_in(exchange, twin)).items():
        shown_times = min(times, twin.text.count(content))
        # Only titles are compared, because a content may be altered (LRO-FILE-10).
        count_in_file = sum(r.get("title") == title for r in call.file_records)
        if shown_times > 1 and any("title" in r for r in call.file_records):
            yield Judged(
                count_in_file >= shown_times,
                f"{counted(shown_times, 'memory')} that differ in their ids only, as inline",
                f"{count_in_file} of them",
            )


def shown_in_text(exchange: Exchange, context: Context) -> list[Record]:
    """The known memories whose title and content are in the result of the twin. Empty if this result is not a text
    without records."""
    twin, recognisable = exchange.twin, context.recognisable
    if recognisable is None or twin is None or twin.records is not None:
        return []
    return recognisable.memories_shown_in(twin) + _stored_in(exchange, twin)


NO_RECORDS = "no records can be read in inline results (profile: inline, if they contain JSON)"
"""Reason why an inline result cannot be compared with a file."""
SEED_HINT = "in a text, the suite compares the memories that it stored (profile: seed)"
"""Addition to `NO_RECORDS`, which says how such a result can be compared nevertheless."""


def _stored_in(exchange: Exchange, twin: Call) -> list[Record]:
    """The stored memories whose title and content are in the text of the twin."""
    stored = exchange.stored.values()
    return [m for m in stored if text_contains_memory(m, twin.text)]


def _values_by_text(exchange: Exchange, context: Context) -> Iterator[Judged | str]:
    """If the inline text has the title or the content of a stored memory verbatim, the file also has it verbatim."""
    call, twin, recognisable = exchange.call, exchange.twin, context.recognisable
    if recognisable is None or twin is None or call.operation in context.unstable_operations:
        return
    stored, file_records = (
        _by_text((*recognisable.stored.values(), *exchange.stored.values()), "title"),
        _by_text(call.file_records, "title"),
    )
    found = False
    for title in (t for t in stored if t in file_records):
        for key in ("title", "content"):
            values = [m.get(key) for m in stored[title]]  # Several memories may have the same title, even a blank one.
            if not all(key in members_shown_in(m, twin.text) for m in stored[title]):
                continue
            for record in (r for r in file_records[title] if key in r):
                found = True
                expected = f"memory {show(title)}: /{key} is {show(values[-1])}, as stored and as inline"
                yield Judged(record[key] in values, expected, show(record[key]))
    if not found:
        yield NO_RECORDS if stored else f"{NO_RECORDS}; {SEED_HINT}"


def _no_inline_result(exchange: Exchange, context: Context) -> Iterator[str]:
    """The reason why the threshold cannot be set, if there is no inline result for this reason."""
    if exchange.has_file and context.comparison is None and not context.survey.adjustable:
        yield context.survey.reason_not_set("threshold_tokens")


def _is_a_selection(exchange: Exchange, context: Context) -> bool:
    """True if a limit cuts the result, and may leave different memories in each process. The limit may be the server's
    own.

    That is so in two cases. First, identical calls return different memories. Second, the file lacks some inline
    memories and has the same number of other memories instead, and each process gives its memories times by which they
    may be chosen.
    """
    call, inline_keys, file_keys = exchange.call, exchange.inline_records.keys(), exchange.file_records.keys()
    returned = exchange.twin.records or [] if exchange.twin is not None else []
    if call.limit is not None and len(returned) < call.limit:
        return False
    has_others = bool(inline_keys - file_keys and file_keys - inline_keys)
    # Records are counted, not keys: several records may have the same title.
    has_as_many_others = has_others and len(call.file_records) == len(returned)
    return call.operation in context.unstable_operations or (has_as_many_others and _has_times_of_its_own(exchange))


def _has_times_of_its_own(exchange: Exchange) -> bool:
    """True if each process gave its memories the times at which it had stored them."""
    inline_records = (renamed(r, exchange.names) for r in exchange.inline_records.values())
    return any(
        name in filed and are_times_near_call(value, filed[name], exchange.call)
        for inline, filed in zip(inline_records, exchange.file_records.values(), strict=False)
        for name, value in inline.items()
    )


def _values(exchange: Exchange, context: Context) -> Iterator[Judged | str]:
    """Every value in the file is the same as in the inline result of the same call."""
    call, twin, comparison = exchange.call, exchange.twin, context.comparison
    if not exchange.has_file or twin is None or comparison is None:
        yield from _no_inline_result(exchange, context)
        return
    if twin.records is None:
        yield from _values_by_text(exchange, context)
        return
    if (obstacle := exchange.obstacle(comparison)) is not None:
        yield obstacle
        return
    if not exchange.values_comparable:
        return
    skipped = [(*path_of(context.names.get(path[0], path[0])), *path[1:]) for path in context.volatile[call.operation]]
    if exchange.paired_by != "id":
        skipped.append(("id",))
    other_level = comparison.other_level(call, twin, context.names)
    lines = call.file.record_lines if call.file is not None else []
    file_records = exchange.index(r for line in lines if line.problem is None and (r := line.record) is not None)
    stored = exchange.stored_by_key
    for key, inline in exchange.inline_records.items():
        if key not in file_records or (exchange.has_other_memories and key not in stored):
            continue
        if key in exchange.ambiguous_keys:
            continue  # The records may be in any order.
        if comparison.obstacle is not None and key not in stored:  # Its id may belong to another memory there.
            title = renamed(inline, context.names).get("title")
            if title is None or title != file_records[key].get("title"):
                continue
        added = MEMORY_FIELDS if context.maps_names else comparison.fields_missing_inline
        wrong = lost_or_changed(inline, file_records[key], skipped, added=added, names=context.names)
        record = renamed(inline, context.names, file_records[key])
        wrong = [p for p in wrong if not are_times_near_call(at_path(record, p), at_path(file_records[key], p), call)]
        if key in stored:  # Each server may have made up all other values.
            wrong = [p for p in wrong if was_given(at_path(record, p), at_path(stored[key], p))]
        if other_level is not None:
            wrong = [p for p in wrong if not _is_one_sided(record, file_records[key], p)]
        if wrong:
            inline_value, filed_value = values_apart(record, file_records[key], wrong[0])
            mark = mark_in_file(call, file_records[key], *wrong[0], expected=at_path(record, wrong[0]))
            inline_name = own_name(inline, wrong[0], context.names, file_records[key])
            place = f"/{'/'.join(wrong[0])}"
            name = key if len(key) <= 60 else f"{key[:59]}…"  # The key may be a title or a content.
            if inline_name is not None:
                expected = f"{place} is {inline_value}, as the inline field {inline_name} says"
            elif has_path(record, wrong[0]):
                expected = f"{place} is {inline_value}, as inline"
            else:
                expected = f"{place} is a value that the inline record has, too"
            yield Judged(False, f"record {name}: {expected}", filed_value, mark)
        else:
            yield Judged(True)


def _uncut(exchange: Exchange, context: Context) -> Iterator[Judged | str]:
    """At full detail, the content of a memory that the suite stored is not replaced by its beginning and an ellipsis.
    This is required even if the inline result cuts the content, too."""
    for record in exchange.call.file_records if exchange.stored and exchange.has_file else ():
        stored, text = exchange.stored.get(id_of(record) or "", {}).get("content"), record.get("content")
        if not isinstance(stored, str) or not isinstance(text, str) or len(text) >= len(stored):
            continue
        end = _ELLIPSIS.search(text)
        if (
            end is not None
            and context.details.level_of(exchange.call) == "full"
            and stored.startswith(text[: end.start()])
        ):
            expected = f"the {len(stored)} characters of content that were stored as {show(id_of(record))}"
            mark = mark_in_file(exchange.call, record, "content", expected=stored)
            yield Judged(False, expected, f"{len(text)} of them, which end in {show(text[-20:])}", mark)


def _like_most(exchange: Exchange, context: Context) -> Iterator[Judged | str]:
    """If nearly all of the suite's memories in CJK scripts have the contents that were stored, all of them have these
    contents.

    These memories are alike. If a server alters contents, it alters all of them, unless it writes the file wrongly.
    """
    stored = {m["title"]: m for m in cjk_memories()}
    alike = [r for r in exchange.call.file_records if r.get("title") in stored and isinstance(r.get("content"), str)]
    unaltered = sum(r["content"] == stored[r["title"]]["content"] for r in alike)
    if not exchange.has_file or unaltered < max(_MIN_UNALTERED, 0.9 * len(alike)):
        return
    for record in alike:
        memory = stored[record["title"]]
        if record["content"] == memory["content"]:
            yield Judged(True)
            continue
        stored_content, filed_content = values_apart(memory, record, ("content",))
        identical = f"{unaltered} of {len(alike)} alike records"
        expected = f"record {id_of(record)}: /content is {stored_content}, as stored, like {identical}"
        mark = mark_in_file(exchange.call, record, "content", expected=memory["content"])
        yield Judged(False, expected, filed_content, mark)


_MIN_UNALTERED = 10
"""If at least this number of alike records have the content that was stored, a record with another content counts as
altered."""

_ELLIPSIS = re.compile(r"\s*(\.\.\.|…|\[…\]|\[\.\.\.\]|[(\[]truncated[)\]])\s*\Z", re.IGNORECASE)


def _is_one_sided(inline: Record, filed: Record, path: tuple[str, ...]) -> bool:
    """Return whether only one of two records of a memory has a value at a path. Blank values do not count.

    If a file has the fields of a different detail level, that does not violate LRO-FILE-10.
    """
    return is_blank(at_path(inline, path)) != is_blank(at_path(filed, path))


def _fields(exchange: Exchange, context: Context) -> Iterator[Judged | str]:
    """The records of the file do not have the fields of a detail level other than that of the inline result."""
    call, twin, comparison = exchange.call, exchange.twin, context.comparison
    if not exchange.has_file or twin is None or comparison is None or call.detail is None or not twin.records:
        yield from _no_inline_result(exchange, context)
        return
    if (obstacle := exchange.obstacle(comparison)) is not None:
        yield obstacle
        return
    other_level = comparison.other_level(call, twin, context.names)
    inline_fields, file_fields = filled_fields(twin.records), filled_fields(call.file_records)
    extra_field = min(file_fields - inline_fields, default=None)
    first_record = next(
        (r for r in call.file_records if extra_field is not None and not is_blank(r.get(extra_field))), None
    )
    yield Judged(
        other_level is None,
        f"records at {call.detail} detail have the fields {', '.join(sorted(inline_fields))}",
        f"{', '.join(sorted(file_fields))}, the fields of {other_level} detail",
        mark_in_file(call, first_record, extra_field)
        if other_level is not None and first_record is not None and extra_field is not None
        else None,
    )


def _fields_of_each(exchange: Exchange, context: Context) -> Iterator[Judged | str]:
    """Every record has all fields that its memory has in another file of the same process at the same detail level, as
    far as other records of its own file have these fields.

    The rule yields only failures. A success would prove nothing, because many memories are in a single file.
    """
    call = exchange.call
    if not exchange.has_file or call.detail is None or not context.fields_by_memory:
        return
    changing = {path[0] for path in context.volatile.get(call.operation, ())}
    fields = filled_fields(call.file_records) - changing
    for number, record in enumerate(call.file_records, 1):
        memory = id_of(record)
        if memory is None or memory in exchange.stored_again:
            continue  # It is unknown which memory, or which version of it, this is (LRO-FILE-11).
        elsewhere = context.fields_by_memory.get((id(call.start), call.detail, memory), frozenset[str]())
        lost = sorted(k for k in fields & elsewhere if is_blank(record.get(k)))
        if lost:
            expected = f"{', '.join(lost)} in each record whose memory has them, at {call.detail} detail"
            observed = (
                f"record {number} of {len(call.file_records)} lacks them; in another file at this level it has them"
            )
            yield Judged(False, expected, observed, mark_in_file(call, record, "id"))
            return


# The descriptor


def _path(exchange: Exchange, context: Context) -> Iterator[Judged | str]:
    """file_path names a regular file that can be read."""
    call = exchange.call
    if call.outcome != "offloaded":
        return
    if not isinstance(call.descriptor.get("file_path"), str) or call.file is None:
        yield "a descriptor has no file_path that is a string"
        return
    if call.file.problem == OUTSIDE:
        yield f"a file is {OUTSIDE}"
        return
    problem, mode = call.file.problem, call.file.mode
    if mode is not None and not mode & 0o444:  # For root, it can be read nevertheless.
        problem = f"mode {mode:04o}, so that nobody may read it"
    yield Judged(
        problem is None,
        "the path of a regular, readable file",
        f"{show_path(call.file.path)}: {problem}",
    )


def _scores(exchange: Exchange, context: Context) -> Iterator[Judged | str]:
    """If the file has no scores, score_range has the lowest and the highest score of the inline result of the same
    call."""
    call, twin = exchange.call, exchange.twin
    if (
        not exchange.has_file
        or twin is None
        or exchange.has_other_memories
        or call.operation in context.unstable_operations
    ):
        return
    reported, scores = call.summary.get("score_range"), hit_scores(twin.result)
    if len(set(scores)) < 2 or not _is_a_range(reported) or any("score" in r for r in call.file_records):
        return
    low, high = cast("list[float]", reported)
    yield Judged(
        abs(low - min(scores)) <= SCORE_TOLERANCE and abs(high - max(scores)) <= SCORE_TOLERANCE,
        f"score_range [{min(scores)}, {max(scores)}], the range of the call's inline hits",
        show(reported),
    )


def _range_of_confidences(exchange: Exchange, context: Context) -> Iterator[Judged | str]:
    """score_range is the range of the confidences in the file. This is required if it was so in enough other files for
    the same operation and query (`scored_by_confidence`)."""
    call = exchange.call
    reported = call.summary.get("score_range")
    if (call.operation, call.query) not in context.scored_by_confidence or not _is_a_range(reported):
        return
    low, high = cast("list[float]", reported)
    if exchange.has_file and (confidences := _confidences(call)) is not None:
        yield Judged(
            abs(low - confidences[0]) <= SCORE_TOLERANCE and abs(high - confidences[1]) <= SCORE_TOLERANCE,
            f"score_range {list(confidences)}, the range of the confidences, as in other files for this query",
            show(reported),
        )


SCORE_TOLERANCE = 0.01
"""Largest difference between a reported score and the true score. A reported score may be rounded."""


def _is_a_range(value: object) -> bool:
    numbers = cast("list[object]", value) if isinstance(value, list) else []
    return len(numbers) == 2 and all(isinstance(n, int | float) and not isinstance(n, bool) for n in numbers)


def _one_descriptor(exchange: Exchange, context: Context) -> Iterator[Judged | str]:
    """If a result has descriptors in text and in structuredContent, they agree."""
    call = exchange.call
    if not exchange.has_file or call.found_descriptor is None:
        return
    differs = differing_descriptors(call.result or {}, call.found_descriptor)
    yield Judged(differs is None, "the same descriptor as text and as structuredContent", differs or "")


def _no_records(exchange: Exchange, context: Context) -> Iterator[Judged | str]:
    """No record is returned beside the descriptor. Results of inject are left out, because LRO-INJ-04 is about them."""
    call = exchange.call
    if exchange.has_file and call.found_descriptor is not None and call.operation != "inject":
        leaked = _record_in(call, _beside(call))
        yield Judged(leaked is None, "no record next to the descriptor", leaked or "")


def _no_text(exchange: Exchange, context: Context) -> Iterator[Judged | str]:
    """An offloaded inject does not return its formatted text beside the descriptor."""
    call = exchange.call
    if exchange.has_file and call.operation == "inject":
        leaked = repeated_record(call)
        yield Judged(leaked is None, "the descriptor alone", leaked or "")


def repeated_record(call: Call) -> str | None:
    """A description of the file's records that the result repeats outside of the defined members of the descriptor;
    None if it repeats no records. A few titles in further members of the descriptor are a preview (`preview_limit`)."""
    defined_members = {"offloaded", "summary", "file_path", "line_schema", "jq_recipes", "guidance"}
    further_members = {k: v for k, v in call.descriptor.items() if k not in defined_members}
    is_preview = records_shown(further_members, call.file_records) <= preview_limit(len(call.file_records))
    in_members = _record_in(call, show(further_members, 10_000_000), ("content",) if is_preview else _TEXTS)
    return in_members or _record_in(call, _beside(call))


def _beside(call: Call) -> str:
    """Everything in a result that is not in the descriptor."""
    return (call.found_descriptor.surrounding_text if call.found_descriptor is not None else "") + show(
        _other_members(call), 10_000_000
    )


_TEXTS = ("content", "title")
"""The fields by which a record is recognised within a text."""


def _record_in(call: Call, text: str, fields: Sequence[str] = _TEXTS) -> str | None:
    """A description of the file's records that a text repeats, by these *fields* or by ids; None if it repeats no
    records."""
    strings = [(str(r.get("id")), s) for r in call.file_records for f in fields if isinstance(s := r.get(f), str)]
    ids = [str(r.get("id")) for r in call.file_records if len(str(r.get("id"))) >= 8]
    repeated_ids = [i for i in ids if i in text]
    if len(repeated_ids) > max(3, len(ids) // 4):
        return f"the ids of {counted(len(repeated_ids), 'record')} next to the descriptor"
    leaked_id = next((i for i, s in strings if len(s) >= OPENING_LENGTH and s[:OPENING_LENGTH] in text), None)
    return f"the text of record {leaked_id} next to the descriptor" if leaked_id is not None else None


def _other_members(call: Call) -> list[object]:
    """The members of a result and its blocks without their texts, such as ``_meta`` and the server's own members."""
    result = call.result or {}
    content: object = result.get("content")
    blocks = [as_record(b) for b in cast("list[object]", content)] if isinstance(content, list) else []
    defined_members = {"content", "structuredContent"}
    return [
        {k: v for k, v in result.items() if k not in defined_members},
        *({k: v for k, v in b.items() if k not in ("text", "resource")} for b in blocks),
    ]


def _no_error(exchange: Exchange, context: Context) -> Iterator[Judged | str]:
    """An offloaded result is a success: isError is false or absent."""
    if exchange.call.outcome == "offloaded":
        yield Judged(not is_failure(exchange.call.result or {}), "isError false or absent", "isError true")


def _no_cursor(exchange: Exchange, context: Context) -> Iterator[Judged | str]:
    """A descriptor has no cursor to a next page."""
    call = exchange.call
    if call.outcome != "offloaded":
        return
    cursor = cursor_beside(call.result, call.found_descriptor)
    yield Judged(cursor is None, "no cursor next to a descriptor", cursor or "")


# The file's name and place


def _folder(exchange: Exchange, context: Context) -> Iterator[Judged | str]:
    """The file is directly in the configured output folder."""
    call = exchange.call
    if not exchange.has_file:
        return
    folder, root = call.output_dir, call.real_output_dir
    if folder is None or root is None or call.file is None or call.file.real_path is None:
        yield context.survey.reason_not_set("output_dir")
        return
    real = pathlib.Path(call.file.real_path)
    if not real.is_relative_to(root):
        yield "the file is not below the folder that was set"
        return
    yield Judged(real.parent == root, f"a file in {folder}", call.file.path)


def _ulid(exchange: Exchange, context: Context) -> Iterator[Judged | str]:
    """The time in the file's ULID is the time at which the file was written."""
    if exchange.has_file:
        found, place = ulid_time(exchange.call, context.edition), place_of_time(exchange.call, context.edition)
        yield found if isinstance(found, str) else Judged(*found, place=place)


def _own_file(exchange: Exchange, context: Context) -> Iterator[Judged | str]:
    """Each offloaded call has a file of its own."""
    if exchange.has_file:
        yield Judged(
            exchange.earlier_call_of_file is None,
            "a file of its own",
            f"the file of another call: {exchange.call.path}",
        )


# The decision


def _offloaded_above(exchange: Exchange, context: Context) -> Iterator[Judged | str]:
    """A result that exceeds the threshold is offloaded."""
    yield from _decision(exchange, context, above=True)


def _inline_otherwise(exchange: Exchange, context: Context) -> Iterator[Judged | str]:
    """A result that does not exceed the threshold is inline, and no file is written for it."""
    yield from _decision(exchange, context, above=False)
    if exchange.stray:
        yield Judged(False, "no file but those that descriptors name", f"{exchange.stray[0]} was written as well")


def _decision(exchange: Exchange, context: Context, *, above: bool) -> Iterator[Judged | str]:
    call, survey = exchange.call, context.survey
    if exchange.lowest is None or context.decisions is None or call.operation not in context.decisions:
        return
    if context.decisions[call.operation] == "other records":
        yield f"at its exact threshold, {call.operation} returned other records, so it is unknown how it decides"
        return
    if context.decisions[call.operation] != "exact":
        yield "the server's decisions do not follow the header's E to the token (LRO-THR-06, LRO-THR-07, LRO-FILE-13)"
        return
    threshold = call.settings.get("threshold_tokens")
    estimate = exchange.lowest.estimate
    if call.operation in context.unstable_operations and estimate is not None:
        estimate = _estimate_of_same_records(exchange, estimate)
        if estimate is None:
            yield "identical calls return different records, so the size of this result is unknown"
            return
    if not isinstance(threshold, int) or (call.outcome == "no answer" and not died(call)):
        return
    if estimate is None:
        # If the call at the lowest threshold has no E, only its inline twin shows that there was something to offload.
        records = exchange.twin.records if exchange.twin is not None else None
        if not above or not records or exchange.call is not exchange.lowest or threshold > survey.lowest:
            return
        if exchange.is_one_stored_memory:
            yield "a single memory is judged by LRO-THR-08"
            return
        characters = size_of(exchange.twin) if exchange.twin is not None else 0
        if threshold > 1 and not surely_exceeds(characters, threshold):
            return
        expected = f"{call.label}: {len(records)} records at threshold {threshold} are offloaded"
        yield Judged(call.outcome == "offloaded", expected, _outcome(call))
        return
    drift = _drift(call.operation, threshold, context)
    if exceeds_threshold(estimate, threshold) != above or 0 < abs(estimate - threshold) <= drift:
        return
    tolerance = ceil(context.size_variation * max(1, len(exchange.lowest.file_records)) / CHARACTERS_PER_TOKEN)
    if exceeds_threshold(estimate - tolerance if above else estimate + tolerance, threshold) != above:
        return
    own_estimate = call.estimate if call is not exchange.lowest and not above and exchange.has_file else None
    if (
        own_estimate is not None
        and exceeds_threshold(own_estimate, threshold)
        and 2 < abs(own_estimate - estimate) <= estimate_tolerance(exchange.lowest, call)
    ):
        yield "another process returns other values for the same call, so that the result has another size there"
        return
    side = "offloaded" if above else "inline"
    expected = f"{call.label}, a result of {estimate} tokens at threshold {threshold}, is {side}"
    place = ESTIMATE_IN_HEADERS if context.headers_state_another_figure else ""
    yield Judged(call.outcome == side, expected, _outcome(call), depends_on=(exchange.lowest,), place=place)


def _estimate_of_same_records(exchange: Exchange, estimate: int) -> int | None:
    """E of a call whose operation returns different records each time.

    If the call and the call at the lowest threshold returned the same records, it is *estimate*, which is E of the call
    at the lowest threshold. Otherwise, it is the E that the call itself states; None if it states no E.
    """
    call, lowest = exchange.call, exchange.lowest
    of_lowest = lowest.file_records if lowest is not None else []
    if exchange.index(call.file_records or call.records or []).keys() == exchange.index(of_lowest).keys():
        return estimate
    return call.estimate


def _counts_single_memory(exchange: Exchange, context: Context) -> Iterator[Judged | str]:
    """A single memory that the suite stored exceeds the lowest threshold. This is required if single memories of the
    server exceed it."""
    call, survey = exchange.call, context.survey
    server_memory = survey.single.get(call.operation)
    if (
        call is not exchange.lowest
        or exchange.twin is None
        or server_memory is None
        or server_memory.outcome != "offloaded"
    ):
        return
    if exchange.is_one_stored_memory and not survey.is_small(call):
        expected = f"a single memory is offloaded at threshold {survey.lowest}"
        yield Judged(call.outcome != "inline", expected, "inline: the server seems to leave it out of the estimate")


def _drift(operation: str, threshold: int, context: Context) -> float:
    """Number of tokens by which E may differ between two identical calls."""
    edge = context.edges.edges[operation].drift if context.edges is not None else 0
    return max(2 * edge, MAX_DRIFT_SHARE * threshold if operation in context.survey.volatile_operations else 0)


def _outcome(call: Call) -> str:
    if died(call):
        return "the server exited"
    error = f": {show(call.reply.error or call.text, 200)}" if call.outcome == "error" else ""
    return f"{call.outcome}{error}"


def _same_estimate(exchange: Exchange, context: Context) -> Iterator[Judged | str]:
    """Identical calls have the same E under every threshold, apart from `estimate_tolerance`."""
    call, lowest = exchange.call, exchange.lowest
    if lowest is None or lowest is call or not exchange.has_file or not lowest.file_records:
        return
    if call.file_ids != lowest.file_ids:
        yield "the files of the same call hold different records"
        return
    lowest_estimate, estimate = lowest.header.get("estimated_tokens"), call.header.get("estimated_tokens")
    if isinstance(lowest_estimate, int) and isinstance(estimate, int):
        expected = f"E = {lowest_estimate}, as for the same call at threshold {lowest.settings.get('threshold_tokens')}"
        same = abs(lowest_estimate - estimate) <= estimate_tolerance(lowest, call)
        yield Judged(same, expected, f"E = {estimate}", depends_on=(lowest,), place=ESTIMATE_IN_HEADERS)


RULES: Mapping[str, tuple[Rule, ...]] = {
    "LRO-DESC-02": (_path,),
    "LRO-DESC-07": (_scores, _range_of_confidences),
    "LRO-DESC-11": (_one_descriptor, _no_records),
    "LRO-DESC-12": (_no_error,),
    "LRO-DESC-13": (_no_cursor,),
    "LRO-DET-01": (_fields, _fields_of_each),
    "LRO-FILE-05": (_query,),
    "LRO-FILE-07": (_timestamp,),
    "LRO-FILE-09": (_complete,),
    "LRO-FILE-10": (_values, _uncut, _like_most),
    "LRO-FILE-13": (_same_estimate,),
    "LRO-INJ-04": (_no_text,),
    "LRO-NAME-01": (_folder,),
    "LRO-NAME-03": (_ulid,),
    "LRO-NAME-04": (_own_file,),
    "LRO-THR-05": (_estimate_of_these,),
    "LRO-THR-06": (_offloaded_above,),
    "LRO-THR-07": (_inline_otherwise,),
    "LRO-THR-08": (_counts_single_memory,),
}
"""The rules of each requirement on exchanges."""
