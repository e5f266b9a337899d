"""Records in descriptors: a preview passes, the result does not."""

from __future__ import annotations

from typing import Any

import pytest

from lro_spec.validation.payload import payload, preview_limit, records_shown

RECORDS = [
    {"id": f"memory-{n:04}", "title": f"The title of memory {n}", "content": f"{n} " + "word " * 40} for n in range(100)
]


@pytest.mark.parametrize(("records", "most"), [(1, 3), (15, 3), (20, 5), (40, 10), (4000, 10)])
def test_a_preview_has_three_to_ten_records(records: int, most: int) -> None:
    assert preview_limit(records) == most


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ({}, 0),
        (RECORDS, 100),
        ({"a": [{"b": RECORDS[:7]}]}, 7),
        ([r["id"] for r in RECORDS[:5]], 5),
        (" ".join(str(r["id"]) for r in RECORDS[:5]), 5),
        ({r["title"]: 1 for r in RECORDS[:4]}, 4),
        ("\n".join(str(r["content"]) for r in RECORDS[:6]), 6),
        ({"id": "memory-0001", "related": [r["id"] for r in RECORDS]}, 1),
        ({"id": "another", "title": "The title of memory 7"}, 1),
    ],
)
def test_records_are_known_by_id_title_or_content(value: Any, shown: int) -> None:
    assert records_shown(value, RECORDS) == shown


def test_records_of_one_title_are_shown_once() -> None:
    records = [{"id": n, "title": "Untitled memory"} for n in range(20)]
    assert records_shown({"title": "Untitled memory", "count": 7}, records) == 1
    assert records_shown({"first": records[:4]}, records) == 4


def test_the_member_that_has_them_is_named() -> None:
    (found,) = payload({"summary": {}, "a/b": RECORDS[:11]}, RECORDS)
    assert (found.pointer, found.observed) == ("/a~1b", "11 of 100")
    assert list(payload({"summary": {}, "more": RECORDS[:10]}, RECORDS)) == []


def test_members_count_together() -> None:
    (found,) = payload({"a": RECORDS[:6], "b": RECORDS[6:12]}, RECORDS)
    assert (found.pointer, found.observed) == ("", "more than 10, in several members")
