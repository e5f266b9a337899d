"""The descriptor: its fields, and whether they tell the truth about the file."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any, cast

from lro_conformance.calls import Call
from lro_conformance.checks.test_file import readable
from lro_conformance.judge import Subjects, check
from lro_conformance.readings import level_of, no_level
from lro_conformance.records import as_record, broken_descriptor, show
from lro_conformance.trials.folders import Folders
from lro_conformance.trials.survey import Survey
from lro_spec.discovery import FoundDescriptor
from lro_spec.editions import Edition
from lro_spec.line_schemas import is_vacuous, lines_violating, schema_problem
from lro_spec.summary_rules import TOP, distribution, wrong_namespaces


@check("LRO-DESC-01")
def test_descriptor_fields(survey: Survey, text: Edition, see: Subjects) -> None:
    """An offloaded call returns a descriptor: offloaded true, summary, file_path, line_schema, jq_recipes, guidance."""
    whole = {k: fits for k, fits in _DESCRIPTOR.items() if k in text.descriptor_fields}
    inner = {k: fits for k, fits in _SUMMARY.items() if k in text.summary_fields}
    if text.top_namespaces is None:
        inner["top_namespaces"] = lambda v: isinstance(v, (list, dict))
    for call in survey.offloaded:
        wrong = [*_wrong(call.descriptor, whole), *(f"summary.{w}" for w in _wrong(call.summary, inner))]
        see.expect(
            not wrong,
            expected="every field of an OffloadResponse and of its summary, with its type",
            observed="no descriptor: the result names the file, and holds no JSON object of that kind"
            if call.undescribed
            else "; ".join(wrong),
            at=call,
        )


def _wrong(value: Mapping[str, Any], fields: Mapping[str, Callable[[Any], bool]]) -> list[str]:
    return [
        f"{k} is {show(value[k], 60) if k in value else 'absent'}"
        for k, fits in fields.items()
        if not fits(value.get(k))
    ]


def _whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _text(value: object) -> bool:
    return isinstance(value, str) and bool(value)


_DESCRIPTOR: dict[str, Callable[[Any], bool]] = {
    "offloaded": lambda v: v is True,
    "summary": lambda v: isinstance(v, dict),
    "file_path": _text,
    "line_schema": lambda v: isinstance(v, (dict, bool)),
    "jq_recipes": lambda v: isinstance(v, list),
    "guidance": lambda v: isinstance(v, str),
}
_SUMMARY: dict[str, Callable[[Any], bool]] = {
    "count": _whole,
    "estimated_tokens": _whole,
    "operation": _text,
    "top_namespaces": lambda v: isinstance(v, list) and all(isinstance(n, str) for n in cast("list[Any]", v)),
    "detail": _text,
}


@check("LRO-DESC-02")
def test_path_names_a_file(survey: Survey, see: Subjects) -> None:
    """file_path is absolute and names a regular file that can be read."""
    for call in survey.offloaded:
        path = call.descriptor.get("file_path")
        if not isinstance(path, str) or call.file is None:
            see.unseen("a descriptor has no file_path")
            continue
        see.expect(
            os.path.isabs(path) and call.file.problem is None,
            expected="an absolute path of a regular, readable file",
            observed=f"{show(path)}: {call.file.problem or 'not absolute'}",
            at=call,
        )


@check("LRO-DESC-02")
def test_path_is_absolute_where_the_folder_is_relative(folders: Folders, see: Subjects) -> None:
    """So it is with an output_dir that is relative: the client does not know where the server runs."""
    for call in (c for c in folders.awkward if isinstance(c.descriptor.get("file_path"), str)):
        path = call.descriptor["file_path"]
        see.expect(
            os.path.isabs(path),
            expected=f"an absolute path with output_dir = {show(call.settings.get('output_dir'))}",
            observed=show(path),
            at=call,
        )


@check("LRO-DESC-03")
def test_summary_count(survey: Survey, see: Subjects) -> None:
    """The summary's count is the number of records in the file."""
    for call in (c for c in survey.files if _whole(c.summary.get("count"))):
        if not readable(call):
            see.unseen("a file has lines that are no JSON objects")
            continue
        lines = len(call.filed)
        see.expect(
            call.summary["count"] == lines,
            expected=f"count {lines}, the records of the file",
            observed=f"count {call.summary['count']}",
            at=call,
        )


