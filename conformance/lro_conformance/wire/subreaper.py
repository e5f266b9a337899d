"""Adopts processes that were started by servers and have left the session, environment and parent of their server. Then
these processes can be killed.

Linux only.
"""

from __future__ import annotations

import ctypes
import os
import signal
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress

from lro_conformance.wire.interrupt import interruptible

_PR_SET_CHILD_SUBREAPER = 36
_MAX_KILLING_S = 2.0
"""Longest time, in seconds, for which processes are looked for and killed."""


@contextmanager
def adopt_orphans() -> Generator[None]:
    """Within this context, a descendant whose parent has ended becomes a child of this process, instead of a child of
    init. At the end of the context, such processes are killed.

    Use it only in a command whose child processes are all servers, and end the servers within the context. At the end
    of the context, every child process is killed that was started within the context and still runs. Does nothing on
    systems other than Linux.
    """
    children_before = frozenset(_children())
    is_adopting = _set_subreaper(True)
    try:
        yield
    finally:
        if is_adopting:
            with interruptible(lambda: None):  # the cleanup is short; a second Ctrl-C must not interrupt it
                _kill_children(children_before)
                _set_subreaper(False)


def _set_subreaper(on: bool) -> bool:
    try:
        return ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, int(on), 0, 0, 0) == 0
    except (OSError, AttributeError):  # another system
        return False


def _kill_children(spared: frozenset[int]) -> None:
    deadline = time.monotonic() + _MAX_KILLING_S
    # The children of a killed process then become children of this process.
    while (pids := _children() - spared) and time.monotonic() < deadline:
        for pid in pids:
            with suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        for pid in pids:
            with suppress(OSError):
                os.waitpid(pid, os.WNOHANG)
        time.sleep(0.002)


def _children() -> set[int]:
    own_pid = str(os.getpid()).encode()
    pids: set[int] = set()
    with suppress(OSError):
        for name in os.listdir("/proc"):
            if name.isdigit():
                with suppress(OSError), open(f"/proc/{name}/stat", "rb") as file:
                    if file.read().rpartition(b")")[2].split()[1] == own_pid:
                        pids.add(int(name))
    return pids
