"""Servers that treat unusual queries, clients and sizes in their own, lawful ways."""

from __future__ import annotations

from tests.servers.asking import Asking, in_json, in_shell, in_test
from tests.servers.plain import BadArguments, Call, Server
from tests.servers.sound.catalogue import sound

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from tests.servers.plain import Record


@sound("it holds a refused query against the header that was never written")
class refuses_queries_with_quotes(Server):
    def execute(self, operation: str, arguments: dict[str, Any]) -> Call:
        if any(c in str(arguments.get("query")) for c in '"\\\n'):
            raise BadArguments('fts5: syntax error near """')
        return super().execute(operation, arguments)


@sound("it expects a query of several words to find something without being stored first", profile="seed: null\n")
class finds_phrases_only(Server):
    def score(self, memory: Record, query: str) -> float:
        found = query in ("", "*") or query.lower() in f"{memory['title']}\n{memory.get('content')}".lower()
        return super().score(memory, "*") if found else 0.0


@sound("it expects a word to fill in, and takes every query in a command for one that breaks it")
class recipes_look_for_the_query(Asking):
    def literal(self, query: str) -> str:
        return in_shell(in_json(in_test(query)))


@sound("it takes what jq looks for in a text for a pattern")
class recipes_look_for_the_query_as_text(Asking):
    def programs(self) -> Sequence[tuple[str, str]]:
        programs = list(super().programs())
        for number, field in ((3, "title"), (10, "content")):
            look = f'select((.{field} // "") | ascii_downcase | contains($q | ascii_downcase))'
            programs[number - 1] = (programs[number - 1][0], f"jq --arg q '{in_shell(self.query)}' '{look}'")
        return programs

    def literal(self, query: str) -> str:
        return "keyword"


@sound("it takes a schema that is made from the records for one of the first record alone")
class line_schema_is_inferred_from_all_records(Server):
    def descriptor(self, call: Call, path: str) -> Record:
        value = super().descriptor(call, path)
        known = {k: True for record in call.records for k in record}
        required = [k for k in known if all(k in record for record in call.records)]
        schema: Record = {"type": "object", "properties": known, "required": required, "additionalProperties": False}
        return {**value, "line_schema": schema}


@sound("it expects white space of a query to be kept in the header")
class folds_white_space_in_queries(Server):
    def execute(self, operation: str, arguments: dict[str, Any]) -> Call:
        call = super().execute(operation, arguments)
        call.query = " ".join(call.query.split())
        return call


@sound("it takes an error that LRO has nothing to do with for one of LRO")
class nothing_found_is_an_error_with_and_without_lro(Server):
    def execute(self, operation: str, arguments: dict[str, Any]) -> Call:
        call = super().execute(operation, arguments)
        if not call.records:
            raise BadArguments(f"no memory matches {call.query!r}")
        return call


@sound("it expects a query of nonsense to find nothing")
class always_finds_what_is_nearest(Server):
    def score(self, memory: Record, query: str) -> float:
        return max(super().score(memory, query), 0.01)


@sound("it takes a client that it made up for one that has a shell")
class offloads_for_clients_with_a_shell_only(Server):
    """LRO-DEP-03 allows that."""

    shell = False

    def initialize(self, params: Record) -> Record:
        known = ("claude-code", "codex-mcp-client", "gemini-cli-mcp-client", "cursor-vscode", "lro-certify")
        self.shell = params.get("clientInfo", {}).get("name") in known
        return super().initialize(params)

    def exceeds(self, tokens: int, threshold: int) -> bool:
        return self.shell and super().exceeds(tokens, threshold)


