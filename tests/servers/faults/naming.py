"""Faults of the file's place and name."""

from __future__ import annotations

import os
import select
import time

from tests.servers.faults.catalogue import fault
from tests.servers.plain import CROCKFORD, Call, Server

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from tests.servers.plain import Record

# Place


class Elsewhere(Server):
    """Writes to another folder, and cleans up there as well."""

    def folder(self, operation: str) -> str:
        raise NotImplementedError

    def offload(self, call: Call) -> str:
        folder = self.folder(call.operation)
        os.makedirs(folder, exist_ok=True)
        path = os.path.join(folder, self.file_name(call))
        self.write(path, self.file_bytes(call))
        return path

    def candidates(self) -> list[str]:
        found = super().candidates()
        for operation in ("recall", "search", "inject"):
            folder = self.folder(operation)
            if os.path.isdir(folder):
                found += [os.path.join(folder, name) for name in os.listdir(folder) if self.matches(name)]
        return sorted(set(found))


@fault("LRO-NAME-01", says="/out/lro/atlatl-recall-", proves=0)
class writes_into_a_subfolder(Elsewhere):
    """A folder `lro` within the configured one."""

    def folder(self, operation: str) -> str:
        return os.path.join(self.output_dir(), "lro")


@fault("LRO-NAME-01", says="/out/recall/atlatl-recall-", proves=0)
class has_a_folder_for_each_operation(Elsewhere):
    """Folders `recall`, `search` and `inject` within the configured one."""

    def folder(self, operation: str) -> str:
        return os.path.join(self.output_dir(), operation)


@fault("LRO-CFG-04", says="/out-search/", proves=0)
class search_writes_beside_the_folder(Elsewhere):
    """Search appends its name to the folder's without a slash, and so does not write where it was told to."""

    def folder(self, operation: str) -> str:
        return self.output_dir() + "-search" * (operation == "search")


# The name


class Named(Server):
    """Has names of another form, which its clean-up knows too."""

    def file_name(self, call: Call) -> str:
        return self.named(call, self.ulid())

    def named(self, call: Call, ulid: str) -> str:
        raise NotImplementedError

    def offload(self, call: Call) -> str:
        path = super().offload(call)
        self.own = {*getattr(self, "own", ()), os.path.basename(path)}
        return path

    def matches(self, name: str) -> bool:
        return name in getattr(self, "own", ()) or super().matches(name)


@fault("LRO-NAME-02", says="atlatl-", proves=0)
class name_starts_with_lro(Named):
    """The prefix of another edition."""

    def named(self, call: Call, ulid: str) -> str:
        return f"lro-{call.operation}-{ulid}.jsonl"


@fault("LRO-NAME-02", says="does not follow the convention", proves=0)
class name_lacks_the_operation(Named):
    """`atlatl-{ulid}.jsonl`."""

    def named(self, call: Call, ulid: str) -> str:
        return f"atlatl-{ulid}.jsonl"


@fault("LRO-NAME-02", says="the operation in the name is not that of the call", proves=0)
class name_has_the_tool(Named):
    """`recall_memories` where `recall` belongs."""

    def named(self, call: Call, ulid: str) -> str:
        tools = {"recall": "recall_memories", "search": "search_memories", "inject": "inject_context"}
        return f"atlatl-{tools[call.operation]}-{ulid}.jsonl"


@fault("LRO-NAME-02", says="inject", proves=0)
class name_of_inject_says_recall(Named):
    """Inject composes recall, and the name tells of the inner operation."""

    def named(self, call: Call, ulid: str) -> str:
        return f"atlatl-{'recall' if call.operation == 'inject' else call.operation}-{ulid}.jsonl"


@fault("LRO-NAME-02", says=".jsonl", proves=0)
class name_ends_in_json(Named):
    """`.json`, though it holds lines."""

    def named(self, call: Call, ulid: str) -> str:
        return f"atlatl-{call.operation}-{ulid}.json"


@fault("LRO-NAME-02", says="atlatl-", proves=0)
class name_has_underscores(Named):
    """`atlatl_recall_….jsonl`."""

    def named(self, call: Call, ulid: str) -> str:
        return f"atlatl_{call.operation}_{ulid}.jsonl"


class Timed(Server):
    """Has ULIDs with another time in them; its clean-up goes by the time of the last change instead."""

    def ulid_of(self, milliseconds: int) -> str:
        value = milliseconds << 80 | int.from_bytes(os.urandom(10), "big")
        return "".join(CROCKFORD[value >> 5 * place & 31] for place in range(25, -1, -1))

    def created_at(self, path: str) -> float:
        return self.changed_at(path)


