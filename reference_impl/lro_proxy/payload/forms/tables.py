"""Tables of cells: comma- and tab-separated values, Markdown and HTML. Other text may stand above and below a table.

A table is recognised only if writing it in its own notation reproduces every byte. Tables are read in batches of rows,
except those in HTML.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape, unescape
from itertools import chain, pairwise, repeat
from typing import Any

from lro_proxy.payload.forms.columns import SEPARATOR, Cells, RowCollector, text_of, utf8_of
from lro_proxy.payload.forms.form import SMALL_SIZE, Data, Extra, Form, PayloadRecords, decoded, places_of_lines

_SAMPLE_LINES = 16
"""Number of lines in which the delimiter of a table is looked for."""
_MAX_SAMPLE_LINE = 10_000
"""Maximum number of bytes that are read of each of these lines."""
_MAX_COLUMNS = 500
_FIRST_BATCH_BYTES, _BATCH_BYTES = 1 << 14, 1 << 16
_BANNER_LIMIT, _NOTE_LIMIT = 12, 6
"""A table of separated values has fewer lines than these above it (a banner) and below it (a note)."""
_COLUMN_NAME = re.compile(r"\s*[^\s=]+(?:\s+[^\s=]+){0,5}\s*$")
"""The name of a column, which has a few words."""
_BEGINS_WITH_A_DIGIT = re.compile(r"\s*[-+]?\d")
_QUOTED_STAND_IN = b"\xfe"
"""A byte that UTF-8 does not have. It stands for a quoted value."""
Rows = list[list[str]]


def _cells(extra: Extra, records: Iterable[Mapping[str, Any]]) -> Iterator[list[str]]:
    """The cells of records."""
    return (["" if (v := record[name]) is None else str(v) for name in extra["columns"]] for record in records)


def are_names(names: Sequence[str]) -> bool:
    """True if a first row may have the names of columns, and is probably no log entry and no sentence with commas."""
    if not names or len(set(names)) < len(names) or not all(_COLUMN_NAME.match(name) for name in names):
        return False
    return _BEGINS_WITH_A_DIGIT.match(names[0]) is None and not all(name.startswith(" ") for name in names[1:])


def _text_outside(before: str, after: str) -> dict[str, str]:
    return {name: text for name, text in (("before", before), ("after", after)) if text}


# --- comma- and tab-separated values


@dataclass(frozen=True)
class _Notation:
    """The notation of separated values in a table of two or more columns."""

    delimiter: str
    line_end: str
    columns: int

    def cells(self, part: bytes) -> Cells | None:
        """The cells of whole rows; None if the rows are not in this notation, or if `write` would quote other cells."""
        cells = self._cut(part)
        if cells is not None:
            return cells
        text = text_of(part)
        try:
            rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=self.delimiter, strict=True))
        except (csv.Error, ValueError):
            return None
        if set(map(len, rows)) != {self.columns}:
            return None
        is_same = self.write(rows) == (text if text.endswith(self.line_end) else text + self.line_end)
        return utf8_of(chain.from_iterable(rows)) if is_same else None

    def write(self, rows: Iterable[Sequence[str]]) -> str:
        """Rows as a text, with a line end after each."""
        text = io.StringIO(newline="")
        csv.writer(text, delimiter=self.delimiter, lineterminator=self.line_end).writerows(rows)
        return text.getvalue()

    @cached_property
    def _layout(self) -> tuple[bytes, bytes, bytes]:
        """Three values for `_cut`: the delimiters and the line feed of a row, all other bytes, and a translation table
        that replaces delimiters and line feeds by `SEPARATOR`."""
        signs = self.delimiter.encode() + b"\n"
        row = signs[:1] * (self.columns - 1) + signs[1:]
        return row, bytes(set(range(256)) - set(signs)), bytes.maketrans(signs, 2 * SEPARATOR)

    def _cut(self, part: bytes) -> Cells | None:
        """The cells of rows. None if a value contains a quote, or if `write` would quote other values.

        Everything outside of quotes is examined at once. This takes a fifth of the time of the `csv` module, which
        reads byte by byte, and would have to write the rows again.
        """
        row, others, ends = self._layout
        pieces = part.removesuffix(self.line_end.encode()).split(b'"')
        outside = _QUOTED_STAND_IN.join(pieces[::2])
        if self.line_end == "\r\n" and outside.count(b"\r\n") == outside.count(b"\n"):
            outside = outside.replace(b"\r\n", b"\n")
        rows = outside.translate(None, others) + b"\n"
        if b"\r" in outside or len(pieces) % 2 == 0 or rows != row * (len(rows) // len(row)):
            return None
        cells = outside.translate(ends).split(SEPARATOR)
        return self._with_quoted(cells, pieces[1::2]) if len(pieces) > 1 else cells

    def _with_quoted(self, cells: Cells, quoted: Sequence[bytes]) -> Cells | None:
        """Cells with quoted values in place of `_QUOTED_STAND_IN`.

        None if a quoted value is only a part of a cell, or need not be quoted.
        """
        others = self._layout[1].replace(_QUOTED_STAND_IN, b"")
        # For each value, the bytes that make its quotes necessary.
        reasons = _QUOTED_STAND_IN.join((b"", *quoted, b"")).translate(None, others)
        if 2 * _QUOTED_STAND_IN in reasons:
            return None
        columns = [place for place in range(self.columns) if cells[place] == _QUOTED_STAND_IN]
        rows = len(cells) // self.columns
        if len(columns) * rows == len(quoted) and all(
            cells[place :: self.columns] == [_QUOTED_STAND_IN] * rows for place in columns
        ):
            for number, place in enumerate(columns):
                cells[place :: self.columns] = quoted[number :: len(columns)]
            return cells
        places = [place for place, cell in enumerate(cells) if cell == _QUOTED_STAND_IN]
        if len(places) != len(quoted):
            return None
        for place, value in zip(places, quoted, strict=True):
            cells[place] = value
        return cells


def _separated(text: Data) -> PayloadRecords | None:
    header = _find_header(_first_lines(text))
    if header is None:
        return None
    delimiter, banner = header
    first = 0
    for _ in range(banner):
        first = text.find(b"\n", first) + 1
    end = _end_of_rows(text, first, delimiter)
    rows = text.find(b"\n", first, end) + 1 or end
    head = bytes(memoryview(text)[first:rows])
    line_end = "\r\n" if head.endswith(b"\r\n") else "\n"
    notation = _Notation(delimiter, line_end, head.count(delimiter.encode()) + 1)
    names = list(map(text_of, notation.cells(head) or ()))
    if not are_names(names):
        return None
    collector = RowCollector(names)
    start, size = rows, _FIRST_BATCH_BYTES
    while start < end:
        stop = _end_of_quotes(text, start, text.find(b"\n", start + size, end) + 1 or end, end)
        cells = notation.cells(bytes(memoryview(text)[start:stop]))
        if cells is None:
            return None
        collector.take(cells)
        start, size = stop, _BATCH_BYTES
    outside = _text_outside(decoded(text, 0, first), decoded(text, end, len(text)))
    if collector.count < (2 if outside else 1) or sum(map(len, outside.values())) > SMALL_SIZE:
        return None
    ended = text.endswith(line_end.encode(), 0, end)
    layout = {"delimiter": delimiter, "line_end": line_end, "ending": line_end if ended else ""}
    return collector.payload_records({"format": "table", **layout, **outside, "columns": collector.names})


def _write_separated(extra: Extra, records: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    notation = _Notation(extra["delimiter"], extra["line_end"], len(extra["columns"]))
    whole = notation.write([extra["columns"], *_cells(extra, records)]).removesuffix(extra["line_end"])
    yield extra.get("before", "") + whole + extra["ending"] + extra.get("after", "")


def _end_of_rows(text: Data, first: int, delimiter: str) -> int:
    """The end of the last line with a delimiter or a quote. If many lines follow that line, the end of the text."""
    end = len(text)
    for _ in range(_NOTE_LIMIT):
        start = text.rfind(b"\n", first, end - 1) + 1
        line = text[start:end]
        if start <= first or delimiter.encode() in line or b'"' in line:
            return end
        end = start
    return len(text)


def _end_of_quotes(text: Data, start: int, stop: int, end: int) -> int:
    """The first end of a line at or after *stop* that is outside of quoted values. The rows begin at *start*."""
    quotes = text.count(b'"', start, stop)
    while quotes % 2 and stop < end:
        following = text.find(b"\n", stop, end) + 1 or end
        quotes += text.count(b'"', stop, following)
        stop = following
    return stop


def _first_lines(text: Data) -> list[str]:
    # Only the first lines decide: a text of many megabytes must not be read as a table just to find that it is none.
    first: list[str] = []
    start = 0
    while len(first) < _BANNER_LIMIT + _SAMPLE_LINES and start < len(text):
        stop = text.find(b"\n", start)
        stop = len(text) if stop < 0 else stop
        first.append(bytes(memoryview(text)[start : min(stop, start + _MAX_SAMPLE_LINE)]).decode("utf-8", "replace"))
        start = stop + 1
    return first


def _find_header(lines: Sequence[str]) -> tuple[str, int] | None:
    """The delimiter of a table in the first lines of a text, and the number of lines above it."""
    for delimiter in ("\t", ","):
        counts = [None if '"' in line else line.count(delimiter) for line in lines]
        for banner in range(min(_BANNER_LIMIT, len(lines) - 2)):
            sample = counts[banner : banner + _SAMPLE_LINES]
            if banner + len(sample) == len(lines):
                while len(sample) > 2 and sample[-1] == 0:
                    sample.pop()  # a note below
            distinct_counts = {count for count in sample if count is not None}
            if len(distinct_counts) == 1 and 0 < (count := distinct_counts.pop()) < _MAX_COLUMNS and len(sample) > 2:
                is_first = counts[banner] == count and count not in counts[:banner]
                names = lines[banner].rstrip("\r").split(delimiter)
                if is_first and are_names(names):
                    return delimiter, banner
                break
    return None


SEPARATED = Form(
    "table",
    lambda beginning: _find_header(beginning.split("\n")) is not None,
    _separated,
    _write_separated,
    is_streamed=True,
)


# --- Markdown

_RULE = re.compile(rb"\|(?: *:?-+:? *\|)+ *")
_NAMES_AND_RULE = re.compile(rb"^(\|.*)\n(%b)$" % _RULE.pattern, re.MULTILINE)
_MARKDOWN_CELL = re.compile(rb"((?:[^|\\]|\\.)*)\|")
_BARS = bytes.maketrans(b"|\n", 2 * SEPARATOR)
_ALL_BUT_BARS = bytes(set(range(256)) - set(b"|\n"))
_PADDINGS = ("one", "none", "wide")
"""Spaces around a cell: one on each side, none, or as many as fill the width of the column."""


def _markdown(text: Data) -> PayloadRecords | None:
    header = _NAMES_AND_RULE.search(text)
    if header is None:
        return None
    end = _end_of_markdown(text, header.end())
    head, before, after = bytes(header[1]), bytes(text[: header.start()]), bytes(text[end:])
    if any(_RULE.fullmatch(line) for part in (head, before, after) for line in part.split(b"\n")):
        return None
    outside = _text_outside(text_of(before), text_of(after))
    for pad in _PADDINGS:
        layout = {"rule": text_of(bytes(header[2])), "pad": pad}
        rows = _read_markdown(text, head, header.end() + 1, end, layout)
        if rows is not None:
            is_main_part = _is_main_part(rows.collector.names, rows.collector.count, rows.size, outside)
            extra = {"format": "markdown table", **layout, **outside, "columns": rows.collector.names}
            return rows.collector.payload_records(extra) if is_main_part else None
    return None


def _end_of_markdown(text: Data, start: int) -> int:
    """The end of the last row. Only a short text may follow this row."""
    end = text.find(b"\n", max(start, len(text) - 4 * SMALL_SIZE))
    while end >= 0 and text.startswith(b"|", end + 1):
        end = text.find(b"\n", end + 1)
    return end if end >= 0 else len(text)


@dataclass
class _MarkdownRows:
    collector: RowCollector
    size: int
    """Number of characters of the cells, and two more for each cell. They are only counted up to a few thousand."""


def _read_markdown(text: Data, head: bytes, start: int, end: int, layout: Mapping[str, Any]) -> _MarkdownRows | None:
    """The rows from *start* to *end*; None if a row has another *layout*, or could be the rule of a table."""
    names = _markdown_cells(head, head.count(b"|") - 1)
    width = len(names)
    if _markdown_text(layout, _with_bars(names), width) != head:
        return None
    rows = _MarkdownRows(RowCollector(list(map(text_of, names))), _size_of(names))
    for first, stop in places_of_lines(text, end, start):
        block = bytes(memoryview(text)[first:stop])
        cells = _padded_with_one(block, width) if layout["pad"] == "one" else None
        if cells is None:
            cells = _markdown_cells(block, width)
            if _markdown_text(layout, _with_bars(cells) if b"\\" in block else cells, width) != block:
                return None
        if _has_rule(cells, width):
            return None
        rows.collector.take(cells)
        rows.size += _size_of(cells) if rows.size < SMALL_SIZE else 0
    return rows


def _size_of(cells: Cells) -> int:
    return len(text_of(b"".join(cells))) + 2 * len(cells)


def _padded_with_one(rows: bytes, width: int) -> Cells | None:
    """The cells of rows with exactly one space on each side of a cell.

    None if a cell has other spaces around it, has a backslash or a bar, or is empty.

    This takes half the time of writing the rows again.
    """
    bars = rows.translate(None, _ALL_BUT_BARS) + b"\n"
    row = rows[2:-2].replace(b" |\n| ", b" | ")  # all rows as if they were one
    cells = row.split(b" | ")
    count = len(cells) // width
    is_padded = (
        bars == (b"|" * (width + 1) + b"\n") * count
        and len(cells) == count * width
        and rows[:2] == b"| "
        and rows[-2:] == b" |"
        and b"\n" not in row
        and not any(sign in rows for sign in (b"|  ", b"  |", b"\\"))
    )
    return cells if is_padded else None


def _markdown_cells(rows: bytes, width: int) -> Cells:
    """The cells of rows. If a row has more or fewer than *width* cells, they are wrong: other rows would be written."""
    if b"\\" in rows:
        cells = chain.from_iterable(_MARKDOWN_CELL.findall(row[1:]) for row in rows.split(b"\n"))
        return [cell.strip(b" ").replace(b"\\|", b"|") for cell in cells]
    cells = rows.translate(_BARS).split(SEPARATOR)
    # The bytes after the last bar of a row, and before its first bar, are no cells.
    del cells[width + 1 :: width + 2], cells[:: width + 1]
    return list(map(bytes.strip, cells, repeat(b" ")))


def _has_rule(cells: Cells, width: int) -> bool:
    """True if a row could be the rule of another table."""
    first = cells[::width]
    if b"-" not in b"".join(first):
        return False
    places = [n for n, cell in enumerate(first) if not cell.strip(b"-:")]
    return any(_RULE.fullmatch(b"|%b|" % b"|".join(cells[n * width : (n + 1) * width])) for n in places)


def _is_main_part(names: Sequence[str], count: int, size: int, outside: Mapping[str, str]) -> bool:
    """True if a table has several rows and unique names, and makes up most of its text."""
    return count > 1 and len(set(names)) == len(names) and sum(map(len, outside.values())) <= min(SMALL_SIZE, size)


def _with_bars(cells: Cells) -> Cells:
    """Cells as they are written, with a backslash before each bar."""
    return [cell.replace(b"|", b"\\|") for cell in cells]


def _markdown_text(layout: Mapping[str, Any], texts: Cells, width: int) -> bytes:
    """Rows as a text. *texts* is what is written for their cells. Empty if these are not whole rows."""
    if not texts or len(texts) % width:
        return b""
    if layout["pad"] == "wide":
        texts = texts.copy()
        for place, rule in enumerate(_MARKDOWN_CELL.findall(layout["rule"].encode()[1:])[:width]):
            texts[place::width] = _aligned(texts[place::width], rule)
    padding = b"" if layout["pad"] == "none" else b" "
    parts = [b"|" + padding] * (2 * len(texts) + 1)
    parts[1::2] = texts
    parts[2::2] = ([padding + b"|" + padding] * (width - 1) + [padding + b"|\n|" + padding]) * (len(texts) // width)
    parts[-1] = padding + b"|"
    return b"".join(parts)


def _aligned(texts: Cells, rule: bytes) -> Iterable[bytes]:
    width, rule = len(rule) - 2, rule.strip()  # without the space on each side of a cell
    how = "ljust" if not rule.endswith(b":") else "center" if rule.startswith(b":") else "rjust"
    if b"".join(texts).isascii():
        return map(getattr(bytes, how), texts, repeat(width))
    return utf8_of(map(getattr(str, how), map(text_of, texts), repeat(width)))


def _write_markdown(extra: Extra, records: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    def text(cells: Iterable[str]) -> str:
        return text_of(_markdown_text(extra, _with_bars(utf8_of(cells)), len(extra["columns"])))

    rows = text(chain.from_iterable(_cells(extra, records)))
    yield extra.get("before", "") + "\n".join([text(extra["columns"]), extra["rule"], rows]) + extra.get("after", "")


MARKDOWN = Form(
    "markdown table",
    lambda beginning: any(map(_RULE.fullmatch, beginning.encode("utf-8", "replace").split(b"\n"))),
    _markdown,
    _write_markdown,
)


# --- HTML

_HTML_ROW = re.compile(r"<tr\b[^>]*>.*?</tr\s*>", re.DOTALL | re.IGNORECASE)
_HTML_CELL = re.compile(r"(<t([dh])\b[^>]*>)(.*?)(</t\2\s*>)", re.DOTALL | re.IGNORECASE)


def _html(data: Data) -> PayloadRecords | None:
    text = decoded(data, 0, len(data))
    row_matches = list(_HTML_ROW.finditer(text))
    if len(row_matches) < 3 or text.lower().count("<table") > 1 or text.lower().count("<tr") != len(row_matches):
        return None
    rows = [
        _HTML_CELL.split(row[0]) for row in row_matches
    ]  # of a row: the text before a cell, then its opening tag, d or h, its content, its closing tag, and so on
    frames = [["".join(parts) for parts in _frame(row)] for row in rows]
    cells = [row[3::5] for row in rows]
    between = text[row_matches[0].end() : row_matches[1].start()]
    are_evenly_joined = all(text[first.end() : second.start()] == between for first, second in pairwise(row_matches))
    if not are_evenly_joined or any(frame != frames[1] for frame in frames[2:]):
        return None
    outside = _text_outside(text[: row_matches[0].start()], text[row_matches[-1].end() :])
    is_escaped = all(escape(unescape(cell), quote=False) == cell for row in cells for cell in row)
    if is_escaped:
        cells = [list(map(unescape, row)) for row in cells]
    layout = {"head": frames[0], "row": frames[1], "between": between, "escaped": is_escaped}
    if _is_grid(cells):
        layout |= {"above": cells[0], "number": cells[1][0]}
        cells = [["row", *cells[1][1:]], *cells[2:]]
    names, *rows = cells
    size = sum(len(cell) + 2 for row in cells for cell in row)
    if any(len(row) != len(names) for row in rows) or not _is_main_part(names, len(rows), size, outside):
        return None
    collector = RowCollector(names)
    collector.take(utf8_of(chain.from_iterable(rows)))
    return collector.payload_records({"format": "html table", **layout, **outside, "columns": collector.names})


def _is_grid(cells: Rows) -> bool:
    """True if a table shows a spreadsheet: numbers of rows, letters of columns, and column names in its first row."""
    letters = [chr(ord("A") + n) for n in range(min(26, len(cells[0]) - 1))]
    return cells[0][0] == "" and bool(letters) and cells[0][1:27] == letters and are_names(cells[1][1:])


def _frame(row: Sequence[str]) -> Iterator[list[str]]:
    """The text of a row before, between and after the contents of its cells, each as a list of parts."""
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
