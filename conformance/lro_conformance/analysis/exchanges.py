"""Model of one exchange: the demands of the specification on any call, its result and its file.

A rule is a pure function of an `Exchange` and a `Context`. It yields what it examined: a `Judged` for each subject, or
the reason why there was none. `Exchanges.judge` applies the rules of a requirement to every exchange of the run.

Defects that a descriptor or a file shows by itself are found by `lro_spec.validation`: see
`lro_conformance.analysis.documents`.
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
from lro_conformance.analysis.estimate import ESTIMATE_OF_EARLIER_CALL, Estimates, slack
from lro_conformance.analysis.prose import Prose, is_shown, missing_from, shown_of
from lro_conformance.analysis.results import cursor_beside, differing_descriptors, is_failure
from lro_conformance.analysis.sequences import in_sequence
from lro_conformance.analysis.threshold import DRIFT, Decision, decisions, is_another_figure_stated
from lro_conformance.analysis.timestamps import are_of_the_run, place_of_time, ulid_time, written_at
from lro_conformance.capture.call import Call, CallInContext, Identity, died, mark_if_indirect
from lro_conformance.capture.claims import size_of, surely_exceeds
from lro_conformance.capture.corpus import DELICATE_IDS, corpus, delicate, large, many_small, rough, wide
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
    show,
    show_path,
    size,
    strings_in,
    texts_of_memory,
    values_apart,
    was_given,
)
from lro_conformance.judging.derived import derived
from lro_conformance.judging.subjects import STATED_ESTIMATE, Mark, Marked, Subjects
from lro_conformance.trials.edges import Edges
from lro_conformance.trials.exploration import AfterStoring, Explored, Triple
from lro_conformance.trials.seeded import LARGE, Seeded
from lro_conformance.trials.survey import Inline, Survey
from lro_spec.display import counted
from lro_spec.editions import Edition
from lro_spec.jsonl.strict import surely_equal
from lro_spec.tokens import CHARACTERS_PER_TOKEN, exceeds


@dataclass(frozen=True)
class Exchange:
    """A call of an operation, and what is known of the same call under other settings."""

    call: Call
    twin: Call | None = None
    """The same call, answered inline by a server that holds the same memories; None if there is none."""
    lowest: Call | None = None
    """The same call at the lowest threshold, on a server that holds the same memories: if it was offloaded, its header
    states E. It may be `call` itself; None if there is none."""
    values_comparable: bool = False
    """True if the twin was made in lockstep with the call, or close enough to it that their values can be compared."""
    in_flight: bool = False
    """True if other calls were under way, so that only the whole conversation reproduces the exchange."""
    shares: Call | None = None
    """An earlier call whose file this call names; None if the file is its own."""
    stray: tuple[str, ...] = ()
    """Offloaded files that appeared during the call and that its result does not name."""
    stored: Mapping[str, Record] = field(default_factory=dict[str, Record])
    """The memories that the suite gave to the servers of the call and of its twin, by id."""
    among_others: bool = False
    """True if each of these servers holds other memories, too: values that depend on all of them, such as scores, may
    differ."""
    steps: tuple[Call | Intervention, ...] = ()
    """Calls and interventions that must precede the call to reproduce the exchange; empty if the call alone reproduces
    it."""
    names: Mapping[str, str] = field(default_factory=dict[str, str])
    """The server's own names of inline fields, mapped to MIF's (`names_of_fields`)."""
    own_ids: bool = False
    """True if the server gives stored memories ids of its own, by a counter or at random: in another process, the same
    memory may have another id, and the same id may be another memory's."""

    @cached_property
    def at(self) -> Call | CallInContext | AfterStoring:
        """The subject by which this exchange is reproduced."""
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
        """The field by which records of the file and of the inline result are paired.

        It is the id, with two exceptions. If the servers replaced the ids of stored memories, it is the title or, where
        records have no titles, the content. If inline records have no ids, but different titles, it is the title.
        """
        shown = [renamed(r, self.names) for r in self._records]
        stored = {m.get("title") for m in self.stored.values()}
        ours = [r for r in shown if r.get("title") in stored]
        if ours:
            return "id" if any(id_of(r) in self.stored for r in ours) else "title"
        if self.own_ids:
            return "id" if self._has_ids_of(shown) else self._text_of_each(shown)
        titles = [str(r.get("title")) for r in shown if r.get("title")]
        return "title" if not by_id(shown) and len({*titles}) == len(shown) > 0 else "id"

    def _has_ids_of(self, shown: Sequence[Record]) -> bool:
        """True if the file has the id of each of these records, with the same title."""
        filed = by_id(self.call.file_records)
        pairs = [(r, filed.get(id_of(r) or "")) for r in shown]
        return all(f is not None and ("title" not in r or f.get("title") == r["title"]) for r, f in pairs)

    def _text_of_each(self, shown: Sequence[Record]) -> Literal["id", "title", "content"]:
        """The field with a text in each of these records and in each of the file's; the id if there is none."""
        both = (*shown, *self.call.file_records)
        if all(isinstance(r.get("title"), str) for r in both):
            return "title"
        return "content" if all(isinstance(r.get("content"), str) for r in both) else "id"

    @property
    def has_broken_lines(self) -> bool:
        """True if some of the file's record lines are not strict JSON."""
        return self.call.file is not None and any(line.problem is not None for line in self.call.file.record_lines)

    @property
    def is_one_stored_memory(self) -> bool:
        """True if the call returns a single memory inline, and the suite stored it."""
        if len(self._records) != 1:
            return False
        by_its_text = self.own_ids and bool(ids_of_memories(self._records, self.stored.values()))
        return id_of(self._records[0]) in self.stored or by_its_text

    @property
    def _records(self) -> Sequence[Record]:
        return (self.twin.records if self.twin is not None else None) or []

    def index(self, records: Iterable[Record]) -> dict[str, Record]:
        """Records by their `paired_by` field; if several have the same value, the first counts."""
        if self.paired_by == "id":
            return by_id(records)
        return {text: alike[0] for text, alike in _by_text(records, self.paired_by).items()}

    @cached_property
    def file_records(self) -> Mapping[str, Record]:
        """The records in the file, by their `paired_by` field; empty if there is no file."""
        return self.index(self.call.file_records)

    @cached_property
    def shown(self) -> Mapping[str, Record]:
        """The records of the inline result, by their `paired_by` field; empty if there are none."""
        found: dict[str, Record] = {}
        for record in self._records:
            for key in self.index([renamed(record, self.names)]):
                found.setdefault(key, record)
        return found

    @cached_property
    def given(self) -> Mapping[str, Record]:
        """The memories that the suite gave to the servers, by the same keys as `shown`."""
        if not self.own_ids:
            return self.index(self.stored.values())
        known = {text: m for m in self.stored.values() for text in texts_of_memory(m)}
        texts = ((key, " ".join(text.split())) for key, record in self.shown.items() for text in strings_in(record))
        return {key: known[text] for key, text in texts if text in known}

    def obstacle(self, comparison: Comparison) -> str | None:
        """Reason why the file's records cannot be matched with those of the inline result; None if they can."""
        if self.paired_by != "id":
            return None
        changed = self.own_ids and not self._has_ids_of([renamed(r, self.names) for r in self._records])
        if changed or (self.stored and not self.shown.keys() & (self.stored.keys() | self.file_records.keys())):
            return "each process gives stored memories ids of its own, and inline results show no titles"
        return None if self.names and self.shown.keys() & self.file_records.keys() else comparison.obstacle


