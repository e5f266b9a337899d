"""The kinds of expected output of a recipe.

They are a selection, a ranking, a sorted list, a projection, a table, counts, and distinct values. Each class
recognises an output of its kind. The layout of an output is its author's choice, so objects, arrays and rows of TSV are
all accepted. Records that are equal in a sort may come in any order.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import Any, Protocol, cast

from lro_spec.display import counted
from lro_spec.jsonl.strict import Json, bytes_of, canonical, equal, number_of, spelling
from lro_spec.recipes.numbers import near

Record = Mapping[str, Any]

_LIST_LENGTH = 1_000
"""A list of names ends with the name that makes it longer than this many characters. A report shows fewer
characters."""


class Expected(Protocol):
    """Expected output of a recipe for some records."""

    def met_by(self, values: Sequence[Any]) -> bool:
        """True if *values* are the expected output. If the only value is an array, *values* may also be its items."""
        ...

    def text(self) -> str:
        """The expected output, worded for a report."""
        ...

    def difference(self, values: Sequence[Any]) -> str:
        """Difference of a wrong output from the expected output, as a clause."""
        ...


@dataclass(frozen=True, slots=True)
class Selection:
    """Some of the records, complete and in the order of the file."""

    records: Sequence[Record]
    chosen: Sequence[bool | None]
    """For each record: True if the recipe selects it, False if not, None if engines differ on the record."""

    def met_by(self, values: Sequence[Any]) -> bool:
        """True for the chosen records in order. Records on which engines differ may be among them, each in its
        place."""
        index = 0
        for record, chosen in zip(self.records, self.chosen, strict=True):
            if chosen is False:
                continue
            if index < len(values) and equal(record, values[index]):
                index += 1
            elif chosen:
                return False
        return index == len(values)

    def text(self) -> str:
        """Number of chosen records, and their ids."""
        chosen = [r for r, c in zip(self.records, self.chosen, strict=True) if c]
        undecided = sum(c is None for c in self.chosen)
        also = f" (and up to {undecided} more)" if undecided else ""
        return f"{len(chosen)} of {len(self.records)} records{also}{_list(map(_name, chosen))}"

    def difference(self, values: Sequence[Any]) -> str:
        """The number of missing or additional records, values that are not records, or the order."""
        chosen = [r for r, c in zip(self.records, self.chosen, strict=True) if c]
        possible = [r for r, c in zip(self.records, self.chosen, strict=True) if c is not False]
        if foreign := _unmatched(values, self.records):
            return _not_records(foreign)
        missing, extra = _unmatched(chosen, values).total(), _unmatched(values, possible).total()
        if missing or extra:
            parts = [f"{counted(missing, 'record')} missing"] if missing else []
            return " and ".join([*parts, *([f"{counted(extra, 'record')} too many"] if extra else [])])
        return "the records are the right ones, but not in the order of the file"


@dataclass(frozen=True, slots=True)
class Ranking:
    """The records in descending order of a number, or only the first *limit* of them. Ties may come in any order."""

    records: Sequence[Record]
    key: Callable[[Record], float | None]
    limit: int | None = None

    def met_by(self, values: Sequence[Any]) -> bool:
        """True for the right number of records of the file, each once, in a right order."""
        wanted = len(self.records) if self.limit is None else min(self.limit, len(self.records))
        if len(values) != wanted or any(_unmatched(values, self.records)):
            return False
        # Records without the number may come last, or the number may count as 0. Both choices are sensible, because the
        # specification's own command fails on such records.
        return any(
            [_number_or(self.key(v), absent) for v in values] == self._keys(absent)[:wanted]
            for absent in (-math.inf, 0.0)
        )

    def _keys(self, absent: float) -> list[float]:
        return sorted((_number_or(self.key(r), absent) for r in self.records), reverse=True)

    def text(self) -> str:
        """The confidences that come first."""
        keys = ["none" if k == -math.inf else f"{k:g}" for k in self._keys(-math.inf)[: self.limit]]
        return f"{len(keys)} of {len(self.records)} records in descending order of confidence{_list(keys)}"

    def difference(self, values: Sequence[Any]) -> str:
        """Values that are not records, their number, or the order."""
        wanted = len(self.records) if self.limit is None else min(self.limit, len(self.records))
        if foreign := _unmatched(values, self.records):
            return _not_records(foreign)
        if len(values) != wanted:
            return f"it has {counted(len(values), 'record')} instead of {wanted}"
        keys = [self.key(v) for v in values]
        if (
            wrong_pair := next((p for p in pairwise(keys) if _number_or(p[0], 0) < _number_or(p[1], 0)), None)
        ) is not None:
            first, second = ("none" if k is None else f"{k:g}" for k in wrong_pair)
            return f"the records are not in descending order of confidence: {first} comes before {second}"
        return "these are not the records with the highest confidence"


@dataclass(frozen=True, slots=True)
class ByOrder:
    """All records in ascending order of a field that should be a string. Ties may come in any order."""

    records: Sequence[Record]
    field: str

    def met_by(self, values: Sequence[Any]) -> bool:
        """True for all records in a right order."""
        if not all(isinstance(v, dict) for v in values):
            return False
        keys = [_rank(v.get(self.field)) for v in values]
        return keys == sorted(keys) and len(values) == len(self.records) and not any(_unmatched(values, self.records))

    def text(self) -> str:
        """The values that come first."""
        keys = sorted((r.get(self.field) for r in self.records), key=_rank)
        return f"{counted(len(keys), 'record')} in ascending order of {self.field}{_list(map(str, keys))}"

    def difference(self, values: Sequence[Any]) -> str:
        """Values that are not records, their number, or the order."""
        if foreign := _unmatched(values, self.records):
            return _not_records(foreign)
        if len(values) != len(self.records):
            return f"it has {counted(len(values), 'record')} instead of {len(self.records)}"
        keys = [v.get(self.field) for v in values]
        first, second = next((p for p in pairwise(keys) if _rank(p[0]) > _rank(p[1])), ("", ""))
        return f"the records are not in ascending order of {self.field}: {first} comes before {second}"


@dataclass(frozen=True, slots=True)
class Projection:
    """Every record reduced to some fields, in the order of the file."""

    records: Sequence[Record]
    fields: tuple[str, ...]
    optional: tuple[str, ...] = ()
    """Fields that the output may leave out, but only for all records alike."""

    def met_by(self, values: Sequence[Any]) -> bool:
        """True if each value has these fields, with the values of its record. It may have more of the record's fields,
        but not all of them, unless the record has no other fields."""
        return any(
            len(values) == len(self.records)
            and all(self._is_cut(v, r, fields) for v, r in zip(values, self.records, strict=True))
            for fields in self._choices
        )

    @property
    def _choices(self) -> tuple[tuple[str, ...], ...]:
        all_fields = (*self.fields, *self.optional)
        return (all_fields,) if not self.optional else (all_fields, self.fields)

    def _is_cut(self, value: Json, record: Record, fields: tuple[str, ...]) -> bool:
        if not isinstance(value, dict):
            return False
        cut = cast("dict[str, Any]", value)
        left_out = set(record) - {*self.fields, *self.optional}
        if any(name in cut for name in {*self.optional} - {*fields}):
            return False
        return (not left_out or not left_out <= set(cut)) and all(equal(cut.get(f), record.get(f)) for f in fields)

    def text(self) -> str:
        """The fields, and the first objects."""
        examples = [canonical({f: r.get(f) for f in (*self.fields, *self.optional)}) for r in self.records[:2]]
        optional_fields = "".join(f", perhaps {name}" for name in self.optional)
        return f"{counted(len(self.records), 'object')} with {', '.join(self.fields)}{optional_fields}{_list(examples)}"

    def difference(self, values: Sequence[Any]) -> str:
        """The number of objects, or the first wrong object."""
        if len(values) != len(self.records):
            return f"it has {counted(len(values), 'value')} instead of {len(self.records)}"
        for number, (value, record) in enumerate(zip(values, self.records, strict=True), 1):
            if not any(self._is_cut(value, record, fields) for fields in self._choices):
                return f"value {number} {self._fault(value, record)}"
        return f"some of the objects have {' and '.join(self.optional)}, and some have not"

    def _fault(self, value: Json, record: Record) -> str:
        """A clause about a value that is not the record reduced to the fields."""
        if not isinstance(value, dict):
            return "is not an object"
        cut = cast("dict[str, Any]", value)
        expected_fields = (*self.fields, *(f for f in self.optional if f in cut))
        field = next((f for f in expected_fields if not equal(cut.get(f), record.get(f))), None)
        if field is None:
            return "is the complete record"
        return f"has a different {field} than its record" if field in cut else f"has no {field}"


@dataclass(frozen=True, slots=True)
class Table:
    """A row for every record, in the order of the file."""

    rows: Sequence[tuple[Any, ...]]

    def met_by(self, values: Sequence[Any]) -> bool:
        """True if these are the rows: lines of TSV, arrays, or objects with the cells in this order."""
        return len(values) == len(self.rows) and all(map(_is_row, values, self.rows))

    def text(self) -> str:
        """The first rows."""
        return f"{counted(len(self.rows), 'row')}{_list(' | '.join(map(_cell, row)) for row in self.rows)}"

    def difference(self, values: Sequence[Any]) -> str:
        """The number of rows, or the first wrong row."""
        if len(values) != len(self.rows):
            return f"it has {counted(len(values), 'row')} instead of {len(self.rows)}"
        number = next((n for n, pair in enumerate(zip(values, self.rows, strict=True), 1) if not _is_row(*pair)), 0)
        return f"row {number} is wrong"


@dataclass(frozen=True, slots=True)
class Counts:
    """The values of a field, each with the number of records that have it."""

    field: str
    counts: Mapping[str, tuple[Any, int]]
    """For the canonical text of each value: the value itself, and the number of records that have it."""
    descending: bool

    def met_by(self, values: Sequence[Any]) -> bool:
        """True if these are the counts, as objects or pairs. Ties may come in any order."""
        pairs = [_pair(v, self.field) for v in values]
        if any(p is None for p in pairs):
            return False
        complete_pairs = [p for p in pairs if p is not None]
        if self.descending and any(a[1] < b[1] for a, b in pairwise(complete_pairs)):
            return False
        wanted = {key: float(count) for key, (_, count) in self.counts.items()}
        return len(complete_pairs) == len(wanted) and {canonical(v): n for v, n in complete_pairs} == wanted

    def text(self) -> str:
        """The counts."""
        ordered = sorted(self.counts.values(), key=lambda c: -c[1])
        order = ", most frequent first" if self.descending else ""
        return f"{counted(len(ordered), 'value')} of {self.field}{order}{_list(f'{_cell(v)}: {n}' for v, n in ordered)}"

    def difference(self, values: Sequence[Any]) -> str:
        """Values that are not counts, groups that are missing or too many, a wrong count, or the order."""
        pairs = [p for v in values if (p := _pair(v, self.field)) is not None]
        if not values or len(pairs) < len(values):
            return f"it is not a list of {self.field} and count"
        count_by_value = {canonical(v): n for v, n in pairs}
        if missing := [v for key, (v, _) in self.counts.items() if key not in count_by_value]:
            return f"{counted(len(missing), 'value')} of {self.field} missing: {_first_values(missing)}"
        if foreign := [v for v, _ in pairs if canonical(v) not in self.counts]:
            return f"no record has the {self.field} {_cell(foreign[0])}"
        if len(count_by_value) < len(pairs):
            return f"a {self.field} is listed twice"
        for key, (value, count) in self.counts.items():
            if count_by_value[key] != count:
                return f"{_cell(value)} has a count of {count_by_value[key]:g} instead of {count}"
        first, second = next((p for p in pairwise(n for _, n in pairs) if p[0] < p[1]), (0, 0))
        return f"the counts are right, but not in descending order: {first:g} comes before {second:g}"


@dataclass(frozen=True, slots=True)
class Distinct:
    """The values of a field, each once, in any order."""

    values: Sequence[Any]

    def met_by(self, values: Sequence[Any]) -> bool:
        """True if these are the values, in any order."""
        return len(values) == len(self.values) and set(map(canonical, values)) == set(map(canonical, self.values))

    def text(self) -> str:
        """The values."""
        return f"{counted(len(self.values), 'value')}{_list(map(_cell, self.values))}"

    def difference(self, values: Sequence[Any]) -> str:
        """Values that are missing, too many, or repeated."""
        wanted, found = ({canonical(v): v for v in each} for each in (self.values, values))
        if missing := [v for key, v in wanted.items() if key not in found]:
            return f"{counted(len(missing), 'value')} missing: {_first_values(missing)}"
        if foreign := [v for key, v in found.items() if key not in wanted]:
            return f"no record has the value {_cell(foreign[0])}"
        return "values are repeated"


def _first_values(values: Sequence[Any]) -> str:
    """The first values of a list."""
    return ", ".join([*map(_cell, values[:3]), *(["…"] if len(values) > 3 else [])])


def _not_records(values: Counter[str]) -> str:
    """A clause about values of an output that are not complete records of the file, or that repeat a record."""
    number = values.total()
    verb = "is not a complete record" if number == 1 else "are not complete records"
    return f"{counted(number, 'value')} {verb} of the file, or {'repeats' if number == 1 else 'repeat'} one"


def _unmatched(values: Sequence[Any], records: Sequence[Record]) -> Counter[str]:
    """The values that match none of the records, as canonical texts. Each record can match only one value."""
    # Most values are identical to a record, even in the order of members. Only other values need a slower comparison.
    values, records = _without_identical(values, records)
    value_counts, record_counts = _by_spelling(values), _by_spelling(records)
    unmatched: Counter[str] = Counter()
    for key, (value, count) in value_counts.items():
        count -= record_counts[key][1] if key in record_counts else 0
        if count > 0:
            unmatched[canonical(value)] += count
    if not unmatched:
        return unmatched
    possible = {_plain_texts(value) for value in values}
    for key, (record, count) in record_counts.items():
        count -= value_counts[key][1] if key in value_counts else 0
        if count > 0 and _plain_texts(record) in possible:
            unmatched[canonical(record)] -= count
    return +unmatched


def _without_identical(values: Sequence[Any], records: Sequence[Record]) -> tuple[Sequence[Any], Sequence[Record]]:
    """The values that are not identical to any record, and the records to which no value is identical. Each record can
    match only one value."""
    records_by_bytes: dict[bytes | None, list[Record]] = {}
    for record in records:
        records_by_bytes.setdefault(bytes_of(record), []).append(record)
    unmatched: list[Any] = []
    for value in values:
        key = bytes_of(value)
        if key is not None and records_by_bytes.get(key):
            records_by_bytes[key].pop()
        else:
            unmatched.append(value)
    return unmatched, [record for remaining in records_by_bytes.values() for record in remaining]


def _plain_texts(value: Json) -> frozenset[tuple[str, str]]:
    """The members of an object that are spelled the same in all equal objects."""
    members = cast("dict[str, Any]", value) if isinstance(value, dict) else {}
    return frozenset((k, v) for k, v in members.items() if isinstance(v, str) and k.isascii() and v.isascii())


def _by_spelling(values: Iterable[Any]) -> dict[str, tuple[Any, int]]:
    """Values by their spelling, with the number of occurrences."""
    tally: dict[str, tuple[Any, int]] = {}
    for value in values:
        key = spelling(value)
        tally[key] = (value, tally[key][1] + 1 if key in tally else 1)
    return tally


def _number_or(value: float | None, absent: float) -> float:
    return absent if value is None else value


def _rank(value: Json) -> tuple[int, Any]:
    """jq's order of values, as far as it matters for a field that should be a string."""
    if value is None:
        return 0, ""
    if isinstance(value, bool):
        return 1, value
    if isinstance(value, str):
        return 3, value
    return (2, number_of(value)) if number_of(value) is not None else (4, canonical(value))


