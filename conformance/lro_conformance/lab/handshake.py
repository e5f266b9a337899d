"""Opens conversations with a server: by `initialize`, the handshake of older protocol versions, or by `server/discover`
of MCP 2026-07-28.

The suite first sends `initialize`. If the server refuses `initialize`, the server is started again, and the suite sends
`server/discover`. If the server accepts `server/discover`, all later processes of the run are opened by it, too.

If the server accepts `initialize`, the suite probes one later process: it sends `server/discover` first, as a client
does that speaks both protocols. If the process answers, but does not accept `server/discover`, the suite sends
`initialize` to this process.
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

MIN_PROBE_TIMEOUT_S, PROBE_TIMEOUT_FACTOR = 2.0, 3
"""They determine the timeout of a probe by `server/discover`, which the server may not know. The timeout is
`PROBE_TIMEOUT_FACTOR` times the duration of the slowest handshake so far, but at least `MIN_PROBE_TIMEOUT_S`
seconds."""


@dataclass
class Handshakes:
    """Opens conversations with the servers of one profile, and notes which protocol they speak."""

    note_failure: Callable[[Failure], None]
    client: Client = field(default_factory=Client)
    """The identity that the suite presents as a client, from the profile."""
    modern: bool = False
    """True if conversations are opened by `server/discover`."""
    has_tried_modern: bool = False
    """True if a server has refused `initialize`, so that `server/discover` was tried."""
    knows_modern: bool | None = None
    """The result of the last probe: True if the server accepts `server/discover`, False if it does not. None if no
    server was probed."""
    capabilities: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Capabilities that the suite claims as a client, in addition to the capabilities in the profile."""
    slowest_s: float = 0.0
    """The duration, in seconds, of the slowest handshake so far."""
    introduced: tuple[Mapping[str, Any], str | None] = field(default_factory=lambda: ({}, None))
    """The server information and the protocol version from the last handshake. They are known even if all trials
    fail."""
    opened: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """The complete result of the last handshake."""

    def switch_protocol(self) -> bool:
        """Open conversations by `server/discover` from now on, and return True. If this method was called before,
        change nothing and return False."""
        already_tried, self.has_tried_modern = self.has_tried_modern, True
        self.modern = self.modern or not already_tried
        return not already_tried

    def revert_protocol(self) -> None:
        """Open conversations by `initialize` again, because `server/discover` failed, too."""
        self.modern = False

    def open(self, server: ServerProcess, client: str | None = None) -> Reply:
        """Open the conversation. The client's name is *client* or, if that is None, the name in the profile or, if the
        profile has none, the suite's own name.

        Raises `Refused` if the server answers with an error, and `ServerTrouble` if the handshake fails otherwise.
        """
        open_conversation = server.discover if self.modern else server.initialize
        identity = self.client
        reply = open_conversation(
            client_name=client or identity.name,
            client_version=identity.version,
            capabilities={**identity.capabilities, **self.capabilities},
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

        If the server does not speak this version, it may stay silent or give an invalid answer. Such behaviour does not
        count as a violation of the protocol.
        """
        identity = self.client
        reply = server.discover(
            client_name=identity.name,
            client_version=identity.version,
            capabilities=identity.capabilities,
            timeout_s=max(MIN_PROBE_TIMEOUT_S, PROBE_TIMEOUT_FACTOR * self.slowest_s),
        )
        self.knows_modern = server.modern
        if not server.modern:
            server.transcript.anomalies.clear()
        return reply

    def require_modern(self) -> None:
        """Raise `NotObserved` if the last probe has shown that the server does not speak MCP 2026-07-28."""
        if self.knows_modern is False:
            raise NotObserved(f"the server does not speak MCP {MODERN_VERSION}")

    def probe_and_open(self, server: ServerProcess, client: str | None = None) -> bool:
        """Probe a server by `server/discover`. If the server answers, but does not accept `server/discover`, open the
        conversation by `initialize`.

        Returns True if the conversation was opened by `initialize`. Returns False if the server accepts
        `server/discover`, if it does not answer `server/discover`, or if `initialize` fails.
        """
        if self.probe(server).failure is not None or server.modern:
            return False
        try:
            self.open(server, client)
        except ServerTrouble:
            return False
        return True
