"""Client of the guard, a small process that cleans up if the suite itself is killed (`lro_conformance.wire.watchdog`).

A context manager and ``atexit`` are enough for an exception, Ctrl-C and a normal end. After SIGKILL, SIGTERM or a crash
no Python code runs, so a child with the other end of a pipe cleans up when that pipe closes.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from contextlib import suppress

from lro_conformance.wire import watchdog


class Reaper:
    """Tells the guard what to clean up. The first registration starts the guard. Thread-safe.

    If the guard itself is killed, the run continues without it.
    """

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._closed = False
        self._lock = threading.Lock()

    @property
    def pid(self) -> int | None:
        """The guard's process id; None before the first registration and after `close`."""
        return self._process.pid if self._process else None

    def mark(self, value: str) -> None:
        """Register processes whose marker begins with *value*."""
        self._order(f"mark {value}")

    def started(self, group: int) -> None:
        """Register a process group."""
        self._order(f"group {group}")

    def ended(self, group: int) -> None:
        """Remove a process group that has ended."""
        self._order(f"forget group {group}")

    def folder(self, path: str | os.PathLike[str]) -> None:
        """Register a folder, which is deleted with its contents."""
        self._order(f"folder {os.fsencode(path).hex()}")

    def close(self) -> None:
        """End the guard without any cleanup, because everything is already cleaned up."""
        with self._lock:
            self._closed = True
            process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.wait()
        with suppress(OSError):
            _stdin(process).close()

    def _order(self, line: str) -> None:
        with self._lock:
            if self._closed or os.name != "posix":  # on other systems no server is started either
                return
            if self._process is None:
                self._process = _start()
            with suppress(OSError):
                os.write(_stdin(self._process).fileno(), line.encode() + b"\n")


def _start() -> subprocess.Popen[bytes]:
    # An outer run may have started this suite as its server. Its marker is removed, so that the outer run does not kill
    # the guard when it cleans up.
    environment = {name: value for name, value in os.environ.items() if name != watchdog.MARKER}
    return subprocess.Popen(
        [sys.executable, "-I", "-S", watchdog.__file__, str(os.getpid())],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        bufsize=0,
        cwd="/",
        env=environment,
        start_new_session=True,
    )


def _stdin(process: subprocess.Popen[bytes]):  # noqa: ANN202 - typeshed's IO[bytes]
    assert process.stdin is not None
    return process.stdin
