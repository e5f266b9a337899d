"""A limit for what takes milliseconds: without an end it would wait for the two minutes that each test has."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

LIMIT = "LRO_TEST_ENDS_S"
"""The environment variable that sets another limit: where mutants are tried, it is a short one."""


@contextmanager
def ends(at_least: float = 0) -> Iterator[None]:
    """Fails the test after ten seconds of a processor, or what `LIMIT` and the test say, where the system can tell."""
    seconds = max(at_least, float(os.environ.get(LIMIT, "10")))

    def ring(*_: object) -> None:
        pytest.fail(f"it takes more than {seconds:g} s")

    if not hasattr(signal, "setitimer"):
        yield
        return
    before = signal.signal(signal.SIGVTALRM, ring)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
