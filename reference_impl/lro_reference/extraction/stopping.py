"""How a call that is under way hears that nobody wants its answer any more."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager


class Stop:
    """Said once, from any thread."""

    def __init__(self) -> None:
        self._said = False
        self._lock = threading.Lock()
        self._acts: list[Callable[[], object]] = []

    @property
    def said(self) -> bool:
        """Whether it was."""
        return self._said

    def say(self) -> None:
        """Ends what is under way."""
        with self._lock:
            self._said = True
            for act in self._acts:
                act()

    @contextmanager
    def doing(self, act: Callable[[], object]) -> Generator[None]:
        """While this lasts, *act* is what is done when it is said, or at once where it was; never afterwards."""
        with self._lock:
            self._acts.append(act)
            if self._said:
                act()
        try:
            yield
        finally:
            with self._lock:
                self._acts.remove(act)
