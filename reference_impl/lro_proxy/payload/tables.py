"""Text that is a table of comma- or tab-separated values, recognised only where it can be written again exactly."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import orjson

from lro_proxy.payload.lines import Batched, BatchedLines, EncodedLines
from lro_reference.results import Lines, Records
from lro_reference.writer import encode

_SAMPLE = 16
_LINE = 10_000
_MOST_COLUMNS = 500
_BATCH = 1 << 16
_EXTENSIONS = 3
_A_NAME = re.compile(r"\s*\S+(?:\s+\S+){0,5}\s*$")
"""What can name a column: a few words."""
_BEGINS_WITH_A_DIGIT = re.compile(r"\s*[-+]?\d")

Rows = list[list[str]]


@dataclass(frozen=True, slots=True)
class Table:
    """A table as records, all values as the strings they were."""

    lines: Lines
    records: Records
    layout: Mapping[str, Any]
    """How to write it again: ``delimiter``, ``line_end``, ``ending`` (what follows the last row), ``columns``."""


@dataclass(frozen=True, slots=True)
class _Form:
    """How the rows of a table are written."""

    delimiter: str
    line_end: str
    columns: int = 0
    """How many values each of them has; 0: not known yet."""

    def rows(self, text: str) -> Rows | None:
        """The rows of a part of the table; None where it is none, or one whose quoting would be lost."""
        try:
            rows = self.read(text)
        except (csv.Error, ValueError):
            return None
        if set(map(len, rows)) != {self.columns or len(rows[0])}:
            return None
        if self._is_simple(text):
            return rows
        again = io.StringIO(newline="")
        csv.writer(again, delimiter=self.delimiter, lineterminator=self.line_end).writerows(rows)
        return rows if again.getvalue() == (text if text.endswith(self.line_end) else text + self.line_end) else None

    def read(self, text: str) -> Rows:
        """The rows of a text. Raises `csv.Error` for quotes that are none."""
        if self._is_simple(text):
            return [line.split(self.delimiter) for line in text.removesuffix(self.line_end).split(self.line_end)]
        return list(csv.reader(io.StringIO(text, newline=""), delimiter=self.delimiter, strict=True))

    def _is_simple(self, text: str) -> bool:
        """Whether a text is nothing but values, delimiters and line ends: then it is read and written again by them."""
        ends = text.count(self.line_end)
        return '"' not in text and text.count("\n") == ends and text.count("\r") == ends * (self.line_end == "\r\n")


def table(text: str) -> Table | None:
    """The table that a text is; None where it is none, or one whose quoting would be lost."""
    delimiter = _delimiter(text)
    if delimiter is None:
        return None
    form = _Form(delimiter, "\r\n" if "\r\n" in text else "\n")
    rows = form.rows(text)
    if rows is None or len(rows) < 2 or not _are_names(rows[0]):
        return None
    names, *rows = rows
    records = _records(names, rows)
    return Table(EncodedLines(records), records, _layout(form, names, text.endswith(form.line_end)))


def large_table(text: bytes | bytearray) -> Table | None:
    """`table` of a text in UTF-8, of which only a batch of rows is ever in memory; None also where that cannot be."""
    beginning = text[: _SAMPLE * _LINE].rpartition(b"\n")[0]
    delimiter = _delimiter(beginning.decode("utf-8", "ignore"))
    if delimiter is None:
        return None
    form = _Form(delimiter, "\r\n" if b"\r\n" in text else "\n")
    names: list[str] = []
    places: list[int] = []
    count = place = 0
    while place < len(text):
        found = _batch(text, place, form)
        if found is None:
            return None
        rows, stop = found
        if not names:
            names = rows[0]
            form = _Form(form.delimiter, form.line_end, len(names))
            if not _are_names(names):
                return None
        places.append(place)
        count += len(rows)
        place = stop
    if count < 2:
        return None

    parts = list(zip(places, [*places[1:], len(text)], strict=True))
    records = _Rows(names, count - 1, lambda: _read(text, parts, form))
    lines = BatchedLines(count - 1, lambda: (_lines(names, rows) for rows in records.rows()))
    return Table(lines, records, _layout(form, names, text.endswith(form.line_end.encode())))


class _Rows(Batched):
    """The rows of a table as records."""

    def __init__(self, names: Sequence[str], count: int, rows: Callable[[], Iterator[Rows]]) -> None:
        super().__init__(count, lambda: (_records(names, batch) for batch in rows()))
        self.names, self.rows = names, rows


def _read(text: bytes | bytearray, parts: Sequence[tuple[int, int]], form: _Form) -> Iterator[Rows]:
    for start, stop in parts:
        rows = form.read(_decoded(text, start, stop))[start == 0 :]
        if rows:
            yield rows


def _lines(names: Sequence[str], rows: Rows) -> bytes:
    """The rows as lines, each value as its column's member."""
    values = orjson.dumps(list(chain.from_iterable(rows)))
    if b"\\" in values:  # then what looks like the end of a value may be a part of one
        return b"\n".join(map(encode, _records(names, rows)))
    first, *others = (b'":'.join((orjson.dumps(name)[:-1], b'"')) for name in names)
    before = [b'"}\n{' + first, *(b'",' + name for name in others)]
    parts = [b""] * (2 * len(names) * len(rows))
    parts[::2] = before * len(rows)
    parts[1::2] = values[2:-2].split(b'","')
    return b"".join(parts)[3:] + b'"}'


