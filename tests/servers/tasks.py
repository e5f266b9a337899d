"""The plain server with MCP tasks: a call may return a task, whose result is fetched later."""

from __future__ import annotations

from tests.servers.plain import BadArguments, Server

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from tests.servers.plain import Record


class Tasking(Server):
    """Its three operations may be tasks; one is at work until it has been asked for once."""

    def __init__(self) -> None:
        super().__init__()
        self.tasks: dict[str, Record] = {}
        """What each task has to do: the parameters of its call."""
        self.seen: set[str] = set()
        """Tasks that have been asked for."""

    def initialize(self, params: dict[str, Any]) -> Record:
        result = super().initialize(params)
        result["capabilities"]["tasks"] = {"list": {}, "requests": {"tools": {"call": {}}}}
        return result

    def tools(self) -> list[Record]:
        first, second, third, *rest = super().tools()
        may = {"execution": {"taskSupport": "optional"}}
        return [{**first, **may}, {**second, **may}, {**third, **may}, *rest]

    def dispatch(self, method: str, params: dict[str, Any]) -> Record | None:
        if method == "tools/call" and "task" in params:
            id = self.ulid()
            self.tasks[id] = params
            return {"task": self.state(id)}
        if method == "tasks/get":
            self.seen.add(params["taskId"])
            return self.state(params["taskId"])
        if method == "tasks/result":
            result = self.finished(self.tasks[params["taskId"]])
            return {**result, "_meta": {"io.modelcontextprotocol/related-task": {"taskId": params["taskId"]}}}
        return super().dispatch(method, params)

    def state(self, id: str) -> Record:
        status = "completed" if id in self.seen else "working"
        return {"taskId": id, "status": status, "createdAt": "2026-01-01T00:00:00Z", "ttl": 60_000, "pollInterval": 10}

    def finished(self, params: dict[str, Any]) -> Record:
        """The result of a task."""
        try:
            return self.call_tool(params["name"], params.get("arguments") or {})
        except BadArguments as problem:
            return self.error(str(problem))
