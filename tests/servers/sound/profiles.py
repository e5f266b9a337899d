"""Servers that a profile says little or odd things of: its words find nothing, its arguments are not all there."""

from __future__ import annotations

import os
import time

from tests.servers.fastjson import loads
from tests.servers.limitless import NO_LIMIT, Limitless
from tests.servers.plain import BadArguments, Server
from tests.servers.sound.catalogue import sound
from tests.servers.worded import Markdown, Prose

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from tests.servers.plain import Call, Record

ODD_WORDS = """\
operations:
  recall: {tool: recall_memories, arguments: {query: zephyrine}, query: query, limit: limit, detail: detail}
  search: {tool: search_memories, arguments: {query: zephyrine}, query: query, limit: limit, detail: detail}
  inject: {tool: inject_context, arguments: {query: zephyrine}, query: query, limit: limit, detail: detail}
"""


@sound("it asks for the word of the profile only, which finds nothing", profile=f"{ODD_WORDS}seed: null\n")
class finds_nothing_by_the_words_of_its_profile(Server):
    pass


@sound("it stores memories that the word of the profile does not find", profile=ODD_WORDS)
class is_empty_and_asked_for_odd_words(Server):
    def corpus(self) -> list[Record]:
        return []


@sound("it takes a star for everything, which this server looks for as it stands")
class looks_for_a_star(Server):
    def score(self, memory: Record, query: str) -> float:
        return 0.0 if query == "*" else super().score(memory, query)


BY_COMMAND = """\
seed: {command: [sh, -c, 'cp "$0" "$1"', "{seed_file}", "{workdir}/memories.jsonl"]}
server:
  command: [{command}]
  env: {MEMORIES: "{workdir}/memories.jsonl"}
"""


@sound("it knows memories that it has stored itself only", profile=BY_COMMAND)
class is_seeded_by_a_command(Server):
    def corpus(self) -> list[Record]:
        with open(os.environ["MEMORIES"], encoding="utf-8") as file:
            return [self.completed(loads(line)) for line in file if line.strip()]

    def tools(self) -> list[Record]:
        return [tool for tool in super().tools() if tool["name"] != "store_memory"]


class Few(Server):
    """Performs some of the operations."""

    has: tuple[str, ...] = ()

    def tools(self) -> list[Record]:
        return [tool for tool in super().tools() if tool["name"] in (*self.has, "store_memory", "run_custodial_task")]


@sound(
    "it needs a second operation to see that one threshold is for all",
    profile='operations: {recall: {tool: recall_memories, arguments: {query: "*"}, query: query, limit: limit}}\n',
)
class can_only_recall(Few):
    has = ("recall_memories",)


@sound(
    "it needs recall to know what the server holds",
    profile="operations: {search: {tool: search_memories, arguments: {query: memory}, query: query, limit: limit}}\n",
)
class can_only_search(Few):
    has = ("search_memories",)


@sound(
    "it takes any tool that lists something for one that recalls memories",
    profile="operations: {search: {tool: search_memories, arguments: {query: memory}, query: query, limit: limit}}\n",
)
class lists_its_namespaces_inline(Server):
    def tools(self) -> list[Record]:
        kept = [tool for tool in super().tools() if tool["name"] not in ("recall_memories", "inject_context")]
        return [*kept, self.tool("list_namespaces", "Namespaces in use", {})]

    def call_tool(self, name: str, arguments: dict[str, Any]) -> Record:
        if name != "list_namespaces":
            return super().call_tool(name, arguments)
        names = sorted({memory["namespace"] for memory in self.memories})
        return {"content": [{"type": "text", "text": self.dumps([{"name": one} for one in names])}]}


@sound(
    "it needs an operation with records to see what a text is made of",
    profile='operations: {inject: {tool: inject_context, arguments: {query: "*"}, query: query, limit: limit}}\n',
)
class can_only_inject(Few):
    has = ("inject_context",)


@sound("it reads JSON only")
class inline_is_markdown(Markdown):
    pass


@sound("it takes another memory without a title for the one that it compares")
class inline_is_markdown_in_the_order_of_titles(Markdown):
    """So every result begins with those that have none."""

    def find(self, operation: str, query: str) -> list[Record]:
        return sorted(super().find(operation, query), key=lambda memory: memory["title"])


@sound("it takes a list in the text, the value of a field, for the records")
class inline_is_markdown_with_values_as_json(Markdown):
    def worded(self, record: Record) -> str:
        title, text = super().worded(record).split("\n", 1)
        return f"{title}\n\n- **entities**: {self.dumps(record.get('entities', []))}{text}"


@sound("it reads JSON only")
class inline_is_prose(Prose):
    pass


@sound("it takes a title in a list of related memories for a memory that the file lacks")
class markdown_mentions_memories_elsewhere(Markdown):
    def worded(self, record: Record) -> str:
        others = [memory["title"] for memory in self.memories[:3]]
        return super().worded(record) + "\n\nRelated: " + "; ".join(others)


@sound("it cannot give it memories by a tool", profile="seed: {env: SEED_FILE}\n")
class inline_is_markdown_of_a_seed_file(Markdown):
    def corpus(self) -> list[Record]:
        with open(os.environ["SEED_FILE"], encoding="utf-8") as file:
            return [self.completed(loads(line)) for line in file if line.strip()]

    def tools(self) -> list[Record]:
        return [tool for tool in super().tools() if tool["name"] != "store_memory"]


