"""The plain server with the family compaction, written by hand and from its document alone."""

from __future__ import annotations

import os
from typing import ClassVar

from tests.servers.extracting import Extracting
from tests.servers.plain import BadArguments

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from tests.servers.plain import Record


class Shortening(Extracting):
    """Lists `context_offload` and `read_file`; it has no language model, and so no other mode than compact."""

    listed: ClassVar[dict[str, dict[str, str]]] = {
        "context_offload": {
            "messages": "array",
            "context_manage_mode": "string",
            "max_total_tokens": "integer",
            "max_tool_message_tokens": "integer",
            "keep_recent_count": "integer",
            "store_dir": "string",
        },
        "read_file": {"absolute_path": "string", "offset": "integer", "limit": "integer"},
    }

    def bounded(self, text: str) -> str:
        return text

    def store_dir(self, asked: str | None) -> str:
        """The directory for messages, whatever the request says."""
        return os.path.join(self.output_dir(), "context")

    def context_offload(self, messages: list[Record], **terms: Any) -> str:
        most, keep = terms.get("max_tool_message_tokens", 2000), self.kept(terms.get("keep_recent_count", 1))
        tokens = sum(self.estimate([str(message["content"])]) for message in messages)
        if self.is_small(tokens, terms.get("max_total_tokens", 20_000)):
            left = self.unchanged(messages)
            return self.dumps({"success": True, "messages": left, "metadata": {"write_file_dict": {}}})
        folder = self.store_dir(terms.get("store_dir"))
        files: dict[str, str] = {}
        made = [
            self.shortened(message, folder, files)
            if n < len(messages) - keep and message["role"] == "tool" and self.estimate([message["content"]]) > most
            else self.left(message)
            for n, message in enumerate(messages)
        ]
        for path, text in files.items():
            self.put(path, text)
            self.offered[path] = self.identity(path)
        return self.dumps({"success": True, "messages": made, "metadata": {"write_file_dict": files}})

    def is_small(self, tokens: int, most: int) -> bool:
        """Whether a conversation can stay as it is."""
        return tokens <= most

    def unchanged(self, messages: list[Record]) -> list[Record]:
        return messages

    def kept(self, count: int) -> int:
        return count

    def left(self, message: Record) -> Record:
        return message

    def shortened(self, message: Record, folder: str, files: dict[str, str]) -> Record:
        path = os.path.join(folder, self.name_of(message["tool_call_id"]))
        files[path] = message["content"]
        return {**message, "content": f"{message['content'][:100]}… (detailed result is stored in {path})"}

    def name_of(self, id: str) -> str:
        return f"tool_call_{id if id.replace('_', '').isalnum() else id.encode().hex()}.txt"

    def put(self, path: str, text: str) -> None:
        os.makedirs(os.path.dirname(path), 0o700, exist_ok=True)
        with open(path, "w", encoding="utf-8", newline="") as file:
            file.write(text)

    def read_file(self, absolute_path: str, offset: int = 0, limit: int | None = None) -> str:
        if not self.may_read(absolute_path):
            raise BadArguments("nothing that left a conversation is there")
        return self.part(self.contents(absolute_path).splitlines(keepends=True), offset, limit)

    def part(self, lines: list[str], offset: int, limit: int | None) -> str:
        return "".join(lines[offset:][:limit])

    def may_read(self, path: str) -> bool:
        return path in self.offered and self.identity(path) == self.offered[path]
