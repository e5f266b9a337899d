"""Servers that return the same answer in a different place or wrapping."""

from __future__ import annotations

from types import MappingProxyType

from tests.servers.fixed_budget import PROFILE, FixedBudget
from tests.servers.plain import Call, Server
from tests.servers.schemaless import OwnNames, Schemaless, Tickets
from tests.servers.sound.catalogue import sound

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from tests.servers.plain import Record


EVERYTHING: Record = {}


@sound("it looks in structuredContent only")
class text_only(Schemaless):
    pass


@sound("it looks in the text only")
class structured_content_only(Server):
    def structured(self, value: Any) -> Record:
        return {**self.text("See the structured content."), "structuredContent": value}

    def offloaded(self, call: Call, path: str) -> Record:
        return self.structured(self.descriptor(call, path))


@sound("it takes a sentence that shows what the structured content has for a descriptor that breaks off")
class sentence_shows_the_members(structured_content_only):
    def offloaded(self, call: Call, path: str) -> Record:
        about = f'{len(call.records)} memories; structuredContent is {{"offloaded": true, "file_path": …, …}}.'
        return {**super().offloaded(call, path), **self.text(about)}


@sound("it takes an empty list of content for a missing one")
class content_is_empty(Server):
    def structured(self, value: Any) -> Record:
        return {"content": [], "structuredContent": value}

    def offloaded(self, call: Call, path: str) -> Record:
        return self.structured(self.descriptor(call, path))


@sound("it takes members of a descriptor that are null for a descriptor")
class every_answer_has_every_member(Server):
    """As in a language of types, where what does not apply is null."""

    def structured(self, value: Any) -> Record:
        nothing = dict.fromkeys(("results", "warning", "summary", "file_path", "line_schema", "jq_recipes", "guidance"))
        return super().structured({"offloaded": False, **nothing, **value})


@sound("it parses the whole text as JSON")
class descriptor_follows_a_sentence(Schemaless):
    def offloaded(self, call: Call, path: str) -> Record:
        return self.text(f"The result {{is}} large, so it went to a file:\n{self.dumps(self.descriptor(call, path))}")


@sound("it parses the whole text as JSON")
class descriptor_stands_before_a_sentence(Schemaless):
    def offloaded(self, call: Call, path: str) -> Record:
        return self.text(f"{self.dumps(self.descriptor(call, path))}\n\nAsk again with a limit for less.")


@sound("it parses the whole text as JSON")
class descriptor_is_fenced(Schemaless):
    def offloaded(self, call: Call, path: str) -> Record:
        return self.text(f"```json\n{self.dumps(self.descriptor(call, path))}\n```")


@sound("it looks at the first block only")
class descriptor_is_the_second_block(Schemaless):
    def offloaded(self, call: Call, path: str) -> Record:
        result = super().offloaded(call, path)
        return {**result, "content": [{"type": "text", "text": "Offloaded."}, *result["content"]]}


@sound("it expects the fields at the top of the object")
class descriptor_is_wrapped_in_result(Schemaless):
    def offloaded(self, call: Call, path: str) -> Record:
        return self.text(self.dumps({"result": self.descriptor(call, path)}))


@sound("it takes a link to the file for a payload")
class descriptor_comes_with_a_resource_link(Server):
    def offloaded(self, call: Call, path: str) -> Record:
        result = super().offloaded(call, path)
        link = {"type": "resource_link", "uri": f"file://{path}", "name": path.rpartition("/")[2]}
        return {**result, "content": [*result["content"], link]}


@sound("it looks for the records under `results`")
class inline_is_a_bare_array(Schemaless):
    def inline_value(self, call: Call) -> Any:
        return call.records

    def truncated(self, call: Call, warning: str) -> Record:
        if call.operation == "inject":
            return super().truncated(call, warning)
        result = self.inline(call)
        return {**result, "content": [{"type": "text", "text": f"Warning: {warning}"}, *result["content"]]}


