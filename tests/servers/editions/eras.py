"""Servers that speak the protocol of 2026-07-28, beside an older one or alone, and messages of wrong shapes."""

from __future__ import annotations

import os

from tests.servers.editions.catalogue import fault, sound
from tests.servers.fastjson import loads
from tests.servers.plain import Call, Server

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from tests.servers.plain import Record

EDITION = "lro-6400"
VERSION = "io.modelcontextprotocol/protocolVersion"


@sound(EDITION)
class speaks_both_protocols(Server):
    """It takes the handshake, and requests with an envelope, whichever comes."""

    modern = False

    def dispatch(self, method: str, params: dict[str, Any]) -> Record | None:
        envelope: Record = params.get("_meta") or {}
        self.modern = envelope.get(VERSION) == "2026-07-28"
        if not self.modern:
            return super().dispatch(method, params)
        if method in ("initialize", "logging/setLevel", "ping"):
            return None
        result = self.discover() if method == "server/discover" else super().dispatch(method, params)
        return None if result is None else self.stamped(result)

    def discover(self) -> Record:
        return {
            "supportedVersions": ["2026-07-28"],
            "capabilities": {"tools": {}, "logging": {}},
            "ttlMs": 0,
            "cacheScope": "private",
            "_meta": {"io.modelcontextprotocol/serverInfo": {"name": self.name, "version": "1.0.0"}},
        }

    def stamped(self, result: Record) -> Record:
        return {"resultType": "complete", **result}


ON_DISK = """\
server:
  command: [{command}]
  env: {MEMORIES: "{workdir}/memories.jsonl"}
"""


@sound(EDITION, profile=ON_DISK)
class speaks_both_protocols_and_keeps_memories_on_disk(speaks_both_protocols):
    """Each process in a directory finds what was stored there, by a number of its own; the newest comes first."""

    @property
    def memories(self) -> list[Record]:
        try:
            with open(os.environ["MEMORIES"], encoding="utf-8") as file:
                return [loads(line) for line in file][::-1]
        except FileNotFoundError:
            return []

    def store(self, memory: Record) -> Any:
        stored = self.completed({**memory, "id": f"note-{len(self.memories) + 1:04}"})
        with open(os.environ["MEMORIES"], "a", encoding="utf-8") as file:
            file.write(self.dumps(stored) + "\n")
        return stored["id"]


@sound(EDITION)
class speaks_the_modern_protocol_alone(speaks_both_protocols):
    """It knows no initialize."""

    def initialize(self, params: dict[str, Any]) -> Record:
        raise NotImplementedError

    def dispatch(self, method: str, params: dict[str, Any]) -> Record | None:
        return None if method == "initialize" else super().dispatch(method, params)


@sound(EDITION)
class offers_tasks_and_http(Server):
    """Its tools may be called as tasks, which it answers at once, and it can be reached by HTTP, too."""

    def initialize(self, params: dict[str, Any]) -> Record:
        result = super().initialize(params)
        result["capabilities"]["tasks"] = {"requests": {"tools": {"call": {}}}}
        return {**result, "instructions": "Also at /mcp by streamable-http."}

    def tools(self) -> list[Record]:
        return [{**tool, "execution": {"taskSupport": "optional"}} for tool in super().tools()]


@fault(EDITION, "LRO-THR-06", says="2026-07-28", proves=0)
class offloads_by_the_handshake_alone(speaks_both_protocols):
    """Requests with an envelope go past the interceptor."""

    def exceeds(self, tokens: int, threshold: int) -> bool:
        return super().exceeds(tokens, threshold) and not self.modern


@fault(EDITION, "LRO-PROT-03", says="resultType is absent", proves=3)
class leaves_out_the_result_type(speaks_both_protocols):
    """By the protocol of 2026-07-28 each result says of what kind it is."""

    def stamped(self, result: Record) -> Record:
        return result


@fault(EDITION, "LRO-PROT-03", says="resultType is 1", proves=3)
class numbers_its_result_types(speaks_the_modern_protocol_alone):
    """The kind of a result is a number."""

    def stamped(self, result: Record) -> Record:
        return {**result, "resultType": 1}


@fault(EDITION, "LRO-PROT-03", says="serverInfo", proves=3)
class has_a_name_and_no_version(Server):
    """The handshake lacks the server's version."""

    def initialize(self, params: dict[str, Any]) -> Record:
        return {**super().initialize(params), "serverInfo": {"name": self.name}}


@fault(EDITION, "LRO-PROT-03", says="inputSchema of store_memory", proves=3)
class says_not_what_a_tool_takes(Server):
    """One tool has no inputSchema."""

    def tools(self) -> list[Record]:
        return [
            {k: v for k, v in t.items() if k != "inputSchema" or t["name"] != "store_memory"} for t in super().tools()
        ]


@fault(EDITION, "LRO-PROT-03", says="level of a log message", proves=3)
class logs_at_a_level_of_its_own(Server):
    """Log messages have the level verbose, which there is not."""

    def offload(self, call: Call) -> str:
        self.notify("notifications/message", {"level": "verbose", "data": "about to write"})
        return super().offload(call)