@fault("LRO-NAME-03", says="ULID", proves=0)
class name_has_a_uuid(Server):
    """A version 4 UUID, which has no order in time."""

    def ulid(self) -> str:
        h = os.urandom(16).hex()
        return f"{h[:8]}-{h[8:12]}-4{h[13:16]}-a{h[17:20]}-{h[20:]}"


@fault("LRO-NAME-03", says="time", proves=0)
class ulid_counts_seconds(Timed):
    """Seconds where milliseconds belong: a time in January 1970."""

    def ulid(self) -> str:
        return self.ulid_of(int(time.time()))


@fault("LRO-NAME-03", says="time", proves=0)
class ulid_is_all_random(Timed):
    """128 random bits; the time is whatever they say."""

    def ulid(self) -> str:
        return self.ulid_of(int.from_bytes(os.urandom(6), "big"))


@fault("LRO-NAME-03", says="time", proves=0)
class ulid_is_an_hour_ahead(Timed):
    """Local time in summer."""

    def ulid(self) -> str:
        return self.ulid_of(int(time.time() * 1000) + 3_600_000)


@fault("LRO-NAME-03", says="local time, which is +7 h from UTC", proves=0)
class ulid_is_of_local_time(Timed):
    """Right where local time is UTC, as on most servers, and hours off elsewhere."""

    def ulid(self) -> str:
        return self.ulid_of(int((time.time() + time.localtime().tm_gmtoff) * 1000))


@fault("LRO-NAME-03", says="a ULID greater than", proves=0)
class ulid_is_of_the_whole_second(Timed):
    """The time is right to the second, so names of one second sort by chance."""

    def ulid(self) -> str:
        return self.ulid_of(int(time.time()) * 1000)


@fault("LRO-NAME-03", says="s from the call", proves=0, also=("LRO-FILE-07",))
class takes_the_time_when_it_starts(Timed):
    """The present is a default argument, so that every file of a process has the time at which it was loaded."""

    def started(self) -> None:
        super().started()
        self.loaded = time.time()

    def ulid(self) -> str:
        return self.ulid_of(int(self.loaded * 1000))

    def timestamp(self, now: float) -> str:
        return super().timestamp(self.loaded)

    def created_at(self, path: str) -> float:
        return self.changed_at(path)


@fault("LRO-NAME-03", says="ULID", proves=0)
class ulid_has_letters_outside_its_alphabet(Timed):
    """Base 32 of RFC 4648, whose alphabet is A to Z and 2 to 7."""

    def ulid(self) -> str:
        alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
        return "".join(alphabet[CROCKFORD.index(c)] for c in super().ulid()[:-1]) + "I"


@fault("LRO-NAME-03", says="ULID", proves=0)
class ulid_is_a_character_short(Timed):
    """25 characters."""

    def ulid(self) -> str:
        return super().ulid()[:-1]


# Calls that are in flight together


class Batching(Server):
    """Waits a moment for further requests and takes those that came together as one batch."""

    batch = 1

    def read(self) -> bytes:
        data = super().read()
        while select.select([0], [], [], 0.02)[0] and (chunk := super().read()):
            data += chunk
        return data

    def received(self, lines: Sequence[bytes]) -> None:
        self.batch = len(lines)
        self.begin()
        super().received(lines)

    def begin(self) -> None:
        raise NotImplementedError


@fault("LRO-NAME-04", says="the file of another call", proves=0, also=("LRO-HARD-07", "LRO-HARD-02"))
class calls_in_flight_share_a_name(Batching):
    """The name is chosen once for all requests that wait."""

    def begin(self) -> None:
        self.shared = super().ulid()

    def ulid(self) -> str:
        return self.shared


@fault("LRO-NAME-04", says="is offloaded, as it is alone", proves=0)
class calls_in_flight_come_inline(Batching):
    """One file is written at a time: only the first of several calls in flight has one."""

    written = 0

    def begin(self) -> None:
        self.written = 0

    def exceeds(self, tokens: int, threshold: int) -> bool:
        self.written += super().exceeds(tokens, threshold)
        return self.written == 1


@fault("LRO-NAME-04", says="in flight with other calls", proves=0, also=("LRO-FILE-09", "LRO-FILE-05"))
class calls_in_flight_share_their_content(Batching):
    """Each call has its own file, and all of these files hold the result of the first call."""

    first: bytes | None = None

    def begin(self) -> None:
        self.first = None

    def file_bytes(self, call: Call) -> bytes:
        data = self.first if self.batch > 1 and self.first else super().file_bytes(call)
        self.first = data
        return data


@fault("LRO-NAME-04", says="with different fields", proves=0, also=("LRO-DET-01",), long=True)
class calls_in_flight_share_their_detail(Batching):
    """The level is kept for all calls, and the first one in flight sets it for records and header."""

    first: str | None = None

    def begin(self) -> None:
        self.first = None

    def execute(self, operation: str, arguments: dict[str, Any]) -> Call:
        self.first = self.first or arguments.get("detail")
        shared = {**arguments, "detail": self.first} if self.batch > 1 and self.first else arguments
        return super().execute(operation, shared)