@sound("it looks for the records under `results`")
class inline_records_lie_deep(Schemaless):
    def inline_value(self, call: Call) -> Any:
        return {"status": "ok", "data": {"page": 1, "memories": call.records}}


@sound("it compares the inline hit with the line of the file as a whole")
class inline_hits_wrap_their_memory(Schemaless):
    def inline_value(self, call: Call) -> Any:
        return {"hits": [{"score": record.get("score", 1.0), "memory": record} for record in call.records]}


@sound("it looks for the fields of the file under the same names in the inline result")
class inline_has_names_of_its_own(OwnNames):
    """As before LRO; the file has the names of MIF, and a type that inline results do not show."""


@sound("it takes a namespace for the beginning of a path, which is longer inline")
class inline_has_a_path_of_its_own(OwnNames):
    """Namespace and title together, and a name with the number of tags; the file has them apart."""

    def renamed(self, record: Record) -> Record:
        own = super().renamed(record)
        path = f"{own.pop('product', '')}/{record.get('title', '')}"
        return {**own, "path": path, "name": f"{record.get('title', '')} ({len(record.get('tags', ()))})"}


@sound("it tells records apart by an id or a title under these names")
class inline_results_are_tickets(Tickets):
    """With a number and a subject."""


@sound("it takes the only record of a result for a remark if none of its fields has a name of MIF")
class falls_back_to_one_ticket(Tickets):
    """Every result that cannot be written has one record, if that fits."""

    names = MappingProxyType({**Tickets.names, "status": "state", "modified": "changedAt"})

    def fitting(self, call: Call) -> int:
        return min(1, super().fitting(call))


@sound("it expects all records in one block")
class inline_has_a_block_for_each_record(Schemaless):
    def structured(self, value: Any) -> Record:
        if "results" not in value:
            return super().structured(value)
        blocks = [{"type": "text", "text": self.dumps(record)} for record in value["results"]]
        if "warning" in value:
            blocks.insert(0, {"type": "text", "text": value["warning"]})
        return {"content": blocks, "isError": False}


@sound("it parses the whole text as one JSON value")
class inline_is_jsonl(Schemaless):
    def structured(self, value: Any) -> Record:
        if "results" not in value:
            return super().structured(value)
        lines = [self.dumps(record) for record in value["results"]]
        warning = {"type": "text", "text": f"Warning: {value.get('warning')}"}
        result = self.text("\n".join(lines))
        return {**result, "content": [warning, *result["content"]]} if "warning" in value else result


@sound("it takes every line of JSON for a record")
class inline_is_jsonl_under_a_count(Schemaless):
    def structured(self, value: Any) -> Record:
        if "results" not in value:
            return super().structured(value)
        about = {name: v for name, v in value.items() if name != "results"}
        return self.text("\n".join(map(self.dumps, [{"total": len(value["results"]), **about}, *value["results"]])))


@sound("it reads blocks of text only, and no text that is embedded as a resource")
class inline_is_an_embedded_resource(Schemaless):
    def structured(self, value: Any) -> Record:
        if "results" not in value:
            return super().structured(value)
        text = {"uri": "memory://results", "mimeType": "application/json", "text": self.dumps(value)}
        return {"content": [{"type": "resource", "resource": text}], "isError": False}


@sound("it misses `isError`, which is optional")
class is_error_is_left_out(Server):
    def text(self, text: str) -> Record:
        return {"content": [{"type": "text", "text": text}]}


@sound("it refuses annotations and metadata on blocks")
class blocks_are_annotated(Server):
    def text(self, text: str) -> Record:
        block = {"type": "text", "text": text, "annotations": {"audience": ["assistant"], "priority": 0.5}, "_meta": {}}
        return {"content": [block], "isError": False}


@sound("it expects the fallback's warning in a field of that name")
class fallback_warns_in_a_block_of_its_own(Schemaless):
    def truncated(self, call: Call, warning: str) -> Record:
        result = self.inline(call)
        notice = {"type": "text", "text": f"Note: the results could not be offloaded and were truncated. {warning}"}
        return {**result, "content": [*result["content"], notice]}


