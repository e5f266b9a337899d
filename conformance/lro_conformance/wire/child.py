"""A child process in its own session. This module starts it, notices its exit, and ends everything that it started."""

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
_CHILDREN_EXIT_S = 0.3
"""When a server has ended, the processes that it started may take this many seconds to exit, too."""
_REAP_S = 5.0
"""Longest time, in seconds, to wait for the end of a killed process. The process may be stuck in the kernel."""


class Child:
    """A started process.

    Where `os.waitid` exists, only `finish` reaps the process, so the pid cannot be reused before that. On other
    systems, the process is reaped by the first `peek` after its end. If the suite's own process ignores SIGCHLD, the
    kernel reaps the process as soon as it ends.
    """

    def __init__(self, process: subprocess.Popen[bytes], marker: str) -> None:
        self.process = process
        self.pid = process.pid
        self.exit_fd = _pidfd(process.pid)
        """A file descriptor that becomes readable when the process exits. None if the system has no such descriptors,
        and after `finish` has reaped the process."""
        self._marker = marker
        self._started = time.monotonic()
        self._ended: tuple[int, float] | None = None
        self._reaped = False
        self._lock = threading.Lock()

    def peek(self) -> Exit | None:
        """Return the exit of the process; None while it runs. On systems without `os.waitid`, this reaps the
        process."""
        with self._lock:
            if self._ended is None and not self._reaped:
                self._check_for_exit()
        if self._ended is None:
            return None
        status, ended_at = self._ended
        code, number = (status, None) if status >= 0 else (None, -status)
        return Exit(code, number, False, ended_at - self._started)

    def signal_group(self, number: int) -> None:
        """Send a signal to the whole process group, from any thread. Has no effect after `finish` has reaped the
        process."""
        with self._lock:
            if not self._reaped:
                watchdog.kill_group(self.pid, number)

    def finish(self, *, killed: bool) -> Exit:
        """Kill the rest of the process group and all processes with the marker, reap the process, and return its exit.

        *killed* is True if the suite had to stop the process by a signal. If the process survives even SIGKILL, the
        code and the signal of the exit are None.
        """
        left_behind = 0 if killed else self._count_left_behind()
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
            status, ended_at = self._ended
        if self.exit_fd is not None:
            os.close(self.exit_fd)
            self.exit_fd = None
        code, number = (status, None) if status >= 0 else (None, -status)
        return Exit(code, number, killed, ended_at - self._started, left_behind)

    def _count_left_behind(self) -> int:
        """Return how many processes with the marker still exist a moment after the end of the process; 0 if there is no
        marker."""
        deadline = time.monotonic() + _CHILDREN_EXIT_S
        while count := len(watchdog.marked(self._marker.encode() + b"\0")) if self._marker else 0:
            if time.monotonic() > deadline:
                break
            time.sleep(0.02)
        return count

    def _check_for_exit(self) -> None:
        if sys.platform == "win32" or not hasattr(os, "waitid"):
            if (status := self.process.poll()) is not None:
                self._ended = (status, time.monotonic())
            return
        # poll() would reap the process. Then the number of its group could be reused before the group is killed.
        try:
            exit_info = os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:  # already reaped, because this process ignores SIGCHLD; the status is lost
            self._ended = (0, time.monotonic())
            return
        if exit_info is not None:
            status = exit_info.si_status if exit_info.si_code == os.CLD_EXITED else -exit_info.si_status
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

    *env* is added to the environment; a value of None removes a variable. Unless *marker* is empty, it is the value of
    the environment variable `watchdog.MARKER`. All processes that the process starts inherit this variable, so that
    `finish` finds them. Raises `OSError` or `ValueError` if the process cannot be started. With *file_size_limit* (in
    bytes), no error is raised if the program does not exist: the process then exits with code 127.
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
