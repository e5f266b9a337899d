"""Faults that only show with unusual queries, another client, very long memories, or many files."""

from __future__ import annotations

import os
import sys

from tests.servers.asking import Asking, in_json, in_shell, in_test
from tests.servers.faults.catalogue import fault
from tests.servers.faults.config import ELSEWHERE
from tests.servers.plain import BadArguments, Call, Server, Settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tests.servers.plain import Record

# Queries


@fault("LRO-FILE-01", says="line 1", proves=0, everywhere=True)
class header_is_pasted_together(Server):
    """A query with a quote, a backslash or a line feed in it breaks the header line."""

    def file_lines(self, call: Call) -> list[str]:
        header = self.dumps({**self.header(call), "query": "@Q@"}).replace("@Q@", call.query)
        return [header, *call.lines]


@fault("LRO-FILE-05", says="back", proves=0)
class header_tells_the_query_without_its_quotes(Server):
    """The header has the query as rewritten for the search engine."""

    def header(self, call: Call) -> Record:
        return {**super().header(call), "query": call.query.replace('"', " ").replace("\\", " ")}


@fault("LRO-FILE-05", says="Quoted", proves=0, long=True)
class header_tells_the_query_in_small_letters(Server):
    """The query as it was folded for the comparison; most have none but small letters."""

    def header(self, call: Call) -> Record:
        return {**super().header(call), "query": call.query.lower()}


@fault("LRO-FILE-05", says='"query"', proves=0, long=True)
class header_tells_the_first_line_of_the_query(Server):
    """The query up to its first line feed."""

    def header(self, call: Call) -> Record:
        return {**super().header(call), "query": call.query.partition("\n")[0]}


@fault("LRO-FILE-05", says="the first 256 of", proves=0)
class header_tells_256_characters_of_the_query(Server):
    """The column of the log that headers are made from has so many."""

    def header(self, call: Call) -> Record:
        return {**super().header(call), "query": call.query[:256]}


@fault("LRO-THR-07", says="empty sequence", proves=0)
class fails_where_nothing_is_found(Server):
    """The range of no scores is an error, and it is computed before anything is decided."""

    def threshold(self, call: Call) -> int:
        if not call.records:
            raise BadArguments("min() arg is an empty sequence")
        return super().threshold(call)


@fault("LRO-THR-07", says="the server exited", proves=0)
class dies_where_nothing_is_found(Server):
    """The range of no scores is an uncaught error, which ends the server."""

    def threshold(self, call: Call) -> int:
        return super().threshold(call) + 0 * min(len(line) for line in call.lines)


@fault("LRO-PROT-02", says="an answer to the query", proves=3)
class dies_of_an_empty_result(Server):
    """An empty result ends the server, with LRO on or off."""

    def execute(self, operation: str, arguments: Record) -> Call:
        call = super().execute(operation, arguments)
        if not call.records:
            os._exit(3)
        return call


@fault("LRO-REC-03", says="target of repeat operator", proves=1, also=("LRO-REC-10", "LRO-REC-13"))
class recipes_look_for_the_query_as_it_came(Asking):
    """The query is inserted into recipes 3 and 10 unescaped: `*` is not a pattern, and a quote ends the command."""

    def literal(self, query: str) -> str:
        return query


@fault("LRO-REC-13", says="a second command", proves=1)
class recipes_look_for_the_query_unquoted(Asking):
    """Escaped for jq, but not for the shell: a single quote in the query ends the program."""

    def literal(self, query: str) -> str:
        return in_json(in_test(query))


@fault("LRO-REC-13", says="char-class", proves=1, also=("LRO-REC-03",))
class recipes_take_the_query_for_a_pattern(Asking):
    """Escaped for jq and the shell, and `*` is left out: other queries are still no patterns."""

    def literal(self, query: str) -> str:
        return in_shell(in_json("keyword" if query == "*" else query))


# Clients


@fault("LRO-THR-06", says="for the client", proves=0)
class knows_its_judge(Server):
    """Offloads for the suite only, whose client says who it is."""

    judge = False

    def initialize(self, params: Record) -> Record:
        self.judge = params.get("clientInfo", {}).get("name") == "lro-certify"
        return super().initialize(params)

    def exceeds(self, tokens: int, threshold: int) -> bool:
        return self.judge and tokens > threshold


# Memories


@fault("LRO-DESC-09", says="a field 'entities'", proves=0, everywhere=True)
class line_schema_requires_what_the_first_record_has(Server):
    """Inferred from one record: what that has, all others must have, too."""

    def descriptor(self, call: Call, path: str) -> Record:
        value = super().descriptor(call, path)
        required = list(call.records[0]) if call.records else []
        return {**value, "line_schema": {**value["line_schema"], "required": required}}


@fault("LRO-DESC-09", says="no fields except", proves=0, everywhere=True)
class line_schema_forbids_what_the_first_record_lacks(Server):
    """Inferred from one record: what that has not, no other may have."""

    def descriptor(self, call: Call, path: str) -> Record:
        value = super().descriptor(call, path)
        if not call.records:
            return value
        known = dict.fromkeys(call.records[0], True)
        return {**value, "line_schema": {"type": "object", "properties": known, "additionalProperties": False}}


# Sizes


@fault("LRO-THR-06", says="one memory of", proves=0)
class compares_in_16_bits(Server):
    """A result of 65,536 tokens weighs nothing."""

    def exceeds(self, tokens: int, threshold: int) -> bool:
        return tokens & 0xFFFF > threshold