def _batch(text: bytes | bytearray, start: int, form: _Form) -> tuple[Rows, int] | None:
    """The next rows and where they end: at a line feed, if it is in no quoted value."""
    stop = start + _BATCH
    for _ in range(_EXTENSIONS):
        stop = text.find(b"\n", stop) + 1 or len(text)
        try:
            rows = form.rows(_decoded(text, start, stop))
        except UnicodeDecodeError:
            return None
        if rows is not None:
            return rows, stop
    return None


def _decoded(text: bytes | bytearray, start: int, stop: int) -> str:
    return str(memoryview(text)[start:stop], "utf-8")


def _are_names(names: Sequence[str]) -> bool:
    """Whether a first row can be the names of columns: a line of a log or a sentence has commas, too."""
    if len(set(names)) < len(names) or not all(_A_NAME.match(name) for name in names):
        return False
    return _BEGINS_WITH_A_DIGIT.match(names[0]) is None and not all(name.startswith(" ") for name in names[1:])


def _records(names: Sequence[str], rows: Rows) -> list[dict[str, str]]:
    return [dict(zip(names, row, strict=True)) for row in rows]


def _layout(form: _Form, names: Sequence[str], ended: bool) -> dict[str, Any]:
    ending = form.line_end if ended else ""
    return {"delimiter": form.delimiter, "line_end": form.line_end, "ending": ending, "columns": names}


def could_be_table(text: str) -> bool:
    """Whether the beginning of a text looks like a table's."""
    return _delimiter(text) is not None


def _delimiter(text: str) -> str | None:
    # A look at the first lines: a text of many megabytes must not be read as a table only to find that it is none.
    first: list[str] = []
    start = 0
    while len(first) < _SAMPLE and 0 <= start < len(text):
        stop = text.find("\n", start)
        if stop < 0:
            first.append(text[start : start + _LINE])
            break
        first.append(text[start : min(stop, start + _LINE)])
        start = stop + 1
    if len(first) < 3:
        return None
    for delimiter in ("\t", ","):
        counts = {line.count(delimiter) for line in first if '"' not in line}
        if len(counts) == 1 and 0 < next(iter(counts)) < _MOST_COLUMNS and first[0].count(delimiter) in counts:
            return delimiter if _are_names(first[0].rstrip("\r").split(delimiter)) else None
    return None