class Rate(NamedTuple):
    """Rate at which nearly all files of an operation are estimated."""

    tokens: float
    """Tokens per character."""
    separators: float
    """Median of the numbers of JSON separators per character in these files (`FileSeen.separators`)."""


@dataclass(frozen=True)
class Context:
    """Evidence about the server as a whole, which judging a single exchange needs."""

    survey: Survey
    details: DetailLevels
    edition: Edition
    comparison: Comparison | None = None
    """None if there are no inline results."""
    edges: Edges | None = None
    """None if no exact threshold could be tried."""
    decisions: Mapping[str, Decision] | None = None
    """The rule by which each operation decides; None if no exact threshold could be tried."""
    prose: Prose | None = None
    """Memories to look for in inline results that are text; None if there are no inline results."""
    filled: Mapping[tuple[int, str, str], frozenset[str]] = field(
        default_factory=dict[tuple[int, str, str], frozenset[str]]
    )
    """Documented fields that a memory fills in any file, by server, detail level and id of the memory (`_filled`)."""
    scored_by_confidence: frozenset[tuple[str, str | None]] = frozenset()
    """Operations and queries for which scores are the memories' confidences: see `scored_by_confidence`."""
    stated_differently: bool = False
    """True if headers state another figure than the one that is compared; see `is_another_figure_stated`."""
    maps_names: bool = False
    """True if inline fields have names of the server's own, which files map to MIF's."""
    names: Mapping[str, str] = field(default_factory=dict[str, str])
    """Those of the server's own names of inline fields whose meaning is known, mapped to MIF's (`names_of_fields`)."""
    rates: Mapping[str, Rate] = field(default_factory=dict[str, Rate])
    """The rate of each operation for which nearly all files have the same (`_rates`)."""
    own_ids: bool = False
    """True if the server gives stored memories ids of its own (`_gives_own_ids`)."""
    varying: int = 0
    """Largest difference in size, in characters, that a record has between servers in lockstep (`_varying`)."""

    def applied_to(self, exchanges: Sequence[Exchange]) -> Sequence[Exchange]:
        """The exchanges, each with the server's own names of fields, and with whether the server gives its own ids."""
        if not self.names and not self.own_ids:
            return exchanges
        return [replace(e, names=self.names, own_ids=self.own_ids) for e in exchanges]

    @property
    def unstable_operations(self) -> frozenset[str]:
        """Operations whose identical calls may return other records (`Comparison.unstable_operations`)."""
        return self.survey.volatile_operations if self.comparison is None else self.comparison.unstable_operations

    @cached_property
    def largest_inject(self) -> tuple[int, int]:
        """Numbers of records and characters in inject's largest inline result at the default budget; zeros if no result
        has records."""
        calls = () if self.comparison is None else self.comparison.inline.calls
        found = [c.records for c in calls if c.operation == "inject" and c.records]
        return max(((len(r), sum(map(size, r))) for r in found), key=lambda one: one[1], default=(0, 0))

    @cached_property
    def volatile(self) -> Mapping[str, frozenset[Path]]:
        """For each operation, the fields that differ between inline calls (`Comparison.volatile`)."""
        known = self.comparison
        return {} if known is None else {name: known.volatile(name) for name in self.survey.operations}


@dataclass(frozen=True, slots=True)
class Judged:
    """One subject that a rule examined."""

    holds: bool
    expected: str = ""
    observed: str = ""
    mark: Mark | None = None
    """The offending record in the evidence."""
    depends_on: tuple[Call, ...] = ()
    """Other calls whose files the judgement depends on."""
    place: str = ""
    """The place in a document; see `lro_conformance.judging.subjects.place_of`."""


Rule = Callable[[Exchange, Context], Iterator[Judged | str]]
"""Demand of a requirement on an exchange. Yields a reason instead of a `Judged` where nothing could be examined."""


@dataclass(frozen=True)
class Exchanges:
    """All exchanges of a run."""

    exchanges: Sequence[Exchange]
    context: Context
    repeated: frozenset[Identity] = frozenset()
    """The calls whose file an earlier call of the run has named."""

    def judge(self, requirement: str, subjects: Subjects) -> None:
        """Examine every exchange by the rules of a requirement."""
        for exchange in self.exchanges:
            for found in findings(exchange, self.context, requirement):
                if isinstance(found, str):
                    subjects.not_observed(found)
                elif not found.holds and any(c.identity in self.repeated for c in found.depends_on):
                    subjects.not_observed(ESTIMATE_OF_EARLIER_CALL)
                else:
                    at = self._at(exchange, found)
                    subjects.expect(found.holds, expected=found.expected, observed=found.observed, subject=at)

    def alters(self, call: Call) -> bool:
        """Return whether the records or values in a call's file differ from those of its inline result."""
        return any(_alters(e, self.context) for e in self.exchanges if e.call.identity == call.identity)

    @property
    def names(self) -> Mapping[str, str]:
        """The server's own names of inline fields, mapped to MIF's."""
        return self.context.names

    @property
    def unpaired(self) -> tuple[str, ...]:
        """The documented fields of files that no inline record has, neither by MIF's name nor by a known name of the
        server's own."""
        both = [e for e in self.exchanges if e.has_file and e.shown]
        filed = {key for e in both for record in e.call.file_records for key in filled_fields([record])}
        shown = {key for e in both for record in e.shown.values() for key in renamed(record, self.names)}
        return tuple(field for field in ("id", *MEMORY_FIELDS) if field in filed - shown)

    @property
    def by_text(self) -> tuple[str, ...]:
        """The operations whose files were compared with memories that are shown in a text without records."""
        found = (e.call.operation for e in self.exchanges if e.has_file and shown_in_text(e, self.context))
        return tuple(dict.fromkeys(found))

    @property
    def by_title(self) -> bool:
        """True if records of a file were compared with inline ones by title."""
        return any(e.has_file and e.paired_by == "title" for e in self.exchanges)

    @property
    def hidden_scores(self) -> tuple[str, ...]:
        """The operations whose score_range could be compared with nothing: neither their files nor their inline results
        show scores, and it is not known that the scores are the memories' confidences."""
        ranged = [e for e in self.exchanges if e.has_file and _is_a_range(e.call.summary.get("score_range"))]
        shown = {e.call.operation for e in ranged if self._shows_scores(e)}
        return tuple(dict.fromkeys(o for e in ranged if (o := e.call.operation) not in shown))

    def _shows_scores(self, exchange: Exchange) -> bool:
        call, twin = exchange.call, exchange.twin
        by_confidence = (call.operation, call.query) in self.context.scored_by_confidence
        return by_confidence or any("score" in r for r in call.file_records) or bool(twin and hit_scores(twin.result))

    def _at(self, exchange: Exchange, found: Judged) -> object:
        at = Marked(exchange.at, found.mark) if found.mark else exchange.at
        if found.holds:
            return at
        marked = mark_if_indirect((exchange.call,), self.repeated, at, in_flight=exchange.in_flight)
        return Marked(at, None, found.place) if marked is at and found.place else marked


