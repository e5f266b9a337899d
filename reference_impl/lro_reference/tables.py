"""Text that is a table of comma- or tab-separated values, recognised only where it can be written again exactly."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_SAMPLE = 16
_MOST_COLUMNS = 500


@dataclass(frozen=True, slots=True)
class Table:
    """A table as records, all values as the strings they were."""

    records: Sequence[Mapping[str, str]]
    layout: Mapping[str, Any]
    """How to write it again: ``delimiter``, ``line_end``, ``ending`` (what follows the last row), ``columns``."""


def table(text: str) -> Table | None:
    """The table that a text is; None where it is none, or one whose quoting would be lost."""
    delimiter = _delimiter(text)
    if delimiter is None:
        return None
    line_end = "\r\n" if "\r\n" in text else "\n"
    ending = line_end if text.endswith(line_end) else ""
    try:
        names, *rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    except (csv.Error, ValueError):
        return None
    if not rows or len(set(names)) < len(names) or not all(name.strip() for name in names):
        return None
    if any(len(row) != len(names) for row in rows):
        return None
    again = io.StringIO(newline="")
    csv.writer(again, delimiter=delimiter, lineterminator=line_end).writerows([names, *rows])
    if again.getvalue() != (text if ending else text + line_end):
        return None
    layout = {"delimiter": delimiter, "line_end": line_end, "ending": ending, "columns": names}
    return Table([dict(zip(names, row, strict=True)) for row in rows], layout)


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
            first.append(text[start : start + 10_000])
            break
        first.append(text[start : min(stop, start + 10_000)])
        start = stop + 1
    if len(first) < 3:
        return None
    for delimiter in ("\t", ","):
        counts = {line.count(delimiter) for line in first if '"' not in line}
        if len(counts) == 1 and 0 < next(iter(counts)) < _MOST_COLUMNS and first[0].count(delimiter) in counts:
            return delimiter
    return None
