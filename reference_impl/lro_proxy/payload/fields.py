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

_MAX_FIELDS = 60
"""If records have more fields altogether, they are treated as if they had none."""
_MAX_NESTED_NAMES = 8
"""Maximum number of names that are kept of the members of objects in a field."""
_MAX_TOP_VALUES = 5
"""Maximum number of values in `Fields.top_values`."""
_MAX_SHORT_LENGTH = 80
"""Maximum length in characters of a short value."""
_MAX_COLUMNS = 6
"""Fields with short values are added to a table until it has this many columns."""
_MAX_GROUPS = 25
_MIN_FILLED_SHARE = 0.8
"""Share of records in which a field must have a value to be worth grouping, sorting or finding records by."""
_MAX_WORDS = 3
"""Maximum number of words of a value to group by. A text with more words is a sentence."""
_MAX_UNBROKEN_LENGTH = 200
"""Length in characters above which a text without a blank is long."""
_ID_NAME = re.compile(r"(?:(?:^|_)(?i:id|uuid|key|hash|sha|number|index|no)|[a-z](?:Id|Key|Number|Index))$")
_NUMBER = re.compile(r"-?(?:0|[1-9]\d{0,17})(?:\.\d{1,17})?")
_WORD = re.compile(r"[a-z]+|[A-Z]+(?![a-z])|[A-Z][a-z]*")
_GROUP_FIELD_NAMES = (
    "table", "member", "namespace", "type", "kind", "category", "status", "state", "level", "severity", "language",
    "country", "label", "role", "file", "path",
)  # fmt: skip
_TEXT_FIELD_NAMES = (
    "title", "name", "subject", "summary", "description", "message", "msg", "content", "text", "path", "url",
)  # fmt: skip
_NUMBER_FIELD_NAMES = (
    "score", "confidence", "rank", "size", "count", "total", "amount", "price", "comments", "length", "duration",
    "balance", "value", "quantity", "votes", "stars", "age",
)  # fmt: skip
_POSITION_NAMES = frozenset(["n", "line", "hunk", "part", "column", "row", "depth", "level", "year", "month", "day"])
"""Names of numbers that say where or when something is: nobody sorts by them."""
_NAMING_FIELDS = frozenset(["name", "title", "heading", "path", "file", "key"])
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
    always_present: frozenset[str]
    """Fields that every record has."""
    nested: Mapping[str, Sequence[str]]
    """For each field with objects, the names of their members, from a sample."""
    group_field: Path | None = None
    """The field that groups the records best: it has few different values, which are short."""
    top_values: tuple[tuple[str, int], ...] = ()
    """The most frequent values of `group_field`, with their counts. Empty if that field is nested or has no texts."""
    text_field: Path | None = None
    """The text field that describes a record best."""
    number_field: Path | None = None
    """A field of numbers by which records can be sorted. The numbers may be written as texts."""
    id_field: Path | None = None
    """A field by whose value a single record can be found."""
    columns: tuple[Path, ...] = ()
    """The fields of a table: the four fields above, and others whose values are short."""
    has_long_unbroken_texts: bool = False
    """True if a text in the sample is long and without a blank, such as base64."""
    page_field: Path | None = None
    """A field with long texts of several lines."""

    def schema(self, *, nested: bool = False, required: bool = True) -> dict[str, Any]:
        """The JSON Schema of a line. Every record is valid under it.

        With *nested*, it has the names within objects, too; with *required*, the names of fields that all records have.
        """
        described = {
            name: self._described(name) if nested else {"type": _type(self.types[name])} for name in self.types
        }
        required_names = {"required": [name for name in self.types if name in self.always_present]} if required else {}
        return {"type": "object", "properties": described, **required_names}

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

    def has_only_types(self, path: Path, *types: str) -> bool:
        """True if all values of a field have these types.

        False for a nested field, because its types are known from a sample only.
        """
        return len(path) == 1 and self.types[path[0]] <= set(types)


def _type(types: frozenset[str]) -> str | list[str]:
    named = sorted(types - {"integer"} if "number" in types else types)
    return named[0] if len(named) == 1 else named


