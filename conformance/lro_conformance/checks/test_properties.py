"""Properties that hold for any limit, query, memory and file name, explored by Hypothesis on live servers.

Strategies are imported in the functions that use them: see `lro_conformance.properties.search`.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lro_conformance.analysis.comparison import Comparison
from lro_conformance.analysis.documents import (
    Document,
    breaks,
    broken_line,
    describe,
    subject,
    unmet_precondition,
    validated,
    with_recipes,
)
from lro_conformance.analysis.threshold import Rule
from lro_conformance.capture.call import Call, OfACall
from lro_conformance.capture.claims import size_of
from lro_conformance.capture.file import FileSeen
from lro_conformance.capture.records import Record, by_id, id_of, lost_or_changed, show, value_at
from lro_conformance.capture.reproduce import of_cleaning
from lro_conformance.checks.test_cleanup import goes_by_age
from lro_conformance.judging.check import check
from lro_conformance.judging.outcome import NotObserved
from lro_conformance.judging.subjects import Miss, Subjects, evidence_of, location_of
from lro_conformance.lab.thresholds import LIMIT
from lro_conformance.trials.boundary import Edges
from lro_conformance.trials.cleanup import TTL, Cleanup
from lro_conformance.trials.decoys import DAY, OLD_S, plant
from lro_conformance.trials.survey import Survey
from lro_spec.editions import Edition
from lro_spec.filenames import parse_file_name
from lro_spec.jsonl.strict import equal
from lro_spec.validation.request import Request

if TYPE_CHECKING:
    from lro_conformance.lab.bench import Bench
    from lro_conformance.properties.explore import Live

# threshold


@check("LRO-THR-06")
def test_anything_above_is_offloaded(
    live: Live, survey: Survey, edges: Edges, decisions: Mapping[str, Rule], subjects: Subjects
) -> None:
    """For any limit, detail level and query, a result that exceeds the threshold is offloaded."""
    _iff(live, survey, edges, decisions, subjects, above=True)


@check("LRO-THR-07")
def test_anything_else_is_inline(
    live: Live, survey: Survey, edges: Edges, decisions: Mapping[str, Rule], subjects: Subjects
) -> None:
    """For any limit, detail level and query, a result that does not exceed the threshold is inline."""
    _iff(live, survey, edges, decisions, subjects, above=False)


def _iff(
    live: Live, survey: Survey, edges: Edges, decisions: Mapping[str, Rule], subjects: Subjects, *, above: bool
) -> None:
    exact = [n for n, r in decisions.items() if r == "exact"]
    bench, threshold = live.at_the_edge, edges.threshold
    if bench is None or not exact:
        raise NotObserved(edges.reason or "no operation has an exact threshold")
    from lro_conformance.properties.strategies import any_call

    def observe(asked: Mapping[str, Any]) -> tuple[int, int, Call] | None:
        lowest = live.offloading.call(**asked)
        known = lowest.estimate
        if known is None:  # a tenth of its characters is less than any honest estimate
            return (size_of(lowest) // 10, survey.lowest, lowest) if lowest.records else None
        drift = max(
            2 * edges.edges[asked["name"]].drift, threshold // 20 if asked["name"] in survey.volatile_operations else 0
        )
        return None if 0 < abs(known - threshold) <= drift else (known, threshold, bench.call(**asked))

    def verdict(seen: tuple[int, int, Call] | None) -> Miss | bool:
        if seen is None or (seen[0] > seen[1]) != above or seen[2].outcome in ("error", "no answer"):
            return False
        known, limit, call = seen
        expected = f"{call.label} of E = {known} at threshold {limit}: {_side(above)}"
        return call.outcome == _side(above) or Miss.of(expected, call.outcome, call)

    live.judge(
        subjects,
        "any call",
        any_call({n: survey.operations[n].details for n in exact}, survey.word),
        observe,
        verdict,
        share=1.5,
    )


def _side(above: bool) -> str:
    return "offloaded" if above else "inline"


# memories


def _named(live: Live, survey: Survey, memories: list[Record]) -> list[Record]:
    """The memories with unique ids, titles that begin with a unique word, and more than `lowest` tokens."""
    word = live.word()
    named = [{"id": live.id(), **m, "title": f"{word} {m['title']}"} for m in memories]
    if survey.lowest > 1:
        named[0]["content"] += " 0123456" * survey.lowest
    return named


def _fetch(survey: Survey, bench: Bench, memories: list[Record]) -> Call:
    """A call whose result has these memories: by a query for their common word, or else for all memories."""
    name = next(n for n in survey.operations if survey.offloads(n))
    operation = survey.operations[name]
    detail = operation.details[-1] if operation.details else None
    ids = {m["id"] for m in memories}
    if operation.query is not None:
        call = bench.call(name, detail=detail, query=memories[0]["title"].split()[0])
        if ids <= by_id(call.filed or call.records or []).keys():
            return call
    return bench.call(name, detail=detail, limit=5 * LIMIT)


def _needs_seed(live: Live) -> None:
    seed = live.profile.seed
    if seed is None or seed.tool is None:
        raise NotObserved("the suite cannot store memories (profile: seed)")


@check("LRO-FILE-10")
def test_any_memory_survives(live: Live, survey: Survey, comparison: Comparison, subjects: Subjects) -> None:
    """Any memory is in the file exactly as it is inline: every code point, every number, any depth.

    Only values that the server stores unchanged are compared: it may rewrite a memory when it stores it.
    """
    _needs_seed(live)
    if comparison.obstacle is not None:
        raise NotObserved(comparison.obstacle)
    skip = {p for name in survey.operations for p in comparison.volatile(name)}

    def verdict(seen: StoredMemory | None) -> Miss | bool:
        if seen is None or not live.inline.stored(seen.memory):
            return False
        memory, filed = seen.memory, seen.call
        shown = _fetch(survey, live.inline, [memory])
        sound = [line for line in filed.file.record_lines if line.problem is None] if filed.file is not None else []
        there = by_id(r for line in sound if (r := line.record) is not None).get(memory["id"])
        here = by_id(shown.records or []).get(memory["id"])
        if here is None or there is None:
            return False
        kept = {k: v for k, v in here.items() if k in memory and equal(v, memory[k])}
        wrong = lost_or_changed(kept, {k: there[k] for k in kept if k in there}, skip)
        if not wrong:
            return True
        path = "/" + "/".join(wrong[0])
        expected = f"{path} of a stored memory is {value_at(here, wrong[0])}, as inline"
        return Miss.of(expected, value_at(there, wrong[0]), seen)

    _any_memory(live, survey, subjects, verdict)


@check("LRO-THR-08")
def test_any_memory_counts(live: Live, survey: Survey, subjects: Subjects) -> None:
    """Every memory counts: alone, it exceeds a threshold of 1."""
    _needs_seed(live)
    if not survey.effective:
        raise NotObserved(f"a threshold of {survey.lowest} has no effect")

    def verdict(seen: StoredMemory | None) -> Miss | bool:
        if seen is None:
            return False
        call, own = seen.call, {seen.memory["id"]}
        if call.outcome == "offloaded":
            return {id_of(r) for r in call.filed} == own
        if call.outcome != "inline" or {id_of(r) for r in call.records or []} != own or survey.is_small(call):
            return False
        expected = f"a memory of its own is offloaded at threshold_tokens = {survey.lowest}"
        return Miss.of(expected, "inline: it was not counted", call)

    _any_memory(live, survey, subjects, verdict)


@check("LRO-FILE-01")
def test_any_memory_is_one_line(live: Live, survey: Survey, subjects: Subjects) -> None:
    """A memory is one line of JSON, whatever it contains: line feeds, U+2028, quotes, emoji."""
    _needs_seed(live)

    def verdict(seen: StoredMemory | None) -> Miss | bool:
        if seen is None:
            return False
        call = seen.call
        if seen.memory["id"] not in by_id(call.filed) and (call.file is None or call.file.problem is not None):
            return False
        wrong = broken_line(call)
        return wrong is None or Miss.of("every line one JSON object", wrong, seen)

    _any_memory(live, survey, subjects, verdict)


@dataclass(frozen=True)
class StoredMemory(OfACall):
    """A memory that the server has stored, and a call that returned it."""

    memory: Record
    call: Call


@evidence_of.register
def _(stored: StoredMemory) -> str:
    return f"memory: {show(stored.memory, 2000)}\n{evidence_of(stored.call)}"


def _any_memory(
    live: Live, survey: Survey, subjects: Subjects, verdict: Callable[[StoredMemory | None], Miss | bool]
) -> None:
    from lro_conformance.properties.strategies import MEMORY

    def observe(given: Record) -> StoredMemory | None:
        [memory] = _named(live, survey, [given])
        return (
            StoredMemory(memory, _fetch(survey, live.offloading, [memory])) if live.offloading.stored(memory) else None
        )

    live.judge(subjects, "any memory", MEMORY, observe, verdict)


# cleanup


@check("LRO-HARD-04")
def test_any_other_name_stays(
    live: Live, survey: Survey, cleanup: Cleanup, edition: Edition, subjects: Subjects
) -> None:
    """Cleanup leaves a file alone unless its name matches the pattern, whatever it is called."""
    from lro_conformance.properties.strategies import any_names

    name = _cleans(survey, cleanup)

    def examine(names: list[str]) -> Miss | bool:
        bench = live.cleaning()
        call, folder, template = _folder(bench, name, edition)
        others = (n for n in names if not re.fullmatch(rf"{edition.file_prefix}-.*\.jsonl", n))
        made = [folder / n for n in others if n not in (".", "..")]
        past = time.time() - OLD_S
        for path in made:
            path.write_bytes(template.data)
            os.utime(path, (past, past))
        old = plant(folder, template, OLD_S, name, edition.name)
        live.clean_up([old])
        gone = [p.name for p in made if not p.exists()]
        for path in made:
            path.unlink(missing_ok=True)
        if old.exists() or not made:
            return False
        if not gone:
            return True
        evidence = f"ttl_seconds: {TTL}\nfiles: {show(names, 500)}"
        script = of_cleaning(call, bench.cleanup_request, planted=[(OLD_S, name)], decoys=[(p, "name") for p in made])
        return Miss(f"{show(gone[0])} is left alone", "it was deleted", evidence, script, location_of(call))

    live.explore(subjects, any_names(edition.file_prefix), examine, share=_share(live, survey))


@check("LRO-CFG-03")
def test_any_age_by_the_ttl(live: Live, survey: Survey, cleanup: Cleanup, edition: Edition, subjects: Subjects) -> None:
    """With ttl_seconds = 600, files of any age are deleted or kept by that age."""
    name = _cleans(survey, cleanup)
    cleaning = cleanup.set_ttl
    if cleaning is None or cleaning.takes_fresh or not goes_by_age(cleaning):
        raise NotObserved("files are not deleted by their age under this TTL")
    from lro_conformance.properties.strategies import any_ages

    def examine(ages: list[int]) -> Miss | bool:
        call, folder, template = _folder(live.cleaning(), name, edition)
        made = [(age, plant(folder, template, age, name, edition.name)) for age in ages]
        old = plant(folder, template, OLD_S, name, edition.name)
        live.clean_up([old, *(path for age, path in made if age > TTL)])
        wrong = [(age, p.exists()) for age, p in made if p.exists() != (age < TTL)]
        idle = old.exists()
        for path in (*(path for _, path in made), old):
            path.unlink(missing_ok=True)
        if idle:  # no cleanup ran this time, a moment after the last
            return False
        if not wrong:
            return True
        age, there = wrong[0]
        return Miss(
            f"with a TTL of {TTL} s a file {age} s old {'is deleted' if there else 'stays'}",
            "it is still there" if there else "it was deleted",
            f"ages planted together: {ages}",
            of_cleaning(call, live.cleaning().cleanup_request, planted=[(a, name) for a in ages]),
            location_of(call),
        )

    live.explore(subjects, any_ages((0, TTL - 60), (TTL + 5, 100 * DAY)), examine, share=_share(live, survey))


def _cleans(survey: Survey, cleanup: Cleanup) -> str:
    if cleanup.set_ttl is None or not any(p.gone for p in cleanup.set_ttl.planted):
        raise NotObserved(cleanup.reason or "files of earlier processes are not deleted")
    return cleanup.set_ttl.call.operation if cleanup.set_ttl.call is not None else "recall"


def _folder(bench: Bench, name: str, edition: Edition) -> tuple[Call, Path, FileSeen]:
    """A call, the output folder, and one of the server's own files as a template for planted ones."""
    call = bench.offloading_call(name, 3)
    file = call.file
    if (
        file is None
        or file.problem is not None
        or not parse_file_name(os.path.basename(file.path), edition=edition.name)
    ):
        raise NotObserved("none of the server's own files could be read as a template")
    return call, Path(os.path.dirname(file.path)), file


