"""Other collections of memories, and memories that do not keep still."""

from __future__ import annotations

import os
import time
from zlib import crc32

from tests.servers.flagged import BRIEF, FLAGGED, VIEW, Brief, Flagged, Viewed
from tests.servers.notes import NOTES, Notes
from tests.servers.plain import BadArguments, Call, Server
from tests.servers.replacing import Replacing
from tests.servers.schemaless import Schemaless, Tickets
from tests.servers.sound.catalogue import sound

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from tests.servers.plain import Record


@sound("it expects a tool that stores memories, or more than a dozen of them", profile="seed: null\n")
class has_twelve_large_memories(Server):
    def corpus(self) -> list[Record]:
        return [{**memory, "title": f"{memory['title']} {'and more ' * 300}"} for memory in super().corpus()[:12]]


@sound("it compares with inline results what only files have, such as one type for all")
class has_types_and_namespaces_in_files_only(Server):
    added: Record = {"memory_type": "recipe", "namespace": "cookbook"}  # noqa: RUF012

    def at_detail(self, memory: Record, detail: str) -> Record:
        record = super().at_detail(memory, detail)
        return {name: value for name, value in record.items() if name not in self.added}

    def record_line(self, record: Record) -> str:
        return super().record_line({**record, **self.added})

    def top_namespaces(self, records: Sequence[Record]) -> list[str]:
        return super().top_namespaces([self.added for _ in records])

    def inject_text(self, call: Call, budget: int) -> str:
        bare = call.records
        call.records = [{**record, **self.added} for record in bare]
        text = super().inject_text(call, budget)
        call.records = bare
        return text


@sound("it takes the file of an answer to anything but its own calls for one that nobody named")
class answers_a_store_with_what_it_holds(Server):
    def corpus(self) -> list[Record]:
        return super().corpus()[:3]

    def call_tool(self, name: str, arguments: dict[str, Any]) -> Record:
        answer = super().call_tool(name, arguments)
        return self.offer("recall", {"query": "*"}) if name == "store_memory" else answer


@sound("it sends the names of levels to a boolean argument", profile=FLAGGED)
class takes_full_as_true(Flagged):
    pass


@sound("it takes true for full detail whatever the argument is called", profile=BRIEF)
class takes_brief_as_true(Brief):
    pass


@sound("it knows a level of detail by the name of the specification only", profile=VIEW)
class has_views_of_other_names(Viewed):
    pass


OWN_IDS = """\
seed: {tool: store_memory, arguments: {memory: {title: "$memory.title", content: "$memory.content"}}}
"""


@sound("it compares results of two processes in which the time of storing decides what a limit keeps", profile=OWN_IDS)
class orders_its_memories_by_the_moment_of_storing(Server):
    """The newest first, and those of one millisecond as they came; it gives each an id of its own."""

    def corpus(self) -> list[Record]:
        return []

    def completed(self, memory: Record) -> Record:
        given = {key: value for key, value in memory.items() if key not in ("id", "created", "modified")}
        return {**super().completed(given), "provenance": {"confidence": 0.5}}

    def find(self, operation: str, query: str) -> list[Record]:
        found = super().find(operation, query)
        return sorted(found, key=lambda memory: memory["created"], reverse=True)

    def limited(self, found: list[Record], limit: int | None) -> list[Record]:
        return found[: 20 if limit is None else limit]


@sound("it thinks that processes order their memories alike, since two of them happen to", profile=OWN_IDS)
class orders_its_memories_by_the_second(orders_its_memories_by_the_moment_of_storing):
    """Which are the newest depends on when a second has ended."""

    def completed(self, memory: Record) -> Record:
        made = super().completed(memory)
        return {**made, "created": f"{made['created'][:19]}Z"}


