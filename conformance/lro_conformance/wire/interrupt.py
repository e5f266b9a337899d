"""Ctrl-C that ends a run in order, whatever the process is doing when it comes."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from queue import SimpleQueue


@contextmanager
def interruptible(abort: Callable[[], object]) -> Generator[None]:
    """Call *abort* in another thread on each Ctrl-C, and raise `KeyboardInterrupt` at the end of the block.

    Nothing is raised within the block, so *abort* has to make it end soon. An exception in the middle of anything could
    leave a lock held for which other threads wait for ever: the standard library's conditions, futures and imports all
    have such moments. It could also be lost, in a finalizer for example, or cut the cleanup short.

    Nothing changes outside the main thread, or if Ctrl-C has another handler.
    """
    usual = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or usual is not signal.default_int_handler:
        yield
        return
    orders: SimpleQueue[bool] = SimpleQueue()  # the only one whose put may interrupt another put in the same thread
    came = threading.Event()

    def obey() -> None:
        while orders.get():
            came.set()
            abort()

    thread = threading.Thread(target=obey, name="ctrl-c", daemon=True)
    thread.start()
    signal.signal(signal.SIGINT, lambda number, frame: orders.put(True))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, usual)
        orders.put(False)
        thread.join()
        if came.is_set():
            raise KeyboardInterrupt from None
