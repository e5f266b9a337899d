"""Attacks by processes and on other people's files."""

from __future__ import annotations

import os
import signal
import sys
import time

from tests.servers.hostile.catalogue import hostile
from tests.servers.plain import Server

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from tests.servers.plain import Call, Record

LONG_S = 150
"""Longer than any test, and the end of what a test should have ended."""


@hostile("twenty children in sessions of their own, deaf to every signal that can be ignored")
class leaves_twenty_children(Server):
    def started(self) -> None:
        for _ in range(20):
            if os.fork() == 0:
                os.setsid()
                for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
                    signal.signal(number, signal.SIG_IGN)
                for fd in (0, 1, 2):
                    os.close(fd)
                time.sleep(LONG_S)
                os._exit(0)


@hostile("a chain of short-lived processes that holds its pipes open: each is gone when it is found")
class leaves_a_moving_target(Server):
    def started(self) -> None:
        if os.fork() == 0:
            os.setsid()
            until = time.monotonic() + LONG_S
            while time.monotonic() < until:
                if os.fork():
                    os._exit(0)
                time.sleep(0.02)
            os._exit(0)


@hostile("a child with an empty environment in a session of its own")
class leaves_an_unmarked_child(Server):
    def started(self) -> None:
        if os.fork() == 0:
            os.setsid()
            os.execve(sys.executable, [sys.executable, "-I", "-S", "-c", f"import time; time.sleep({LONG_S})"], {})


@hostile("a daemon with an empty environment, whose parent is gone")
class leaves_an_unmarked_daemon(Server):
    def started(self) -> None:
        if (child := os.fork()) == 0:
            os.setsid()
            if os.fork() == 0:
                os.execve(sys.executable, [sys.executable, "-I", "-S", "-c", f"import time; time.sleep({LONG_S})"], {})
            os._exit(0)
        os.waitpid(child, 0)


@hostile("ignores the end of its input and every signal but the last")
class will_not_go(Server):
    def serve(self) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        super().serve()
        time.sleep(LONG_S)


@hostile("stops itself in the middle of a call")
class stops_itself(Server):
    def offer(self, operation: str, arguments: Record) -> Record:
        if self.calls == 5:
            os.kill(os.getpid(), signal.SIGSTOP)
        return super().offer(operation, arguments)


@hostile("fills its folders with read-only folders and a thousand files")
class litters(Server):
    def offload(self, call: Call) -> str:
        path = super().offload(call)
        folder = f"{path}.d"
        os.mkdir(folder)
        for n in range(50):
            with open(os.path.join(folder, f"{n}"), "wb") as file:
                file.write(b"x")
        os.chmod(folder, 0o500)
        return path


@hostile("claims somebody else's file, older than itself, to be its own")
class claims_an_older_file(Server):
    """The test puts such a file into the system's temporary folder."""

    def descriptor(self, call: Call, path: str) -> Record:
        found = os.environ.get("LRO_TEST_OLDER_FILE")
        return super().descriptor(call, found if found and not self.settings.output_dir else path)


@hostile("answers with the file of the server process before it")
class reuses_files(Server):
    def offload(self, call: Call) -> str:
        for name in sorted(os.listdir(self.output_dir())):
            if self.matches(name):
                return os.path.join(self.output_dir(), name)
        return super().offload(call)


@hostile("memories that grow with every call")
class grows(Server):
    ballast: Any = ()

    def execute(self, operation: str, arguments: Record) -> Call:
        if self.calls > 10:
            for memory in self.memories:
                if len(memory["content"]) < 100_000:
                    memory["content"] += memory["content"]
        return super().execute(operation, arguments)


@hostile("folders within folders, deeper than a recursion or a path goes")
class digs(Server):
    def started(self) -> None:
        if os.fork() == 0:
            try:
                os.chdir(os.environ["TMPDIR"])
                for _ in range(2000):
                    os.mkdir("deep")
                    os.chdir("deep")
            finally:
                os._exit(0)
        os.wait()