def fields(records: Records) -> Fields:
    """The fields of all records. A sample decides which of them are worth a recipe."""
    # The same pass counts the texts of the field that the first records suggest as the grouping.
    findings = survey(records, lambda layouts, head: _top_level(_choose_group_field(_Values(_types(layouts), head))))
    types = _types(findings.layouts)
    if not types:
        return Fields({}, frozenset(), {})
    values = _Values(types, findings.sample)
    group_field = _choose_group_field(values)
    top_values: list[tuple[str, int]] = []
    if (name := _top_level(group_field)) is not None and "string" in types[name]:
        top_values = (findings.counts_by_field.get(name) or count(records, name)).most_common(_MAX_TOP_VALUES)
    texts = [path for path in values.by_path if values.are_texts(path)]
    numbers = [path for path in values.by_path if values.are_numbers(path) and not _ID_NAME.search(path[-1])]
    numbers = [path for path in numbers if path[-1].lower() not in _POSITION_NAMES]
    text_field = _preferred(texts, _TEXT_FIELD_NAMES) or max(texts, key=values.length, default=None)
    number_field = _preferred(numbers, _NUMBER_FIELD_NAMES) or next(iter(numbers), None)
    id_field = next((path for path in values.by_path if values.identify(path)), None)
    id_field = id_field or next((path for path in texts if values.are_names(path)), None)
    return Fields(
        types=types,
        always_present=frozenset(types).intersection(*(names for names, _ in findings.layouts)),
        nested=values.nested,
        group_field=group_field,
        top_values=tuple(top_values),
        text_field=text_field,
        number_field=number_field,
        id_field=id_field,
        columns=_columns(values, [id_field, text_field, group_field, number_field]),
        page_field=max(filter(values.are_pages, texts), key=values.length, default=None),
        has_long_unbroken_texts=_have_long_unbroken_texts(findings.sample),
    )


