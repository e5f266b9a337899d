"""The JSONL file: its lines, its header, its records."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from lro_conformance.analysis.comparison import Comparison
from lro_conformance.analysis.documents import Documents
from lro_conformance.analysis.estimate import Estimates, slack
from lro_conformance.analysis.prose import Prose, missing_from, shown_of
from lro_conformance.analysis.threshold import Rule
from lro_conformance.analysis.timestamps import call_after_uptime, expect_times_within_call
from lro_conformance.capture.call import Call, CallInContext
from lro_conformance.capture.file import Line
from lro_conformance.capture.records import by_id, id_of, is_a_page, is_blank, lost_or_changed, show, value_at
from lro_conformance.judging.check import check
from lro_conformance.judging.subjects import Subjects
from lro_conformance.trials.boundary import Edges
from lro_conformance.trials.cleanup import Cleanup
from lro_conformance.trials.directories import Folders
from lro_conformance.trials.survey import EDGE_LIMIT, Survey


@check("LRO-FILE-01")
def test_every_line_is_json(documents: Documents, subjects: Subjects) -> None:
    """Every line is one JSON object in UTF-8: no BOM, no blank line, no NaN, no second value on a line."""
    documents.judge("LRO-FILE-01", subjects)


@check("LRO-FILE-02")
def test_header_is_first_and_only(documents: Documents, subjects: Subjects) -> None:
    """The first line is the header, marked `"type": "lro_header"`, and no other line is."""
    documents.judge("LRO-FILE-02", subjects)


@check("LRO-FILE-03")
def test_header_fields(documents: Documents, subjects: Subjects) -> None:
    """The header has operation, count, schema_version, timestamp, estimated_tokens and detail, with their types."""
    documents.judge("LRO-FILE-03", subjects)


@check("LRO-FILE-04")
def test_header_names_the_operation(documents: Documents, subjects: Subjects) -> None:
    """The header's operation is the one that was called."""
    documents.judge("LRO-FILE-04", subjects)


def _calls_with_files(survey: Survey) -> Iterator[tuple[Call, Call | CallInContext]]:
    """Calls with a file, including concurrent ones, each with the subject whose reproducer is shown."""
    yield from ((c, c) for c in survey.files)
    yield from ((c, CallInContext(c)) for c in survey.concurrent_files)


@check("LRO-FILE-05")
def test_header_records_the_query(survey: Survey, subjects: Subjects) -> None:
    """The header's query is that of the call; it may be omitted if the query selects everything."""
    for call, at in _calls_with_files(survey):
        if call.query is None or not call.header:
            continue
        recorded = call.header.get("query")
        everything = not call.query.strip() or call.query == "*"
        if "query" in call.header and recorded is not None and not isinstance(recorded, str):
            continue
        subjects.expect(
            recorded == call.query or (everything and recorded in (None, "", "*")),
            expected=f'"query": {show(call.query)}',
            observed=show(recorded) if "query" in call.header else "no query",
            at=at,
        )
    if not any(c.query is not None for c in survey.files):
        subjects.not_applicable("no tool takes a query")


@check("LRO-FILE-06")
def test_header_count(documents: Documents, subjects: Subjects) -> None:
    """The header's count is the number of record lines in the file."""
    documents.judge("LRO-FILE-06", subjects)


@check("LRO-FILE-07")
def test_timestamp_is_iso_8601(documents: Documents, subjects: Subjects) -> None:
    """The header's timestamp is an ISO 8601 date and time."""
    documents.judge("LRO-FILE-07", subjects)


@check("LRO-FILE-07")
def test_header_timestamp(survey: Survey, subjects: Subjects) -> None:
    """The header's timestamp is the time at which the file was written."""
    expect_times_within_call(survey.files, subjects)


@check("LRO-FILE-07")
def test_header_timestamp_respects_time_zone(folders: Folders, subjects: Subjects) -> None:
    """The header's timestamp is right where local time is seven hours ahead of UTC: Z is UTC, an offset is correct."""
    expect_times_within_call((c for c in folders.stranger if c.file is not None and c.file.problem is None), subjects)


@check("LRO-FILE-07")
def test_header_timestamp_advances(cleanup: Cleanup, subjects: Subjects) -> None:
    """The header's timestamp is still right when the server has run for some seconds."""
    expect_times_within_call(call_after_uptime(cleanup), subjects)


@check("LRO-FILE-08")
def test_header_detail(documents: Documents, subjects: Subjects) -> None:
    """The header's detail is the requested level; if none was requested, it is the level that the records have."""
    documents.judge("LRO-FILE-08", subjects)


@check("LRO-FILE-09")
def test_each_memory_appears_once(documents: Documents, subjects: Subjects) -> None:
    """No memory is in a file twice, except those that the same server returns twice inline."""
    documents.judge("LRO-FILE-09", subjects, skip=documents.duplicates_in_store)