@sound("it expects in the text of inject a memory that another process has found", profile=OWN_IDS)
class orders_its_memories_differently_in_each_process(orders_its_memories_by_the_moment_of_storing):
    """Those that a limit keeps are others in each process."""

    def find(self, operation: str, query: str) -> list[Record]:
        found = super().find(operation, query)
        first = crc32(str(os.getpid()).encode()) % max(1, len(found))
        return [*found[first:], *found[:first]]


@sound(
    "it tells records of two processes apart by ids and titles alone, and so takes any order for one", profile=OWN_IDS
)
class orders_its_tickets_by_the_moment_of_storing(Tickets, orders_its_memories_by_the_moment_of_storing):
    """Likewise, with names of its own."""


ALL_FIELDS = "seed: {tool: store_memory, arguments: {memory: $memory}}\n"


@sound("it compares scores of two processes that hold different numbers of memories", profile=ALL_FIELDS)
class scores_tell_how_rare_a_word_is(Server):
    """Every operation finds memories with scores, in which the number of all memories takes part."""

    def corpus(self) -> list[Record]:
        return []

    def score(self, memory: Record, query: str) -> float:
        return round(super().score(memory, query) * (1 - 10 / (10 + len(self.memories))), 4)

    def find(self, operation: str, query: str) -> list[Record]:
        return super().find("search", query)


ON_DISK = """\
server:
  command: [{command}]
  env: {MEMORIES: "{workdir}/memories.jsonl"}
"""


class OnDisk(Server):
    """The newest first; they are numbered."""

    @property
    def memories(self) -> list[Record]:
        if not os.path.exists(os.environ["MEMORIES"]):
            return []
        with open(os.environ["MEMORIES"], "rb") as file:
            return [self.loads(line) for line in file][::-1]

    def store(self, memory: Record) -> Any:
        stored = self.completed({**memory, "id": f"note-{len(self.memories) + 1:04}"})
        with open(os.environ["MEMORIES"], "a", encoding="utf-8") as file:
            file.write(self.dumps(stored) + "\n")
        return stored["id"]


NUMBERED = f"""\
{ON_DISK}\
operations:
  recall: {{tool: recall_memories, arguments: {{query: "*"}}, query: query, limit: limit}}
  search: {{tool: search_memories, arguments: {{query: memory}}, query: query, limit: limit}}
"""


@sound("it takes numbers for ids that two processes share, and fills a store again that has kept all", profile=NUMBERED)
class numbers_its_memories_and_shows_titles_only(OnDisk):
    """Its tools have no detail level, and records are light."""

    def tools(self) -> list[Record]:
        made = super().tools()[:2] + super().tools()[3:]
        for tool in made:
            tool["inputSchema"]["properties"].pop("detail", None)
        return made


@sound("it takes numbers for ids that processes with different memories share", profile=NUMBERED)
class numbers_its_memories_under_names_of_its_own(Schemaless, numbers_its_memories_and_shows_titles_only):
    """Inline results have headings, and the numbers; what is in a file is called as in MIF."""

    def inline_value(self, call: Call) -> Any:
        value = super().inline_value(call)
        return {**value, "results": [{"id": r["id"], "heading": r["title"]} for r in value["results"]]}


@sound(
    "it takes numbers for ids that processes with different notes share, and a word in a file for another value",
    profile=NOTES,
)
class numbers_its_notes(Notes):
    """It takes texts and tags, and finds a title itself; that all are notes is in a file only."""


@sound("it compares ids of two processes as soon as some are the same in both", profile=NOTES)
class gives_new_notes_ids_at_random(Notes):
    """Beside the notes that each process has, whose ids stay."""

    def new_id(self) -> str:
        return f"note-{self.ulid()}"


@sound(
    "it knows what it stored by its titles, and stores all a second time in a store that has kept it",
    profile=NOTES + ON_DISK,
)
class keeps_notes_on_disk(Notes, OnDisk):
    """It takes texts and tags."""


