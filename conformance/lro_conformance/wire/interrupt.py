"""Handling of Ctrl-C: it ends a run in an orderly way, whatever the process is doing at that moment."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from queue import SimpleQueue


@contextmanager
def interruptible(abort: Callable[[], object]) -> Generator[None]:
    """Call *abort* in another thread on each Ctrl-C. If there was a Ctrl-C, raise `KeyboardInterrupt` at the end of the
    block.

    Ctrl-C raises no exception within the block, so *abort* has to make the block end soon. An exception at an arbitrary
    point could leave a lock held, so that other threads would wait for this lock for ever; this can happen in the
    standard library's conditions, futures and imports. The exception could also be lost, for example in a finalizer, or
    interrupt the cleanup.

    In other threads than the main thread, or if Ctrl-C has another handler, Ctrl-C is not changed.
    """
    previous = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or previous is not signal.default_int_handler:
        yield
        return
    # A signal handler may interrupt a `put` in the same thread; only this kind of queue permits another `put` then.
    orders: SimpleQueue[bool] = SimpleQueue()
    interrupted = threading.Event()

    def carry_out_orders() -> None:
        while orders.get():
            interrupted.set()
            abort()

    thread = threading.Thread(target=carry_out_orders, name="ctrl-c", daemon=True)
    thread.start()
    signal.signal(signal.SIGINT, lambda number, frame: orders.put(True))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)
        orders.put(False)
        thread.join()
        if interrupted.is_set():
            raise KeyboardInterrupt from None