def findings(exchange: Exchange, context: Context, requirement: str) -> Iterator[Judged | str]:
    """Everything that the rules of a requirement find in an exchange."""
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
    """Every call of the run with its twin; of the explorer's calls, those of the shortest sequences come first."""
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
    shown = (*inline.calls, inline.many) if isinstance(inline, Inline) else ()
    twins = {_key(call): call for call in shown if call is not None and call.outcome == "inline"}
    close = {id(c) for c, _ in context.comparison.bracketed} if context.comparison is not None else set[int]()
    explicit = [*_seeded(found.get("seeded"))]
    if isinstance(explored, Explored):
        explicit += exchanges_of(explored.smallest + explored.triples, explored.memories, len(explored.smallest))
        known = {id(c) for t in (*explored.smallest, *explored.triples, *explored.unsteady) for c in t.calls}
    else:
        known = set[int]()
    known |= {id(e.call) for e in explicit}
    concurrent = {id(c) for c, _ in survey.together}
    # A server may refuse some of many concurrent calls.
    answered = [(c, a) for c, a in survey.together if c.outcome in ("inline", "offloaded")]
    alone = {id(c): a for c, a in answered if c.operation not in survey.volatile_operations}
    made = [
        Exchange(c, _twin(c, twins), alone.get(id(c)), values_comparable=id(c) in close, in_flight=id(c) in concurrent)
        for c in calls_of_run(survey, found)
        if id(c) not in known
    ]
    # If files grow after descriptors have named them, only the files of the survey were read again later.
    every = made if survey.unsettled else [*made, *explicit]
    context = extended_context(context, every)
    every = context.applied_to(every)
    by_confidence = scored_by_confidence(every)
    context = replace(context, filled=_filled(every), scored_by_confidence=by_confidence, rates=_rates(every))
    return Exchanges(every, context, repeated)


def _filled(exchanges: Iterable[Exchange]) -> dict[tuple[int, str, str], frozenset[str]]:
    """Documented fields that memories fill in files, by server, detail level and id of the memory."""
    found: dict[tuple[int, str, str], frozenset[str]] = {}
    for call in (e.call for e in exchanges if e.has_file and e.call.detail is not None):
        for memory, record in by_id(call.file_records).items():
            key = (id(call.start), call.detail or "", memory)
            found[key] = found.get(key, frozenset()) | filled_fields([record])
    return found


def scored_by_confidence(exchanges: Iterable[Exchange]) -> frozenset[tuple[str, str | None]]:
    """Operations and queries for which score_range was exactly the range of the file's confidences, in files with at
    least `MIN_RANGES` different ranges."""
    equal: dict[tuple[str, str | None], set[tuple[float, float]]] = {}
    for call in (e.call for e in exchanges if e.has_file):
        confidences = _confidences(call)
        if confidences is not None and call.summary.get("score_range") == list(confidences):
            equal.setdefault((call.operation, call.query), set()).add(confidences)
    return frozenset(key for key, ranges in equal.items() if len(ranges) >= MIN_RANGES)


def _rates(exchanges: Iterable[Exchange]) -> dict[str, Rate]:
    """The rate of each operation for which at least nine in ten files have the same rate, or else nine in ten files
    with few records (`_FEW`), since a server may estimate long results by a sample.

    Only files with at most 1 % of special characters count (`FileSeen.special`).
    """
    files: dict[str, list[Call]] = {}
    for call in (e.call for e in exchanges if _has_estimate(e)):
        if call.file is not None and 100 * call.file.special <= characters(call):
            files.setdefault(call.operation, []).append(call)
    found: dict[str, Rate] = {}
    for operation, calls in files.items():
        rate = _same_rate(calls) or _same_rate([c for c in calls if len(c.file_records) <= _FEW])
        if rate is not None:
            found[operation] = Rate(rate, median(map(_separators, calls)))
    return found


def _separators(call: Call) -> float:
    """The share of separators in the characters of a file's records."""
    return call.file.separators / characters(call) if call.file is not None else 0.0


def _same_rate(calls: Sequence[Call]) -> float | None:
    """Tokens per character of nearly all of these files; None if they differ, or if there are too few sizes to know."""
    share, tokens = _SAME_RATE
    rate = median(map(tokens_per_character, calls)) if calls else 0
    expected = {id(c): rate * characters(c) for c in calls}
    same = [c for c in calls if abs((c.estimate or 0) - expected[id(c)]) <= share * expected[id(c)] + tokens]
    return rate if len(same) >= 0.9 * len(calls) and len({characters(c) for c in same}) >= _SIZES else None


def _has_estimate(exchange: Exchange) -> bool:
    return exchange.has_file and bool(exchange.call.file_records and exchange.call.estimate)


_SAME_RATE, _OTHER_RATE = (0.01, 40), (0.05, 80)
"""Largest deviations of E from the E that a rate gives: a share of that E, plus a number of tokens for rounding and for
a few characters around the records. Within the first, a file counts as one with this rate. Beyond the second, its E is
judged to be wrong."""

