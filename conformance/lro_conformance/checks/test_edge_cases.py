"""Unusual queries, other clients, very long and very large memories."""

from __future__ import annotations

from lro_conformance.analysis.documents import Documents, describe
from lro_conformance.analysis.estimate import MEASURES_OTHER_RECORDS, Estimates
from lro_conformance.analysis.exchanges import ALTERED, Exchanges
from lro_conformance.capture.call import Call, ComparedCall, died
from lro_conformance.capture.corpus import OTHER_WORD, WORD
from lro_conformance.capture.estimate import characters, honest_range
from lro_conformance.capture.recipes import commands_of
from lro_conformance.capture.records import Record, show, strings_in
from lro_conformance.judging.check import check
from lro_conformance.judging.outcome import NotObserved
from lro_conformance.judging.subjects import Subjects
from lro_conformance.trials.disabled import Disabled
from lro_conformance.trials.folders import Folders
from lro_conformance.trials.seeded import Seeded
from lro_conformance.trials.survey import Survey
from lro_spec.display import counted
from lro_spec.findings import Kind
from lro_spec.tokens import LOW


@check("LRO-REC-13")
def test_any_query_keeps_recipes_valid(
    survey: Survey, folders: Folders, recipes: Documents, subjects: Subjects
) -> None:
    """A query with characters that are special in JSON, in a shell or in a regular expression breaks no recipe."""
    usual = recipes.of(survey.files[:1])
    unbroken = {c.index for one in usual for c in commands_of(one.call) if c.index not in one.broken_recipes}
    files = odd_files(folders, subjects)
    documents = recipes.of(files)
    if files and not documents:
        subjects.not_observed(
            "files still grow after a descriptor has named them, and only the survey's files were read a second time"
        )
    for one in documents:
        for command in commands_of(one.call):
            wrong = one.broken_recipes.get(command.index)
            if command.index not in unbroken:
                subjects.not_observed("a recipe is also wrong with an ordinary query")
            elif wrong is not None and wrong.kind is Kind.NOT_EVALUATED:
                subjects.not_observed(wrong.sentence)
            else:
                number = command.index + 1
                subjects.expect(
                    wrong is None,
                    expected=f"recipe #{number} as one valid pipeline on its file, for the query "
                    f"{show(command.call.query)}",
                    observed="" if wrong is None else f"{describe(wrong)}: {show(command.text, 300)}",
                    at=command,
                )


def odd_files(folders: Folders, subjects: Subjects) -> list[Call]:
    """The calls with unusual queries (`Folders.unusual_queries`) that were offloaded to a readable file.

    If there are none, that is noted as not observed.
    """
    found = [c for c in folders.unusual_queries if c.file is not None and c.file.problem is None]
    if not found:
        subjects.not_observed(
            "no call with an unusual query, such as one with quotation marks, a backslash and a line feed, was "
            "offloaded to a readable file"
        )
    return found


@check("LRO-THR-07")
def test_empty_result_is_no_error(folders: Folders, disabled: Disabled, subjects: Subjects) -> None:
    """A query that finds nothing is no error with LRO on, if it is no error with LRO off."""
    usual = {c.operation: c for c in disabled.nothing}
    for call in folders.nothing:
        off = usual.get(call.operation)
        if off is None or off.outcome != "inline":
            subjects.not_observed("with LRO off, a query that finds nothing has no inline result to compare with")
            continue
        if call.outcome == "no answer" and not died(call):
            subjects.not_observed("a query that finds nothing was not answered in time")
            continue
        subjects.expect(
            call.outcome in ("inline", "offloaded"),
            expected=f"a result, as with enabled = false: {show(off.text, 100)}",
            observed="the server exited" if died(call) else f"an error: {show(call.reply.error or call.text, 200)}",
            at=ComparedCall(call, off, "with LRO off"),
        )


@check("LRO-THR-06")
def test_any_query_is_offloaded(survey: Survey, folders: Folders, subjects: Subjects) -> None:
    """An operation that offloads ordinary calls also offloads calls with a long query, or with odd characters in it."""
    if not survey.adjustable:
        raise NotObserved(survey.reason_not_set("threshold_tokens"))
    usual = {c.operation for c in folders.unset if c.outcome == "offloaded"}
    for call in folders.unusual_queries:
        found = [r for r in call.records or [] if "id" in r]
        if call.operation not in usual or (call.outcome != "offloaded" and not found) or survey.is_small(call):
            subjects.not_observed(
                "an unusual query returned too few records or none, or the operation offloaded no ordinary call "
                "without output_dir"
            )
            continue
        subjects.expect(
            call.outcome == "offloaded",
            expected=f"{call.operation} is offloaded at threshold {survey.lowest} for the query {show(call.query)}",
            observed=f"{counted(len(found), 'record')} inline",
            at=call,
        )


