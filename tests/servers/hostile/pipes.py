"""Attacks by the three pipes alone."""

from __future__ import annotations

import os
import sys
import time

from tests.servers.hostile.catalogue import hostile
from tests.servers.plain import Server

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from tests.servers.plain import Record


@hostile("a line that never ends, in place of its third result")
class endless_line(Server):
    def offer(self, operation: str, arguments: Record) -> Record:
        if self.calls == 3:
            while True:
                os.write(1, b"x" * 65536)
        return super().offer(operation, arguments)


@hostile("fills stderr without a line feed before every answer")
class stderr_flood(Server):
    def reply(self, id: Any, result: Record) -> None:
        for _ in range(64):
            os.write(2, b"\x1b[31mnoise " * 8192)
        super().reply(id, result)


@hostile("ten thousand notifications of a kilobyte around every answer")
class notification_flood(Server):
    def reply(self, id: Any, result: Record) -> None:
        line = self.dumps({"jsonrpc": "2.0", "method": "notifications/message", "params": {"data": "n" * 1000}})
        self.send_line("\n".join([line] * 10_000).encode())
        super().reply(id, result)


@hostile("results of 30 MB, each another one")
class huge_results(Server):
    def structured(self, value: Any) -> Record:
        return {**super().structured(value), "_meta": {"ballast": f"{self.calls}" + "b" * 30_000_000}}


@hostile("an answer a byte at a time, without end")
class dripping(Server):
    def offer(self, operation: str, arguments: Record) -> Record:
        while self.calls == 2:
            os.write(1, b" ")
            time.sleep(0.01)
        return super().offer(operation, arguments)


@hostile("half a line, then its end")
class half_a_line(Server):
    def reply(self, id: Any, result: Record) -> None:
        if self.calls == 5:
            os.write(1, self.dumps({"jsonrpc": "2.0", "id": id, "result": result}).encode()[:200])
            os._exit(0)
        super().reply(id, result)


@hostile("reads no more after the handshake, and lives on")
class closed_stdin(Server):
    def list_tools(self, params: Record) -> Record:
        os.close(0)
        self.reply(2, super().list_tools(params))
        time.sleep(120)
        return {}


@hostile("writes no more after some calls, and lives on")
class closed_stdout(Server):
    def offer(self, operation: str, arguments: Record) -> Record:
        if self.calls == 4:
            os.close(1)
            time.sleep(120)
        return super().offer(operation, arguments)


@hostile("exits with a signal's number as its code in the middle of a line")
class exits_with_137(Server):
    def offer(self, operation: str, arguments: Record) -> Record:
        if self.calls == 6:
            sys.stdout.write('{"jsonrpc": "2.0", "id": 9, "result": {"content": [')
            sys.stdout.flush()
            os._exit(137)
        return super().offer(operation, arguments)


@hostile("kills its own process group")
class kills_its_group(Server):
    def offer(self, operation: str, arguments: Record) -> Record:
        if self.calls == 7:
            os.killpg(0, 9)
        return super().offer(operation, arguments)


@hostile("answers slowly, and every seventh call too late")
class slow_to_everything(Server):
    def reply(self, id: Any, result: Record) -> None:
        time.sleep(0.3 if self.calls % 7 else 3)
        super().reply(id, result)