def _share(live: Live, survey: Survey) -> float:
    """Share of the time budget: less if every cleanup is a restart or a wait."""
    how = live.profile.cleanup
    by_tool = any(t.get("name") == "run_custodial_task" for t in survey.tools) if how is None else how.tool is not None
    return 1.0 if by_tool else 0.2


# recipes


@check("LRO-REC-01")
def test_titles_of_any_memories(live: Live, survey: Survey, edition: Edition, subjects: Subjects) -> None:
    """Recipe 1 is right for arbitrary memories."""
    _any_corpus("LRO-REC-01", live, survey, edition, subjects)


@check("LRO-REC-02")
def test_prefix_in_any_memories(live: Live, survey: Survey, edition: Edition, subjects: Subjects) -> None:
    """Recipe 2 is right for arbitrary memories."""
    _any_corpus("LRO-REC-02", live, survey, edition, subjects)


@check("LRO-REC-03")
def test_keyword_in_any_memories(live: Live, survey: Survey, edition: Edition, subjects: Subjects) -> None:
    """Recipe 3 is right for arbitrary memories."""
    _any_corpus("LRO-REC-03", live, survey, edition, subjects)


@check("LRO-REC-04")
def test_order_of_any_memories(live: Live, survey: Survey, edition: Edition, subjects: Subjects) -> None:
    """Recipe 4 is right for arbitrary memories."""
    _any_corpus("LRO-REC-04", live, survey, edition, subjects)