@check("LRO-DESC-04")
def test_summary_estimate(survey: Survey, see: Subjects) -> None:
    """The summary's estimated_tokens is E, or E less what the descriptor itself costs."""
    for call in survey.files:
        header, said = call.header.get("estimated_tokens"), call.summary.get("estimated_tokens")
        if not isinstance(header, int) or not isinstance(said, int) or said < 0:
            see.unseen("header or summary tells no estimate that is a whole number of tokens")
            continue
        cost = len(call.text) // 2 + 64
        low = max(0, header - cost)
        see.expect(
            low <= said <= header,
            expected=f"{header} (the header's E), or that less the descriptor's own cost (at least {low})",
            observed=str(said),
            at=call,
        )


@check("LRO-DESC-05")
def test_summary_operation(survey: Survey, see: Subjects) -> None:
    """The summary names the operation that was performed."""
    for call in (c for c in survey.offloaded if _text(c.summary.get("operation"))):
        said = call.summary["operation"]
        see.expect(said == call.operation, expected=show(call.operation), observed=show(said), at=call)


@check("LRO-DESC-06")
def test_top_namespaces(survey: Survey, text: Edition, see: Subjects) -> None:
    """top_namespaces are the most frequent namespaces of the file, at most five, ties in any order."""
    for call in survey.files:
        names = _names(call.summary.get("top_namespaces"), text)
        if not all(isinstance(n, str) for n in names) or not call.filed:
            continue
        # An empty name may be one, or stand for none.
        counts = Counter(n for r in call.filed if isinstance(n := r.get("namespace"), str) and (n or n in names))
        if not counts:
            see.unseen("no record of the file has a namespace")
            continue
        most = len(counts) if text.top_namespaces is None else text.top_namespaces
        wrong = wrong_namespaces(cast("list[str]", names), counts, most) or _miscounted(call, counts, text)
        top = ", ".join(f"{n} ({c})" for n, c in counts.most_common(TOP + 1))
        see.expect(
            wrong is None,
            expected=f"the most frequent of the file's namespaces, at most {most}: {top}",
            observed=f"{show(names)}: {wrong}",
            at=call,
        )


def _names(said: object, text: Edition) -> list[Any]:
    """The namespaces that a summary names; where the edition gives them no form, out of a distribution, too."""
    if text.top_namespaces is None:
        told = distribution(said)
        return [None] if told is None else list(told)
    return cast("list[Any]", said) if isinstance(said, list) else [None]


def _miscounted(call: Call, counts: Mapping[str, int], text: Edition) -> str | None:
    """The first count of a distribution that is wrong."""
    told = (distribution(call.summary.get("top_namespaces")) or {}) if text.top_namespaces is None else {}
    wrong = next((n for n, c in told.items() if c is not None and c != counts.get(n)), None)
    return None if wrong is None else f"{wrong} is counted as {show(told[wrong])}, not {counts.get(wrong, 0)}"


@check("LRO-DESC-07")
def test_score_range(survey: Survey, see: Subjects) -> None:
    """score_range is null, absent, or two numbers, the lower first, true of the scores in the file if it has any."""
    for call in survey.offloaded:
        said = call.summary.get("score_range")
        pair = _pair(said)
        if said is None:
            see.expect(holds=True, expected="", observed="")
            continue
        if not see.expect(
            pair is not None and pair[0] <= pair[1],
            expected="null, or [lower, upper]",
            observed=show(said),
            at=call,
        ):
            continue
        found = [s for s in (_scores(call, key) for key in (("score",), ("provenance", "confidence"))) if s]
        scores = _scores(call, ("score",))
        if pair is None or not scores:
            continue
        see.expect(
            any(_near(pair[0], min(s)) and _near(pair[1], max(s)) for s in found),
            expected=f"[{show(min(scores))}, {show(max(scores))}], the scores in the file",
            observed=show(said),
            at=call,
        )


