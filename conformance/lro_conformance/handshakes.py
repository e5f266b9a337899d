"""How a conversation with a server is opened, and by which protocol: the one with a handshake, or that of 2026-07-28.

Every server is asked by `initialize` first. One that refuses it is started once more and asked by `server/discover`; if
it takes that, all others of the run are, too.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from lro_conformance.bench import ServerTrouble
from lro_conformance.judge import NotObserved
from lro_conformance.wire import Failure, Reply, ServerProcess
from lro_conformance.wire.process import MODERN_VERSION

LEAST_S, TIMES = 2.0, 3
"""How long a server may take over a protocol that it may not know: so many seconds, or times its slowest handshake."""


class Refused(ServerTrouble):
    """The server did not take the handshake: it may speak another protocol, or want other settings."""

    declined = True


@dataclass
class Handshakes:
    """What is known of how this server wants to be spoken to."""

    note_failure: Callable[[Failure], None]
    modern: bool = False
    """Whether conversations are opened by `server/discover`."""
    turned: bool = False
    """Whether that was tried."""
    slowest_s: float = 0.0
    introduced: tuple[Mapping[str, Any], str | None] = field(default_factory=lambda: ({}, None))
    """What the last server said of itself, and its protocol: known also where nothing else is."""

    opened: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """The last server's handshake, whole."""

    def turn(self) -> bool:
        """Open conversations by the other protocol from now on; False where that was tried."""
        before, self.turned = self.turned, True
        self.modern = self.modern or not before
        return not before

    def turn_back(self) -> None:
        """Open them by the handshake again: it was no better."""
        self.modern = False

    def shake(
        self, server: ServerProcess, client: str | None = None, capabilities: Mapping[str, Any] | None = None
    ) -> Reply:
        """Open the conversation, as *client* or else under the suite's own name. Raises `ServerTrouble` where it fails,
        and `Refused` where that is the server's answer."""
        opening = server.discover if self.modern else server.initialize
        reply = opening(client_name=client, capabilities=capabilities)
        self.slowest_s = max(self.slowest_s, reply.elapsed_s)
        if reply.failure is not None:
            self.note_failure(reply.failure)
            raise trouble_of(reply.failure)
        if any(m.direction == "in" and m.line.strip() == reply.request.strip() for m in server.transcript):
            raise ServerTrouble(f"{server.argv[0]} sends back what it reads, as cat does: it is no MCP server")
        if reply.error is not None:
            asked = "server/discover" if self.modern else "initialize"
            raise Refused(f"{asked} was refused: {json.dumps(reply.error)[:300]}")
        if self.modern and not server.modern:
            raise ServerTrouble(f"server/discover does not offer MCP {MODERN_VERSION}")
        self.opened = server.handshake
        self.introduced = server.server_info, server.protocol_version
        if server.offers_logging:
            server.set_log_level("debug")
        return reply

    def probe(self, server: ServerProcess) -> None:
        """Ask whether the server speaks the protocol of 2026-07-28, too. Raises `NotObserved` where it does not.

        One that does not may say nothing, or something odd: neither is held against it.
        """
        server.discover(timeout_s=max(LEAST_S, TIMES * self.slowest_s))
        if not server.modern:
            server.transcript.anomalies.clear()
            raise NotObserved(f"the server does not speak MCP {MODERN_VERSION}")


def trouble_of(failure: Failure) -> ServerTrouble:
    """What there is to raise where a server is of no use."""
    trouble = ServerTrouble(in_words(failure))
    trouble.declined = failure.kind == "exited"
    return trouble


def in_words(failure: Failure) -> str:
    """A failure in one line, with the end of stderr where there is one."""
    said = f"; its stderr ends: {' | '.join(failure.stderr.splitlines()[-5:])}" if failure.stderr else ""
    return f"{failure.detail}{said}"
