"""Client of the guard, a small process that cleans up if the suite itself is killed (`lro_conformance.wire.watchdog`).

After an exception, Ctrl-C or a normal end, a context manager and ``atexit`` clean up. After SIGKILL, SIGTERM or a
crash, no Python code of the suite runs. So there is a child process, the guard, which reads from a pipe of the suite
and cleans up when this pipe is closed.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from contextlib import suppress

from lro_conformance.wire import watchdog


class Reaper:
    """Tells the guard what to clean up. The first registration starts the guard. All methods are thread-safe.

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

    def register_marker(self, value: str) -> None:
        """Register all processes whose marker begins with *value*, to be killed."""
        self._send_order(f"mark {value}")

    def register_group(self, group: int) -> None:
        """Register a process group, to be killed."""
        self._send_order(f"group {group}")

    def withdraw_group(self, group: int) -> None:
        """Withdraw the registration of a process group, because the group has ended."""
        self._send_order(f"forget group {group}")

    def register_folder(self, path: str | os.PathLike[str]) -> None:
        """Register a folder, to be deleted with its contents."""
        self._send_order(f"folder {os.fsencode(path).hex()}")

    def close(self) -> None:
        """End the guard. It cleans up nothing, because everything is already cleaned up."""
        with self._lock:
            self._closed = True
            process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.wait()
        with suppress(OSError):
            _stdin(process).close()

    def _send_order(self, line: str) -> None:
        with self._lock:
            if self._closed or os.name != "posix":  # on other systems, no servers are started
                return
            if self._process is None:
                self._process = _start()
            with suppress(OSError):
                os.write(_stdin(self._process).fileno(), line.encode() + b"\n")


def _start() -> subprocess.Popen[bytes]:
    # This suite may run inside a server of an outer run. The marker of the outer run is removed, so that the outer run
    # does not kill the guard when it cleans up.
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
