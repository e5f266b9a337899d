"""Single records: an id, and the documented types of the fields that they have."""

from __future__ import annotations

from typing import Any

import pytest

from lro_spec.validation.record import validate_line


@pytest.mark.parametrize("detail", [None, "light", "full"])
@pytest.mark.parametrize(
    ("record", "places"),
    [
        ({}, ["LRO-FILE-11 /id"]),
        ({"id": 1}, []),
        ({"id": "a", "tags": "x"}, ["LRO-FILE-11 /tags"]),
        ({"id": "a", "provenance": []}, ["LRO-FILE-11 /provenance"]),
        ({"id": "a", "created": 3}, ["LRO-FILE-11 /created"]),
        ({"id": "a", "content": None}, []),
        ({"id": "a", "content": 5}, ["LRO-FILE-11 /content"]),
        ({"id": "a", "extensions": 3}, []),
        ([], ["LRO-FILE-01 "]),
        (None, ["LRO-FILE-01 "]),
    ],
)
def test_a_record_is_judged_by_its_fields(record: Any, places: list[str], detail: str | None) -> None:
    assert [f"{f.rule} {f.pointer}" for f in validate_line(record, detail)] == places
