"""The family `virtual`: tools that read ranges of characters of an offloaded file, search its lines, or query it by jq.

Ranges count characters (code points) from 0; the end is exclusive. Nothing is passed to a shell or to a command line:
patterns and queries run in a sandboxed process (`queries`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO

from lro_proxy.tools.base import FamilyTool, Workbench, schema
from lro_proxy.tools.extract import check_query
from lro_proxy.tools.limits import Refused, TooLarge
from lro_proxy.tools.queries import Query
from lro_proxy.tools.search import matching_lines, regions
from lro_reference.tool import Tool

_CHUNK = 1 << 18
_CONTEXT_LINES = 2
NO_MATCHES = "No matches found."


def read(bench: Workbench, arguments: Mapping[str, Any]) -> str:
    """The characters from `start` to before `end`, at most to the end of the file. Raises `Refused`."""
    with bench.files.open(arguments["filename"]) as (offloaded, file):
        return characters(file, offloaded.name, arguments["start"], arguments["end"], bench.limits.output_characters)


def characters(file: BinaryIO, name: str, start: int, end: int, max_characters: int) -> str:
    """A range of at most *max_characters* characters of a file. Raises `Refused`."""
    if end < start:
        raise Refused(f"end ({end}) lies before start ({start}): a range goes from start to before end")
    if end - start > max_characters and _count_characters(file) - start > max_characters:
        raise Refused(
            f"the range has {end - start} characters; at most {max_characters} are returned at once: read in parts"
        )
    file.seek(0)
    parts: list[str] = []
    position = 0
    for chunk in _chunks(file):
        if position < end and position + len(chunk) > start:
            parts.append(chunk[max(0, start - position) : end - position])
        position += len(chunk)
        if position >= end:
            return "".join(parts)
    if start > position:
        raise Refused(f"start ({start}) lies beyond the end: {name} has {position} characters")
    return "".join(parts)


def search(bench: Workbench, arguments: Mapping[str, Any]) -> str:
    """The matching lines, numbered and marked, with two lines around each. Raises `Refused`."""
    max_matches = arguments.get("max_results", 50)
    with bench.files.open(arguments["filename"]) as (_, file):
        matches, has_more = matching_lines(
            bench,
            [file],
            arguments["pattern"],
            case_sensitive=arguments.get("case_sensitive", False),
            max_matches=max_matches,
        )
        if not matches:
            return NO_MATCHES
        note = f"\n(More than {len(matches)} lines match: raise max_results, or use a narrower pattern.)" * has_more
        try:
            return regions(file, matches, _CONTEXT_LINES, bench.limits.output_characters - len(note)) + note
        except TooLarge as problem:
            raise Refused(
                f"{problem} ({len(matches)} lines match): lower max_results, or use read_large_output or "
                "query_large_output for parts of long lines"
            ) from None


def query(bench: Workbench, arguments: Mapping[str, Any]) -> str:
    """The results of a jq filter on each record of the file. Raises `Refused`."""
    program = arguments["query"]
    check_query(program, bench.limits)
    raw, compact = arguments.get("raw", False), arguments.get("compact", False)
    with bench.files.open(arguments["filename"]) as (_, file):
        try:
            output = bench.queries.query(Query(program, {}, raw=raw, indent=not (compact or raw)), file)
        except TooLarge as problem:
            raise Refused(f"{problem}: select fewer records or fields, for example by select(…) or {{id}}") from None
    text = output.text or "The query returned nothing."
    return f"{text}\n({output.notes})" if output.notes else text


def _chunks(file: BinaryIO) -> Iterator[str]:
    """The text in pieces, split between characters."""
    from codecs import getincrementaldecoder

    decoder = getincrementaldecoder("utf-8")("replace")
    while data := file.read(_CHUNK):
        yield decoder.decode(data)
    if rest := decoder.decode(b"", final=True):
        yield rest


def _count_characters(file: BinaryIO) -> int:
    file.seek(0)
    return sum(map(len, _chunks(file)))


_FILENAME = {"type": "string", "description": "Name of the file, or the file_path of its descriptor."}
VIRTUAL = (
    FamilyTool(
        Tool(
            "read_large_output",
            "Reads a range of characters of an offloaded result: from start (0 is the first) to before end.",
            schema(
                ("filename", "start", "end"),
                filename=_FILENAME,
                start={"type": "integer", "minimum": 0, "description": "First character, from 0."},
                end={"type": "integer", "minimum": 0, "description": "End of the range (exclusive)."},
            ),
        ),
        read,
    ),
    FamilyTool(
        Tool(
            "search_large_output",
            "Searches the lines of an offloaded result by a regular expression; shows two lines around each match.",
            schema(
                ("filename", "pattern"),
                filename=_FILENAME,
                pattern={"type": "string", "description": "A regular expression."},
                case_sensitive={"type": "boolean", "description": "Distinguish upper and lower case (default false)."},
                max_results={
                    "type": "integer",
                    "minimum": 1,
                    "maximum": 10_000,
                    "description": "Maximum number of matching lines (default 50).",
                },
            ),
        ),
        search,
    ),
    FamilyTool(
        Tool(
            "query_large_output",
            "Runs a jq filter on each record of an offloaded result.",
            schema(
                ("filename", "query"),
                filename=_FILENAME,
                query={"type": "string", "description": "A jq filter."},
                compact={"type": "boolean", "description": "One line per value (default false: indented)."},
                raw={
                    "type": "boolean",
                    "description": "Strings without quotes, other values on one line (default false).",
                },
            ),
        ),
        query,
    ),
)
"""The tools of the family."""