_SIZES = 8
"""Least number of different file sizes from which a rate is inferred."""

_FEW = 5
"""A result with at most this many records is surely estimated from all of them, even by a server that estimates longer
results from a sample."""


def extended_context(context: Context, exchanges: Sequence[Exchange]) -> Context:
    """The context, extended by what these exchanges show of the server: its own names of fields, whether it gives
    stored memories ids of its own, and by how much the size of a record varies (`_varying`)."""

    def shown_with(others: Callable[[Exchange], Mapping[str, Record]]) -> Iterator[tuple[Record, Record]]:
        for exchange in exchanges:
            there = others(exchange)
            yield from ((record, there[key]) for key, record in exchange.shown.items() if key in there)

    def of_files(exchange: Exchange) -> Mapping[str, Record]:
        return exchange.file_records if exchange.has_file else {}

    def of_same_titles(others: Callable[[Exchange], Iterable[Record]]) -> Iterator[tuple[Record, Record]]:
        for exchange in exchanges:
            shown = exchange.twin.records if exchange.twin is not None else None
            if shown and "title" not in shown[0]:
                yield from of_same_memories(shown, others(exchange))

    def filed_with_titles() -> Iterator[tuple[Record, Record]]:
        return of_same_titles(lambda exchange: exchange.call.file_records if exchange.has_file else ())

    seeds = corpus() if context.survey.seeded_by is not None else ()
    names = {
        **names_of_fields(shown_with(of_files)),
        **names_of_fields(filed_with_titles()),
        **names_of_fields(shown_with(lambda exchange: exchange.given)),
        **names_of_fields(of_same_titles(lambda exchange: (*seeds, *exchange.stored.values()))),
        **context.names,
    }
    names |= names_of_cut_fields(chain(shown_with(of_files), filed_with_titles()), names)
    return replace(
        context,
        maps_names=context.maps_names or bool(names) or any(names_are_mapped(*pair) for pair in shown_with(of_files)),
        names=names,
        own_ids=context.own_ids if (own := _gives_own_ids(context.survey, exchanges)) is None else own,
        varying=max(context.varying, _varying(exchanges)),
    )


def _varying(exchanges: Iterable[Exchange]) -> int:
    """Largest difference in size, in characters, that a record has between servers in lockstep.

    Each server sets some values itself. If their lengths differ, E differs, too.
    """
    return max(
        (
            abs(size(record) - size(shown))
            for e in exchanges
            if e.call is e.lowest and e.has_file
            for key, shown in e.shown.items()
            for record in (e.file_records.get(key, {}),)
            if record.keys() == shown.keys() and not surely_equal(record, shown)
        ),
        default=0,
    )


MIN_RANGES = 3
"""Least number of different ranges of confidences that score_range has to equal, to exclude chance."""


def _confidences(call: Call) -> tuple[float, float] | None:
    """The least and the greatest confidence in a file; None unless all its lines can be read and have one."""
    if call.file is None or any(line.record is None for line in call.file.record_lines):
        return None
    values = [as_record(record.get("provenance")).get("confidence") for record in call.file_records]
    numbers = [v for v in values if isinstance(v, int | float) and not isinstance(v, bool)]
    return (min(numbers), max(numbers)) if numbers and len(numbers) == len(values) else None


def _seeded(found: object) -> Iterator[Exchange]:
    """Exchanges of calls for memories that the suite stored, each with the same call inline."""
    if not isinstance(found, Seeded):
        return
    contents = {r.get("content") for r in (found.large.records or [])} if found.large is not None else set[object]()
    candidates = [m for m in map(large, LARGE) if m["content"] in contents]
    if contents == {None}:  # without contents, it is unknown which memory it is, but all have the same title
        candidates = [{k: v for k, v in large(LARGE[0]).items() if k != "content"}]
    pairs = (
        (found.large_filed, found.large, candidates),
        (found.delicate_filed, found.delicate, [{**delicate(), "id": key} for key in DELICATE_IDS]),
        (found.rough_filed, found.rough, [rough()]),
        (found.many_filed, found.many, many_small()),
    )
    for filed, shown, memories in pairs:
        if filed is not None and shown is not None and shown.outcome == "inline":
            stored = {m["id"]: m for m in memories}
            yield Exchange(filed, shown, values_comparable=True, stored=stored, among_others=True)


def context_of(
    survey: Survey,
    details: DetailLevels,
    estimates: Estimates,
    edition: Edition,
    inline: Inline | None,
    edges: Edges | None,
) -> Context:
    """The context that the evidence of these trials gives."""
    comparison = None if inline is None else Comparison(survey, inline)
    decided = None if edges is None else decisions(edges, estimates)
    prose = None if inline is None else Prose(survey)
    stated = is_another_figure_stated(decided, estimates)
    return Context(survey, details, edition, comparison, edges, decided, prose, stated_differently=stated)


def exchanges_of(triples: Sequence[Triple], memories: Sequence[Record], reduced: int = 0) -> list[Exchange]:
    """The exchanges of calls that were made in lockstep: each offloaded one with its inline twin.

    The first *reduced* calls are of sequences in which every step is needed. Calls whose folder was broken, or that
    were not offloaded again afterwards, are failed writes instead (`lro_conformance.analysis.failed_writes`).
    """
    made: list[Exchange] = []
    named: dict[str, Call] = {}
    stored = {m["id"]: m for m in memories}
    for one in in_sequence(triples, reduced):
        triple = one.triple
        for call in triple.calls if not triple.broken and not one.is_stuck else (triple.inline,):
            path = call.path if call.outcome == "offloaded" else ""
            made.append(
                Exchange(
                    call,
                    twin=triple.inline if call is not triple.inline and triple.inline.outcome == "inline" else None,
                    lowest=None if triple.broken or one.is_stuck else triple.lowest,
                    values_comparable=True,
                    in_flight=triple.in_flight,
                    shares=named.get(path) if path else None,
                    stray=triple.stray if call is triple.lowest else (),
                    stored=stored,
                    steps=one.steps(call),
                )
            )
            if path:
                named.setdefault(path, call)
    return made


def _by_text(records: Iterable[Record], field: str) -> dict[str, list[Record]]:
    """Records by the text of a *field*, with white space collapsed: altered white space is for LRO-FILE-10 to judge."""
    found: dict[str, list[Record]] = {}
    for record in records:
        found.setdefault(" ".join(str(record.get(field)).split()), []).append(record)
    return found


