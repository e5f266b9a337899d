"""Garbage of certifications."""

from __future__ import annotations

import gc
import weakref

from lro_conformance.engine.run import infrequent_garbage_collection


class Circle:
    """An object that only the garbage collector removes."""

    def __init__(self) -> None:
        self.itself = self


def test_a_run_collects_what_an_earlier_one_has_left() -> None:
    usual = gc.get_threshold()
    with infrequent_garbage_collection():
        left = weakref.ref(Circle())
    with infrequent_garbage_collection():
        assert left() is None
    assert gc.get_threshold() == usual
