"""The JSONL file: its lines, its header, its records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, cast

from lro_conformance.calls import Among, Call, Line, is_header
from lro_conformance.checks.stamps import late, stamped
from lro_conformance.judge import Subjects, check
from lro_conformance.readings import (
    DEAF,
    deaf_to_detail,
    grain,
    incomparable,
    lacks_core,
    level_of,
    no_level,
    of_the_same,
    pairs,
    rules,
    slack_of,
    taken_for,
    volatile,
)
from lro_conformance.records import by_id, id_of, is_a_page, is_blank, lost_or_changed, show, value_at
from lro_conformance.trials.cleanup import Cleanup
from lro_conformance.trials.edges import Edges
from lro_conformance.trials.folders import Folders
from lro_conformance.trials.survey import EDGE_LIMIT, Inline, Survey
from lro_spec.editions import Edition
from lro_spec.record_rules import CORE


@check("LRO-FILE-01")
def test_every_line_is_json(survey: Survey, see: Subjects) -> None:
    """Every line is one JSON object in UTF-8: no BOM, no blank line, no NaN, no second value on a line."""
    for call in survey.files:
        wrong = wrong_line(call)
        see.expect(
            wrong is None, expected="every line one JSON object (RFC 8259, UTF-8)", observed=wrong or "", at=call
        )


def wrong_line(call: Call) -> str | None:
    """The first line of a file that is not one JSON object; None when all are."""
    if call.file is None or not call.file.data:
        return "the file is empty"
    if call.file.data.startswith(b"\xef\xbb\xbf"):
        return "the file begins with a byte order mark"
    for line in call.file.lines:
        if not line.raw.strip():
            return f"line {line.number} is blank"
        if line.problem is not None:
            return f"line {line.number}: {line.problem}"
        if not isinstance(line.value, dict):
            return f"line {line.number} is {show(line.value, 60)}, not an object"
    return None


def readable(call: Call) -> bool:
    """Whether every line that is not blank is an object, so that lines can be counted."""
    return call.file is not None and all(line.record is not None for line in call.file.lines if line.raw.strip())


@check("LRO-FILE-02")
def test_header_is_first_and_only(survey: Survey, text: Edition, see: Subjects) -> None:
    """The first line is the header, marked `"type": "lro_header"`, and no other line is."""
    for call in (c for c in survey.files if c.file is not None and c.file.lines):
        lines = call.file.lines if call.file is not None else []
        marked = [line.number for line in lines if is_header(line.value)]
        if not text.marked_header and marked in ([], [1]):
            first = lines[0].record or {}
            see.expect(
                bool(marked) or sum(name in first for name in _HEADER) >= 3,
                expected="a header on line 1, with three or more of its fields",
                observed=f"line 1 is {show(lines[0].value, 100)}",
                at=call,
            )
            continue
        see.expect(
            marked == [1],
            expected='"type": "lro_header" on line 1 only',
            observed=f"on lines {marked}" if marked else f"line 1 is {show(lines[0].value, 100)}",
            at=call,
        )


@check("LRO-FILE-03")
def test_header_fields(survey: Survey, text: Edition, see: Subjects) -> None:
    """The header has operation, count, schema_version, timestamp, estimated_tokens and detail, with their types."""
    for call in survey.files:
        if not call.header:
            see.unseen("a file has no header")
            continue
        wrong = [
            f"{key}: {show(call.header.get(key), 60) if key in call.header else 'absent'}"
            for key, fits in _HEADER.items()
            if not fits(call.header.get(key)) and (key != "query" or text.marked_header)
        ]
        see.expect(
            not wrong,
            expected="operation, schema_version, timestamp and detail strings; count and estimated_tokens whole "
            "numbers; query a string, null or absent",
            observed="; ".join(wrong),
            at=call,
        )


def _text(value: object) -> bool:
    return isinstance(value, str) and bool(value)


def _count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


_HEADER: dict[str, Callable[[Any], bool]] = {
    "operation": _text,
    "count": _count,
    "schema_version": lambda v: isinstance(v, str),
    "timestamp": _text,
    "estimated_tokens": _count,
    "detail": _text,
    "query": lambda v: v is None or isinstance(v, str),
}


@check("LRO-FILE-04")
def test_header_names_the_operation(survey: Survey, see: Subjects) -> None:
    """The header's operation is the one that was called."""
    for call, at in (s for s in _asked(survey) if _text(s[0].header.get("operation"))):
        said = call.header["operation"]
        see.expect(said == call.operation, expected=f'"operation": {show(call.operation)}', observed=show(said), at=at)


def _asked(survey: Survey) -> Iterator[tuple[Call, Call | Among]]:
    """The calls with a file, those in flight together as well, each with what shows it once more."""
    yield from ((c, c) for c in survey.files)
    yield from ((c, Among(c)) for c in survey.flown)