@sound("it needs a limit to make results of different size", profile=NO_LIMIT)
class takes_no_limit_and_is_empty(Limitless):
    def corpus(self) -> list[Record]:
        return []


@sound("it narrows results by words of titles, which are all alike", profile=NO_LIMIT)
class takes_no_limit_and_titles_are_alike(Limitless):
    def corpus(self) -> list[Record]:
        return [{**memory, "title": "A memory"} for memory in super().corpus()]


@sound(
    "it narrows results by words of titles, though the server has no memories to give",
    profile=f"{NO_LIMIT}seed: null\n",
)
class takes_no_limit_and_stores_nothing(Limitless):
    pass


NO_QUERY = """\
operations:
  recall: {tool: recall_memories}
"""


@sound("it needs a limit or a query to make results of different size", profile=NO_QUERY)
class takes_neither_limit_nor_query(Limitless):
    without = ("limit", "query", "detail")

    def corpus(self) -> list[Record]:
        return []

    def tools(self) -> list[Record]:
        unwanted = ("search_memories", "inject_context")
        return [tool for tool in super().tools() if tool["name"] not in unwanted]


@sound("it takes what an earlier process has left in the folder for what its calls have written")
class finds_remains_in_its_folder(Server):
    def started(self) -> None:
        folder = self.output_dir()
        if os.path.isdir(folder) and os.environ.get("ATLATL_PROMPT__OFFLOAD__OUTPUT_DIR"):
            for name in (f"atlatl-recall-{self.ulid()}.jsonl", ".lock", "atlatl-recall-part.tmp"):
                path = os.path.join(folder, name)
                if not os.path.exists(path):
                    with open(path, "w", encoding="utf-8") as file:
                        file.write('{"type": "lro_header"}\n')


@sound("it takes the last member of a list for a record")
class warns_in_the_last_of_the_list(Server):
    def truncated(self, call: Call, warning: str) -> Record:
        if call.operation == "inject":
            return super().truncated(call, warning)
        value = self.inline_value(call)
        return self.structured({**value, "results": [*value["results"], {"warning": warning}]})


@sound("it takes a list whose last member is a sentence for none of records")
class warns_by_a_sentence_at_the_end_of_the_list(Server):
    def truncated(self, call: Call, warning: str) -> Record:
        if call.operation == "inject":
            return super().truncated(call, warning)
        value = self.inline_value(call)
        return self.structured({**value, "results": [*value["results"], f"Warning: {warning}"]})


SPARSE = """\
operations:
  recall: {tool: recall_memories}
  search: {tool: search_memories, arguments: {query: memory}}
  inject: {tool: inject_context, query: query}
"""


@sound("it sends only the arguments that the profile names", profile=SPARSE)
class requires_arguments_that_its_profile_does_not_name(Server):
    def tools(self) -> list[Record]:
        tools = super().tools()
        for tool in tools[:3]:
            schema = tool["inputSchema"]
            schema["properties"] |= {
                "kind": {"const": "memories"},
                "store": {"type": "string", "enum": ["team", "mine"]},
                "version": {"oneOf": [{"const": 2, "title": "the second"}]},
            }
            schema["required"] = ["query", "kind", "store", "version"]
        return tools

    def call_tool(self, name: str, arguments: dict[str, Any]) -> Record:
        if name in ("recall_memories", "search_memories", "inject_context"):
            known = {"kind": ("memories",), "store": ("team", "mine"), "version": (2,)}
            for argument, values in known.items():
                if arguments.pop(argument, None) not in values:
                    raise BadArguments(f"{argument} must be one of {values}")
            if not isinstance(arguments.get("query"), str):
                raise BadArguments("query is required")
        return super().call_tool(name, arguments)


ONE_TOOL = """\
operations:
  recall: {tool: find_bookmarks}
seed: null
cleanup: {restart: true}
"""


@sound("it knows the operation by the tool's name only, and a star that this server looks for", profile=ONE_TOOL)
class has_one_tool_of_another_name(looks_for_a_star):
    def tools(self) -> list[Record]:
        return [{**super().tools()[0], "name": "find_bookmarks"}]

    def call_tool(self, name: str, arguments: dict[str, Any]) -> Record:
        return self.offer("recall", arguments)

    def started(self) -> None:
        if os.path.isdir(self.output_dir()):
            self.cleanup(time.time())


NO_SEARCH = """\
operations:
  recall: {tool: recall_memories, arguments: {query: "*"}, query: query, limit: limit, detail: detail}
  search: null
  inject: {tool: inject_context, arguments: {query: "*"}, query: query, limit: limit, detail: detail}
"""


@sound("it takes any tool that searches for one that searches memories", profile=NO_SEARCH)
class searches_something_else(Few):
    has = ("recall_memories", "inject_context")

    def tools(self) -> list[Record]:
        return [*super().tools(), self.tool("search_web", "Search the web", {"query": {"type": "string"}})]

    def call_tool(self, name: str, arguments: dict[str, Any]) -> Record:
        return self.text("Nothing.") if name == "search_web" else super().call_tool(name, arguments)
