"""The family `scratchpad`: eight tools that explore an offloaded file. Their answers count against a token budget.

`head`, `slice`, `grep` and `read` work on lines; line 1 is the header. `schema`, `item_schema`, `get_in` and
`iterate_over` work on the array of all records, with paths such as ``0.title``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, BinaryIO, cast

from lro_proxy.tools.base import FamilyTool, Workbench, schema
from lro_proxy.tools.document import document, item_schema, items, kind, structure, value_at
from lro_proxy.tools.limits import InvalidPattern, Refused, joined
from lro_proxy.tools.search import marked, matching
from lro_proxy.tools.virtual import characters
from lro_reference.tool import Tool, escape_unpaired_surrogates
from lro_spec.jsonl import lossless
from lro_spec.tokens import characters_in_utf8, tokens_of_counts

_SHOWN_LINES = 5
"""Lines of a text that `iterate_over` shows; the rest is left out."""
_MAX_MATCHES = 10_000
_RANGE = 10_000
"""Default number of characters of a range, which fits into the budget of a call in any script."""


class _TooMuch(Exception):
    """An answer of *tokens* tokens, which is above the limit (`Limits.output_characters`)."""

    def __init__(self, tokens: int) -> None:
        self.tokens = tokens


def _head(bench: Workbench, file: BinaryIO, arguments: Mapping[str, Any]) -> str:
    return _lines(bench, file, 1, arguments.get("lines", 50))


def _slice(bench: Workbench, file: BinaryIO, arguments: Mapping[str, Any]) -> str:
    if arguments["end"] < arguments["start"]:
        raise Refused("end lies before start: lines are counted from 1, and both are included")
    text = _lines(bench, file, arguments["start"], arguments["end"])
    if not text:
        file.seek(0)
        raise Refused(f"start ({arguments['start']}) lies beyond the end: the file has {sum(1 for _ in file)} lines")
    return text


def _read(bench: Workbench, file: BinaryIO, arguments: Mapping[str, Any]) -> str:
    if not arguments.keys() & {"start", "end"}:
        return _lines(bench, file, 1, None)
    start, end = _range(arguments)
    return characters(file, "the file", start, end, bench.limits.output_characters)


def _range(arguments: Mapping[str, Any]) -> tuple[int, int]:
    start = arguments.get("start", 0)
    return start, arguments.get("end", start + _RANGE)


def _lines(bench: Workbench, file: BinaryIO, start: int, end: int | None) -> str:
    file.seek(0)
    return _joined((line.rstrip(b"\r\n") for line in islice(file, start - 1, end)), bench)


def _joined(pieces: Iterable[bytes], bench: Workbench) -> str:
    """The pieces, one per line. Raises `_TooMuch` above the limit, with the tokens of all pieces."""
    kept: list[bytes] = []
    count = wide = 0
    for piece in pieces:
        of_piece, wide_of_piece = characters_in_utf8(piece)
        count += of_piece + 1
        wide += wide_of_piece
        if count - 1 > bench.limits.output_characters:
            kept.clear()
        else:
            kept.append(piece)
    if count - 1 > bench.limits.output_characters:
        raise _TooMuch(tokens_of_counts(count - 1, wide))
    return joined(kept, bench.limits.output_characters)


def _grep(bench: Workbench, file: BinaryIO, arguments: Mapping[str, Any]) -> str:
    pattern = arguments["pattern"]
    try:
        matches, _ = matching(bench, [file], pattern, case_sensitive=True, most=_MAX_MATCHES)
    except InvalidPattern:
        matches, _ = matching(bench, [file], re.escape(pattern), case_sensitive=True, most=_MAX_MATCHES)
    if not matches:
        return "No matches found."
    return _joined(marked(file, matches, arguments.get("context", 3)), bench)


def _schema(bench: Workbench, file: BinaryIO, arguments: Mapping[str, Any]) -> str:
    lines = structure(document(file), arguments.get("max_depth", 4))
    return _joined((line.encode("utf-8", "backslashreplace") for line in lines), bench)


def _item_schema(bench: Workbench, file: BinaryIO, arguments: Mapping[str, Any]) -> str:
    path = arguments.get("path", "")
    return _json(item_schema(_window(items(value_at(document(file), path), path), arguments)))


def _get_in(bench: Workbench, file: BinaryIO, arguments: Mapping[str, Any]) -> str:
    value = value_at(document(file), arguments["path"])
    if arguments.keys() & {"start", "end"}:
        return _part(value, *_range(arguments))
    if isinstance(value, str):
        return "\n".join(_window(value.split("\n"), arguments))
    if isinstance(value, list):
        return _json(_window(cast("list[Any]", value), arguments))
    return _json(value)


def _part(value: Any, start: int, end: int) -> str:
    if not isinstance(value, str):
        raise Refused(f"start and end are for characters of a text, and this is {kind(value)}: use offset and limit")
    if not start <= min(end, len(value)):
        raise Refused(f"there is nothing from {start} to before {end}: the text has {len(value)} characters")
    return value[start:end]


def _iterate_over(bench: Workbench, file: BinaryIO, arguments: Mapping[str, Any]) -> str:
    path = arguments.get("path", "")
    chosen = _window(items(value_at(document(file), path), path), arguments)
    return _joined(_rows(chosen, arguments["fields"]), bench)


def _rows(values: Iterable[Any], fields: Sequence[str]) -> Iterator[bytes]:
    """The fields of each item, null for a missing one; then a note for each field that no item has."""
    missing: dict[str, str] = {}
    present: set[str] = set()
    for item in values:
        row: dict[str, Any] = {}
        for field in fields:
            try:
                row[field] = _cut(value_at(item, field))
                present.add(field)
            except Refused as problem:
                row[field] = None
                missing.setdefault(field, str(problem))
        yield lossless.dump(row)
    for field, why in missing.items():
        if field not in present:
            yield f"(in none of these items: {why})".encode("utf-8", "backslashreplace")


def _cut(value: Any) -> Any:
    if not isinstance(value, str) or value.count("\n") < _SHOWN_LINES:
        return value
    kept = value.split("\n")[:_SHOWN_LINES]
    return "\n".join([*kept, f"… ({value.count(chr(10)) + 1} lines: get_in returns all)"])


def _window(values: Any, arguments: Mapping[str, Any]) -> Any:
    offset, limit = arguments.get("offset", 0), arguments.get("limit")
    return values[offset:] if limit is None else values[offset : offset + limit]


def _json(value: Any) -> str:
    return lossless.dump(value).decode()


_Read = Callable[[Workbench, BinaryIO, Mapping[str, Any]], str]
"""Returns the text that answers a call, whose file has been opened. Raises `Refused` and `_TooMuch`."""
_LESS = (
    "head, slice or grep for a part of the lines",
    "schema to see what there is, then get_in for one place",
    "where a line or a text is long by itself: read or get_in with start and end, which count characters",
)
"""Suggestions to the caller after an answer that was too large."""


def _tool(name: str, description: str, read: _Read, required: tuple[str, ...], **more: Any) -> FamilyTool:
    file = {"type": "string", "description": "Name of the file, or the file_path of its descriptor."}
    less = (_LESS[0], "schema with a smaller max_depth", _LESS[2]) if name == "schema" else _LESS

    def handler(bench: Workbench, arguments: Mapping[str, Any]) -> str:
        with bench.files.open(arguments["file"]) as (_, opened):
            try:
                text = escape_unpaired_surrogates(read(bench, opened, arguments))
            except _TooMuch as problem:
                return bench.budget.withheld(name, problem.tokens, less)
            except RecursionError:
                raise Refused("this is nested too deeply to be parsed: use grep, head or read") from None
            return bench.budget.spend(name, text, less)

    return FamilyTool(Tool(name, description, schema(("file", *required), file=file, **more)), handler)


def _count(description: str, minimum: int = 0) -> dict[str, Any]:
    return {"type": "integer", "minimum": minimum, "maximum": 2**31, "description": description}


_PATH = {
    "type": "string",
    "maxLength": 1000,
    "description": 'Keys and indices separated by dots, such as 0.title or 3."a.b".',
}
_OFFSET, _LIMIT = _count("Number of items or lines to skip."), _count("Maximum number of items or lines.", 1)
_START = _count("First character of a range, from 0.")
_END = _count("End of the range, exclusive (default: start + 10000).")
_PATTERN = {"type": "string", "description": "A regular expression; an invalid one is searched for literally."}
_FIELDS = {"type": "array", "items": _PATH, "description": "Paths within each item."}
_DEPTH = {**_count("Maximum depth (default 4)."), "maximum": 50}
SCRATCHPAD = (
    _tool(
        "schema",
        "The structure of a file, one line per node; for Markdown, its sections with line numbers for slice or get_in.",
        _schema,
        (),
        max_depth=_DEPTH,
    ),
    _tool(
        "item_schema",
        "The keys of an array's items, with their types and the number of items that have them.",
        _item_schema,
        (),
        path=_PATH,
        offset=_OFFSET,
        limit=_LIMIT,
    ),
    _tool("head", "The first lines of a file.", _head, (), lines=_count("Number of lines (default 50).", 1)),
    _tool(
        "grep",
        "The matching lines, numbered and marked, with the lines around them.",
        _grep,
        ("pattern",),
        pattern=_PATTERN,
        context={**_count("Lines before and after each match (default 3)."), "maximum": 100},
    ),
    _tool(
        "get_in",
        "The value at a path; of a long text, optionally some lines or characters.",
        _get_in,
        ("path",),
        path=_PATH,
        offset=_OFFSET,
        limit=_LIMIT,
        start=_START,
        end=_END,
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
        start=_count("First line.", 1),
        end=_count("Last line.", 1),
    ),
    _tool(
        "read",
        "The whole file, if it is small enough, or a range of its characters.",
        _read,
        (),
        start=_START,
        end=_END,
    ),
)
"""The tools of the family."""