def _gives_own_ids(survey: Survey, exchanges: Sequence[Exchange]) -> bool | None:
    """Return whether inline records show memories that the suite stored, but never one of the ids it gave them; None if
    they show no such memories."""
    stored = {m["id"]: m for m in corpus()} if survey.seeded_by == "tool" else {}
    for memories in {id(e.stored): e.stored for e in exchanges}.values():
        stored |= memories
    shown = [record for e in exchanges for record in e.shown.values()]
    if ids_of_memories([r for r in shown if id_of(r) in stored], stored.values()):  # the usual case, found quickly
        return False
    return True if ids_of_memories(shown, stored.values()) else None


def _key(call: Call) -> tuple[str, str, int]:
    """Key of calls that a server answers alike: operation, arguments, number of earlier requests that changed the state
    of the process."""
    return call.operation, json.dumps(dict(call.arguments), sort_keys=True, default=str), len(call.before)


def _twin(call: Call, twins: Mapping[tuple[str, str, int], Call]) -> Call | None:
    """The inline result of the same call, from a server in the same time zone that holds the same memories.

    None if there is none, or if the call was not offloaded.
    """
    twin = twins.get(_key(call)) if call.outcome == "offloaded" else None
    return None if twin is None or twin.start.env.get("TZ") != call.start.env.get("TZ") else twin


# The header


