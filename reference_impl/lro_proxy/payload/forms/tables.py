"""Tables of cells: comma- and tab-separated values, Markdown, HTML; also under a banner, or with a note below.

A table is recognised only if its own notation gives every byte of it again. A batch of rows is read at a time.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape, unescape
from itertools import chain, pairwise, repeat
from typing import Any

from lro_proxy.payload.forms.columns import BETWEEN, Cells, Reading, text_of, utf8_of
from lro_proxy.payload.forms.form import SMALL, Data, Extra, Form, Shape, decoded

_SAMPLE = 16
_LINE = 10_000
_MOST_COLUMNS = 500
_FIRST, _BATCH = 1 << 14, 1 << 16
_BANNER, _NOTE = 12, 6
"""Most lines above and below a table."""
_A_NAME = re.compile(r"\s*[^\s=]+(?:\s+[^\s=]+){0,5}\s*$")
"""Name of a column: a few words."""
_BEGINS_WITH_A_DIGIT = re.compile(r"\s*[-+]?\d")
_QUOTED = b"\xfe"
"""Stands for a quoted value: a byte that UTF-8 does not have."""
Rows = list[list[str]]


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


@dataclass(frozen=True)
class _Notation:
    """Notation of separated values with a number of columns, at least two."""

    delimiter: str
    line_end: str
    columns: int

    def cells(self, part: bytes) -> Cells | None:
        """The cells of whole rows; None if they are no such rows, or quoted otherwise."""
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
        """A row without its values, all bytes but those in it, and a table that makes `BETWEEN` of those."""
        signs = self.delimiter.encode() + b"\n"
        row = signs[:1] * (self.columns - 1) + signs[1:]
        return row, bytes(set(range(256)) - set(signs)), bytes.maketrans(signs, 2 * BETWEEN)

    def _cut(self, part: bytes) -> Cells | None:
        """The cells of plain rows: no value has a quote in it, and `write` would quote the same ones.

        It takes a fifth of the time of the `csv` module, which reads byte by byte and would have to write them again:
        all that stands outside of quotes is looked at as a whole.
        """
        row, others, ends = self._layout
        pieces = part.removesuffix(self.line_end.encode()).split(b'"')
        outside = _QUOTED.join(pieces[::2])
        if self.line_end == "\r\n" and outside.count(b"\r\n") == outside.count(b"\n"):
            outside = outside.replace(b"\r\n", b"\n")
        rows = outside.translate(None, others) + b"\n"
        if b"\r" in outside or len(pieces) % 2 == 0 or rows != row * (len(rows) // len(row)):
            return None
        cells = outside.translate(ends).split(BETWEEN)
        return self._with_quoted(cells, pieces[1::2]) if len(pieces) > 1 else cells

    def _with_quoted(self, cells: Cells, quoted: Sequence[bytes]) -> Cells | None:
        """Cells with quoted values in place of `_QUOTED`; None unless each is a whole cell that has to be quoted."""
        others = self._layout[1].replace(_QUOTED, b"")
        reasons = _QUOTED.join((b"", *quoted, b"")).translate(None, others)  # of each value, what it is quoted for
        if 2 * _QUOTED in reasons:
            return None
        columns = [place for place in range(self.columns) if cells[place] == _QUOTED]
        rows = len(cells) // self.columns
        if len(columns) * rows == len(quoted) and all(
            cells[place :: self.columns] == [_QUOTED] * rows for place in columns
        ):
            for number, place in enumerate(columns):
                cells[place :: self.columns] = quoted[number :: len(columns)]
            return cells
        places = [place for place, cell in enumerate(cells) if cell == _QUOTED]
        if len(places) != len(quoted):
            return None
        for place, value in zip(places, quoted, strict=True):
            cells[place] = value
        return cells


def _separated(text: Data) -> Shape | None:
    begun = _begin(_first_lines(text))
    if begun is None:
        return None
    delimiter, banner = begun
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
    reading = Reading(names)
    start, size = rows, _FIRST
    while start < end:
        stop = _end_of_quotes(text, start, text.find(b"\n", start + size, end) + 1 or end, end)
        cells = notation.cells(bytes(memoryview(text)[start:stop]))
        if cells is None:
            return None
        reading.take(cells)
        start, size = stop, _BATCH
    around = _around(decoded(text, 0, first), decoded(text, end, len(text)))
    if reading.count < (2 if around else 1) or sum(map(len, around.values())) > SMALL:
        return None
    ended = text.endswith(line_end.encode(), 0, end)
    layout = {"delimiter": delimiter, "line_end": line_end, "ending": line_end if ended else ""}
    return reading.shape({"format": "table", **layout, **around, "columns": reading.names})


def _write_separated(extra: Extra, records: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    notation = _Notation(extra["delimiter"], extra["line_end"], len(extra["columns"]))
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
    reading = Reading(rows[0])
    reading.take(utf8_of(chain.from_iterable(rows[1:])))
    return reading.shape({"format": "markdown table", **layout, **around, "columns": reading.names})


def _plain(cell: str) -> str:
    return cell.strip(" ").replace("\\|", "|")


def _is_mostly(rows: Rows, around: Mapping[str, str]) -> bool:
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
    reading = Reading(cells[0])
    reading.take(utf8_of(chain.from_iterable(cells[1:])))
    return reading.shape({"format": "html table", **layout, **around, "columns": reading.names})


def _is_grid(cells: Rows) -> bool:
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
