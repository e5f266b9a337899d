"""Errors when a server is started, or when the conversation with it is opened."""

from __future__ import annotations

from lro_conformance.capture.reproduce import Conversation
from lro_conformance.capture.start import Start
from lro_conformance.judging.outcome import NotObserved
from lro_conformance.wire.reply import Failure
from lro_spec.display import telling_line


class ServerTrouble(NotObserved):
    """The server did not start, or did not answer the handshake: one finding, reported once."""

    start: Start | None = None
    """The start that failed; None when the server could not be started at all."""

    @property
    def subject(self) -> object:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The conversation with the server that failed."""
        return None if self.start is None else Conversation(self.start)

    declined = False
    """True when the server exited or refused before it could be used: it may need different settings."""


class Refused(ServerTrouble):
    """The server refused the handshake: it may speak a different version of MCP, or need different settings."""

    declined = True


def trouble_of(failure: Failure) -> ServerTrouble:
    """The error to raise for a server that failed to answer."""
    trouble = ServerTrouble(describe(failure))
    trouble.declined = failure.kind == "exited"
    return trouble


def describe(failure: Failure) -> str:
    """A failure in one line, with the line of stderr that says why, and the last lines."""
    lines = [" ".join(line.split()) for line in failure.stderr.splitlines()]
    telling, last = telling_line(lines), lines[-5:]
    if not telling:
        return failure.detail
    says = "" if telling in last else f"says: {telling} … and "
    return f"{failure.detail}; its stderr {says}ends: {' | '.join(last)}"
