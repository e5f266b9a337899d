"""Tools that read offloaded files: the files they read, the limits of queries, and the size of answers."""

from __future__ import annotations

import json
from collections.abc import Iterable

from lro_conformance.capture.call import Call
from lro_conformance.capture.records import as_record, show
from lro_conformance.judging.check import check
from lro_conformance.judging.outcome import NotApplicable
from lro_conformance.judging.subjects import Subjects
from lro_conformance.trials.extensions.extraction import LARGE, MARK, NOWHERE, Extraction
from lro_conformance.trials.extensions.families import FileToolCall
from lro_conformance.trials.extensions.reading_tools import TOOLS

MAX_CHARACTERS = 100_000
"""Maximum number of characters of an answer: about 25,000 tokens."""


@check("LRO-EXTRACT-01")
def test_requested_file_is_read(extraction: Extraction, subjects: Subjects) -> None:
    """Each tool reads the requested file: its answer has content of that file."""
    for one, wanted in extraction.wanted():
        subjects.expect(
            one.call.outcome == "offloaded" or (one.call.outcome == "inline" and wanted in one.call.text),
            expected=f"{one.tool}: an answer with {show(wanted, 60)} for {one.about}",
            observed=describe(one.call),
            at=one,
        )


@check("LRO-EXTRACT-02")
def test_paths_outside_are_refused(extraction: Extraction, subjects: Subjects) -> None:
    """No path leads out of the folder of offloaded results, whether by .., a link, or a folder with a similar name."""
    _expect_refusals(extraction, extraction.outside, subjects)


@check("LRO-EXTRACT-03")
def test_foreign_files_are_refused(extraction: Extraction, subjects: Subjects) -> None:
    """A file that the server did not write is not read, even if it is in the folder and looks like a result."""
    _expect_refusals(extraction, extraction.foreign, subjects)


def _expect_refusals(extraction: Extraction, asked: Iterable[FileToolCall], subjects: Subjects) -> None:
    for one in _by_working_tools(extraction, asked, subjects):
        was_read = MARK in one.call.text or MARK in json.dumps(one.call.reply.error or "")
        subjects.expect(
            not was_read, expected=f"{one.tool}: {one.about} is refused", observed="the content of that file", at=one
        )


def _by_working_tools(
    extraction: Extraction, asked: Iterable[FileToolCall], subjects: Subjects
) -> Iterable[FileToolCall]:
    for one in asked:
        if extraction.works(one.tool):
            yield one
        else:
            subjects.not_observed(f"{one.tool} does not read a file that it should read")


@check("LRO-EXTRACT-04")
def test_refusals_are_errors(extraction: Extraction, subjects: Subjects) -> None:
    """A refused path, a deleted file and an unknown name are answered with an error, not with an empty result."""
    for one in (*extraction.outside, *extraction.foreign, *extraction.gone):
        if MARK in one.call.text or _text_if_read(one) in one.call.text or one.call.outcome == "offloaded":
            subjects.not_observed(f"{one.about} is read or offloaded instead")
            continue
        subjects.expect(
            refused(one.call), expected=f"{one.tool}: an error for {one.about}", observed=describe(one.call), at=one
        )


def _text_if_read(one: FileToolCall) -> str:
    """A text that the answer has if the tool has read a planted file."""
    return TOOLS[one.tool].shows.replace("{id}", MARK)


def refused(call: Call) -> bool:
    """Return whether a call failed: with a JSON-RPC error, with isError true and a text, or with a text that is a JSON
    object with the key error."""
    if call.outcome == "error":
        return bool(call.text.strip() or call.reply.error)
    try:
        return "error" in as_record(json.loads(call.text))
    except ValueError:
        return False


