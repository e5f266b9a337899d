"""The descriptor: its fields, and their agreement with the file."""

from __future__ import annotations

from lro_conformance.analysis.documents import Documents
from lro_conformance.analysis.exchanges import Exchanges
from lro_conformance.judging.check import check
from lro_conformance.judging.subjects import Subjects


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


@check("LRO-DESC-02")
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
def test_summary_estimate(documents: Documents, subjects: Subjects) -> None:
    """The summary's estimated_tokens is E, or E minus the cost of the descriptor itself."""
    documents.judge("LRO-DESC-04", subjects)


@check("LRO-DESC-05")
def test_summary_operation(documents: Documents, subjects: Subjects) -> None:
    """The summary names the operation that was performed."""
    documents.judge("LRO-DESC-05", subjects)


@check("LRO-DESC-06")
def test_top_namespaces(documents: Documents, subjects: Subjects) -> None:
    """top_namespaces are the most frequent namespaces of the file, at most five, ties in any order."""
    documents.judge("LRO-DESC-06", subjects)


@check("LRO-DESC-07")
def test_score_range(documents: Documents, subjects: Subjects) -> None:
    """score_range is null, absent, or two numbers, the lower first, that match the scores in the file if it has any."""
    documents.judge("LRO-DESC-07", subjects)


@check("LRO-DESC-07")
def test_score_range_is_that_of_the_hits(exchanges: Exchanges, subjects: Subjects) -> None:
    """score_range matches the scores that the same call shows inline, if the file has none."""
    exchanges.judge("LRO-DESC-07", subjects)


@check("LRO-DESC-08")
def test_summary_detail(documents: Documents, subjects: Subjects) -> None:
    """The summary's detail is the requested level, or else the default level."""
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
    """line_schema describes the record: it names its fields, or rejects records with wrong ones."""
    documents.judge("LRO-DESC-10", subjects)


@check("LRO-DESC-11")
def test_no_records_with_descriptor(exchanges: Exchanges, subjects: Subjects) -> None:
    """The descriptor replaces the records: none is returned with it, and both places of a result agree."""
    exchanges.judge("LRO-DESC-11", subjects)


@check("LRO-DESC-12")
def test_offloaded_result_is_no_error(exchanges: Exchanges, subjects: Subjects) -> None:
    """An offloaded result is a success: isError is false or absent."""
    exchanges.judge("LRO-DESC-12", subjects)


@check("LRO-DESC-13")
def test_no_cursor_with_descriptor(exchanges: Exchanges, subjects: Subjects) -> None:
    """A descriptor has no cursor to a next page."""
    exchanges.judge("LRO-DESC-13", subjects)
