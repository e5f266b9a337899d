"""Validation says of each small input what it said when somebody last read it: see tests/golden."""

from __future__ import annotations

import pytest

from tests.golden.kept import GROUPS, kept
from tests.support.ending import ends

SLOW = ("as large as allowed",)
"""Inputs that take half a second; others take milliseconds."""


@pytest.mark.parametrize(("group", "name"), [(group, name) for group, cases in GROUPS.items() for name in cases])
def test_each_input_is_judged_as_it_was(group: str, name: str) -> None:
    with ends(10 if name in SLOW else 0):
        assert GROUPS[group][name]() == kept(group)[name]


@pytest.mark.parametrize("group", GROUPS)
def test_nothing_is_kept_of_inputs_that_are_gone(group: str) -> None:
    assert list(kept(group)) == list(GROUPS[group])
