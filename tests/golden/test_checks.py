"""Checks say of evidence that is made up what they said when somebody last read it: see tests/golden."""

from __future__ import annotations

import pytest

from tests.golden.kept import MADE_UP, kept


@pytest.mark.parametrize(("group", "name"), [(group, name) for group, cases in MADE_UP.items() for name in cases])
def test_is_judged_as_it_was(group: str, name: str) -> None:
    assert MADE_UP[group][name]() == kept(group)[name]


@pytest.mark.parametrize("group", MADE_UP)
def test_nothing_is_kept_of_what_is_gone(group: str) -> None:
    assert list(kept(group)) == list(MADE_UP[group])
