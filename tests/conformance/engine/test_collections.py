"""Garbage of certifications."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator

import pytest

from lro_conformance.engine.run import infrequent_garbage_collection


class Circle:
    """An object that only the garbage collector removes."""

    def __init__(self) -> None:
        self.itself = self


@pytest.fixture(autouse=True)
def nothing_is_frozen() -> Iterator[None]:
    """The tests themselves are frozen (tests/conftest.py)."""
    gc.unfreeze()
    yield
    gc.freeze()


def test_a_run_collects_what_an_earlier_one_has_left() -> None:
    usual = gc.get_threshold()
    with infrequent_garbage_collection():
        left = weakref.ref(Circle())
    with infrequent_garbage_collection():
        assert left() is None
    assert gc.get_threshold() == usual


def test_what_its_caller_has_frozen_stays_frozen() -> None:
    gc.freeze()
    frozen = gc.get_freeze_count()
    with infrequent_garbage_collection():
        left = weakref.ref(Circle())
    assert gc.get_freeze_count() > frozen / 2  # some of them die meanwhile
    with infrequent_garbage_collection():
        assert left() is None


def test_nothing_stays_frozen_otherwise() -> None:
    with infrequent_garbage_collection():
        assert gc.get_freeze_count() > 0
    assert gc.get_freeze_count() == 0