@check("LRO-REC-05")
def test_projection_of_any_memories(live: Live, survey: Survey, edition: Edition, subjects: Subjects) -> None:
    """Recipe 5 is right for arbitrary memories."""
    _any_corpus("LRO-REC-05", live, survey, edition, subjects)


@check("LRO-REC-06")
def test_type_in_any_memories(live: Live, survey: Survey, edition: Edition, subjects: Subjects) -> None:
    """Recipe 6 is right for arbitrary memories."""
    _any_corpus("LRO-REC-06", live, survey, edition, subjects)


@check("LRO-REC-07")
def test_entities_of_any_memories(live: Live, survey: Survey, edition: Edition, subjects: Subjects) -> None:
    """Recipe 7 is right for arbitrary memories."""
    _any_corpus("LRO-REC-07", live, survey, edition, subjects)


@check("LRO-REC-08")
def test_counts_of_any_memories(live: Live, survey: Survey, edition: Edition, subjects: Subjects) -> None:
    """Recipe 8 is right for arbitrary memories."""
    _any_corpus("LRO-REC-08", live, survey, edition, subjects)


@check("LRO-REC-09")
def test_top_ten_of_any_memories(live: Live, survey: Survey, edition: Edition, subjects: Subjects) -> None:
    """Recipe 9 is right for arbitrary memories."""
    _any_corpus("LRO-REC-09", live, survey, edition, subjects)