def _query(exchange: Exchange, context: Context) -> Iterator[Judged | str]:
    """The header's query is that of the call; only white space may differ.

    If the call asks for everything, by a blank query or ``*``, the header may have either of these, or none.
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
    """E is the estimate of the records in the file. Judged only if nearly all other files have the same rate."""
    call, rate = exchange.call, context.rates.get(exchange.call.operation)
    if rate is None or call.file is None or not _has_estimate(exchange) or not exchange.values_comparable:
        return
    if exchange.has_broken_lines or _alters(exchange, context):
        yield BROKEN_LINES if exchange.has_broken_lines else ALTERED
        return
    size, separators = characters(call), _separators(call)
    # The text that the server counts may have one space less, or more, at each separator than the file, and files
    # differ in their share of separators.
    factors = (1.0, (1 - separators) / (1 - rate.separators), (1 + separators) / (1 + rate.separators))
    least = min(factors) * rate.tokens * (size - 6 * call.file.backslashes)  # \\u0041 may be one character or six
    most = max(factors) * rate.tokens * size + 2 * call.file.special
    share, tokens = _OTHER_RATE
    low, high = max(0, round((1 - share) * least - tokens)), round((1 + share) * most + tokens)
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
    """The file has the memories that the same call returns inline."""
    filed, shown, comparison = exchange.call, exchange.twin, context.comparison
    if not exchange.has_file or shown is None or comparison is None:
        yield from _no_inline_result(exchange, context)
        return
    if exchange.has_broken_lines:
        yield BROKEN_LINES
        return
    records = shown.records
    if records is None:
        yield from _complete_by_text(exchange, context)
        return
    here, there = exchange.shown, exchange.file_records
    is_part = is_a_page(shown.result) or filed.operation == "inject"  # whose file is not cut to the budget
    if exchange.obstacle(comparison) is None and here and not _is_a_selection(exchange, context):
        missing, added = here.keys() - there.keys(), there.keys() - here.keys()
        if is_part and not _is_whole_inject(filed, records, [there[key] for key in added], context):
            added = set[str]()
        memories = len(here) if exchange.paired_by == "id" else len(records)  # several may have the same title
        lacks = not missing and len(filed.file_records) < memories
        yield Judged(
            not missing and not added and not lacks,
            f"the {counted(memories, 'memory')} that the call returns inline",
            (
                f"{len(filed.file_records)} records: some of several with the same {exchange.paired_by} are missing"
                if lacks
                else f"{counted(len(filed.file_records), 'record')}: {len(missing)} missing, {len(added)} additional"
            )
            + (f"; first missing: {_name_of_missing(exchange, records, missing)}" if missing else "")
            + (_cut_inline(shown) if added and not missing else ""),
            mark=Mark(
                (
                    _list_of(f"{exchange.paired_by}s inline, in another process", here),
                    _list_of(f"{exchange.paired_by}s in the file", there),
                )
            ),
        )
        return
    more = is_part and len(filed.file_records) > len(records)
    yield Judged(
        len(filed.file_records) == len(records) or more,
        f"{counted(len(records), 'record')}, as inline",
        f"{counted(len(filed.file_records), 'record')}"
        + (_cut_inline(shown) if len(filed.file_records) > len(records) else ""),
    )


def _cut_inline(shown: Call) -> str:
    """A remark on an inline result that has fewer records than the file, if it has as many as its limit."""
    cut = shown.limit is not None and len(shown.records or ()) == shown.limit
    return ", more than inline: perhaps a limit cuts only the inline result" if cut else ""


def _list_of(what: str, keys: Iterable[str]) -> str:
    """A line of evidence that lists the records of a result."""
    first = [*islice(keys, _LISTED + 1)]
    return f"{what}: {', '.join(show(key, 40) for key in first[:_LISTED])}{', …' if len(first) > _LISTED else ''}"


_LISTED = 3
"""Largest number of records that a line of evidence lists."""


def _name_of_missing(exchange: Exchange, records: Sequence[Record], missing: Collection[str]) -> str:
    """The `paired_by` value of a missing record; if it is blank, the record's place in the inline result, and its first
    words."""
    named = [key for key in missing if key.strip()]
    if named:
        return min(named)
    place, record = next((n, r) for n, r in enumerate(records, 1) if exchange.index([r]).keys() & missing)
    words = next((text for key in ("title", "content") if (text := str(record.get(key) or "").strip())), "")
    about = exchange.paired_by
    return f"record {place} of the inline result, whose {about} is blank: {show(words or dict(record), 60)}"


def _is_whole_inject(call: Call, shown: Sequence[Record], added: Sequence[Record], context: Context) -> bool:
    """Return whether no budget can have kept the *added* records of a file out of inject's inline records *shown*.

    Another inline result of inject has at least as many records as both together, and so many more characters
    (`MUCH_LARGER`) that the added ones would have fitted.
    """
    if call.operation != "inject" or not added:
        return False
    records, characters = context.largest_inject
    return records >= len(shown) + len(added) and characters >= MUCH_LARGER * sum(map(size, [*shown, *added]))


MUCH_LARGER = 1.5
"""A result with this many times the characters of another one is surely larger, whatever the server counts for its
budget."""


def _complete_by_text(exchange: Exchange, context: Context) -> Iterator[Judged | str]:
    """The file has each known memory that a text shows with title and content, as often as the text shows it."""
    filed, shown, prose = exchange.call, exchange.twin, context.prose
    if prose is None or shown is None or filed.operation in context.unstable_operations:
        return
    known = shown_in_text(exchange, context)
    if not known:
        yield NO_RECORDS if context.survey.seeded_by is not None else f"{NO_RECORDS}; {OR_SEED}"
        return
    missing = missing_from(filed, known, shown.text)
    yield Judged(
        not missing,
        f"the {counted(len(known), 'memory')} whose title and content the call shows inline",
        f"{counted(len(filed.file_records), 'record')}, {len(missing)} missing"
        + (f"; first missing: {show(missing[0])}" if missing else ""),
    )
    for (title, content), times in Counter((m["title"], m["content"]) for m in _stored_in(exchange, shown)).items():
        both = min(times, shown.text.count(content))
        there = sum(r.get("title") == title for r in filed.file_records)  # a content may be altered (LRO-FILE-10)
        if both > 1 and any("title" in r for r in filed.file_records):
            yield Judged(
                there >= both, f"{counted(both, 'memory')} that differ in their ids only, as inline", f"{there} of them"
            )


def shown_in_text(exchange: Exchange, context: Context) -> list[Record]:
    """The known memories whose title and content the twin shows, if its result is a text without records."""
    shown, prose = exchange.twin, context.prose
    if prose is None or shown is None or shown.records is not None:
        return []
    return prose.known_in(shown) + _stored_in(exchange, shown)


NO_RECORDS = "no records can be read in inline results (profile: inline, if they contain JSON)"
"""Reason why nothing of an inline result can be compared with a file."""
OR_SEED = "in a text, the suite compares the memories that it stored (profile: seed)"
"""Addition to `NO_RECORDS`: how to have such a result compared nevertheless."""


def _stored_in(exchange: Exchange, shown: Call) -> list[Record]:
    """The stored memories that a text shows with title and content."""
    stored = exchange.stored.values()
    return [m for m in stored if is_shown(m, shown.text)]


def _values_by_text(exchange: Exchange, context: Context) -> Iterator[Judged | str]:
    """If a text shows the title or the content of a stored memory as it was stored, the file has it so, too."""
    filed, shown, prose = exchange.call, exchange.twin, context.prose
    if prose is None or shown is None or filed.operation in context.unstable_operations:
        return
    stored, there = (
        _by_text((*prose.stored.values(), *exchange.stored.values()), "title"),
        _by_text(filed.file_records, "title"),
    )
    found = False
    for title in (t for t in stored if t in there):
        for key in ("title", "content"):
            values = [m.get(key) for m in stored[title]]  # titles may be shared, even blank
            if not all(key in shown_of(m, shown.text) for m in stored[title]):
                continue
            for record in (r for r in there[title] if key in r):
                found = True
                expected = f"memory {show(title)}: /{key} is {show(values[-1])}, as stored and as inline"
                yield Judged(record[key] in values, expected, show(record[key]))
    if not found:
        yield NO_RECORDS if stored else f"{NO_RECORDS}; {OR_SEED}"


def _no_inline_result(exchange: Exchange, context: Context) -> Iterator[str]:
    """If there is no inline result because the threshold cannot be set: the reason why it cannot be set."""
    if exchange.has_file and context.comparison is None and not context.survey.adjustable:
        yield context.survey.reason_not_set("threshold_tokens")


def _is_a_selection(exchange: Exchange, context: Context) -> bool:
    """True if a limit, perhaps the server's own, may choose other memories in each process.

    Either identical calls return different memories; or the file lacks some inline memories and has as many others
    instead, and each process gives memories times that may decide the choice.
    """
    call, here, there = exchange.call, exchange.shown, exchange.file_records
    if call.limit is not None and len(exchange.twin.records or [] if exchange.twin is not None else []) < call.limit:
        return False
    others = len(here.keys() - there.keys()) == len(there.keys() - here.keys()) > 0
    return call.operation in context.unstable_operations or (others and _has_times_of_its_own(exchange))


def _has_times_of_its_own(exchange: Exchange) -> bool:
    """True if each process gave its memories the times at which it stored them."""
    shown = (renamed(r, exchange.names) for r in exchange.shown.values())
    return any(
        name in filed and are_of_the_run(value, filed[name], exchange.call)
        for one, filed in zip(shown, exchange.file_records.values(), strict=False)
        for name, value in one.items()
    )


def _values(exchange: Exchange, context: Context) -> Iterator[Judged | str]:
    """Every value in the file is the same as in the inline result of the call."""
    filed, shown, comparison = exchange.call, exchange.twin, context.comparison
    if not exchange.has_file or shown is None or comparison is None:
        yield from _no_inline_result(exchange, context)
        return
    if shown.records is None:
        yield from _values_by_text(exchange, context)
        return
    if (obstacle := exchange.obstacle(comparison)) is not None:
        yield obstacle
        return
    if not exchange.values_comparable:
        return
    skip = [(*path_of(context.names.get(path[0], path[0])), *path[1:]) for path in context.volatile[filed.operation]]
    if exchange.paired_by != "id":
        skip.append(("id",))
    level = comparison.other_level(filed, shown, context.names)
    lines = filed.file.record_lines if filed.file is not None else []
    there = exchange.index(r for line in lines if line.problem is None and (r := line.record) is not None)
    given = exchange.given
    for key, inline in exchange.shown.items():
        if key not in there or (exchange.among_others and key not in given):
            continue
        if comparison.obstacle is not None and key not in given:  # in another process, its id may be another memory's
            title = renamed(inline, context.names).get("title")
            if title is None or title != there[key].get("title"):
                continue
        added = MEMORY_FIELDS if context.maps_names else comparison.added
        wrong = lost_or_changed(inline, there[key], skip, added=added, names=context.names)
        record = renamed(inline, context.names, there[key])
        wrong = [p for p in wrong if not are_of_the_run(at_path(record, p), at_path(there[key], p), filed)]
        if key in given:  # each server may have made up the values that it was not given
            wrong = [p for p in wrong if was_given(at_path(record, p), at_path(given[key], p))]
        if level is not None:
            wrong = [p for p in wrong if not _is_one_sided(record, there[key], p)]
        if wrong:
            wanted, found = values_apart(record, there[key], wrong[0])
            mark = mark_in_file(filed, there[key], *wrong[0], expected=at_path(record, wrong[0]))
            own = own_name(inline, wrong[0], context.names, there[key])
            place = f"/{'/'.join(wrong[0])}" + ("" if own is None else f" (inline: {own})")
            name = key if len(key) <= 60 else f"{key[:59]}…"  # a title or a content, where ids are the server's own
            yield Judged(False, f"record {name}: {place} is {wanted}, as inline", found, mark)
        else:
            yield Judged(True)


def _uncut(exchange: Exchange, context: Context) -> Iterator[Judged | str]:
    """At full detail, a content that the suite stored is not cut and ended by an ellipsis, not even if the inline
    result cuts it, too."""
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
    """If nearly all of the suite's memories in CJK scripts have their contents as stored, all of them have.

    These memories are alike: a server that alters contents alters all of them, unless it writes its file wrongly.
    """
    stored = {m["title"]: m for m in wide()}
    known = [r for r in exchange.call.file_records if r.get("title") in stored and isinstance(r.get("content"), str)]
    same = sum(r["content"] == stored[r["title"]]["content"] for r in known)
    if not exchange.has_file or same < max(_MANY_ALIKE, 0.9 * len(known)):
        return
    for record in known:
        memory = stored[record["title"]]
        if record["content"] == memory["content"]:
            yield Judged(True)
            continue
        wanted, found = values_apart(memory, record, ("content",))
        expected = f"record {id_of(record)}: /content is {wanted}, as stored, like {same} of {len(known)} alike records"
        mark = mark_in_file(exchange.call, record, "content", expected=memory["content"])
        yield Judged(False, expected, found, mark)


_MANY_ALIKE = 10
"""Least number of alike records that must be as stored, so that one that differs counts as altered."""

_ELLIPSIS = re.compile(r"\s*(\.\.\.|…|\[…\]|\[\.\.\.\]|[(\[]truncated[)\]])\s*\Z", re.IGNORECASE)


def _is_one_sided(inline: Record, filed: Record, path: tuple[str, ...]) -> bool:
    """Return whether only one of two records of a memory has a value at a path, apart from blank ones.

    In a file with the fields of a different detail level, that does not violate LRO-FILE-10.
    """
    return is_blank(at_path(inline, path)) != is_blank(at_path(filed, path))


def _fields(exchange: Exchange, context: Context) -> Iterator[Judged | str]:
    """The file's records have the fields that the same call returns inline, and not those of another detail level."""
    filed, shown, comparison = exchange.call, exchange.twin, context.comparison
    if not exchange.has_file or shown is None or comparison is None or filed.detail is None or not shown.records:
        yield from _no_inline_result(exchange, context)
        return
    if (obstacle := exchange.obstacle(comparison)) is not None:
        yield obstacle
        return
    other = comparison.other_level(filed, shown, context.names)
    wanted, found = filled_fields(shown.records), filled_fields(filed.file_records)
    key = min(found - wanted, default=None)
    first = next((r for r in filed.file_records if key is not None and not is_blank(r.get(key))), None)
    yield Judged(
        other is None,
        f"records at {filed.detail} detail have the fields {', '.join(sorted(wanted))}",
        f"{', '.join(sorted(found))}, the fields of {other} detail",
        mark_in_file(filed, first, key) if other is not None and first is not None and key is not None else None,
    )


