"""An offloaded file as one document, an array of its records, and places in it: paths, kinds, shapes.

A path is keys and indices with dots between them. A key that has a dot itself is written as a JSON string, and the
document's own root is the empty path: ``17."org.example".rounds.0``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, BinaryIO, cast

from lro_proxy.tools.limits import Refused
from lro_proxy.tools.markdown import sections, spanned, tree
from lro_reference.tool import abbreviate, writable
from lro_spec.jsonl import lossless

_LARGEST = 16 << 20
_SEGMENT = re.compile(r'"(?:[^"\\]|\\.)*"|[^."]+')
_TO_QUOTE = re.compile('[."\ud800-\udfff]|^$')
_MOST_KEYS = 40


def document(file: BinaryIO) -> list[Any]:
    """All records. Raises `Refused` for a file that is too large to be held as a whole."""
    file.seek(0, 2)
    if file.tell() > _LARGEST:
        raise Refused(f"the file has {file.tell()} bytes, too many to take apart: use grep, head or slice")
    file.seek(0)
    file.readline()
    return [_value(line) for line in file]


def _value(line: bytes) -> Any:
    try:
        return lossless.parse(line)
    except lossless.InexactError:
        return line.decode("utf-8", "replace").rstrip("\n")


def segments(path: str) -> list[str]:
    """The parts of a path. Raises `Refused`."""
    found = _SEGMENT.findall(path)
    try:
        if ".".join(found) == path:
            return [json.loads(part, strict=False) if part.startswith('"') else part for part in found]
    except ValueError:  # a backslash before what is no escape
        pass
    raise Refused(f'{abbreviate(path)} is no path: keys and indices with dots between them, such as 0.title or 3."a.b"')


def at(root: Any, path: str) -> Any:
    """The value at a path. Raises `Refused`: which segment fails, the valid prefix, and what there is instead."""
    value, valid = root, list[str]()
    for part in segments(path):
        found: Any = None
        if isinstance(value, dict) and part in value:
            found = cast("dict[str, Any]", value)[part]
        elif (
            isinstance(value, list) and part.isascii() and part.isdigit() and int(part) < len(cast("list[Any]", value))
        ):
            found = cast("list[Any]", value)[int(part)]
        else:
            raise Refused(f"no {abbreviate(part)} at {abbreviate('.'.join(valid))}: {_there(value)}")
        value = found
        valid.append(_quoted(part))
    return value


def _quoted(part: str) -> str:
    """A key as it stands in a path; half a surrogate pair as its escape."""
    return writable(json.dumps(part, ensure_ascii=False)) if _TO_QUOTE.search(part) else part


def _there(value: Any) -> str:
    if isinstance(value, dict):
        keys = list(cast("dict[str, Any]", value))
        more = f" and {len(keys) - _MOST_KEYS} more" if len(keys) > _MOST_KEYS else ""
        return f"there are {', '.join(map(_quoted, keys[:_MOST_KEYS]))}{more}" if keys else "it is an empty object"
    if isinstance(value, list):
        return f"it is an array of {len(cast('list[Any]', value))} items, from 0 on"
    return f"it is {kind(value)}, which has no parts"


def kind(value: Any) -> str:
    """The JSON type, and the size of what has one."""
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
    """One line a node, with the lines of the file that it covers: `outline`, or the sections of a Markdown text.

    What lies within a record lies on its line. The lines of a section are those of the file where that is a text by
    its lines, otherwise those of the text that it is in.
    """
    where = f", {spanned(2, len(records) + 1)}" if records else ""
    if (texts := _lines_of_text(records)) and (found := sections(texts)):
        yield f"lines of text: {len(texts)}{where}"
        yield from tree(found, depth, 1, 1)
        return
    yield f"records: {kind(records)}{where}"
    if records and depth:
        yield from outline(records[0], "[0]", depth - 1, 1, ", line 2")


def _lines_of_text(records: Sequence[Any]) -> list[str]:
    """The lines of a file that holds a text by its lines; none of any other."""
    found: list[str] = []
    for number, record in enumerate(records, 1):
        match record:
            case {"n": n, "text": str(text)} if n == number and len(cast("dict[str, Any]", record)) == 2:
                found.append(text)
            case _:
                return []
    return found


def outline(value: Any, name: str, depth: int, indent: int = 0, where: str = "") -> Iterator[str]:
    """One line a node: its name and kind; of an array's items the first, which stands for all."""
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
        raise Refused(f"{abbreviate(path)} is {kind(value)}, not an array")
    return cast("list[Any]", value)


def item_schema(values: Sequence[Any]) -> Mapping[str, Any]:
    """Keys of items: their types, and how many items have them."""
    found: dict[str, tuple[set[str], int]] = {}
    kinds: set[str] = set()
    for value in values:
        kinds.add(kind(value).partition("(")[0])
        if isinstance(value, dict):
            for key, inner in cast("dict[str, Any]", value).items():
                types, count = found.get(key, (set[str](), 0))
                found[key] = (types | {kind(inner).partition("(")[0]}, count + 1)
    keys = {key: {"types": sorted(types), "in": f"{n} of {len(values)}"} for key, (types, n) in found.items()}
    return {"items": len(values), "kinds": sorted(kinds), "keys": keys}
