"""Opening a conversation with a server, by the handshake of older protocol versions or by MCP 2026-07-28.

The suite first sends `initialize`. If the server refuses it, the server is started again and gets `server/discover`; if
it accepts that, all later processes of the run get `server/discover`, too. If it accepts `initialize`, one later
process gets `server/discover` first, as from a client that speaks both protocols; if it answers, but does not accept
that, it then gets `initialize`.
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
"""Timeout of a probe by a protocol that the server may not know: `PROBE_TIMES` times the slowest handshake so far, but
at least `PROBE_LEAST_S` seconds."""


@dataclass
class Handshakes:
    """Opens conversations with the servers of one profile, and notes which protocol they speak."""

    note_failure: Callable[[Failure], None]
    client: Client = field(default_factory=Client)
    """The client that the profile names."""
    modern: bool = False
    """True if conversations are opened by `server/discover`."""
    tried_modern: bool = False
    """True if `server/discover` was tried because a server had refused `initialize`."""
    knows_modern: bool | None = None
    """True if a server that accepts `initialize` accepts `server/discover`, too; False if it does not; None if that was
    not tried."""
    capabilities: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Capabilities that the suite claims as a client, besides those that the profile names."""
    slowest_s: float = 0.0
    """The longest time, in seconds, that a handshake has taken."""
    introduced: tuple[Mapping[str, Any], str | None] = field(default_factory=lambda: ({}, None))
    """Server information and protocol version from the last handshake; they are known even if all trials fail."""
    opened: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """The complete result of the last handshake."""

    def switch_protocol(self) -> bool:
        """Open conversations by `server/discover` from now on, and return True; if that was already tried, change
        nothing and return False."""
        tried, self.tried_modern = self.tried_modern, True
        self.modern = self.modern or not tried
        return not tried

    def revert_protocol(self) -> None:
        """Open conversations by `initialize` again, since `server/discover` did not help."""
        self.modern = False

    def open(self, server: ServerProcess, client: str | None = None) -> Reply:
        """Open the conversation, with the name *client* or, if that is None, the profile's or the suite's own name.

        Raises `ServerTrouble` if that fails, and `Refused` if the server answers with an error.
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
            raise ServerTrouble(f"{server.argv[0]} is no MCP server: it sends back what it reads, like cat")
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
        """Send `server/discover` to find out whether the server also speaks MCP 2026-07-28.

        A server that does not may stay silent or give an invalid answer; neither counts as a violation.
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
        """Raise `NotObserved` if a probe has shown that the server does not speak MCP 2026-07-28."""
        if self.knows_modern is False:
            raise NotObserved(f"the server does not speak MCP {MODERN_VERSION}")

    def probe_and_open(self, server: ServerProcess, client: str | None = None) -> bool:
        """Probe a server by `server/discover` and, if it answers but does not accept that, open it by `initialize`.

        Returns False if the conversation was not opened by `initialize`: the server accepts `server/discover`, does not
        answer it, or accepts neither.
        """
        if self.probe(server).failure is not None or server.modern:
            return False
        try:
            self.open(server, client)
        except ServerTrouble:
            return False
        return True
