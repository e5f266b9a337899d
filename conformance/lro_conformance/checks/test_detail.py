"""Detail levels: the file has the requested level."""

from __future__ import annotations

from collections.abc import Iterator

from lro_conformance.analysis.detail import NO_DETAIL, DetailLevels, filled_fields
from lro_conformance.analysis.documents import Documents
from lro_conformance.analysis.exchanges import Exchanges
from lro_conformance.capture.call import Call, CallAfterOthers
from lro_conformance.capture.marks import mark_in_file
from lro_conformance.capture.records import MEMORY_FIELDS, Record, by_id, differences, is_blank, show
from lro_conformance.judging.check import check
from lro_conformance.judging.outcome import NotApplicable
from lro_conformance.judging.subjects import MarkedSubject, Subjects
from lro_conformance.trials.survey import Survey


@check("LRO-DET-01")
def test_light_has_no_content(survey: Survey, documents: Documents, subjects: Subjects) -> None:
    """If light detail is requested, the records in the file have no content: the field is absent, null or empty."""
    if not any(o.details for o in survey.operations.values()):
        raise NotApplicable(NO_DETAIL)
    documents.judge("LRO-DET-01", subjects)


@check("LRO-DET-01")
def test_detail_takes_effect(survey: Survey, details: DetailLevels, subjects: Subjects) -> None:
    """An operation that takes a detail level does not return the same fields at every level."""
    if not any(o.details for o in survey.operations.values()):
        raise NotApplicable(NO_DETAIL)
    for name, operation in survey.operations.items():
        explicit_calls = [c for (n, d), c in survey.whole.items() if n == name and d is not None and c.file_records]
        if len(operation.details) < 2 or len(explicit_calls) < 2:
            subjects.not_observed(f"{name} was not offloaded at two detail levels")
            continue
        level = details.level_returned_always(name)
        subjects.expect(
            level is None,
            expected=f"{name}: records of the requested level",
            observed=f"{level} detail at every level: "
            + ", ".join(sorted(filled_fields(explicit_calls[-1].file_records))),
            subject=explicit_calls[-1],
        )


@check("LRO-DET-01", calls_of=("inline",))
def test_file_has_the_requested_fields(survey: Survey, exchanges: Exchanges, subjects: Subjects) -> None:
    """At each detail level, a file has the fields that the same call returns inline, under the names that MIF gives
    them. No record lacks a field that the same memory has in other files at this level.

    A field counts as lacking only if other records of the same file have it. The comparison with the inline result is
    possible only if the threshold can be set and memories have the same ids in every server process. Any other
    difference in a record's fields is reported under LRO-FILE-10.
    """
    if not any(o.details for o in survey.operations.values()):
        raise NotApplicable(NO_DETAIL)
    exchanges.judge("LRO-DET-01", subjects)


def _fields_that_differ(one: Record, other: Record) -> set[str]:
    """Documented fields that are filled in only one of two records."""
    return {
        p[0]
        for p in differences(one, other)
        if len(p) == 1 and p[0] in MEMORY_FIELDS and is_blank(one.get(p[0])) != is_blank(other.get(p[0]))
    }


@check("LRO-DET-02")
def test_recall_defaults_to_light(survey: Survey, subjects: Subjects) -> None:
    """Recall without a requested detail level returns light detail."""
    _expect_default_level(survey, "recall", "light", subjects)


@check("LRO-DET-03")
def test_inject_defaults_to_medium(survey: Survey, subjects: Subjects) -> None:
    """Inject without a requested detail level returns medium detail."""
    _expect_default_level(survey, "inject", "medium", subjects)


def _expect_default_level(survey: Survey, operation: str, level: str, subjects: Subjects) -> None:
    if operation not in survey.operations:
        subjects.not_applicable(f"the server lists no tool for {operation}")
        return
    if survey.operations[operation].needs_detail:
        subjects.not_applicable(f"{survey.operations[operation].tool} requires a detail level")
        return
    call = survey.whole.get((operation, None))
    if call is None or call.file is None or not call.file_records:
        subjects.not_observed(f"{operation} without a detail level was not offloaded to a readable file with records")
        return
    reported = _reported_levels(call)
    levels = {str(v) for v in reported.values()}
    explicit_call = survey.whole.get((operation, level))
    if explicit_call is not None and explicit_call.file_records:
        differing = next(_differing_fields(call, explicit_call), None)
        fields = sorted(differing[1]) if differing is not None else []
        subjects.expect(
            differing is None,
            expected=f"{operation} without a detail level returns the records of {level} detail",
            observed=f"{_record_label(differing[0])} differs from its form at {level} detail in {', '.join(fields)}"
            if differing
            else "",
            subject=call
            if differing is None
            else MarkedSubject(CallAfterOthers(call), mark_in_file(call, differing[0], *fields[:1])),
        )
    elif level == "light":
        record_with_content = next((r for r in call.file_records if r.get("content") not in (None, "")), None)
        subjects.expect(
            record_with_content is None,
            expected=f"{operation} without a detail level has no content",
            observed="records have content",
            subject=call
            if record_with_content is None
            else MarkedSubject(CallAfterOthers(call), mark_in_file(call, record_with_content, "content")),
        )
    if levels and explicit_call is None:
        subjects.expect(
            levels == {level}, expected=f"the reported level is {level}", observed=show(reported), subject=call
        )


def _reported_levels(call: Call) -> dict[str, object]:
    """The detail levels that are stated by the file's header and by the summary; blank values are left out."""
    return {k: v for k, v in (("header", call.header.get("detail")), ("summary", call.summary.get("detail"))) if v}


def _differing_fields(one: Call, other: Call) -> Iterator[tuple[Record, set[str]]]:
    """Compare the records of two calls by id. Yield each record of *one* that does not have the same fields in *other*,
    with the fields that it has in only one of the two calls."""
    others = by_id(other.file_records)
    for key, record in by_id(one.file_records).items():
        if key in others and (differing := _fields_that_differ(record, others[key])):
            yield record, differing


def _record_label(record: Record) -> str:
    return f"record {record.get('id')}"
