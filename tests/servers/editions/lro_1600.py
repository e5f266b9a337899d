"""Servers of the edition lro-1600."""

from __future__ import annotations

from tests.servers.editions.catalogue import fault, sound
from tests.servers.plain import RECIPES, Call, Server, Settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from tests.servers.plain import Record

EDITION = "lro-1600"
OPERATIONS = """\
operations:
  recall: {tool: recall_memories, arguments: {query: "*"}, query: query, limit: limit, detail: detail}
  search: {tool: search_memories, arguments: {query: memory}, query: query, limit: limit, detail: detail}
  inject: {tool: inject_context, arguments: {query: "*"}, query: query, limit: limit, detail: detail}
  list: {tool: list_memories, limit: limit, detail: detail}
"""
UNIVERSAL = (
    ("Titles beside their namespaces", "jq -r '[.title, .namespace] | @tsv'"),
    RECIPES[1],
    RECIPES[2],
    RECIPES[4],
    RECIPES[5],
    (
        "How many a namespace has",
        "jq -s 'group_by(.namespace) | map({namespace: .[0].namespace, count: length})'",
    ),
    ("Memories with a tag", "jq 'select(.tags | index(\"TAG\"))'"),
    ("All, oldest first", "jq -s 'sort_by(.created)'"),
)
ADAPTIVE = {
    "light": (
        ("The namespaces there are", "jq -s 'map(.namespace) | unique'"),
        (
            "How many of each type",
            "jq -s 'group_by(.memory_type) | map({memory_type: .[0].memory_type, count: length})'",
        ),
    ),
    "medium": (("All, by falling confidence", "jq -s 'sort_by(-.confidence)'"), RECIPES[9]),
    "full": (RECIPES[3], RECIPES[9]),
}


@sound(EDITION, profile=OPERATIONS)
class plain_1600(Server):
    """The plain server as this edition has it."""

    def read_settings(self, env: Mapping[str, str]) -> Settings:
        return super().read_settings({"ATLATL_PROMPT__OFFLOAD__THRESHOLD_TOKENS": "1600", **env})

    def tools(self) -> list[Record]:
        tools = super().tools()
        takes: Record = {"limit": {"type": "integer"}, "detail": {"enum": ["light", "medium", "full"]}}
        return [*tools, self.tool("list_memories", "List memories", takes, output=True)]

    def call_tool(self, name: str, arguments: dict[str, Any]) -> Record:
        if name == "list_memories":
            return self.offer("list", arguments)
        return super().call_tool(name, arguments)

    def at_detail(self, memory: Record, detail: str) -> Record:
        """At medium the confidence is a field of the record itself; light has none."""
        record = super().at_detail(memory, detail)
        if detail != "full" and "provenance" in record:
            provenance: Record = record.pop("provenance")
            if detail == "medium":
                record["confidence"] = provenance["confidence"]
        return record

    def confidence(self, record: Record) -> float | None:
        return record.get("confidence") or super().confidence(record)

    def descriptor(self, call: Call, path: str) -> Record:
        recipes = [
            {"description": about, "command": self.recipe(path, program)}
            for about, program in self.programs_at(call.detail)
        ]
        return {**super().descriptor(call, path), "jq_recipes": recipes}

    def programs_at(self, detail: str) -> Sequence[tuple[str, str]]:
        return (*UNIVERSAL, *ADAPTIVE[detail])

    def guidance(self, path: str, summary: Record) -> str:
        said = super().guidance(path, summary).replace("(titles with scores)", "(titles with namespaces)")
        return said.replace("recipe #8", "recipe #6")

    def line_schema(self, detail: str) -> Record:
        schema = super().line_schema(detail)
        schema["properties"]["confidence"] = {"type": ["number", "null"]}
        return schema


@sound(EDITION, profile=OPERATIONS, warns=("LRO-GUI-05",))
class cites_the_template_to_the_letter(plain_1600):
    """The guidance says that recipe #8 counts by namespace, as the text's template does."""

    def guidance(self, path: str, summary: Record) -> str:
        return super().guidance(path, summary).replace("recipe #6", "recipe #8")


@sound(EDITION, profile=OPERATIONS)
class offers_native_extraction(plain_1600):
    """The guidance leads to lro_extract, without a word on the header line."""

    def tools(self) -> list[Record]:
        return [*super().tools(), self.tool("lro_extract", "Read a file", {"file_path": {"type": "string"}})]

    def guidance(self, path: str, summary: Record) -> str:
        return (
            f"Results offloaded ({summary['count']} memories, ~{summary['estimated_tokens']} tokens saved).\n"
            f"Detail level: {summary['detail']}\nUse the `lro_extract` tool to query this result set, for instance "
            f'lro_extract(file_path="{path}", recipe=1).'
        )


@sound(EDITION, profile=OPERATIONS)
class pages_what_stays_inline(plain_1600):
    """Small results come with a cursor, offloaded ones do not."""

    def inline_value(self, call: Call) -> Any:
        return {**super().inline_value(call), "next_cursor": "c2Vjb25k"}

    def offloaded(self, call: Call, path: str) -> Record:
        result = super().offloaded(call, path)
        return {**result, "_meta": {"next_cursor": None}}


@sound(EDITION)
class has_no_listing(plain_1600):
    """There is no tool that lists memories."""

    def tools(self) -> list[Record]:
        return super().tools()[:-1]


@fault(EDITION, "LRO-THR-01", says="threshold 1600", proves=0, also=("LRO-CFG-06",), profile=OPERATIONS)
class keeps_the_older_default(plain_1600):
    """The default threshold is that of the first text."""

    def read_settings(self, env: Mapping[str, str]) -> Settings:
        return Server.read_settings(self, env)


