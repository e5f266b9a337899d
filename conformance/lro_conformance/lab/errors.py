"""Errors when a server is started, or when the conversation with it is opened."""

from __future__ import annotations

from lro_conformance.capture.start import Start
from lro_conformance.judging.outcome import NotObserved
from lro_conformance.wire.reply import Failure


class ServerTrouble(NotObserved):
    """The server did not start, or did not answer the handshake: one finding, reported once."""

    start: Start | None = None
    """The start that failed; None when the server could not be started at all."""
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
    """A failure in one line, with the end of stderr if there is any."""
    stderr = f"; its stderr ends: {' | '.join(failure.stderr.splitlines()[-5:])}" if failure.stderr else ""
    return f"{failure.detail}{stderr}"