def _fields_of_each(exchange: Exchange, context: Context) -> Iterator[Judged | str]:
    """No record lacks a field that other records of its file have, and that its memory has in another file of the same
    process at this detail level.

    The rule yields no success, because memories that are in a single file prove nothing.
    """
    call = exchange.call
    if not exchange.has_file or call.detail is None or not context.filled:
        return
    changing = {path[0] for path in context.volatile.get(call.operation, ())}
    fields = filled_fields(call.file_records) - changing
    for number, record in enumerate(call.file_records, 1):
        memory = id_of(record)
        if memory is None:
            continue  # nothing tells which memory it is (LRO-FILE-11)
        elsewhere = context.filled.get((id(call.start), call.detail, memory), frozenset[str]())
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
    if mode is not None and not mode & 0o444:  # root reads it all the same
        problem = f"mode {mode:04o}, so that nobody may read it"
    yield Judged(
        problem is None,
        "the path of a regular, readable file",
        f"{show_path(call.file.path)}: {problem}",
    )


def _scores(exchange: Exchange, context: Context) -> Iterator[Judged | str]:
    """score_range has the least and the greatest score that the same call shows inline, if the file has no scores."""
    call, shown = exchange.call, exchange.twin
    if not exchange.has_file or shown is None or exchange.among_others or call.operation in context.unstable_operations:
        return
    reported, scores = call.summary.get("score_range"), hit_scores(shown.result)
    if len(set(scores)) < 2 or not _is_a_range(reported) or any("score" in r for r in call.file_records):
        return
    low, high = cast("list[float]", reported)
    yield Judged(
        abs(low - min(scores)) <= SCORE_ROOM and abs(high - max(scores)) <= SCORE_ROOM,
        f"score_range [{min(scores)}, {max(scores)}], the range of the call's inline hits",
        show(reported),
    )


def _range_of_confidences(exchange: Exchange, context: Context) -> Iterator[Judged | str]:
    """score_range is the range of the file's confidences, if it was so in enough files of the same operation and query
    (`scored_by_confidence`)."""
    call = exchange.call
    reported = call.summary.get("score_range")
    if (call.operation, call.query) not in context.scored_by_confidence or not _is_a_range(reported):
        return
    low, high = cast("list[float]", reported)
    if exchange.has_file and (confidences := _confidences(call)) is not None:
        yield Judged(
            abs(low - confidences[0]) <= SCORE_ROOM and abs(high - confidences[1]) <= SCORE_ROOM,
            f"score_range {list(confidences)}, the range of the confidences, as in other files for this query",
            show(reported),
        )


SCORE_ROOM = 0.01
"""Largest difference from the true score that a reported score may have because it is rounded."""


def _is_a_range(value: object) -> bool:
    numbers = cast("list[object]", value) if isinstance(value, list) else []
    return len(numbers) == 2 and all(isinstance(n, int | float) and not isinstance(n, bool) for n in numbers)


def _one_descriptor(exchange: Exchange, context: Context) -> Iterator[Judged | str]:
    """The descriptors in both places of a result agree."""
    call = exchange.call
    if not exchange.has_file or call.found is None:
        return
    differs = differing_descriptors(call.result or {}, call.found)
    yield Judged(differs is None, "the same descriptor as text and as structuredContent", differs or "")


