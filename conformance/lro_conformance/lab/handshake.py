"""Opening a conversation with a server, by the protocol with a handshake or by that of 2026-07-28.

Every server is asked by `initialize` first. One that refuses it is started again and asked by `server/discover`; if it
accepts that, all others of the run are asked so, too. If none refuses, one of them is asked by `server/discover`
before, as by a client that speaks both.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from lro_conformance.capture.records import show
from lro_conformance.judging.outcome import NotObserved
from lro_conformance.lab.errors import Refused, ServerTrouble, trouble_of
from lro_conformance.profile import Client
from lro_conformance.wire.reply import MODERN_VERSION, Failure, Reply
from lro_conformance.wire.server import ServerProcess

PROBE_LEAST_S, PROBE_TIMES = 2.0, 3
"""Time for a server to answer a protocol that it may not know: so many seconds, or times its slowest handshake."""


@dataclass
class Handshakes:
    """The way in which conversations with the server of one profile are opened."""

    note_failure: Callable[[Failure], None]
    client: Client = field(default_factory=Client)
    """The client that the profile names."""
    modern: bool = False
    """True when conversations are opened by `server/discover`."""
    tried_modern: bool = False
    """True when `server/discover` was tried."""
    knows_modern: bool | None = None
    """True if a server that accepts `initialize` accepted `server/discover`, too; None if none was asked."""
    capabilities: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Capabilities that the suite claims as a client, besides those that the profile names."""
    slowest_s: float = 0.0
    introduced: tuple[Mapping[str, Any], str | None] = field(default_factory=lambda: ({}, None))
    """Server information and protocol of the last server, known even when nothing else is."""
    opened: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """The whole result of the last handshake."""

    def switch_protocol(self) -> bool:
        """Open conversations by the other protocol from now on; False if that was tried before."""
        tried, self.tried_modern = self.tried_modern, True
        self.modern = self.modern or not tried
        return not tried

    def revert_protocol(self) -> None:
        """Open conversations by the handshake again, since the other protocol did not help."""
        self.modern = False

    def open(self, server: ServerProcess, client: str | None = None) -> Reply:
        """Open the conversation as the client of this name, or else as the profile's or the suite's own.

        Raises `ServerTrouble` when that fails, and `Refused` when the server answers with an error.
        """
        opening = server.discover if self.modern else server.initialize
        known = self.client
        reply = opening(
            client_name=client or known.name,
            client_version=known.version,
            capabilities={**known.capabilities, **self.capabilities},
        )
        self.slowest_s = max(self.slowest_s, reply.elapsed_s)
        if reply.failure is not None:
            self.note_failure(reply.failure)
            raise trouble_of(reply.failure)
        if any(e.direction == "in" and e.line.strip() == reply.request.strip() for e in server.transcript):
            raise ServerTrouble(f"{server.argv[0]} sends back what it reads, as cat does: it is no MCP server")
        if reply.error is not None:
            method = "server/discover" if self.modern else "initialize"
            raise Refused(f"{method} was refused: {show(reply.error, 300)}")
        if self.modern and not server.modern:
            raise ServerTrouble(f"server/discover does not offer MCP {MODERN_VERSION}")
        self.opened = server.handshake
        self.introduced = server.server_info, server.protocol_version
        if server.offers_logging:
            server.set_log_level("debug")
        return reply

    def probe(self, server: ServerProcess) -> Reply:
        """Ask whether the server speaks the protocol of 2026-07-28, too.

        A server that does not may stay silent or answer oddly: neither is a violation.
        """
        known = self.client
        reply = server.discover(
            client_name=known.name,
            client_version=known.version,
            capabilities=known.capabilities,
            timeout_s=max(PROBE_LEAST_S, PROBE_TIMES * self.slowest_s),
        )
        self.knows_modern = server.modern
        if not server.modern:
            server.transcript.anomalies.clear()
        return reply

    def require_modern(self) -> None:
        """Raise `NotObserved` if a server was asked and does not speak the protocol of 2026-07-28."""
        if self.knows_modern is False:
            raise NotObserved(f"the server does not speak MCP {MODERN_VERSION}")

    def probe_and_open(self, server: ServerProcess, client: str | None = None) -> bool:
        """Ask a server by `server/discover` and, if it does not know that, by `initialize`.

        Returns False if it cannot be used, because it accepts the former, stays silent, or accepts neither.
        """
        if self.probe(server).failure is not None or server.modern:
            return False
        try:
            self.open(server, client)
        except ServerTrouble:
            return False
        return True
