"""Runs the standard recipes without jq. Files are streamed, so that only sorting and counting need memory.

A selected record is returned as its line in the file, with every digit. A record without the field in question is not
selected. If records are sorted by confidence, such a record comes last; in all other recipes, its field counts as null.
On some of these records, jq would stop with an error.
"""

from __future__ import annotations

import heapq
import re
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from operator import attrgetter
from typing import Any, BinaryIO, cast

from msgspec import Raw, Struct, defstruct, json, structs

from lro_proxy.tools.casefold import finder
from lro_proxy.tools.records import line_at, places, records
from lro_spec.jsonl import lossless

_TOP_COUNT = 10
_PLAIN_TYPES = {str, int, bool, type(None)}
"""Types whose values are read without loss by parsers that do not keep the text of numbers."""
_MAX_EXACT_FLOAT = 2.0**53
_NEEDS_ESCAPE = re.compile(r"[\\\t\n\r]")
_NUMBER_STARTS = {b"%c" % c for c in b"-0123456789"}
_REWRITTEN = re.compile(rb"[\\\[{]|null")
"""Values whose text in a table may differ from their text in the file."""
_encode = json.Encoder().encode
_CELL_ESCAPES = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})
_TYPES_IN_JQ_ORDER = ((type(None),), (bool,), (int, float), (str,), (list,), (dict,))

Rows = Iterator[bytes]
Run = Callable[[BinaryIO, str, int | None], Rows]
"""Yields results in order, given an open file, the word to look for, and the maximum number of results."""
Matches = Callable[[Any], bool]
Path = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Recipe:
    """Evaluation of a standard recipe."""

    rows: Run
    array: bool = False
    """True if jq returns the results as one array."""
    word: str = ""
    """Name of the parameter with the word to look for; empty if there is none."""
    default: str = ""
    """The word in the specification's command."""
    most: int | None = None
    """Maximum number of results of the specification's command; None if it returns all."""


# --- selection


def _selection(field: str, predicate: Callable[[str], Matches]) -> Run:
    read = attrgetter(field)

    def rows(file: BinaryIO, word: str, limit: int | None) -> Rows:
        matches = predicate(word)
        return islice((line.rstrip() for line, record in records(file, field) if matches(read(record))), limit)

    return rows


def _starts_with(word: str) -> Matches:
    return lambda value: isinstance(value, str) and value.startswith(word)


def _contains_text(word: str) -> Matches:
    contains = finder(word)
    return lambda value: isinstance(value, str) and contains(value)


def _equals(word: str) -> Matches:
    return lambda value: value == word


def _contains_item(word: str) -> Matches:
    return lambda value: isinstance(value, (list, str)) and word in value


def _not_empty(word: str) -> Matches:
    del word
    # jq's length of a number is its absolute value, and a boolean has none.
    return lambda value: not isinstance(value, bool) and bool(value)


# --- tables and projections


def _table(*paths: Path) -> Run:
    read = attrgetter(*map(".".join, paths))
    nothing = Raw(b"null")
    types = {path[0]: Raw if len(path) == 1 else defstruct("Part", [(path[1], Raw, nothing)]) | None for path in paths}

    def rows(file: BinaryIO, word: str, limit: int | None) -> Rows:
        for line, record in islice(records(file, *types, **types), limit):
            try:
                row = b"\t".join(read(record))  # its text in the file, with every digit
                if not row.isascii():
                    row.decode()
            except UnicodeDecodeError:
                yield b"\t" * (len(paths) - 1)
            except (AttributeError, TypeError):  # not an object, or a field is missing or has another type
                yield _row(record, line, paths)
            else:
                yield _row(record, line, paths) if _REWRITTEN.search(row) else row.replace(b'"', b"")

    return rows


def _row(record: Any, line: bytes, paths: Iterable[Path]) -> bytes:
    return "\t".join(_cell(_field(record, path), line, path) for path in paths).encode("utf-8", "replace")


def _cell(value: Any, line: bytes, path: Path) -> str:
    if type(value) is str:
        return value.translate(_CELL_ESCAPES) if _NEEDS_ESCAPE.search(value) else value
    if value is None:
        return ""
    if type(value) is Raw:  # its text in the file, with every digit
        text = bytes(value)
        return text.decode() if text[:1] in _NUMBER_STARTS else _cell(json.decode(text), line, path)
    text = _text(value)
    if not _is_exact(value, text, line):
        text = lossless.dump(_with_all_digits(value, line, path))
    return text.decode().translate(_CELL_ESCAPES) if b"\\" in text else text.decode()


def _projection(*names: str) -> Run:
    read = attrgetter(*names)

    def rows(file: BinaryIO, word: str, limit: int | None) -> Rows:
        encode = json.Encoder().encode
        for line, record in islice(records(file, *names), limit):
            if not _PLAIN_TYPES.issuperset(map(type, read(record))):
                for name in names:
                    value = getattr(record, name)
                    if not _is_exact(value, _text(value), line):
                        setattr(record, name, Raw(lossless.dump(_with_all_digits(value, line, (name,)))))
            try:
                yield encode(record)
            except UnicodeEncodeError:  # a lone surrogate
                values = structs.asdict(record).items()
                yield lossless.dump(
                    {n: v if type(v) in _PLAIN_TYPES else _with_all_digits(v, line, (n,)) for n, v in values}
                )

    return rows


def _text(value: Any) -> bytes:
    try:
        return _encode(value)
    except UnicodeEncodeError:  # a lone surrogate
        return lossless.dump(value)