@sound("it takes an answer that repeats its query for one that has found what was stored in another process")
class repeats_every_query(Server):
    """In its guidance, and in an inline result, which is a text."""

    def descriptor(self, call: Call, path: str) -> Record:
        made = super().descriptor(call, path)
        return {**made, "guidance": f"{made['guidance']} The memories were found for {call.query}."}

    def inline(self, call: Call) -> Record:
        parts = (f"## {r['title']}\n{self.dumps(r)}\n" for r in call.records)
        return self.text(f"{len(call.records)} memories were found for {call.query}\n\n{''.join(parts)}")


@sound("it gives up on answers of a megabyte")
class has_three_thousand_memories(Server):
    def corpus(self) -> list[Record]:
        few = super().corpus()
        return [
            {**memory, "id": f"{memory['id']}-{batch}", "title": f"{memory['title']} ({batch})"}
            for batch in range(15)
            for memory in few
        ]


@sound("it takes a descriptor that a memory quotes for the result's own")
class has_a_memory_of_an_earlier_descriptor(Server):
    def corpus(self) -> list[Record]:
        first, *others = super().corpus()
        path = "/tmp/atlatl-recall-01JD0000000000000000000000.jsonl"
        quoted = {"offloaded": True, "summary": {"count": 9}, "file_path": path, "jq_recipes": []}
        return [{**first, "content": self.dumps(quoted)}, {**first, "id": 0, "content": f"See {path}"}, *others]


@sound("it takes JSON Lines with a memory's file for a descriptor")
class memories_tell_their_file(Server):
    def corpus(self) -> list[Record]:
        return [{**memory, "file_path": "src/main.py"} for memory in super().corpus()]

    def at_detail(self, memory: Record, detail: str) -> Record:
        return {**super().at_detail(memory, detail), "file_path": memory.get("file_path")}

    def structured(self, value: Any) -> Record:
        if "results" not in value or "warning" in value:
            return super().structured(value)
        return self.text("\n".join(map(self.dumps, value["results"])))

    def tool(self, *args: Any, **others: Any) -> Record:
        made = super().tool(*args, **others)
        return {k: v for k, v in made.items() if k != "outputSchema"}


@sound("it takes a short path that a memory has for one of a file that could not be written")
class extensions_have_the_names_of_a_descriptor(Server):
    def corpus(self) -> list[Record]:
        own = {"type": "lro_header", "offloaded": True, "file_path": "/x", "": 1, "a.b": [], "$ref": "#"}
        return [{**memory, "extensions": own} for memory in super().corpus()]


@sound("it takes an empty namespace for none")
class a_third_has_an_empty_namespace(Server):
    def corpus(self) -> list[Record]:
        return [{**memory, "namespace": memory["namespace"] * (n % 3 > 0)} for n, memory in enumerate(super().corpus())]


@sound("it expects several namespaces, one of them `_semantic`")
class has_one_namespace(Server):
    def corpus(self) -> list[Record]:
        return [{**memory, "namespace": "notes", "memory_type": "note"} for memory in super().corpus()]


@sound("it compares counts of namespaces in the order it would have chosen for ties")
class has_ten_equally_frequent_namespaces(Server):
    def corpus(self) -> list[Record]:
        return [{**memory, "namespace": f"_semantic/n{n % 10}"} for n, memory in enumerate(super().corpus())]


@sound("it expects ids to be strings")
class ids_are_integers(Server):
    def corpus(self) -> list[Record]:
        return [{**memory, "id": 1000 + n} for n, memory in enumerate(super().corpus())]


@sound("it expects UUIDs or ULIDs")
class ids_are_short_words(Server):
    def corpus(self) -> list[Record]:
        return [{**memory, "id": f"mem:{n}"} for n, memory in enumerate(super().corpus())]


@sound("it expects every memory to have provenance", warns=("LRO-REC-01", "LRO-REC-04", "LRO-REC-09"))
class every_second_memory_has_no_provenance(Server):
    def corpus(self) -> list[Record]:
        memories = super().corpus()
        for memory in memories[::2]:
            del memory["provenance"]
        return memories


