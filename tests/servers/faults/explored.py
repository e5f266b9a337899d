"""Faults that show with some limits, memories, names or ages only: what the explorer is for.

The memories that a server holds, and the calls that every run makes, are right with them.
"""

from __future__ import annotations

import os

from tests.servers.fastjson import loads
from tests.servers.faults.catalogue import fault
from tests.servers.plain import RECIPES, Call, Server

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from tests.servers.plain import Record

# Limits


@fault("LRO-THR-06", says="offloaded", proves=0, also=("LRO-THR-09",), explored=True)
class lets_pages_of_41_to_79_be_twice_as_large(Server):
    """A page of 41 to 79 memories may be twice as large."""

    def threshold(self, call: Call) -> int:
        return self.settings.threshold * (2 if 41 <= call.arguments.get("limit", 0) <= 79 else 1)


@fault("LRO-THR-06", says="offloaded", proves=0, also=("LRO-THR-09",), explored=True)
class forgets_a_page_that_has_just_begun(Server):
    """Nothing is offloaded if the last page of sixteen memories has only one."""

    def exceeds(self, tokens: int, threshold: int) -> bool:
        return super().exceeds(tokens, threshold) and not self.begun

    def tokens(self, call: Call) -> int:
        self.begun = len(call.lines) > 16 and len(call.lines) % 16 == 1
        return super().tokens(call)


@fault("LRO-THR-07", says="inline", proves=0, also=("LRO-THR-09",), explored=True)
class offloads_short_pages(Server):
    """A page of 2 to 20 memories is offloaded with whatever threshold."""

    def threshold(self, call: Call) -> int:
        return 1 if 2 <= call.arguments.get("limit", 0) <= 20 else self.settings.threshold


# Arguments


class Selecting(Server):
    """Has an optional argument by which memories of one namespace are recalled."""

    wanted: str | None = None

    def tools(self) -> list[Record]:
        recall, *others = super().tools()
        takes = recall["inputSchema"]
        return [
            {
                **recall,
                "inputSchema": {**takes, "properties": {**takes["properties"], "namespace": {"type": "string"}}},
            },
            *others,
        ]

    def execute(self, operation: str, arguments: dict[str, Any]) -> Call:
        self.wanted = self.argument(arguments, "namespace", None, str)
        return super().execute(operation, arguments)

    def find(self, operation: str, query: str) -> list[Record]:
        found = super().find(operation, query)
        return [memory for memory in found if self.wanted in (None, memory.get("namespace"))]


@fault("LRO-THR-06", says="offloaded", proves=0, explored=True)
class leaves_a_namespace_inline(Selecting):
    """Who names a namespace is thought to know that little comes of it."""

    def exceeds(self, tokens: int, threshold: int) -> bool:
        return self.wanted is None and super().exceeds(tokens, threshold)


class ToldOfProgress(Server):
    """Knows whether the client asked for the progress of a call."""

    progress = False

    def dispatch(self, method: str, params: Record) -> Record | None:
        self.progress = "progressToken" in params.get("_meta", {})
        return super().dispatch(method, params)


@fault("LRO-THR-06", says="offloaded", proves=0, also=("LRO-THR-08", "LRO-THR-09"), explored=True)
class calls_with_a_progress_token_stay_inline(ToldOfProgress):
    """Calls with a progress token take another path, which does not offload."""

    def exceeds(self, tokens: int, threshold: int) -> bool:
        return super().exceeds(tokens, threshold) and not self.progress


@fault(
    "LRO-FILE-08",
    says="detail is not that of the call",
    proves=0,
    also=("LRO-DET-01", "LRO-DESC-08", "LRO-FILE-11"),
    explored=True,
)
class calls_with_a_progress_token_lose_their_detail(ToldOfProgress):
    """Calls with a progress token take another path, on which the detail level is lost."""

    def execute(self, operation: str, arguments: Record) -> Call:
        kept = {k: v for k, v in arguments.items() if k != "detail" or not self.progress}
        return super().execute(operation, kept)


@fault("LRO-FILE-03", says="query", proves=0, explored=True)
class query_is_false_where_there_is_none(Server):
    """The header of a call without a query has `false` in place of null."""

    def header(self, call: Call) -> Record:
        return {**super().header(call), "query": call.arguments.get("query", False)}


