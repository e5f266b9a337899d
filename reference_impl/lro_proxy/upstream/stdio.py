"""Servers behind the proxy: the interface of every upstream, and the upstream that is a child process."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from lro_proxy.wire.framing import LineWriter, Outgoing
from lro_spec.display import error_line

_STDERR_TAIL = 2048
"""Number of bytes at the end of a server's stderr that are remembered."""
_PR_SET_PDEATHSIG = 1
"""The option of Linux's prctl that sets the signal which a process gets when its parent dies."""
_EXIT_TIMES_S = (5.0, 2.0)
"""Maximum time for a server to exit after its stdin is closed, and after SIGTERM."""


class Upstream(Protocol):
    """A server behind the proxy, over any transport."""

    name: str
    stdout: int
    """A pipe with the server's messages, one per line."""

    @property
    def stdin(self) -> Outgoing:
        """Writes lines to the server."""
        ...

    def exit_code(self) -> int | None:
        """The exit code of the server, negative for a signal; None while it runs."""
        ...

    def describe_end(self) -> str:
        """The end of the server, as a predicate for messages."""
        ...

    def end(self, *, patient: bool = True) -> None:
        """End the server, or the session with it. Without *patient*, it gets only a moment to end by itself."""
        ...


class StdioUpstream:
    """A server that runs as a child process of the proxy, in a process group of its own.

    Raises `OSError` or `ValueError` if it cannot be started.
    """

    def __init__(self, command: Sequence[str], environ: Mapping[str, str], cwd: str | None = None) -> None:
        self.name = os.path.basename(command[0])
        self._process = subprocess.Popen(
            list(command),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            env=dict(environ),
            cwd=cwd,
            start_new_session=True,
            preexec_fn=_parent_death_hook(),
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        self.stdin = LineWriter(self._process.stdin.fileno())
        self.stdout = self._process.stdout.fileno()
        self._stderr = self._process.stderr.fileno()
        self._stderr_tail = b""
        self._stderr_reader = threading.Thread(target=self._forward_stderr, name="stderr", daemon=True)
        self._stderr_reader.start()

    def _forward_stderr(self) -> None:
        """Forward the server's stderr, and remember the end of it."""
        while True:
            try:
                chunk = os.read(self._stderr, 1 << 16)
            except OSError:
                return
            if not chunk:
                return
            self._stderr_tail = (self._stderr_tail + chunk)[-_STDERR_TAIL:]
            with contextlib.suppress(OSError, ValueError):
                os.write(2, chunk)

    def describe_end(self) -> str:
        """The end of the server, and the line of its stderr that says why, as a predicate. Waits a moment for both."""
        deadline = time.monotonic() + 1
        while (code := self.exit_code()) is None and time.monotonic() < deadline:
            time.sleep(0.01)
        self._stderr_reader.join(0.5)
        ending = (
            "closed its output"
            if code is None
            else f"exited with code {code}"
            if code >= 0
            else f"was ended by {_signal_name(-code)}"
        )
        error = error_line(self._stderr_tail.decode(errors="replace").splitlines())
        return f"{ending}: {error[:300]}" if error else ending

    def end(self, *, patient: bool = True) -> None:
        """End the process group: close stdin, then SIGTERM, then SIGKILL."""
        self.stdin.close()
        since = min(self.stdin.closed_at, time.monotonic())
        for wait_s, number in zip(_EXIT_TIMES_S, (signal.SIGTERM, signal.SIGKILL), strict=True):
            deadline = since + wait_s if patient else time.monotonic() + 0.2
            while self.exit_code() is None and time.monotonic() < deadline:
                time.sleep(0.01)
            if self.exit_code() is None:
                self._signal(number)
            since = time.monotonic()
        self._signal(signal.SIGKILL)  # its children; the group id stays valid until the process is reaped
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(5)

    def kill(self) -> None:
        """Kill the process group immediately."""
        self._signal(signal.SIGKILL)

    def _signal(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, number)

    def exit_code(self) -> int | None:
        """The exit code, negative for a signal; None while the process runs.

        Once `end` has reaped the process, the result is always 0. The process is not reaped here, so that its group id
        stays valid.
        """
        try:
            status = os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:
            return 0
        if status is None:
            return None
        return status.si_status if status.si_code == os.CLD_EXITED else -status.si_status


def _parent_death_hook() -> Callable[[], None] | None:
    """A preexec function that makes the child get SIGTERM when this process ends, even if this process is killed.

    None if the system is not Linux or has no prctl.
    """
    if sys.platform != "linux":
        return None
    try:
        prctl = ctypes.CDLL(None).prctl
    except (OSError, AttributeError):
        return None
    # Not SIGKILL, which npx, docker and similar launchers could not forward to their children.
    return lambda: prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
