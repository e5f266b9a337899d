"""The plain server with the family scratchpad, written by hand and from its document alone."""

from __future__ import annotations

import re
from typing import ClassVar

from tests.servers.extracting import Extracting
from tests.servers.fastjson import loads
from tests.servers.plain import BadArguments

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_FILE = {"file": "string"}
BUDGET = 2_000
"""Tokens of one answer."""


class Exploring(Extracting):
    """Lists the eight tools of the family."""

    listed: ClassVar[dict[str, dict[str, str]]] = {
        "schema": {**_FILE, "max_depth": "integer"},
        "item_schema": {**_FILE, "path": "string"},
        "head": {**_FILE, "lines": "integer"},
        "grep": {**_FILE, "pattern": "string", "context": "integer"},
        "get_in": {**_FILE, "path": "string"},
        "iterate_over": {**_FILE, "path": "string", "fields": "array"},
        "slice": {**_FILE, "start": "integer", "end": "integer"},
        "read": {**_FILE},
    }

    def handler(self, name: str) -> Callable[..., str]:
        return getattr(self, f"tool_{name}")

    def bounded(self, text: str) -> str:
        tokens = self.estimate([text])
        return text if tokens <= BUDGET else self.over(tokens)

    def over(self, tokens: int) -> str:
        told = {"error": "answer_too_large", "estimated_tokens": tokens, "per_call_limit": BUDGET}
        return self.dumps({**told, "suggestions": ["slice for some lines"]})

    def lines(self, file: str) -> list[str]:
        return self.contents(self.found(file)).split("\n")[:-1]

    def records(self, file: str) -> list[Any]:
        return [loads(line) for line in self.lines(file)[1:]]

    def tool_schema(self, file: str, max_depth: int = 4) -> str:
        return "\n".join(f"{key}: {type(value).__name__}" for key, value in self.records(file)[0].items())

    def tool_item_schema(self, file: str, path: str = "") -> str:
        records = self.records(file)
        return self.dumps({key: len([r for r in records if key in r]) for key in records[0]})

    def tool_head(self, file: str, lines: int = 50) -> str:
        return "\n".join(self.lines(file)[:lines])

    def tool_slice(self, file: str, start: int, end: int) -> str:
        return "\n".join(self.lines(file)[start - 1 : end])

    def tool_read(self, file: str) -> str:
        return "\n".join(self.lines(file))

    def tool_grep(self, file: str, pattern: str, context: int = 3) -> str:
        path = self.found(file)
        try:
            re.compile(pattern)
        except re.error:
            pattern = self.invalid(pattern)
        return "\n".join(self.search(path, pattern, case_sensitive=True)) or "No matches found."

    def invalid(self, pattern: str) -> str:
        return re.escape(pattern)

    def tool_get_in(self, file: str, path: str) -> str:
        value: Any = self.records(file)
        for part in path.split("."):
            if isinstance(value, list):
                value = value[int(part)]
            elif part in value:
                value = value[part]
            else:
                raise BadArguments(self.missing(part, value))
        return self.dumps(value)

    def missing(self, key: str, value: dict[str, Any]) -> str:
        return f"no {key}: there are {', '.join(value)}"

    def tool_iterate_over(self, file: str, fields: list[str], path: str = "") -> str:
        return "\n".join(self.dumps({field: r.get(field) for field in fields}) for r in self.records(file))
