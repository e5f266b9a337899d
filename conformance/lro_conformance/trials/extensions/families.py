"""Calls for the rules of single families of tools, besides the rules for all tools."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from lro_conformance.capture.call import Call, OfACall
from lro_conformance.capture.recipes import commands_of
from lro_spec.recipes.bounded import BoundedRunner


@dataclass(frozen=True)
class Asked(OfACall):
    """One call of a tool that reads files."""

    tool: str
    """Its documented name."""
    about: str
    """Purpose of the call, in a few words."""
    call: Call


@dataclass(frozen=True)
class ByNumber:
    """A recipe, run by a tool and by jq."""

    asked: Asked
    given: str
    """Output of jq for the descriptor's recipe of this number."""


@dataclass(frozen=True)
class Part:
    """A part of a file, requested by its positions."""

    asked: Asked
    expected: str
    longer: tuple[str, ...]
    """Texts that an answer must not contain: the expected one extended on one side."""


@dataclass(frozen=True)
class Families:
    """Calls of the families that the server lists; empty for others."""

    source: Call
    """The call whose file is read, except by `ranges`."""
    numbered: tuple[ByNumber, ...] = ()
    undecided: tuple[Asked, ...] = ()
    """A call with a recipe and a query, and one with neither."""
    ranges: tuple[Part, ...] = ()
    """Ranges of characters."""
    cased: tuple[Asked, ...] = ()
    """Searches for a word in the opposite case: without and with case_sensitive."""
    lines: tuple[Part, ...] = ()
    """Slices of lines."""
    missing: tuple[Asked, ...] = ()
    """A call for a missing key."""
    literal: tuple[Asked, ...] = ()
    """A search for a pattern that is not a valid regular expression."""


Ask = Callable[[str, str, str, Mapping[str, Any]], Asked]
"""Asks a tool, about something, for a file, with arguments."""


def families(ask: Ask, tools: Mapping[str, Mapping[str, Any]], source: Call, large: Call | None) -> Families:
    """Make the calls; *tools* has the properties of each tool that is listed, by the names of the documents."""
    text, path = _text(source), source.path
    made = Families(source)
    if "recipe" in tools.get("lro_extract", {}):
        both = ask("lro_extract", "a recipe and a query", path, {"recipe": 1, "query": "."})
        neither = ask("lro_extract", "neither a recipe nor a query", path, {})
        made = replace(made, numbered=tuple(_numbered(ask, source)), undecided=(both, neither))
    if "read_large_output" in tools:
        made = replace(made, ranges=tuple(_ranges(ask, large or source)))
    swapped = next((w.swapcase() for w in _title(source).split() if len(w) > 3 and w.isascii() and w.isalpha()), None)
    if "case_sensitive" in tools.get("search_large_output", {}) and swapped is not None and swapped not in text:
        tool = "search_large_output"
        either = ask(tool, f"{swapped}, in either case", path, {"pattern": swapped})
        exact = ask(tool, f"{swapped}, in this case only", path, {"pattern": swapped, "case_sensitive": True})
        made = replace(made, cased=(either, exact))
    if "slice" in tools:
        made = replace(made, lines=tuple(_lines(ask, path, text.split("\n"))))
    if "get_in" in tools:
        made = replace(made, missing=(ask("get_in", "a key that is not there", path, {"path": "0.lroprobe"}),))
    if "grep" in tools:
        made = replace(made, literal=(ask("grep", "an invalid pattern", path, {"pattern": '"title":('}),))
    return made


def _text(call: Call) -> str:
    return call.file.data.decode("utf-8", "replace") if call.file is not None else ""


def _title(call: Call) -> str:
    return str(call.filed[0].get("title") or "")


def _numbered(ask: Ask, source: Call) -> Iterator[ByNumber]:
    data = source.file.data if source.file is not None else b""
    with BoundedRunner(fallback=True) as runner:
        for number, command in enumerate(commands_of(source), 1):
            run = None if command.pipeline is None else runner.run(command.pipeline, data)
            if run is not None:
                asked = ask("lro_extract", f"recipe {number}", source.path, {"recipe": number})
                yield ByNumber(asked, run.stdout.decode("utf-8", "replace"))


def _ranges(ask: Ask, call: Call) -> Iterator[Part]:
    text = _text(call)
    wide = next((n for n, c in enumerate(text) if c > "\u07ff"), 100)
    for start, end in ((0, 40), (wide + 1, wide + 61), (wide + 101, wide + 102), (len(text) - 30, len(text) + 1000)):
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