def _is_exact(value: Any, text: bytes, line: bytes) -> bool:
    """True if a value has all digits of its text in the line."""
    if type(value) in _PLAIN_TYPES:
        return True
    return isinstance(value, float) and abs(value) < _MAX_EXACT_FLOAT and (text + b"," in line or text + b"}" in line)


def _with_all_digits(value: Any, line: bytes, path: Path) -> Any:
    """A value with all digits of its text in the line."""
    try:
        record = lossless.parse(line)
    except lossless.InexactError:
        return value
    for name in path:
        record = record[name]
    return record


# --- sorting


def _sorted_by_number(*path: str) -> Run:
    """Sort by a number, beginning with the highest. Records without the number come last.

    Records with equal numbers stay in the order of the file, as in jq.
    """

    def rows(file: BinaryIO, word: str, limit: int | None) -> Rows:
        keys, starts, lengths = array("d"), array("q"), array("q")
        for (start, length), record in places(file, path[0]):
            number = _field(record, path)
            is_number = isinstance(number, (int, float)) and not isinstance(number, bool)
            keys.append(-number if is_number else float("inf"))
            starts.append(start)
            lengths.append(length)
        order = range(len(keys))
        first = heapq.nsmallest(limit, order, key=keys.__getitem__) if limit else sorted(order, key=keys.__getitem__)
        return (line_at(file, (starts[i], lengths[i])).rstrip() for i in first)

    return rows


def _sorted_by(field: str) -> Run:
    read = attrgetter(field)

    def rows(file: BinaryIO, word: str, limit: int | None) -> Rows:
        keyed_places = [(_sort_key(read(record)), place) for place, record in places(file, field)]
        keyed_places.sort()  # places ascend, so records with equal values stay in the order of the file
        return (line_at(file, place).rstrip() for _, place in keyed_places[:limit])

    return rows


def _sort_key(value: Any) -> tuple[int, Any]:
    """A key that sorts values as jq does: null, booleans, numbers, strings, arrays, objects.

    Two arrays, or two objects, are compared by their texts.
    """
    kind = next(n for n, kinds in enumerate(_TYPES_IN_JQ_ORDER) if type(value) in kinds)
    if kind == 0:
        return kind, 0
    return kind, lossless.dump(value, sort_keys=True) if kind > 3 else value


# --- counting


def _counts_by(field: str, *, descending: bool) -> Run:
    def rows(file: BinaryIO, word: str, limit: int | None) -> Rows:
        groups = sorted((_sort_key(value), value, count) for value, count in _counts(file, field))
        if descending:
            groups.sort(key=lambda group: -group[2])
        return (lossless.dump({field: value, "count": count}) for _, value, count in groups[:limit])

    return rows


def _distinct(field: str) -> Run:
    def rows(file: BinaryIO, word: str, limit: int | None) -> Rows:
        return (lossless.dump(value) for _, value in sorted((_sort_key(v), v) for v, _ in _counts(file, field))[:limit])

    return rows


def _counts(file: BinaryIO, field: str) -> Iterable[tuple[Any, int]]:
    """The values of a field with their numbers of occurrences."""
    read = attrgetter(field)
    texts: dict[str, int] = {}
    others: dict[tuple[int, Any], tuple[Any, int]] = {}
    for _, record in records(file, field):
        value = read(record)
        if isinstance(value, str):
            texts[value] = texts.get(value, 0) + 1
        else:
            key = _sort_key(value)
            others[key] = (value, others.get(key, (value, 0))[1] + 1)
    return [*texts.items(), *others.values()]


def _field(record: Any, path: Path) -> Any:
    value = getattr(record, path[0])
    for name in path[1:]:
        if isinstance(value, Struct):
            return getattr(value, name)
        value = cast("Mapping[str, Any]", value).get(name) if isinstance(value, dict) else None
    return value


_CONFIDENCE = ("provenance", "confidence")
RECIPES: Mapping[str, Recipe] = {
    "title-confidence-table": Recipe(_table(("title",), _CONFIDENCE)),
    "title-namespace-table": Recipe(_table(("title",), ("namespace",))),
    "namespace-prefix": Recipe(_selection("namespace", _starts_with), word="namespace", default="_semantic"),
    "title-search": Recipe(_selection("title", _contains_text), word="keyword", default="keyword"),
    "content-search": Recipe(_selection("content", _contains_text), word="keyword", default="pattern"),
    "memory-type": Recipe(_selection("memory_type", _equals), word="type", default="semantic"),
    "with-tag": Recipe(_selection("tags", _contains_item), word="tag", default="TAG"),
    "with-entities": Recipe(_selection("entities", _not_empty)),
    "identity-projection": Recipe(_projection("id", "title", "namespace")),
    "sort-by-confidence": Recipe(_sorted_by_number(*_CONFIDENCE), array=True),
    "sort-by-flat-confidence": Recipe(_sorted_by_number("confidence"), array=True),
    "top-by-confidence": Recipe(_sorted_by_number(*_CONFIDENCE), array=True, most=_TOP_COUNT),
    "sort-by-created": Recipe(_sorted_by("created"), array=True),
    "count-by-namespace": Recipe(_counts_by("namespace", descending=True), array=True),
    "count-by-namespace-unsorted": Recipe(_counts_by("namespace", descending=False), array=True),
    "count-by-type": Recipe(_counts_by("memory_type", descending=False), array=True),
    "namespaces": Recipe(_distinct("namespace"), array=True),
}
"""The standard recipes, by their effect (`lro_spec.editions.StandardRecipe`)."""
