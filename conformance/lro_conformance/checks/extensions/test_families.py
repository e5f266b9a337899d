"""Tools that read offloaded files and that only some servers have: recipes by number, ranges of characters, searches,
lines, token budgets."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

from lro_conformance.capture.call import Call
from lro_conformance.capture.records import as_record, show
from lro_conformance.checks.extensions.test_extraction import describe, refused
from lro_conformance.judging.check import check
from lro_conformance.judging.outcome import NotApplicable, NotObserved
from lro_conformance.judging.subjects import Subjects
from lro_conformance.trials.extensions.extraction import ENOUGH_RECORDS, Extraction
from lro_conformance.trials.extensions.families import FileToolCall, Part
from lro_spec.display import counted


@check("LRO-EXTRACT-10")
def test_recipes_by_number(extraction: Extraction, subjects: Subjects) -> None:
    """A recipe that is requested by its number returns what jq returns for the descriptor's recipe of this number: the
    same records in the same order, and no further values of these records."""
    _require(extraction, "lro_extract")
    source = extraction.families.source
    if not extraction.families.numbered:
        raise NotObserved("no recipe could be requested by its number (I-40)")
    for recipe in extraction.families.numbered:
        wanted = _mentioned(source, recipe.given)
        if not wanted:
            subjects.not_observed("a recipe finds nothing in the file, or its output has no id or title")
            continue
        call = recipe.asked.call
        if call.outcome == "error" and len(wanted) < len(source.file_records):
            subjects.not_observed("a recipe that selects records is refused, perhaps because it requires a parameter")
            continue
        wrong = describe(call) if call.outcome != "inline" else _difference(source, recipe.given, call.text)
        subjects.expect(
            call.outcome == "offloaded" or wrong is None,
            expected=f"{recipe.asked.about}: {counted(len(wanted), 'record')}, as jq returns",
            observed=wrong or "",
            subject=recipe.asked,
        )


def _difference(source: Call, jq_output: str, text: str) -> str | None:
    """Description of the difference between *jq_output* and the text of an answer; None if there is no difference.

    The format of the answer may differ. Since records with equal rank may come in any order, the order of the records
    counts as different only if the answer has them in the order of the file and jq does not.
    """
    wanted, found = _mentioned(source, jq_output), _mentioned(source, text)
    if set(found) != set(wanted):
        return f"{counted(len(found), 'record')}: {show(text, 160)}"
    filed = [str(r.get("id")) for r in source.file_records if str(r.get("id")) in found]
    if found == filed != wanted:
        return f"the records in the order of the file: {show(text, 160)}"
    values = (
        v
        for r in source.file_records
        for k, v in r.items()
        if k != "id" and isinstance(v, str) and _LITERAL.fullmatch(v)
    )
    more = next((v for v in values if v in text and v not in jq_output), None)
    return None if more is None else f"more of the records, such as {show(more, 60)}"


_LITERAL = re.compile(r"[ -!#-\[\]-~]{12,}")
"""Matches values that JSON does not escape, and that are too long to be in an answer by chance."""


def _mentioned(source: Call, text: str) -> list[str]:
    """Ids of the records that are mentioned in a text, in the order of the text. Records are recognised by their ids.
    If the text has no ids, they are recognised by their titles."""
    records = {str(r.get("id")): r for r in source.file_records}
    places = {id: text.find(id) for id in records}
    if all(place < 0 for place in places.values()):
        places = {id: text.find(str(r["title"])) for id, r in records.items() if r.get("title")}
    return sorted((id for id, place in places.items() if place >= 0), key=lambda id: places[id])


@check("LRO-EXTRACT-11")
def test_recipe_and_query_exclude_each_other(extraction: Extraction, subjects: Subjects) -> None:
    """A call with both a recipe and a query is an error. A call without a recipe and without a query is an error,
    too."""
    _require(extraction, "lro_extract")
    for tool_call in extraction.families.undecided:
        holds = tool_call.call.outcome == "offloaded" or refused(tool_call.call)
        subjects.expect(
            holds, expected=f"an error for {tool_call.about}", observed=describe(tool_call.call), subject=tool_call
        )


@check("LRO-EXTRACT-12")
def test_ranges_count_characters(extraction: Extraction, subjects: Subjects) -> None:
    """The start and the end of a range are numbers of characters, counted from 0. The end is exclusive. If the end is
    beyond the end of the file, the range ends with the file."""
    _require(extraction, "read_large_output")
    if any(_has_characters(part) is False for part in extraction.families.ranges):
        raise NotObserved("ranges do not count characters (LRO-EXTRACT-22)")
    _judge_parts(extraction.families.ranges, subjects)


def _has_characters(part: Part) -> bool | None:
    """True if an answer has the expected characters; the first and the last one may be missing. None if the answer is
    not inline, or if the range is too short to show this."""
    inner = part.expected[1:-1]
    return inner in part.asked.call.text if len(inner) >= 12 and part.asked.call.outcome == "inline" else None


@check("LRO-EXTRACT-22")
def test_ranges_add_up(extraction: Extraction, subjects: Subjects) -> None:
    """Ranges count characters. If one range begins where another range ends, no character between them is left out.

    A range may have one character more or less at either end.
    """
    _require(extraction, "read_large_output")
    families = extraction.families
    for part in (*families.ranges, *families.consecutive):
        holds = _has_characters(part)
        if holds is None and part in families.consecutive and part.asked.call.outcome == "error":
            holds = (
                False  # an error for a part of `families.ranges` does not count, because the last ends beyond the file
            )
        if holds is not None:
            expected = f"{part.asked.about}, give or take one at either end: {show(part.expected[1:-1], 80)}"
            subjects.expect(holds, expected=expected, observed=describe(part.asked.call), subject=part.asked)
    if len(families.consecutive) == 2 and all(map(_has_characters, families.consecutive)):
        first, second = families.consecutive
        both, middle = first.expected + second.expected, len(first.expected)
        cuts = range(middle - 1, middle + 2)
        answers = first.asked.call.text, second.asked.call.text
        subjects.expect(
            any(both[1:cut] in answers[0] and both[cut:-1] in answers[1] for cut in cuts),
            expected=f"every character of {first.asked.about} and of {second.asked.about} in one of the two answers, "
            "give or take one at either end",
            observed=f"{show(answers[0][-40:])} and {show(answers[1][:40])}",
            subject=second.asked,
        )
        subjects.expect(
            both[middle + 1 : -1] not in answers[0],
            expected=f"{first.asked.about}, without the range that follows",
            observed=f"{len(answers[0])} characters",
            subject=first.asked,
        )


@check("LRO-EXTRACT-13")
def test_search_ignores_case(extraction: Extraction, subjects: Subjects) -> None:
    """If case_sensitive is not set, a search ignores case."""
    _require(extraction, "search_large_output")
    _judge_searches(extraction, extraction.families.cased[:1], (True,), subjects)


@check("LRO-EXTRACT-23")
def test_search_heeds_case_sensitive(extraction: Extraction, subjects: Subjects) -> None:
    """A search distinguishes upper and lower case if case_sensitive is true, and ignores case if it is false."""
    _require(extraction, "search_large_output")
    _judge_searches(extraction, extraction.families.cased[1:], (False, True), subjects)


def _judge_searches(
    extraction: Extraction, asked: Iterable[FileToolCall], expectations: Iterable[bool], subjects: Subjects
) -> None:
    """Judge searches for a word of the first record, whose letters are in the opposite case. *expectations* says for
    each search whether it has to find the record."""
    id = str(extraction.families.source.file_records[0].get("id"))
    for tool_call, finds in zip(asked, expectations, strict=False):
        if tool_call.call.outcome != "inline":
            subjects.not_observed("a search for a word has no inline result")
            continue
        subjects.expect(
            (id in tool_call.call.text) is finds,
            expected=f"{tool_call.about}: the record that has the word" if finds else f"{tool_call.about}: nothing",
            observed=describe(tool_call.call),
            subject=tool_call,
        )


@check("LRO-EXTRACT-26")
def test_search_counts_its_results(extraction: Extraction, subjects: Subjects) -> None:
    """A search that is limited to one result returns fewer than half of the records."""
    _require(extraction, "search_large_output")
    ids = [str(r.get("id")) for r in extraction.families.source.file_records]
    for tool_call in extraction.families.counted:
        if len(ids) < ENOUGH_RECORDS or tool_call.call.outcome != "inline":
            subjects.not_observed(
                f"the file has fewer than {ENOUGH_RECORDS} records, or a search for every line has no inline result"
            )
            continue
        found = sum(id in tool_call.call.text for id in ids)
        subjects.expect(
            found < len(ids) / 2,
            expected=f"{tool_call.about}, of {len(ids)} records: one record, perhaps with the lines around it",
            observed=f"{counted(found, 'record')}",
            subject=tool_call,
        )


@check("LRO-EXTRACT-27")
def test_query_options_are_heeded(extraction: Extraction, subjects: Subjects) -> None:
    """If compact is set, a query returns each result on one line. If raw is set, it returns texts without quotation
    marks."""
    _require(extraction, "query_large_output")
    first = extraction.families.source.file_records[0]
    title = first.get("title")
    for tool_call in extraction.families.formatted:
        if tool_call.call.outcome != "inline" or not isinstance(title, str) or not title.isprintable():
            subjects.not_observed("a query for titles has no inline result, or the first record has no printable title")
            continue
        lines = tool_call.call.text.splitlines()
        if "compact" in tool_call.call.arguments:
            wanted = {"id": first.get("id"), "title": title}
            holds, expected = any(_object(line) == wanted for line in lines), f"the line {show(wanted, 120)}"
        else:
            holds, expected = any(line.strip() == title for line in lines), f"the line {title}"
        subjects.expect(
            holds, expected=f"{tool_call.about}: {expected}", observed=describe(tool_call.call), subject=tool_call
        )


@check("LRO-EXTRACT-24")
def test_oversized_answer_is_refused(extraction: Extraction, subjects: Subjects) -> None:
    """An answer that would exceed the budget is refused with a message. It is not cut, and it is not empty."""
    _require(extraction, "read")
    for tool_call in (o for o in extraction.flooding if o.tool == "read" and o.call.outcome != "offloaded"):
        subjects.expect(
            refused(tool_call.call),
            expected=f"a refusal of {tool_call.about}",
            observed=describe(tool_call.call),
            subject=tool_call,
        )


@check("LRO-EXTRACT-14")
def test_oversized_answer_is_reported_as_result(extraction: Extraction, subjects: Subjects) -> None:
    """An answer that would exceed the budget is replaced by a result that states its size and suggests smaller
    requests."""
    _require(extraction, "read")
    for tool_call in (o for o in extraction.flooding if o.tool == "read" and o.call.outcome != "offloaded"):
        if not refused(tool_call.call):
            subjects.not_observed("an answer over the budget is not refused (LRO-EXTRACT-24)")
            continue
        answer = _object(tool_call.call.text) if tool_call.call.outcome == "inline" else {}
        tokens: Any = answer.get("estimated_tokens")
        subjects.expect(
            str(answer.get("error")).endswith("_too_large")
            and isinstance(tokens, int)
            and bool(answer.get("suggestions")),
            expected="a result with error …_too_large, estimated_tokens and suggestions",
            observed=describe(tool_call.call),
            subject=tool_call,
        )


def _object(text: str) -> dict[str, Any]:
    try:
        return as_record(json.loads(text))
    except ValueError:
        return {}


@check("LRO-EXTRACT-15")
def test_slices_count_lines_from_1(extraction: Extraction, subjects: Subjects) -> None:
    """A slice has the lines from start to end. Lines are counted from 1, and the lines start and end are included."""
    _require(extraction, "slice")
    _judge_parts(extraction.families.lines, subjects)


def _judge_parts(parts: Iterable[Part], subjects: Subjects) -> None:
    for part in parts:
        call = part.asked.call
        more = next((text for text in part.longer if text in call.text), None)
        is_exact = call.outcome == "inline" and part.expected in call.text and more is None
        subjects.expect(
            call.outcome == "offloaded" or is_exact,
            expected=f"{part.asked.about}: {show(part.expected, 80)}",
            observed=describe(call) if more is None else f"more than that: {show(call.text, 120)}",
            subject=part.asked,
        )


@check("LRO-EXTRACT-16")
def test_missing_key_error_lists_available_keys(extraction: Extraction, subjects: Subjects) -> None:
    """If a path has a key that does not exist, the answer lists the keys that exist.

    It is enough if one of these keys is in the text of the answer.
    """
    _require(extraction, "get_in")
    for tool_call in extraction.families.missing:
        keys = list(extraction.families.source.file_records[0])
        text = tool_call.call.text or json.dumps(tool_call.call.reply.error)
        subjects.expect(
            tool_call.call.outcome == "offloaded" or any(key in text for key in keys if key != "lroprobe"),
            expected=f"the keys that exist, such as {', '.join(keys[:3])}",
            observed=describe(tool_call.call),
            subject=tool_call,
        )


@check("LRO-EXTRACT-17")
def test_invalid_pattern_is_searched_literally(extraction: Extraction, subjects: Subjects) -> None:
    """If a pattern is not a valid regular expression, the tool searches for its literal text. It returns no error."""
    _require(extraction, "grep")
    for tool_call in extraction.families.literal:
        expected = f"no error for {tool_call.call.arguments.get('pattern')}"
        subjects.expect(
            not refused(tool_call.call), expected=expected, observed=describe(tool_call.call), subject=tool_call
        )


def _require(extraction: Extraction, tool: str) -> None:
    if tool not in extraction.tools:
        raise NotApplicable(f"the server lists no {tool}")
    if not extraction.works(tool):
        raise NotObserved(f"{tool} does not read a file that it should read")
