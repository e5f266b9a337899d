"""Records with other fields at their detail levels, where the text defines none."""

from __future__ import annotations

from tests.servers.plain import Call, Server
from tests.servers.sound.catalogue import sound

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from tests.servers.plain import Record

ERRATA = ("LRO-REC-01", "LRO-REC-04", "LRO-REC-09", "LRO-REC-10")
ERRATA_OF_IDS = (*ERRATA, "LRO-REC-02", "LRO-REC-03", "LRO-REC-06")


@sound("it expects a confidence at light detail, without which jq fails on recipes 4 and 9", warns=ERRATA)
class light_has_no_confidence(Server):
    def at_detail(self, memory: Record, detail: str) -> Record:
        record = super().at_detail(memory, detail)
        return {k: v for k, v in record.items() if k != "provenance"} if detail == "light" else record


@sound("it expects type, tags and status at light detail", warns=(*ERRATA, "LRO-REC-06"))
class light_has_three_fields(Server):
    def at_detail(self, memory: Record, detail: str) -> Record:
        if detail != "light":
            return super().at_detail(memory, detail)
        return {name: memory[name] for name in ("id", "title", "namespace")}

    def line_schema(self, detail: str) -> Record:
        return {**super().line_schema(detail), "required": ["id", "title", "namespace"]}


@sound("it looks for the top namespaces in records that have none", warns=ERRATA_OF_IDS)
class light_has_no_namespace(Server):
    light: tuple[str, ...] = ("id", "title")

    def execute(self, operation: str, arguments: dict[str, Any]) -> Call:
        call = super().execute(operation, arguments)
        if call.detail == "light":
            call.records = [{name: record[name] for name in self.light} for record in call.records]
            call.lines = [self.record_line(record) for record in call.records]
            call.tokens = self.tokens(call)
        self.found = call.found
        return call

    def top_namespaces(self, records: Sequence[Record]) -> list[str]:
        return super().top_namespaces(self.found)

    def inject_text(self, call: Call, budget: int) -> str:
        call.records = [self.at_detail(memory, "medium") for memory in call.found]
        return super().inject_text(call, budget)

    def line_schema(self, detail: str) -> Record:
        return {**super().line_schema(detail), "required": ["id", "title"]}


@sound("it takes `content: null` for content")
class light_content_is_null(Server):
    def at_detail(self, memory: Record, detail: str) -> Record:
        record = super().at_detail(memory, detail)
        return {**record, "content": None, "entities": None} if detail == "light" else record


@sound("it takes an empty content for content")
class light_content_is_empty(Server):
    def at_detail(self, memory: Record, detail: str) -> Record:
        record = super().at_detail(memory, detail)
        return {**record, "content": "", "entities": [], "summary": ""} if detail == "light" else record


@sound("it misses content in a file of full detail whose memories have empty ones", warns=ERRATA_OF_IDS)
class leaves_out_empty_values(Server):
    """Its serialiser leaves out what is empty, inline as in files (Go's `omitempty`)."""

    def at_detail(self, memory: Record, detail: str) -> Record:
        record = super().at_detail(memory, detail)
        return {name: value for name, value in record.items() if value not in ("", [], {}, None)}

    def inject_text(self, call: Call, budget: int) -> str:
        call.records = [super(leaves_out_empty_values, self).at_detail(memory, "medium") for memory in call.found]
        return super().inject_text(call, budget)

    def line_schema(self, detail: str) -> Record:
        return {**super().line_schema(detail), "required": ["id", "memory_type"]}


@sound("it knows `content` only at medium and full, and takes a summary for it")
class light_has_a_summary(Server):
    def at_detail(self, memory: Record, detail: str) -> Record:
        record = super().at_detail(memory, detail)
        return {**record, "summary": memory.get("summary")} if detail == "light" else record


@sound("it distinguishes null from absent")
class absent_fields_are_null(Server):
    def at_detail(self, memory: Record, detail: str) -> Record:
        nothing: Record = dict.fromkeys(("x_parent", "x_source", "citation", "valid_until"))
        return {**nothing, **super().at_detail(memory, detail)}


@sound("it expects content at medium detail", warns=("LRO-REC-10",))
class medium_has_no_content(Server):
    def at_detail(self, memory: Record, detail: str) -> Record:
        record = super().at_detail(memory, detail)
        return {k: v for k, v in record.items() if k != "content"} if detail == "medium" else record


@sound("it expects the score of a search in its records")
class search_records_carry_no_score(Server):
    def at_detail(self, memory: Record, detail: str) -> Record:
        return {k: v for k, v in super().at_detail(memory, detail).items() if k != "score"}


@sound("it expects entities to be objects")
class entities_are_strings(Server):
    def at_detail(self, memory: Record, detail: str) -> Record:
        record = super().at_detail(memory, detail)
        if "entities" in record:
            record["entities"] = [entity["name"] for entity in record["entities"]]
        return record

    def line_schema(self, detail: str) -> Record:
        schema = super().line_schema(detail)
        if "entities" in schema["properties"]:
            schema["properties"]["entities"] = {"type": "array", "items": {"type": "string"}}
        return schema


@sound("it looks for light records of an id alone in a text that is made of titles", warns=ERRATA_OF_IDS)
class light_is_an_id(light_has_no_namespace):
    light = ("id",)

    def line_schema(self, detail: str) -> Record:
        return {**super().line_schema(detail), "required": ["id"]}
