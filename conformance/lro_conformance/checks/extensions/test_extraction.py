"""Tools that read offloaded files: which files they read, what queries can reach, and how large answers are."""

from __future__ import annotations

import json
from collections.abc import Iterable

from lro_conformance.capture.call import Call
from lro_conformance.capture.records import as_record, show
from lro_conformance.judging.check import check
from lro_conformance.judging.outcome import NotApplicable
from lro_conformance.judging.subjects import Subjects
from lro_conformance.trials.extensions.extraction import LARGE_CHARACTERS, MARK, NOWHERE, Extraction
from lro_conformance.trials.extensions.families import FileToolCall
from lro_conformance.trials.extensions.reading_tools import TOOLS

MAX_CHARACTERS = 100_000
"""Maximum number of characters of an answer: about 25,000 tokens."""


@check("LRO-EXTRACT-01")
def test_requested_file_is_read(extraction: Extraction, subjects: Subjects) -> None:
    """Each tool reads the requested file: the answer has content of that file."""
    for tool_call, wanted in extraction.wanted():
        subjects.expect(
            tool_call.call.outcome == "offloaded"
            or (tool_call.call.outcome == "inline" and wanted in tool_call.call.text),
            expected=f"{tool_call.tool}: an answer with {show(wanted, 60)} for {tool_call.about}",
            observed=describe(tool_call.call),
            subject=tool_call,
        )


@check("LRO-EXTRACT-02")
def test_paths_outside_are_refused(extraction: Extraction, subjects: Subjects) -> None:
    """No path leads out of the folder of offloaded results. The suite tries .., links, and a folder with a similar
    name."""
    _expect_refusals(extraction, extraction.outside, subjects)


@check("LRO-EXTRACT-03")
def test_foreign_files_are_refused(extraction: Extraction, subjects: Subjects) -> None:
    """A file that the server did not write is not read, even if it is in the folder and looks like a result."""
    _expect_refusals(extraction, extraction.foreign, subjects)


def _expect_refusals(extraction: Extraction, asked: Iterable[FileToolCall], subjects: Subjects) -> None:
    for tool_call in _by_working_tools(extraction, asked, subjects):
        was_read = MARK in tool_call.call.text or MARK in json.dumps(tool_call.call.reply.error or "")
        subjects.expect(
            not was_read,
            expected=f"{tool_call.tool}: {tool_call.about} is refused",
            observed="the content of that file",
            subject=tool_call,
        )


def _by_working_tools(
    extraction: Extraction, asked: Iterable[FileToolCall], subjects: Subjects
) -> Iterable[FileToolCall]:
    for tool_call in asked:
        if extraction.works(tool_call.tool):
            yield tool_call
        else:
            subjects.not_observed(f"{tool_call.tool} does not read a file that it should read")


@check("LRO-EXTRACT-04")
def test_refusals_are_errors(extraction: Extraction, subjects: Subjects) -> None:
    """A refused path, a deleted file and an unknown name are answered with an error, not with an empty result."""
    for tool_call in (*extraction.outside, *extraction.foreign, *extraction.gone):
        if (
            MARK in tool_call.call.text
            or _text_if_read(tool_call) in tool_call.call.text
            or tool_call.call.outcome == "offloaded"
        ):
            subjects.not_observed(f"{tool_call.about} is read or offloaded instead")
            continue
        subjects.expect(
            refused(tool_call.call),
            expected=f"{tool_call.tool}: an error for {tool_call.about}",
            observed=describe(tool_call.call),
            subject=tool_call,
        )


def _text_if_read(tool_call: FileToolCall) -> str:
    """A text that is in the answer if the tool has read the file that the suite has put there."""
    return TOOLS[tool_call.tool].shows.replace("{id}", MARK)


def refused(call: Call) -> bool:
    """Return whether a call was refused. It was refused if the answer is a JSON-RPC error, if isError is true and there
    is a text, or if the text is a JSON object with the key ``error``."""
    if call.outcome == "error":
        return bool(call.text.strip() or call.reply.error)
    try:
        return "error" in as_record(json.loads(call.text))
    except ValueError:
        return False


@check("LRO-EXTRACT-05")
def test_queries_read_their_input_only(extraction: Extraction, subjects: Subjects) -> None:
    """A query reads only its input. It cannot read the environment or other files."""
    if not extraction.reaching:
        raise NotApplicable("the server lists no tool that takes a query")
    for tool_call in _by_working_tools(extraction, extraction.reaching, subjects):
        foreign_text = next((text for text in (extraction.temp, MARK) if text in tool_call.call.text), None)
        subjects.expect(
            foreign_text is None or tool_call.call.outcome == "error",
            expected=f"{tool_call.tool}: a query for {tool_call.about} gets none of it",
            observed=show(tool_call.call.text, 120),
            subject=tool_call,
        )


