"""`lro validate` finds in each golden document what it found when tests/data/frozen was recorded; words may differ."""

from __future__ import annotations

import pytest

from tests.support.frozen_validation import cases, found

CASES = cases()


@pytest.mark.parametrize("name", CASES)
def test_the_same_rules_at_the_same_places(name: str) -> None:
    assert found(CASES[name]) == CASES[name]["found"]
