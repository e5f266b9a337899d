"""The JSONL file: its lines, its header, its records."""

from __future__ import annotations

from collections.abc import Mapping

from lro_conformance.analysis.documents import Documents
from lro_conformance.analysis.estimate import Estimates, estimate_tolerance
from lro_conformance.analysis.exchanges import Exchanges
from lro_conformance.analysis.threshold import Decision
from lro_conformance.capture.call import CallAfterOthers
from lro_conformance.capture.records import show
from lro_conformance.judging.check import check
from lro_conformance.judging.subjects import ESTIMATE_IN_HEADERS, MarkedSubject, Subjects
from lro_conformance.trials.edges import Edge, Edges, Probe, text_tokens
from lro_conformance.trials.survey import Survey


@check("LRO-FILE-01")
def test_every_line_is_json(documents: Documents, subjects: Subjects) -> None:
    """Every line is one JSON object in UTF-8. There is no byte order mark, no blank line, no NaN, and no second value
    on a line."""
    documents.judge("LRO-FILE-01", subjects)


@check("LRO-FILE-02")
def test_header_is_first_and_only(documents: Documents, subjects: Subjects) -> None:
    """The first line is the header, with `"type": "lro_header"`, and no other line is a header."""
    documents.judge("LRO-FILE-02", subjects)


@check("LRO-FILE-03")
def test_header_fields(documents: Documents, subjects: Subjects) -> None:
    """The header has operation, count, schema_version, timestamp, estimated_tokens and detail, each with the right
    type."""
    documents.judge("LRO-FILE-03", subjects)


@check("LRO-FILE-04")
def test_header_names_the_operation(documents: Documents, subjects: Subjects) -> None:
    """The header's operation is the operation that was called."""
    documents.judge("LRO-FILE-04", subjects, place=documents.place_of_operation)


@check("LRO-FILE-05", calls_of=("folders",))
def test_header_records_the_query(survey: Survey, exchanges: Exchanges, subjects: Subjects) -> None:
    """The header's query is the query of the call. If the query selects everything, the header may omit it.

    The two queries may differ in white space.
    """
    exchanges.judge("LRO-FILE-05", subjects)
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


@check("LRO-FILE-07", calls_of=("folders", "cleanup"))
def test_header_timestamp(exchanges: Exchanges, subjects: Subjects) -> None:
    """The header's timestamp is the time at which the file was written. It is correct in any time zone, and however
    long the server has run. Z means UTC; an offset must be correct."""
    exchanges.judge("LRO-FILE-07", subjects)


@check("LRO-FILE-08")
def test_header_detail(documents: Documents, subjects: Subjects) -> None:
    """The header's detail is the requested detail level. If no level was requested, it is the level that the records
    have."""
    documents.judge("LRO-FILE-08", subjects, place=documents.place_of_detail)


@check("LRO-FILE-09")
def test_each_memory_appears_once(documents: Documents, subjects: Subjects) -> None:
    """No memory is in a file twice, unless the server returns it twice inline, too."""
    documents.judge("LRO-FILE-09", subjects, skip=documents.duplicates_in_store)


@check("LRO-FILE-09", calls_of=("inline", "seeded"))
def test_file_is_complete(exchanges: Exchanges, subjects: Subjects) -> None:
    """The file has the memories that the same call returns inline.

    Memories are recognised by their ids. If the server gives stored memories ids of its own, they are recognised by
    their titles. If inline results are Markdown or prose, a memory has to be in the file only if the suite knows it and
    the text shows both its title and its content. The file of an inject call may have more memories, because a token
    budget may have cut the inline result. If two stored memories differ only in their ids, both have to be in the file.
    If the profile names a tool that stores memories (`seed`), the suite stores 320 small memories, or as many as it can
    store in four seconds. The check is possible only if the threshold can be set.
    """
    exchanges.judge("LRO-FILE-09", subjects)


@check("LRO-FILE-10", calls_of=("inline", "seeded"))
def test_values_are_untouched(exchanges: Exchanges, subjects: Subjects) -> None:
    """Every value in the file is the same as in the inline result of the call.

    At full detail, the content of a memory that the suite has stored must not be cut off with an ellipsis, even if the
    inline result cuts it off. If inline results are Markdown or prose, and such a text shows a title or content exactly
    as the suite has stored it, the file must have it unchanged, too. If ids differ from one server process to the next,
    only two kinds of memories are compared: memories that the suite has stored, and memories whose title is the same in
    the file and inline. A file with the fields of another detail level fails LRO-DET-01 instead.
    """
    exchanges.judge("LRO-FILE-10", subjects)


@check("LRO-FILE-11")
def test_records_are_memories(documents: Documents, subjects: Subjects) -> None:
    """Every record is a memory: it has an id and, at full detail, the core fields, and each field has the right
    type."""
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
            subject=call,
        )


@check("LRO-FILE-13")
def test_header_estimate_is_the_compared_one(
    edges: Edges, decisions: Mapping[str, Decision], estimates: Estimates, subjects: Subjects
) -> None:
    """The number that the server compares with the threshold is exactly the header's estimated_tokens, with the same
    rounding."""
    for name, rule in decisions.items():
        edge = edges.edges[name]
        probe = next((p for p in edge.at if p.call.outcome != "inline"), edge.below[0])
        if rule in ("exact", "another figure", "text"):
            subjects.expect(
                rule == "exact",
                expected=f"{name}: estimated_tokens {edge.estimate} is compared with threshold {probe.threshold}",
                observed=f"{probe.call.outcome}, so a different number was compared"
                + (_of_the_text(edge, probe) if rule == "text" else _rounded(estimates)),
                subject=MarkedSubject(probe.call, None, ESTIMATE_IN_HEADERS),
            )
    if edges.reason is not None:
        subjects.not_observed(edges.reason)


def _of_the_text(edge: Edge, inline: Probe) -> str:
    """Part of a message: the two thresholds which show that the server compares the tokens of its inline text.

    *inline* is a call that returned this text.
    """
    between = [p.threshold for p in (edge.below_text, edge.above_text) if p is not None]
    return (
        f", which seems to be the estimate of the inline result (about {text_tokens(inline.call)} tokens): the "
        f"same call is offloaded at threshold {between[0]} and inline at threshold {between[-1]}"
    )


def _rounded(estimates: Estimates) -> str:
    """Part of a message: the step to which all estimates in headers are rounded; empty if they are not."""
    step = estimates.rounding_step
    return f"; every estimated_tokens is a multiple of {step}" if step > 1 else ""


@check("LRO-FILE-13")
def test_header_estimate_is_stable(estimates: Estimates, subjects: Subjects) -> None:
    """Files with the same memories at the same detail level have the same estimated_tokens in their headers.

    The estimates may differ by two tokens. If the files differ in size, the estimates may also differ by one token for
    each character of this difference.
    """
    for one, other in estimates.same_memories:
        a, b = one.header["estimated_tokens"], other.header["estimated_tokens"]
        subjects.expect(
            abs(a - b) <= estimate_tolerance(one, other),
            expected=f"E = {a}, as in a file with the same memories",
            observed=f"E = {b}",
            subject=MarkedSubject(CallAfterOthers(other, (one,)), None, ESTIMATE_IN_HEADERS),
        )


@check("LRO-FILE-13")
def test_estimate_is_the_same_at_each_threshold(exchanges: Exchanges, subjects: Subjects) -> None:
    """The same call has the same estimated_tokens, whatever the threshold is."""
    exchanges.judge("LRO-FILE-13", subjects)
