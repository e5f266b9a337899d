"""Attacks by line_schema."""

from __future__ import annotations

import os

from tests.servers.hostile.catalogue import hostile
from tests.servers.plain import Server

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from tests.servers.plain import Record

NETWORK = os.environ.get("LRO_TEST_NETWORK", "http://127.0.0.1:9")
"""Address at which the test listens for a client that fetches a schema."""


@hostile("a line_schema that expands to 2^30 schemas")
class laughing_line_schema(Server):
    def line_schema(self, detail: str) -> Record:
        laughs: Record = {f"l{n}": {"anyOf": [{"$ref": f"#/$defs/l{n + 1}"}] * 2} for n in range(30)}
        return {"$defs": {**laughs, "l30": {"type": "string"}}, "$ref": "#/$defs/l0"}


@hostile("a line_schema that refers to itself")
class circular_line_schema(Server):
    def line_schema(self, detail: str) -> Record:
        return {"$ref": "#", "allOf": [{"$ref": "#"}], "properties": {"title": {"$ref": "#"}}}


@hostile("regular expressions in line_schema that backtrack for ever")
class backtracking_line_schema(Server):
    def line_schema(self, detail: str) -> Record:
        made = super().line_schema(detail)
        made["properties"]["title"] = {"type": "string", "pattern": "^(([a-zA-Z0-9: ]+)+)+\\x00$"}
        made["patternProperties"] = {"^(.*)*(.*)*(.*)*x$": True}
        return made


@hostile("a line_schema that refers to the network and to the disk")
class line_schema_from_elsewhere(Server):
    def line_schema(self, detail: str) -> Record:
        made = super().line_schema(detail)
        made["properties"]["title"] = {"$ref": "file:///etc/passwd"}
        made["properties"]["id"] = {"$ref": f"{NETWORK}/schema"}
        return {**made, "$id": NETWORK, "$schema": f"{NETWORK}/meta"}


@hostile("a line_schema nested ten thousand deep")
class bottomless_line_schema(Server):
    def dumps(self, value: Any) -> str:
        return super().dumps(value).replace('"@DEEP@"', '{"not":' * 10_000 + "{}" + "}" * 10_000)

    def line_schema(self, detail: str) -> Any:
        return "@DEEP@"


@hostile("a line_schema of a hundred thousand properties, another one each time")
class vast_line_schema(Server):
    def line_schema(self, detail: str) -> Record:
        made = super().line_schema(detail)
        made["properties"] |= {f"field {self.calls} {n}": {"type": "string"} for n in range(20_000)}
        return made
