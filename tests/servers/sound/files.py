"""Files that are made, named and placed in other permitted ways."""

from __future__ import annotations

import os
import time
from contextlib import suppress

from tests.servers.fastjson import loads
from tests.servers.plain import CROCKFORD, Call, Server
from tests.servers.sound.catalogue import sound

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from tests.servers.plain import Record


@sound("it takes a folder that was removed for a write that must fail")
class makes_the_folder_on_demand(Server):
    def offload(self, call: Call) -> str:
        os.makedirs(self.output_dir(), mode=0o700, exist_ok=True)
        return super().offload(call)


@sound("it compares the path with the folder it set, as text, where that is behind a link")
class resolves_links_in_the_path(Server):
    def output_dir(self) -> str:
        return os.path.realpath(super().output_dir())


@sound("it expects names of one clock tick to sort by age")
class ulids_follow_a_clock_that_ticks_sixty_times_a_second(Server):
    def ulid(self) -> str:
        value = int(int(time.time() * 64) / 64 * 1000) << 80 | int.from_bytes(os.urandom(10), "big")
        return "".join(CROCKFORD[value >> 5 * place & 31] for place in range(25, -1, -1))


@sound("it takes ULIDs of the same millisecond that differ by one for predictable ones")
class ulids_grow_within_a_millisecond(Server):
    last = 0

    def ulid(self) -> str:
        now = int(time.time() * 1000) << 80
        if self.last >> 80 == now >> 80:
            self.last += 1 + int.from_bytes(os.urandom(4), "big")
        else:
            self.last = now | int.from_bytes(os.urandom(10), "big")
        return "".join(CROCKFORD[self.last >> 5 * place & 31] for place in range(25, -1, -1))


@sound("it expects times in UTC")
class timestamps_have_an_offset(Server):
    def timestamp(self, now: float) -> str:
        return super().timestamp(now + 7200).removesuffix("Z") + "+02:00"


@sound("it takes local time for UTC, or thinks that the server has the zone of the suite")
class timestamps_are_local_time_without_an_offset(Server):
    def timestamp(self, now: float) -> str:
        return time.strftime("%Y-%m-%dT%H:%M:%S", time.localtime(now))


@sound("it expects milliseconds, and looks for files within one second")
class timestamps_have_whole_seconds(Server):
    def timestamp(self, now: float) -> str:
        return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now))


@sound("it expects three digits behind the point at most")
class timestamps_have_nanoseconds(Server):
    def timestamp(self, now: float) -> str:
        return f"{super().timestamp(now)[:-1]}123456+00:00"


@sound("it knows the extended format only")
class timestamps_are_in_the_basic_format(Server):
    def timestamp(self, now: float) -> str:
        return time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(now))


@sound("it knows days by their month only, where ISO 8601 has weeks as well")
class timestamps_tell_the_week(Server):
    def timestamp(self, now: float) -> str:
        return time.strftime("%G-W%V-%uT%H:%M:%SZ", time.gmtime(now))


@sound("it knows days by their month only, where ISO 8601 has numbers of days as well")
class timestamps_tell_the_day_of_the_year(Server):
    def timestamp(self, now: float) -> str:
        return time.strftime("%Y-%jT%H:%M:%SZ", time.gmtime(now))


@sound("it asks for 0600 exactly, where not even the owner writes any more")
class files_are_read_only(Server):
    def write(self, path: str, data: bytes) -> None:
        super().write(path, data)
        os.chmod(path, 0o400)


@sound("it watches for a temporary file, or expects one")
class writes_in_place(Server):
    def write(self, path: str, data: bytes) -> None:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        try:
            with open(descriptor, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(descriptor)
        except OSError:
            os.unlink(path)
            raise


@sound("it takes the time of the call for that of writing")
class stamps_the_time_when_the_call_came(Server):
    came = 0.0

    def offer(self, operation: str, arguments: dict[str, object]) -> Record:
        self.came = time.time()
        return super().offer(operation, arguments)

    def header(self, call: Call) -> Record:
        return {**super().header(call), "timestamp": self.timestamp(self.came)}


@sound("it expects the stored order in the file")
class file_is_sorted_by_id(Server):
    def file_lines(self, call: Call) -> list[str]:
        pairs = sorted(zip((str(record["id"]) for record in call.records), call.lines, strict=True))
        return [self.dumps(self.header(call)), *(line for _, line in pairs)]


@sound("it takes every JSONL file in the folder for an offloaded one", lacks=("LRO-HARD-06",))
class keeps_a_register_and_a_log_in_the_folder(Server):
    def noted(self, name: str, entry: Record) -> None:
        with suppress(OSError), open(os.path.join(self.output_dir(), name), "a", encoding="utf-8") as file:
            file.write(self.dumps(entry) + "\n")

    def execute(self, operation: str, arguments: dict[str, object]) -> Call:
        call = super().execute(operation, arguments)
        self.noted("events.jsonl", {"type": "call", "operation": operation, "count": len(call.records)})
        return call

    def offload(self, call: Call) -> str:
        path = super().offload(call)
        self.noted("atlatl-register.jsonl", {"file_path": path, "created": self.timestamp(time.time())})
        return path


@sound("it takes a register of the files for a forgotten temporary file")
class keeps_a_register_beside_the_files(Server):
    made: tuple[str, ...] = ()

    def offload(self, call: Call) -> str:
        path = super().offload(call)
        self.made = (*self.made, os.path.basename(path))
        register = os.path.join(self.output_dir(), ".lro-index.json")
        super().write(register, self.dumps({"files": self.made}).encode())
        return path


@sound("it breaks the folder and expects an inline result, where the server has made the folder again")
class remembers_that_its_folder_is_there(Server):
    made = False

    def offload(self, call: Call) -> str:
        if not self.made:
            os.makedirs(self.output_dir(), exist_ok=True)
            self.made = True
        try:
            return super().offload(call)
        except OSError:
            self.made = False  # and the next call looks again
            raise


@sound("it takes names that a process counts up from a random number for names that come back with the next process")
class counts_in_its_names(Server):
    count = 0

    def ulid(self) -> str:
        if not self.count:
            self.count = int.from_bytes(os.urandom(9), "big")
        self.count += (1 << 42) + int.from_bytes(os.urandom(6), "big")
        value = int(time.time() * 1000) << 80 | self.count
        return "".join(CROCKFORD[value >> 5 * place & 31] for place in range(25, -1, -1))


@sound("it stores its memories again in a process that has kept them")
class keeps_memories_for_the_next_process(Server):
    def kept(self) -> str:
        return os.path.join(os.environ.get("TMPDIR") or "/tmp", "plain-memory.jsonl")

    def corpus(self) -> list[Record]:
        if not os.path.exists(self.kept()):
            return super().corpus()
        with open(self.kept(), encoding="utf-8") as file:
            return [*super().corpus(), *map(loads, file)]

    def store(self, memory: Record) -> Any:
        id = super().store(memory)
        with open(self.kept(), "a", encoding="utf-8") as file:
            file.write(self.dumps(self.memories[-1]) + "\n")
        return id
