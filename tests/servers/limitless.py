"""The plain server without a limit."""

from __future__ import annotations

from tests.servers.plain import Server

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tests.servers.plain import Record

NO_LIMIT = """\
operations:
  recall: {tool: recall_memories, arguments: {query: "*"}, query: query, detail: detail}
  search: {tool: search_memories, arguments: {query: memory}, query: query, detail: detail}
  inject: {tool: inject_context, arguments: {query: "*"}, query: query, detail: detail}
"""


class Limitless(Server):
    """Takes no limit."""

    without: tuple[str, ...] = ("limit",)

    def tools(self) -> list[Record]:
        tools = super().tools()
        for tool in tools:
            for name in self.without:
                tool["inputSchema"]["properties"].pop(name, None)
        return tools

    def limited(self, found: list[Record], limit: int | None) -> list[Record]:
        return found
