"""Unusual queries, other clients, and very large memories."""

from __future__ import annotations

from lro_conformance.analysis.documents import Documents, describe
from lro_conformance.analysis.estimate import MEASURES_OTHER_RECORDS, Estimates
from lro_conformance.analysis.exchanges import ALTERED, Exchanges
from lro_conformance.capture.call import Call, ComparedCall, died
from lro_conformance.capture.corpus import LARGE_WORD, OTHER_WORD
from lro_conformance.capture.estimate import characters, tolerated_range
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
from lro_spec.tokens import MIN_FACTOR


@check("LRO-REC-13")
def test_any_query_keeps_recipes_valid(
    survey: Survey, folders: Folders, recipes: Documents, subjects: Subjects
) -> None:
    """All recipes stay valid if the query has characters that are special in JSON, in a shell or in a regular
    expression."""
    ordinary_documents = recipes.of(survey.files[:1])
    valid_ordinarily = {
        c.index
        for document in ordinary_documents
        for c in commands_of(document.call)
        if c.index not in document.broken_recipes
    }
    files = odd_files(folders, subjects)
    documents = recipes.of(files)
    if files and not documents:
        subjects.not_observed(
            "files still grow after a descriptor has named them, and only the survey's files were read a second time"
        )
    for document in documents:
        for command in commands_of(document.call):
            problem = document.broken_recipes.get(command.index)
            if command.index not in valid_ordinarily:
                subjects.not_observed("a recipe is also wrong with an ordinary query")
            elif problem is not None and problem.kind is Kind.NOT_EVALUATED:
                subjects.not_observed(problem.sentence)
            else:
                number = command.index + 1
                subjects.expect(
                    problem is None,
                    expected=f"recipe #{number} as one valid pipeline on its file, for the query "
                    f"{show(command.call.query)}",
                    observed="" if problem is None else f"{describe(problem)}: {show(command.text, 300)}",
                    subject=command,
                )


def odd_files(folders: Folders, subjects: Subjects) -> list[Call]:
    """The calls with unusual queries (`Folders.unusual_queries`) that were offloaded to a readable file.

    If there are no such calls, the reason is noted as not observed.
    """
    offloaded = [c for c in folders.unusual_queries if c.file is not None and c.file.problem is None]
    if not offloaded:
        subjects.not_observed(
            "no call with an unusual query, such as one with quotation marks, a backslash and a line feed, was "
            "offloaded to a readable file"
        )
    return offloaded


@check("LRO-THR-07")
def test_empty_result_is_no_error(folders: Folders, disabled: Disabled, subjects: Subjects) -> None:
    """If a query finds nothing and that is not an error with LRO off, it is not an error with LRO on, either."""
    without_lro = {c.operation: c for c in disabled.nothing}
    for call in folders.nothing:
        call_without_lro = without_lro.get(call.operation)
        if call_without_lro is None or call_without_lro.outcome != "inline":
            subjects.not_observed("with LRO off, a query that finds nothing has no inline result to compare with")
            continue
        if call.outcome == "no answer" and not died(call):
            subjects.not_observed("a query that finds nothing was not answered in time")
            continue
        subjects.expect(
            call.outcome in ("inline", "offloaded"),
            expected=f"a result, as with enabled = false: {show(call_without_lro.text, 100)}",
            observed="the server exited" if died(call) else f"an error: {show(call.reply.error or call.text, 200)}",
            subject=ComparedCall(call, call_without_lro, "with LRO off"),
        )


@check("LRO-THR-06")
def test_any_query_is_offloaded(survey: Survey, folders: Folders, subjects: Subjects) -> None:
    """An operation that offloads ordinary calls also offloads calls whose query is long or has special characters."""
    if not survey.adjustable:
        raise NotObserved(survey.reason_not_set("threshold_tokens"))
    offloading_operations = {c.operation for c in folders.unset if c.outcome == "offloaded"}
    for call in folders.unusual_queries:
        inline_records = [r for r in call.records or [] if "id" in r]
        if (
            call.operation not in offloading_operations
            or (call.outcome != "offloaded" and not inline_records)
            or survey.is_small(call)
        ):
            subjects.not_observed(
                "an unusual query returned too few records or none, or the operation offloaded no ordinary call "
                "without output_dir"
            )
            continue
        subjects.expect(
            call.outcome == "offloaded",
            expected=f"{call.operation} is offloaded at threshold {survey.lowest} for the query {show(call.query)}",
            observed=f"{counted(len(inline_records), 'record')} inline",
            subject=call,
        )