@check("LRO-REC-10")
def test_pattern_in_any_memories(live: Live, survey: Survey, edition: Edition, subjects: Subjects) -> None:
    """Recipe 10 is right for arbitrary memories."""
    _any_corpus("LRO-REC-10", live, survey, edition, subjects)


def _any_corpus(id: str, live: Live, survey: Survey, edition: Edition, subjects: Subjects) -> None:
    _needs_seed(live)
    if not survey.files:
        raise NotObserved("no file could be read")
    # A command that fails on the server's own memories does not count if it happens to be right on a few.
    largest = _document(max(survey.files, key=lambda c: c.weight), live, edition)
    if (reason := unmet_precondition(id, largest)) is not None:
        raise NotObserved(reason)
    wrong = next(filter(breaks, largest.of(id)), None)
    if wrong is not None:
        at = subject(largest, wrong)
        subjects.expect(holds=False, expected=wrong.expected, observed=describe(wrong), at=at)
        return
    from lro_conformance.properties.strategies import CORPUS

    def observe(given: list[Record]) -> Call | None:
        memories = _named(live, survey, given)
        stored = all(live.offloading.stored(m) for m in memories)
        return _fetch(survey, live.offloading, memories) if stored else None

    def verdict(call: Call | None) -> Miss | bool:
        if call is None or not call.filed:
            return False
        one = _document(call, live, edition)
        if unmet_precondition(id, one) is not None:
            return False
        wrong = next(filter(breaks, one.of(id)), None)
        return wrong is None or Miss.of(wrong.expected, describe(wrong), subject(one, wrong))

    live.judge(subjects, "any memories", CORPUS, observe, verdict, share=0.5)


def _document(call: Call, live: Live, edition: Edition) -> Document:
    return with_recipes(validated(call, Request(call.operation, None), edition), live.recipes, edition)
