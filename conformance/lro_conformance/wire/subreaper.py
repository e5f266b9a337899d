"""Adopts processes that have left their server's session, environment and parent, so that they can be killed.

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
_PATIENCE_S = 2.0
"""Seconds after which no more processes are looked for and killed."""


@contextmanager
def adopt_orphans() -> Generator[None]:
    """Within the context, this process instead of init becomes the parent of descendants whose own parent has ended. At
    the end, they are killed.

    Only for a command that starts nothing but servers, and ends them within the context: every child process that was
    started within it and still runs at its end is killed. Does nothing on systems other than Linux.
    """
    before = frozenset(_children())
    is_adopting = _adopt(True)
    try:
        yield
    finally:
        if is_adopting:
            with interruptible(lambda: None):  # the cleanup is short; a second Ctrl-C must not interrupt it
                _end(before)
                _adopt(False)


def _adopt(wanted: bool) -> bool:
    try:
        return ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, int(wanted), 0, 0, 0) == 0
    except (OSError, AttributeError):  # another system
        return False


def _end(spared: frozenset[int]) -> None:
    deadline = time.monotonic() + _PATIENCE_S
    # The children of killed processes become our children in turn.
    while (found := _children() - spared) and time.monotonic() < deadline:
        for pid in found:
            with suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        for pid in found:
            with suppress(OSError):
                os.waitpid(pid, os.WNOHANG)
        time.sleep(0.002)


def _children() -> set[int]:
    own = str(os.getpid()).encode()
    found: set[int] = set()
    with suppress(OSError):
        for name in os.listdir("/proc"):
            if name.isdigit():
                with suppress(OSError), open(f"/proc/{name}/stat", "rb") as file:
                    if file.read().rpartition(b")")[2].split()[1] == own:
                        found.add(int(name))
    return found