@sound("it breaks ties of a sort by place")
class all_are_equally_certain(Server):
    def corpus(self) -> list[Record]:
        return [{**memory, "provenance": {"confidence": 0.8}} for memory in super().corpus()]


@sound("it splits lines wherever Unicode would")
class contents_are_full_of_separators(Server):
    def corpus(self) -> list[Record]:
        odd = "\u2028\u2029\x85\x0b\x0c\x1c\x1d\x1e\x7f\ufeff\u200b"
        return [{**memory, "title": f"{memory['title']}{odd}|", "tags": [odd]} for memory in super().corpus()]


@sound("it loses digits, or objects to depth")
class extensions_are_deep_and_exact(Server):
    def corpus(self) -> list[Record]:
        deep: Any = {"e": 2.718281828459045, "tiny": 5e-324, "huge": 1.7976931348623157e308, "int": 9007199254740991}
        for _ in range(60):
            deep = {"a": [deep]}
        return [{**memory, "extensions": deep} for memory in super().corpus()]


@sound("it takes what the server gives a memory itself for a value that was stored")
class is_as_certain_as_it_likes(Server):
    def completed(self, memory: Record) -> Record:
        return {**super().completed(memory), "provenance": {"confidence": os.urandom(1)[0] / 256}}


@sound("it compares the times at which two processes were given a memory")
class says_to_the_minute_when_it_was_given_a_memory(Server):
    def corpus(self) -> list[Record]:
        return []

    def completed(self, memory: Record) -> Record:
        now = time.strftime("%Y-%m-%dT%H:%M:00%z").replace("+0000", "Z")
        return {**super().completed(memory), "created": now, "modified": now}


# Memories that change while they are looked at


@sound("it compares the records of two identical calls field by field")
class counts_accesses(Server):
    def find(self, operation: str, query: str) -> list[Record]:
        found = super().find(operation, query)
        return [{**memory, "access_count": self.calls} for memory in found]

    def at_detail(self, memory: Record, detail: str) -> Record:
        return {**super().at_detail(memory, detail), "access_count": memory["access_count"]}


@sound("it looks for what differs between identical calls in short records only")
class counts_accesses_in_whole_records(Server):
    def at_detail(self, memory: Record, detail: str) -> Record:
        record = super().at_detail(memory, detail)
        return {**record, "temporal": {"access_count": self.calls}} if detail == "full" else record


@sound("it looks for what changes by itself within one second only, and the clock may turn between two calls")
class notes_accesses_in_whole_records(Server):
    def __init__(self) -> None:
        super().__init__()
        self.accesses: dict[Any, tuple[int, float]] = {}

    def execute(self, operation: str, arguments: dict[str, Any]) -> Call:
        call = super().execute(operation, arguments)
        now = time.time()
        for memory in call.found:
            count, _ = self.accesses.get(memory["id"], (0, now))
            self.accesses[memory["id"]] = count + 1, now
        return call

    def at_detail(self, memory: Record, detail: str) -> Record:
        record = super().at_detail(memory, detail)
        if detail != "full":
            return record
        count, last = self.accesses.get(memory["id"], (0, 0.0))
        accessed = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(last)) if count else None
        return {**record, "temporal": {"access_count": count, "last_accessed": accessed}}


@sound("it compares two results field by field, though a minute may have passed between them")
class rates_memories_by_their_age(Server):
    def at_detail(self, memory: Record, detail: str) -> Record:
        record = super().at_detail(memory, detail)
        # a new value every three seconds: now and then between a file and the same call inline
        return {**record, "temporal": {"strength": int(time.time() / 3)}} if detail == "full" else record


@sound("it compares the records of two identical calls field by field")
class notes_the_time_of_access(Server):
    def at_detail(self, memory: Record, detail: str) -> Record:
        return {**super().at_detail(memory, detail), "last_accessed": self.timestamp(time.time())}


