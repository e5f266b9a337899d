"""The descriptor: its fields, and their agreement with the file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import cast

from lro_conformance.analysis.documents import Documents
from lro_conformance.capture.call import Call
from lro_conformance.capture.records import as_record, broken_descriptor, show
from lro_conformance.judging.check import check
from lro_conformance.judging.subjects import Subjects
from lro_conformance.trials.survey import Survey
from lro_spec.discovery import FoundDescriptor


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
def test_path_names_a_file(survey: Survey, subjects: Subjects) -> None:
    """file_path names a regular file that can be read."""
    for call in survey.offloaded:
        if not isinstance(call.descriptor.get("file_path"), str) or call.file is None:
            subjects.not_observed("a descriptor has no file_path")
            continue
        subjects.expect(
            call.file.problem is None,
            expected="the path of a regular, readable file",
            observed=f"{show(call.file.path)}: {call.file.problem}",
            at=call,
        )


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
def test_no_records_with_descriptor(survey: Survey, subjects: Subjects) -> None:
    """The descriptor replaces the records: none is returned with it, and both places of a result agree."""
    for call in survey.files:
        if call.found is None:
            continue
        differs = _differs(call, call.found)
        subjects.expect(
            differs is None,
            expected="the same descriptor as text and as structuredContent",
            observed=differs or "",
            at=call,
        )
        if call.operation == "inject":
            continue
        leaked = repeated_record(call)
        subjects.expect(leaked is None, expected="no record next to the descriptor", observed=leaked or "", at=call)


def _differs(call: Call, found: FoundDescriptor) -> str | None:
    """Difference between the descriptors in text and structuredContent; None if they agree, or if there is only one."""
    if found.where == "both":
        return None if found.text_value == found.structured_value else "two that differ"
    if found.where == "text":
        return None
    content: object = (call.result or {}).get("content")
    blocks = cast("list[object]", content) if isinstance(content, list) else []
    texts = (as_record(b).get("text") for b in blocks)
    broken = next((p for t in texts if isinstance(t, str) and (p := broken_descriptor(t)) is not None), None)
    return None if broken is None else f"complete in structuredContent, invalid JSON in the text: {broken}"


def repeated_record(call: Call) -> str | None:
    """A record of the file that the result repeats outside the descriptor's own fields; None when there is none."""
    known = {"offloaded", "summary", "file_path", "line_schema", "jq_recipes", "guidance"}
    rest = {k: v for k, v in call.descriptor.items() if k not in known}
    text = (call.found.around if call.found is not None else "") + show([rest, *_other_members(call)], 10_000_000)
    strings = [
        (str(r.get("id")), s) for r in call.filed for s in (r.get("content"), r.get("title")) if isinstance(s, str)
    ]
    ids = [str(r.get("id")) for r in call.filed if len(str(r.get("id"))) >= 8]
    several = [i for i in ids if i in text]
    if len(several) > max(3, len(ids) // 4):
        return f"the ids of {len(several)} records next to the descriptor"
    long = next((i for i, s in strings if len(s) >= 60 and s[:60] in text), None)
    return f"the text of record {long} next to the descriptor" if long is not None else None


def _other_members(call: Call) -> list[object]:
    """Members of a result and its blocks besides their texts: ``_meta``, and the server's own."""
    result = call.result or {}
    content: object = result.get("content")
    blocks = [as_record(b) for b in cast("list[object]", content)] if isinstance(content, list) else []
    usual = {"content", "structuredContent"}
    return [
        {k: v for k, v in result.items() if k not in usual},
        *({k: v for k, v in b.items() if k not in ("text", "resource")} for b in blocks),
    ]


@check("LRO-DESC-12")
def test_offloaded_result_is_no_error(survey: Survey, subjects: Subjects) -> None:
    """An offloaded result is a success: isError is false or absent."""
    for call in survey.offloaded:
        flag = (call.result or {}).get("isError")
        subjects.expect(flag is not True, expected="isError false or absent", observed="isError true", at=call)


@check("LRO-DESC-13")
def test_no_cursor_with_descriptor(survey: Survey, subjects: Subjects) -> None:
    """A descriptor has no cursor to a next page."""
    for call in survey.offloaded:
        cursor = next(iter(_cursors(call.result)), None)
        if call.found is not None and cursor is None:
            known = {k: v for k, v in call.found.value.items() if k not in ("line_schema", "jq_recipes")}
            cursor = next(iter(_cursors(known)), None)
        subjects.expect(cursor is None, expected="no cursor next to a descriptor", observed=cursor or "", at=call)


_CURSOR = re.compile(r"(next_?)?(page_?)?(cursor|token)", re.IGNORECASE)


def _cursors(value: object) -> Iterator[str]:
    """Members of a value that refer to a next page."""
    if isinstance(value, list):
        for entry in cast("list[object]", value):
            yield from _cursors(entry)
    elif isinstance(value, dict):
        for key, inner in cast("dict[str, object]", value).items():
            if key in ("line_schema", "jq_recipes"):
                continue
            if inner not in (None, False, "", 0) and _CURSOR.fullmatch(key) and key.lower() != "token":
                yield f"{key} is {show(inner, 80)}"
            yield from _cursors(inner)
