"""Tables of cells: comma- and tab-separated values, Markdown, HTML; also under a banner, or with a note below.

A table is recognised only if its own notation gives every byte of it again. A batch of rows is read at a time.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape, unescape
from itertools import chain, pairwise, repeat
from typing import Any

import orjson

from lro_proxy.payload.batches import Batched, BatchedLines
from lro_proxy.payload.forms.form import SMALL, Data, Extra, Form, Shape, decoded
from lro_reference.writer import encode

_SAMPLE = 16
_LINE = 10_000
_MOST_COLUMNS = 500
_BATCH = 1 << 16
_BANNER, _NOTE = 12, 6
"""Most lines above and below a table."""
_A_NAME = re.compile(r"\s*[^\s=]+(?:\s+[^\s=]+){0,5}\s*$")
"""Name of a column: a few words."""
_BEGINS_WITH_A_DIGIT = re.compile(r"\s*[-+]?\d")
_NUMBERS = re.compile(r"[-0-9.,]*")
_MOST_DIGITS = 15
"""Digits that every reader of JSON keeps."""

Cells = list[list[str]]
"""The values of rows, without their names."""


class TableRecords(Batched[Mapping[str, Any]]):
    """The rows of a table as records; a column of nothing but numbers has numbers, and null for an empty cell."""

    def __init__(
        self, names: Sequence[str], count: int, rows: Callable[[], Iterable[Cells]], numbers: Mapping[int, _Numbers]
    ) -> None:
        super().__init__(count, lambda: (self.records(batch) for batch in rows()))
        self.names, self.rows = names, rows
        self._numbers = {place: column for place, column in numbers.items() if column.are_some}

    def records(self, rows: Cells) -> list[dict[str, Any]]:
        """Rows as records."""
        return [dict(zip(self.names, self._values(row), strict=True)) for row in rows]

    def layouts(self) -> list[tuple[type, ...]]:
        """The types of the values of a row, and of one with every gap that there is."""
        types = [numbers.type if (numbers := self._numbers.get(n)) else str for n in range(len(self.names))]
        gaps = [
            type(None) if (numbers := self._numbers.get(n)) and numbers.has_gaps else t for n, t in enumerate(types)
        ]
        return [tuple(types), *([tuple(gaps)] if gaps != types else [])]

    def _values(self, row: Sequence[str]) -> list[Any]:
        values: list[Any] = list(row)
        for place, column in self._numbers.items():
            values[place] = column.value(row[place])
        return values

    def lines(self, rows: Cells) -> bytes:
        """Rows as lines."""
        values = encode(list(chain.from_iterable(rows)))
        if b"\\" in values:  # then what looks like the end of a value may be a part of one
            return b"\n".join(encode(dict(zip(self.names, self._fragments(row), strict=True))) for row in rows)
        width = len(self.names)
        parts = [b""] * (2 * width * len(rows))
        parts[::2] = self._between() * len(rows)
        parts[1::2] = values[2:-2].split(b'","')
        for place, column in self._numbers.items():
            if column.has_gaps:
                parts[2 * place + 1 :: 2 * width] = [value or b"null" for value in parts[2 * place + 1 :: 2 * width]]
        return b"".join(parts)[len(self._quote(width - 1)) + 2 :] + self._quote(width - 1) + b"}"

    def _fragments(self, row: Sequence[str]) -> list[Any]:
        values: list[Any] = list(row)
        for place in self._numbers:
            values[place] = orjson.Fragment(row[place] or "null")
        return values

    def _between(self) -> list[bytes]:
        """The bytes before each value of a row, from the end of the value before it."""
        keys = [orjson.dumps(name) + b":" for name in self.names]
        ends = [b"}\n{", *[b","] * (len(keys) - 1)]
        return [
            self._quote(place - 1 if place else len(keys) - 1) + ends[place] + key + self._quote(place)
            for place, key in enumerate(keys)
        ]

    def _quote(self, place: int) -> bytes:
        return b"" if place in self._numbers else b'"'


class _Numbers:
    """A column that holds nothing but numbers so far, written as JSON writes them."""

    def __init__(self) -> None:
        self.are_some = self.has_gaps = self.has_decimals = False

    @property
    def type(self) -> type:
        return float if self.has_decimals else int

    def take(self, cells: Sequence[str]) -> bool:
        """Look at further cells; False if one of them is no number."""
        text = ",".join(cells)
        if not _NUMBERS.fullmatch(text) or max(map(len, cells), default=0) > _MOST_DIGITS:
            return False
        if "" in cells:
            self.has_gaps = True
            cells = [cell for cell in cells if cell]
            text = ",".join(cells)
        try:
            numbers = orjson.loads(f"[{text}]")
        except ValueError:
            return False
        self.are_some = self.are_some or bool(numbers)
        self.has_decimals = self.has_decimals or "." in text
        return len(numbers) == len(cells)

    def value(self, cell: str) -> float | int | None:
        return None if not cell else float(cell) if self.has_decimals else int(cell)


class _Reading:
    """A pass over the rows of a table that finds out what its columns hold."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names, self.count = names, 0
        self._numbers = {place: _Numbers() for place in range(len(names))}

    def take(self, rows: Cells) -> None:
        self.count += len(rows)
        if rows:
            columns = {place: [row[place] for row in rows] for place in self._numbers}
            self._numbers = {place: one for place, one in self._numbers.items() if one.take(columns[place])}

    def shape(self, rows: Callable[[], Iterable[Cells]], extra: Extra, name: str = "table") -> Shape:
        records = TableRecords(self.names, self.count, rows, self._numbers)
        lines = BatchedLines(self.count, lambda: (records.lines(batch) for batch in rows() if batch))
        return Shape(lines, records, {"format": name, **extra, "columns": self.names})