def _is_row(value: Json, row: tuple[Any, ...]) -> bool:
    if isinstance(value, str):
        cells = value.split("\t")
        return len(cells) == len(row) and all(map(_is_cell, cells, row))
    if isinstance(value, dict):
        value = list(cast("dict[str, Any]", value).values())
    return equal(value, list(row))


def _is_cell(cell: str, value: Json) -> bool:
    if value is None:
        return cell == ""
    if isinstance(value, bool):
        return cell == str(value).lower()
    number = number_of(value)
    if number is not None:
        try:
            return near(float(cell), number)
        except ValueError:
            return False
    return isinstance(value, str) and equal(_unescaped(cell), value)


def _unescaped(cell: str) -> str:
    # \0 is an escape of jq 1.8; earlier versions write the NUL itself.
    return re.sub(r"\\([tnr0\\])", lambda m: {"t": "\t", "n": "\n", "r": "\r", "0": "\0"}.get(m[1], m[1]), cell)


def _pair(value: Json, field: str) -> tuple[Any, float] | None:
    """Return a value of the field and its count, which may be given as an array of the two or as an object. Returns
    None for any other layout."""
    match value:
        case [of, int() | float() as count] if not isinstance(count, bool):
            return of, float(count)
        case {**members}:
            rest = [v for k, v in members.items() if k != field]
            if len(rest) == 1 and (count := number_of(rest[0])) is not None:
                return members.get(field), count
        case _:
            pass
    return None


def _name(record: Record) -> str:
    return _cell(record.get("id", dict(record)))


def _cell(value: Json) -> str:
    return value if isinstance(value, str) else canonical(value)


def _list(names: Iterable[str]) -> str:
    """Return a colon and the first names, as many as a report can use. Equal names in a row are written once. The text
    is empty if there are no names."""
    entries: list[str] = []
    size = 0
    for name, group in groupby(names):
        times = sum(1 for _ in group)
        entries.append(name if times == 1 else f"{name} ({times} times)")
        size += len(entries[-1])
        if size > _LIST_LENGTH:
            break
    return f": {', '.join(entries)}" if entries and size + len(entries) > 1 else ""
