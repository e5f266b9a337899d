"""Fields that records have in common, their types, and the fields that are worth a recipe."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import orjson

from lro_proxy.payload.sample import count, survey
from lro_proxy.payload.survey import Layout
from lro_reference.results import Records

_MOST_FIELDS = 60
"""If records have more fields altogether, they are treated as if they had none."""
_MOST_NESTED = 8
"""Maximum number of names within objects of a field."""
_TOP = 5
"""Maximum number of values in `Fields.top`."""
_SHORT = 80
"""Maximum length in characters of a short value."""
_MOST_COLUMNS = 6
"""Number of columns up to which fields with short values are added to a table."""
_MOST_GROUPS = 25
_FILLED = 0.8
"""Share of records in which a field must have a value to be worth grouping, sorting or finding records by."""
_MOST_WORDS = 3
"""Most words of a value to group by; a longer text is a sentence."""
_LONG_UNBROKEN = 200
"""Length in characters above which a text without a blank is long."""
_IDENTITY = re.compile(r"(?:(?:^|_)(?i:id|uuid|key|hash|sha|number|index|no)|[a-z](?:Id|Key|Number|Index))$")
_NUMBER = re.compile(r"-?(?:0|[1-9]\d{0,17})(?:\.\d{1,17})?")
_WORD = re.compile(r"[a-z]+|[A-Z]+(?![a-z])|[A-Z][a-z]*")
_GROUPING = (
    "table", "member", "namespace", "type", "kind", "category", "status", "state", "level", "severity", "language",
    "country", "label", "role", "file", "path",
)  # fmt: skip
_READING = (
    "title", "name", "subject", "summary", "description", "message", "msg", "content", "text", "path", "url",
)  # fmt: skip
_WEIGHING = (
    "score", "confidence", "rank", "size", "count", "total", "amount", "price", "comments", "length", "duration",
    "balance", "value", "quantity", "votes", "stars", "age",
)  # fmt: skip
_PLACES = frozenset(["n", "line", "hunk", "part", "column", "row", "depth", "level", "year", "month", "day"])
"""Names of numbers that say where or when something is: nobody sorts by them."""
_NAMING = frozenset(["name", "title", "heading", "path", "file", "key"])
_JSON_TYPES: Mapping[type, str] = {
    str: "string",
    bool: "boolean",
    int: "integer",
    float: "number",
    orjson.Fragment: "number",
    list: "array",
    dict: "object",
    type(None): "null",
}

Path = tuple[str, ...]
"""The name of a field, or the names that lead to one within an object."""


@dataclass(frozen=True, slots=True)
class Fields:
    """The fields of a set of records."""

    types: Mapping[str, frozenset[str]]
    """JSON types by field, in the order in which fields first occur."""
    always: frozenset[str]
    """Fields that every record has."""
    nested: Mapping[str, Sequence[str]]
    """Names that objects in a field have, by field, from a sample."""
    grouping: Path | None = None
    """The field that groups the records best: it has few different values, which are short."""
    top: tuple[tuple[str, int], ...] = ()
    """The most frequent values of `grouping`, with their counts; none if it is nested or has no texts."""
    reading: Path | None = None
    """The text field that describes a record best."""
    weighing: Path | None = None
    """A field of numbers to sort by; they may be written as texts."""
    identity: Path | None = None
    """A field by whose value a record is found."""
    columns: tuple[Path, ...] = ()
    """The fields of a table: those above, and others whose values are short."""
    has_long_values: bool = False
    """True if a text in the sample is long and without a blank, such as base64."""
    pages: Path | None = None
    """A field with long texts of several lines."""

    def schema(self, *, nested: bool = False, required: bool = True) -> dict[str, Any]:
        """The JSON Schema of a line; every record is valid under it. *nested*: with the names within objects."""
        described = {
            name: self._described(name) if nested else {"type": _type(self.types[name])} for name in self.types
        }
        always = {"required": [name for name in self.types if name in self.always]} if required else {}
        return {"type": "object", "properties": described, **always}

    def names(self, characters: int) -> dict[str, Any]:
        """A schema that only names fields: as many as fit into *characters*, but at least one."""
        named: dict[str, Any] = {}
        for name in self.types:
            characters -= len(name) + len('"":{},')
            if named and characters < 0:
                break
            named[name] = {}
        return {"type": "object", "properties": named}

    def _described(self, name: str) -> dict[str, Any]:
        inner = self.nested.get(name)
        properties: dict[str, Any] = {"properties": {key: {} for key in inner}} if inner else {}
        return {"type": _type(self.types[name]), **properties}

    def is_only(self, path: Path, *types: str) -> bool:
        """True if all values of a field have these types; False for a nested one, which is known from a sample only."""
        return len(path) == 1 and self.types[path[0]] <= set(types)


def _type(types: frozenset[str]) -> str | list[str]:
    named = sorted(types - {"integer"} if "number" in types else types)
    return named[0] if len(named) == 1 else named


def fields(records: Records) -> Fields:
    """The fields of all records. Which of them are worth a recipe is decided from a sample."""
    # The same pass counts the texts of the field that the first records suggest as the grouping.
    findings = survey(records, lambda layouts, head: _top_level(_choose_grouping(_Values(_types(layouts), head))))
    types = _types(findings.layouts)
    if not types:
        return Fields({}, frozenset(), {})
    values = _Values(types, findings.sample)
    grouping = _choose_grouping(values)
    top: list[tuple[str, int]] = []
    if (name := _top_level(grouping)) is not None and "string" in types[name]:
        top = (findings.counted.get(name) or count(records, name)).most_common(_TOP)
    texts = [path for path in values.by_path if values.are_texts(path)]
    numbers = [path for path in values.by_path if values.are_numbers(path) and not _IDENTITY.search(path[-1])]
    numbers = [path for path in numbers if path[-1].lower() not in _PLACES]
    reading = _preferred(texts, _READING) or max(texts, key=values.length, default=None)
    weighing = _preferred(numbers, _WEIGHING) or next(iter(numbers), None)
    identity = next((path for path in values.by_path if values.identify(path)), None)
    identity = identity or next((path for path in texts if values.are_names(path)), None)
    return Fields(
        types=types,
        always=frozenset(types).intersection(*(names for names, _ in findings.layouts)),
        nested=values.nested,
        grouping=grouping,
        top=tuple(top),
        reading=reading,
        weighing=weighing,
        identity=identity,
        columns=_columns(values, [identity, reading, grouping, weighing]),
        pages=max(filter(values.are_pages, texts), key=values.length, default=None),
        has_long_values=_have_long_values(findings.sample),
    )


class _Values:
    """The values of a sample of records, by the path of their field; fields are nested at most one level deep."""

    def __init__(self, types: Mapping[str, frozenset[str]], sample: Sequence[Mapping[str, Any]]) -> None:
        self._types, self._count = types, len(sample)
        self.by_path: dict[Path, list[Any]] = {}
        self._filled: dict[Path, list[Any]] = {}
        self.nested: dict[str, Sequence[str]] = {}
        for name, found in types.items():
            values = [record.get(name) for record in sample]
            if not found & {"array", "object"}:
                self.by_path[name,] = values
            elif "object" in found and found <= {"object", "null"}:
                inner = dict.fromkeys(key for value in values for key in cast("dict[str, Any]", value or {}))
                self.nested[name] = list(inner)[:_MOST_NESTED]
                for key in self.nested[name]:
                    members = [None if value is None else value.get(key) for value in values]
                    if not any(isinstance(member, (dict, list)) for member in members):
                        self.by_path[name, key] = members

    def filled(self, path: Path) -> list[Any]:
        """The values that are neither null nor an empty text."""
        if path not in self._filled:
            self._filled[path] = [value for value in self.by_path[path] if value is not None and value != ""]
        return self._filled[path]

    def are_texts(self, path: Path) -> bool:
        """True if the values are texts, but not only numbers."""
        found = self.filled(path)
        return bool(found) and all(isinstance(v, str) for v in found) and not self.are_numbers(path)

    def are_numbers(self, path: Path) -> bool:
        """True if nearly all records have a number, or nearly all a text that is one, and the rest have no value."""
        found = self.filled(path)
        texts = [value for value in found if isinstance(value, str)]
        if len(found) < _FILLED * self._count or not found or len(texts) not in (0, len(found)):
            return False
        if texts:
            return all(map(_NUMBER.fullmatch, texts))
        return all(isinstance(v, (int, float, orjson.Fragment)) and not isinstance(v, bool) for v in found)

    def length(self, path: Path) -> float:
        """Mean length of the values."""
        found = self.filled(path)
        return sum(len(v) if isinstance(v, str) else 8 for v in found) / len(found) if found else 0

    def are_pages(self, path: Path) -> bool:
        """True for a field of long texts, outside nested objects, that have more than two lines on average."""
        found = self.filled(path)
        return len(path) == 1 and self.length(path) > _SHORT and sum(text.count("\n") for text in found) > len(found)

    def differ(self, path: Path) -> bool:
        """True if the values are not all the same, or if there is only one."""
        found = self.by_path[path]
        return len(found) < 2 or len({_comparable(value) for value in found}) > 1

    def identify(self, path: Path) -> bool:
        """True if a field has the name of an identity, and a different short value in each record of the sample."""
        found = self.by_path[path]
        named = len(path) == 1 and (path == ("n",) or _IDENTITY.search(path[0]))
        if not named or len(found) < 2 or self.length(path) > _SHORT:
            return False
        known = all(isinstance(value, (str, int)) for value in found)
        return known and len(set(found)) == len(found)

    def are_names(self, path: Path) -> bool:
        """True if the field's name says that it names things, and nearly each record has a short value of its own."""
        found = self.filled(path)
        return (
            is_name(path)
            and self.length(path) <= _SHORT
            and len(found) >= _FILLED * self._count
            and len(set(found)) == len(found)
        )

    def groups(self, path: Path) -> int | None:
        """The number of groups that a field makes; None if the groups are not useful."""
        found = self.filled(path)
        if len(found) < _FILLED * self._count or not all(isinstance(value, (str, bool)) for value in found):
            return None
        texts = [value for value in found if isinstance(value, str)]
        if any(len(text.split()) > _MOST_WORDS or len(text) > _SHORT for text in texts):
            return None
        number = len(set(self.by_path[path]))
        return number if 1 < number <= min(_MOST_GROUPS, max(2, self._count // 3)) else None


def is_name(path: Path) -> bool:
    """True if a field's own name, such as ``title`` or ``path``, says that it names a thing."""
    return path[-1].lower() in _NAMING


def _comparable(value: object) -> object:
    return orjson.dumps(value) if isinstance(value, orjson.Fragment) else value


def _choose_grouping(values: _Values) -> Path | None:
    groups = {path: number for path in values.by_path if (number := values.groups(path)) is not None}
    texts = [path for path in groups if values.are_texts(path)]
    return _preferred(texts, _GROUPING) or min(
        texts or groups, key=lambda path: (groups[path], len(path)), default=None
    )


def _columns(values: _Values, wanted: Sequence[Path | None]) -> tuple[Path, ...]:
    """The fields of a table, in the order in which they first occur: the wanted ones, and others with short values that
    are not all the same."""
    chosen = dict.fromkeys(path for path in wanted if path is not None)
    for path in values.by_path:
        if len(chosen) < _MOST_COLUMNS and values.differ(path) and values.length(path) <= _SHORT // 2:
            chosen[path] = None
    return tuple(path for path in values.by_path if path in chosen)


def _top_level(path: Path | None) -> str | None:
    return path[0] if path is not None and len(path) == 1 else None


def _types(layouts: Sequence[Layout]) -> dict[str, frozenset[str]]:
    """The types of every field; empty if there are too many fields."""
    found: dict[str, set[str]] = {}
    for names, kinds in layouts:
        for name, kind in zip(names, kinds, strict=True):
            found.setdefault(name, set()).add(_JSON_TYPES[kind])
    return {} if len(found) > _MOST_FIELDS else {name: frozenset(types) for name, types in found.items()}


def _preferred(paths: Sequence[Path], wanted: Sequence[str]) -> Path | None:
    """The path whose name, or else whose last word, comes first in *wanted*; outer fields before nested ones."""
    outer = sorted(paths, key=len)

    def first(name_of: Callable[[str], str]) -> Path | None:
        return next((path for want in wanted for path in outer if name_of(path[-1]) == want), None)

    return first(str.lower) or first(_last_word)


def _last_word(name: str) -> str:
    words = _WORD.findall(name)
    return words[-1].lower() if words else ""


def _have_long_values(sample: Sequence[Mapping[str, Any]]) -> bool:
    """True if a text in the sample is long and without a blank."""
    pending: list[Any] = list(sample)
    for value in pending:  # which grows
        if isinstance(value, str):
            if len(value) > _LONG_UNBROKEN and not any(map(str.isspace, value)):
                return True
        elif isinstance(value, dict):
            pending += cast("dict[str, Any]", value).values()
        elif isinstance(value, list):
            pending += value
    return False
