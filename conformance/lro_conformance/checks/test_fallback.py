"""Write failure: the operation succeeds with a warning and with whole records that do not exceed the threshold."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from lro_conformance.analysis.comparison import Comparison
from lro_conformance.analysis.estimate import Estimates
from lro_conformance.analysis.events import events_in
from lro_conformance.analysis.exchanges import Judged
from lro_conformance.analysis.failed_writes import (
    FailedWrites,
    emits_event,
    has_fewer_records,
    keeps_whole_records,
    no_file_rule,
    offloads_again,
    remark_on_announced,
    succeeds,
    warns,
)
from lro_conformance.capture.records import show
from lro_conformance.judging.check import check
from lro_conformance.judging.subjects import Subjects
from lro_conformance.trials.cleanup import Cleanup
from lro_conformance.trials.fallback import Failing, Recovered
from lro_conformance.trials.survey import Inline, Survey


@check("LRO-ERR-01")
def test_operation_succeeds(failed_writes: FailedWrites, subjects: Subjects) -> None:
    """A result that cannot be written neither fails the call nor ends the server."""
    _judge_all(_found(failed_writes.failing, succeeds), failed_writes, subjects)
    _note_the_rest(failed_writes, subjects)


@check("LRO-ERR-02")
def test_whole_records_within_the_threshold(
    survey: Survey, failed_writes: FailedWrites, estimates: Estimates, comparison: Comparison, subjects: Subjects
) -> None:
    """The inline result has as many whole records as fit within threshold_tokens, but not all.

    It may exceed the threshold by 15 % and 16 tokens, because the suite mostly infers the size of records from the E of
    files; a formatted text may exceed it by 60 % and 200 tokens. A result counts as too small only if it has no
    records, although the first record of the file has less than a quarter of the threshold. If memories can be stored
    while the server runs, one call finds a few memories that are several times as large as the others, so that a server
    which always returns the same number of records does not pass. Not observed if estimates are implausible
    (LRO-THR-02, LRO-THR-05), or if a low threshold has no effect (LRO-CFG-02).
    """
    found = _found(failed_writes.inline, lambda f: keeps_whole_records(f, survey, estimates, comparison))
    _judge_all(found, failed_writes, subjects)
    _note_the_rest(failed_writes, subjects)


@check("LRO-ERR-07")
def test_fallback_is_truncated(failed_writes: FailedWrites, subjects: Subjects) -> None:
    """The inline result of a failed write has fewer records than the file of the same call had."""
    _judge_all(_found(failed_writes.inline, has_fewer_records), failed_writes, subjects)
    _note_the_rest(failed_writes, subjects)


@check("LRO-ERR-03")
def test_warning(failed_writes: FailedWrites, inline: Inline, estimates: Estimates, subjects: Subjects) -> None:
    """The response says that offloading failed and that the results are truncated, in any language.

    Text that the same call also returns when nothing has failed is no warning. If the suite does not read the language,
    the warning is not observed.
    """
    said: dict[int, str] = {}
    found = _found(failed_writes.inline, lambda f: warns(f, inline, estimates, said))
    _judge_all(found, failed_writes, subjects)
    _note_the_rest(failed_writes, subjects)


@check("LRO-ERR-05")
def test_no_dangling_descriptor(failed_writes: FailedWrites, subjects: Subjects) -> None:
    """No descriptor names a file that was not written, only partly written, or written to a wrong directory."""
    _judge_all(_found(failed_writes.failing, no_file_rule), failed_writes, subjects)
    _note_the_rest(failed_writes, subjects)


@check("LRO-ERR-06", optional=("cleanup",))
def test_offloads_again(
    survey: Survey, failed_writes: FailedWrites, cleanup: Cleanup | None, subjects: Subjects
) -> None:
    """Once writing works again, results are offloaded again, without a warning of a failure.

    A call after a cleanup that deleted the only file in the folder is examined, too.
    """
    for recovered in failed_writes.recovered:
        _judge(offloads_again(recovered.call, survey), recovered, subjects)
    call = cleanup.after_the_only_file if cleanup is not None else None
    if call is not None and (failed_writes.recovered or call.outcome != "offloaded"):
        subjects.expect(
            call.outcome == "offloaded",
            expected=f"{call.operation} is offloaded after a cleanup that deleted the only file in the folder",
            observed=call.outcome,
            at=call,
            # The suite has just written a file to this folder, so "could not write" is no excuse.
            despite_hindrance=True,
        )


@check("LRO-ERR-04")
def test_failure_event_is_emitted(failed_writes: FailedWrites, estimates: Estimates, subjects: Subjects) -> None:
    """An OffloadWriteFailed event with the error's details is emitted for each failed write.

    An error code, or a message of three letters, is enough. The name and the time of the event, the name and arguments
    of the call, and a path alone are no details of an error. Not observed if none of the server's files is at its
    `file_path` (LRO-DESC-02).
    """
    watched = any(f.events for f in failed_writes.failing)
    known = [f for f in failed_writes.failing if f.events_known]
    found = _found(known, lambda f: emits_event(f, estimates, watched=watched))
    announced = [(f, not _is_missed(judged)) for f, judged in found if any(isinstance(j, Judged) for j in judged)]
    _judge_all(found, failed_writes, subjects, remark=remark_on_announced(announced))
    _note_the_rest(failed_writes, subjects)


@check("LRO-ERR-04", optional=("failed_writes",))
def test_no_failure_event_for_success(survey: Survey, failed_writes: FailedWrites | None, subjects: Subjects) -> None:
    """No OffloadWriteFailed event is emitted if every result was written."""
    unjustified = events_in(survey, "OffloadWriteFailed")
    emits = failed_writes is not None and any(f.events for f in failed_writes.failing)
    concurrent = [call for call, alone in survey.together if alone.outcome == "offloaded"]
    were_written = all(call.outcome == "offloaded" for call in concurrent)
    # `survey.files` and `survey.answered` are calls: those whose file could be read, and those with a result.
    if (unjustified or emits) and survey.files and len(survey.files) == len(survey.answered) and were_written:
        subjects.expect(
            not unjustified,
            expected=f"no OffloadWriteFailed event, as all of {len(survey.files)} results were written",
            observed=show(unjustified[0], 200) if unjustified else "no such event",
            at=survey.files[0],
        )
    if failed_writes is not None:
        _note_the_rest(failed_writes, subjects)
    subjects.not_observed(
        "some ordinary results were not written to a readable file, so an event about a failed write may be true"
        if unjustified or emits
        else "no event that reports a failure was seen"
    )


def _found(
    failing: Iterable[Failing], rule: Callable[[Failing], Iterable[Judged | str]]
) -> list[tuple[Failing, list[Judged | str]]]:
    return [(one, list(rule(one))) for one in failing]


def _is_missed(judged: Iterable[Judged | str]) -> bool:
    return any(isinstance(one, Judged) and not one.holds for one in judged)


def _judge_all(
    found: Sequence[tuple[Failing, list[Judged | str]]],
    failed_writes: FailedWrites,
    subjects: Subjects,
    *,
    remark: str = "",
) -> None:
    """Report the findings of a rule on failed writes.

    A failed write that violates the rule is shown with those before it in its process, unless its kind or operation
    explains the violation (`FailedWrites.in_context`). *remark* is appended to each text that says what was observed.
    """
    missed = {failing.call.identity for failing, judged in found if _is_missed(judged)}
    for failing, judged in found:
        at = failed_writes.in_context(failing, missed) if failing.call.identity in missed else failing
        _judge(judged, at, subjects, remark)


def _judge(found: Iterable[Judged | str], at: Failing | Recovered, subjects: Subjects, remark: str = "") -> None:
    for one in found:
        if isinstance(one, str):
            subjects.not_observed(one)
        else:
            subjects.expect(one.holds, expected=one.expected, observed=one.observed + remark, at=at)


def _note_the_rest(failed_writes: FailedWrites, subjects: Subjects) -> None:
    """Note why failed writes were not examined: the calls failed, or no failure to write could be provoked."""
    if any(f.call.outcome in ("error", "no answer") for f in failed_writes.failing):
        subjects.not_observed("a call failed instead of returning a result (LRO-ERR-01)")
    elif not failed_writes.failing:
        for kind, why in failed_writes.skipped.items():
            subjects.not_observed(f"{kind}: {why}")
