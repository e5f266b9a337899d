"""Records that all have the same fields, as rows of cells: they are examined column by column, and written in blocks.

Cells are kept joined in blocks, because separate objects take five times the memory. If there are few columns, and no
cell needs an escape in JSON, lines are made from a block without splitting it. In such a block, each cell is followed
by a byte that marks its column, and the name of the next column replaces that byte.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from itertools import chain
from typing import Any

import msgspec
import orjson

from lro_proxy.payload.batches import Batched, BatchedLines
from lro_proxy.payload.forms.form import Extra, PayloadRecords
from lro_proxy.payload.survey import Layout, Sampling, Survey
from lro_reference.writer import encode

Cells = list[bytes]
"""The values of rows in UTF-8, one row after the other; the names of the columns are not among them."""
SEPARATOR = b"\xff"
"""A byte that UTF-8 does not have, which stands between cells. A block has it only if there are more columns than
`_COLUMN_SEPARATORS`."""
_COLUMN_SEPARATORS = [bytes([byte]) for byte in (0xC0, 0xC1, *range(0xF5, 0xFF))]
"""Further bytes that UTF-8 does not have. If there are enough of them, each column has its own byte. This byte stands
after each cell of the column in a block, except after the last cell of the block."""
_AS_SEPARATOR = bytes.maketrans(b"".join(_COLUMN_SEPARATORS), SEPARATOR * len(_COLUMN_SEPARATORS))
_SEPARATOR_IN_TEXT = b"\x7f"
"""Stands between cells while they are encoded as one text, because JSON does not escape it."""
_ESCAPED = bytes([*range(0x20), *b'"\\'])
"""Characters that JSON escapes."""
_DIGITS = b"-.0123456789"
_AS_DIGITS = bytes.maketrans(_DIGITS, b"0" * len(_DIGITS))
_TOO_LONG = b"0" * 16
"""A number contains this, after `_AS_DIGITS` has turned all its characters into zeros, if it may have more digits than
some readers of JSON keep."""
_RAW_DECODER = msgspec.json.Decoder(msgspec.Raw)
_MAX_VALUES = 1000
"""The values of a column are counted while it is read, as long as it has no more different values than this."""


class RowRecords(Batched[Mapping[str, Any]]):
    """Rows as records. In a column that has only numbers, values are numbers, and an empty cell is null."""

    def __init__(self, count: int, fields: _ColumnTypes, blocks: Sequence[bytes]) -> None:
        # The function does not refer to `self`: in a reference cycle, the blocks would stay in memory for long.
        super().__init__(count, lambda: (fields.records(_cells_of(block)) for block in blocks))
        self._fields, self._blocks = fields, blocks

    def texts(self, name: str) -> Iterator[str]:
        """The texts of a field."""
        names = self._fields.names
        column = names.index(name)
        return (text_of(cell) for block in self._blocks for cell in _cells_of(block)[column :: len(names)])


class _ColumnTypes:
    """The names and types of the columns of rows."""

    def __init__(self, names: Sequence[str], numbers: Mapping[int, _NumberColumn]) -> None:
        self.names = names
        self._numbers = numbers

    def records(self, cells: Cells) -> list[dict[str, Any]]:
        """Rows as records."""
        width = len(self.names)
        texts = list(map(text_of, cells))
        return [
            dict(zip(self.names, self._values(texts[n : n + width]), strict=True)) for n in range(0, len(texts), width)
        ]

    def layouts(self) -> list[Layout]:
        """The layout of a row without gaps, and the layout of a row with all gaps that occur."""
        types = tuple(numbers.type if (numbers := self._numbers.get(n)) else str for n in range(len(self.names)))
        gaps = tuple(
            type(None) if (numbers := self._numbers.get(n)) and numbers.has_gaps else t for n, t in enumerate(types)
        )
        return [(tuple(self.names), found) for found in dict.fromkeys((types, gaps))]

    def lines(self, blocks: Iterable[bytes]) -> Iterator[bytes]:
        """Rows as lines, a block of them for each block of cells."""
        width = len(self.names)
        keys = [orjson.dumps(name) + b":" for name in self.names]
        # The bytes before each value of a row, from the end of the value before it.
        before_values = [self._end(place - 1) + key + self._quote(place) for place, key in enumerate(keys)]
        first, end = b"{" + keys[0] + self._quote(0), self._quote(width - 1) + b"}"
        for block in blocks:
            if width <= len(_COLUMN_SEPARATORS) and _is_plain(block, width):
                line = b"".join((first, block, end))
                for mark, following in zip(_COLUMN_SEPARATORS, [*before_values[1:], before_values[0]], strict=False):
                    line = line.replace(mark, following)
                yield self._with_nulls(line, keys)
                continue
            cells = _as_json(block.translate(_AS_SEPARATOR))
            parts = [b""] * (2 * len(cells))
            parts[::2] = before_values * (len(cells) // width)
            parts[1::2] = cells
            parts[0] = first
            yield self._with_nulls(b"".join([*parts, end]), keys)

    def _with_nulls(self, lines: bytes, keys: Sequence[bytes]) -> bytes:
        """Lines with null for each missing number.

        A missing number is found as a key without a value. No text contains a key, because quotes in texts are escaped.
        """
        for place, column in self._numbers.items():
            if column.has_gaps:
                end = b"," if place < len(keys) - 1 else b"}"
                lines = lines.replace(keys[place] + end, keys[place] + b"null" + end)
        return lines

    def _end(self, place: int) -> bytes:
        """The bytes between the value in a column and the next key; -1 is the last column."""
        return self._quote(place) + (b"," if place >= 0 else b"}\n{")

    def _values(self, row: Sequence[str]) -> list[Any]:
        values: list[Any] = list(row)
        for place, column in self._numbers.items():
            values[place] = column.value(row[place])
        return values

    def _quote(self, place: int) -> bytes:
        return b"" if place % len(self.names) in self._numbers else b'"'


def text_of(cell: bytes) -> str:
    """A cell as a text."""
    return cell.decode("utf-8", "surrogatepass")


def utf8_of(cells: Iterable[str]) -> Cells:
    """Texts as cells."""
    return [cell.encode("utf-8", "surrogatepass") for cell in cells]


def _joined(cells: Cells, width: int) -> bytes:
    """Rows of cells as a block."""
    if width > len(_COLUMN_SEPARATORS):
        return SEPARATOR.join(cells)
    parts = [b""] * (2 * len(cells))
    parts[::2] = cells
    parts[1::2] = _COLUMN_SEPARATORS[:width] * (len(cells) // width)
    return b"".join(parts[:-1])


def _cells_of(block: bytes) -> Cells:
    return block.translate(_AS_SEPARATOR).split(SEPARATOR)


def _is_plain(block: bytes, width: int) -> bool:
    """True if the cells of a block that is joined by `_COLUMN_SEPARATORS` need no escapes in JSON."""
    rows = block.count(_COLUMN_SEPARATORS[width - 1]) + 1
    unescaped = block.translate(None, _ESCAPED + b"".join(_COLUMN_SEPARATORS))
    return len(unescaped) == len(block) - rows * width + 1 and _is_utf8(unescaped)


def _as_json(block: bytes) -> Cells:
    """The cells of a block that is joined by `SEPARATOR`, each as JSON writes it, but without quotes."""
    cells = block.split(SEPARATOR)
    unescaped = block.translate(None, _ESCAPED + SEPARATOR)
    if len(unescaped) == len(block) - len(cells) + 1 and _is_utf8(unescaped):
        return cells
    values = encode(text_of(block.replace(SEPARATOR, _SEPARATOR_IN_TEXT)))[1:-1].split(_SEPARATOR_IN_TEXT)
    return values if len(values) == len(cells) else [encode(text_of(cell))[1:-1] for cell in cells]


def _is_utf8(text: bytes) -> bool:
    """False if the text has half of a surrogate pair."""
    try:
        return text.isascii() or bool(text.decode())
    except UnicodeDecodeError:
        return False


def _is_list(text: bytes) -> bool:
    """True if a text is a list of JSON values; the values are not created."""
    try:
        return bool(_RAW_DECODER.decode(b"[%b]" % text))
    except msgspec.DecodeError:
        return False


class _NumberColumn:
    """A column that so far has only numbers, written as in JSON, and perhaps empty cells (gaps)."""

    def __init__(self) -> None:
        self.has_numbers = self.has_gaps = self.has_decimals = False

    @property
    def type(self) -> type:
        """The type of its values."""
        return float if self.has_decimals else int

    def take(self, cells: Cells) -> bool:
        """Take in further cells. False if a cell is neither a number nor empty, or may have too many digits."""
        text = b",".join(cells)
        between = b"," * (len(cells) - 1)  # and no further comma, as in 1,200
        if text.translate(None, _DIGITS) != between or _TOO_LONG in text.translate(_AS_DIGITS):
            return False
        is_list = bool(text) and _is_list(text)
        if not is_list:
            self.has_gaps = True
            text = b",".join(filter(None, cells))
            is_list = _is_list(text)
        self.has_numbers = self.has_numbers or bool(text)
        self.has_decimals = self.has_decimals or b"." in text
        return is_list

    def value(self, cell: str) -> float | int | None:
        """The value of a cell."""
        return None if not cell else float(cell) if self.has_decimals else int(cell)


class RowCollector:
    """A pass over rows that finds out what their columns hold.

    *numbers* are the places of the columns that may have numbers (default: all columns).
    """

    def __init__(self, names: Sequence[str], numbers: Set[int] | None = None) -> None:
        self.names, self.count = names, 0
        self._numbers = {place: _NumberColumn() for place in range(len(names)) if numbers is None or place in numbers}
        self._counts = {place: Counter[bytes]() for place in range(len(names)) if place not in self._numbers}
        self._sample = Sampling[Cells]()
        self._blocks: list[bytes] = []

    def take(self, cells: Cells) -> None:
        """Take in further rows."""
        width = len(self.names)
        rows = len(cells) // width
        if not rows:
            return
        for place in list(self._numbers):
            if not self._numbers[place].take(cells[place::width]):
                del self._numbers[place]
                if not self.count:  # values are counted from the first row on, or not at all
                    self._counts[place] = Counter()
        for place, counts in list(self._counts.items()):
            counts.update(cells[place::width])
            if not 1 < len(counts) <= _MAX_VALUES and rows > 1:  # a single value makes no groups
                del self._counts[place]
        self._sample.take(rows, lambda row: cells[row * width : (row + 1) * width])
        self.count += rows
        self._blocks.append(_joined(cells, width))

    def payload_records(self, extra: Extra) -> PayloadRecords:
        """The rows as records."""
        numbers = {place: column for place, column in self._numbers.items() if column.has_numbers}
        fields = _ColumnTypes(self.names, numbers)
        records, blocks = RowRecords(self.count, fields, self._blocks), self._blocks
        counts = {
            self.names[place]: Counter({text_of(value): number for value, number in values.items()})
            for place, values in self._counts.items()
        }
        sample = list(chain.from_iterable(map(fields.records, self._sample.items)))
        records.findings = Survey(fields.layouts(), sample, counts)
        return PayloadRecords(BatchedLines(self.count, lambda: fields.lines(blocks)), records, extra)