@check("LRO-THR-06")
def test_any_client_is_served(survey: Survey, folders: Folders, subjects: Subjects) -> None:
    """An operation that offloads for one client also offloads for a different client whose model has a shell."""
    if folders.client is None:
        raise NotObserved("the profile names the client, so no other was tried (profile: client)")
    for known, call in zip(folders.unset, folders.by_other_client, strict=True):
        if known.outcome != "offloaded" or call.outcome == "no answer" or survey.is_small(call):
            subjects.not_observed(
                "a call was not offloaded without output_dir, or the different client got no answer or a small result"
            )
            continue
        subjects.expect(
            call.outcome == "offloaded",
            expected=f"{call.operation} is offloaded for the client {folders.client!r}, as it is for 'lro-certify'",
            observed=call.outcome,
            at=call,
        )


@check("LRO-THR-02", calls_of=("inline",))
def test_estimate_is_of_this_call(
    estimates: Estimates, seeded: Seeded, exchanges: Exchanges, subjects: Subjects
) -> None:
    """The header's E is the estimate of this call's records, not of an earlier call with a different query.

    E may be as low as half of the lowest honest estimate and as high as twice the highest, since a few deeply nested
    objects grow a lot when they are indented.
    """
    for call in seeded.files:
        if call.operation == "inject" or call.estimate is None:
            subjects.not_observed("the header has no E" if call.estimate is None else "inject is not examined here")
            continue
        if estimates.measure_differently(call.operation):
            subjects.not_observed(MEASURES_OTHER_RECORDS)
            continue
        if not _roughly_honest(call) and exchanges.alters(call):
            subjects.not_observed(ALTERED)
            continue
        low, high = _rough_range(call)
        subjects.expect(
            _roughly_honest(call),
            expected=f"E between {low} and {high} for {characters(call)} characters in {len(call.file_records)} record "
            "lines",
            observed=f"E = {call.estimate}",
            at=call,
        )


def _rough_range(call: Call) -> tuple[int, int]:
    """Half of the smallest and twice the largest honest estimate of a file."""
    low, high = honest_range(call)
    return low // 2, 2 * high


def _roughly_honest(call: Call) -> bool:
    low, high = _rough_range(call)
    return call.estimate is None or low <= call.estimate <= high


@check("LRO-THR-06")
def test_huge_memory_is_offloaded(survey: Survey, seeded: Seeded, subjects: Subjects) -> None:
    """One large memory is offloaded, and so is one memory of more than 65,536 tokens."""
    alone = seeded.large_filed
    shown = _with(WORD, alone) if alone is not None and alone.outcome == "inline" else None
    if alone is not None and shown and survey.lowest > 1 and not survey.is_small(alone):
        subjects.expect(  # at a threshold of 1, other checks examine any single record
            holds=False,
            expected=f"one memory of {len(alone.text)} characters is offloaded at threshold {survey.lowest}",
            observed="returned inline",
            at=alone,
        )
        return
    call, threshold = seeded.huge, 2 * seeded.large_estimate
    length = max(map(len, strings_in(_with(OTHER_WORD, call))), default=0)
    if call is None or length / 4 * LOW <= threshold:
        raise NotObserved("no memory of more than 65,536 tokens could be stored and retrieved")
    if not all(_roughly_honest(c) for c in seeded.files):
        raise NotObserved(
            "the E of some call is not that of its own records (LRO-THR-02), so the E of the large memory, which the "
            "threshold depends on, may be wrong, too"
        )
    subjects.expect(
        call.outcome == "offloaded",
        expected=f"one memory of {length} characters is offloaded at threshold {threshold}",
        observed=call.outcome,
        at=call,
    )


def _with(word: str, call: Call | None) -> Record:
    """The memory with this word in a call's result; empty if there is none."""
    found = _all_with(word, call)
    return found[0] if found else {}


def _all_with(word: str, call: Call | None) -> list[Record]:
    """The memories with this word in a call's file or, if it has no file with records, in its inline result."""
    return [r for r in (call.file_records or call.records or []) if _has(word, r)] if call is not None else []


def _has(word: str, record: Record) -> bool:
    return any(word in text for text in strings_in(record))
