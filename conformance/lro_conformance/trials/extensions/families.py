"""Calls that test the rules for only one family of the tools that read files.

Families are the extract, virtual and scratchpad tools of `reading_tools`; the rules for all tools are in `extraction`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from lro_conformance.capture.call import Call, CallSubject
from lro_conformance.capture.recipes import commands_of
from lro_conformance.capture.records import as_record
from lro_spec.recipes.bounded import BoundedRunner


@dataclass(frozen=True)
class FileToolCall(CallSubject):
    """One call of a tool that reads files."""

    tool: str
    """The documented name of the tool."""
    about: str
    """Purpose of the call, in a few words."""
    call: Call


@dataclass(frozen=True)
class ByNumber:
    """A recipe of the descriptor, run by jq, and by a tool that gets only the number of the recipe."""

    asked: FileToolCall
    given: str
    """Output of jq for the descriptor's recipe of this number."""


@dataclass(frozen=True)
class Part:
    """A part of a file, requested by its positions."""

    asked: FileToolCall
    expected: str
    longer: tuple[str, ...]
    """Texts that an answer must not contain. For a range of characters, they are the expected text with one more
    character on one side. For lines, they are all other lines of the file."""


@dataclass(frozen=True)
class Families:
    """Calls for the rules of the families whose tools the server lists; a field is empty if no call was made for it."""

    source: Call
    """The call whose file is read. For `ranges` and `consecutive`, a larger file is read if there is one."""
    numbered: tuple[ByNumber, ...] = ()
    """Each recipe of the descriptor, by its number."""
    undecided: tuple[FileToolCall, ...] = ()
    """A call with both a recipe and a query, and a call without either."""
    ranges: tuple[Part, ...] = ()
    """Ranges of characters; the last one goes beyond the end."""
    consecutive: tuple[Part, ...] = ()
    """Two adjacent ranges of characters."""
    cased: tuple[FileToolCall, ...] = ()
    """Searches for a word in the opposite case: without ``case_sensitive``, with the value true, and with false."""
    counted: tuple[FileToolCall, ...] = ()
    """A search that every line matches, for one result."""
    formatted: tuple[FileToolCall, ...] = ()
    """The queries of `FORMATS`, each with its option."""
    lines: tuple[Part, ...] = ()
    """Slices of lines."""
    missing: tuple[FileToolCall, ...] = ()
    """A call for a missing key."""
    literal: tuple[FileToolCall, ...] = ()
    """A search for a pattern that is not a valid regular expression."""


FORMATS: Mapping[str, str] = {"compact": "{id, title}", "raw": ".title"}
"""Maps an option of ``query_large_output`` to the query with which it is tried."""

Ask = Callable[[str, str, str, Mapping[str, Any]], FileToolCall]
"""A function that calls a tool. Its parameters are the tool's documented name, the purpose of the call, the path of the
file, and the other arguments."""


def families(ask: Ask, tools: Mapping[str, Mapping[str, Any]], source: Call, large: Call | None) -> Families:
    """Make the calls. *tools* maps the documented name of each listed tool to the properties of its input schema."""
    text, path = _text(source), source.path
    calls = Families(source)
    if "recipe" in tools.get("lro_extract", {}):
        both = ask("lro_extract", "a recipe and a query", path, {"recipe": 1, "query": "."})
        neither = ask("lro_extract", "neither a recipe nor a query", path, {})
        calls = replace(calls, undecided=(both, neither))
        if _is_number(as_record(tools["lro_extract"]["recipe"])):
            calls = replace(calls, numbered=tuple(_numbered(ask, source)))
    if "read_large_output" in tools:
        read = large or source
        calls = replace(calls, ranges=tuple(_ranges(ask, read, _spans(_text(read)))))
        calls = replace(calls, consecutive=tuple(_ranges(ask, read, ((0, 40), (40, 80)))))
    swapped = next((w.swapcase() for w in _title(source).split() if len(w) > 3 and w.isascii() and w.isalpha()), None)
    if "case_sensitive" in tools.get("search_large_output", {}) and swapped is not None and swapped not in text:
        tool = "search_large_output"
        either = ask(tool, f"{swapped}, in either case", path, {"pattern": swapped})
        exact = ask(tool, f"{swapped}, in this case only", path, {"pattern": swapped, "case_sensitive": True})
        loose = ask(tool, f"{swapped}, with case_sensitive false", path, {"pattern": swapped, "case_sensitive": False})
        calls = replace(calls, cased=(either, exact, loose))
    if "max_results" in tools.get("search_large_output", {}):
        one = ask("search_large_output", "every line, but one result", path, {"pattern": ".", "max_results": 1})
        calls = replace(calls, counted=(one,))
    formats = {k: v for k, v in FORMATS.items() if k in tools.get("query_large_output", {})}
    asked = (ask("query_large_output", f"{v} with {k}", path, {"query": v, k: True}) for k, v in formats.items())
    calls = replace(calls, formatted=tuple(asked))
    if "slice" in tools:
        calls = replace(calls, lines=tuple(_lines(ask, path, text.split("\n"))))
    if "get_in" in tools:
        calls = replace(calls, missing=(ask("get_in", "a key that is not there", path, {"path": "0.lroprobe"}),))
    if "grep" in tools:
        calls = replace(calls, literal=(ask("grep", "an invalid pattern", path, {"pattern": '"title":('}),))
    return calls


def _text(call: Call) -> str:
    return call.file.data.decode("utf-8", "replace") if call.file is not None else ""


def _title(call: Call) -> str:
    return str(call.file_records[0].get("title") or "")


def _is_number(schema: Mapping[str, Any]) -> bool:
    """True if the *schema* of an argument does not exclude whole numbers."""
    types, values = schema.get("type"), schema.get("enum")
    typed = types is None or any(name in types for name in ("integer", "number"))
    return typed and (not isinstance(values, list) or 1 in values)


def _numbered(ask: Ask, source: Call) -> Iterator[ByNumber]:
    data = source.file.data if source.file is not None else b""
    with BoundedRunner(fallback=True) as runner:
        for number, command in enumerate(commands_of(source), 1):
            run = None if command.pipeline is None else runner.run(command.pipeline, data)
            if run is not None:
                asked = ask("lro_extract", f"recipe {number}", source.path, {"recipe": number})
                yield ByNumber(asked, run.stdout.decode("utf-8", "replace"))


def _spans(text: str) -> tuple[tuple[int, int], ...]:
    """Ranges of characters: at the beginning, after the first character beyond U+07FF, of one character, and beyond the
    end."""
    position = next((n for n, c in enumerate(text) if c > "\u07ff"), 100)
    return (0, 40), (position + 1, position + 61), (position + 101, position + 102), (len(text) - 30, len(text) + 1000)


def _ranges(ask: Ask, call: Call, spans: Sequence[tuple[int, int]]) -> Iterator[Part]:
    text = _text(call)
    for start, end in spans:
        expected = text[start:end]
        longer = (text[max(0, start - 1) : end], text[start : end + 1])
        arguments = {"start": start, "end": end}
        asked = ask("read_large_output", f"the characters {start} to before {end}", call.path, arguments)
        yield Part(asked, expected, tuple(t for t in longer if t != expected))


def _lines(ask: Ask, path: str, lines: list[str]) -> Iterator[Part]:
    for start, end in ((1, 1), (2, 3)):
        others = [line for n, line in enumerate(lines, 1) if line and not start <= n <= end]
        asked = ask("slice", f"the lines {start} to {end}", path, {"start": start, "end": end})
        yield Part(asked, "\n".join(lines[start - 1 : end]), tuple(others))
