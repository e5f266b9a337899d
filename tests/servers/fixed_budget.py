"""A server whose inject cuts its text by a budget that no argument sets."""

from __future__ import annotations

from tests.servers.plain import Server

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tests.servers.plain import Record

PROFILE = """\
operations:
  recall: {tool: recall_memories, arguments: {query: "*"}, query: query, limit: limit, detail: detail}
  search: {tool: search_memories, arguments: {query: memory}, query: query, limit: limit, detail: detail}
  inject: {tool: inject_context, arguments: {query: "*"}, query: query, limit: limit}
"""


class FixedBudget(Server):
    """Its inject takes neither a budget nor a level, and has what recall has at full; recall has no medium."""

    def tools(self) -> list[Record]:
        tools = super().tools()
        for tool in tools:
            properties = tool["inputSchema"]["properties"]
            if tool["name"] == "inject_context":
                del properties["detail"], properties["max_tokens"]
            elif "detail" in properties:
                properties["detail"] = {"enum": ["light", "full"]}
        return tools

    def at_detail(self, memory: Record, detail: str) -> Record:
        return super().at_detail(memory, "full" if detail == "medium" else detail)
