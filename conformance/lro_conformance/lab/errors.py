"""Errors that are raised if a server cannot be used: mostly because it does not start, or because the conversation with
it cannot be opened."""

from __future__ import annotations

from lro_conformance.capture.reproduce import Conversation
from lro_conformance.capture.start import Start
from lro_conformance.judging.outcome import NotObserved
from lro_conformance.wire.reply import Failure
from lro_spec.display import error_line


class ServerTrouble(NotObserved):
    """The server could not be used: it did not start, the handshake or the list of tools failed, a command of the
    profile failed, or too many requests had no response."""

    start: Start | None = None
    """The start of the server that failed; None if no process was started, or if its command could not be run."""

    @property
    def subject(self) -> object:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The conversation with the server that failed; None if `start` is None."""
        return None if self.start is None else Conversation(self.start)

    declined = False
    """True if the server exited or refused the handshake: it may accept other settings."""


class Refused(ServerTrouble):
    """The server answered the handshake with an error: it may speak another version of MCP, or need other settings."""

    declined = True


def trouble_of(failure: Failure) -> ServerTrouble:
    """The error to raise for a server that did not answer."""
    trouble = ServerTrouble(describe(failure))
    trouble.declined = failure.kind == "exited"
    return trouble


def describe(failure: Failure) -> str:
    """A failure in one line: what happened and, if stderr has any text, the line that seems to name the reason and the
    last five lines."""
    lines = [" ".join(line.split()) for line in failure.stderr.splitlines()]
    reason, last = error_line(lines), lines[-5:]
    if not reason:
        return failure.detail
    says = "" if reason in last else f"says: {reason} … and "
    return f"{failure.detail}; its stderr {says}ends: {' | '.join(last)}"
