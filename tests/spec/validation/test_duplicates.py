"""Ids that were seen before: told at once while they are kept in memory, and at the end once they are not."""

from __future__ import annotations

import pytest

from lro_spec.validation.duplicates import SeenIds
from tests.support.ending import ends

ROWS: list[list[int]] = [
    [1, 2, 3], [4], [1], [5, 5], [6, 7, 8, 9], [9], [0, 0], [0], [16, 32, 48], [48], [17], [33, 1], [-1], [-1], [15],
    [31], [10, 11, 12, 13, 14], [64, 80], [80], [10], [100], [101, 100], [100],
]  # fmt: skip
"""Hashes of the ids of lines in a row; some share their last bits, some are negative or zero."""


@pytest.mark.parametrize(
    ("limit", "few"), [(1, 0), (2, 9), (3, 1), (5, 3), (6, 6), (7, 0), (12, 4), (24, 7), (99, 9), (1_500_000, 50_000)]
)
def test_an_id_that_is_kept_is_told_at_once_and_any_other_at_the_end(limit: int, few: int) -> None:
    ids, line = SeenIds(limit, few), 1
    kept, spilled, late = set[int](), set[int](), list[int]()
    for row in ROWS:
        new = len(set(row)) == len(row) and kept.isdisjoint(row)
        assert ids.add_hashes(row, line) is new
        for place, hashed in enumerate(row if new else ()):
            if len(kept) < limit:
                kept.add(hashed)
            elif hashed in spilled:
                late.append(line + place)
            else:
                spilled.add(hashed)
        line += len(row)
    assert (ids.count, sorted(ids.late())) == (len(kept), late)


def test_all_shares_of_what_is_not_kept_are_looked_through() -> None:
    with ends(10):
        ids = SeenIds(4, 2)
        for start in range(0, 900_000, 1000):
            ids.add_hashes([n << 32 for n in range(start, start + 1000)], start + 1)
        ids.add_hashes([n << 32 for n in (7, 256, 5000, 899_999)], 1_000_001)
        assert sorted(ids.late()) == [1_000_001, 1_000_002, 1_000_003, 1_000_004]


def test_by_default_a_million_ids_are_kept_and_the_first_of_them_with_their_lines() -> None:
    ids = SeenIds()
    ids.add_all([f"id {n}" for n in range(49_999)], 2)
    assert ids.line_of("id 49998") == 50_000
    assert ids.add("one more", 50_001)
    assert ids.line_of("id 49998") is None
    assert (ids.limit, ids.add("id 7", 50_002)) == (1_500_000, False)
