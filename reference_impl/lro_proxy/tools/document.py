"""An offloaded file as one document, the array of its records: paths, types and structure of its values.

A path is a sequence of keys and indices separated by dots, such as ``17."org.example".rounds.0``. A key that contains
a dot is written as a JSON string; the empty path is the root.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, BinaryIO, cast

from lro_proxy.tools.limits import Refused
from lro_proxy.tools.markdown import of_records, sections, spanned, tree
from lro_reference.tool import abbreviate, escape_unpaired_surrogates
from lro_spec.jsonl import lossless

_MAX_BYTES = 16 << 20
_SEGMENT = re.compile(r'"(?:[^"\\]|\\.)*"|[^."]+')
_TO_QUOTE = re.compile('[."\ud800-\udfff]|^$')
_MAX_KEYS = 40


def document(file: BinaryIO) -> list[Any]:
    """All records. Raises `Refused` for a file that is too large to be parsed as one document."""
    file.seek(0, 2)
    if file.tell() > _MAX_BYTES:
        raise Refused(f"the file has {file.tell()} bytes, too many to parse as a whole: use grep, head or slice")
    file.seek(0)
    file.readline()
    return [_value(line) for line in file]


def _value(line: bytes) -> Any:
    """The record in a line; the line's text if it cannot be parsed without loss."""
    try:
        return lossless.parse(line)
    except lossless.InexactError:
        return line.decode("utf-8", "replace").rstrip("\n")


def segments(path: str) -> list[str]:
    """The parts of a path. Raises `Refused`."""
    parts = _SEGMENT.findall(path)
    try:
        if ".".join(parts) == path:
            return [json.loads(part, strict=False) if part.startswith('"') else part for part in parts]
    except ValueError:  # an invalid escape
        pass
    raise Refused(f'{abbreviate(path)} is not a path: use keys and indices between dots, such as 0.title or 3."a.b"')


def value_at(root: Any, path: str) -> Any:
    """The value at a path. Raises `Refused` with the segment that fails, the valid prefix, and the alternatives."""
    value, valid = root, list[str]()
    for part in segments(path):
        inner: Any = None
        if isinstance(value, dict) and part in value:
            inner = cast("dict[str, Any]", value)[part]
        elif (
            isinstance(value, list) and part.isascii() and part.isdigit() and int(part) < len(cast("list[Any]", value))
        ):
            inner = cast("list[Any]", value)[int(part)]
        else:
            raise Refused(f"no {abbreviate(part)} at {_display('.'.join(valid))}: {_alternatives(value)}")
        value = inner
        valid.append(_quoted(part))
    return value


def _quoted(part: str) -> str:
    """A key as written in a path; a lone surrogate as its escape."""
    return escape_unpaired_surrogates(json.dumps(part, ensure_ascii=False)) if _TO_QUOTE.search(part) else part


def _display(path: str) -> str:
    return abbreviate(path) if path else "the root"


def _alternatives(value: Any) -> str:
    if isinstance(value, dict):
        keys = list(cast("dict[str, Any]", value))
        more = f" and {len(keys) - _MAX_KEYS} more" if len(keys) > _MAX_KEYS else ""
        return f"there are {', '.join(map(_quoted, keys[:_MAX_KEYS]))}{more}" if keys else "it is an empty object"
    if isinstance(value, list):
        last = len(cast("list[Any]", value)) - 1
        return f"it is an array with the indices 0 to {last}" if last >= 0 else "it is an empty array"
    return f"it is {kind(value)}, which has no parts"


def kind(value: Any) -> str:
    """The JSON type of a value, with the size of strings, arrays and objects."""
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case str():
            return f"string({len(value)})"
        case list():
            return f"array({len(cast('list[Any]', value))})"
        case dict():
            return f"object({len(cast('dict[str, Any]', value))})"
        case _:
            return "number"


def structure(records: Sequence[Any], depth: int) -> Iterator[str]:
    """One line per node: an `outline`, or the sections of a Markdown text with the lines that they cover.

    The lines of a section are numbered within the file if the records are the lines of a text, or its sections;
    otherwise within the string that contains the section.
    """
    where = f", {spanned(2, len(records) + 1)}" if records else ""
    if (texts := _lines_of_text(records)) and (parts := sections(texts)):
        yield f"lines of text: {len(texts)}{where}"
        yield from tree(parts, depth, 1, 1)
        return
    yield f"records: {kind(records)}{where}"
    if parts := of_records(records):
        yield from tree(parts, depth, 1, 1)
    elif records and depth:
        yield from outline(records[0], "[0]", depth - 1, 1, ", line 2")


def _lines_of_text(records: Sequence[Any]) -> list[str]:
    """The lines of a file that is a text, one record per line; empty for any other file."""
    lines: list[str] = []
    for number, record in enumerate(records, 1):
        match record:
            case {"n": n, "text": str(text)} if n == number and len(cast("dict[str, Any]", record)) == 2:
                lines.append(text)
            case _:
                return []
    return lines


def outline(value: Any, name: str, depth: int, indent: int = 0, where: str = "") -> Iterator[str]:
    """One line per node: its name and kind; of an array only the first item, which stands for all its items."""
    lines = value.split("\n") if isinstance(value, str) else []
    where = f", {len(lines)} lines" if len(lines) > 1 else where
    yield f"{'  ' * indent}{name}: {kind(value)}{where}"
    if depth == 0:
        return
    yield from tree(sections(lines), depth, indent + 1)
    if isinstance(value, dict):
        for key, inner in cast("dict[str, Any]", value).items():
            yield from outline(inner, _quoted(key), depth - 1, indent + 1)
    elif isinstance(value, list) and value:
        yield from outline(cast("list[Any]", value)[0], "[0]", depth - 1, indent + 1)


def items(value: Any, path: str) -> Sequence[Any]:
    """The items of an array. Raises `Refused` for anything else."""
    if not isinstance(value, list):
        raise Refused(f"{_display(path)} is {kind(value)}, not an array")
    return cast("list[Any]", value)


def item_schema(values: Sequence[Any]) -> Mapping[str, Any]:
    """The number of items, their kinds, and their keys, each with its types and the number of items that have it."""
    counts: dict[str, tuple[set[str], int]] = {}
    kinds: set[str] = set()
    for value in values:
        kinds.add(kind(value).partition("(")[0])
        if isinstance(value, dict):
            for key, inner in cast("dict[str, Any]", value).items():
                types, count = counts.get(key, (set[str](), 0))
                counts[key] = (types | {kind(inner).partition("(")[0]}, count + 1)
    keys = {key: {"types": sorted(types), "in": f"{n} of {len(values)}"} for key, (types, n) in counts.items()}
    return {"items": len(values), "kinds": sorted(kinds), "keys": keys}
