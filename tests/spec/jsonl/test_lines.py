"""A stream is cut at its line feeds, whatever it gives at a time and however long its lines are."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator

import pytest

from lro_spec.jsonl.lines import Block, PhysicalLine, blocks
from tests.support.streams import Steps

DATA = [
    b"", b"a", b"\n", b"a\n", b"a\nbc\n\ndef", b"abcdef\ngh\ni", b"a\r\nb\n", b"a\nb\r\ncdefghijkl\nm", b"\n\n\r\n",
    b"abc\rdef\nghi\njklmnop\n",
]  # fmt: skip


def expected(data: bytes, limit: int, number: int, offset: int) -> Iterator[PhysicalLine]:
    *ended, rest = data.split(b"\n")
    for line in ended:
        yield PhysicalLine(number, offset, line[:limit], len(line), True)
        number, offset = number + 1, offset + len(line) + 1
    if rest:
        yield PhysicalLine(number, offset, rest[:limit], len(rest), False)


def one_by_one(found: Iterable[Block | PhysicalLine]) -> list[PhysicalLine]:
    return [line for part in found for line in ([part] if isinstance(part, PhysicalLine) else part.physical())]


@pytest.mark.parametrize("limit", [1, 2, 3, 6, 99])
@pytest.mark.parametrize("step", [1, 2, 3, 99])
@pytest.mark.parametrize("data", DATA)
def test_lines_are_those_between_line_feeds(data: bytes, step: int, limit: int) -> None:
    found = list(blocks(Steps(data, step), limit, 5, 100))
    assert one_by_one(found) == list(expected(data, limit, 5, 100))
    for part in found:
        if isinstance(part, Block):
            assert part.returns or not any(b"\r" in line for line in part.lines)


def test_a_stream_is_read_from_line_one_in_blocks_of_whole_lines() -> None:
    data = b"\n".join([b"a" * 70_000, b"b", b"c" * 65_535, b"d\r", b"e" * 200_000, b"f"]) + b"\n"
    found = list(blocks(io.BytesIO(data)))
    assert one_by_one(found) == list(expected(data, len(data), 1, 0))
    assert [(p.number, len(p.lines), p.returns) for p in found if isinstance(p, Block)] == [
        (1, 1, False), (2, 1, False), (3, 2, True), (5, 1, False), (6, 1, False),
    ]  # fmt: skip


def test_of_a_line_that_is_too_long_the_beginning_is_kept() -> None:
    (line,) = blocks(Steps(b"a" * 70_000, 9999), 65_000)
    assert line == PhysicalLine(1, 0, b"a" * 65_000, 70_000, False)
