"""Clean-up with another trigger, another clock or another voice."""

from __future__ import annotations

import os
import sys
import time

from tests.servers.fastjson import loads
from tests.servers.plain import CROCKFORD, Server
from tests.servers.sound.catalogue import sound

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from tests.servers.plain import Call, Record


class InPortions(Server):
    """Deletes so many expired files at a time, and the others the next time."""

    most: int

    def candidates(self) -> list[str]:
        now = time.time()
        return [p for p in super().candidates() if self.is_ours(p) and self.is_expired(p, now)][: self.most]


class Taskless(Server):
    """Offers no tool for clean-up."""

    def tools(self) -> list[Record]:
        return [tool for tool in super().tools() if tool["name"] != "run_custodial_task"]


@sound("it needs a tool that cleans up", profile="cleanup: {restart: true}\n")
class cleans_up_at_start(Taskless):
    def started(self) -> None:
        if os.path.isdir(self.output_dir()):
            self.cleanup(time.time())


@sound("it needs a tool that cleans up, or a restart", profile="cleanup: {next_offload: true}\n")
class cleans_up_at_the_next_offload(Taskless):
    def offload(self, call: Call) -> str:
        if os.path.isdir(self.output_dir()):
            self.cleanup(time.time())
        return super().offload(call)


@sound("it needs a tool that cleans up", profile="cleanup: {wait_s: 2}\n")
class cleans_up_in_the_background(Taskless):
    def started(self) -> None:
        import threading

        threading.Thread(target=self.watch, daemon=True).start()

    def watch(self) -> None:
        while True:
            time.sleep(0.5)
            try:
                self.cleanup(time.time())
            except OSError:
                continue


@sound("it expects a cleanup soon under any TTL", profile="cleanup: {wait_s: 2}\n", proves=1)
class cleans_up_the_more_rarely_the_longer_files_live(cleans_up_in_the_background):
    def watch(self) -> None:
        while True:
            time.sleep(min(self.settings.ttl / 8, 3600))
            try:
                self.cleanup(time.time())
            except OSError:
                continue


@sound("it needs a tool that cleans up", profile='cleanup: {command: [{command}, "--cleanup"]}\nevents: stderr\n')
class cleans_up_by_a_command(Taskless):
    def started(self) -> None:
        if "--cleanup" in sys.argv:
            self.cleanup(time.time())
            sys.exit(0)

    def notify(self, method: str, params: Record) -> None:
        pass


@sound("it expects the folder to stay")
class removes_the_empty_folder_and_makes_it_again(Server):
    def cleanup(self, now: float) -> list[str]:
        gone, folder = super().cleanup(now), self.output_dir()
        if gone and not os.listdir(folder):
            os.rmdir(folder)
        return gone

    def offload(self, call: Call) -> str:
        os.makedirs(self.output_dir(), exist_ok=True)
        return super().offload(call)


@sound("it expects files to stay until the task is called")
class cleans_up_before_every_call(Server):
    def offer(self, operation: str, arguments: dict[str, Any]) -> Record:
        try:
            self.cleanup(time.time())
        except OSError as problem:
            print(f"clean-up: {problem}", file=sys.stderr)
        return super().offer(operation, arguments)


@sound("it dates files back by their names alone")
class expires_by_the_header(Server):
    def created_at(self, path: str) -> float:
        import calendar

        try:
            with open(path, encoding="utf-8") as file:
                stamp = loads(file.readline())["timestamp"]
            return calendar.timegm(time.strptime(stamp[:19], "%Y-%m-%dT%H:%M:%S"))
        except (ValueError, KeyError, TypeError):
            return self.changed_at(path)


@sound("it sets local time, and dates headers back in UTC")
class expires_by_a_header_in_local_time(Server):
    def timestamp(self, now: float) -> str:
        return time.strftime("%Y-%m-%dT%H:%M:%S", time.localtime(now))

    def created_at(self, path: str) -> float:
        try:
            with open(path, encoding="utf-8") as file:
                return time.mktime(time.strptime(loads(file.readline())["timestamp"], "%Y-%m-%dT%H:%M:%S"))
        except (ValueError, KeyError, TypeError):
            return self.changed_at(path)


@sound("it takes the date of a file for that of writing")
class dates_files_by_their_end(Server):
    def write(self, path: str, data: bytes) -> None:
        super().write(path, data)
        end = time.time() + self.settings.ttl
        os.utime(path, (end, end))

    def created_at(self, path: str) -> float:
        return self.changed_at(path) - self.settings.ttl


class Promised(Server):
    """A header tells when its file expires, and that stays."""

    def end(self) -> Any:
        return int(time.time()) + self.settings.ttl

    def at(self, end: Any) -> float:
        return float(end)

    def header(self, call: Call) -> Record:
        return {**super().header(call), "expires": self.end()}

    def is_expired(self, path: str, now: float) -> bool:
        try:
            with open(path, encoding="utf-8") as file:
                return self.at(loads(file.readline())["expires"]) <= now
        except (ValueError, KeyError, TypeError):
            return super().is_expired(path, now)


@sound("it dates back the one time in a header that it knows")
class headers_tell_the_second_of_expiry(Promised):
    pass


@sound("it dates back the one time in a header that it knows, or numbers only")
class headers_tell_the_moment_of_expiry(Promised):
    def end(self) -> str:
        return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(super().end()))

    def at(self, end: Any) -> float:
        import calendar

        return calendar.timegm(time.strptime(end, "%Y-%m-%dT%H:%M:%SZ"))


