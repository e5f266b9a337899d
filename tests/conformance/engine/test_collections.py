"""Garbage of certifications."""

from __future__ import annotations

import gc
import weakref

from lro_conformance.engine.run import rare_collections


class Circle:
    """An object that only the garbage collector removes."""

    def __init__(self) -> None:
        self.itself = self


def test_a_run_collects_what_an_earlier_one_has_left() -> None:
    usual = gc.get_threshold()
    with rare_collections():
        left = weakref.ref(Circle())
    with rare_collections():
        assert left() is None
    assert gc.get_threshold() == usual
