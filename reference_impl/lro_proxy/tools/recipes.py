"""The standard recipes without jq: streaming, so that only sorting and counting need memory.

A selected record is returned as its line in the file, with every digit. A record without the field in question does not
match; sorted by confidence it comes last, and elsewhere the field counts as null. On some of these records, jq would
stop with an error.
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

_TOP = 10
_PLAIN = {str, int, bool, type(None)}
"""Types that a plain parser reads without loss."""
_SAFE = 2.0**53
_SPECIAL = re.compile(r"[\\\t\n\r]")
_NUMERIC = {b"%c" % c for c in b"-0123456789"}
_REWRITTEN = re.compile(rb"[\\\[{]|null")
"""Values whose text in a table may differ from their text in the file."""
_encode = json.Encoder().encode
_CELL = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})
_KINDS = ((type(None),), (bool,), (int, float), (str,), (list,), (dict,))

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
    """Maximum number of results of the specification's command; None: all."""


# --- selection


def _selection(field: str, predicate: Callable[[str], Matches]) -> Run:
    read = attrgetter(field)

    def rows(file: BinaryIO, word: str, most: int | None) -> Rows:
        matches = predicate(word)
        return islice((line.rstrip() for line, record in records(file, field) if matches(read(record))), most)

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

    def rows(file: BinaryIO, word: str, most: int | None) -> Rows:
        for line, record in islice(records(file, *types, **types), most):
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
        return value.translate(_CELL) if _SPECIAL.search(value) else value
    if value is None:
        return ""
    if type(value) is Raw:  # its text in the file, with every digit
        text = bytes(value)
        return text.decode() if text[:1] in _NUMERIC else _cell(json.decode(text), line, path)
    text = _text(value)
    if not _is_exact(value, text, line):
        text = lossless.dump(_exactly(value, line, path))
    return text.decode().translate(_CELL) if b"\\" in text else text.decode()


def _projection(*names: str) -> Run:
    read = attrgetter(*names)

    def rows(file: BinaryIO, word: str, most: int | None) -> Rows:
        encode = json.Encoder().encode
        for line, record in islice(records(file, *names), most):
            if not _PLAIN.issuperset(map(type, read(record))):
                for name in names:
                    value = getattr(record, name)
                    if not _is_exact(value, _text(value), line):
                        setattr(record, name, Raw(lossless.dump(_exactly(value, line, (name,)))))
            try:
                yield encode(record)
            except UnicodeEncodeError:  # a lone surrogate
                values = structs.asdict(record).items()
                yield lossless.dump({n: v if type(v) in _PLAIN else _exactly(v, line, (n,)) for n, v in values})

    return rows


def _text(value: Any) -> bytes:
    try:
        return _encode(value)
    except UnicodeEncodeError:  # a lone surrogate
        return lossless.dump(value)


def _is_exact(value: Any, text: bytes, line: bytes) -> bool:
    """True if a value has all digits of its text in the line."""
    if type(value) in _PLAIN:
        return True
    return isinstance(value, float) and abs(value) < _SAFE and (text + b"," in line or text + b"}" in line)


def _exactly(value: Any, line: bytes, path: Path) -> Any:
    """A value with all digits of its text in the line."""
    try:
        record = lossless.parse(line)
    except lossless.InexactError:
        return value
    for name in path:
        record = record[name]
    return record


# --- sorting


def _most_confident(*path: str) -> Run:
    """Sort by a number, highest first. Records without it come last; records with equal numbers stay in the order of
    the file, as in jq."""

    def rows(file: BinaryIO, word: str, most: int | None) -> Rows:
        keys, starts, lengths = array("d"), array("q"), array("q")
        for (start, length), record in places(file, path[0]):
            number = _field(record, path)
            is_number = isinstance(number, (int, float)) and not isinstance(number, bool)
            keys.append(-number if is_number else float("inf"))
            starts.append(start)
            lengths.append(length)
        order = range(len(keys))
        first = heapq.nsmallest(most, order, key=keys.__getitem__) if most else sorted(order, key=keys.__getitem__)
        return (line_at(file, (starts[i], lengths[i])).rstrip() for i in first)

    return rows


def _sorted_by(field: str) -> Run:
    read = attrgetter(field)

    def rows(file: BinaryIO, word: str, most: int | None) -> Rows:
        ranked = [(_rank(read(record)), place) for place, record in places(file, field)]
        ranked.sort()  # places grow, so equal ones stay in the order of the file
        return (line_at(file, place).rstrip() for _, place in ranked[:most])

    return rows


def _rank(value: Any) -> tuple[int, Any]:
    """jq's order of values: null, false and true, numbers, strings; arrays and objects by their text."""
    kind = next(n for n, kinds in enumerate(_KINDS) if type(value) in kinds)
    if kind == 0:
        return kind, 0
    return kind, lossless.dump(value, sort_keys=True) if kind > 3 else value


# --- counting


def _counts_by(field: str, *, descending: bool) -> Run:
    def rows(file: BinaryIO, word: str, most: int | None) -> Rows:
        groups = sorted((_rank(value), value, count) for value, count in _counts(file, field))
        if descending:
            groups.sort(key=lambda group: -group[2])
        return (lossless.dump({field: value, "count": count}) for _, value, count in groups[:most])

    return rows


def _distinct(field: str) -> Run:
    def rows(file: BinaryIO, word: str, most: int | None) -> Rows:
        return (lossless.dump(value) for _, value in sorted((_rank(v), v) for v, _ in _counts(file, field))[:most])

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
            key = _rank(value)
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
    "sort-by-confidence": Recipe(_most_confident(*_CONFIDENCE), array=True),
    "sort-by-flat-confidence": Recipe(_most_confident("confidence"), array=True),
    "top-by-confidence": Recipe(_most_confident(*_CONFIDENCE), array=True, most=_TOP),
    "sort-by-created": Recipe(_sorted_by("created"), array=True),
    "count-by-namespace": Recipe(_counts_by("namespace", descending=True), array=True),
    "count-by-namespace-unsorted": Recipe(_counts_by("namespace", descending=False), array=True),
    "count-by-type": Recipe(_counts_by("memory_type", descending=False), array=True),
    "namespaces": Recipe(_distinct("namespace"), array=True),
}
"""The standard recipes, by their effect (`lro_spec.editions.StandardRecipe`)."""
