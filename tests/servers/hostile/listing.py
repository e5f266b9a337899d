"""Attacks by the list of tools."""

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

BARE = "operations: null\nseed: null\ncleanup: null\nevents: null\n"


@hostile("ten thousand tools, among them the right ones", profile=BARE)
class ten_thousand_tools(Server):
    def list_tools(self, params: Record) -> Record:
        extra = [{"name": f"recall{'_' * (n % 200)}{n}", "inputSchema": {"type": "object"}} for n in range(10_000)]
        return {"tools": [*extra, *self.tools()]}


@hostile("another handshake of twenty megabytes at every start, and a list of tools as large")
class long_winded(Server):
    def initialize(self, params: Record) -> Record:
        return {**super().initialize(params), "instructions": os.urandom(8).hex() + "x" * 20_000_000}

    def tools(self) -> list[Record]:
        made = super().tools()
        made[0]["description"] += "x" * 20_000_000
        return made


@hostile("a list that never ends, a page at a time", profile=BARE)
class endless_pages(Server):
    page = 0

    def list_tools(self, params: Record) -> Record:
        self.page += 1
        return {"tools": self.tools(), "nextCursor": f"page {self.page}"}


@hostile("tools of every wrong type", profile=BARE)
class wrong_tools(Server):
    def list_tools(self, params: Record) -> Record:
        odd: list[Any] = [
            None,
            "recall",
            [],
            {},
            {"name": None},
            {"name": {"a": 1}, "inputSchema": 5},
            {"name": "recall_everything", "inputSchema": {"properties": [1], "required": {"a": 1}}},
            {"name": "search", "inputSchema": {"properties": {"query": 1, "limit": [], "detail": {"enum": {"a": 1}}}}},
            {
                "name": "inject",
                "inputSchema": {
                    "properties": {
                        "detail": {"anyOf": [1, {"const": []}, {"enum": [[], {}]}]},
                        "limit": {"maximum": -5},
                    },
                    "required": [1, "x", [], "detail"],
                },
                "outputSchema": [],
            },
        ]
        return {"tools": [*odd, *self.tools()[:1]]}


@hostile("arguments whose enumeration is nested without end", profile=BARE)
class nested_input_schema(Server):
    def dumps(self, value: Any) -> str:
        return super().dumps(value).replace('"@DEEP@"', '{"anyOf":[' * 400 + "{}" + "]}" * 400)

    def tools(self) -> list[Record]:
        made = super().tools()
        for tool in made:
            tool["inputSchema"]["properties"]["detail"] = "@DEEP@"
        return made


@hostile("an inputSchema that refers to the network", profile=BARE)
class input_schema_from_the_network(Server):
    def tools(self) -> list[Record]:
        return [{**tool, "inputSchema": {"$ref": f"{NETWORK}/schema"}} for tool in super().tools()]


@hostile("an outputSchema that expands to 2^30 schemas")
class laughing_output_schema(Server):
    def output_schema(self) -> Record:
        laughs: Record = {f"l{n}": {"allOf": [{"$ref": f"#/$defs/l{n + 1}"}] * 2} for n in range(30)}
        return {"type": "object", "$defs": {**laughs, "l30": {"type": "object"}}, "$ref": "#/$defs/l0"}


@hostile("a limit whose maximum is an integer of a thousand digits", profile=BARE)
class enormous_maximum(Server):
    def tools(self) -> list[Record]:
        made = super().tools()
        made[0]["inputSchema"]["properties"]["limit"]["maximum"] = 10**1000
        made[1]["inputSchema"]["properties"]["limit"]["maximum"] = -(10**1000)
        made[2]["inputSchema"]["properties"]["limit"]["maximum"] = 0
        return made
