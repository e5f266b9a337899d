"""A child process in its own session: its start, its exit, and the end of everything that it started."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from lro_conformance.wire import watchdog
from lro_conformance.wire.reply import Exit

SUPPORTED = os.name == "posix"
_LEAVING_S = 0.3
"""Seconds that the processes which a server started may take to exit after it."""
_REAP_S = 5.0
"""Seconds to wait for the end of a process that was killed; it may be stuck in the kernel."""


class Child:
    """A started process.

    Where `os.waitid` exists, only `finish` reaps it, so its pid cannot be reused before that. Elsewhere, the first
    `peek` after its end does so; and if the host process ignores SIGCHLD, the kernel does so at once.
    """

    def __init__(self, process: subprocess.Popen[bytes], marker: str) -> None:
        self.process = process
        self.pid = process.pid
        self.exit_fd = _pidfd(process.pid)
        """A file descriptor that becomes readable at the exit; None once `finish` has reaped the process, and
        if the system has no such descriptors."""
        self._marker = marker
        self._started = time.monotonic()
        self._ended: tuple[int, float] | None = None
        self._reaped = False
        self._lock = threading.Lock()

    def peek(self) -> Exit | None:
        """The exit of the process; None while it runs. Reaps it only where `os.waitid` does not exist."""
        with self._lock:
            if self._ended is None and not self._reaped:
                self._check_for_exit()
        if self._ended is None:
            return None
        status, when = self._ended
        code, number = (status, None) if status >= 0 else (None, -status)
        return Exit(code, number, False, when - self._started)

    def signal_group(self, number: int) -> None:
        """Signal its whole process group, from any thread; no effect once `finish` has reaped it."""
        with self._lock:
            if not self._reaped:
                watchdog.kill_group(self.pid, number)

    def finish(self, *, killed: bool) -> Exit:
        """Kill the rest of its group and all processes with its marker, reap it, and return its exit.

        *killed* is True if the suite had to stop it by a signal. The exit has neither code nor signal if the process
        survives even SIGKILL.
        """
        left = 0 if killed else self._left()
        self.signal_group(signal.SIGKILL)
        if self._marker:
            watchdog.kill_marked(self._marker.encode() + b"\0")
        with self._lock:
            try:
                self.process.wait(_REAP_S)
            except subprocess.TimeoutExpired:  # stuck in the kernel
                return Exit(None, None, True, time.monotonic() - self._started)
            self._reaped = True
            if self._ended is None:
                self._ended = (self.process.returncode, time.monotonic())
            status, when = self._ended
        if self.exit_fd is not None:
            os.close(self.exit_fd)
            self.exit_fd = None
        code, number = (status, None) if status >= 0 else (None, -status)
        return Exit(code, number, killed, when - self._started, left)

    def _left(self) -> int:
        """Number of processes with its marker that still exist a moment after its end; 0 if it has no marker."""
        until = time.monotonic() + _LEAVING_S
        while left := len(watchdog.marked(self._marker.encode() + b"\0")) if self._marker else 0:
            if time.monotonic() > until:
                break
            time.sleep(0.02)
        return left

    def _check_for_exit(self) -> None:
        if sys.platform == "win32" or not hasattr(os, "waitid"):
            if (status := self.process.poll()) is not None:
                self._ended = (status, time.monotonic())
            return
        # Not poll(): that reaps, and the group's number could be reused by the time the group is killed.
        try:
            found = os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:  # already reaped, because the host process ignores SIGCHLD; the status is lost
            self._ended = (0, time.monotonic())
            return
        if found is not None:
            status = found.si_status if found.si_code == os.CLD_EXITED else -found.si_status
            self._ended = (status, time.monotonic())


def spawn(
    argv: Sequence[str],
    *,
    env: Mapping[str, str | None] | None,
    cwd: str | os.PathLike[str] | None,
    file_size_limit: int | None,
    marker: str,
) -> Child:
    """Start a process with three pipes, in its own session.

    *env* is added to the environment; a value of None removes a variable. *marker*, unless it is empty, is the
    value of the variable `watchdog.MARKER`, which everything that the process starts inherits, so that `finish` finds
    these processes. Raises `OSError` or `ValueError` if the process cannot be started. With *file_size_limit* (in
    bytes), a program that does not exist raises nothing: the process then exits with code 127.
    """
    variables = dict(os.environ)
    for name, value in (env or {}).items():
        variables.pop(name, None)
        if value is not None:
            variables[name] = value
    if marker:
        variables[watchdog.MARKER] = marker
    command = list(argv)
    if file_size_limit is not None:
        script = str(Path(__file__).with_name("rlimit_exec.py"))
        # The script removes LC_CTYPE, which its interpreter may set, unless it was set before.
        keep = "LC_CTYPE" if "LC_CTYPE" in variables else "-"
        command = [sys.executable, "-I", "-S", script, str(file_size_limit), keep, *command]
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,
        cwd=cwd,
        env=variables,
        start_new_session=True,
    )
    return Child(process, marker)


def _pidfd(pid: int) -> int | None:
    if sys.platform != "linux" or not hasattr(os, "pidfd_open"):
        return None
    try:
        return os.pidfd_open(pid)
    except OSError:  # an old kernel, or a sandbox that forbids it
        return None