@sound("it takes zero records for a failure, though not even one fits")
class fallback_leaves_room_for_its_envelope(Server):
    def fitting(self, call: Call) -> int:
        kept = super().fitting(call)
        room = self.settings.threshold - 60
        while kept and self.estimate(call.lines[:kept]) > room:
            kept -= 1
        return kept


@sound("it takes the beginning of a record for broken JSON, though the whole one is larger than the threshold (I-13)")
class fallback_cuts_the_one_record_that_is_too_large(Server):
    def corpus(self) -> list[Record]:
        first, *rest = super().corpus()
        return [{**first, "content": "A long report on what was decided. " * 150}, *rest]

    def on_write_failure(self, call: Call, problem: OSError) -> Record:
        if call.operation == "inject" or self.fitting(call) or not call.records:
            return super().on_write_failure(call, problem)
        self.write_failed(call, problem)
        record, everything = call.records[0], len(call.records)
        room = 3 * self.settings.threshold - len(call.lines[0]) + len(record.get("content", ""))
        call.records = [{**record, "content": record.get("content", "")[: max(0, room)] + "…"}]
        return self.truncated(call, self.warning(1, everything, problem))


@sound("it compares injected memories only with those of a recall at the level that it names", profile=PROFILE)
class injects_by_a_fixed_budget(FixedBudget):
    pass


@sound("it expects the text of an injection to be longer than its frame")
class inject_returns_xml(Server):
    def inject_text(self, call: Call, budget: int) -> str:
        text = "<context>"
        for record in call.records:
            body = record.get("content") or ""
            more = f'\n<memory namespace="{record["namespace"]}"><title>{record["title"]}</title>{body}</memory>'
            if self.estimate([text + more]) > budget:
                break
            text += more
        return text + "\n</context>"


@sound("it expects a file of inject to have no more than what the budget leaves inline")
class inject_returns_records_within_its_budget(Server):
    def inject_text(self, call: Call, budget: int) -> str:
        kept = list(call.records)
        while kept and self.estimate([self.dumps(kept)]) > budget:
            kept.pop()
        return self.dumps({"results": kept})


@sound("it calls the words of an injection that found nothing a result that should have been offloaded")
class injects_nothing_for_a_star(Server):
    def find(self, operation: str, query: str) -> list[Record]:
        return [] if (operation, query) == ("inject", "*") else super().find(operation, query)


@sound("it takes the first page of an inline result for all that was found")
class pages_inline_results(Server):
    def inline_value(self, call: Call) -> Any:
        value, page = super().inline_value(call), call.records[:25]
        more = {"next_cursor": "25"} if len(page) < len(call.records) else {}
        return {**value, "count": len(page), "results": page, **more}


@sound("it takes a filter for a query, or what it leaves out for missing")
class selects_by_fields(Server):
    """Each tool selects memories by their namespace, or what is below it, by type, by tags and by status."""

    selected: Record = EVERYTHING

    def tool(
        self, name: str, about: str, properties: Record, *, required: Sequence[str] = (), output: bool = False
    ) -> Record:
        text = {"type": "string"}
        fields: Record = {"namespace": text, "memory_type": text, "status": text}
        tags = {"tags": {"type": "array", "items": text}}
        return super().tool(name, about, {**properties, **fields, **tags}, required=required, output=output)

    def execute(self, operation: str, arguments: dict[str, Any]) -> Call:
        self.selected = {n: arguments[n] for n in ("namespace", "memory_type", "status", "tags") if n in arguments}
        return super().execute(operation, arguments)

    def find(self, operation: str, query: str) -> list[Record]:
        return [memory for memory in super().find(operation, query) if self.is_selected(memory)]

    def is_selected(self, memory: Record) -> bool:
        wanted = dict(self.selected)
        below, tags = str(memory.get("namespace")), wanted.pop("tags", [])
        return (
            below.startswith(wanted.pop("namespace", ""))
            and all(memory.get(name) == value for name, value in wanted.items())
            and set(tags) <= set(memory.get("tags") or [])
        )