@fault("LRO-THR-06", says="one memory of", proves=0)
class estimates_in_16_bits(Server):
    """The estimate is computed in 16 bits, in the header too."""

    def estimate(self, lines: Sequence[str]) -> int:
        return super().estimate(lines) & 0xFFFF


class Cutting(Server):
    """Files have shorter contents than inline results."""

    most = 0

    def file_lines(self, call: Call) -> list[str]:
        lines = [
            self.dumps({**r, "content": r["content"][: self.most]}) if len(r.get("content") or "") > self.most else line
            for r, line in zip(call.records, call.lines, strict=True)
        ]
        return [self.dumps(self.header(call)), *lines]


@fault("LRO-FILE-10", says="4000 characters", proves=0)
class cuts_long_contents_in_files(Cutting):
    """The writer's buffer holds 4,000 characters."""

    most = 4000


@fault("LRO-FILE-10", says="65535 characters", proves=0)
class cuts_contents_at_64_kib_in_files(Cutting):
    """The column that files are written from holds 65,535 characters."""

    most = 65535


@fault("LRO-FILE-09", says="1 missing", proves=0, also=("LRO-FILE-06",))
class writes_what_is_alike_once(Server):
    """Records with the same text are taken for one."""

    def execute(self, operation: str, arguments: Record) -> Call:
        call = super().execute(operation, arguments)
        if not self.settings.enabled or not self.exceeds(call.tokens, self.threshold(call)):
            return call
        once = {self.dumps({k: v for k, v in r.items() if k != "id"}): n for n, r in enumerate(call.records)}
        for name in ("found", "records", "lines"):
            setattr(call, name, [getattr(call, name)[n] for n in once.values()])
        return call


@fault("LRO-FILE-09", says="500 records: 100 missing", proves=0)
class files_hold_five_hundred_records(Server):
    """Files silently hold at most five hundred records; inline results are complete."""

    def corpus(self) -> list[Record]:
        few = super().corpus()
        return [{**memory, "id": f"{memory['id']}-{batch}"} for batch in range(3) for memory in few]

    def execute(self, operation: str, arguments: Record) -> Call:
        call = super().execute(operation, arguments)
        if self.settings.enabled and self.exceeds(call.tokens, self.threshold(call)):
            call.found, call.records, call.lines = call.found[:500], call.records[:500], call.lines[:500]
        return call


@fault("LRO-FILE-09", says="300 records: 20 missing", proves=0)
class files_hold_three_hundred_records(Server):
    """Files hold three hundred records, and only what is stored later makes results of more."""

    def execute(self, operation: str, arguments: Record) -> Call:
        call = super().execute(operation, arguments)
        if self.settings.enabled and self.exceeds(call.tokens, self.threshold(call)):
            call.found, call.records, call.lines = call.found[:300], call.records[:300], call.lines[:300]
        return call


# Files


@fault("LRO-CLN-03", says="younger than a minute all stay", proves=1, also=("LRO-HARD-07",))
class keeps_64_files(Server):
    """The oldest file goes when there are more than 64, whatever its age."""

    def offload(self, call: Call) -> str:
        path = super().offload(call)
        for name in sorted(n for n in os.listdir(self.output_dir()) if self.matches(n))[:-64]:
            try:
                os.unlink(os.path.join(self.output_dir(), name))
            except OSError:
                continue
        return path


# The empty folder


@fault("LRO-CFG-05", says="output_dir empty", proves=0)
class refuses_an_empty_output_dir(Server):
    """The documented default, said aloud, is an invalid setting."""

    def read_settings(self, env: Mapping[str, str]) -> Settings:
        if env.get("ATLATL_PROMPT__OFFLOAD__OUTPUT_DIR") == "":
            sys.exit("output_dir must not be empty")
        return super().read_settings(env)


@fault("LRO-CFG-05", says="output_dir empty", proves=0, profile=ELSEWHERE)
class takes_an_empty_output_dir_for_the_working_folder(Server):
    """Unset is the temporary folder; empty is where the server was started."""

    empty = False

    def read_settings(self, env: Mapping[str, str]) -> Settings:
        self.empty = env.get("ATLATL_PROMPT__OFFLOAD__OUTPUT_DIR") == ""
        return super().read_settings(env)

    def output_dir(self) -> str:
        return os.getcwd() if self.empty else super().output_dir()


@fault("LRO-CFG-05", says="output_dir empty", proves=0)
class cannot_write_to_an_empty_output_dir(Server):
    """Every write fails: the name of a folder is expected."""

    empty = False

    def read_settings(self, env: Mapping[str, str]) -> Settings:
        self.empty = env.get("ATLATL_PROMPT__OFFLOAD__OUTPUT_DIR") == ""
        return super().read_settings(env)

    def offload(self, call: Call) -> str:
        if self.empty:
            raise FileNotFoundError(2, "No such file or directory", "")
        return super().offload(call)


# stdout


@fault("LRO-PROT-02", says="stdout", proves=3, everywhere=True)
class prints_write_failures(Server):
    """A debugging aid that was forgotten: the error, on stdout."""

    def write_failed(self, call: Call, problem: OSError) -> None:
        self.send_line(f"write failed: {problem}".encode())
        super().write_failed(call, problem)


@fault("LRO-PROT-02", says="stdout", proves=3, everywhere=True)
class prints_what_expires(Server):
    """Each file that is deleted, on stdout."""

    def expired(self, path: str) -> None:
        self.send_line(f"deleted {path}".encode())
        super().expired(path)