@check("LRO-FILE-09")
def test_file_is_complete(survey: Survey, comparison: Comparison, prose: Prose, subjects: Subjects) -> None:
    """The file has the memories that the same call returns inline.

    A text returns a memory if it has its title and its content.
    """
    for filed, shown in prose.pairs:
        known = prose.known_in(shown)
        missing = missing_from(filed, known)
        if known:
            subjects.expect(
                not missing,
                expected=f"the {len(known)} memories whose title and content the call shows inline",
                observed=f"{len(filed.filed)} records, {len(missing)} missing; first missing: {missing[:1]}",
                at=filed,
            )
    same = comparison.obstacle is None
    for filed, shown in comparison.pairs:
        ids = [i for r in filed.filed if (i := id_of(r)) is not None]
        records = shown.records or []
        here = by_id(records).keys()
        if same and here and (filed.operation not in survey.volatile_operations or filed.limit != EDGE_LIMIT):
            missing, added = here - set(ids), set(ids) - here if not is_a_page(shown.result) else set[str]()
            subjects.expect(
                not missing and not added,
                expected=f"the {len(here)} memories that the call returns inline",
                observed=f"{len(ids)} records: {len(missing)} missing, {len(added)} others"
                + (f"; first missing: {min(missing)}" if missing else ""),
                at=filed,
            )
        else:
            more = is_a_page(shown.result) and len(filed.filed) > len(records)
            subjects.expect(
                len(filed.filed) == len(records) or more,
                expected=f"{len(records)} records, as inline",
                observed=f"{len(filed.filed)} records",
                at=filed,
            )


@check("LRO-FILE-10")
def test_values_are_untouched(comparison: Comparison, prose: Prose, subjects: Subjects) -> None:
    """Every value in the file is the same as in the inline result of the call.

    A text shows a value of a memory that the suite has stored if the value is in it as it was stored.
    """
    for filed, shown in prose.pairs:
        there = {r.get("title"): r for r in filed.filed}
        for title in prose.stored.keys() & there.keys():
            for key, value in shown_of(prose.stored[title], shown.text).items():
                if key in ("title", "content") and key in there[title]:
                    subjects.expect(
                        there[title][key] == value,
                        expected=f"memory {show(title)}: /{key} is {show(value)}, as stored and as inline",
                        observed=show(there[title][key]),
                        at=filed,
                    )
    if comparison.obstacle is not None:
        subjects.not_observed(comparison.obstacle)
        return
    for filed, shown in comparison.bracketed:
        skip = comparison.volatile(filed.operation)
        level = comparison.other_level(filed, shown)
        there = by_id(r for line in _lines(filed) if line.problem is None and (r := line.record) is not None)
        for key, record in by_id(shown.records or []).items():
            if key not in there:
                continue
            wrong = lost_or_changed(record, there[key], skip)
            if level is not None:
                wrong = [p for p in wrong if not _blank_side(record, there[key], p)]
            subjects.expect(
                not wrong,
                expected=f"record {key}: {_path(wrong)} is {value_at(record, wrong[0])}" if wrong else "",
                observed=value_at(there[key], wrong[0]) if wrong else "",
                at=filed,
            )


def _lines(call: Call) -> list[Line]:
    return call.file.record_lines if call.file is not None else []


def _blank_side(inline: dict[str, Any], filed: dict[str, Any], path: tuple[str, ...]) -> bool:
    """Return whether only one side has the field.

    In a file with the fields of a different level, that does not violate LRO-FILE-10.
    """
    return len(path) == 1 and is_blank(inline.get(path[0])) != is_blank(filed.get(path[0]))


def _path(paths: list[tuple[str, ...]]) -> str:
    return "/" + "/".join(paths[0]) if paths else ""


@check("LRO-FILE-11")
def test_records_are_memories(documents: Documents, subjects: Subjects) -> None:
    """Every record is a memory: it has an id, its fields have their types, and full detail has the core fields."""
    documents.judge("LRO-FILE-11", subjects)


@check("LRO-FILE-12")
def test_schema_version(documents: Documents, subjects: Subjects) -> None:
    """The header names a version of the memory schema."""
    documents.judge("LRO-FILE-12", subjects)


@check("LRO-FILE-12")
def test_schema_version_stays(survey: Survey, subjects: Subjects) -> None:
    """The version of the memory schema is the same in every file."""
    versioned = [c for c in survey.files if isinstance(c.header.get("schema_version"), str)]
    first = versioned[0].header["schema_version"] if versioned else ""
    for call in versioned:
        version = call.header["schema_version"]
        subjects.expect(
            version == first,
            expected=f"the schema_version of other files ({show(first)})",
            observed=show(version),
            at=call,
        )


@check("LRO-FILE-13")
def test_header_estimate_is_the_compared_one(
    edges: Edges, decisions: Mapping[str, Rule], estimates: Estimates, subjects: Subjects
) -> None:
    """The header's E is the number that was compared with the threshold, rounded or not."""
    for name, rule in decisions.items():
        edge = edges.edges[name]
        wrong = next((p for p in edge.at if p.call.outcome != "inline"), edge.above[0])
        if rule in ("exact", "another figure"):
            subjects.expect(
                rule == "exact",
                expected=f"{name}: estimated_tokens {edge.estimate} is compared with threshold {wrong.threshold}",
                observed=f"{wrong.call.outcome}, so a different number was compared{_rounded(estimates)}",
                at=wrong.call,
            )
    if edges.reason is not None:
        subjects.not_observed(edges.reason)


def _rounded(estimates: Estimates) -> str:
    step = estimates.rounding_step
    return f"; every estimated_tokens is a multiple of {step}" if step > 1 else ""


@check("LRO-FILE-13")
def test_header_estimate_is_stable(estimates: Estimates, subjects: Subjects) -> None:
    """Files with the same memories at the same detail level have the same E, apart from differences in size."""
    for one, other in estimates.same_memories:
        a, b = one.header["estimated_tokens"], other.header["estimated_tokens"]
        subjects.expect(
            abs(a - b) <= slack(one, other),
            expected=f"E = {a} again, for a file of the same size",
            observed=f"E = {b}",
            at=other,
        )