@check("LRO-EXTRACT-06")
def test_values_are_not_interpreted(extraction: Extraction, subjects: Subjects) -> None:
    """A value is only a value: it is never interpreted as part of a query, or as an option of the program that runs the
    query."""
    answers = {(tool_call.tool, tool_call.about): tool_call.call for tool_call in extraction.spliced}
    ids = [str(r.get("id")) for r in extraction.source.file_records]
    for tool_call in _by_working_tools(extraction, extraction.spliced, subjects):
        if tool_call.call.outcome == "offloaded":
            subjects.not_observed("an answer was offloaded")
            continue
        if tool_call.about == "a query that is an option":
            subjects.expect(
                refused(tool_call.call),
                expected=f"{tool_call.tool}: an error, as --version is not a query",
                observed=describe(tool_call.call),
                subject=tool_call,
            )
        elif tool_call.about == "a pattern that is an option":
            answer_to_ordinary_pattern = answers[tool_call.tool, "a pattern that is nowhere"]
            subjects.expect(
                _without(tool_call.call, "--version") == _without(answer_to_ordinary_pattern, NOWHERE),
                expected=f"{tool_call.tool}: the same answer to --version as to {NOWHERE}, which is not in the file "
                f"either: {show(answer_to_ordinary_pattern.text, 60)}",
                observed=describe(tool_call.call),
                subject=tool_call,
            )
        elif tool_call.about.startswith("a keyword") and tool_call.about not in _KEYWORD_TESTS:
            answer_to_known_keyword, answer_to_unknown_keyword = (
                answers[tool_call.tool, about] for about in _KEYWORD_TESTS
            )
            if not any(id in answer_to_known_keyword.text for id in ids) or any(
                id in answer_to_unknown_keyword.text for id in ids
            ):
                subjects.not_observed("recipe 3 takes no keyword, or ignores it")
                continue
            subjects.expect(
                not any(id in tool_call.call.text for id in ids),
                expected=f"{tool_call.about} finds nothing, because no record has it",
                observed=describe(tool_call.call),
                subject=tool_call,
            )


_KEYWORD_TESTS = ("a keyword that is there", "a keyword that is nowhere")
"""Purposes (`FileToolCall.about`) of the two calls that show whether the tool uses the keyword."""


def _without(call: Call, value: str) -> tuple[str, str]:
    return call.outcome, call.text.replace(value, "")


@check("LRO-EXTRACT-07")
def test_endless_queries_are_stopped(extraction: Extraction, subjects: Subjects) -> None:
    """If a query or the search for a pattern would never end, it is stopped, and the server keeps answering."""
    for tool_call in (*extraction.endless, *(extraction.after if extraction.endless else ())):
        subjects.expect(
            tool_call.call.outcome != "no answer",
            expected=f"{tool_call.tool}: an answer to {tool_call.about}",
            observed=describe(tool_call.call),
            subject=tool_call,
        )


@check("LRO-EXTRACT-08")
def test_answers_are_bounded(extraction: Extraction, subjects: Subjects) -> None:
    """No answer has more than 100,000 characters, even if a single line has more."""
    if extraction.large is None:
        subjects.not_observed(f"no result of {LARGE_CHARACTERS} characters or more could be offloaded")
    for tool_call in extraction.flooding:
        subjects.expect(
            len(tool_call.call.text) <= MAX_CHARACTERS,
            expected=f"{tool_call.tool}: at most {MAX_CHARACTERS} characters of {tool_call.about}",
            observed=f"{len(tool_call.call.text)} characters",
            subject=tool_call,
        )


@check("LRO-EXTRACT-09")
def test_answers_are_never_offloaded(extraction: Extraction, subjects: Subjects) -> None:
    """Errors, and answers that were read from a file, are returned inline, however large."""
    for tool_call in extraction.all_calls:
        subjects.expect(
            tool_call.call.outcome != "offloaded",
            expected=f"{tool_call.tool}: the requested content ({tool_call.about}) or an error",
            observed="a descriptor of a new file",
            subject=tool_call,
        )


def describe(call: Call) -> str:
    """The outcome of a call in one line, with the beginning of its answer."""
    if call.reply.failure is not None:
        return call.reply.failure.detail
    return f"{call.outcome}: {show(call.reply.error or call.text, 160)}"
