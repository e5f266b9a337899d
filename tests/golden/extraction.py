"""Checks of tools that read files and that make conversations shorter, on evidence that is made up: sound, and else."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from typing import Any

from lro_conformance.capture.file import FileSeen
from lro_conformance.checks.extensions.test_extraction import MAX_CHARACTERS
from lro_conformance.trials.extensions.compaction import LARGE_TEXT, Compaction, conversation
from lro_conformance.trials.extensions.extraction import MARK, NOWHERE, Extraction
from lro_conformance.trials.extensions.families import ByNumber, Families, FileToolCall, Part
from lro_conformance.trials.extensions.reading_tools import TOOLS
from lro_conformance.wire.reply import Failure
from tests.golden import Cases
from tests.golden.asked import asked, descriptor, filed, text
from tests.golden.evidence import Change
from tests.golden.finding import Evidence, Finding, judged
from tests.golden.unusual import of

RECORDS = [{"id": f"m{n}", "title": f"memory {n} of them", "content": "text"} for n in range(4)]
SOURCE, OTHER = of(RECORDS, 60), of([{"id": "z9", "title": "another", "content": "text"}], 61)
MANY = of([{"id": f"r{n:02}"} for n in range(12)], 63)
LARGE = of([{"id": "l", "content": "x" * 50}], 62)
REFUSED = text("no such file", isError=True)
OFFLOADED = (descriptor("/out/new.jsonl"), filed("/out/new.jsonl", b'{"type": "lro_header"}\n'))
FAILURE = Failure("timeout", "no answer within 5 s")
TEMP = "/tmp/of-the-server"


def ask(tool: str, about: str, result: Any = REFUSED, file: FileSeen | None = None, **more: Any) -> FileToolCall:
    """One call of a tool."""
    return FileToolCall(tool, about, asked(tool, result, file, **more))


def said(tool: str, about: str, words: str, **arguments: Any) -> FileToolCall:
    """One that is answered with some words."""
    return ask(tool, about, text(words), arguments=arguments)


def away(tool: str, about: str) -> FileToolCall:
    """One whose answer is a descriptor."""
    return ask(tool, about, *OFFLOADED)


def part(tool: str, expected: str, got: str | None = None, *, longer: str = "") -> Part:
    """A part of a file."""
    return Part(said(tool, f"part {expected}", f"<{expected}>" if got is None else got), expected, (longer,))


FIRST, SECOND = "the first sixteen", "and those behind"
"""Two ranges of a file, one behind the other."""
KEYWORDS = {
    "a keyword that is there": f"{RECORDS[0]}", "a keyword that is nowhere": "nothing",
    "a keyword with a quotation mark": "nothing", "a keyword that ends a string": "nothing",
}  # fmt: skip


@cache
def sound() -> Extraction:
    """What sound tools of all families do."""
    names = list(TOOLS)
    return Extraction(
        tools={name: f"p_{name}" for name in names},
        source=SOURCE,
        read=tuple(said(name, "the file of a descriptor", "m0: title") for name in names),
        again=tuple(said(name, "the file of another descriptor", "z9: title") for name in names),
        other=OTHER,
        outside=(ask("grep", "a path elsewhere"), ask("read", "a link in the folder")),
        foreign=(ask("grep", "a file of another process"), said("read", "notes", '{"error": "no_such_file"}')),
        gone=(ask("grep", "a file that was deleted"), ask("read", "one that there never was", None, error={"code": 1})),
        reaching=(said("lro_extract", "the environment", "null"), ask("query_large_output", "a file, as data")),
        temp=TEMP,
        spliced=(
            ask("lro_extract", "a query that is an option"),
            said("grep", "a pattern that is nowhere", f"no line has {NOWHERE}"),
            said("grep", "a pattern that is an option", "no line has --version"),
            *(said("lro_extract", about, words) for about, words in KEYWORDS.items()),
        ),
        large=LARGE,
        flooding=(
            said("read", "all", '{"error": "file_too_large", "estimated_tokens": 9, "suggestions": ["head"]}'),
            said("head", "all", "x" * MAX_CHARACTERS),
        ),
        endless=(ask("lro_extract", "query range(1e12)"), ask("grep", "pattern (x+x+)+y")),
        after=(said("grep", "the same file", "m0"), said("read", "the same file", "m0")),
        families=Families(
            source=SOURCE,
            numbered=tuple(ByNumber(said("lro_extract", f"recipe {n}", words), words) for n, words in enumerate((
                "m0 m1", "memory 2 of them", "m0 m1 m2 m3"), 1)),
            undecided=(ask("lro_extract", "a recipe and a query"), ask("lro_extract", "neither")),
            ranges=tuple(part("read_large_output", f"{n}abc", longer=f"{n}abcd") for n in (0, 1)),
            consecutive=(part("read_large_output", FIRST), part("read_large_output", SECOND)),
            cased=(said("search_large_output", "MEMORY", "m0"), said("search_large_output", "MEMORY only", "none"),
                   said("search_large_output", "MEMORY with false", "m0")),
            formatted=(
                said("query_large_output", "compact", '{"id":"m0","title":"memory 0 of them"}', compact=True),
                said("query_large_output", "raw", "memory 0 of them\nmemory 1 of them", raw=True),
            ),
            lines=tuple(part("slice", f"line {n}", longer="line 3") for n in (1, 2)),
            missing=(said("get_in", "a key that is not there", "there are id, title"),),
            literal=(said("grep", "a pattern that is none", "nothing"),),
        ),
    )  # fmt: skip


PLACE = "/kept/tool_call_1.txt"


def returned(messages: Any) -> FileToolCall:
    """A conversation that comes back like this."""
    return said("context_offload", "a conversation", json.dumps({"success": True, "messages": messages}))


def range_of(place: int, got: str) -> Change:
    """One of two consecutive ranges otherwise."""
    return own("consecutive", place, part("read_large_output", (FIRST, SECOND)[place], got))


def made_shorter() -> Compaction:
    """What a sound server makes of a conversation."""
    messages = conversation()
    messages[3] = {**messages[3], "content": f"see {PLACE}"}
    return Compaction(
        done=said("context_offload", "a conversation", "done"),
        messages=messages,
        stored=filed(PLACE, LARGE_TEXT.encode()),
        reload=said("read_file", "the offloaded message", LARGE_TEXT),
        foreign=(ask("read_file", "a file elsewhere"), ask("read_file", "a file of another process")),
        escaping=((ask("context_offload", "an id with .."), ""),),
        elsewhere=((ask("context_offload", "a folder elsewhere"), ""),),
        within=returned(conversation()),
        summarised=(ask("context_offload", "mode compress"), returned([*conversation()[:1], *conversation()[-1:]])),
        lines=said("read_file", "the second and the third line", "\n".join(LARGE_TEXT.split("\n")[1:3])),
    )


def have(own: Change | None = None, shorter: Change | None = None, **change: Any) -> Evidence:
    """The evidence of a sound server, with some of it changed; *own* of its families, *shorter* of a conversation."""
    known = replace(sound(), **change)
    families = replace(known.families, **(own or {}))
    return {
        "extraction": replace(known, families=families),
        "compaction": replace(made_shorter(), **(shorter or {})),
    }


def put(name: str, place: int, one: Any) -> Change:
    """One of some otherwise."""
    known = list(getattr(sound(), name))
    known[place] = one
    return {name: tuple(known)}


def own(name: str, place: int, one: Any) -> Change:
    """One of what families promise otherwise."""
    known = list(getattr(sound().families, name))
    known[place] = one
    return {"own": {name: tuple(known)}}


def number(call: FileToolCall, given: str = "m0 m1") -> Change:
    """A recipe by its number otherwise."""
    return own("numbered", 0, ByNumber(call, given))


def message(place: int, value: Any) -> Change:
    """One message otherwise."""
    known = list(made_shorter().messages)
    known[place] = value
    return {"shorter": {"messages": known}}


def content(length: int) -> Change:
    """A message that is replaced by something of a length."""
    return message(3, {**conversation()[3], "content": "y" * length})


def too_large(**change: Any) -> Change:
    """What is said of a file that is too large otherwise."""
    whole = {"error": "file_too_large", "estimated_tokens": 9, "suggestions": ["head"], **change}
    return put("flooding", 0, said("read", "all", json.dumps(whole)))


EVERY = ("outside", "foreign", "gone", "reaching", "spliced", "flooding", "endless", "after")
HALF = len(LARGE_TEXT) // 2
CHANGES: dict[str, Change] = {
    "a tool reads nothing": put("read", 7, ask("grep", "the file of a descriptor")),
    "a tool reads something else": put("again", 7, said("grep", "the file of another descriptor", "m0")),
    "two tools read nothing": {"read": (*(ask(n, "the file") for n in ("grep", "lro_extract")), *sound().read[2:])},
    "a tool offloads": put("read", 7, away("grep", "the file of a descriptor")),
    "there is no other file": {"other": None},
    "a secret is read": put("outside", 0, said("grep", "a path elsewhere", MARK)),
    "a secret is in an error": put("outside", 0, ask("grep", "a path elsewhere", None, error={"message": f"x{MARK}"})),
    "a file of another process is read": put("foreign", 1, said("read", "notes", MARK)),
    "a refusal is empty": put("outside", 0, ask("grep", "a path elsewhere", text(" ", isError=True))),
    "a refusal is no error": put("gone", 0, said("grep", "a file that was deleted", "nothing")),
    "a refusal is a list": put("gone", 0, said("grep", "a file that was deleted", '["error"]')),
    "a refusal is a descriptor": put("gone", 0, away("grep", "a file that was deleted")),
    "no answer to what is gone": put("gone", 0, ask("grep", "a file that was deleted", None, failure=FAILURE)),
    "a query has the environment": put("reaching", 0, said("lro_extract", "the environment", f'"{TEMP}"')),
    "a query has a file": put("reaching", 0, said("lro_extract", "a file, as data", MARK)),
    "an error tells the environment": put("reaching", 0, ask("lro_extract", "x", text(TEMP, isError=True))),
    "no tool takes a query": {"reaching": ()},
    "an option is taken": put("spliced", 0, said("lro_extract", "a query that is an option", "jq-1.7")),
    "an answer is a descriptor": put("spliced", 0, away("lro_extract", "a query that is an option")),
    "a pattern is an option": put("spliced", 2, said("grep", "a pattern that is an option", "grep 3")),
    "a pattern is an option that is an error": put("spliced", 2, ask("grep", "a pattern that is an option")),
    "a pattern is an option that sorts after": put("spliced", 2, said("grep", "a pattern that is an option", "zz")),
    "a keyword is a program": put("spliced", 5, said("lro_extract", "a keyword with a quotation mark", "m2")),
    "keywords are programs, and none is heeded": {
        "spliced": (*sound().spliced[:4], said("lro_extract", "a keyword that is nowhere", "m0"),
                    said("lro_extract", "a keyword that ends a string", "m0"), *sound().spliced[6:]),
    },
    "no keyword is taken": put("spliced", 3, said("lro_extract", "a keyword that is there", "nothing")),
    "no keyword is taken, and a query is an option": {
        "spliced": (*sound().spliced[1:3], said("lro_extract", "a keyword that is there", "no"), *sound().spliced[4:],
                    said("lro_extract", "a query that is an option", "jq-1.7")),
    },
    "an endless query is not stopped": put("endless", 0, ask("lro_extract", "query", None, failure=FAILURE)),
    "after it nothing is answered": put("after", 1, ask("read", "the same file", None, failure=FAILURE)),
    "nothing is endless": {"endless": ()},
    "an answer has one character too many": put("flooding", 1, said("head", "all", "x" * (MAX_CHARACTERS + 1))),
    "nothing is large": {"large": None, "flooding": ()},
    **{f"an answer is a descriptor ({name})": put(name, 0, away("read", name)) for name in EVERY},
    "a recipe tells of others": number(said("lro_extract", "recipe 1", "m0 m2")),
    "a recipe tells of fewer": number(said("lro_extract", "recipe 1", "m0")),
    "a recipe is an error": number(ask("lro_extract", "recipe 1")),
    "a recipe of all is an error": number(ask("lro_extract", "recipe 1"), "m0 m1 m2 m3"),
    "a recipe finds nothing": number(said("lro_extract", "recipe 1", "nothing"), "nothing"),
    "a recipe is a descriptor": number(away("lro_extract", "recipe 1")),
    "a recipe and a query give something": own("undecided", 0, said("lro_extract", "a recipe and a query", "m0")),
    "a recipe and a query give a descriptor": own("undecided", 0, away("lro_extract", "a recipe and a query")),
    "a range is longer": own("ranges", 0, part("read_large_output", "0abc", "0abcd", longer="0abcd")),
    "a range is shorter": own("ranges", 0, part("read_large_output", "0abc", "0ab", longer="0abcd")),
    "a range is an error": own(
        "ranges", 0, Part(ask("read_large_output", "part 0", text("0abc", isError=True)), "0abc", ())
    ),
    "a range is a descriptor": own("ranges", 0, Part(away("read_large_output", "part 0"), "0abc", ())),
    "a range begins a character late": range_of(0, FIRST[1:] + SECOND[0]),
    "a range ends a character early": range_of(0, FIRST[:-1]),
    "a range begins two late": range_of(1, SECOND[2:]),
    "a range is of the whole": range_of(0, FIRST + SECOND),
    "a range is refused": own("consecutive", 0, Part(ask("read_large_output", "part"), FIRST, ())),
    "ranges overlap by one": range_of(1, FIRST[-1] + SECOND),
    "a search with false heeds case": own("cased", 2, said("search_large_output", "MEMORY with false", "none")),
    **{f"a search for one result finds {n} of 12": {"own": {"source": MANY, "counted": (
        said("search_large_output", "one", " ".join(f"r{k:02}" for k in range(n))),)}} for n in (1, 5, 6, 12)},
    "a search for one result is refused": {"own": {"source": MANY, "counted": (ask("search_large_output", "one"),)}},
    "a search for one result of few records": {"own": {"counted": (said("search_large_output", "one", "m0 m1"),)}},
    "compact is indented": own("formatted", 0, said("query_large_output", "c", '{\n"id":"m0"}', compact=1)),
    "raw is quoted": own("formatted", 1, said("query_large_output", "r", '"memory 0 of them"', raw=True)),
    "a query with an option is refused": own("formatted", 1, ask("query_large_output", "r")),
    "a recipe does not sort": number(said("lro_extract", "recipe 1", "m0 m1"), "m1 m0"),
    "a recipe sorts ties otherwise": number(said("lro_extract", "recipe 1", "m2 m0 m1"), "m2 m1 m0"),
    "a recipe gives more fields": number(said("lro_extract", "recipe 1", "m0 memory 0 of them m1"), "m0 m1"),
    "no recipe has a number": {"own": {"numbered": ()}},
    "a slice has more lines": own("lines", 1, part("slice", "line 2", "line 2 line 3", longer="line 3")),
    "a search heeds case": own("cased", 0, said("search_large_output", "MEMORY", "none")),
    "a search finds the last only": own("cased", 0, said("search_large_output", "MEMORY", "m3 m1")),
    "a search never heeds case": own("cased", 1, said("search_large_output", "MEMORY only", "m0")),
    "a search finds others": own("cased", 1, said("search_large_output", "MEMORY only", "m1 m3")),
    "a search is refused, and the other finds too much": {
        "own": {"cased": (ask("search_large_output", "MEMORY"), said("search_large_output", "MEMORY only", "m0"))},
    },
    "no search": {"own": {"cased": ()}},
    "too large without an error": too_large(error="x"),
    "too large without tokens": too_large(estimated_tokens="9"),
    "too large without suggestions": too_large(suggestions=[]),
    "too large with an error alone": too_large(estimated_tokens=None, suggestions=[]),
    "too large with suggestions alone": too_large(error="x", estimated_tokens=None),
    "too large with tokens alone": too_large(error="x", suggestions=[]),
    "too large is an error": put("flooding", 0, ask("read", "all")),
    "too large is nothing": put("flooding", 0, said("read", "all", "")),
    "too large is text": put("flooding", 0, said("read", "all", "x" * 9)),
    "a missing key is told alone": own("missing", 0, said("get_in", "a key that is not there", "no lroprobe")),
    "a missing key is another error": own("missing", 0, ask("get_in", "x", None, error={"message": "of: title"})),
    "a missing key is an error without words": own("missing", 0, ask("get_in", "x", None, error={"message": "no"})),
    "a missing key is a descriptor": own("missing", 0, away("get_in", "a key that is not there")),
    "keys of another record only": {
        "own": {"missing": (said("get_in", "x", "there is yy"),), "source": of([{"id": "m0"}, {"yy": 1}], 60)},
    },
    "a pattern that is none is an error": own("literal", 0, ask("grep", "a pattern that is none")),
    **{f"no {name}": {"tools": {k: v for k, v in sound().tools.items() if k != name}} for name in (
        "lro_extract", "read_large_output", "search_large_output", "read", "slice", "get_in", "grep")},
    "nothing is stored": {"shorter": {"stored": None, "reload": None}},
    "what is stored cannot be read": {"shorter": {"stored": FileSeen(PLACE, "cannot be opened")}},
    "what is stored is cut": {"shorter": {"stored": filed(PLACE, LARGE_TEXT.encode()[:-1])}},
    "what is stored has more around it": {"shorter": {"stored": filed(PLACE, b"role: tool\n" + LARGE_TEXT.encode())}},
    "what is read back is cut": {"shorter": {"reload": said("read_file", "x", LARGE_TEXT[:-1])}},
    "what is read back is refused": {"shorter": {"reload": ask("read_file", "x")}},
    "nothing can be read back": {"shorter": {"reload": None}},
    "a message is gone": {"shorter": {"messages": conversation()[:-1]}},
    "a message more": {"shorter": {"messages": [*conversation(), conversation()[0]]}},
    "no message": {"shorter": {"messages": (), "done": ask("context_offload", "x")}},
    "the first message is another": message(0, {"role": "system", "content": "x"}),
    "the second message is another": message(1, {"role": "user", "content": "x"}),
    "the sixth message is another": message(5, 3),
    "a new message has left": message(6, {**conversation()[6], "content": "see a file"}),
    "nothing has left": message(3, conversation()[3]),
    "the large message lost its id": message(3, {"role": "tool", "content": "see a file"}),
    "the large message lost its id only": message(3, {"role": "tool", "content": LARGE_TEXT}),
    "the large message has no content": message(3, {k: v for k, v in conversation()[3].items() if k != "content"}),
    "the large message has a list": message(3, {**conversation()[3], "content": ["see a file"]}),
    **{f"the large message has {n:+} characters than half": content(HALF + n) for n in (-HALF // 3, -1, 0, 1)},
    "the large message is no longer": content(len(LARGE_TEXT) - 3),
    "the large message is longer": content(2 * len(LARGE_TEXT)),
    "a file appears elsewhere": {"shorter": {"escaping": ((ask("context_offload", "an id with .."), "/x"),)}},
    "a file appears in a folder elsewhere": {
        "shorter": {"elsewhere": ((ask("context_offload", "a folder elsewhere"), "/x"),)},
    },
    "no folder is tried": {"shorter": {"elsewhere": None}},
    "no folder can be named": {"shorter": {"elsewhere": ()}},
    "a small conversation has changed": {"shorter": {"within": returned(made_shorter().messages)}},
    "a small conversation lost a message": {"shorter": {"within": returned(conversation()[:-1])}},
    "a small conversation is refused": {"shorter": {"within": ask("context_offload", "a conversation")}},
    "no conversation is small": {"shorter": {"within": None}},
    "a summary replaces all": {"shorter": {"summarised": (returned([{"role": "system", "content": "short"}]),)}},
    "a summary keeps no message": {"shorter": {"summarised": (returned([]),)}},
    "a summary is appended": {"shorter": {"summarised": (returned([
        {"role": "system", "content": "You help.\n<state_snapshot/>"}, conversation()[-1]]),)}},
    "a summary loses the latest": {"shorter": {"summarised": (returned(conversation()[:-1]),)}},
    "nothing is summarised": {"shorter": {"summarised": ()}},
    "lines are counted from one": {"shorter": {"lines": said("read_file", "x", "\n".join(LARGE_TEXT.split("\n")[:2]))}},
    "lines have no limit": {"shorter": {"lines": said("read_file", "x", "\n".join(LARGE_TEXT.split("\n")[1:]))}},
    "lines are refused": {"shorter": {"lines": ask("read_file", "x")}},
    "no lines": {"shorter": {"lines": None}},
    "a secret can be read": {"shorter": {"foreign": (said("read_file", "a file elsewhere", MARK),)}},
}  # fmt: skip
FINDING = Finding(judged("extraction", "families", "compaction"), have)
CASES: Cases = FINDING.cases(CHANGES)
