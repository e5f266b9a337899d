"""Reliable Ctrl-C: it ends a block, whatever the process is doing."""

from __future__ import annotations

import inspect
import signal
import threading
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from types import FrameType

AGAIN_S = 0.5
"""Seconds after which a Ctrl-C that has not ended the block is repeated."""
MOST = 5
"""Largest number of repetitions."""


@contextmanager
def interruptible() -> Generator[None]:
    """End the block on Ctrl-C, even if the signal first arrives in a callback whose exceptions Python drops.

    Such callbacks are finalizers, and those that Hypothesis registers for garbage collections. If the signal arrives
    during an import, it takes effect after the import: an exception there can leave the import lock held, and other
    threads would wait for it forever. Nothing changes outside the main thread, or if Ctrl-C has another handler.
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
    """Number of calls of the import system among a frame and its callers."""
    return sum(f.f_code.co_filename.startswith("<frozen importlib") for f in _outwards(frame))


def _outwards(frame: FrameType | None) -> Iterator[FrameType]:
    while frame is not None:
        yield frame
        frame = frame.f_back
