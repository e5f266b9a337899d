"""Errors when a server is started, or when the conversation with it is opened."""

from __future__ import annotations

import re

from lro_conformance.capture.reproduce import Conversation
from lro_conformance.capture.start import Start
from lro_conformance.judging.outcome import NotObserved
from lro_conformance.wire.reply import Failure


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
    """A failure in one line, with the end of stderr if there is any."""
    lines = failure.stderr.splitlines()
    telling = next((line.strip() for line in lines if _TELLING.search(line)), None)
    stderr = f"; its stderr ends: {' | '.join(lines[-5:])}" if lines else ""
    if telling is not None and not any(telling in line for line in lines[-5:]):
        stderr = f"; its stderr says: {telling}{stderr.replace('; its stderr ends', ' … and ends')}"
    return f"{failure.detail}{stderr}"


_TELLING = re.compile(r"(?:Error|Exception)\b|\bpanic(?:ked)?\b|\bfatal\b", re.IGNORECASE)
"""The line of stderr that names what ended a server; some print a stack, or the error's properties, after it."""
