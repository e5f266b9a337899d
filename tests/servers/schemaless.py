"""Servers without output schemas: inline results are text only, or have names of the server's own."""

from __future__ import annotations

from types import MappingProxyType

from tests.servers.plain import Call, Server

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from tests.servers.plain import Record


class Undeclared(Server):
    """Declares no output schema."""

    def tool(
        self, name: str, about: str, properties: Record, *, required: Sequence[str] = (), output: bool = False
    ) -> Record:
        return super().tool(name, about, properties, required=required)


class Schemaless(Undeclared):
    """Declares no output schema and gives text only."""

    def structured(self, value: Any) -> Record:
        return self.text(self.dumps(value))


class OwnNames(Schemaless):
    """Inline records have names of the server's own, lines of a file those of MIF."""

    def inline_value(self, call: Call) -> Any:
        value = super().inline_value(call)
        return {**value, "results": [self.renamed(record) for record in value["results"]]}

    names: Mapping[str, str] = MappingProxyType(
        {"id": "number", "content": "body", "namespace": "product", "created": "createdAt", "tags": "labels"}
    )

    def renamed(self, record: Record) -> Record:
        own = {
            self.names.get(key, key): value for key, value in record.items() if key not in ("memory_type", "provenance")
        }
        certainty = (record.get("provenance") or {}).get("confidence")
        return {**own, "certainty": None if certainty is None else round(100 * certainty, 4)}


class Tickets(OwnNames):
    """Not even the title has its name."""

    names = MappingProxyType({**OwnNames.names, "title": "subject"})