def _near(one: float, other: float) -> bool:
    """Whether two scores are the same to the hundredth; a whole number may be beyond what a double holds."""
    try:
        return abs(one - other) <= 0.01
    except OverflowError:
        return False


def _pair(value: object) -> tuple[float, float] | None:
    numbers: list[Any] = []
    if isinstance(value, list):
        numbers = cast("list[Any]", value)
    if len(numbers) != 2 or not all(isinstance(n, (int, float)) and not isinstance(n, bool) for n in numbers):
        return None
    return numbers[0], numbers[1]


def _scores(call: Call, path: tuple[str, ...]) -> list[float]:
    found: list[float] = []
    for record in call.filed:
        value: Any = record
        for key in path:
            value = cast("dict[str, Any]", value).get(key) if isinstance(value, dict) else None
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            found.append(value)
    return found


@check("LRO-DESC-08")
def test_summary_detail(survey: Survey, see: Subjects) -> None:
    """The summary's detail is the level asked for, or else the default one."""
    for call in (c for c in survey.offloaded if _text(c.summary.get("detail"))):
        said, expected, unknown = call.summary["detail"], level_of(survey, call), no_level(survey, call)
        if unknown is not None:
            see.unseen(unknown)
            continue
        see.expect(said == expected, expected=show(expected), observed=show(said), at=call)


@check("LRO-DESC-14")
def test_there_is_a_line_schema(survey: Survey, see: Subjects) -> None:
    """Every descriptor has a line_schema: an object or a boolean."""
    for call in survey.offloaded:
        said = call.descriptor.get("line_schema")
        see.expect(
            isinstance(said, (dict, bool)),
            expected="a line_schema",
            observed=show(said, 60) if "line_schema" in call.descriptor else "none",
            at=call,
        )


@check("LRO-DESC-09")
def test_lines_satisfy_the_schema(survey: Survey, see: Subjects) -> None:
    """line_schema is a valid JSON Schema, and every record line satisfies it."""
    judged: set[tuple[str, bytes]] = set()
    for call in _judged(survey):
        schema = call.descriptor["line_schema"]
        key = show(schema, 1_000_000)
        lines = call.file.record_lines if call.file is not None else []
        fresh = [r for line in lines if (r := line.record) is not None and (key, line.raw) not in judged]
        judged |= {(key, line.raw) for line in lines}
        problem = schema_problem(schema)
        if not see.expect(problem is None, expected="a valid JSON Schema", observed=problem or "", at=call):
            continue
        wrong = lines_violating(schema, fresh, limit=1)
        see.expect(
            not wrong,
            expected="every record line valid against line_schema",
            observed=f"record {wrong[0][0] + 1}: {wrong[0][1]}" if wrong else "",
            at=call,
        )


@check("LRO-DESC-10")
def test_schema_describes_the_line(survey: Survey, see: Subjects) -> None:
    """line_schema says something of the record: it names its fields, or refuses records with wrong ones."""
    for call in _judged(survey):
        schema = call.descriptor["line_schema"]
        if schema_problem(schema) is not None:
            see.unseen("line_schema is no valid JSON Schema")
            continue
        vacuous = is_vacuous(schema, call.filed)
        see.expect(vacuous is None, expected="a schema that describes a memory line", observed=vacuous or "", at=call)


def _judged(survey: Survey) -> list[Call]:
    """One call for each operation and level: their schemas are the same for other limits and queries."""
    return [c for c in survey.whole.values() if c.filed and isinstance(c.descriptor.get("line_schema"), (dict, bool))]


