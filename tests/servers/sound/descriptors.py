"""Descriptors that make use of what is left open."""

from __future__ import annotations

from tests.servers.plain import Call, Server
from tests.servers.sound.catalogue import sound

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.servers.plain import Record


@sound("it expects a range wherever there is a confidence")
class score_range_is_null(Server):
    def score_range(self, call: Call) -> list[float] | None:
        return None


@sound("it expects the key to be there")
class score_range_is_absent(Server):
    def summary(self, call: Call) -> Record:
        return {k: v for k, v in super().summary(call).items() if k != "score_range"}


@sound("it takes the confidence for the score, where the relevance is meant and is not in the file")
class score_range_is_of_a_relevance_that_is_not_written(Server):
    def at_detail(self, memory: Record, detail: str) -> Record:
        return {k: v for k, v in super().at_detail(memory, detail).items() if k != "score"}

    def score_range(self, call: Call) -> list[float] | None:
        return [0.11, 0.97] if call.records else None


@sound("it expects five where five or more occur")
class names_three_namespaces(Server):
    def top_namespaces(self, records: Sequence[Record]) -> list[str]:
        return super().top_namespaces(records)[:3]


@sound("it expects the most frequent namespace first")
class top_namespaces_are_in_alphabetical_order(Server):
    def top_namespaces(self, records: Sequence[Record]) -> list[str]:
        return sorted(super().top_namespaces(records))


@sound("it breaks ties at the fifth place in its own way")
class ties_of_namespaces_fall_the_other_way(Server):
    def top_namespaces(self, records: Sequence[Record]) -> list[str]:
        return super().top_namespaces(records[::-1])


@sound("it expects the star in the header")
class query_is_null_for_everything(Server):
    def header(self, call: Call) -> Record:
        header = super().header(call)
        return {**header, "query": None} if call.query == "*" else header


@sound("it expects the key to be there")
class query_is_absent_for_everything(Server):
    def header(self, call: Call) -> Record:
        header = super().header(call)
        return {k: v for k, v in header.items() if k != "query"} if call.query == "*" else header


@sound("it knows versions of three numbers only")
class schema_version_is_a_date(Server):
    schema_version = "2026-03"


@sound("it expects a dialect to be declared, and draft 2020-12")
class line_schema_is_of_draft_7(Server):
    def line_schema(self, detail: str) -> Record:
        return {**super().line_schema(detail), "$schema": "http://json-schema.org/draft-07/schema#"}


@sound("it looks for properties at the top of the schema")
class line_schema_refers_to_its_definitions(Server):
    def line_schema(self, detail: str) -> Record:
        schema = super().line_schema(detail)
        dialect = schema.pop("$schema")
        return {"$schema": dialect, "$ref": "#/$defs/memory", "$defs": {"memory": schema}}


@sound("it looks for properties at the top of the schema")
class line_schema_is_composed(Server):
    def line_schema(self, detail: str) -> Record:
        core = {"type": "object", "properties": {"id": {}, "title": {"type": "string"}}, "required": ["id", "title"]}
        return {"allOf": [core, super().line_schema(detail)]}


@sound("it expects the guidance to be worded like the template")
class guidance_is_in_other_words(Server):
    def guidance(self, path: str, summary: Record) -> str:
        return (
            f"The {summary['operation']} found {summary['count']} memories, kept in {path}, at {summary['detail']} "
            f"detail; about {summary['estimated_tokens']} tokens of context saved.\n"
            "If a shell is available, the jq recipes may help: "
            "recipe #1 lists titles with scores, #2 and #3 filter, #8 counts by namespace. "
            "The first line of the file is a header with metadata; memories follow from line 2."
        )


@sound("it looks for the bare digits of a count")
class guidance_groups_its_thousands(Server):
    def guidance(self, path: str, summary: Record) -> str:
        text = super().guidance(path, summary)
        return text.replace(f"~{summary['estimated_tokens']} ", f"~{summary['estimated_tokens']:,} ")


@sound("it takes any mention of a shell for an assumption that there is one")
class guidance_tells_what_to_do_without_a_shell(Server):
    def guidance(self, path: str, summary: Record) -> str:
        return f"{super().guidance(path, summary)}\nWithout shell access, the summary alone may be sufficient."


