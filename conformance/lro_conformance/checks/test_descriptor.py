"""The descriptor: its fields, and their agreement with the file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from lro_conformance.analysis.documents import Documents, breaks
from lro_conformance.analysis.estimate import Estimates
from lro_conformance.analysis.exchanges import Exchanges, repeated_record
from lro_conformance.capture.call import Call
from lro_conformance.capture.estimate import characters
from lro_conformance.capture.records import as_record, show
from lro_conformance.judging.check import check
from lro_conformance.judging.subjects import STATED_ESTIMATE, Subjects
from lro_conformance.trials.survey import Survey
from lro_spec.editions import Edition


@check("LRO-DESC-01")
def test_descriptor_fields(documents: Documents, subjects: Subjects) -> None:
    """An offloaded call returns a descriptor: offloaded true, summary, file_path, line_schema, jq_recipes, guidance."""
    for call in (d.call for d in documents.documents if d.call.lacks_descriptor):
        subjects.expect(
            holds=False,
            expected="a descriptor",
            observed="no descriptor: the result names the file, but has no JSON object with a descriptor's fields",
            at=call,
        )
    documents.judge("LRO-DESC-01", subjects, skip=lambda d: "no descriptor" if d.call.lacks_descriptor else None)


@check("LRO-DESC-02", calls_of=("folders",))
def test_path_is_absolute(documents: Documents, subjects: Subjects) -> None:
    """file_path is absolute even if output_dir is relative: the client does not know where the server runs."""
    documents.judge("LRO-DESC-02", subjects)


@check("LRO-DESC-02")
def test_path_names_a_file(exchanges: Exchanges, subjects: Subjects) -> None:
    """file_path names a regular file that can be read."""
    exchanges.judge("LRO-DESC-02", subjects)


@check("LRO-DESC-03")
def test_summary_count(documents: Documents, subjects: Subjects) -> None:
    """The summary's count is the number of records in the file."""
    documents.judge("LRO-DESC-03", subjects)


@check("LRO-DESC-04")
def test_summary_estimate(documents: Documents, estimates: Estimates, subjects: Subjects) -> None:
    """The summary's estimated_tokens is E, or E minus the tokens of the descriptor itself."""
    # if E is unsteady, the cause may be a header that states another number
    documents.judge("LRO-DESC-04", subjects, place="" if estimates.are_steady else STATED_ESTIMATE)


@check("LRO-DESC-05")
def test_summary_operation(documents: Documents, subjects: Subjects) -> None:
    """The summary names the operation that was performed."""
    documents.judge("LRO-DESC-05", subjects)


@check("LRO-DESC-06")
def test_top_namespaces(documents: Documents, subjects: Subjects) -> None:
    """top_namespaces are the most frequent namespaces in the file, at most five; ties may be in any order."""
    documents.judge("LRO-DESC-06", subjects)


@check("LRO-DESC-07")
def test_score_range(documents: Documents, subjects: Subjects) -> None:
    """score_range is null, absent, or two numbers, the lower first. If the file has scores, the numbers match them.

    Each number may differ by 0.01 from the lowest or highest score. The lowest and the highest confidence will do, too.
    """
    documents.judge("LRO-DESC-07", subjects)


@check("LRO-DESC-07", calls_of=("inline",))
def test_score_range_is_that_of_the_hits(exchanges: Exchanges, subjects: Subjects) -> None:
    """If the file has no scores, score_range matches the scores that the same call shows inline.

    Each number may differ by 0.01. If score_range equals the range of the confidences in the file, for at least three
    different ranges of one operation and query, it must do so in every file of these.
    """
    exchanges.judge("LRO-DESC-07", subjects)


@check("LRO-DESC-08")
def test_summary_detail(documents: Documents, subjects: Subjects) -> None:
    """The summary's detail is the requested level; if none was requested, it is the default level."""
    documents.judge("LRO-DESC-08", subjects)


@check("LRO-DESC-14")
def test_line_schema_is_present(documents: Documents, subjects: Subjects) -> None:
    """Every descriptor has a line_schema: an object or a boolean."""
    documents.judge("LRO-DESC-14", subjects)


@check("LRO-DESC-09")
def test_lines_satisfy_the_schema(documents: Documents, subjects: Subjects) -> None:
    """line_schema is a valid JSON Schema, and every record line satisfies it."""
    documents.judge("LRO-DESC-09", subjects)


@check("LRO-DESC-10")
def test_schema_describes_the_line(documents: Documents, subjects: Subjects) -> None:
    """line_schema describes the records: it names their fields, or rejects records with wrong fields."""
    documents.judge("LRO-DESC-10", subjects)


@check("LRO-DESC-11")
def test_no_records_with_descriptor(exchanges: Exchanges, subjects: Subjects) -> None:
    """The descriptor replaces the records: no record is next to it, and its forms in text and structuredContent agree.

    A record is next to the descriptor if the first 60 characters of its title or content are there, or if the ids of
    many records are. A descriptor that is cut off in the text does not agree with the one in structuredContent; a
    sentence that only quotes members of a descriptor is not taken for one. Records next to the descriptor of an inject
    call are judged by LRO-INJ-04.
    """
    exchanges.judge("LRO-DESC-11", subjects)


