"""Write failure: the operation succeeds with a warning and with as many whole records as fit within the threshold."""

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
    """If a result cannot be written, the call still succeeds and the server keeps running."""
    _judge_all(_judged_by(failed_writes.failing, succeeds), failed_writes, subjects)
    _note_the_rest(failed_writes, subjects)


@check("LRO-ERR-02")
def test_whole_records_within_the_threshold(
    survey: Survey, failed_writes: FailedWrites, estimates: Estimates, comparison: Comparison, subjects: Subjects
) -> None:
    """The inline result has as many whole records as fit within threshold_tokens, but not all.

    The result may exceed the threshold by 15 % and 16 tokens, because in most cases the suite has to infer the size of
    records from the estimated_tokens in the headers of files. A formatted text may exceed the threshold by 60 % and 200
    tokens. A result counts as too small only if it has no records, although the first record of the file has less than
    a quarter of the threshold. If memories can be stored while the server runs, one call finds a few memories that are
    several times as large as the others: a server that always returns the same number of records fails then. The check
    is not observed if the server's estimates are implausible (LRO-THR-02, LRO-THR-05), or if a low threshold has no
    effect (LRO-CFG-02).
    """
    found = _judged_by(failed_writes.inline, lambda f: keeps_whole_records(f, survey, estimates, comparison))
    _judge_all(found, failed_writes, subjects)
    _note_the_rest(failed_writes, subjects)


@check("LRO-ERR-07")
def test_fallback_is_truncated(failed_writes: FailedWrites, subjects: Subjects) -> None:
    """If writing fails, the inline result has fewer records than the file that the same call wrote earlier."""
    _judge_all(_judged_by(failed_writes.inline, has_fewer_records), failed_writes, subjects)
    _note_the_rest(failed_writes, subjects)


@check("LRO-ERR-03")
def test_warning(failed_writes: FailedWrites, inline: Inline, estimates: Estimates, subjects: Subjects) -> None:
    """The response says that offloading failed and that the results are truncated, in any language.

    A text does not count as a warning if the same call also returns it when nothing has failed. The check is not
    observed if the warning is in a language that the suite does not know.
    """
    texts: dict[int, str] = {}
    found = _judged_by(failed_writes.inline, lambda f: warns(f, inline, estimates, texts))
    _judge_all(found, failed_writes, subjects)
    _note_the_rest(failed_writes, subjects)


@check("LRO-ERR-05")
def test_no_dangling_descriptor(failed_writes: FailedWrites, subjects: Subjects) -> None:
    """No descriptor names a file that was not written, was written only in part, or was written to a wrong
    directory."""
    _judge_all(_judged_by(failed_writes.failing, no_file_rule), failed_writes, subjects)
    _note_the_rest(failed_writes, subjects)


@check("LRO-ERR-06", optional=("cleanup",))
def test_offloads_again(
    survey: Survey, failed_writes: FailedWrites, cleanup: Cleanup | None, subjects: Subjects
) -> None:
    """Once writing works again, results are offloaded again, without a warning that writing failed.

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
            subject=call,
            # The suite itself has just written a file to this folder, so the server must be able to write there, too.
            despite_hindrance=True,
        )


@check("LRO-ERR-04")
def test_failure_event_is_emitted(failed_writes: FailedWrites, estimates: Estimates, subjects: Subjects) -> None:
    """An OffloadWriteFailed event with the error's details is emitted for each failed write.

    As details, an error code or a message of three letters is enough. The name of the event, its time, the name and the
    arguments of the call, or a path alone are not enough. The check is not observed if none of the server's files can
    be found at its `file_path` (LRO-DESC-02).
    """
    events_were_seen = any(f.events for f in failed_writes.failing)
    with_known_events = [f for f in failed_writes.failing if f.events_known]
    found = _judged_by(with_known_events, lambda f: emits_event(f, estimates, events_were_seen=events_were_seen))
    announcements = [(f, not _is_missed(judged)) for f, judged in found if any(isinstance(j, Judged) for j in judged)]
    _judge_all(found, failed_writes, subjects, remark=remark_on_announced(announcements))
    _note_the_rest(failed_writes, subjects)


@check("LRO-ERR-04", optional=("failed_writes",))
def test_no_failure_event_for_success(survey: Survey, failed_writes: FailedWrites | None, subjects: Subjects) -> None:
    """If every result was written, no OffloadWriteFailed event is emitted."""
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
            subject=survey.files[0],
        )
    if failed_writes is not None:
        _note_the_rest(failed_writes, subjects)
    subjects.not_observed(
        "some ordinary results were not written to a readable file, so an event about a failed write may be true"
        if unjustified or emits
        else "no event that reports a failure was seen"
    )


def _judged_by(
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

    A failed write that violates the rule is shown together with the earlier failed writes in the same process, unless
    its kind or operation explains the violation (`FailedWrites.in_context`). *remark* is appended to each text that
    says what was observed.
    """
    missed = {failing.call.identity for failing, judged in found if _is_missed(judged)}
    for failing, judged in found:
        subject = failed_writes.in_context(failing, missed) if failing.call.identity in missed else failing
        _judge(judged, subject, subjects, remark)


def _judge(found: Iterable[Judged | str], subject: Failing | Recovered, subjects: Subjects, remark: str = "") -> None:
    for one in found:
        if isinstance(one, str):
            subjects.not_observed(one)
        else:
            subjects.expect(one.holds, expected=one.expected, observed=one.observed + remark, subject=subject)


def _note_the_rest(failed_writes: FailedWrites, subjects: Subjects) -> None:
    """Note the reason if failed writes were not examined: the calls themselves failed, or the suite could not make
    writing fail."""
    if any(f.call.outcome in ("error", "no answer") for f in failed_writes.failing):
        subjects.not_observed("a call failed instead of returning a result (LRO-ERR-01)")
    elif not failed_writes.failing:
        for kind, why in failed_writes.skipped.items():
            subjects.not_observed(f"{kind}: {why}")