@check("LRO-FILE-05")
def test_header_tells_the_query(survey: Survey, see: Subjects) -> None:
    """The header's query is the one of the call; for a query that selects everything it may be left out."""
    for call, at in _asked(survey):
        if call.query is None or not call.header:
            continue
        said = call.header.get("query")
        everything = not call.query.strip() or call.query == "*"
        if "query" in call.header and said is not None and not isinstance(said, str):
            continue
        see.expect(
            said == call.query or (everything and said in (None, "", "*")),
            expected=f'"query": {show(call.query)}',
            observed=show(said) if "query" in call.header else "no query",
            at=at,
        )
    if not any(c.query is not None for c in survey.files):
        see.not_applicable("no tool takes a query")


@check("LRO-FILE-06")
def test_header_count(survey: Survey, see: Subjects) -> None:
    """The header's count is the number of record lines in the file."""
    for call in (c for c in survey.files if _count(c.header.get("count"))):
        if not readable(call):
            see.unseen("a file has lines that are no JSON objects")
            continue
        lines = len(call.filed)
        see.expect(
            call.header["count"] == lines,
            expected=f'"count": {lines}, the record lines of the file',
            observed=f'"count": {call.header["count"]}',
            at=call,
        )


@check("LRO-FILE-07")
def test_header_timestamp(survey: Survey, see: Subjects) -> None:
    """The header's timestamp is ISO 8601 and tells when the file was written."""
    stamped(survey.files, see)


@check("LRO-FILE-07")
def test_header_timestamp_minds_its_zone(folders: Folders, see: Subjects) -> None:
    """So it does where local time is seven hours ahead of UTC: Z is UTC, and an offset is the one of the time."""
    stamped((c for c in folders.stranger if c.file is not None and c.file.problem is None), see)


@check("LRO-FILE-07")
def test_header_timestamp_goes_on(cleanup: Cleanup, see: Subjects) -> None:
    """So it does when the server has run for some seconds."""
    stamped(late(cleanup), see)


@check("LRO-FILE-08")
def test_header_detail(survey: Survey, see: Subjects) -> None:
    """The header's detail is the level asked for; where none was asked for, it is the level that the records have."""
    for call, at in (s for s in _asked(survey) if _text(s[0].header.get("detail"))):
        said, expected, unknown = call.header["detail"], level_of(survey, call), no_level(survey, call)
        if unknown is not None:
            see.unseen(unknown)
            continue
        see.expect(said == expected, expected=f'"detail": {show(expected)}', observed=show(said), at=at)


@check("LRO-FILE-09")
def test_file_is_complete(survey: Survey, inline: Inline, see: Subjects) -> None:
    """The file holds the memories that the same call returns inline, each once."""
    same = incomparable(survey, inline) is None
    for filed, shown in pairs(survey, inline):
        ids = [i for r in filed.filed if (i := id_of(r)) is not None]
        records = shown.records or []
        inline_ids = Counter(map(id_of, records))  # a store may hold two memories of one id
        twice = [i for i, times in Counter(ids).items() if times > max(1, inline_ids[i])]
        see.expect(not twice, expected="each memory once", observed=f"{len(twice)} ids stand more than once", at=filed)
        here = by_id(records).keys()
        if same and here and (filed.operation not in survey.restless or filed.limit != EDGE_LIMIT):
            missing, added = here - set(ids), set(ids) - here if not is_a_page(shown.result) else set[str]()
            see.expect(
                not missing and not added,
                expected=f"the {len(here)} memories that the call returns inline",
                observed=f"{len(ids)} records: {len(missing)} missing, {len(added)} others"
                + (f"; first missing: {min(missing)}" if missing else ""),
                at=filed,
            )
        else:
            more = is_a_page(shown.result) and len(filed.filed) > len(records)
            see.expect(
                len(filed.filed) == len(records) or more,
                expected=f"{len(records)} records, as inline",
                observed=f"{len(filed.filed)} records",
                at=filed,
            )


@check("LRO-FILE-10")
def test_values_are_untouched(survey: Survey, inline: Inline, see: Subjects) -> None:
    """Every value in the file is the one that the same call returns inline."""
    against = incomparable(survey, inline)
    if against is not None:
        see.unseen(against)
        return
    for filed, shown in pairs(survey, inline):
        skip = volatile(inline, filed.operation)
        level = taken_for(inline, filed, shown)
        there = by_id(r for line in _lines(filed) if line.problem is None and (r := line.record) is not None)
        for key, record in by_id(shown.records or []).items():
            if key not in there:
                continue
            wrong = lost_or_changed(record, there[key], skip)
            if level is not None:
                wrong = [p for p in wrong if not _blank_side(record, there[key], p)]
            see.expect(
                not wrong,
                expected=f"record {key}: {_path(wrong)} is {value_at(record, wrong[0])}" if wrong else "",
                observed=value_at(there[key], wrong[0]) if wrong else "",
                at=filed,
            )