@check("LRO-THR-06")
def test_any_client_is_served(survey: Survey, folders: Folders, subjects: Subjects) -> None:
    """An operation that offloads for one client also offloads for another client whose model has a shell."""
    if folders.client is None:
        raise NotObserved("the profile names the client, so no other was tried (profile: client)")
    for usual_call, call in zip(folders.unset, folders.by_other_client, strict=True):
        if usual_call.outcome != "offloaded" or call.outcome == "no answer" or survey.is_small(call):
            subjects.not_observed(
                "a call was not offloaded without output_dir, or the different client got no answer or a small result"
            )
            continue
        subjects.expect(
            call.outcome == "offloaded",
            expected=f"{call.operation} is offloaded for the client {folders.client!r}, as it is for 'lro-certify'",
            observed=call.outcome,
            subject=call,
        )


@check("LRO-THR-02", calls_of=("inline",))
def test_estimate_is_of_this_call(
    estimates: Estimates, seeded: Seeded, exchanges: Exchanges, subjects: Subjects
) -> None:
    """The header's estimated_tokens is the estimate of this call's records, not of an earlier call with a different
    query.

    The estimate may be between half and twice what LRO-THR-02 allows for these records, because a few deeply nested
    objects become much larger when they are indented.
    """
    for call in seeded.files:
        if call.operation == "inject" or call.estimate is None:
            subjects.not_observed("the header has no E" if call.estimate is None else "inject is not examined here")
            continue
        if estimates.are_of_other_records(call.operation):
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
            subject=call,
        )


def _rough_range(call: Call) -> tuple[int, int]:
    """The lowest and the highest estimate that this check accepts for a call's file: half of the smallest and twice the
    largest honest estimate."""
    low, high = tolerated_range(call)
    return low // 2, 2 * high


def _roughly_honest(call: Call) -> bool:
    low, high = _rough_range(call)
    return call.estimate is None or low <= call.estimate <= high


@check("LRO-THR-06")
def test_huge_memory_is_offloaded(survey: Survey, seeded: Seeded, subjects: Subjects) -> None:
    """A single large memory is offloaded, and so is a single memory of more than 65,536 tokens."""
    large_call = seeded.large_filed
    inline_memory = (
        _memory_with(LARGE_WORD, large_call) if large_call is not None and large_call.outcome == "inline" else None
    )
    if large_call is not None and inline_memory and survey.lowest > 1 and not survey.is_small(large_call):
        subjects.expect(  # if the lowest threshold is 1, a single record is examined by other checks
            holds=False,
            expected=f"one memory of {len(large_call.text)} characters is offloaded at threshold {survey.lowest}",
            observed="returned inline",
            subject=large_call,
        )
        return
    call, threshold = seeded.huge, 2 * seeded.large_estimate
    length = max(map(len, strings_in(_memory_with(OTHER_WORD, call))), default=0)
    if call is None or length / 4 * MIN_FACTOR <= threshold:
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
        subject=call,
    )


def _memory_with(word: str, call: Call | None) -> Record:
    """The first memory that contains this word in a call's result; empty if there is no such memory."""
    memories = _memories_with(word, call)
    return memories[0] if memories else {}


def _memories_with(word: str, call: Call | None) -> list[Record]:
    """The memories that contain this word in a call's file. If the call has no file with records, those in its inline
    result."""
    return [r for r in (call.file_records or call.records or []) if _contains(word, r)] if call is not None else []


def _contains(word: str, record: Record) -> bool:
    return any(word in text for text in strings_in(record))