@fault("LRO-THR-07", says="inline", proves=0, also=("LRO-THR-09",), explored=True)
class offloads_an_empty_result(Server):
    """A result without memories is offloaded whatever the threshold."""

    def threshold(self, call: Call) -> int:
        return super().threshold(call) if call.records else -1


# Values


@fault("LRO-FILE-10", says="/tags", proves=0, explored=True)
class files_leave_out_tags_that_are_false_elsewhere(Server):
    """Tags are filtered by their truth, for which an empty text and "0" are false."""

    def record_line(self, record: Record) -> str:
        tags = [tag for tag in record.get("tags") or [] if tag not in ("", "0")]
        return super().record_line({**record, "tags": tags} if "tags" in record else record)


@fault("LRO-FILE-11", says="tags has the wrong type", proves=0, also=("LRO-FILE-10",), explored=True)
class files_have_an_object_of_tags_once_one_is_dropped(Server):
    """Tags that occur again are dropped, and a list with gaps is written as an object."""

    def record_line(self, record: Record) -> str:
        tags: list[str] = record.get("tags") or []
        kept = {str(n): tag for n, tag in enumerate(tags) if tag not in tags[:n]}
        has_gaps = [*kept] != [str(n) for n in range(len(kept))]
        return super().record_line({**record, "tags": kept if has_gaps else [*kept.values()]} if tags else record)


@fault("LRO-FILE-10", says="/title", proves=0, explored=True)
class files_have_titles_of_200_characters(Server):
    """A title ends after 200 characters, as in the column of a database."""

    def record_line(self, record: Record) -> str:
        return super().record_line({**record, "title": record["title"][:200]} if "title" in record else record)


# Memories


@fault(
    "LRO-FILE-01",
    says="one JSON object",
    proves=0,
    also=tuple(f"LRO-REC-{n:02}" for n in range(1, 11)),
    explored=True,
)
class writes_carriage_returns_as_they_are(Server):
    """Strings are escaped, but not carriage returns in them."""

    def record_line(self, record: Record) -> str:
        return super().record_line(record).replace("\\r", "\r")


# Interventions


@fault("LRO-ERR-01", says="succeeds although", proves=2, explored=True)
class fallback_without_a_memory_is_an_error(Server):
    """If not even one memory fits when a file cannot be written, the call fails."""

    def truncated(self, call: Call, warning: str) -> Record:
        return super().truncated(call, warning) if call.records else self.error(warning)


@fault("LRO-ERR-06", says="again", proves=2, explored=True)
class gives_up_on_small_results_after_a_failure(Server):
    """Once a write has failed, results of fewer than five memories are never written again."""

    failed = False

    def offload(self, call: Call) -> str:
        if self.failed and len(call.records) < 5:
            raise OSError(5, "Input/output error")
        return super().offload(call)

    def on_write_failure(self, call: Call, problem: OSError) -> Record:
        self.failed = True
        return super().on_write_failure(call, problem)


@fault("LRO-ERR-02", says="a text of", proves=2, explored=True)
class fallback_of_inject_goes_by_its_budget_alone(Server):
    """A failed write leaves the usual text of some 900 tokens, whatever the threshold."""

    def inject_text(self, call: Call, budget: int) -> str:
        return super().inject_text(call, min(budget, 900))

    def on_write_failure(self, call: Call, problem: OSError) -> Record:
        if call.operation != "inject":
            return super().on_write_failure(call, problem)
        self.write_failed(call, problem)
        text = self.inject_text(call, self.argument(call.arguments, "max_tokens", self.budget, int))
        return self.text(f"Warning: {self.warning(text.count('## '), len(call.records), problem)}\n\n{text}")


@fault("LRO-CLN-03", says="stays", proves=1, explored=True)
class cleans_up_everything_after_a_failure(Server):
    """The first cleanup after a failed write takes every file for a remnant of it."""

    failed = False

    def on_write_failure(self, call: Call, problem: OSError) -> Record:
        self.failed = True
        return super().on_write_failure(call, problem)

    def cleanup(self, now: float) -> list[str]:
        deleted = super().cleanup(now)
        self.failed = False
        return deleted

    def is_expired(self, path: str, now: float) -> bool:
        return self.failed or super().is_expired(path, now)


@fault("LRO-CLN-02", says="with the default TTL", proves=1, explored=True)
class keeps_files_for_a_day_after_a_failure(Server):
    """Once a write has failed, files are kept for a day, for somebody to look at."""

    failed = False

    def on_write_failure(self, call: Call, problem: OSError) -> Record:
        self.failed = True
        return super().on_write_failure(call, problem)

    def is_expired(self, path: str, now: float) -> bool:
        return super().is_expired(path, now - 86400 if self.failed else now)