@check("LRO-EXTRACT-05")
def test_queries_read_their_input_only(extraction: Extraction, subjects: Subjects) -> None:
    """A query reads neither the environment nor any file other than its input."""
    if not extraction.reaching:
        raise NotApplicable("the server lists no tool that takes a query")
    for one in _by_working_tools(extraction, extraction.reaching, subjects):
        read = next((text for text in (extraction.temp, MARK) if text in one.call.text), None)
        subjects.expect(
            read is None or one.call.outcome == "error",
            expected=f"{one.tool}: a query for {one.about} gets none of it",
            observed=show(one.call.text, 120),
            at=one,
        )


@check("LRO-EXTRACT-06")
def test_values_are_not_interpreted(extraction: Extraction, subjects: Subjects) -> None:
    """A value is never interpreted as part of a query, nor as an option of the program that runs it."""
    answers = {(one.tool, one.about): one.call for one in extraction.spliced}
    ids = [str(r.get("id")) for r in extraction.source.file_records]
    for one in _by_working_tools(extraction, extraction.spliced, subjects):
        if one.call.outcome == "offloaded":
            subjects.not_observed("an answer was offloaded")
            continue
        if one.about == "a query that is an option":
            subjects.expect(
                refused(one.call),
                expected=f"{one.tool}: an error, as --version is not a query",
                observed=describe(one.call),
                at=one,
            )
        elif one.about == "a pattern that is an option":
            usual = answers[one.tool, "a pattern that is nowhere"]
            subjects.expect(
                _without(one.call, "--version") == _without(usual, NOWHERE),
                expected=f"{one.tool}: the same answer to --version as to {NOWHERE}, which is not in the file either: "
                f"{show(usual.text, 60)}",
                observed=describe(one.call),
                at=one,
            )
        elif one.about.startswith("a keyword") and one.about not in _KNOWN:
            there, nowhere = (answers[one.tool, about] for about in _KNOWN)
            if not any(id in there.text for id in ids) or any(id in nowhere.text for id in ids):
                subjects.not_observed("recipe 3 takes no keyword, or ignores it")
                continue
            subjects.expect(
                not any(id in one.call.text for id in ids),
                expected=f"{one.about} finds nothing, because no record has it",
                observed=describe(one.call),
                at=one,
            )


_KNOWN = ("a keyword that is there", "a keyword that is nowhere")
"""Purposes of the two calls whose answers show whether the tool heeds the keyword."""


def _without(call: Call, value: str) -> tuple[str, str]:
    return call.outcome, call.text.replace(value, "")


@check("LRO-EXTRACT-07")
def test_endless_queries_are_stopped(extraction: Extraction, subjects: Subjects) -> None:
    """A query or a pattern that never ends is stopped, and the server keeps answering."""
    for one in (*extraction.endless, *(extraction.after if extraction.endless else ())):
        subjects.expect(
            one.call.outcome != "no answer",
            expected=f"{one.tool}: an answer to {one.about}",
            observed=describe(one.call),
            at=one,
        )


@check("LRO-EXTRACT-08")
def test_answers_are_bounded(extraction: Extraction, subjects: Subjects) -> None:
    """No answer has more than 100,000 characters, even if a single line has more."""
    if extraction.large is None:
        subjects.not_observed(f"no result of {LARGE} characters or more could be offloaded")
    for one in extraction.flooding:
        subjects.expect(
            len(one.call.text) <= MAX_CHARACTERS,
            expected=f"{one.tool}: at most {MAX_CHARACTERS} characters of {one.about}",
            observed=f"{len(one.call.text)} characters",
            at=one,
        )


@check("LRO-EXTRACT-09")
def test_answers_are_never_offloaded(extraction: Extraction, subjects: Subjects) -> None:
    """Errors, and answers that were read from a file, are returned inline, however large."""
    for one in extraction.every:
        subjects.expect(
            one.call.outcome != "offloaded",
            expected=f"{one.tool}: the requested content ({one.about}) or an error",
            observed="a descriptor of a new file",
            at=one,
        )


def describe(call: Call) -> str:
    """The outcome of a call in one line."""
    if call.reply.failure is not None:
        return call.reply.failure.detail
    return f"{call.outcome}: {show(call.reply.error or call.text, 160)}"
