"""Servers whose tools take a level of detail by another argument than `detail`, and by values of their own."""

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

BRIEF = FLAGGED.replace("detail: full", "detail: {argument: brief, light: true, full: false}")
VIEW = FLAGGED.replace("detail: full", "detail: {argument: view, light: summary, medium: normal, full: complete}")


class Valued(Server):
    """An argument takes one value for each level; left out, it is for light."""

    level_argument: str
    level_values: tuple[tuple[str, str | bool], ...]
    """Levels, light first, each with its value."""

    def tools(self) -> list[Record]:
        made = [tool for tool in super().tools() if tool["name"] != "inject_context"]
        for tool in made[:2]:
            others = {n: node for n, node in tool["inputSchema"]["properties"].items() if n != "detail"}
            tool["inputSchema"]["properties"] = {**others, self.level_argument: self.level_schema()}
        return made

    def level_schema(self) -> Record:
        values = [value for _, value in self.level_values]
        default = values[0]
        kind: Record = {"type": "boolean"} if isinstance(default, bool) else {"enum": values}
        return {**kind, "default": default}

    def offer(self, operation: str, arguments: dict[str, Any]) -> Record:
        value = arguments.get(self.level_argument, self.level_values[0][1])
        return super().offer(operation, {**arguments, "detail": self.level_of(value)})

    def level_of(self, value: object) -> str:
        for level, known in self.level_values:
            if type(value) is type(known) and value == known:
                return level
        raise BadArguments(f"{self.level_argument} does not take {self.dumps(value)}")


class Flagged(Valued):
    """`full` is true for full detail."""

    level_argument = "full"
    level_values = (("light", False), ("full", True))


class Brief(Valued):
    """`brief` is true for light detail."""

    level_argument = "brief"
    level_values = (("light", True), ("full", False))


class Viewed(Valued):
    """`view` is a summary, normal or complete."""

    level_argument = "view"
    level_values = (("light", "summary"), ("medium", "normal"), ("full", "complete"))