@sound("it wants the second of writing in the header")
class headers_tell_the_minute(Server):
    def timestamp(self, now: float) -> str:
        return time.strftime("%Y%m%dT%H%M+0000", time.gmtime(now))


@sound("it dates files back by their names alone")
class expires_by_the_time_of_change(Server):
    def created_at(self, path: str) -> float:
        return self.changed_at(path)


@sound("it expects whatever begins with atlatl- to be deleted")
class knows_only_names_of_its_own_form(Server):
    def matches(self, name: str) -> bool:
        prefix, _, rest = name.partition("-")
        operation, _, ulid = rest.removesuffix(".jsonl").partition("-")
        return (
            (prefix, name[-6:]) == ("atlatl", ".jsonl")
            and operation in ("recall", "search", "inject")
            and len(ulid) == 26
            and all(c in CROCKFORD for c in ulid)
        )


@sound("it expects a file to be gone in the very second its time is over")
class waits_until_the_time_is_over_for_good(Server):
    def is_expired(self, path: str, now: float) -> bool:
        return self.created_at(path) + self.settings.ttl < now - 0.05


@sound("it expects events as notifications", profile="events: stderr\n")
class events_go_to_stderr(Server):
    def notify(self, method: str, params: Record) -> None:
        pass

    def initialize(self, params: dict[str, Any]) -> Record:
        return {**super().initialize(params), "capabilities": {"tools": {}}}


@sound("it expects events as notifications", profile="events: {file_env: EVENTS_FILE}\n")
class events_go_to_a_file(Server):
    def emit(self, event: str, level: str, **data: Any) -> None:
        path = os.environ.get("EVENTS_FILE")
        if path:
            with open(path, "a", encoding="utf-8") as file:
                file.write(self.dumps({"name": event, "at": self.timestamp(time.time()), "details": data}) + "\n")


@sound("it fails what it cannot see", profile="events: none\n", proves=2)
class events_go_nowhere_visible(Server):
    def emit(self, event: str, level: str, **data: Any) -> None:
        pass


@sound("it expects the event under the key `event`")
class events_are_sentences(Server):
    def emit(self, event: str, level: str, **data: Any) -> None:
        words = " ".join(f"{key}={value}" for key, value in data.items())
        self.notify("notifications/message", {"level": level, "data": f"{event}: {words}"})


@sound("it expects a message for each event")
class tells_all_events_of_a_run_at_once(Server):
    run: list[Record] | None = None

    def cleanup(self, now: float) -> list[str]:
        self.run = []
        paths = super().cleanup(now)
        if self.run:
            self.notify("notifications/message", {"level": "info", "data": {"events": self.run}})
        self.run = None
        return paths

    def emit(self, event: str, level: str, **data: Any) -> None:
        if self.run is None:
            return super().emit(event, level, **data)
        return self.run.append({"event": event, **data})


@sound("it expects no event but those of the text")
class emits_other_events_too(Server):
    def emit(self, event: str, level: str, **data: Any) -> None:
        super().emit("CustodialTaskStep", "debug", step=1)
        super().emit(event, level, **data)
        super().emit("OffloadFileSeen", "debug", files=3)


@sound("it looks as soon as the task has answered")
class cleans_up_after_the_answer(Server):
    delay_s = 0.5

    def call_tool(self, name: str, arguments: dict[str, Any]) -> Record:
        if name != "run_custodial_task":
            return super().call_tool(name, arguments)
        import threading

        threading.Timer(self.delay_s, self.clean_later).start()
        return self.text(self.dumps({"task": "offload_cleanup", "status": "started"}))

    def clean_later(self) -> None:
        try:
            self.cleanup(time.time())
        except OSError as problem:
            print(f"clean-up: {problem}", file=sys.stderr)


@sound("it takes its files along when it ends")
class takes_its_files_along(Server):
    own: list[str]

    def started(self) -> None:
        self.own = []

    def offload(self, call: Call) -> str:
        self.own.append(super().offload(call))
        return self.own[-1]

    def serve(self) -> None:
        super().serve()
        for path in self.own:
            if os.path.lexists(path):
                os.remove(path)


@sound("it takes expired files that are left for the next time for files that stay, and a link for none")
class cleans_up_a_file_or_a_link_at_a_time(InPortions):
    most = 1

    def is_ours(self, path: str) -> bool:
        return os.path.islink(path) or os.path.isfile(path)

    def is_expired(self, path: str, now: float) -> bool:
        return os.lstat(path).st_mtime < now - 86_400 if os.path.islink(path) else super().is_expired(path, now)


@sound("it takes what is left at a start for files that stay", profile="cleanup: {restart: true}\nevents: stderr\n")
class cleans_up_three_files_at_each_start(InPortions, cleans_up_at_start):
    most = 3


@sound("it takes the next three for files that stay, as they go later after the answer than the first")
class cleans_up_three_files_after_the_answer(InPortions, cleans_up_after_the_answer):
    most = 3
    delay_s = 0.1

    def clean_later(self) -> None:
        self.delay_s = 1.0
        super().clean_later()


@sound("it takes a task that was done a moment ago, and is not done again, for one that something stops")
class cleans_up_once_in_a_while(Server):
    last = 0.0

    def cleanup(self, now: float) -> list[str]:
        if now - self.last < 30:
            return []
        self.last = now
        return super().cleanup(now)


@sound("it waits for several hundred answers of a server that takes its time")
class answers_slowly(Server):
    def offload(self, call: Call) -> str:
        time.sleep(0.02)
        return super().offload(call)
