"""Single families of tools: recipes by number, ranges of characters, lines, budgets."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from lro_conformance.capture.call import Call
from lro_conformance.capture.records import as_record, show
from lro_conformance.checks.extensions.test_extraction import describe, refused
from lro_conformance.judging.check import check
from lro_conformance.judging.outcome import NotApplicable, NotObserved
from lro_conformance.judging.subjects import Subjects
from lro_conformance.trials.extensions.extraction import Extraction
from lro_conformance.trials.extensions.families import Part


@check("LRO-EXTRACT-10")
def test_recipes_by_number(extraction: Extraction, subjects: Subjects) -> None:
    """A recipe by its number returns the records that the descriptor's own recipe returns."""
    _require(extraction, "lro_extract")
    for one in extraction.families.numbered:
        wanted = _mentioned(extraction.families.source, one.given)
        if not wanted:
            subjects.not_observed("a recipe finds nothing in the file, or its output has no id or title")
            continue
        call = one.asked.call
        if call.outcome == "error" and len(wanted) < len(extraction.families.source.filed):
            subjects.not_observed("a recipe with a parameter requires a value for it")
            continue
        same = call.outcome == "inline" and _mentioned(extraction.families.source, call.text) == wanted
        subjects.expect(
            call.outcome == "offloaded" or same,
            expected=f"{one.asked.about}: {len(wanted)} records, as jq gives",
            observed=describe(call),
            at=one.asked,
        )


def _mentioned(source: Call, text: str) -> set[str]:
    """Ids of the records that a text mentions: by id, or by title if it has no id."""
    ids = {str(r.get("id")) for r in source.filed if str(r.get("id")) in text}
    return ids or {str(r.get("id")) for r in source.filed if r.get("title") and str(r["title"]) in text}


@check("LRO-EXTRACT-11")
def test_recipe_and_query_exclude_each_other(extraction: Extraction, subjects: Subjects) -> None:
    """A recipe and a query together are an error, and so is a call with neither."""
    _require(extraction, "lro_extract")
    for one in extraction.families.undecided:
        holds = one.call.outcome == "offloaded" or refused(one.call)
        subjects.expect(holds, expected=f"an error for {one.about}", observed=describe(one.call), at=one)


@check("LRO-EXTRACT-12")
def test_ranges_count_characters(extraction: Extraction, subjects: Subjects) -> None:
    """A range counts characters from 0 with an exclusive end; an end beyond the file is the end of the file."""
    _require(extraction, "read_large_output")
    _parts(extraction.families.ranges, subjects)


@check("LRO-EXTRACT-13")
def test_search_ignores_case(extraction: Extraction, subjects: Subjects) -> None:
    """A search ignores case, unless case_sensitive is set."""
    _require(extraction, "search_large_output")
    id = str(extraction.families.source.filed[0].get("id"))
    for one, wanted in zip(extraction.families.cased, (True, False), strict=False):
        if one.call.outcome != "inline":
            subjects.not_observed("a search for a word is rejected")
            continue
        subjects.expect(
            (id in one.call.text) is wanted,
            expected=f"{one.about}: the record that has it" if wanted else f"{one.about}: nothing",
            observed=describe(one.call),
            at=one,
        )


@check("LRO-EXTRACT-14")
def test_oversized_answer_is_reported_as_result(extraction: Extraction, subjects: Subjects) -> None:
    """An answer over the budget is replaced by a result with its size and suggestions for smaller requests."""
    _require(extraction, "read")
    for one in (o for o in extraction.flooding if o.tool == "read" and o.call.outcome != "offloaded"):
        answer = _object(one.call.text) if one.call.outcome == "inline" else {}
        tokens: Any = answer.get("estimated_tokens")
        subjects.expect(
            str(answer.get("error")).endswith("_too_large")
            and isinstance(tokens, int)
            and bool(answer.get("suggestions")),
            expected="a result with error …_too_large, estimated_tokens and suggestions",
            observed=describe(one.call),
            at=one,
        )


def _object(text: str) -> dict[str, Any]:
    try:
        return as_record(json.loads(text))
    except ValueError:
        return {}


@check("LRO-EXTRACT-15")
def test_slices_count_lines_from_1(extraction: Extraction, subjects: Subjects) -> None:
    """A slice has the lines from start to end, both included, counted from 1."""
    _require(extraction, "slice")
    _parts(extraction.families.lines, subjects)


def _parts(parts: Iterable[Part], subjects: Subjects) -> None:
    for part in parts:
        call = part.asked.call
        more = next((text for text in part.longer if text in call.text), None)
        right = call.outcome == "inline" and part.expected in call.text and more is None
        subjects.expect(
            call.outcome == "offloaded" or right,
            expected=f"{part.asked.about}: {show(part.expected, 80)}",
            observed=describe(call) if more is None else f"more than that: {show(call.text, 120)}",
            at=part.asked,
        )


@check("LRO-EXTRACT-16")
def test_missing_key_error_lists_available_keys(extraction: Extraction, subjects: Subjects) -> None:
    """The answer to a path with a missing key lists the keys that exist."""
    _require(extraction, "get_in")
    for one in extraction.families.missing:
        keys = list(extraction.families.source.filed[0])
        text = one.call.text or json.dumps(one.call.reply.error)
        subjects.expect(
            one.call.outcome == "offloaded" or any(key in text for key in keys if key != "lroprobe"),
            expected=f"the keys that exist, such as {', '.join(keys[:3])}",
            observed=describe(one.call),
            at=one,
        )


@check("LRO-EXTRACT-17")
def test_invalid_pattern_is_searched_literally(extraction: Extraction, subjects: Subjects) -> None:
    """A pattern that is not a valid regular expression is searched for literally, without an error."""
    _require(extraction, "grep")
    for one in extraction.families.literal:
        expected = f"no error for {one.call.arguments.get('pattern')}"
        subjects.expect(not refused(one.call), expected=expected, observed=describe(one.call), at=one)


def _require(extraction: Extraction, tool: str) -> None:
    if tool not in extraction.tools:
        raise NotApplicable(f"the server lists no {tool}")
    if not extraction.works(tool):
        raise NotObserved(f"{tool} does not read a file that it should read")