def _no_records(exchange: Exchange, context: Context) -> Iterator[Judged | str]:
    """No record is returned beside the descriptor; for inject, LRO-INJ-04 demands this."""
    call = exchange.call
    if exchange.has_file and call.found is not None and call.operation != "inject":
        leaked = _record_in(call, _beside(call))
        yield Judged(leaked is None, "no record next to the descriptor", leaked or "")


def _no_text(exchange: Exchange, context: Context) -> Iterator[Judged | str]:
    """An offloaded inject does not return its formatted text beside the descriptor."""
    call = exchange.call
    if exchange.has_file and call.operation == "inject":
        leaked = repeated_record(call)
        yield Judged(leaked is None, "the descriptor alone", leaked or "")


def repeated_record(call: Call) -> str | None:
    """Description of records of the file that the result repeats outside the descriptor's own fields; None if none."""
    known = {"offloaded", "summary", "file_path", "line_schema", "jq_recipes", "guidance"}
    rest = {k: v for k, v in call.descriptor.items() if k not in known}
    return _record_in(call, show(rest, 10_000_000) + _beside(call))


def _beside(call: Call) -> str:
    """Everything in a result that is not in the descriptor."""
    return (call.found.around if call.found is not None else "") + show(_other_members(call), 10_000_000)


def _record_in(call: Call, text: str) -> str | None:
    """Description of the records of the file that a text repeats; None if it repeats none."""
    strings = [
        (str(r.get("id")), s)
        for r in call.file_records
        for s in (r.get("content"), r.get("title"))
        if isinstance(s, str)
    ]
    ids = [str(r.get("id")) for r in call.file_records if len(str(r.get("id"))) >= 8]
    several = [i for i in ids if i in text]
    if len(several) > max(3, len(ids) // 4):
        return f"the ids of {counted(len(several), 'record')} next to the descriptor"
    long = next((i for i, s in strings if len(s) >= 60 and s[:60] in text), None)
    return f"the text of record {long} next to the descriptor" if long is not None else None


def _other_members(call: Call) -> list[object]:
    """Members of a result and its blocks besides their texts: ``_meta``, and the server's own."""
    result = call.result or {}
    content: object = result.get("content")
    blocks = [as_record(b) for b in cast("list[object]", content)] if isinstance(content, list) else []
    usual = {"content", "structuredContent"}
    return [
        {k: v for k, v in result.items() if k not in usual},
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
    cursor = cursor_beside(call.result, call.found)
    yield Judged(cursor is None, "no cursor next to a descriptor", cursor or "")


# The file's name and place


def _folder(exchange: Exchange, context: Context) -> Iterator[Judged | str]:
    """The file is directly in the configured output folder."""
    call = exchange.call
    if not exchange.has_file:
        return
    folder, root = call.output_dir, call.real_output_dir
    if folder is None or root is None or call.file is None or call.file.real is None:
        yield context.survey.reason_not_set("output_dir")
        return
    real = pathlib.Path(call.file.real)
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
        yield Judged(exchange.shares is None, "a file of its own", f"the file of another call: {exchange.call.path}")


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
    known = exchange.lowest.estimate
    if call.operation in context.unstable_operations and known is not None:
        known = _estimate_of_same_records(exchange, known)
        if known is None:
            yield "identical calls return different records, so the size of this result is unknown"
            return
    if not isinstance(threshold, int) or (call.outcome == "no answer" and not died(call)):
        return
    if known is None:
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
    if exceeds(known, threshold) != above or 0 < abs(known - threshold) <= drift:
        return
    apart = ceil(context.varying * max(1, len(exchange.lowest.file_records)) / CHARACTERS_PER_TOKEN)
    if exceeds(known - apart if above else known + apart, threshold) != above:
        return
    own = call.estimate if call is not exchange.lowest and not above and exchange.has_file else None
    if own is not None and exceeds(own, threshold) and 2 < abs(own - known) <= slack(exchange.lowest, call):
        yield "another process returns other values for the same call, so that the result has another size there"
        return
    side = "offloaded" if above else "inline"
    expected = f"{call.label}, a result of {known} tokens at threshold {threshold}, is {side}"
    place = STATED_ESTIMATE if context.stated_differently else ""
    yield Judged(call.outcome == side, expected, _outcome(call), depends_on=(exchange.lowest,), place=place)


def _estimate_of_same_records(exchange: Exchange, known: int) -> int | None:
    """E of a call whose operation returns different records each time: *known*, from the call at the lowest threshold,
    if both returned the same records; otherwise the call's own, None if it states none."""
    call, lowest = exchange.call, exchange.lowest
    of_lowest = lowest.file_records if lowest is not None else []
    if exchange.index(call.file_records or call.records or []).keys() == exchange.index(of_lowest).keys():
        return known
    return call.estimate


def _counts_single_memory(exchange: Exchange, context: Context) -> Iterator[Judged | str]:
    """A single memory that the suite stored exceeds the lowest threshold, as single memories of the server do."""
    call, survey = exchange.call, context.survey
    own = survey.single.get(call.operation)
    if call is not exchange.lowest or exchange.twin is None or own is None or own.outcome != "offloaded":
        return
    if exchange.is_one_stored_memory and not survey.is_small(call):
        expected = f"a single memory is offloaded at threshold {survey.lowest}"
        yield Judged(call.outcome != "inline", expected, "inline: the server seems to leave it out of the estimate")


def _drift(operation: str, threshold: int, context: Context) -> float:
    """Tokens by which E may differ between two identical calls."""
    edge = context.edges.edges[operation].drift if context.edges is not None else 0
    return max(2 * edge, DRIFT * threshold if operation in context.survey.volatile_operations else 0)


def _outcome(call: Call) -> str:
    if died(call):
        return "the server exited"
    error = f": {show(call.reply.error or call.text, 200)}" if call.outcome == "error" else ""
    return f"{call.outcome}{error}"


def _same_estimate(exchange: Exchange, context: Context) -> Iterator[Judged | str]:
    """The same call has the same E under each threshold, apart from differences in size."""
    call, lowest = exchange.call, exchange.lowest
    if lowest is None or lowest is call or not exchange.has_file or not lowest.file_records:
        return
    if call.file_ids != lowest.file_ids:
        yield "the files of the same call hold different records"
        return
    one, other = lowest.header.get("estimated_tokens"), call.header.get("estimated_tokens")
    if isinstance(one, int) and isinstance(other, int):
        expected = f"E = {one}, as for the same call at threshold {lowest.settings.get('threshold_tokens')}"
        same = abs(one - other) <= slack(lowest, call)
        yield Judged(same, expected, f"E = {other}", depends_on=(lowest,), place=STATED_ESTIMATE)


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
