"""Faults of MCP itself, where offloading meets it."""

from __future__ import annotations

import sys

from tests.servers.faults.catalogue import fault
from tests.servers.plain import Call, Server
from tests.servers.tasks import Tasking

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from tests.servers.plain import Record


@fault("LRO-PROT-01", says="outputSchema", proves=0)
class output_schema_knows_only_results(Server):
    """The declared schema requires `results`, which a descriptor has not."""

    def output_schema(self) -> Record:
        return {"type": "object", "required": ["results"]}


@fault("LRO-PROT-01", says="outputSchema", proves=0)
class output_schema_allows_no_further_properties(Server):
    """The declared schema lists the fields of an inline result and closes itself."""

    def output_schema(self) -> Record:
        fields: Record = {name: {} for name in ("operation", "count", "results", "truncated", "warning")}
        return {"type": "object", "properties": fields, "additionalProperties": False}


@fault("LRO-PROT-01", says="structuredContent", proves=0)
class offloads_without_structured_content(Server):
    """An output schema is declared, and the offloaded result has text only."""

    def offloaded(self, call: Call, path: str) -> Record:
        result = super().offloaded(call, path)
        result.pop("structuredContent", None)
        return result


@fault("LRO-PROT-02", says="stdout", proves=3)
class prints_a_greeting_on_stdout(Server):
    """A line that is no message."""

    def started(self) -> None:
        sys.stdout.write("plain-memory is ready\n")
        sys.stdout.flush()


@fault("LRO-PROT-02", says="stdout", proves=2, also=("LRO-IMPL-02", "LRO-IMPL-03"))
class prints_a_greeting_and_offloads_nothing(Server):
    """A line that is no message, of a server that knows no offloading."""

    def started(self) -> None:
        sys.stdout.write("plain-memory is ready\n")
        sys.stdout.flush()

    def exceeds(self, tokens: int, threshold: int) -> bool:
        return False


@fault("LRO-PROT-02", says="stdout", proves=3)
class logs_offloading_on_stdout(Server):
    """One line of plain text for each file."""

    def offload(self, call: Call) -> str:
        path = super().offload(call)
        self.send_line(f"offloaded to {path}".encode())
        return path


@fault("LRO-PROT-02", says="a second response to one request", proves=3)
class answers_offloaded_calls_twice(Server):
    """Sends the same answer twice."""

    twice = False

    def offloaded(self, call: Call, path: str) -> Record:
        self.twice = True
        return super().offloaded(call, path)

    def reply(self, id: Any, result: Record) -> None:
        super().reply(id, result)
        if self.twice:
            self.twice = False
            super().reply(id, result)


@fault("LRO-PROT-03", says="content", proves=3)
class content_is_a_string(Server):
    """The text itself in place of a list of blocks."""

    def structured(self, value: Any) -> Record:
        return {**super().structured(value), "content": self.dumps(value)}


@fault("LRO-PROT-03", says="a content block is", proves=3)
class content_blocks_have_no_type(Server):
    """`{"text": …}`."""

    def structured(self, value: Any) -> Record:
        return {**super().structured(value), "content": [{"text": self.dumps(value)}]}


@fault("LRO-PROT-03", says="isError", proves=3, also=("LRO-DESC-12",))
class is_error_is_a_string(Server):
    """`"false"`."""

    def text(self, text: str) -> Record:
        return {**super().text(text), "isError": "false"}


@fault("LRO-SCOPE-07", says="as a task", proves=0)
class tasks_return_everything(Tasking):
    """The result of a task is never offloaded."""

    def finished(self, params: dict[str, Any]) -> Record:
        self.settings.enabled, before = False, self.settings.enabled
        result = super().finished(params)
        self.settings.enabled = before
        return result


@fault("LRO-SCOPE-07", says="as a task", proves=0)
class tasks_go_by_the_default_threshold(Tasking):
    """A task does not know of the threshold that was set."""

    def finished(self, params: dict[str, Any]) -> Record:
        self.settings.threshold, before = 6400, self.settings.threshold
        result = super().finished(params)
        self.settings.threshold = before
        return result
