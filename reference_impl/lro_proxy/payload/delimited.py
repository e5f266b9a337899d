"""Tables of comma- or tab-separated values, recognised only if they can be written again exactly.

A batch of rows is parsed at a time.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import orjson

from lro_proxy.payload.batches import Batched, BatchedLines
from lro_reference.results import Lines, Records
from lro_reference.writer import encode

_SAMPLE = 16
_LINE = 10_000
_MOST_COLUMNS = 500
_BATCH = 1 << 16
_A_NAME = re.compile(r"\s*\S+(?:\s+\S+){0,5}\s*$")
"""Name of a column: a few words."""
_BEGINS_WITH_A_DIGIT = re.compile(r"\s*[-+]?\d")

Cells = list[list[str]]
"""The values of rows, without their names."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table as records, all values as the strings they were."""

    lines: Lines
    records: Records
    layout: Mapping[str, Any]
    """Facts to write it again with: ``delimiter``, ``line_end``, ``ending`` (after the last row), ``columns``."""


@dataclass(frozen=True, slots=True)
class _Form:
    """Notation of a table."""

    delimiter: str
    line_end: str
    columns: int = 0
    """Number of values in each row; 0 if it is not known yet."""

    def rows(self, text: str) -> Cells | None:
        """The rows of a part of a table; None if it is not one, or if its quoting would be lost."""
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

    def read(self, text: str) -> Cells:
        """The rows of a text. Raises `csv.Error` for wrong quotes."""
        if self._is_simple(text):
            return [line.split(self.delimiter) for line in text.removesuffix(self.line_end).split(self.line_end)]
        return list(csv.reader(io.StringIO(text, newline=""), delimiter=self.delimiter, strict=True))

    def _is_simple(self, text: str) -> bool:
        """True if the text has no quotes and no other line ends, so that splitting it reads it."""
        ends = text.count(self.line_end)
        return '"' not in text and text.count("\n") == ends and text.count("\r") == ends * (self.line_end == "\r\n")


def read(text: bytes | bytearray) -> Table | None:
    """The table in a UTF-8 text; None if it is not one, or if its quoting would be lost."""
    delimiter = _delimiter(text)
    if delimiter is None:
        return None
    form = _Form(delimiter, "\r\n" if b"\r\n" in text else "\n")
    names: list[str] = []
    parts: list[tuple[int, int]] = []
    count = start = 0
    while start < len(text):
        stop = text.find(b"\n", start + _BATCH) + 1 or len(text)
        rows = form.rows(_decoded(text, start, stop))
        if rows is None and (after := _end_of_quotes(text, start, stop)) > stop:
            rows, stop = form.rows(_decoded(text, start, after)), after
        if rows is None:
            return None
        if not names:
            names = rows[0]
            form = _Form(form.delimiter, form.line_end, len(names))
            if not _are_names(names):
                return None
        parts.append((start, stop))
        count += len(rows)
        start = stop
    if count < 2:
        return None

    records = Rows(names, count - 1, lambda: _read(text, parts, form))
    lines = BatchedLines(count - 1, lambda: (_lines(names, rows) for rows in records.rows()))
    return Table(lines, records, _layout(form, names, text.endswith(form.line_end.encode())))


class Rows(Batched[Mapping[str, Any]]):
    """The rows of a table as records."""

    def __init__(self, names: Sequence[str], count: int, rows: Callable[[], Iterator[Cells]]) -> None:
        super().__init__(count, lambda: (_records(names, batch) for batch in rows()))
        self.names, self.rows = names, rows


def _read(text: bytes | bytearray, parts: Sequence[tuple[int, int]], form: _Form) -> Iterator[Cells]:
    for start, stop in parts:
        rows = form.read(_decoded(text, start, stop))[start == 0 :]
        if rows:
            yield rows


def _lines(names: Sequence[str], rows: Cells) -> bytes:
    """The rows as lines."""
    values = encode(list(chain.from_iterable(rows)))
    if b"\\" in values:  # then what looks like the end of a value may be a part of one
        return b"\n".join(map(encode, _records(names, rows)))
    first, *others = (b'":'.join((orjson.dumps(name)[:-1], b'"')) for name in names)
    before = [b'"}\n{' + first, *(b'",' + name for name in others)]
    parts = [b""] * (2 * len(names) * len(rows))
    parts[::2] = before * len(rows)
    parts[1::2] = values[2:-2].split(b'","')
    return b"".join(parts)[3:] + b'"}'


def _end_of_quotes(text: bytes | bytearray, start: int, stop: int) -> int:
    """The first line feed from *stop* on that is not in a quoted value, for rows that begin at *start*."""
    quotes = text.count(b'"', start, stop)
    while quotes % 2 and stop < len(text):
        following = text.find(b"\n", stop) + 1 or len(text)
        quotes += text.count(b'"', stop, following)
        stop = following
    return stop


def _decoded(text: bytes | bytearray, start: int, stop: int) -> str:
    return str(memoryview(text)[start:stop], "utf-8", "surrogatepass")


def _are_names(names: Sequence[str]) -> bool:
    """True if a first row can be the names of columns; a line of a log or a sentence has commas, too."""
    if len(set(names)) < len(names) or not all(_A_NAME.match(name) for name in names):
        return False
    return _BEGINS_WITH_A_DIGIT.match(names[0]) is None and not all(name.startswith(" ") for name in names[1:])


def _records(names: Sequence[str], rows: Cells) -> list[dict[str, str]]:
    return [dict(zip(names, row, strict=True)) for row in rows]


def _layout(form: _Form, names: Sequence[str], ended: bool) -> dict[str, Any]:
    ending = form.line_end if ended else ""
    return {"delimiter": form.delimiter, "line_end": form.line_end, "ending": ending, "columns": names}


def could_be_table(beginning: bytes) -> bool:
    """True if whole lines at the beginning of a text look like those of a table."""
    return _delimiter(beginning) is not None


def _delimiter(text: bytes | bytearray) -> str | None:
    # By the first lines only: a text of many megabytes must not be read as a table just to find that it is not one.
    first: list[str] = []
    start = 0
    while len(first) < _SAMPLE and start < len(text):
        stop = text.find(b"\n", start)
        stop = len(text) if stop < 0 else stop
        first.append(bytes(memoryview(text)[start : min(stop, start + _LINE)]).decode("utf-8", "replace"))
        start = stop + 1
    if len(first) < 3:
        return None
    for delimiter in ("\t", ","):
        counts = {line.count(delimiter) for line in first if '"' not in line}
        if len(counts) == 1 and 0 < next(iter(counts)) < _MOST_COLUMNS and first[0].count(delimiter) in counts:
            return delimiter if _are_names(first[0].rstrip("\r").split(delimiter)) else None
    return None
