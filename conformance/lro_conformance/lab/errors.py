"""Errors that are raised if a server does not start, or if the conversation with it cannot be opened."""

from __future__ import annotations

from lro_conformance.capture.reproduce import Conversation
from lro_conformance.capture.start import Start
from lro_conformance.judging.outcome import NotObserved
from lro_conformance.wire.reply import Failure
from lro_spec.display import error_line


class ServerTrouble(NotObserved):
    """The server did not start, or the handshake failed, so that no trial can use it."""

    start: Start | None = None
    """The start that failed; None if no process could be started."""

    @property
    def subject(self) -> object:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The conversation with the server that failed."""
        return None if self.start is None else Conversation(self.start)

    declined = False
    """True if the server exited or refused the handshake: it may accept different settings."""


class Refused(ServerTrouble):
    """The server answered the handshake with an error: it may speak a different version of MCP, or need different
    settings."""

    declined = True


def trouble_of(failure: Failure) -> ServerTrouble:
    """The error to raise for a server that failed to answer."""
    trouble = ServerTrouble(describe(failure))
    trouble.declined = failure.kind == "exited"
    return trouble


def describe(failure: Failure) -> str:
    """A failure in one line, with the line of stderr that names the reason, and the last five lines."""
    lines = [" ".join(line.split()) for line in failure.stderr.splitlines()]
    reason, last = error_line(lines), lines[-5:]
    if not reason:
        return failure.detail
    says = "" if reason in last else f"says: {reason} … and "
    return f"{failure.detail}; its stderr {says}ends: {' | '.join(last)}"
