"""Fields that records have in common, their types, and the fields that are worth a recipe."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from lro_proxy.payload.sample import Layout, count, survey
from lro_reference.results import Records

_MOST_FIELDS = 60
_TOP = 5
_SHORT = 80
_IDENTITY = re.compile(r"(?:(?:^|_)(?i:id|uuid|key|hash|sha|number|index|no)|[a-z](?:Id|Key|Number|Index))$")
_GROUPING = ("namespace", "type", "kind", "category", "status", "state", "level", "severity", "language", "label")
_READING = ("title", "name", "subject", "summary", "description", "message", "content", "text", "path", "url")
_WEIGHING = ("score", "confidence", "rank", "size", "count", "total", "amount", "price", "length", "duration", "age")
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


@dataclass(frozen=True, slots=True)
class Fields:
    """The fields of a set of records."""

    types: Mapping[str, frozenset[str]]
    """JSON types by field, in the order in which fields first occur."""
    always: frozenset[str]
    """Fields that every record has."""
    grouping: str | None = None
    """The field that groups the records best: one of few different short texts."""
    top: tuple[tuple[str, int], ...] = ()
    """The most frequent values of `grouping`, with their counts."""
    reading: str | None = None
    """The text field that describes a record best."""
    weighing: str | None = None
    """A number field to sort by."""
    short: tuple[str, ...] = ()
    """Scalar fields that are short enough for a list."""

    def schema(self) -> dict[str, Any]:
        """The JSON Schema of a line; every record is valid under it."""
        return {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "properties": {name: {"type": _type(types)} for name, types in self.types.items()},
            "required": [name for name in self.types if name in self.always],
        }

    def is_only(self, name: str, *types: str) -> bool:
        """True if every record has the field, with one of these types."""
        return name in self.always and self.types[name] <= set(types)


def _type(types: frozenset[str]) -> str | list[str]:
    named = sorted(types - {"integer"} if "number" in types else types)
    return named[0] if len(named) == 1 else named


def fields(records: Records) -> Fields:
    """The fields of records, from a look at each; `grouping`, `reading` and `weighing` are chosen from a sample."""
    findings = survey(records, lambda layouts, head: _choose_grouping(_types(layouts), head))
    types, sample = _types(findings.layouts), findings.sample
    if not types:
        return Fields({}, frozenset())
    grouping = _choose_grouping(types, sample)
    top: list[tuple[str, int]] = []
    if grouping is not None:
        top = (findings.counted if grouping == findings.guessed else count(records, grouping)).most_common(_TOP)
    numbers = [n for n, t in types.items() if t & {"integer", "number"} and not t & {"string", "object", "array"}]
    texts = [name for name, found in types.items() if "string" in found]
    return Fields(
        types=types,
        always=frozenset(types).intersection(*(names for names, _ in findings.layouts)),
        grouping=grouping,
        top=tuple(top),
        reading=_preferred(texts, _READING) or max(texts, key=lambda n: _length(n, sample), default=None),
        weighing=_preferred(numbers, _WEIGHING)
        or next((name for name in numbers if not _IDENTITY.search(name) and name != "n"), None),
        short=tuple(
            name for name, found in types.items() if not found & {"array", "object"} and _length(name, sample) <= _SHORT
        )[:6],
    )


def _types(layouts: Sequence[Layout]) -> dict[str, frozenset[str]]:
    """The types of every field; none if the records have nothing in common."""
    found: dict[str, set[str]] = {}
    for names, kinds in layouts:
        for name, kind in zip(names, kinds, strict=True):
            found.setdefault(name, set()).add(_JSON_TYPES[kind])
    return {} if len(found) > _MOST_FIELDS else {name: frozenset(types) for name, types in found.items()}


def _choose_grouping(types: Mapping[str, frozenset[str]], sample: Sequence[Mapping[str, Any]]) -> str | None:
    few: list[tuple[int, str]] = []
    for name, found in types.items():
        if not found <= {"string", "null"} or "string" not in found:
            continue
        values = {record.get(name) for record in sample}
        if 1 < len(values) <= max(2, len(sample) // 3) and _length(name, sample) <= _SHORT // 2:
            few.append((len(values), name))
    return _preferred([name for _, name in few], _GROUPING) or (min(few)[1] if few else None)


def _preferred(names: Sequence[str], wanted: Sequence[str]) -> str | None:
    return next((name for want in wanted for name in names if name.lower() == want), None) or next(
        (name for want in wanted for name in names if name.lower().endswith(want)), None
    )


def _length(name: str, sample: Sequence[Mapping[str, Any]]) -> float:
    lengths = [len(v) for record in sample if isinstance(v := record.get(name), str)]
    return sum(lengths) / len(lengths) if lengths else 0
