"""The server behind the proxy: a process in a session of its own, which is ended with the proxy."""

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

from lro_reference.proxy.lines import LineWriter, Outgoing

_LAST_WORDS = 2048
_DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG
_PATIENCE_S = (5.0, 2.0)
"""How long it may take to end by itself when its stdin is closed, and after SIGTERM."""


class Behind(Protocol):
    """What stands behind the proxy, however it is reached."""

    name: str
    stdout: int
    """A pipe with what it says, line by line."""

    @property
    def stdin(self) -> Outgoing:
        """Where lines for it go."""
        ...

    def ended(self) -> int | None:
        """Its exit code, negative for a signal; None while it lives."""
        ...

    def ending(self) -> str:
        """How it ended, for people."""
        ...

    def end(self, *, patient: bool = True) -> None:
        """Ends it, or leaves it where it is not the proxy's to end."""
        ...


class Upstream:
    """A started server. Raises `OSError` when it cannot be started."""

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
            preexec_fn=_bound_to_parent(),
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        self.stdin = LineWriter(self._process.stdin.fileno())
        self.stdout = self._process.stdout.fileno()
        self._stderr = self._process.stderr.fileno()
        self._said = b""
        self._ears = threading.Thread(target=self._listen, name="stderr", daemon=True)
        self._ears.start()

    def _listen(self) -> None:
        """Passes its stderr on, and remembers the end."""
        while True:
            try:
                chunk = os.read(self._stderr, 1 << 16)
            except OSError:
                return
            if not chunk:
                return
            self._said = (self._said + chunk)[-_LAST_WORDS:]
            with contextlib.suppress(OSError, ValueError):
                os.write(2, chunk)

    def ending(self) -> str:
        """How it ended and its last words, for people; waits a moment for both."""
        until = time.monotonic() + 1
        while (code := self.ended()) is None and time.monotonic() < until:
            time.sleep(0.01)
        self._ears.join(0.5)
        how = (
            "closed its output"
            if code is None
            else f"exited with code {code}"
            if code >= 0
            else f"was ended by {_signal_name(-code)}"
        )
        last = self._said.decode(errors="replace").strip().splitlines()
        return f"{how}: {last[-1][:300]}" if last else how

    def end(self, *, patient: bool = True) -> None:
        """Ends it and its whole process group; by force when it does not go by itself."""
        self.stdin.close()
        asked = min(self.stdin.closed_at, time.monotonic())
        for wait_s, number in zip(_PATIENCE_S, (signal.SIGTERM, signal.SIGKILL), strict=True):
            until = asked + wait_s if patient else time.monotonic() + 0.2
            while self.ended() is None and time.monotonic() < until:
                time.sleep(0.01)
            if self.ended() is None:
                self._signal(number)
            asked = time.monotonic()
        self._signal(signal.SIGKILL)  # its children; as long as it is not reaped, the group's number is its own
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(5)

    def kill(self) -> None:
        """Ends all of it at once."""
        self._signal(signal.SIGKILL)

    def _signal(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, number)

    def ended(self) -> int | None:
        """Its exit code, negative for a signal; None while it lives. Does not reap it, so its group stays its own."""
        try:
            found = os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:
            return 0
        if found is None:
            return None
        return found.si_status if found.si_code == os.CLD_EXITED else -found.si_status


def _bound_to_parent() -> Callable[[], None] | None:
    """What lets a new process end with this one, even when this one is killed (Linux)."""
    if sys.platform != "linux":
        return None
    try:
        prctl = ctypes.CDLL(None).prctl
    except (OSError, AttributeError):
        return None
    # Not SIGKILL, which npx, docker and their like could not pass on to what they have started.
    return lambda: prctl(_DEATH_SIGNAL, signal.SIGTERM)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
