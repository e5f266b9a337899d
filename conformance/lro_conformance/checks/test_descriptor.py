"""The descriptor: its fields, and their agreement with the file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from lro_conformance.analysis.documents import Documents, violates
from lro_conformance.analysis.estimate import Estimates
from lro_conformance.analysis.exchanges import Exchanges, repeated_record
from lro_conformance.capture.call import Call
from lro_conformance.capture.estimate import characters
from lro_conformance.capture.records import as_record, show
from lro_conformance.judging.check import check
from lro_conformance.judging.subjects import ESTIMATE_IN_HEADERS, Subjects
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
            subject=call,
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
    """The summary's estimated_tokens equals the header's estimated_tokens, with or without the descriptor's own tokens
    subtracted."""
    # If the same memories do not always have the same estimate, the cause may be that headers state a wrong number.
    documents.judge(
        "LRO-DESC-04", subjects, place="" if estimates.same_memories_have_same_estimate else ESTIMATE_IN_HEADERS
    )


@check("LRO-DESC-05")
def test_summary_operation(documents: Documents, subjects: Subjects) -> None:
    """The summary names the operation that was performed."""
    documents.judge("LRO-DESC-05", subjects, place=documents.place_of_operation)


@check("LRO-DESC-06")
def test_top_namespaces(documents: Documents, subjects: Subjects) -> None:
    """top_namespaces are the most frequent namespaces in the file, at most five; ties may be in any order."""
    documents.judge("LRO-DESC-06", subjects)


@check("LRO-DESC-07")
def test_score_range(documents: Documents, subjects: Subjects) -> None:
    """score_range is null, absent, or two numbers, the lower first. If the file has scores, the numbers are the lowest
    and the highest score.

    Each number may differ from the score by 0.01. The lowest and the highest confidence are accepted in place of the
    scores.
    """
    documents.judge("LRO-DESC-07", subjects)


@check("LRO-DESC-07", calls_of=("inline",))
def test_score_range_is_that_of_the_hits(exchanges: Exchanges, subjects: Subjects) -> None:
    """If the file has no scores, score_range is the lowest and the highest score that the same call shows inline.

    Each number may differ from the score by 0.01. If the scores are not shown inline either, score_range is compared
    with the confidences of the records. Suppose that for one operation and query, score_range equals the range of the
    confidences in several files, with at least three different ranges. Then it has to equal the range of the
    confidences in every file of this operation and query.
    """
    exchanges.judge("LRO-DESC-07", subjects)


@check("LRO-DESC-08")
def test_summary_detail(documents: Documents, subjects: Subjects) -> None:
    """The summary's detail is the requested level; if none was requested, it is the default level."""
    documents.judge("LRO-DESC-08", subjects, place=documents.place_of_detail)


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

    A record is found next to the descriptor by the first 60 characters of its title or content. The ids of records may
    not be next to the descriptor, either, if there are more than three and they are more than a quarter of all ids. A
    descriptor that is cut off in the text does not agree with the descriptor in structuredContent. A sentence in the
    text that only quotes members of a descriptor does not count as a descriptor. Records next to the descriptor of an
    inject call are judged by LRO-INJ-04.
    """
    exchanges.judge("LRO-DESC-11", subjects)


@check("LRO-DESC-11")
def test_no_records_in_descriptor(documents: Documents, subjects: Subjects) -> None:
    """No member of the descriptor contains the records. A preview of a few records is allowed."""
    text_beside_inject = "the formatted text of inject is next to its descriptor (LRO-INJ-04)"
    documents.judge(
        "LRO-DESC-11",
        subjects,
        skip=lambda d: (
            text_beside_inject if d.call.operation == "inject" and repeated_record(d.call) is not None else None
        ),
    )


# In this check, the result is the records in the file, and the answer is what the call returns.

RESULT_TOKENS_PER_ANSWER_TOKEN = 10
"""An answer may grow by one token whenever the result grows by this many tokens. The answer to a very large result may
have one token for each of this many tokens of the result."""

ALLOWED_GROWTH_TOKENS = 200
"""Tokens by which an answer may be larger than the answer to a smaller result, however little the results differ. The
larger answer may name more namespaces, longer numbers, and fields that few records have."""

MAX_ANSWER_TOKENS = 4000
"""Maximum number of tokens of an answer, if the result has ten times the default threshold or more. According to the
paper on LRO, a descriptor has about a fifth of this number of tokens (I-45)."""

MIN_DIFFERENCE_TOKENS = 4000
"""Two results are compared if they differ by at least this many tokens. If an answer grows as much as such a result, it
grows much more than `ALLOWED_GROWTH_TOKENS` and `RESULT_TOKENS_PER_ANSWER_TOKEN` allow."""


@check("LRO-DESC-15")
def test_answer_is_compact(survey: Survey, documents: Documents, edition: Edition, subjects: Subjects) -> None:
    """The answer hardly grows with the result, and is much smaller than a very large result.

    The result is the records in the file, and the answer is what the call returns. An answer may have 200 tokens more
    than the answer to a smaller result, and one more for every ten tokens by which the results differ. If a result has
    ten times the default threshold or more, the answer may have at most a tenth of the result's tokens, and at most
    4,000 tokens. Four characters count as one token. Of content and structuredContent, only the larger is counted.
    Answers that contain records are not examined (LRO-DESC-11).
    """
    with_records = {id(d.call) for d in documents.documents if any(map(violates, d.findings_about("LRO-DESC-11")))}
    described = [c for c in survey.files if c.found_descriptor is not None]
    calls = [c for c in described if id(c) not in with_records and repeated_record(c) is None]
    if len(described) < len(survey.files):
        subjects.not_observed("a result names its file without a descriptor (LRO-DESC-01)")
    if len(calls) < len(described):
        subjects.not_observed("an answer has records next to its descriptor or in it (LRO-DESC-11)")
    for small, large in _smallest_and_largest(calls):
        max_tokens = (
            answer_tokens(small)
            + ALLOWED_GROWTH_TOKENS
            + (result_tokens(large) - result_tokens(small)) // RESULT_TOKENS_PER_ANSWER_TOKEN
        )
        subjects.expect(
            answer_tokens(large) <= max_tokens,
            expected=f"at most {max_tokens} tokens returned for an offloaded result of {result_tokens(large)} tokens, "
            f"because {answer_tokens(small)} are returned for a result of {result_tokens(small)} tokens",
            observed=f"{answer_tokens(large)} tokens returned",
            subject=large,
        )
    for call in (c for c in calls if result_tokens(c) >= 10 * edition.default_threshold_tokens):
        max_tokens = min(MAX_ANSWER_TOKENS, result_tokens(call) // RESULT_TOKENS_PER_ANSWER_TOKEN)
        subjects.expect(
            answer_tokens(call) <= max_tokens,
            expected=f"at most {max_tokens} tokens returned for an offloaded result of {result_tokens(call)} tokens",
            observed=f"{answer_tokens(call)} tokens returned",
            subject=call,
        )
    if not subjects.examined:
        subjects.not_observed(
            f"no two results of an operation at the same detail level differ by {MIN_DIFFERENCE_TOKENS} tokens, and "
            f"no result has {10 * edition.default_threshold_tokens} or more"
        )


def result_tokens(call: Call) -> int:
    """Tokens of the records in a call's file. Four characters count as one token; the server's own estimate is not
    used."""
    return characters(call) // 4


def answer_tokens(call: Call) -> int:
    """Tokens of an answer. Four characters count as one token.

    Clients show the model either the content or the structured content, so only the larger of the two is counted.
    """
    result = call.result or {}
    content: object = result.get("content")
    blocks = [as_record(b) for b in cast("list[object]", content)] if isinstance(content, list) else []
    texts = (b["text"] if isinstance(b.get("text"), str) else show(b, 10_000_000) for b in blocks)
    structured = show(result["structuredContent"], 10_000_000) if "structuredContent" in result else ""
    return max(sum(map(len, texts)), len(structured)) // 4


def _smallest_and_largest(calls: list[Call]) -> Iterator[tuple[Call, Call]]:
    """Yield the calls with the smallest and the largest result of each operation and detail level, if the two results
    differ by at least `MIN_DIFFERENCE_TOKENS`."""
    groups: dict[tuple[str, str], list[Call]] = {}
    for call in calls:
        groups.setdefault((call.operation, str(call.summary.get("detail"))), []).append(call)
    for group in groups.values():
        small, large = min(group, key=result_tokens), max(group, key=result_tokens)
        if result_tokens(large) - result_tokens(small) >= MIN_DIFFERENCE_TOKENS:
            yield small, large


@check("LRO-DESC-12")
def test_offloaded_result_is_no_error(exchanges: Exchanges, subjects: Subjects) -> None:
    """An offloaded result is a success: isError is false or absent."""
    exchanges.judge("LRO-DESC-12", subjects)


@check("LRO-DESC-13")
def test_no_cursor_with_descriptor(exchanges: Exchanges, subjects: Subjects) -> None:
    """A descriptor has no cursor to a next page."""
    exchanges.judge("LRO-DESC-13", subjects)
