"""The plain server, each time with one thing broken that no certification can do without; named for how."""

from __future__ import annotations

import errno
import os
import signal
import sys
import time

from tests.servers.plain import Server

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from tests.servers.plain import Record, Settings

FOR_EVER_S = 120
"""Longer than any test waits, and the end of what a test should have ended."""


def complain(text: str) -> None:
    """A line on stderr."""
    print(text, file=sys.stderr, flush=True)


# At the start


class ExitsAtOnce(Server):
    def started(self) -> None:
        complain("opening the database")
        complain("no database at /var/lib/memories")
        sys.exit(3)


class HangsAtInitialize(Server):
    def initialize(self, params: Record) -> Record:
        complain("waiting for a lock")
        time.sleep(FOR_EVER_S)
        return super().initialize(params)


class PrintsGarbage(Server):
    def started(self) -> None:
        self.send_line(b"Welcome to my server!")
        time.sleep(FOR_EVER_S)


class RefusesToShakeHands(Server):
    def take(self, message: Record) -> None:
        self.fail(message.get("id"), -32603, "no licence")


class RefusesTheSetting(Server):
    """Does not start when a setting is given: that of the argument, with its value if there is one."""

    def __init__(self, name: str, value: str = "") -> None:
        self.refused, self.refused_value = name, value
        super().__init__()

    def read_settings(self, env: Mapping[str, str]) -> Settings:
        given = env.get(f"ATLATL_PROMPT__OFFLOAD__{self.refused}")
        if given is not None and self.refused_value in ("", given):
            complain(f"{self.refused}={given} is not supported here")
            sys.exit(78)
        return super().read_settings(env)


# In the middle


class DiesAtTheList(Server):
    def list_tools(self, params: Record) -> Record:
        complain("list_tools: index out of range")
        sys.exit(101)


class DiesAtCall(Server):
    """Dies at the call of this number, counted from 1."""

    def __init__(self, number: str) -> None:
        super().__init__()
        self.last, self.number = int(number), 0

    def call_tool(self, name: str, arguments: dict[str, Any]) -> Record:
        self.number += 1
        if self.number == self.last:
            complain("fatal: the index is corrupt")
            os.kill(os.getpid(), signal.SIGSEGV)
        return super().call_tool(name, arguments)


class Silent(Server):
    """Shakes hands and says nothing more."""

    def take(self, message: Record) -> None:
        if message.get("method") == "initialize":
            super().take(message)


class HangsAtCalls(Server):
    """Lists its tools, and hangs at the first call."""

    def call_tool(self, name: str, arguments: dict[str, Any]) -> Record:
        complain("searching")
        time.sleep(FOR_EVER_S)
        return super().call_tool(name, arguments)


class HangsOnceOffloading(Server):
    """Hangs as soon as there is something to write, but not in its first process (the argument is a file to tell)."""

    def __init__(self, mark: str) -> None:
        super().__init__()
        self.hangs = os.path.exists(mark)
        with open(mark, "w"):
            pass

    def write(self, path: str, data: bytes) -> None:
        if self.hangs:
            time.sleep(FOR_EVER_S)
        super().write(path, data)


class RefusesCalls(Server):
    """Every call is a JSON-RPC error."""

    def take(self, message: Record) -> None:
        if message.get("method") == "tools/call":
            return self.fail(message["id"], -32000, "quota exceeded")
        return super().take(message)


class FailsCalls(Server):
    """Every call is a tool's error."""

    def call_tool(self, name: str, arguments: dict[str, Any]) -> Record:
        return self.error("the index is being rebuilt")


class FindsNothing(Server):
    """Says so in words, whatever is asked for: its store is empty."""

    def call_tool(self, name: str, arguments: dict[str, Any]) -> Record:
        return {"content": [{"type": "text", "text": f"No memories match {arguments.get('query')!r}."}]}


class CannotWrite(Server):
    """Its writes fail as on a full disk: all, or those of one operation, or those at a threshold above 1 (later), or
    those of so many bytes and more."""

    def __init__(self, which: str = "all") -> None:
        super().__init__()
        self.which = which

    def write(self, path: str, data: bytes) -> None:
        least = int(self.which) if self.which.isdecimal() else 0
        later = self.which == "later" and self.settings.threshold > 1
        if self.which == "all" or later or f"-{self.which}-" in path or 0 < least <= len(data):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        super().write(path, data)


class Slow(Server):
    """Takes its time, in seconds, for every call."""

    def __init__(self, seconds: str) -> None:
        super().__init__()
        self.seconds = float(seconds)

    def call_tool(self, name: str, arguments: dict[str, Any]) -> Record:
        time.sleep(self.seconds)
        return super().call_tool(name, arguments)


# On the wire


class InvalidUtf8(Server):
    """Results with a byte of Latin-1 in them."""

    def reply(self, id: Any, result: Record) -> None:
        message = {"jsonrpc": "2.0", "id": id, "result": {**result, "_meta": {"from": "the caf\u00e9"}}}
        self.send_line(self.dumps(message).encode().replace("\u00e9".encode(), b"\xe9"))


class LongLines(Server):
    """Results of as many bytes as the argument says."""

    def __init__(self, size: str) -> None:
        super().__init__()
        self.size = int(size)

    def call_tool(self, name: str, arguments: dict[str, Any]) -> Record:
        return self.text("x" * self.size)


class FloodsStderr(Server):
    """More than a pipe holds, with the first call of each process and one of sixty-four."""

    calls = 0

    def call_tool(self, name: str, arguments: dict[str, Any]) -> Record:
        self.calls += 1
        sys.stderr.write("debug: a line that nobody needs\n" * (2_500 if self.calls % 64 == 1 else 1))
        return super().call_tool(name, arguments)


class FloodsNotifications(Server):
    """Likewise."""

    calls = 0

    def call_tool(self, name: str, arguments: dict[str, Any]) -> Record:
        self.calls += 1
        note = self.dumps(
            {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "debug", "data": "x"}}
        )
        sys.stdout.write((note + "\n") * (1_000 if self.calls % 64 == 1 else 1))
        return super().call_tool(name, arguments)


class Chatty(Server):
    """Prints a line of plain text before every answer."""

    def reply(self, id: Any, result: Record) -> None:
        self.send_line(b"INFO answering")
        super().reply(id, result)


# At the end


class IgnoresTheEnd(Server):
    """Neither the end of its input nor SIGTERM makes it stop."""

    def serve(self) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        super().serve()
        time.sleep(FOR_EVER_S)


class LeavesAChild(Server):
    """Starts a process that outlives it: in its own process group, or (``session``) in a session of its own."""

    def __init__(self, where: str) -> None:
        super().__init__()
        self.where = where

    def started(self) -> None:
        if os.fork() == 0:
            if self.where == "session":
                os.setsid()
            for number in (signal.SIGTERM, signal.SIGHUP):
                signal.signal(number, signal.SIG_IGN)
            for fd in (0, 1, 2):
                os.close(fd)
            time.sleep(FOR_EVER_S)
            os._exit(0)


class LeavesAStranger(Server):
    """Starts a process that nothing ties to it: another session, another parent, an empty environment."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name

    def started(self) -> None:
        child = os.fork()
        if child == 0:
            os.setsid()
            if os.fork() == 0:
                for fd in (0, 1, 2):
                    os.close(fd)
                waiting = f"import time; time.sleep({FOR_EVER_S})"
                os.execve(sys.executable, [sys.executable, "-I", "-S", "-c", waiting, self.name], {})
            os._exit(0)
        os.waitpid(child, 0)
