"""Servers that hold one memory of an id."""

from __future__ import annotations

from tests.servers.plain import Server

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from tests.servers.plain import Record


class Replacing(Server):
    """A memory that is stored under the id of another one takes its place."""

    def store(self, memory: Record) -> Any:
        self.memories[:] = (m for m in self.memories if m["id"] != memory.get("id"))
        return super().store(memory)
