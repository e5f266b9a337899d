"""A limit for what takes milliseconds: without an end it would wait for the two minutes that each test has."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager

import pytest


@contextmanager
def ends(seconds: float = 0.9) -> Iterator[None]:
    """Fails the test after so much time of a processor, where the system can tell."""

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