@check("LRO-DESC-11")
def test_no_records_in_descriptor(documents: Documents, subjects: Subjects) -> None:
    """No member of the descriptor has the records in it; a preview of a few is allowed."""
    beside = "the formatted text of inject is next to its descriptor (LRO-INJ-04)"
    documents.judge(
        "LRO-DESC-11",
        subjects,
        skip=lambda d: beside if d.call.operation == "inject" and repeated_record(d.call) is not None else None,
    )


PART = 10
"""An answer may grow by a tenth of the tokens by which its result grows, and the answer to a very large result may have
a tenth of its tokens. Here the result is the records in the file, and the answer is what the call returns."""

GROWTH = 200
"""Tokens by which any answer may be larger than the answer to a smaller result: it may name further namespaces, longer
numbers, and fields that few records have."""

MOST = 4000
"""Largest number of tokens of an answer to a result of ten times the default threshold or more. The paper on LRO gives
a fifth of it as the size of a descriptor (I-45)."""

LARGER = 4000
"""Two results are compared if they differ by at least this many tokens. An answer that grows by as many grows by much
more than `GROWTH` and `PART` allow."""


@check("LRO-DESC-15")
def test_answer_is_compact(survey: Survey, documents: Documents, edition: Edition, subjects: Subjects) -> None:
    """The answer hardly grows with the result, and is a small part of a very large result.

    An answer may be 200 tokens larger than the answer to a smaller result, plus a tenth of the difference between the
    results. If a result has ten times the default threshold or more, its answer has at most a tenth of the result's
    tokens, and at most 4,000. The larger of content and structured content is counted, at four characters to a token.
    Answers with records in them are not examined (LRO-DESC-11).
    """
    full = {id(d.call) for d in documents.documents if any(map(breaks, d.of("LRO-DESC-11")))}
    described = [c for c in survey.files if c.found_descriptor is not None]
    calls = [c for c in described if id(c) not in full and repeated_record(c) is None]
    if len(described) < len(survey.files):
        subjects.not_observed("a result names its file without a descriptor (LRO-DESC-01)")
    if len(calls) < len(described):
        subjects.not_observed("an answer has records next to its descriptor or in it (LRO-DESC-11)")
    for small, large in _sizes(calls):
        most = cost(small) + GROWTH + (size(large) - size(small)) // PART
        subjects.expect(
            cost(large) <= most,
            expected=f"at most {most} tokens returned for an offloaded result of {size(large)} tokens, "
            f"because {cost(small)} are returned for a result of {size(small)} tokens",
            observed=f"{cost(large)} tokens returned",
            at=large,
        )
    for call in (c for c in calls if size(c) >= 10 * edition.default_threshold_tokens):
        most = min(MOST, size(call) // PART)
        subjects.expect(
            cost(call) <= most,
            expected=f"at most {most} tokens returned for an offloaded result of {size(call)} tokens",
            observed=f"{cost(call)} tokens returned",
            at=call,
        )
    if not subjects.examined:
        subjects.not_observed(
            f"no two results of an operation at the same detail level differ by {LARGER} tokens, and no result has "
            f"{10 * edition.default_threshold_tokens} or more"
        )


def size(call: Call) -> int:
    """Tokens of the records in a call's file, at four characters to a token; the server's own estimate is ignored."""
    return characters(call) // 4


def cost(call: Call) -> int:
    """Tokens of an answer, at four characters to a token: of its content, or of its structured content if that is more.

    Clients show the model one of the two.
    """
    result = call.result or {}
    content: object = result.get("content")
    blocks = [as_record(b) for b in cast("list[object]", content)] if isinstance(content, list) else []
    texts = (b["text"] if isinstance(b.get("text"), str) else show(b, 10_000_000) for b in blocks)
    structured = show(result["structuredContent"], 10_000_000) if "structuredContent" in result else ""
    return max(sum(map(len, texts)), len(structured)) // 4


def _sizes(calls: list[Call]) -> Iterator[tuple[Call, Call]]:
    """For each operation and detail level, the calls with the smallest and the largest result, if these differ by
    `LARGER`."""
    groups: dict[tuple[str, str], list[Call]] = {}
    for call in calls:
        groups.setdefault((call.operation, str(call.summary.get("detail"))), []).append(call)
    for group in groups.values():
        small, large = min(group, key=size), max(group, key=size)
        if size(large) - size(small) >= LARGER:
            yield small, large


@check("LRO-DESC-12")
def test_offloaded_result_is_no_error(exchanges: Exchanges, subjects: Subjects) -> None:
    """An offloaded result is a success: isError is false or absent."""
    exchanges.judge("LRO-DESC-12", subjects)


@check("LRO-DESC-13")
def test_no_cursor_with_descriptor(exchanges: Exchanges, subjects: Subjects) -> None:
    """A descriptor has no cursor to a next page."""
    exchanges.judge("LRO-DESC-13", subjects)