class LastOfBatch(Batching):
    """Knows the arguments of the call that came last of those in flight."""

    def received(self, lines: Sequence[bytes]) -> None:
        params = [self.loads(line).get("params") or {} for line in lines]
        self.last: Record = params[-1].get("arguments") or {}
        super().received(lines)

    def begin(self) -> None:
        pass


@fault("LRO-FILE-08", says="detail", proves=0)
class headers_in_flight_share_their_detail(LastOfBatch):
    """The level is kept for all calls, and the last one in flight sets it."""

    def header(self, call: Call) -> Record:
        said = super().header(call)
        return {**said, "detail": self.last.get("detail", said["detail"])} if self.batch > 1 else said


@fault("LRO-FILE-05", says="query", proves=0)
class headers_in_flight_share_their_query(LastOfBatch):
    """The query is kept for all calls, and the last one in flight sets it."""

    def header(self, call: Call) -> Record:
        said = super().header(call)
        return {**said, "query": self.last.get("query", said.get("query"))} if self.batch > 1 else said


@fault("LRO-FILE-04", says="operation", proves=0)
class headers_in_flight_share_their_operation(Batching):
    """The operation is kept for all calls, and the first one in flight sets it."""

    first: str | None = None

    def begin(self) -> None:
        self.first = None

    def header(self, call: Call) -> Record:
        self.first = self.first or call.operation
        said = super().header(call)
        return {**said, "operation": self.first} if self.batch > 1 else said


@fault("LRO-REC-11", says="the file", proves=1)
class recipes_in_flight_share_their_file(Batching):
    """The path is kept for all recipes, and the first call in flight sets it."""

    first = ""

    def begin(self) -> None:
        self.first = ""

    def recipes(self, path: str) -> list[Record]:
        self.first = self.first or path
        return super().recipes(self.first if self.batch > 1 else path)


@fault(
    "LRO-NAME-04",
    says="the file of another call",
    proves=0,
    also=("LRO-HARD-07", "LRO-HARD-02", "LRO-NAME-03"),  # an old name has an old time, where calls are seconds apart
)
class same_arguments_share_a_file(Server):
    """The name is remembered for a call's arguments and used again."""

    def file_name(self, call: Call) -> str:
        self.names: dict[str, str] = getattr(self, "names", {})
        key = f"{call.operation} {sorted(call.arguments.items())}"
        return self.names.setdefault(key, super().file_name(call))


@fault(
    "LRO-NAME-04",
    says="the file of another call",
    proves=0,
    also=("LRO-FILE-07", "LRO-FILE-09", "LRO-NAME-03", "LRO-DESC-02", "LRO-INJ-03", "LRO-ERR-05", "LRO-ERR-04"),
)
class remembers_answers_without_the_limit(Server):
    """The first descriptor for a query at a detail level answers it from then on, however many records it asks for."""

    def offer(self, operation: str, arguments: dict[str, Any]) -> Record:
        self.known: dict[str, Record] = getattr(self, "known", {})
        key = self.dumps([operation, {name: value for name, value in arguments.items() if name != "limit"}])
        return self.known.get(key) or super().offer(operation, arguments)

    def offloaded(self, call: Call, path: str) -> Record:
        key = self.dumps([call.operation, {name: value for name, value in call.arguments.items() if name != "limit"}])
        return self.known.setdefault(key, super().offloaded(call, path))


@fault("LRO-NAME-03", says="from the call", proves=0, also=("LRO-CLN-03",))
class ulids_tell_when_the_process_began(Server):
    """The time is taken once; only the random part is new each time."""

    def started(self) -> None:
        self.born = super().ulid()[:10]

    def ulid(self) -> str:
        return self.born + super().ulid()[10:]


@fault("LRO-FILE-07", says="an ISO 8601 time between", proves=0)
class headers_tell_when_the_process_began(Server):
    """The time is taken once, for all headers."""

    def started(self) -> None:
        self.born = time.time()

    def timestamp(self, now: float) -> str:
        return super().timestamp(self.born)


@fault("LRO-REC-13", says="as in another descriptor", proves=1)
class descriptions_move_on_from_call_to_call(Server):
    """The descriptions of recipes 4 to 7 go round, a place for each call."""

    def programs(self) -> Sequence[tuple[str, str]]:
        known = list(super().programs())
        turned = [(known[3 + (place + self.calls) % 4][0], known[3 + place][1]) for place in range(4)]
        return [*known[:3], *turned, *known[7:]]
