"""Write failure: the operation succeeds with whole records within the threshold, and with a warning."""

from __future__ import annotations

from collections.abc import Iterable

from lro_conformance.analysis.comparison import Comparison
from lro_conformance.analysis.estimate import Estimates
from lro_conformance.analysis.events import events_in
from lro_conformance.analysis.exchanges import Judged
from lro_conformance.analysis.failed_writes import (
    emits_event,
    has_fewer_records,
    keeps_whole_records,
    names_no_file,
    offloads_again,
    succeeds,
    warns,
)
from lro_conformance.analysis.sequences import failing_in, recovered_in
from lro_conformance.capture.records import show
from lro_conformance.judging.check import check
from lro_conformance.judging.subjects import Subjects
from lro_conformance.trials.exploration import Explored
from lro_conformance.trials.fallback import Failing, Fallback, Recovered
from lro_conformance.trials.survey import Inline, Survey


@check("LRO-ERR-01", optional=("explored",))
def test_operation_succeeds(fallback: Fallback, explored: Explored | None, subjects: Subjects) -> None:
    """A result that cannot be written neither fails the call nor ends the server."""
    for failing in _each(fallback, explored, subjects):
        _judge(succeeds(failing), failing, subjects)


@check("LRO-ERR-02", optional=("explored",))
def test_whole_records_within_the_threshold(
    survey: Survey,
    fallback: Fallback,
    explored: Explored | None,
    estimates: Estimates,
    comparison: Comparison,
    subjects: Subjects,
) -> None:
    """The inline result holds fewer, but whole records, within threshold_tokens."""
    for failing in _inline(fallback, explored, subjects):
        _judge(keeps_whole_records(failing, survey, estimates, comparison), failing, subjects)


@check("LRO-ERR-07", optional=("explored",))
def test_fallback_is_truncated(fallback: Fallback, explored: Explored | None, subjects: Subjects) -> None:
    """The inline result of a failed write holds fewer records than the file of the same call did."""
    for failing in _inline(fallback, explored, subjects):
        _judge(has_fewer_records(failing), failing, subjects)


@check("LRO-ERR-03", optional=("explored",))
def test_warning(
    fallback: Fallback, explored: Explored | None, inline: Inline, estimates: Estimates, subjects: Subjects
) -> None:
    """The response says that offloading failed and that the results are truncated, in any language.

    What the same call says when nothing has failed is no warning.
    """
    said: dict[int, str] = {}
    for failing in _inline(fallback, explored, subjects):
        _judge(warns(failing, inline, estimates, said), failing, subjects)


@check("LRO-ERR-05", optional=("explored",))
def test_no_dangling_descriptor(fallback: Fallback, explored: Explored | None, subjects: Subjects) -> None:
    """No descriptor is returned for a file that was not written, was only partly written, or was written to another
    directory."""
    for failing in _each(fallback, explored, subjects):
        _judge(names_no_file(failing), failing, subjects)


@check("LRO-ERR-06", optional=("explored",))
def test_offloads_again(survey: Survey, fallback: Fallback, explored: Explored | None, subjects: Subjects) -> None:
    """Results are offloaded again once writing works again, and nothing is said of a failure."""
    again: list[Recovered] = [Recovered(call) for call in fallback.recovered]
    for recovered in (*again, *(recovered_in(explored) if explored is not None else ())):
        _judge(offloads_again(recovered.call, survey), recovered, subjects)


@check("LRO-ERR-04", optional=("explored",))
def test_failure_event_is_emitted(
    fallback: Fallback, explored: Explored | None, estimates: Estimates, subjects: Subjects
) -> None:
    """An OffloadWriteFailed event with the error's details is emitted for each failed write."""
    watched = any(f.events for f in fallback.failing)
    for failing in _each(fallback, explored, subjects):
        if not failing.steps or failing.events_known:
            _judge(emits_event(failing, estimates, watched=watched), failing, subjects)


@check("LRO-ERR-04", optional=("fallback",))
def test_no_failure_event_for_success(survey: Survey, fallback: Fallback | None, subjects: Subjects) -> None:
    """No OffloadWriteFailed event is emitted if every result was written."""
    false = events_in(survey, "OffloadWriteFailed")
    emits = fallback is not None and any(f.events for f in _each(fallback, None, subjects))
    if (false or emits) and survey.files and len(survey.files) == len(survey.answered):
        subjects.expect(
            not false,
            expected=f"no OffloadWriteFailed event, as all of {len(survey.files)} results were written",
            observed=show(false[0], 200) if false else "no such event",
            at=survey.files[0],
        )
    subjects.not_observed("no event that reports a failure was seen")


def _judge(found: Iterable[Judged | str], at: Failing | Recovered, subjects: Subjects) -> None:
    for one in found:
        if isinstance(one, str):
            subjects.not_observed(one)
        else:
            subjects.expect(one.holds, expected=one.expected, observed=one.observed, at=at)


def _each(fallback: Fallback, explored: Explored | None, subjects: Subjects) -> list[Failing]:
    """The failed writes of the run, without those of a server that was expected to recover and did not."""
    failing = [*fallback.failing, *(failing_in(explored) if explored is not None else ())]
    if any(f.call.outcome in ("error", "no answer") for f in failing):
        subjects.not_observed("the call failed instead (LRO-ERR-01)")
    elif not failing:
        for kind, why in fallback.skipped.items():
            subjects.not_observed(f"{kind}: {why}")
    gave_up = bool(fallback.recovered) and not any(c.outcome == "offloaded" for c in fallback.recovered)
    return [f for f in failing if f.first or not gave_up]


def _inline(fallback: Fallback, explored: Explored | None, subjects: Subjects) -> list[Failing]:
    return [f for f in _each(fallback, explored, subjects) if f.call.outcome == "inline"]
