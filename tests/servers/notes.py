"""A server of notes: texts with tags, to which it gives ids and titles itself."""

from __future__ import annotations

from tests.servers.schemaless import Schemaless

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from tests.servers.plain import Call, Record

NOTES = """\
seed: {tool: store_memory, arguments: {memory: {content: "$memory.content", tags: "$memory.tags"}}}
"""


class Notes(Schemaless):
    """Numbers its notes, whose titles are the beginnings of their texts; files say that all are of one type."""

    def completed(self, memory: Record) -> Record:
        title = " ".join(memory["content"].split())
        given = {"id": self.new_id(), "title": title if len(title) <= 60 else f"{title[:59]}…"}
        return {**super().completed(memory), **given, "memory_type": "note", "provenance": {"confidence": 0.5}}

    def new_id(self) -> str:
        return f"note-{len(self.memories) + 1:04}"

    def inline_value(self, call: Call) -> Any:
        names = {"id": "id", "title": "title", "content": "text", "tags": "tags", "created": "created"}
        return {"notes": [{names[key]: value for key, value in r.items() if key in names} for r in call.records]}
