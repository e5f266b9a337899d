"""Errors that are raised if a server cannot be used. In most cases, the server does not start, or a conversation with
it cannot be opened."""

from __future__ import annotations

from lro_conformance.capture.reproduce import Conversation
from lro_conformance.capture.start import Start
from lro_conformance.judging.outcome import NotObserved
from lro_conformance.wire.reply import Failure
from lro_spec.display import error_line


class ServerTrouble(NotObserved):
    """Raised if the server cannot be used: it did not start, the handshake or the list of tools failed, a command of
    the profile failed, or too many requests had no response."""

    start: Start | None = None
    """The start of the server that failed. None if no process was started, or if its command could not be run."""

    @property
    def subject(self) -> object:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The conversation with the server that failed; None if `start` is None."""
        return None if self.start is None else Conversation(self.start)

    declined = False
    """True if the server exited or refused the handshake. Such a server may accept other settings."""


class Refused(ServerTrouble):
    """Raised if the server answers the handshake with an error. It may speak another version of MCP, or need other
    settings."""

    declined = True


def trouble_of(failure: Failure) -> ServerTrouble:
    """Return the error to raise for a server that did not answer."""
    trouble = ServerTrouble(describe(failure))
    trouble.declined = failure.kind == "exited"
    return trouble


def describe(failure: Failure) -> str:
    """Describe a failure in one line. If stderr has any text, its last five lines are quoted, and also the line that
    seems to name the reason."""
    lines = [" ".join(line.split()) for line in failure.stderr.splitlines()]
    reason, last_lines = error_line(lines), lines[-5:]
    if not reason:
        return failure.detail
    quoted_reason = "" if reason in last_lines else f"says: {reason} … and "
    return f"{failure.detail}; its stderr {quoted_reason}ends: {' | '.join(last_lines)}"