def _cells(extra: Extra, records: Iterable[Mapping[str, Any]]) -> Iterator[list[str]]:
    """The cells of records."""
    return (["" if (v := record[name]) is None else str(v) for name in extra["columns"]] for record in records)


def are_names(names: Sequence[str]) -> bool:
    """True if a first row can be the names of columns; a line of a log or a sentence has commas, too."""
    if not names or len(set(names)) < len(names) or not all(_A_NAME.match(name) for name in names):
        return False
    return _BEGINS_WITH_A_DIGIT.match(names[0]) is None and not all(name.startswith(" ") for name in names[1:])


def _around(before: str, after: str) -> dict[str, str]:
    return {name: text for name, text in (("before", before), ("after", after)) if text}


# --- comma- and tab-separated values


@dataclass(frozen=True, slots=True)
class _Notation:
    """Notation of separated values."""

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
        return rows if self.write(rows) == (text if text.endswith(self.line_end) else text + self.line_end) else None

    def read(self, text: str) -> Cells:
        """The rows of a text. Raises `csv.Error` for wrong quotes."""
        if self._is_simple(text):
            return [line.split(self.delimiter) for line in text.removesuffix(self.line_end).split(self.line_end)]
        return list(csv.reader(io.StringIO(text, newline=""), delimiter=self.delimiter, strict=True))

    def write(self, rows: Iterable[Sequence[str]]) -> str:
        """Rows as a text, with a line end after each."""
        text = io.StringIO(newline="")
        csv.writer(text, delimiter=self.delimiter, lineterminator=self.line_end).writerows(rows)
        return text.getvalue()

    def _is_simple(self, text: str) -> bool:
        """True if the text has no quotes and no other line ends, so that splitting it reads it."""
        ends = text.count(self.line_end)
        return '"' not in text and text.count("\n") == ends and text.count("\r") == ends * (self.line_end == "\r\n")


def _separated(text: Data) -> Shape | None:
    begun = _begin(_first_lines(text))
    if begun is None:
        return None
    delimiter, banner = begun
    first = 0
    for _ in range(banner):
        first = text.find(b"\n", first) + 1
    end = _end_of_rows(text, first, delimiter)
    notation = _Notation(delimiter, "\r\n" if b"\r\n" in text else "\n")
    reading: _Reading | None = None
    parts: list[tuple[int, int]] = []
    start = first
    while start < end:
        stop = text.find(b"\n", start + _BATCH, end) + 1 or end
        rows = notation.rows(decoded(text, start, stop))
        if rows is None and (after := _end_of_quotes(text, start, stop, end)) > stop:
            rows, stop = notation.rows(decoded(text, start, after)), after
        if rows is None:
            return None
        if reading is None:
            reading, rows = _Reading(rows[0]), rows[1:]
            notation = _Notation(notation.delimiter, notation.line_end, len(reading.names))
            if not are_names(reading.names):
                return None
        parts.append((start, stop))
        reading.take(rows)
        start = stop
    around = _around(decoded(text, 0, first), decoded(text, end, len(text)))
    if reading is None or reading.count < (2 if around else 1) or sum(map(len, around.values())) > SMALL:
        return None
    ended = text.endswith(notation.line_end.encode(), 0, end)

    def read() -> Iterator[Cells]:
        for start, stop in parts:
            yield notation.read(decoded(text, start, stop))[start == first :]

    line_end = {"delimiter": delimiter, "line_end": notation.line_end, "ending": notation.line_end if ended else ""}
    return reading.shape(read, {**line_end, **around})


