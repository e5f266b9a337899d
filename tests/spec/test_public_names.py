"""The public names of the library, from its root."""

from __future__ import annotations

import pytest

import lro_spec


def test_each_is_there() -> None:
    assert [name for name in lro_spec.__all__ if getattr(lro_spec, name, None) is None] == []


def test_others_are_not() -> None:
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = lro_spec.no_such_name  # type: ignore[attr-defined]