@fault(EDITION, "LRO-SCOPE-08", says="list", proves=0, profile=OPERATIONS)
class listing_is_never_offloaded(plain_1600):
    """A listing comes inline, however large."""

    def offer(self, operation: str, arguments: dict[str, Any]) -> Record:
        if operation == "list":
            return self.inline(self.execute(operation, arguments))
        return super().offer(operation, arguments)


@fault(EDITION, "LRO-DESC-13", says="next_cursor", proves=0, profile=OPERATIONS)
class gives_a_cursor_with_a_descriptor(plain_1600):
    """The descriptor says where the next page begins."""

    def descriptor(self, call: Call, path: str) -> Record:
        return {**super().descriptor(call, path), "next_cursor": "c2Vjb25k"}


@fault(EDITION, "LRO-DESC-13", says="nextCursor", proves=0, profile=OPERATIONS)
class gives_a_cursor_in_the_result(plain_1600):
    """The result that contains the descriptor has a cursor."""

    def offloaded(self, call: Call, path: str) -> Record:
        return {**super().offloaded(call, path), "nextCursor": "c2Vjb25k"}


@fault(EDITION, "LRO-REC-13", says="exactly 10", proves=1, profile=OPERATIONS)
class lists_an_eleventh_recipe(plain_1600):
    """One additional recipe besides the ten."""

    def programs_at(self, detail: str) -> Sequence[tuple[str, str]]:
        return (*super().programs_at(detail), ("Ids alone", "jq -r .id"))


@fault(EDITION, "LRO-REC-14", says="| _episodic/incidents", proves=1, profile=OPERATIONS)
class lists_titles_alone(plain_1600):
    """The first recipe gives no namespace."""

    def programs_at(self, detail: str) -> Sequence[tuple[str, str]]:
        return (("Titles", "jq -r .title"), *super().programs_at(detail)[1:])


@fault(EDITION, "LRO-REC-15", says="looking for", proves=1, profile=OPERATIONS)
class finds_tags_in_titles(plain_1600):
    """The recipe for tags looks into the title."""

    def programs_at(self, detail: str) -> Sequence[tuple[str, str]]:
        programs = list(super().programs_at(detail))
        programs[6] = ("Memories with a tag", "jq 'select(.title | index(\"TAG\"))'")
        return programs


@fault(EDITION, "LRO-REC-16", says="created", proves=1, profile=OPERATIONS)
class sorts_by_title(plain_1600):
    """The recipe for dates sorts by another field."""

    def programs_at(self, detail: str) -> Sequence[tuple[str, str]]:
        programs = list(super().programs_at(detail))
        programs[7] = ("All, oldest first", "jq -s 'sort_by(.title)'")
        return programs


@fault(EDITION, "LRO-REC-17", says="7 values", proves=1, profile=OPERATIONS)
class repeats_namespaces(plain_1600):
    """The recipe for namespaces gives one for each record."""

    def programs_at(self, detail: str) -> Sequence[tuple[str, str]]:
        programs = list(super().programs_at(detail))
        if detail == "light":
            programs[8] = ("The namespaces there are", "jq -s 'map(.namespace) | sort'")
        return programs


@fault(EDITION, "LRO-REC-18", says="memory_type", proves=1, profile=OPERATIONS)
class counts_tags_for_types(plain_1600):
    """The recipe for types counts something else."""

    def programs_at(self, detail: str) -> Sequence[tuple[str, str]]:
        programs = list(super().programs_at(detail))
        if detail == "light":
            programs[9] = ("How many of each type", "jq -s 'map(.tags | length)'")
        return programs


@fault(
    EDITION,
    "LRO-REC-04",
    says="200 of 200 records in descending order of confidence: 1",
    proves=1,
    also=("LRO-REC-19",),
    profile=OPERATIONS,
)
class sorts_medium_by_the_field_of_full(plain_1600):
    """At medium, confidence is looked for where only full records have it."""

    def programs_at(self, detail: str) -> Sequence[tuple[str, str]]:
        programs = list(super().programs_at(detail))
        if detail == "medium":
            programs[8] = ("All, by falling confidence", "jq -s 'sort_by(-(.provenance.confidence // 0))'")
        return programs


@fault(EDITION, "LRO-REC-19", says=".modified", proves=1, profile=OPERATIONS)
class sorts_light_by_what_only_full_has(plain_1600):
    """A recipe that is right at every level names a field besides that light records lack."""

    def programs_at(self, detail: str) -> Sequence[tuple[str, str]]:
        programs = list(super().programs_at(detail))
        programs[7] = ("All, oldest first", "jq -s 'sort_by(.created, .modified)'")
        return programs


@fault(EDITION, "LRO-REC-20", says=".score", proves=1, profile=OPERATIONS)
class sorts_by_score_where_there_is_one(plain_1600):
    """A recipe falls back on the score."""

    def programs_at(self, detail: str) -> Sequence[tuple[str, str]]:
        programs = list(super().programs_at(detail))
        programs[7] = ("All, oldest first", "jq -s 'sort_by(.created // .score)'")
        return programs


@fault(EDITION, "LRO-GUI-06", says="lro_extract", proves=0, profile=OPERATIONS)
class guides_to_the_shell_past_its_tool(plain_1600):
    """The server lists lro_extract, and its guidance knows jq alone."""

    def tools(self) -> list[Record]:
        return [*super().tools(), self.tool("lro_extract", "Read a file", {"file_path": {"type": "string"}})]