def _write_separated(extra: Extra, records: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    notation = _Notation(extra["delimiter"], extra["line_end"])
    whole = notation.write([extra["columns"], *_cells(extra, records)]).removesuffix(extra["line_end"])
    yield extra.get("before", "") + whole + extra["ending"] + extra.get("after", "")


def _end_of_rows(text: Data, first: int, delimiter: str) -> int:
    """The end of the last line with a delimiter or a quote, if only few lines follow it."""
    end = len(text)
    for _ in range(_NOTE):
        start = text.rfind(b"\n", first, end - 1) + 1
        line = text[start:end]
        if start <= first or delimiter.encode() in line or b'"' in line:
            return end
        end = start
    return len(text)


def _end_of_quotes(text: Data, start: int, stop: int, end: int) -> int:
    """The first line feed from *stop* on that is not in a quoted value, for rows that begin at *start*."""
    quotes = text.count(b'"', start, stop)
    while quotes % 2 and stop < end:
        following = text.find(b"\n", stop, end) + 1 or end
        quotes += text.count(b'"', stop, following)
        stop = following
    return stop


def _first_lines(text: Data) -> list[str]:
    # By the first lines only: a text of many megabytes must not be read as a table just to find that it is not one.
    first: list[str] = []
    start = 0
    while len(first) < _BANNER + _SAMPLE and start < len(text):
        stop = text.find(b"\n", start)
        stop = len(text) if stop < 0 else stop
        first.append(bytes(memoryview(text)[start : min(stop, start + _LINE)]).decode("utf-8", "replace"))
        start = stop + 1
    return first


def _begin(lines: Sequence[str]) -> tuple[str, int] | None:
    """The delimiter of a table in the first lines of a text, and the number of lines above it."""
    for delimiter in ("\t", ","):
        counts = [None if '"' in line else line.count(delimiter) for line in lines]
        for banner in range(min(_BANNER, len(lines) - 2)):
            sample = counts[banner : banner + _SAMPLE]
            if banner + len(sample) == len(lines):
                while len(sample) > 2 and sample[-1] == 0:
                    sample.pop()  # a note below
            found = {count for count in sample if count is not None}
            if len(found) == 1 and 0 < (count := found.pop()) < _MOST_COLUMNS and len(sample) > 2:
                is_first = counts[banner] == count and count not in counts[:banner]
                names = lines[banner].rstrip("\r").split(delimiter)
                if is_first and are_names(names):
                    return delimiter, banner
                break
    return None


SEPARATED = Form(
    "table", lambda beginning: _begin(beginning.split("\n")) is not None, _separated, _write_separated, is_streamed=True
)


# --- Markdown

_RULE = re.compile(r"\|(?: *:?-+:? *\|)+ *")
_MARKDOWN_CELL = re.compile(r"((?:[^|\\]|\\.)*)\|")
_PADS = ("one", "none", "wide")
"""Spaces around a cell: one on each side, none, or as many as the column is wide."""


def _markdown(text: Data) -> Shape | None:
    lines = decoded(text, 0, len(text)).split("\n")
    rules = [n for n, line in enumerate(lines) if _RULE.fullmatch(line)]
    if len(rules) != 1 or rules[0] == 0:
        return None
    top = rules[0] - 1
    end = next((n for n in range(top, len(lines)) if not lines[n].startswith("|")), len(lines))
    table = [lines[top], *lines[top + 2 : end]]
    rows = [[_plain(cell) for cell in _MARKDOWN_CELL.findall(line[1:])] for line in table]
    layout = next(
        (one for pad in _PADS if list(map(_markdown_row(one := {"rule": lines[top + 1], "pad": pad}), rows)) == table),
        None,
    )
    around = _around("".join(f"{line}\n" for line in lines[:top]), "".join(f"\n{line}" for line in lines[end:]))
    if layout is None or not _is_mostly(rows, around):
        return None
    reading = _Reading(rows[0])
    reading.take(rows[1:])
    return reading.shape(lambda: [rows[1:]], {**layout, **around}, "markdown table")


def _plain(cell: str) -> str:
    return cell.strip(" ").replace("\\|", "|")


def _is_mostly(rows: Cells, around: Mapping[str, str]) -> bool:
    """True if rows below unique names are most of a text."""
    names, beside = rows[0], sum(map(len, around.values()))
    size = sum(len(cell) + 2 for row in rows for cell in row)
    has_width = all(len(row) == len(names) for row in rows)
    return len(rows) > 2 and has_width and len(set(names)) == len(names) and beside <= min(SMALL, size)


def _markdown_row(layout: Mapping[str, Any]) -> Callable[[Sequence[str]], str]:
    rules = _MARKDOWN_CELL.findall(layout["rule"][1:])

    def row(cells: Sequence[str]) -> str:
        texts = [cell.replace("|", "\\|") for cell in cells]
        if layout["pad"] == "none":
            return f"|{'|'.join(texts)}|"
        if layout["pad"] == "wide":
            texts = [_aligned(text, rule) for text, rule in zip(texts, rules, strict=False)]
        return f"| {' | '.join(texts)} |"

    return row


def _aligned(text: str, rule: str) -> str:
    width, rule = len(rule) - 2 * rule.startswith(" ") - 2 * (not rule.startswith(" ")), rule.strip()
    if rule.endswith(":"):
        return text.center(width) if rule.startswith(":") else text.rjust(width)
    return text.ljust(width)


def _write_markdown(extra: Extra, records: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    head, *rows = map(_markdown_row(extra), [extra["columns"], *_cells(extra, records)])
    yield extra.get("before", "") + "\n".join([head, extra["rule"], *rows]) + extra.get("after", "")


MARKDOWN = Form(
    "markdown table",
    lambda beginning: any(map(_RULE.fullmatch, beginning.split("\n"))),
    _markdown,
    _write_markdown,
)


# --- HTML

_HTML_ROW = re.compile(r"<tr\b[^>]*>.*?</tr\s*>", re.DOTALL | re.IGNORECASE)
_HTML_CELL = re.compile(r"(<t([dh])\b[^>]*>)(.*?)(</t\2\s*>)", re.DOTALL | re.IGNORECASE)


def _html(data: Data) -> Shape | None:
    text = decoded(data, 0, len(data))
    found = list(_HTML_ROW.finditer(text))
    if len(found) < 3 or text.lower().count("<table") > 1 or text.lower().count("<tr") != len(found):
        return None
    rows = [
        _HTML_CELL.split(row[0]) for row in found
    ]  # around and between cells: literal, opening, d or h, cell, closing
    frames = [["".join(parts) for parts in _frame(row)] for row in rows]
    cells = [row[3::5] for row in rows]
    between = text[found[0].end() : found[1].start()]
    joined = all(text[one.end() : other.start()] == between for one, other in pairwise(found))
    if not joined or any(frame != frames[1] for frame in frames[2:]):
        return None
    around = _around(text[: found[0].start()], text[found[-1].end() :])
    is_escaped = all(escape(unescape(cell), quote=False) == cell for row in cells for cell in row)
    if is_escaped:
        cells = [list(map(unescape, row)) for row in cells]
    layout = {"head": frames[0], "row": frames[1], "between": between, "escaped": is_escaped}
    if _is_grid(cells):
        layout |= {"above": cells[0], "number": cells[1][0]}
        cells = [["row", *cells[1][1:]], *cells[2:]]
    if not _is_mostly(cells, around):
        return None
    reading = _Reading(cells[0])
    reading.take(cells[1:])
    return reading.shape(lambda: [cells[1:]], {**layout, **around}, "html table")


def _is_grid(cells: Cells) -> bool:
    """True if a table shows the numbers of rows and the letters of columns of a sheet, below which are the names."""
    letters = [chr(ord("A") + n) for n in range(min(26, len(cells[0]) - 1))]
    return cells[0][0] == "" and bool(letters) and cells[0][1:27] == letters and are_names(cells[1][1:])


def _frame(row: Sequence[str]) -> Iterator[list[str]]:
    """The parts of a row that are no cells."""
    part = [row[0]]
    for place in range(1, len(row), 5):
        yield [*part, row[place]]
        part = [row[place + 3], row[place + 4]]
    yield part


def _write_html(extra: Extra, records: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    frames = chain([extra["head"]], repeat(extra["row"]))
    names = extra["columns"]
    heads = [extra["above"], [extra["number"], *names[1:]]] if "above" in extra else [names]
    rows = (
        first + "".join(_escaped(cell, extra) + part for cell, part in zip(cells, others, strict=True))
        for cells, (first, *others) in zip([*heads, *_cells(extra, records)], frames, strict=False)
    )
    yield extra.get("before", "") + extra["between"].join(rows) + extra.get("after", "")


def _escaped(cell: str, extra: Extra) -> str:
    return escape(cell, quote=False) if extra["escaped"] else cell


HTML = Form(
    "html table",
    lambda beginning: re.search(r"<tr\b", beginning, re.IGNORECASE) is not None,
    _html,
    _write_html,
)
