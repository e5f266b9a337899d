"""A server under test: a process, and the JSON-RPC conversation with it.

One thread owns a `ServerProcess` at a time and nothing runs behind its back: the pipes are pumped while somebody waits.
A server can misbehave in any way; what a caller sees is a `Reply` with a `Failure`, in bounded time and memory.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol, Self, cast

from lro_conformance.version import version
from lro_conformance.wire import child
from lro_conformance.wire.channel import Channel
from lro_conformance.wire.child import Exit
from lro_conformance.wire.connection import Connection, Limits, as_object
from lro_conformance.wire.dialogue import Failure, Reply

CLIENT_NAME = "lro-certify"
PROTOCOL_VERSION = "2025-11-25"
MODERN_VERSION = "2026-07-28"
"""The protocol without a handshake: each request says which version it speaks and who asks."""
META = "io.modelcontextprotocol/"
"""What the names of the protocol's own metadata begin with."""
_MAX_PAGES = 100


class Watcher(Protocol):
    """Someone who wants to know which process groups live."""

    def started(self, group: int) -> None:
        """A server's process group was created."""
        ...

    def ended(self, group: int) -> None:
        """It is gone."""
        ...


class ServerProcess(Connection):
    """One server, started with `start` or as a context manager, and always ended with `close`.

    *env* is added to the environment of the suite; a value of None takes a variable out. *file_size_limit* is in bytes;
    a write beyond it fails with EFBIG. *marker* is put into the environment so that `close` finds whatever the server
    started, also in sessions of their own (Linux).
    """

    def __init__(
        self,
        argv: Sequence[str],
        *,
        env: Mapping[str, str | None] | None = None,
        cwd: str | os.PathLike[str] | None = None,
        limits: Limits | None = None,
        file_size_limit: int | None = None,
        marker: str = "",
        watcher: Watcher | None = None,
    ) -> None:
        super().__init__(limits or Limits())
        self.argv = tuple(argv)
        self.server_info: dict[str, Any] = {}
        self.capabilities: dict[str, Any] = {}
        self.protocol_version: str | None = None
        """What the server answered to `initialize`; None where it was not a string."""
        self.instructions: str | None = None
        self.handshake: dict[str, Any] = {}
        """The result that opened the conversation, of `initialize` or of `discover`."""
        self.listed: list[dict[str, Any]] = []
        """The results of tools/list, a page each."""
        self._envelope: dict[str, Any] | None = None
        self.on_closed: Callable[[], None] | None = None
        """Called once, when it has ended."""
        self._env, self._cwd, self._file_size_limit = env, cwd, file_size_limit
        self._marker, self._watcher = marker, watcher

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def start(self) -> Failure | None:
        """Starts the process, once; why that failed, if it did. Every later request then fails in the same way."""
        with self._lock:
            if self._child is not None or self.failure is not None:
                return self.failure
            if not child.SUPPORTED:
                self.failure = Failure("not-started", "starting servers is supported on POSIX systems only")
            elif self._closed or self._aborted:
                self.failure = Failure("not-started", "the server is closed")
            elif not self.argv:
                self.failure = Failure("not-started", "the command is empty")
            else:
                self._spawn()
            return self.failure

    def _spawn(self) -> None:
        try:
            started = child.spawn(
                self.argv,
                env=self._env,
                cwd=self._cwd,
                file_size_limit=self._file_size_limit,
                marker=self._marker,
            )
        except (OSError, ValueError) as problem:
            self.failure = Failure("not-started", _why_not_started(self.argv[0], self._cwd, problem))
            return
        if self._watcher:
            self._watcher.started(started.pid)
        self._connect(started)

    @property
    def alive(self) -> bool:
        """Whether the process runs."""
        return self._child is not None and self.exit is None and self._child.peek() is None

    @property
    def closed(self) -> bool:
        """Whether `close` has ended it."""
        return self._closed

    @property
    def pid(self) -> int | None:
        """Its process id, which is also that of its group and session; None before the start."""
        return self._child.pid if self._child else None

    def limit_files(self, size: int) -> bool:
        """From now on, let every write beyond *size* bytes of a file fail with EFBIG; False where that cannot be done.

        The process must have been started with a `file_size_limit`, however large, so that it ignores SIGXFSZ.
        """
        import resource  # here, so that evidence can be judged where there is no such module

        if self.pid is None or not hasattr(resource, "prlimit"):
            return False
        try:
            resource.prlimit(self.pid, resource.RLIMIT_FSIZE, (size, size))
        except (OSError, ValueError):
            return False
        return True

    def close(self) -> Exit | None:
        """Ends it: stdin closed, then SIGTERM, then SIGKILL; and whatever it started. Returns how it ended."""
        if not self._lock.acquire(timeout=self.limits.stop_timeout_s):
            self.abort()  # another thread waits for a reply
            self._lock.acquire()
        try:
            if not self._closed:
                self._closed = True
                self._end()
                if self.on_closed is not None:
                    self.on_closed()
            return self.exit
        finally:
            self._lock.release()

    def _end(self) -> None:
        if self._child is None:
            return
        killed = True
        try:
            if self._channel is not None:
                killed = self._ask_to_stop(self._channel)
        finally:
            exit = self._child.finish(killed=killed)
            self._final = replace(exit, killed=True) if self._aborted and exit.signal == signal.SIGKILL else exit
            if self._channel is not None:
                self._channel.sweep()
                self._channel.close()
            for id in list(self._dialogue.pending):
                self._dialogue.give_up(id, self._failure("closed", "the server was stopped before it answered"))
            if self._watcher:
                self._watcher.ended(self._child.pid)

    def forget_opening(self, *, raw_only: bool) -> None:
        """Lets go of the lines that opened the conversation, and unless *raw_only* of what was read in them."""
        with self._lock:
            self.transcript.cut_answers()
            if not raw_only:
                self.handshake, self.instructions, self.listed = {}, None, []

    def forget(self) -> None:
        """Lets go of all that it said, its handshake too; what was sent to it, and anomalies, stay. For a closed one,
        which calls may refer to for long."""
        with self._lock:
            self.transcript.keep_sent()
            self.server_info, self.capabilities, self.handshake, self.listed = {}, {}, {}, []
            self.protocol_version = self.instructions = None

    def _ask_to_stop(self, channel: Channel) -> bool:
        """Whether it took a signal."""
        channel.close_stdin()
        steps = (
            (None, self.limits.stop_timeout_s),
            (signal.SIGTERM, self.limits.term_timeout_s),
            (signal.SIGKILL, 5.0),
        )
        for number, patience_s in steps:
            if number is not None and self._child is not None:
                self._child.signal_group(number)
            until = time.monotonic() + (patience_s if not self._aborted or number == signal.SIGKILL else 0)
            channel.pump(lambda: channel.exited_at is not None, until)
            if channel.exited_at is not None:
                return number is not None
        return True

    def initialize(
        self,
        *,
        client_name: str | None = None,
        capabilities: Mapping[str, Any] | None = None,
        protocol_version: str = PROTOCOL_VERSION,
        timeout_s: float | None = None,
    ) -> Reply:
        """The handshake, with `Limits.start_timeout_s`; a failure tells the exit code and the end of stderr.

        Who calls is `CLIENT_NAME`, unless *client_name* is given; *capabilities* are those of the client.
        """
        client = {"name": client_name or CLIENT_NAME, "version": version()}
        params = {"protocolVersion": protocol_version, "capabilities": dict(capabilities or {}), "clientInfo": client}
        reply = self.request("initialize", params, self.limits.start_timeout_s if timeout_s is None else timeout_s)
        if reply.ok:
            self.handshake = result = as_object(reply.result)
            self.server_info = as_object(result.get("serverInfo"))
            self.capabilities = as_object(result.get("capabilities"))
            self.protocol_version = _text(result.get("protocolVersion"))
            self.instructions = _text(result.get("instructions"))
            self.notify("notifications/initialized")
        return reply

    def discover(
        self,
        *,
        client_name: str | None = None,
        capabilities: Mapping[str, Any] | None = None,
        timeout_s: float | None = None,
    ) -> Reply:
        """Opens a conversation by the protocol of 2026-07-28: from now on each request carries its envelope.

        `modern` tells whether the server speaks it; where it does not, nothing has changed.
        """
        client = {"name": client_name or CLIENT_NAME, "version": version()}
        self._envelope = {
            f"{META}protocolVersion": MODERN_VERSION,
            f"{META}clientCapabilities": dict(capabilities or {}),
            f"{META}clientInfo": client,
            f"{META}logLevel": "debug",
        }
        limit = self.limits.start_timeout_s if timeout_s is None else timeout_s
        reply = self.request("server/discover", None, limit)
        result = as_object(reply.result)
        versions: Any = result.get("supportedVersions")
        if not (reply.ok and isinstance(versions, list) and MODERN_VERSION in versions):
            self._envelope = None
            return reply
        self.handshake = result
        self.server_info = as_object(as_object(result.get("_meta")).get(f"{META}serverInfo"))
        self.capabilities = as_object(result.get("capabilities"))
        self.protocol_version = MODERN_VERSION
        self.instructions = _text(result.get("instructions"))
        return reply

    @property
    def modern(self) -> bool:
        """Whether the conversation goes by the protocol of 2026-07-28."""
        return self._envelope is not None

    def send(self, method: str, params: Mapping[str, Any] | None = None) -> int:
        """Sends a request without waiting, with the envelope of its protocol; its id, for `wait`."""
        if self._envelope is not None:
            params = {**(params or {}), "_meta": {**as_object((params or {}).get("_meta")), **self._envelope}}
        return super().send(method, params)

    @property
    def offers_logging(self) -> bool:
        """Whether `set_log_level` makes sense."""
        return "logging" in self.capabilities and not self.modern

    def set_log_level(self, level: str = "debug") -> Reply:
        """Asks for log notifications from this level on."""
        return self.request("logging/setLevel", {"level": level})

    def list_tools(self, timeout_s: float | None = None) -> tuple[list[dict[str, Any]], Reply]:
        """All tools of all pages, and the last page's reply; one time limit for all of them.

        A cursor that comes twice, or a hundredth page that names another, ends the list as an anomaly.
        """
        deadline = time.monotonic() + (self.limits.request_timeout_s if timeout_s is None else timeout_s)
        tools: list[dict[str, Any]] = []
        seen: set[str] = set()
        cursor: str | None = None
        while True:
            params = None if cursor is None else {"cursor": cursor}
            reply = self.request("tools/list", params, max(0.0, deadline - time.monotonic()))
            result = as_object(reply.result)
            if reply.ok:
                self.listed.append(result)
            entries: Any = result.get("tools")
            for entry in cast("list[Any]", entries) if isinstance(entries, list) else []:
                if isinstance(entry, dict):
                    tools.append(cast("dict[str, Any]", entry))
                else:
                    self.transcript.note("list-entry", f"tools/list has the entry {entry!r:.100}")
            following: Any = result.get("nextCursor")
            cursor = _text(following)
            if not reply.ok or not cursor:
                if following is not None and cursor is None:
                    self.transcript.note("paging", f"the cursor of tools/list is {following!r:.100}, not a string")
                return tools, reply
            if cursor in seen or len(seen) + 1 >= _MAX_PAGES:
                why = "came before" if cursor in seen else f"follows page {_MAX_PAGES}"
                self.transcript.note("paging", f"the cursor {cursor!r:.100} of tools/list {why}")
                return tools, reply
            seen.add(cursor)

    def call_tool(self, name: str, arguments: Mapping[str, Any] | None = None, timeout_s: float | None = None) -> Reply:
        """Calls a tool."""
        return self.request("tools/call", {"name": name, "arguments": dict(arguments or {})}, timeout_s)


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _why_not_started(command: str, cwd: str | os.PathLike[str] | None, problem: Exception) -> str:
    if cwd is not None and not os.path.isdir(cwd):
        return f"the working directory {os.fspath(cwd)} is not a folder"
    if isinstance(problem, FileNotFoundError):
        if "/" in command and os.path.exists(os.path.join(cwd or "", command)):
            return f"{command} exists, but the interpreter that its first line names does not"
        where = (
            f"there is no such file (seen from {os.path.abspath(cwd or '.')})"
            if "/" in command
            else "it is nowhere on the PATH"
        )
        return f"cannot start {command}: {where}"
    if isinstance(problem, PermissionError):
        return f"cannot start {command}: it is not executable"
    if isinstance(problem, OSError):
        return f"cannot start {command}: {problem.strerror}"
    return f"cannot start {command!r}: {problem}"
