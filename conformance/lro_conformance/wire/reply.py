"""The outcome of a request and of a server process, as plain data."""

from __future__ import annotations

import signal
import time
from dataclasses import dataclass
from typing import Any, Literal

from lro_conformance.wire import jsonrpc

MODERN_VERSION = "2026-07-28"
"""The first protocol version that has no handshake: each request carries the version and the client's name."""

FailureKind = Literal["not-started", "timeout", "exited", "too-large", "closed", "garbage", "unanswered"]


@dataclass(frozen=True, slots=True)
class Exit:
    """The end of a server process."""

    code: int | None
    """The server's exit code; None if a signal ended it, or if it could not be killed."""
    signal: int | None
    """The signal that ended it; None if it exited by itself, or could not be killed."""
    killed: bool
    """True if the suite stopped it by a signal, because it did not exit when its stdin was closed, or because the run
    was aborted."""
    seconds: float
    """Seconds from start to end."""
    left: int = 0
    """Number of processes that it started and that did not exit with it; 0 if it had to be stopped by a signal."""

    @property
    def remarks(self) -> list[str]:
        """Remarks for the report on an exit that costs users time or leaves processes behind.

        Only for a server that was stopped in the usual way: after an abort they would be untrue.
        """
        remarks: list[str] = []
        if self.killed and self.signal == signal.SIGKILL:
            remarks.append("the server had to be killed: it keeps running when its stdin is closed, and after SIGTERM")
        if self.left:
            remarks.append("the server leaves a process behind when it ends; the suite killed that process")
        return remarks

    def __str__(self) -> str:
        """A few words: ``exited with code 3``, ``was ended by SIGSEGV``."""
        if self.signal is not None:
            return f"was ended by {_signal_name(self.signal)}" + (" from the suite" if self.killed else "")
        return "could not be killed" if self.code is None else f"exited with code {self.code}"


@dataclass(frozen=True, slots=True)
class Failure:
    """Reason why a request has no response."""

    kind: FailureKind
    detail: str
    """One sentence that says what happened instead of a response; it usually begins with the method of the request."""
    exit: Exit | None = None
    """The exit of the server, if it had ended by then; None otherwise."""
    stderr: str = ""
    """The end of the server's stderr so far."""

    def __str__(self) -> str:
        """The sentence, and the end of stderr below it."""
        return f"{self.detail}\nstderr ends:\n{self.stderr}" if self.stderr else self.detail


@dataclass(frozen=True, slots=True)
class Reply:
    """The outcome of a request: a result, an error, or a failure to get either."""

    id: int
    request: bytes
    """The line that was sent, without its newline; empty if no request was sent."""
    raw: bytes | None
    """The line with the response, without its newline; None if there was no response."""
    result: Any
    """The result, any JSON value; None if it is null, or if there is no result."""
    error: Any
    """The JSON-RPC error as received, of whatever shape; None if there is none."""
    failure: Failure | None
    """The reason why there is neither a result nor an error; None if there is one of them."""
    sent_at: float
    """Seconds since the epoch."""
    elapsed_s: float
    """Seconds from the request to the response or the failure."""
    problems: tuple[jsonrpc.Problem, ...] = ()
    """Problems of the line with the response that did not prevent reading it."""

    @property
    def ok(self) -> bool:
        """True if there is neither an error nor a failure."""
        return self.failure is None and self.error is None


def not_sent(reason: str) -> Reply:
    """The outcome of a request that was not sent; *reason* is a sentence that says why."""
    return Reply(0, b"", None, None, None, Failure("unanswered", reason), time.time(), 0.0)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
