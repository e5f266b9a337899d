"""The family `scratchpad`: eight tools that explore an offloaded file, each answer counted against a budget.

By line: `head`, `slice`, `grep`, `read`, where line 1 is the header. By structure: `schema`, `item_schema`, `get_in`,
`iterate_over`, where the document is the array of records and a path such as ``0.title`` leads into it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import islice
from typing import Any, BinaryIO, cast

import orjson

from lro_reference.extraction.documents import at, document, item_schema, items, outline
from lro_reference.extraction.family import FamilyTool, Workbench, schema
from lro_reference.extraction.limits import Refused, TooLarge, joined
from lro_reference.extraction.searching import matching, regions
from lro_reference.tooling import Tool

_LONG_LINES = 5
_MOST_MATCHES = 10_000
_INVALID = "no valid regular expression"


def _head(bench: Workbench, file: BinaryIO, arguments: Mapping[str, Any]) -> str:
    return _lines(bench, file, 1, arguments.get("lines", 50))


def _slice(bench: Workbench, file: BinaryIO, arguments: Mapping[str, Any]) -> str:
    if arguments["end"] < arguments["start"]:
        raise Refused("end lies before start: lines are counted from 1, and both are included")
    return _lines(bench, file, arguments["start"], arguments["end"])


def _read(bench: Workbench, file: BinaryIO, arguments: Mapping[str, Any]) -> str:
    return _lines(bench, file, 1, None)


def _lines(bench: Workbench, file: BinaryIO, start: int, end: int | None) -> str:
    file.seek(0)
    return joined((line.rstrip(b"\r\n") for line in islice(file, start - 1, end)), bench.limits.output_characters)


def _grep(bench: Workbench, file: BinaryIO, arguments: Mapping[str, Any]) -> str:
    pattern = arguments["pattern"]
    try:
        found = matching(bench, [file], pattern, case_sensitive=True, most=_MOST_MATCHES)
    except Refused as problem:
        if _INVALID not in str(problem):
            raise
        import re

        found = matching(bench, [file], re.escape(pattern), case_sensitive=True, most=_MOST_MATCHES)
    if not found:
        return "No matches found."
    return regions(file, found, arguments.get("context", 3), bench.limits.output_characters)


def _schema(bench: Workbench, file: BinaryIO, arguments: Mapping[str, Any]) -> str:
    root = document(file)
    depth = arguments.get("max_depth", 4)
    lines = (line.encode("utf-8", "replace") for line in outline(root, "records (lines 2 and on)", depth))
    return joined(lines, bench.limits.output_characters)


def _item_schema(bench: Workbench, file: BinaryIO, arguments: Mapping[str, Any]) -> str:
    path = arguments.get("path", "")
    return _json(item_schema(_window(items(at(document(file), path), path), arguments)))


def _get_in(bench: Workbench, file: BinaryIO, arguments: Mapping[str, Any]) -> str:
    value = at(document(file), arguments["path"])
    if isinstance(value, str):
        return "\n".join(_window(value.split("\n"), arguments))
    if isinstance(value, list):
        return _json(_window(cast("list[Any]", value), arguments))
    return _json(value)


def _iterate_over(bench: Workbench, file: BinaryIO, arguments: Mapping[str, Any]) -> str:
    path = arguments.get("path", "")
    found = _window(items(at(document(file), path), path), arguments)
    rows = (_json(_projected(item, arguments["fields"])).encode() for item in found)
    return joined(rows, bench.limits.output_characters)


def _projected(item: Any, fields: list[str]) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for field in fields:
        try:
            value = at(item, field)
        except Refused:
            value = None
        if isinstance(value, str) and value.count("\n") >= _LONG_LINES:
            kept = value.split("\n")[:_LONG_LINES]
            value = "\n".join([*kept, f"… ({value.count(chr(10)) + 1} lines: get_in gives all)"])
        made[field] = value
    return made


def _window(values: Any, arguments: Mapping[str, Any]) -> Any:
    offset, limit = arguments.get("offset", 0), arguments.get("limit")
    return values[offset:] if limit is None else values[offset : offset + limit]


def _json(value: Any) -> str:
    return orjson.dumps(value).decode()


Answering = Callable[[Workbench, BinaryIO, Mapping[str, Any]], str]
_LESS = ("head, slice or grep for a part of the lines", "schema to see what there is, then get_in for one place")


def _tool(name: str, description: str, answering: Answering, required: tuple[str, ...], **more: Any) -> FamilyTool:
    file = {"type": "string", "description": "Name of the file, or the file_path of its descriptor."}

    def handler(bench: Workbench, arguments: Mapping[str, Any]) -> str:
        with bench.files.open(arguments["file"]) as (_, opened):
            try:
                text = answering(bench, opened, arguments)
            except TooLarge:  # nobody knows by how much
                return bench.budget.withheld(name, bench.limits.output_characters // 4 + 1, _LESS)
            return bench.budget.spend(name, text, _LESS)

    return FamilyTool(Tool(name, description, schema(("file", *required), file=file, **more)), handler)


def _whole(description: str, minimum: int = 0) -> dict[str, Any]:
    return {"type": "integer", "minimum": minimum, "maximum": 2**31, "description": description}


_PATH = {"type": "string", "maxLength": 1000, "description": 'Keys and indices with dots, such as 0.title or 3."a.b".'}
_OFFSET, _LIMIT = _whole("Leave out so many first."), _whole("At most so many.", 1)
_PATTERN = {"type": "string", "description": "A regular expression; an invalid one is searched for as it is."}
_FIELDS = {"type": "array", "items": _PATH, "description": "Paths within each item."}
_DEPTH = {**_whole("How deep (4)."), "maximum": 50}
SCRATCHPAD = (
    _tool(
        "schema",
        "The structure of a file, one line a node.",
        _schema,
        (),
        max_depth={**_whole("How deep (4)."), "maximum": 50},
    ),
    _tool(
        "item_schema",
        "Which keys the items of an array have, of which types, and in how many items.",
        _item_schema,
        (),
        path=_PATH,
        offset=_OFFSET,
        limit=_LIMIT,
    ),
    _tool("head", "The first lines of a file.", _head, (), lines=_whole("How many (50).", 1)),
    _tool(
        "grep",
        "Lines that match, numbered and marked, with lines around them.",
        _grep,
        ("pattern",),
        pattern=_PATTERN,
        context={**_whole("Lines around each (3)."), "maximum": 100},
    ),
    _tool(
        "get_in",
        "The value at a path; a long text by its lines.",
        _get_in,
        ("path",),
        path=_PATH,
        offset=_OFFSET,
        limit=_LIMIT,
    ),
    _tool(
        "iterate_over",
        "Some fields of each item of an array.",
        _iterate_over,
        ("fields",),
        path=_PATH,
        fields=_FIELDS,
        offset=_OFFSET,
        limit=_LIMIT,
    ),
    _tool(
        "slice",
        "Lines from start to end, both included, counted from 1.",
        _slice,
        ("start", "end"),
        start=_whole("First line.", 1),
        end=_whole("Last line.", 1),
    ),
    _tool("read", "The whole file, where it is small enough.", _read, ()),
)
"""The tools of the family."""
