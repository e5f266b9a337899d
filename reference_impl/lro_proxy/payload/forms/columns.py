"""Records that all have the same fields, as rows of cells: they are looked at by column, and written by the block.

Cells are kept in blocks, joined, because as objects they take five times the memory.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from itertools import chain
from typing import Any

import orjson

from lro_proxy.payload.batches import Batched, BatchedLines
from lro_proxy.payload.forms.form import Extra, Shape
from lro_proxy.payload.survey import Layout, Sampling, Survey
from lro_reference.writer import encode

Cells = list[bytes]
"""The values of rows in UTF-8, one row after the other, without their names."""
BETWEEN = b"\xff"
"""Stands between the cells of a block: a byte that UTF-8 does not have."""
_BETWEEN_IN_TEXT = b"\x7f"
"""Stands between them while they are encoded as one text: JSON does not escape it."""
_ESCAPED = bytes([*range(0x20), *b'"\\'])
"""Characters that JSON escapes."""
_DIGITS = b"-.0123456789"
_AS_DIGITS = bytes.maketrans(_DIGITS, b"0" * len(_DIGITS))
_TOO_LONG = b"0" * 16
"""A number as `_AS_DIGITS` has it, of more digits than every reader of JSON keeps."""
_MOST_VALUES = 1000
"""Different values of a column up to which they are counted while it is read."""


class RowRecords(Batched[Mapping[str, Any]]):
    """Rows as records; a column of nothing but numbers has numbers, and null for an empty cell."""

    def __init__(self, count: int, fields: _Fields, blocks: Sequence[bytes]) -> None:
        # The function does not refer to the records: in a circle, the blocks would stay in memory for long.
        super().__init__(count, lambda: (fields.records(block.split(BETWEEN)) for block in blocks))
        self._fields, self._blocks = fields, blocks

    def texts(self, name: str) -> Iterator[str]:
        """The texts of a field."""
        names = self._fields.names
        column = names.index(name)
        return (text_of(cell) for block in self._blocks for cell in block.split(BETWEEN)[column :: len(names)])


class _Fields:
    """The names and types of the columns of rows."""

    def __init__(self, names: Sequence[str], numbers: Mapping[int, _Numbers]) -> None:
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
        """The fields of a row, and of one with every gap that there is."""
        types = tuple(numbers.type if (numbers := self._numbers.get(n)) else str for n in range(len(self.names)))
        gaps = tuple(
            type(None) if (numbers := self._numbers.get(n)) and numbers.has_gaps else t for n, t in enumerate(types)
        )
        return [(tuple(self.names), found) for found in dict.fromkeys((types, gaps))]

    def lines(self, blocks: Iterable[bytes]) -> Iterator[bytes]:
        """Rows as lines, a block of them for each block of cells."""
        between = [orjson.dumps(name) + b":" + self._quote(place) for place, name in enumerate(self.names)]
        width = len(between)
        # The bytes before each value of a row, from the end of the value before it.
        between = [self._quote(place - 1) + b"," + one if place else one for place, one in enumerate(between)]
        end = self._quote(width - 1) + b"}\n{"
        for block in blocks:
            cells = _as_json(block)
            parts = [b""] * (2 * len(cells))
            parts[::2] = [end + between[0], *between[1:]] * (len(cells) // width)
            parts[1::2] = cells
            for place, column in self._numbers.items():
                if column.has_gaps:
                    parts[2 * place + 1 :: 2 * width] = [
                        value or b"null" for value in parts[2 * place + 1 :: 2 * width]
                    ]
            parts[0] = b"{" + between[0]
            yield b"".join([*parts, self._quote(width - 1), b"}"])

    def _values(self, row: Sequence[str]) -> list[Any]:
        values: list[Any] = list(row)
        for place, column in self._numbers.items():
            values[place] = column.value(row[place])
        return values

    def _quote(self, place: int) -> bytes:
        return b"" if place in self._numbers else b'"'


def text_of(cell: bytes) -> str:
    """A cell as a text."""
    return cell.decode("utf-8", "surrogatepass")


def utf8_of(cells: Iterable[str]) -> Cells:
    """Texts as cells."""
    return [cell.encode("utf-8", "surrogatepass") for cell in cells]


def _as_json(block: bytes) -> Cells:
    """The cells of a block as JSON writes them, without quotes."""
    cells = block.split(BETWEEN)
    unescaped = block.translate(None, _ESCAPED + BETWEEN)
    if len(unescaped) == len(block) - len(cells) + 1 and _is_utf8(unescaped):
        return cells
    values = encode(text_of(block.replace(BETWEEN, _BETWEEN_IN_TEXT)))[1:-1].split(_BETWEEN_IN_TEXT)
    return values if len(values) == len(cells) else [encode(text_of(cell))[1:-1] for cell in cells]


def _is_utf8(text: bytes) -> bool:
    """False if the text has half of a surrogate pair."""
    try:
        return text.isascii() or bool(text.decode())
    except UnicodeDecodeError:
        return False


class _Numbers:
    """A column that holds nothing but numbers so far, written as JSON writes them."""

    def __init__(self) -> None:
        self.are_some = self.has_gaps = self.has_decimals = False

    @property
    def type(self) -> type:
        """The type of its values."""
        return float if self.has_decimals else int

    def take(self, cells: Cells) -> bool:
        """Look at further cells; False if one of them is no number."""
        text = b",".join(cells)
        if text.translate(None, b"," + _DIGITS) or _TOO_LONG in text.translate(_AS_DIGITS):
            return False
        count = self._count(text)
        if count != len(cells):
            filled = [cell for cell in cells if cell]
            self.has_gaps = True
            count = self._count(b",".join(filled)) + len(cells) - len(filled)
        self.has_decimals = self.has_decimals or b"." in text
        return count == len(cells)

    def _count(self, text: bytes) -> int:
        """Number of numbers in a list of them; 0 if something in it is none."""
        try:
            numbers = orjson.loads(b"[%b]" % text)
        except ValueError:
            return 0
        self.are_some = self.are_some or bool(numbers)
        return len(numbers)

    def value(self, cell: str) -> float | int | None:
        """The value of a cell."""
        return None if not cell else float(cell) if self.has_decimals else int(cell)


class Reading:
    """A pass over rows that finds out what their columns hold.

    *numbers* are the places of columns that may have numbers; all may if it is left out.
    """

    def __init__(self, names: Sequence[str], numbers: Set[int] | None = None) -> None:
        self.names, self.count = names, 0
        self._numbers = {place: _Numbers() for place in range(len(names)) if numbers is None or place in numbers}
        self._counted = {place: Counter[bytes]() for place in range(len(names)) if place not in self._numbers}
        self._sample = Sampling[Cells]()
        self._blocks: list[bytes] = []

    def take(self, cells: Cells, block: bytes | None = None) -> None:
        """Look at further rows. *block* are the cells with `BETWEEN` between them, if they have been joined already."""
        width = len(self.names)
        rows = len(cells) // width
        if not rows:
            return
        for place in list(self._numbers):
            if not self._numbers[place].take(cells[place::width]):
                del self._numbers[place]
                if not self.count or place in self._counted:
                    self._counted[place] = Counter()
        for place, counted in list(self._counted.items()):
            counted.update(cells[place::width])
            if len(counted) > _MOST_VALUES:
                del self._counted[place]
        self._sample.take(rows, lambda row: cells[row * width : (row + 1) * width])
        self.count += rows
        self._blocks.append(BETWEEN.join(cells) if block is None else block)

    def shape(self, extra: Extra) -> Shape:
        """The rows as records."""
        numbers = {place: column for place, column in self._numbers.items() if column.are_some}
        fields = _Fields(self.names, numbers)
        records, blocks = RowRecords(self.count, fields, self._blocks), self._blocks
        counted = {
            self.names[place]: Counter({text_of(value): number for value, number in values.items()})
            for place, values in self._counted.items()
        }
        sample = list(chain.from_iterable(map(fields.records, self._sample.chosen)))
        records.findings = Survey(fields.layouts(), sample, counted)
        return Shape(BatchedLines(self.count, lambda: fields.lines(blocks)), records, extra)