@sound("it takes a bound, and what was not found, for what the descriptor counts")
class guidance_tells_the_threshold_and_all_that_there_is(Server):
    def guidance(self, path: str, summary: Record) -> str:
        why = f"Offloaded as it exceeds the threshold of {self.settings.threshold} tokens"
        found = f"{summary['count']} of {len(self.memories)} memories were found, the best 10 records by recipe #9"
        return f"{why}. {found}.\n{super().guidance(path, summary)}"


@sound("it takes an order to those who have a shell for one to everybody")
class guidance_orders_only_who_can_follow(Server):
    def guidance(self, path: str, summary: Record) -> str:
        more = "If you have a shell, run recipe #1 first; you must have a shell to run recipes."
        return f"{super().guidance(path, summary)}\n{more}"


@sound("it takes a note on the version of jq for an order to run it")
class guidance_notes_the_version_of_jq(Server):
    def guidance(self, path: str, summary: Record) -> str:
        return f"{super().guidance(path, summary)}\nNote: for recipe #3 you must use jq 1.5 or newer."


@sound("it takes what a recipe is good for, and what it needs, for an order")
class guidance_says_what_recipes_need(Server):
    def guidance(self, path: str, summary: Record) -> str:
        more = (
            "To see titles you need to use recipe #1. A shell is required to run the recipes. "
            "Commands must be run with the path in quotes.\n"
            "With shell access:\n- run recipe #8 first\n- run recipe #1 in bash\n"
            "If there is none,\nthe summary may be enough; no other shell is needed."
        )
        return f"{super().guidance(path, summary)}\n{more}"


@sound("it takes the number of a line for a number of records")
class guidance_says_that_line_1_records_the_metadata(Server):
    def guidance(self, path: str, summary: Record) -> str:
        about = f"All that was found is in {path}, at detail level {summary['detail']}."
        return f"{about}\nLine 1 records the metadata, as a header.\n{_counted(summary)} The jq recipes may help."


@sound("it takes what a recipe gives for what the file holds")
class guidance_says_how_many_a_recipe_gives(Server):
    def guidance(self, path: str, summary: Record) -> str:
        first = "Recipe #9 gives the 10 memories with the highest confidence; read 20 records at a time, with a header."
        return f"{first}\nFile: {path}, detail level {summary['detail']}.\n{_counted(summary)}"


def _counted(summary: Record) -> str:
    return f"{summary['count']} memories were offloaded and ~{summary['estimated_tokens']} tokens saved."


@sound("it takes instructions in another language for none", warns=("LRO-GUI-02", "LRO-GUI-03"))
class guidance_is_in_chinese(Server):
    def guidance(self, path: str, summary: Record) -> str:
        return "可以用上面的配方提取所需的数据。"


@sound("it takes three examples for the result")
class line_schema_has_three_examples(Server):
    def descriptor(self, call: Call, path: str) -> Record:
        value = super().descriptor(call, path)
        return {**value, "line_schema": {**value["line_schema"], "examples": call.records[:3]}}


@sound("it takes a preview for the result")
class previews_the_first_records(Server):
    def descriptor(self, call: Call, path: str) -> Record:
        few = max(3, min(10, len(call.records) // 4))
        shown = [{name: r[name] for name in ("id", "title")} for r in call.records[:few]]
        return {**super().descriptor(call, path), "preview": shown}


@sound("it expects two or more where several occur")
class names_one_namespace(Server):
    def top_namespaces(self, records: Sequence[Record]) -> list[str]:
        return super().top_namespaces(records)[:1]


@sound("it takes what it does not fetch for what is not there", proves=0)
class line_schema_refers_to_a_published_one(Server):
    def line_schema(self, detail: str) -> Record:
        schema = super().line_schema(detail)
        schema["properties"]["provenance"] = {"$ref": "https://example.org/mif/1.0/provenance.json"}
        return schema


@sound("it takes what it does not fetch for nothing", proves=0)
class line_schema_is_a_published_one(Server):
    def line_schema(self, detail: str) -> Record:
        return {"$ref": "https://example.org/mif/1.0/memory.json"}


@sound("it compares the count as it is written")
class header_counts_with_a_fraction_of_nothing(Server):
    def header(self, call: Call) -> Record:
        return {**super().header(call), "count": float(len(call.records))}
