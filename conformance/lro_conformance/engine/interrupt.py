"""Ctrl-C that is heard wherever it finds the process."""

from __future__ import annotations

import inspect
import signal
import threading
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from types import FrameType

AGAIN_S = 0.5
"""After how long a Ctrl-C that has not ended the block is repeated."""
MOST = 5
"""How often."""


@contextmanager
def heard() -> Generator[None]:
    """Ctrl-C ends the block, also where it falls into a callback first: what is raised there, Python drops.

    Such callbacks are finalizers, and those that Hypothesis has at each collection of garbage. Where it falls into an
    import, it waits for its end: what is raised there can leave the lock of all imports locked, and other threads would
    wait for it for ever. In other threads than the main one, and where Ctrl-C has another meaning, nothing changes.
    """
    main = threading.main_thread()
    usual = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not main or usual is not signal.default_int_handler:
        yield
        return
    asked, left = threading.Event(), threading.Event()
    around = _imports(inspect.currentframe())

    def interrupt(number: int, frame: FrameType | None) -> None:
        asked.set()
        if _imports(frame) == around:
            raise KeyboardInterrupt

    def insist() -> None:
        asked.wait()
        for _ in range(MOST):
            if left.wait(AGAIN_S) or main.ident is None:
                return
            signal.pthread_kill(main.ident, signal.SIGINT)

    threading.Thread(target=insist, name="ctrl-c", daemon=True).start()
    signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        left.set()
        asked.set()
        signal.signal(signal.SIGINT, usual)


def _imports(frame: FrameType | None) -> int:
    """How many calls of the import system a frame is within."""
    return sum(f.f_code.co_filename.startswith("<frozen importlib") for f in _outwards(frame))


def _outwards(frame: FrameType | None) -> Iterator[FrameType]:
    while frame is not None:
        yield frame
        frame = frame.f_back
