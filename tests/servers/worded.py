"""The plain server with inline results that are a text: Markdown, or prose."""

from __future__ import annotations

from tests.servers.schemaless import Undeclared

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tests.servers.plain import Call, Record


class Worded(Undeclared):
    """Shows memories as text."""

    def worded(self, record: Record) -> str:
        raise NotImplementedError

    def inline(self, call: Call) -> Record:
        return super().inline(call) if call.operation == "inject" else self.text(self.all_worded(call))

    def all_worded(self, call: Call) -> str:
        return "\n\n".join(map(self.worded, call.records)) or "Nothing was found."

    def truncated(self, call: Call, warning: str) -> Record:
        if call.operation == "inject":
            return super().truncated(call, warning)
        return self.text(f"Warning: {warning}\n\n{self.all_worded(call)}")


class Markdown(Worded):
    """Shows each memory as a section."""

    def worded(self, record: Record) -> str:
        fields = ("id", "namespace", "memory_type", "status", "created")
        lines = [f"## {record['title']}", "", *(f"- **{name}**: {record[name]}" for name in fields)]
        lines.append(f"- **tags**: {', '.join(record['tags'])}")
        if record.get("content"):
            lines += ["", record["content"]]
        return "\n".join(lines)


class Prose(Worded):
    """Shows each memory as a sentence or two."""

    def worded(self, record: Record) -> str:
        said = f"In {record['namespace']} there is a {record['memory_type']} memory called “{record['title']}”"
        return f"{said}, which says: {record['content']}" if record.get("content") else f"{said}."
