"""What single families of tools promise: recipes by number, ranges of characters, lines, budgets."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from lro_conformance.capture.call import Call
from lro_conformance.capture.records import as_record, show
from lro_conformance.checks.extensions.test_extraction import refused, told
from lro_conformance.judging.check import check
from lro_conformance.judging.outcome import NotApplicable, NotObserved
from lro_conformance.judging.subjects import Subjects
from lro_conformance.trials.extensions.extraction import Extraction
from lro_conformance.trials.extensions.families import Part


@check("LRO-EXTRACT-10")
def test_recipes_by_number(extraction: Extraction, subjects: Subjects) -> None:
    """A recipe by its number tells of the records that the descriptor's own recipe tells of."""
    _bound(extraction, "lro_extract")
    for one in extraction.families.numbered:
        wanted = _told_of(extraction.families.source, one.given)
        if not wanted:
            subjects.not_observed("a recipe finds nothing in the file, or tells of no record by id or title")
            continue
        call = one.asked.call
        if call.outcome == "error" and len(wanted) < len(extraction.families.source.filed):
            subjects.not_observed("a recipe that looks for something asks what for")
            continue
        same = call.outcome == "inline" and _told_of(extraction.families.source, call.text) == wanted
        subjects.expect(
            call.outcome == "offloaded" or same,
            expected=f"{one.asked.about}: {len(wanted)} records, as jq gives",
            observed=told(call),
            at=one.asked,
        )


def _told_of(source: Call, text: str) -> set[str]:
    """Which records a text tells of: by their ids, or by titles where it has no id."""
    ids = {str(r.get("id")) for r in source.filed if str(r.get("id")) in text}
    return ids or {str(r.get("id")) for r in source.filed if r.get("title") and str(r["title"]) in text}


@check("LRO-EXTRACT-11")
def test_recipe_and_query_exclude_each_other(extraction: Extraction, subjects: Subjects) -> None:
    """A recipe and a query together are an error, and so are neither of them."""
    _bound(extraction, "lro_extract")
    for one in extraction.families.undecided:
        holds = one.call.outcome == "offloaded" or refused(one.call)
        subjects.expect(holds, expected=f"an error for {one.about}", observed=told(one.call), at=one)


@check("LRO-EXTRACT-12")
def test_ranges_count_characters(extraction: Extraction, subjects: Subjects) -> None:
    """A range is of characters from 0, its end exclusive; an end beyond the file's is the file's."""
    _bound(extraction, "read_large_output")
    _parts(extraction.families.ranges, subjects)


@check("LRO-EXTRACT-13")
def test_search_ignores_case(extraction: Extraction, subjects: Subjects) -> None:
    """A search finds a word in either case, and with case_sensitive in the one that was asked for."""
    _bound(extraction, "search_large_output")
    id = str(extraction.families.source.filed[0].get("id"))
    for one, wanted in zip(extraction.families.cased, (True, False), strict=False):
        if one.call.outcome != "inline":
            subjects.not_observed("a search for a word is refused")
            continue
        subjects.expect(
            (id in one.call.text) is wanted,
            expected=f"{one.about}: the record that has it" if wanted else f"{one.about}: nothing",
            observed=told(one.call),
            at=one,
        )


@check("LRO-EXTRACT-14")
def test_oversized_answer_is_reported_as_result(extraction: Extraction, subjects: Subjects) -> None:
    """An answer over the budget is replaced by a result that tells its size and what to ask instead."""
    _bound(extraction, "read")
    for one in (o for o in extraction.flooding if o.tool == "read" and o.call.outcome != "offloaded"):
        said = _object(one.call.text) if one.call.outcome == "inline" else {}
        tokens: Any = said.get("estimated_tokens")
        subjects.expect(
            str(said.get("error")).endswith("_too_large") and isinstance(tokens, int) and bool(said.get("suggestions")),
            expected="a result with error …_too_large, estimated_tokens and suggestions",
            observed=told(one.call),
            at=one,
        )


def _object(text: str) -> dict[str, Any]:
    try:
        return as_record(json.loads(text))
    except ValueError:
        return {}


@check("LRO-EXTRACT-15")
def test_slices_count_lines_from_1(extraction: Extraction, subjects: Subjects) -> None:
    """A slice has the lines from start to end, both included, the first of them 1."""
    _bound(extraction, "slice")
    _parts(extraction.families.lines, subjects)


def _parts(parts: Iterable[Part], subjects: Subjects) -> None:
    for part in parts:
        call = part.asked.call
        more = next((text for text in part.longer if text in call.text), None)
        right = call.outcome == "inline" and part.expected in call.text and more is None
        subjects.expect(
            call.outcome == "offloaded" or right,
            expected=f"{part.asked.about}: {show(part.expected, 80)}",
            observed=told(call) if more is None else f"more than that: {show(call.text, 120)}",
            at=part.asked,
        )


@check("LRO-EXTRACT-16")
def test_missing_key_error_lists_available_keys(extraction: Extraction, subjects: Subjects) -> None:
    """A path to a key that is not there is answered with the keys that are."""
    _bound(extraction, "get_in")
    for one in extraction.families.missing:
        keys = list(extraction.families.source.filed[0])
        text = one.call.text or json.dumps(one.call.reply.error)
        subjects.expect(
            one.call.outcome == "offloaded" or any(key in text for key in keys if key != "lroprobe"),
            expected=f"the keys there are, such as {', '.join(keys[:3])}",
            observed=told(one.call),
            at=one,
        )


@check("LRO-EXTRACT-17")
def test_invalid_pattern_is_searched_literally(extraction: Extraction, subjects: Subjects) -> None:
    """A pattern that is no regular expression is searched for as it stands, and is no error."""
    _bound(extraction, "grep")
    for one in extraction.families.literal:
        expected = f"no error for {one.call.arguments.get('pattern')}"
        subjects.expect(not refused(one.call), expected=expected, observed=told(one.call), at=one)


def _bound(extraction: Extraction, tool: str) -> None:
    if tool not in extraction.tools:
        raise NotApplicable(f"the server lists no {tool}")
    if not extraction.works(tool):
        raise NotObserved(f"{tool} does not read a file that it ought to")