class _Values:
    """The values of a sample of records, by the path of their field; fields are nested at most one level deep."""

    def __init__(self, types: Mapping[str, frozenset[str]], sample: Sequence[Mapping[str, Any]]) -> None:
        self._types, self._count = types, len(sample)
        self.by_path: dict[Path, list[Any]] = {}
        self._filled: dict[Path, list[Any]] = {}
        self.nested: dict[str, Sequence[str]] = {}
        for name, field_types in types.items():
            values = [record.get(name) for record in sample]
            if not field_types & {"array", "object"}:
                self.by_path[name,] = values
            elif "object" in field_types and field_types <= {"object", "null"}:
                inner = dict.fromkeys(key for value in values for key in cast("dict[str, Any]", value or {}))
                self.nested[name] = list(inner)[:_MAX_NESTED_NAMES]
                for key in self.nested[name]:
                    members = [None if value is None else value.get(key) for value in values]
                    if not any(isinstance(member, (dict, list)) for member in members):
                        self.by_path[name, key] = members

    def filled(self, path: Path) -> list[Any]:
        """The values except null and empty texts."""
        if path not in self._filled:
            self._filled[path] = [value for value in self.by_path[path] if value is not None and value != ""]
        return self._filled[path]

    def are_texts(self, path: Path) -> bool:
        """True if there are values, and all are texts, but not written numbers (`are_numbers`)."""
        filled = self.filled(path)
        return bool(filled) and all(isinstance(v, str) for v in filled) and not self.are_numbers(path)

    def are_numbers(self, path: Path) -> bool:
        """True if nearly all records have a value, and these values are all numbers, or all written numbers.

        A written number is a text such as ``"12.5"``.
        """
        filled = self.filled(path)
        texts = [value for value in filled if isinstance(value, str)]
        if len(filled) < _MIN_FILLED_SHARE * self._count or not filled or len(texts) not in (0, len(filled)):
            return False
        if texts:
            return all(map(_NUMBER.fullmatch, texts))
        return all(isinstance(v, (int, float, orjson.Fragment)) and not isinstance(v, bool) for v in filled)

    def length(self, path: Path) -> float:
        """Mean length of the values."""
        filled = self.filled(path)
        return sum(len(v) if isinstance(v, str) else 8 for v in filled) / len(filled) if filled else 0

    def are_pages(self, path: Path) -> bool:
        """True for a field of long texts, outside nested objects, that have more than two lines on average."""
        filled = self.filled(path)
        return (
            len(path) == 1
            and self.length(path) > _MAX_SHORT_LENGTH
            and sum(text.count("\n") for text in filled) > len(filled)
        )

    def differ(self, path: Path) -> bool:
        """True if the values are not all the same, or if there is only one."""
        values = self.by_path[path]
        return len(values) < 2 or len({_comparable(value) for value in values}) > 1

    def identify(self, path: Path) -> bool:
        """True if a field has a name such as ``id``, and a different short value in each record of the sample."""
        values = self.by_path[path]
        named = len(path) == 1 and (path == ("n",) or _ID_NAME.search(path[0]))
        if not named or len(values) < 2 or self.length(path) > _MAX_SHORT_LENGTH:
            return False
        are_simple = all(isinstance(value, (str, int)) for value in values)
        return are_simple and len(set(values)) == len(values)

    def are_names(self, path: Path) -> bool:
        """True if the field's name says that it names things, and nearly all records have different short values."""
        filled = self.filled(path)
        return (
            is_naming_field(path)
            and self.length(path) <= _MAX_SHORT_LENGTH
            and len(filled) >= _MIN_FILLED_SHARE * self._count
            and len(set(filled)) == len(filled)
        )

    def groups(self, path: Path) -> int | None:
        """The number of groups that a field makes; None if the groups are not useful."""
        filled = self.filled(path)
        if len(filled) < _MIN_FILLED_SHARE * self._count or not all(isinstance(value, (str, bool)) for value in filled):
            return None
        texts = [value for value in filled if isinstance(value, str)]
        if any(len(text.split()) > _MAX_WORDS or len(text) > _MAX_SHORT_LENGTH for text in texts):
            return None
        number = len(set(self.by_path[path]))
        return number if 1 < number <= min(_MAX_GROUPS, max(2, self._count // 3)) else None


def is_naming_field(path: Path) -> bool:
    """True if a field's own name, such as ``title`` or ``path``, says that it names a thing."""
    return path[-1].lower() in _NAMING_FIELDS


def _comparable(value: object) -> object:
    return orjson.dumps(value) if isinstance(value, orjson.Fragment) else value


def _choose_group_field(values: _Values) -> Path | None:
    groups = {path: number for path in values.by_path if (number := values.groups(path)) is not None}
    texts = [path for path in groups if values.are_texts(path)]
    return _preferred(texts, _GROUP_FIELD_NAMES) or min(
        texts or groups, key=lambda path: (groups[path], len(path)), default=None
    )


def _columns(values: _Values, wanted: Sequence[Path | None]) -> tuple[Path, ...]:
    """The fields of a table, in the order in which they first occur: the wanted fields, and others with short values
    that are not all the same."""
    chosen = dict.fromkeys(path for path in wanted if path is not None)
    for path in values.by_path:
        if len(chosen) < _MAX_COLUMNS and values.differ(path) and values.length(path) <= _MAX_SHORT_LENGTH // 2:
            chosen[path] = None
    return tuple(path for path in values.by_path if path in chosen)


def _top_level(path: Path | None) -> str | None:
    return path[0] if path is not None and len(path) == 1 else None


def _types(layouts: Sequence[Layout]) -> dict[str, frozenset[str]]:
    """The types of every field; empty if there are too many fields."""
    types_by_name: dict[str, set[str]] = {}
    for names, kinds in layouts:
        for name, kind in zip(names, kinds, strict=True):
            types_by_name.setdefault(name, set()).add(_JSON_TYPES[kind])
    return (
        {}
        if len(types_by_name) > _MAX_FIELDS
        else {name: frozenset(field_types) for name, field_types in types_by_name.items()}
    )


def _preferred(paths: Sequence[Path], wanted_names: Sequence[str]) -> Path | None:
    """The path whose name comes first in *wanted_names*; outer fields come before nested ones.

    If no name is among them, the last words of the names are compared instead.
    """
    outer_first = sorted(paths, key=len)

    def first(name_of: Callable[[str], str]) -> Path | None:
        return next(
            (path for wanted_name in wanted_names for path in outer_first if name_of(path[-1]) == wanted_name), None
        )

    return first(str.lower) or first(_last_word)


def _last_word(name: str) -> str:
    words = _WORD.findall(name)
    return words[-1].lower() if words else ""


def _have_long_unbroken_texts(sample: Sequence[Mapping[str, Any]]) -> bool:
    """True if a text in the sample is long and without a blank."""
    pending: list[Any] = list(sample)
    for value in pending:  # the list grows meanwhile
        if isinstance(value, str):
            if len(value) > _MAX_UNBROKEN_LENGTH and not any(map(str.isspace, value)):
                return True
        elif isinstance(value, dict):
            pending += cast("dict[str, Any]", value).values()
        elif isinstance(value, list):
            pending += value
    return False
