"""Cancellation of a call that runs in another thread."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager


class Cancellation:
    """The cancellation of a call, which any thread can request."""

    def __init__(self) -> None:
        self._requested = False
        self._lock = threading.Lock()
        self._actions: list[Callable[[], object]] = []

    @property
    def requested(self) -> bool:
        """True once the call has been cancelled."""
        return self._requested

    def request(self) -> None:
        """Cancel the call: run every action that is registered now."""
        with self._lock:
            self._requested = True
            for action in self._actions:
                action()

    @contextmanager
    def on_request(self, action: Callable[[], object]) -> Generator[None]:
        """Run *action* if the call is cancelled inside this block, or immediately if it already has been."""
        with self._lock:
            self._actions.append(action)
            if self._requested:
                action()
        try:
            yield
        finally:
            with self._lock:
                self._actions.remove(action)