@sound("it expects the estimate of two identical calls to be the same to the token")
class estimate_drifts_with_access_logs(Server):
    def at_detail(self, memory: Record, detail: str) -> Record:
        return {**super().at_detail(memory, detail), "x_seen": "." * (self.calls % 4)}


@sound("it compares records by their place")
class ties_come_in_any_order(Server):
    def find(self, operation: str, query: str) -> list[Record]:
        found = super().find(operation, query)
        keys = {id(memory): os.urandom(4) for memory in found}
        if operation == "search":
            return sorted(found, key=lambda memory: (-memory["score"], keys[id(memory)]))
        return sorted(found, key=lambda memory: (-(self.confidence(memory) or 0), keys[id(memory)]))


@sound("it expects a limit to be obeyed beyond fifty")
class limits_are_capped_at_fifty(Server):
    def corpus(self) -> list[Record]:
        # fifty light records of usual size stay below the default threshold; with these they do not
        return [{**memory, "title": f"{memory['title']}: {'very ' * 80}"} for memory in super().corpus()]

    def limited(self, found: list[Record], limit: int | None) -> list[Record]:
        return found[: min(50, 50 if limit is None else limit)]


@sound("it asks for four thousand records, and learns nothing from an error that names the limit")
class refuses_a_limit_above_five_hundred(Server):
    most = 500
    told = "limit: expected 1 to 500"

    def limited(self, found: list[Record], limit: int | None) -> list[Record]:
        if limit is not None and limit > self.most:
            raise BadArguments(self.told)
        return super().limited(found, limit)


@sound("it needs an error that says which limit is taken")
class refuses_four_thousand_records_without_a_reason(refuses_a_limit_above_five_hundred):
    told = "too many"


@sound("the usual limit is one that it refuses, and says so in an error only")
class refuses_a_limit_above_a_hundred(refuses_a_limit_above_five_hundred):
    most = 100
    told = "limit 200: expected 1 to 100"


@sound("it expects everything where no limit is given")
class limit_defaults_to_a_hundred(Server):
    def limited(self, found: list[Record], limit: int | None) -> list[Record]:
        return found[: 100 if limit is None else limit]


NO_LIMIT = """\
operations:
  recall: {tool: recall_memories, arguments: {query: "*"}, query: query, detail: detail}
  search: {tool: search_memories, arguments: {query: memory}, query: query, detail: detail}
  inject: {tool: inject_context, arguments: {query: "*"}, query: query, detail: detail}
"""


@sound("it needs a limit to make results of different size", profile=NO_LIMIT)
class has_no_limit_argument(Server):
    def tools(self) -> list[Record]:
        tools = super().tools()
        for tool in tools:
            tool["inputSchema"]["properties"].pop("limit", None)
        return tools

    def limited(self, found: list[Record], limit: int | None) -> list[Record]:
        return found


@sound("it expects a memory that is stored again to be there twice")
class replaces_a_memory_of_the_same_id(Replacing):
    pass


@sound("it expects a memory that is stored again to have its new values")
class keeps_the_first_memory_of_an_id(Server):
    """It says so by the id alone, as if it had been stored."""

    def store(self, memory: Record) -> Any:
        known = any(m["id"] == memory.get("id") for m in self.memories)
        return memory["id"] if known else super().store(memory)


@sound("it takes the refusal of a memory that is stored again for a server that takes none")
class refuses_a_memory_of_the_same_id(Server):
    def store(self, memory: Record) -> Any:
        if any(m["id"] == memory.get("id") for m in self.memories):
            raise BadArguments(f"there is a memory {memory['id']} already")
        return super().store(memory)


@sound("it expects every id once, though the call shows two of the same inline")
class has_two_memories_of_one_id(Server):
    def corpus(self) -> list[Record]:
        first, *others = super().corpus()
        return [first, *others, {**first, "title": "The same id again"}]