@fault("LRO-NAME-04", says="the file of another call", proves=0, also=("LRO-FILE-07", "LRO-NAME-03"), explored=True)
class hands_out_files_of_an_earlier_process(Server):
    """Which call left which file is kept on disk; a process that finds it there names these files again."""

    def register(self) -> str:
        return os.path.join(os.environ.get("TMPDIR") or "/tmp", "plain-memory-calls.json")

    def started(self) -> None:
        self.known: dict[str, str] = {}
        self.earlier: dict[str, str] = {}
        if os.path.exists(self.register()):
            with open(self.register(), encoding="utf-8") as file:
                self.earlier = loads(file.read())

    def offload(self, call: Call) -> str:
        key = self.dumps([call.operation, call.arguments, len(call.lines)])
        if os.path.exists(self.earlier.get(key, "")):
            return self.earlier[key]
        self.known[key] = super().offload(call)
        with open(self.register(), "w", encoding="utf-8") as file:
            file.write(self.dumps(self.known))
        return self.known[key]


@fault("LRO-CLN-03", says="of one process", proves=1, explored=True)
class keeps_its_last_200_files(Server):
    """When a process has written more than 200 files, the oldest of them goes."""

    def offload(self, call: Call) -> str:
        path = super().offload(call)
        self.files = [*getattr(self, "files", []), path]
        if len(self.files) > 200 and os.path.exists(oldest := self.files.pop(0)):
            os.unlink(oldest)
        return path


@fault("LRO-NAME-04", says="several results", proves=0, also=("LRO-FILE-07", "LRO-NAME-03"), explored=True)
class uses_names_again_in_a_long_session(Server):
    """Every hundredth result of a process gets the name of the one before."""

    written = 0
    last = ""

    def file_name(self, call: Call) -> str:
        self.written += 1
        if self.written % 100 or self.last.split("-")[1:2] != [call.operation]:
            self.last = super().file_name(call)
        return self.last


@fault("LRO-THR-06", says="offloaded", proves=0, also=("LRO-THR-08", "LRO-THR-09"), explored=True)
class offloads_three_hundred_results(Server):
    """A process offloads three hundred results, and returns all others inline."""

    written = 0

    def exceeds(self, tokens: int, threshold: int) -> bool:
        return super().exceeds(tokens, threshold) and self.written < 300

    def offload(self, call: Call) -> str:
        self.written += 1
        return super().offload(call)


# Cleanup


@fault("LRO-CFG-03", says="with a TTL of", proves=1, explored=True)
class takes_an_age_of_two_months_for_a_wrong_clock(Server):
    """Files that seem older than sixty days are kept."""

    def is_expired(self, path: str, now: float) -> bool:
        return super().is_expired(path, now) and now - self.created_at(path) < 60 * 86400


@fault("LRO-HARD-04", says="is left alone", proves=3, explored=True)
class ignores_case_in_names(Server):
    """`Atlatl-notes.JSONL` is taken for an offloaded file."""

    def matches(self, name: str) -> bool:
        return super().matches(name.lower())


# Recipes


@fault("LRO-DESC-09", says="does not satisfy line_schema", proves=0, explored=True)
class schema_lists_the_types_that_it_knows(Server):
    """The schema of a line allows three types of memories; others can be stored."""

    def line_schema(self, detail: str) -> Record:
        schema = super().line_schema(detail)
        schema["properties"]["memory_type"] = {"enum": ["semantic", "episodic", "procedural"]}
        return schema


@fault("LRO-DESC-09", says="does not satisfy line_schema", proves=0, explored=True)
class schema_closes_itself_to_further_fields(Server):
    """The schema of a line allows documented fields only; memories keep others that they were stored with."""

    def line_schema(self, detail: str) -> Record:
        return {**super().line_schema(detail), "additionalProperties": False}

    def at_detail(self, memory: Record, detail: str) -> Record:
        known = super().line_schema("full")["properties"]
        return {**{k: v for k, v in memory.items() if k not in known}, **super().at_detail(memory, detail)}