@check("LRO-DESC-11")
def test_no_payload_beside_it(survey: Survey, see: Subjects) -> None:
    """The descriptor stands instead of the records: none of them beside it, and both places of a result agree."""
    for call in survey.files:
        if call.found is None:
            continue
        differs = _differs(call, call.found)
        see.expect(
            differs is None,
            expected="the same descriptor as text and as structuredContent",
            observed=differs or "",
            at=call,
        )
        if call.operation == "inject":
            continue
        leaked = payload_beside(call)
        see.expect(leaked is None, expected="no record beside the descriptor", observed=leaked or "", at=call)


def _differs(call: Call, found: FoundDescriptor) -> str | None:
    """How the descriptors of a result's two places differ; None where they do not, or where it is in one alone."""
    if found.where == "both":
        return None if found.text_value == found.structured_value else "two that differ"
    if found.where == "text":
        return None
    content: object = (call.result or {}).get("content")
    blocks = cast("list[object]", content) if isinstance(content, list) else []
    texts = (as_record(b).get("text") for b in blocks)
    broken = next((p for t in texts if isinstance(t, str) and (p := broken_descriptor(t)) is not None), None)
    return None if broken is None else f"whole as structuredContent, no JSON in the text: {broken}"


def payload_beside(call: Call) -> str | None:
    """A record of the file that stands in the result beside the descriptor's own fields; None when there is none."""
    known = {"offloaded", "summary", "file_path", "line_schema", "jq_recipes", "guidance"}
    rest = {k: v for k, v in call.descriptor.items() if k not in known}
    text = (call.found.around if call.found is not None else "") + show([rest, *_beside_content(call)], 10_000_000)
    strings = [
        (str(r.get("id")), s) for r in call.filed for s in (r.get("content"), r.get("title")) if isinstance(s, str)
    ]
    ids = [str(r.get("id")) for r in call.filed if len(str(r.get("id"))) >= 8]
    several = [i for i in ids if i in text]
    if len(several) > max(3, len(ids) // 4):
        return f"the ids of {len(several)} records stand beside it"
    long = next((i for i, s in strings if len(s) >= 60 and s[:60] in text), None)
    return f"the text of record {long} stands beside it" if long is not None else None


def _beside_content(call: Call) -> list[object]:
    """What a result and its blocks carry beside their texts: ``_meta``, and members of the server's own."""
    result = call.result or {}
    content: object = result.get("content")
    blocks = [as_record(b) for b in cast("list[object]", content)] if isinstance(content, list) else []
    usual = {"content", "structuredContent"}
    return [
        {k: v for k, v in result.items() if k not in usual},
        *({k: v for k, v in b.items() if k not in ("text", "resource")} for b in blocks),
    ]


@check("LRO-DESC-12")
def test_it_is_no_error(survey: Survey, see: Subjects) -> None:
    """An offloaded result is a success: isError is false or absent."""
    for call in survey.offloaded:
        flag = (call.result or {}).get("isError")
        see.expect(flag is not True, expected="isError false or absent", observed="isError true", at=call)


@check("LRO-DESC-13")
def test_no_cursor_beside_it(survey: Survey, see: Subjects) -> None:
    """A descriptor comes without a cursor to a next page."""
    for call in survey.offloaded:
        cursor = next(iter(_cursors(call.result)), None)
        if call.found is not None and cursor is None:
            known = {k: v for k, v in call.found.value.items() if k not in ("line_schema", "jq_recipes")}
            cursor = next(iter(_cursors(known)), None)
        see.expect(cursor is None, expected="no cursor beside a descriptor", observed=cursor or "", at=call)


_CURSOR = re.compile(r"(next_?)?(page_?)?(cursor|token)", re.IGNORECASE)


def _cursors(value: object) -> Iterator[str]:
    """The members of a value that lead to a next page."""
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
