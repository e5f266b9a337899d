"""The outcome of a request and of a server process, as plain data."""

from __future__ import annotations

import signal
import time
from dataclasses import dataclass
from typing import Any, Literal

from lro_conformance.wire import jsonrpc

MODERN_VERSION = "2026-07-28"
"""The first protocol version without a handshake. Instead, each request has the version and the client's name."""

FailureKind = Literal["not-started", "timeout", "exited", "too-large", "closed", "garbage", "unanswered"]


@dataclass(frozen=True, slots=True)
class Exit:
    """The end of a server process: its exit code or signal, and how long it ran."""

    code: int | None
    """The server's exit code; None if the server was ended by a signal, or could not be killed."""
    signal: int | None
    """The signal that ended the server; None if the server exited by itself, or could not be killed."""
    killed: bool
    """True if the suite stopped the server by a signal: either the server did not exit when its stdin was closed, or
    the run was aborted."""
    seconds: float
    """Seconds from the start to the end of the process."""
    left: int = 0
    """Number of processes that the server started and that did not exit with it. 0 if the server had to be stopped by a
    signal, because they are not counted then."""

    @property
    def remarks(self) -> list[str]:
        """Remarks for the report, if the exit costs users time or leaves processes behind.

        They are true only if the server was stopped in the usual way, not after an abort.
        """
        remarks: list[str] = []
        if self.killed and self.signal == signal.SIGKILL:
            remarks.append("the server had to be killed: it keeps running when its stdin is closed, and after SIGTERM")
        if self.left:
            remarks.append("the server leaves a process behind when it ends; the suite killed that process")
        return remarks

    def __str__(self) -> str:
        """The exit in a few words, such as ``exited with code 3`` or ``was ended by SIGSEGV``."""
        if self.signal is not None:
            return f"was ended by {_signal_name(self.signal)}" + (" from the suite" if self.killed else "")
        return "could not be killed" if self.code is None else f"exited with code {self.code}"


@dataclass(frozen=True, slots=True)
class Failure:
    """The reason why a request has no response."""

    kind: FailureKind
    detail: str
    """One sentence that says what happened instead of a response; it usually begins with the method of the request."""
    exit: Exit | None = None
    """The exit of the server if it had ended by then; otherwise None."""
    stderr: str = ""
    """The end of what the server had written to stderr by then."""

    def __str__(self) -> str:
        """The sentence in `detail`, with the end of stderr below it."""
        return f"{self.detail}\nstderr ends:\n{self.stderr}" if self.stderr else self.detail


@dataclass(frozen=True, slots=True)
class Reply:
    """The outcome of a request: a result, an error, or a failure to get a response."""

    id: int
    request: bytes
    """The line that was sent, without its newline; empty if no request was sent."""
    raw: bytes | None
    """The line with the response, without its newline; None if there was no response."""
    result: Any
    """The result, which may be any JSON value. None if the result is null, or if there is no result."""
    error: Any
    """The JSON-RPC error as it was received, even if its shape is wrong. None if there is no error."""
    failure: Failure | None
    """The reason why there is no response; None if there is a result or an error."""
    sent_at: float
    """The time at which the request was sent, in seconds since the epoch."""
    elapsed_s: float
    """Seconds from the request to the response or the failure."""
    problems: tuple[jsonrpc.Problem, ...] = ()
    """Problems of the line with the response, although the line could be read."""

    @property
    def ok(self) -> bool:
        """True if there is no error and no failure."""
        return self.failure is None and self.error is None


def not_sent(reason: str) -> Reply:
    """Return the outcome of a request that was not sent. *reason* is a sentence that says why it was not sent."""
    return Reply(0, b"", None, None, None, Failure("unanswered", reason), time.time(), 0.0)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
