"""Servers whose tools take a boolean argument for the level of detail."""

from __future__ import annotations

from tests.servers.plain import BadArguments, Server

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from tests.servers.plain import Record

FLAGGED = """\
operations:
  recall: {tool: recall_memories, arguments: {query: "*"}, query: query, limit: limit, detail: full}
  search: {tool: search_memories, arguments: {query: memory}, query: query, limit: limit, detail: full}
"""


class Flagged(Server):
    """`full` is true for full detail; left out or false, it is for light."""

    def tools(self) -> list[Record]:
        made = [tool for tool in super().tools() if tool["name"] != "inject_context"]
        for tool in made[:2]:
            others = {n: node for n, node in tool["inputSchema"]["properties"].items() if n != "detail"}
            tool["inputSchema"]["properties"] = {**others, "full": {"type": "boolean", "default": False}}
        return made

    def offer(self, operation: str, arguments: dict[str, Any]) -> Record:
        full = arguments.get("full", False)
        if not isinstance(full, bool):
            raise BadArguments(f"full is true or false, not {full!r}")
        return super().offer(operation, {**arguments, "detail": "full" if full else "light"})