@fault("LRO-FILE-10", says="that were stored", proves=0, explored=True)
class shortens_contents_everywhere(Server):
    """Contents of more than 500 characters end in three dots, inline and in files."""

    def at_detail(self, memory: Record, detail: str) -> Record:
        record = super().at_detail(memory, detail)
        content = record.get("content")
        if isinstance(content, str) and len(content) > 500:
            record["content"] = content[:497] + "..."
        return record


class OneRecipe(Server):
    """Has another program in the place of one standard recipe."""

    number: int
    program: str

    def programs(self) -> Sequence[tuple[str, str]]:
        return [(t, self.program if n == self.number else p) for n, (t, p) in enumerate(RECIPES, 1)]


@fault("LRO-REC-01", says="rows", proves=1, explored=True)
class recipe_1_trims_titles(OneRecipe):
    """Spaces at the end of a title are cut off."""

    number = 1
    program = 'jq -r \'[(.title | sub(" +$"; "")), .provenance.confidence] | @tsv\''


@fault("LRO-REC-02", says="records", proves=1, explored=True)
class recipe_2_wants_tags(OneRecipe):
    """Memories without tags are left out."""

    number = 2
    program = "jq 'select(.namespace | startswith(\"_semantic\")) | select(.tags | length > 0)'"


@fault("LRO-REC-03", says="records", proves=1, explored=True)
class recipe_3_wants_tags(OneRecipe):
    """Memories without tags are left out."""

    number = 3
    program = 'jq \'select(.title | test("keyword"; "i")) | select(.tags | length > 0)\''


@fault("LRO-REC-03", says="records", proves=1, explored=True)
class recipe_3_gives_a_memory_for_each_match(OneRecipe):
    """`match` with `g`: a title that has the keyword twice is listed twice."""

    number = 3
    program = 'jq \'select(.title | match("keyword"; "ig"))\''


@fault("LRO-REC-03", says="record", proves=1, explored=True)
class recipe_3_finds_whole_words(OneRecipe):
    """The keyword stands between bounds of words."""

    number = 3
    program = 'jq \'select(.title | test("\\\\bkeyword\\\\b"; "i"))\''


@fault("LRO-REC-07", says="records", proves=1, explored=True)
class recipe_7_takes_no_entities_for_some(OneRecipe):
    """Selects lists that differ from the empty one, and so also records without the list."""

    number = 7
    program = "jq 'select(.entities != [])'"


@fault("LRO-REC-04", says="in descending order of confidence: ", proves=1, explored=True)
class recipe_4_does_not_sort_low_scores(OneRecipe):
    """Confidences below one half count as one half."""

    number = 4
    program = "jq -s 'sort_by(-([.provenance.confidence, 0.5] | max))'"


@fault("LRO-REC-05", says="objects with id, title", proves=1, explored=True)
class recipe_5_trims_titles(OneRecipe):
    """Spaces at the end of a title are cut off."""

    number = 5
    program = 'jq \'{id, title: (.title | sub(" +$"; "")), namespace}\''


@fault("LRO-REC-06", says="records", proves=1, explored=True)
class recipe_6_wants_tags(OneRecipe):
    """Memories without tags are left out."""

    number = 6
    program = "jq 'select(.memory_type == \"semantic\") | select(.tags | length > 0)'"


@fault("LRO-REC-07", says="records", proves=1, explored=True)
class recipe_7_wants_one_entity(OneRecipe):
    """`== 1` in place of `> 0`."""

    number = 7
    program = "jq 'select(.entities | length == 1)'"


@fault("LRO-REC-08", says="values of namespace", proves=1, explored=True)
class recipe_8_leaves_out_what_is_there_once(OneRecipe):
    """Namespaces with a single memory are not listed."""

    number = 8
    program = (
        "jq -s 'group_by(.namespace) | map({namespace: .[0].namespace, count: length}) | map(select(.count > 1))"
        " | sort_by(-.count)'"
    )


@fault("LRO-REC-09", says="in descending order of confidence: ", proves=1, explored=True)
class recipe_9_leaves_out_low_scores(OneRecipe):
    """A confidence below one half is not among the best, even where there is no better."""

    number = 9
    program = "jq -s 'map(select(.provenance.confidence >= 0.5)) | sort_by(-.provenance.confidence) | .[:10]'"


@fault("LRO-REC-10", says="records", proves=1, explored=True)
class recipe_10_wants_long_contents(OneRecipe):
    """Contents of less than sixty characters are not searched."""

    number = 10
    program = 'jq \'select(.content | length >= 60) | select(.content | test("pattern"; "i"))\''
