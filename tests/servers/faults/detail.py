"""Faults of the detail level."""

from __future__ import annotations

from tests.servers.faults.catalogue import fault
from tests.servers.flagged import BRIEF, Brief
from tests.servers.plain import Call, Server

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from tests.servers.plain import Record


@fault("LRO-DET-01", says="content", proves=0)
class light_records_carry_content(Server):
    """Light has the content as well, inline and in the file."""

    def at_detail(self, memory: Record, detail: str) -> Record:
        record = super().at_detail(memory, detail)
        return {**record, "content": memory["content"]} if detail == "light" else record


@fault("LRO-DET-01", says="content", proves=0)
class one_light_record_in_fifty_keeps_its_content(Server):
    """Stripping content stops at archived procedures."""

    def at_detail(self, memory: Record, detail: str) -> Record:
        record = super().at_detail(memory, detail)
        if detail == "light" and memory["memory_type"] == "procedural" and memory["status"] == "archived":
            record["content"] = memory["content"]
        return record


@fault("LRO-DET-01", says="lacks them", proves=0)
class serialises_the_second_hundred_at_light(Server):
    """Batches after the first lose the level that was asked for, inline and in the file."""

    def at_detail(self, memory: Record, detail: str) -> Record:
        self.serialised += 1
        return super().at_detail(memory, "light" if self.serialised > 100 else detail)

    def execute(self, operation: str, arguments: dict[str, Any]) -> Call:
        self.serialised = 0
        return super().execute(operation, arguments)


@fault("LRO-DET-01", says="content", proves=0, profile=BRIEF)
class brief_records_carry_content(Brief):
    """Records are brief without summary and entities, but keep their content."""

    def at_detail(self, memory: Record, detail: str) -> Record:
        record = super().at_detail(memory, detail)
        return {**record, "content": memory["content"]} if detail == "light" else record


@fault("LRO-DET-01", says="content", proves=0, also=("LRO-FILE-10",))
class light_file_carries_content(Server):
    """Inline a light record has no content; the file of the same call has."""

    def at_detail(self, memory: Record, detail: str) -> Record:
        record = super().at_detail(memory, detail)
        return {**record, "content": memory["content"]} if detail == "light" else record

    def inline_value(self, call: Call) -> Any:
        value = super().inline_value(call)
        if call.detail == "light":
            value["results"] = [{k: v for k, v in r.items() if k != "content"} for r in call.records]
        return value


class AnotherDefault(Server):
    """Has another default level for one operation."""

    operation: str
    level: str

    def default_detail(self, operation: str) -> str:
        return self.level if operation == self.operation else super().default_detail(operation)


@fault("LRO-DET-02", says="light", proves=0)
class recall_defaults_to_medium(AnotherDefault):
    """The default of inject is used for recall."""

    operation = "recall"
    level = "medium"


@fault("LRO-DET-02", says="light", proves=0)
class recall_defaults_to_full(AnotherDefault):
    """Everything, unless less is asked for."""

    operation = "recall"
    level = "full"


@fault("LRO-DET-03", says="medium", proves=0)
class inject_defaults_to_light(AnotherDefault):
    """The default of recall is used for inject."""

    operation = "inject"
    level = "light"


@fault("LRO-DET-03", says="medium", proves=0)
class inject_defaults_to_full(AnotherDefault):
    """Everything, unless less is asked for."""

    operation = "inject"
    level = "full"


class Sticky(Server):
    """Remembers the level last asked for of one operation."""

    operation: str
    last = ""

    def execute(self, operation: str, arguments: dict[str, Any]) -> Call:
        call = super().execute(operation, arguments)
        self.last = call.detail
        return call

    def default_detail(self, operation: str) -> str:
        return (operation == self.operation and self.last) or super().default_detail(operation)


@fault("LRO-DET-02", says="light", proves=0)
class recall_defaults_to_the_level_last_used(Sticky):
    """A call without a level repeats that of the call before it."""

    operation = "recall"


@fault("LRO-DET-03", says="medium", proves=0)
class inject_defaults_to_the_level_last_used(Sticky):
    """A call without a level repeats that of the call before it."""

    operation = "inject"


@fault("LRO-DET-01", says="the fields of full detail", proves=0, also=("LRO-FILE-10",))
class medium_searches_are_filed_in_full(Server):
    """Search at medium detail is shown at that, but weighed and written as the whole memories."""

    def tokens(self, call: Call) -> int:
        if call.operation == "search" and call.detail == "medium":
            call.lines = [self.record_line(self.at_detail(memory, "full")) for memory in call.found]
        return super().tokens(call)


class DeafSearch(Server):
    """Search gives light records, whatever is asked for."""

    def at_detail(self, memory: Record, detail: str) -> Record:
        return super().at_detail(memory, "light" if "score" in memory else detail)


@fault("LRO-DET-01", says="light detail at every level", proves=0)
class search_knows_no_detail(DeafSearch):
    """And it says so in the header."""

    def execute(self, operation: str, arguments: dict[str, Any]) -> Call:
        if operation == "search":
            arguments = {**arguments, "detail": "light"}
        return super().execute(operation, arguments)


@fault("LRO-DET-01", says="the same detail at every level", proves=0, long=True)
class search_passes_the_detail_to_the_header_only(DeafSearch):
    """And the header says what was asked for."""


class Filed(Server):
    """Files hold the records of one level, whatever was asked for, weighed and shown."""

    level = "full"

    def file_lines(self, call: Call) -> list[str]:
        return [self.dumps(self.header(call)), *(self.record_line(self.at_detail(m, self.level)) for m in call.found)]


@fault("LRO-DET-01", says="the fields of full detail", proves=0, also=("LRO-FILE-10",))
class files_hold_whole_memories(Filed):
    """A line is a complete memory object, so all of it is written; what was asked for is weighed."""


@fault("LRO-DET-01", says="the fields of light detail", proves=0, also=("LRO-FILE-10", "LRO-FILE-11"), long=True)
class files_hold_light_records(Filed):
    """Files are for browsing, so light records are written; what was asked for is weighed."""

    level = "light"
