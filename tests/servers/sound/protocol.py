"""MCP in its rarer forms."""

from __future__ import annotations

import os
import sys
import time

from tests.servers.plain import BadArguments, Call, Server
from tests.servers.sound.catalogue import sound
from tests.servers.tasks import Tasking

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from tests.servers.plain import Record


@sound("it reads the first page of the tools only")
class lists_its_tools_two_at_a_time(Server):
    def list_tools(self, params: dict[str, Any]) -> Record:
        start = int(params.get("cursor") or 0)
        page: Record = {"tools": self.tools()[start : start + 2]}
        if start + 2 < len(self.tools()):
            page["nextCursor"] = str(start + 2)
        return page


@sound("it takes a slow answer for none, or two files of one test for one time")
class takes_fifty_milliseconds_a_call(Server):
    def call_tool(self, name: str, arguments: dict[str, Any]) -> Record:
        time.sleep(0.05)
        return super().call_tool(name, arguments)


@sound("it lets stderr fill its pipe, which stops the server")
class is_chatty_on_stderr(Server):
    def handle(self, line: bytes) -> None:
        sys.stderr.write(
            f"DEBUG {len(line)} bytes; {'so far so good; ' * 2000}\n{{not json}}\n\x1b[1mTraceback\x1b[0m\n"
        )
        sys.stderr.flush()
        super().handle(line)


@sound("it takes the next line for the answer")
class notifies_before_every_answer(Server):
    def reply(self, id: Any, result: Record) -> None:
        self.notify("notifications/message", {"level": "debug", "data": {"id": id, "text": "almost there"}})
        self.notify("notifications/tools/list_changed", {})
        super().reply(id, result)


@sound("it does not answer requests, or takes them for answers to its own")
class pings_before_every_answer(Server):
    pings = 0

    def reply(self, id: Any, result: Record) -> None:
        self.pings += 1
        self.send({"jsonrpc": "2.0", "id": self.pings, "method": "ping"})
        super().reply(id, result)


@sound("it takes a request that it cannot fulfil for a fault")
class asks_for_roots(Server):
    def reply(self, id: Any, result: Record) -> None:
        super().reply(id, result)
        self.send({"jsonrpc": "2.0", "id": f"roots-{id}", "method": "roots/list", "params": {}})


@sound("it expects the newest protocol")
class speaks_the_first_protocol(Server):
    protocols = ("2024-11-05",)


@sound("it expects answers in the order of its requests")
class answers_the_last_request_first(Server):
    def received(self, lines: Sequence[bytes]) -> None:
        super().received(lines[::-1] if all(b'"tools/call"' in line for line in lines) else lines)


@sound("it expects a whole message in one read")
class dribbles_its_answers(Server):
    def send_line(self, line: bytes) -> None:
        whole = line + b"\n"
        for cut in (whole[:7], whole[7:11], whole[11 : len(whole) // 2], whole[len(whole) // 2 :]):
            rest = cut
            while rest:
                rest = rest[os.write(1, rest) :]
            time.sleep(0.001)


@sound("it expects the process to be gone as soon as its input ends")
class takes_its_time_to_leave(Server):
    def serve(self) -> None:
        super().serve()
        time.sleep(0.3)


@sound("it expects no more than the text's fields in the handshake")
class introduces_itself_at_length(Server):
    def initialize(self, params: dict[str, Any]) -> Record:
        result = super().initialize(params)
        result["serverInfo"] |= {"title": "Plain memory ✓", "websiteUrl": "https://example.org", "icons": []}
        capabilities: Record = {"tools": {"listChanged": True}, "resources": {}, "experimental": {"lro": {"level": 3}}}
        return {**result, "capabilities": {**capabilities, "logging": {}}, "instructions": "Recall before you guess."}


@sound("it expects a start within the time of a request")
class takes_half_a_second_to_start(Server):
    def started(self) -> None:
        time.sleep(0.5)


@sound("it calls operations without a level that they have to be given")
class requires_a_detail_level(Server):
    def execute(self, operation: str, arguments: dict[str, Any]) -> Call:
        if "detail" not in arguments:
            raise BadArguments("detail is required")
        return super().execute(operation, arguments)

    def tool(
        self, name: str, about: str, properties: Record, *, required: Sequence[str] = (), output: bool = False
    ) -> Record:
        needed = [*required, "detail"] if "detail" in properties else required
        return super().tool(name, about, properties, required=needed, output=output)


@sound("A call may be a task, whose result is fetched later and by another method.")
class runs_tasks(Tasking):
    pass


@sound("It lists tools as tasks, and does not declare that it can run any: they are called as usual.")
class lists_tasks_without_declaring_them(Server):
    def tools(self) -> list[Record]:
        return [{**tool, "execution": {"taskSupport": "optional"}} for tool in super().tools()]
