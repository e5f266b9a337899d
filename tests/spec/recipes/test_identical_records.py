"""Outputs whose records are spelled like those of the file, or otherwise: each record matches once."""

from typing import Any

import pytest

from lro_spec.recipes.expected import ByOrder

ONE: dict[str, Any] = {"id": "1", "created": "2026-01-01", "score": 1.0}
TWO: dict[str, Any] = {"id": "2", "created": "2026-01-02", "score": 0.5}


@pytest.mark.parametrize(
    ("values", "met"),
    [
        ([ONE, TWO], True),
        ([dict(reversed(ONE.items())), TWO], True),
        ([{**ONE, "score": 1}, TWO], True),
        ([ONE, ONE], False),
        ([ONE, {**ONE, "score": 1}], False),
        ([ONE, {**TWO, "score": True}], False),
        ([ONE], False),
    ],
)
def test_spelling_does_not_count_and_repetition_does(values: list[dict[str, Any]], met: bool) -> None:
    assert ByOrder([ONE, TWO], "created").met_by(values) is met