def _lines(call: Call) -> list[Line]:
    return call.file.record_lines if call.file is not None else []


def _blank_side(inline: dict[str, Any], filed: dict[str, Any], path: tuple[str, ...]) -> bool:
    """Where a file has another level's fields, a field that one side lacks is a matter of the detail level."""
    return len(path) == 1 and is_blank(inline.get(path[0])) != is_blank(filed.get(path[0]))


def _path(paths: list[tuple[str, ...]]) -> str:
    return "/" + "/".join(paths[0]) if paths else ""


@check("LRO-FILE-11")
def test_records_are_memories(survey: Survey, see: Subjects) -> None:
    """Every record is a memory object: it has an id, and its core fields have their types."""
    for call in survey.files:
        for line in call.file.record_lines if call.file is not None else []:
            if line.record is None:
                continue
            wrong = _wrong_field(line.record)
            see.expect(
                wrong is None,
                expected=f"line {line.number} is a memory object",
                observed=wrong or "",
                at=call,
            )


def _wrong_field(record: dict[str, Any]) -> str | None:
    if id_of(record) is None:
        return f"it has no id: {show(record, 100)}"
    for key in ("memory_type", "namespace", "title", "content", "summary", "created", "modified", "status"):
        if not isinstance(record.get(key), (str, type(None))):
            return f"{key} is {show(record[key], 60)}, not a string"
    tags: object = record.get("tags")
    if tags is not None and not (isinstance(tags, list) and all(isinstance(t, str) for t in cast("list[Any]", tags))):
        return f"tags is {show(record['tags'], 60)}, not a list of strings"
    for key in ("provenance", "temporal", "extensions"):
        if not isinstance(record.get(key), (dict, type(None))):
            return f"{key} is {show(record[key], 60)}, not an object"
    return None


@check("LRO-FILE-11")
def test_core_fields_are_there(survey: Survey, see: Subjects) -> None:
    """At full detail records have the core fields, by these names: memory_type, namespace, title, content, created."""
    for call in survey.files:
        if level_of(survey, call) != "full" or not call.filed:
            continue
        if deaf_to_detail(survey, call.operation) is not None:
            see.unseen(DEAF)
            continue
        missing = lacks_core(call)
        see.expect(
            not missing,
            expected=f"{', '.join(CORE)} in records of full detail",
            observed=f"no record has {', '.join(missing)}; they have {', '.join(call.filed[0])}",
            at=call,
        )


@check("LRO-FILE-12")
def test_schema_version(survey: Survey, see: Subjects) -> None:
    """The header names a version of the memory schema, the same in every file."""
    said = [c for c in survey.files if isinstance(c.header.get("schema_version"), str)]
    first = said[0].header["schema_version"] if said else ""
    for call in said:
        version = call.header["schema_version"]
        see.expect(
            bool(version.strip()) and version == first,
            expected="a non-empty schema_version, the same in every file" + (f" ({show(first)})" if first else ""),
            observed=show(version),
            at=call,
        )


@check("LRO-FILE-13")
def test_header_estimate_is_the_one_decided_by(survey: Survey, edges: Edges, see: Subjects) -> None:
    """The header's E is the figure that the decision was made with: where it is rounded, so is the decision."""
    for name, rule in rules(survey, edges).items():
        edge = edges.edges[name]
        wrong = next((p for p in edge.at if p.call.outcome != "inline"), edge.above[0])
        if rule in ("exact", "another figure"):
            see.expect(
                rule == "exact",
                expected=f"{name}: estimated_tokens {edge.estimate} is compared with threshold {wrong.threshold}",
                observed=f"{wrong.call.outcome}, as of another figure{_rounded(survey)}",
                at=wrong.call,
            )
    if edges.reason is not None:
        see.unseen(edges.reason)


def _rounded(survey: Survey) -> str:
    return f"; every estimated_tokens is a multiple of {grain(survey)}" if grain(survey) > 1 else ""


@check("LRO-FILE-13")
def test_header_estimate_is_steady(survey: Survey, see: Subjects) -> None:
    """Files with the same memories, at the same detail level, have the same E, but for what they differ in size."""
    for one, other in of_the_same(survey):
        a, b = one.header["estimated_tokens"], other.header["estimated_tokens"]
        slack = slack_of(one, other)
        see.expect(
            abs(a - b) <= slack,
            expected=f"E = {a} again, for a file of the same size",
            observed=f"E = {b}",
            at=other,
        )
