"""Outcome of a request, and of a server process, as plain data."""

from __future__ import annotations

import signal
from dataclasses import dataclass
from typing import Any, Literal

from lro_conformance.wire import jsonrpc

MODERN_VERSION = "2026-07-28"
"""The protocol without a handshake: each request says which version it speaks and who asks."""

FailureKind = Literal["not-started", "timeout", "exited", "too-large", "closed", "garbage", "unanswered"]


@dataclass(frozen=True, slots=True)
class Exit:
    """How a server ended."""

    code: int | None
    """Its exit code; None when a signal ended it, or when it could not be killed at all."""
    signal: int | None
    """The signal that ended it."""
    killed: bool
    """Whether it had to be made to stop: it did not exit when its stdin was closed."""
    seconds: float
    """How long it lived."""
    left: int = 0
    """How many processes it had started that did not end with it, where it ended by itself."""

    @property
    def remarks(self) -> list[str]:
        """What of it is worth a note, as it costs whoever starts the server time, or processes."""
        said: list[str] = []
        if self.killed and self.signal == signal.SIGKILL:
            said.append("the server had to be killed: it goes on when its stdin is closed, and after SIGTERM, too")
        if self.left:
            said.append("the server leaves a process behind when it ends; it was killed")
        return said

    def __str__(self) -> str:
        """A few words: ``exited with code 3``, ``was ended by SIGSEGV``."""
        if self.signal is not None:
            return f"was ended by {_signal_name(self.signal)}" + (" from the suite" if self.killed else "")
        return "could not be killed" if self.code is None else f"exited with code {self.code}"


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a request has no response."""

    kind: FailureKind
    detail: str
    """A sentence: what was waited for and what came instead."""
    exit: Exit | None = None
    """How the server ended, if it had by then."""
    stderr: str = ""
    """The end of what it had written to stderr."""

    def __str__(self) -> str:
        """The sentence, and the end of stderr below it."""
        return f"{self.detail}\nstderr ends:\n{self.stderr}" if self.stderr else self.detail


@dataclass(frozen=True, slots=True)
class Reply:
    """What came of a request: a result, an error, or a failure to get either."""

    id: int
    request: bytes
    """The line that was sent, without its newline."""
    raw: bytes | None
    """The line that answered it, without its newline; None when none did."""
    result: Any
    """The JSON value as it came; None also where there is none."""
    error: Any
    """The JSON-RPC error as it came, of whatever shape; None where there is none."""
    failure: Failure | None
    sent_at: float
    """Seconds since the epoch."""
    elapsed_s: float
    problems: tuple[jsonrpc.Problem, ...] = ()
    """What was wrong with the line that answered, though it could be understood."""

    @property
    def ok(self) -> bool:
        """Whether there is a result and nothing else."""
        return self.failure is None and self.error is None


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