@sound(
    "it knows one client, which no server knows to have tools",
    profile='client: {name: cursor-vscode, version: "1.99", capabilities: {roots: {}}}\n',
)
class offloads_for_clients_that_it_knows_only(Server):
    """LRO-DEP-02 and LRO-DEP-03 allow that."""

    known = False

    def initialize(self, params: Record) -> Record:
        client, offered = params.get("clientInfo", {}), params.get("capabilities", {})
        cursor = (client.get("name"), client.get("version")) == ("cursor-vscode", "1.99") and "roots" in offered
        self.known = cursor or client.get("name") == "claude-code"
        return super().initialize(params)

    def exceeds(self, tokens: int, threshold: int) -> bool:
        return self.known and super().exceeds(tokens, threshold)


@sound("it expects a server to take a memory of any size")
class takes_no_memory_above_50_kb(Server):
    def store(self, memory: Record) -> Any:
        if len(memory.get("content") or "") > 50_000:
            raise BadArguments("content is at most 50000 characters")
        return super().store(memory)


@sound("it holds against files what was cut when it was stored")
class stores_the_first_64_kib_of_a_content(Server):
    def completed(self, memory: Record) -> Record:
        made = super().completed(memory)
        return {**made, "content": made["content"][:65535]}


# Languages


@sound("it looks for the warning in English")
class warns_in_german(Server):
    def warning(self, kept: int, everything: int, problem: OSError) -> str:
        return f"Das Auslagern ist fehlgeschlagen, die Ergebnisse sind gekürzt: {kept} von {everything} Erinnerungen."

    def truncated(self, call: Call, warning: str) -> Record:
        return without_flag(self, super().truncated(call, warning))


@sound("it takes a warning that it cannot read for none", proves=2)
class warns_in_polish(Server):
    def warning(self, kept: int, everything: int, problem: OSError) -> str:
        return f"Nie udało się zapisać pliku; wyniki są skrócone: {kept} z {everything} wspomnień."

    def truncated(self, call: Call, warning: str) -> Record:
        return without_flag(self, super().truncated(call, warning))


def without_flag(server: Server, result: Record) -> Record:
    """The result without the field that says `truncated` in English."""
    value = result.get("structuredContent")
    return result if value is None else server.structured({k: v for k, v in value.items() if k != "truncated"})


@sound("it looks for a sentence, where fields say the same")
class warns_by_fields_alone(Server):
    def truncated(self, call: Call, warning: str) -> Record:
        if call.operation == "inject":
            return super().truncated(call, warning)
        return self.structured({**self.inline_value(call), "truncated": True, "offload_failed": True})


@sound("it knows a failure by the words of the text")
class warns_that_spilling_was_not_possible(Server):
    def warning(self, kept: int, everything: int, problem: OSError) -> str:
        return f"Spilling {everything} memories to disk was not possible; the list of {kept} is incomplete."


@sound("it takes members that are in every result for no warning when they are filled, either")
class every_result_has_room_for_a_warning_and_uses_it(Server):
    def inline_value(self, call: Call) -> Any:
        cut = len(call.records) < len(self.memories)
        return {**super().inline_value(call), "error": None, "truncated": cut, "total": len(self.memories)}

    def truncated(self, call: Call, warning: str) -> Record:
        if call.operation == "inject":
            return super().truncated(call, warning)
        return self.structured({**self.inline_value(call), "truncated": True, "error": "could not be offloaded"})


@sound("it knows a warning by words that this server has in every result")
class every_result_ends_with_a_note_on_errors(Server):
    def noted(self, result: Record, note: str) -> Record:
        more = {"type": "text", "text": f"Only active memories are shown; report errors to the operator. {note}"}
        return {**result, "content": [*result["content"], more]}

    def inline(self, call: Call) -> Record:
        return self.noted(super().inline(call), f"Shown: {len(call.records)} of {len(call.records)}.")

    def truncated(self, call: Call, warning: str) -> Record:
        shown = f"Shown: {len(call.records)} of {len(call.found)}."
        return self.noted(super().inline(call), f"The write failed. {shown}")


@sound("it counts letters where a number is the error's own name")
class failure_event_has_a_number(Server):
    def write_failed(self, call: Call, problem: OSError) -> None:
        self.emit("OffloadWriteFailed", "warning", errno=problem.errno)
