"""A server under test: a process, and the JSON-RPC conversation with it.

One thread owns a `ServerProcess` at a time and there are no background threads: the pipes are pumped during waits. Even
if a server misbehaves, `wait` returns a `Reply`, possibly with a `Failure`, within limits of time and memory.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from typing import Any, Protocol, Self, cast

from lro_conformance.profile.model import DEFAULT_START_TIMEOUT_S, DEFAULT_TIMEOUT_S
from lro_conformance.version import CLIENT_NAME, version
from lro_conformance.wire import child, jsonrpc
from lro_conformance.wire.child import Child
from lro_conformance.wire.exchange import Pending, RequestTracker
from lro_conformance.wire.framing import Line
from lro_conformance.wire.pipes import Channel
from lro_conformance.wire.reply import MODERN_VERSION, Exit, Failure, FailureKind, Reply
from lro_conformance.wire.shortage import Shortage, shortage_of
from lro_conformance.wire.transcript import Transcript

PROTOCOL_VERSION = "2025-11-25"
META = "io.modelcontextprotocol/"
"""Prefix of the keys in ``_meta`` that the protocol itself defines."""
_MAX_PAGES = 100
_SETTLE_S = 0.5
"""After the server has closed a pipe or has ended, data may still arrive for this many seconds."""
_STDERR_END = 4000
"""Number of bytes of the end of stderr that a `Failure` quotes."""
_MAX_BACKLOG_BYTES = 1 << 20
"""The server's own requests are answered only while fewer bytes than this wait to be written to the server's stdin."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits on the time and memory that one server may take."""

    request_timeout_s: float = DEFAULT_TIMEOUT_S
    start_timeout_s: float = DEFAULT_START_TIMEOUT_S
    """Seconds for the request that opens the conversation, `initialize` or `server/discover`."""
    stop_timeout_s: float = 2.0
    """Seconds for a server to exit after its stdin was closed, before SIGTERM."""
    term_timeout_s: float = 1.0
    """Seconds for a server to exit after SIGTERM, before SIGKILL."""
    max_line_bytes: int = 256 << 20
    """Maximum number of bytes of a line on stdout. Longer lines are skipped."""
    transcript_bytes: int = 256 << 20
    """Maximum size of the transcript. Beyond it, older lines are cut to their beginnings. If that is not enough,
    chatter is dropped (see `Transcript`)."""
    max_chatter: int = 10_000
    """Maximum number of lines of stderr in the transcript, and also of other lines of chatter (see `Transcript`)."""
    stderr_bytes: int = 1 << 20
    """Maximum number of bytes of stderr that are kept. They are the end of stderr."""
    max_unanswered: int | None = None
    """If the responses to this many requests in a row did not come in time, or were over the size limit, the suite no
    longer waits for responses until a response has arrived. None if there is no such limit."""


class Watcher(Protocol):
    """Is told which process groups exist."""

    def register_group(self, group: int) -> None:
        """Called when a server's process group was created."""
        ...

    def withdraw_group(self, group: int) -> None:
        """Called when a server's process group has ended."""
        ...


class ServerProcess:
    """One server. It is started by `start` or as a context manager, and always has to be ended by `close`.

    *env* is added to the environment of the suite; a value of None removes a variable. *file_size_limit* is a number of
    bytes; a write beyond this file size fails with EFBIG. *marker* is put into the environment so that `close` finds
    all processes that the server started, including processes in other sessions (on Linux). Only one thread at a time
    may use the object. Meanwhile, other threads may only call `abort` and `close`.
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
        self.limits = limits = limits or Limits()
        self.failure: Failure | None = None
        """The reason why the server could not be started; None if it was started, or if its start was not tried yet."""
        self.transcript = Transcript(max_bytes=limits.transcript_bytes, max_chatter=limits.max_chatter)
        self._requests = RequestTracker(self.transcript)
        self._stderr = bytearray()
        self._child: Child | None = None
        self._final: Exit | None = None
        self._channel: Channel | None = None
        self._request_ends: dict[int, int] = {}
        """The ids of requests, each with the number of bytes that were queued for stdin up to the end of the
        request."""
        self._noted: set[str] = set()
        self._unanswered = 0
        self._aborted = False
        self._closed = False
        self._lock = threading.RLock()
        self.argv = tuple(argv)
        self.server_info: dict[str, Any] = {}
        self.capabilities: dict[str, Any] = {}
        self.protocol_version: str | None = None
        """The protocol version that the server chose in the handshake. None before the handshake, or if it is not a
        string."""
        self.instructions: str | None = None
        self.handshake: dict[str, Any] = {}
        """The server's result of the request that opened the conversation: `initialize` or `server/discover`."""
        self.listed: list[dict[str, Any]] = []
        """The results of tools/list, one for each page."""
        self._envelope: dict[str, Any] | None = None
        self.on_closed: Callable[[], None] | None = None
        """Called once, by `close`, after the server has ended."""
        self._env, self._cwd, self._file_size_limit = env, cwd, file_size_limit
        self.file_limit_applied = False
        """True once `limit_files` has limited the process."""
        self._marker, self._watcher = marker, watcher

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def start(self) -> Failure | None:
        """Start the process; a second call does nothing. Returns None or, if the process cannot be started, the
        failure. All later requests then have this failure, too."""
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
            if (shortage := shortage_of(problem)) is not None:
                raise Shortage(shortage) from None
            self.failure = Failure("not-started", _why_not_started(self.argv[0], self._cwd, problem))
            return
        if self._watcher:
            self._watcher.register_group(started.pid)
        self._connect(started)

    def _connect(self, child: Child) -> None:
        self._child = child
        self._channel = Channel(
            child,
            max_line_bytes=self.limits.max_line_bytes,
            on_line=self._requests.receive,
            on_stderr=self._keep_stderr,
            on_stderr_line=self._keep_stderr_line,
        )

    @property
    def exit(self) -> Exit | None:
        """The exit of the server; None while it runs, or if it was never started."""
        return self._final or (self._child.peek() if self._child else None)

    @property
    def alive(self) -> bool:
        """True while the process runs."""
        return self._child is not None and self.exit is None and self._child.peek() is None

    @property
    def closed(self) -> bool:
        """True once `close` was called."""
        return self._closed

    @property
    def aborted(self) -> bool:
        """True once `abort` was called."""
        return self._aborted

    @property
    def pid(self) -> int | None:
        """The process id, which is also the id of the process group and the session. None before the start."""
        return self._child.pid if self._child else None

    def limit_files(self, size: int) -> bool:
        """From now on, make each write of the process fail with EFBIG if a file would grow beyond *size* bytes. Returns
        False if that is not possible.

        The process must have been started with a `file_size_limit`, so that it ignores SIGXFSZ. That limit may be very
        large.
        """
        import resource  # imported here, so that evidence can be judged on systems without this module

        if self.pid is None or not hasattr(resource, "prlimit"):
            return False
        try:
            resource.prlimit(self.pid, resource.RLIMIT_FSIZE, (size, size))
        except (OSError, ValueError):
            return False
        self.file_limit_applied = True
        return True

    def abort(self) -> None:
        """Kill the process group immediately, from any thread. Pending requests fail. `close` is still necessary."""
        self._aborted = True
        if self._child is not None:
            self._child.signal_group(signal.SIGKILL)

    def close(self) -> Exit | None:
        """Stop the server and everything that it started: first by closing stdin, then by SIGTERM, then by SIGKILL.

        If another thread still waits for a reply after `Limits.stop_timeout_s`, the server is killed immediately.
        """
        if not self._lock.acquire(timeout=self.limits.stop_timeout_s):
            self.abort()
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
                self._channel.transfer_available()
                self._channel.close()
            for id in list(self._requests.pending):
                self._requests.give_up(id, self._failure("closed", "the server was stopped before it answered"))
            if self._watcher:
                self._watcher.withdraw_group(self._child.pid)

    def forget_opening(self, *, raw_only: bool) -> None:
        """Save memory after the conversation was opened: cut the answers received so far to their beginnings. Unless
        *raw_only* is true, also release their parsed content.
        """
        with self._lock:
            self.transcript.cut_answers()
            if not raw_only:
                self.handshake, self.instructions, self.listed = {}, None, []

    def forget(self) -> None:
        """Release what a closed server wrote. This saves memory, because calls may refer to the server for a long time.

        The lines that were sent to the server, the anomalies and the end of stderr are kept.
        """
        with self._lock:
            self.transcript.keep_sent()
            self.server_info, self.capabilities, self.handshake, self.listed = {}, {}, {}, []
            self.protocol_version = self.instructions = None

    def _ask_to_stop(self, channel: Channel) -> bool:
        """Stop the process. Returns True if a signal had to be sent for that."""
        channel.close_stdin()
        steps = (
            (None, self.limits.stop_timeout_s),
            (signal.SIGTERM, self.limits.term_timeout_s),
            (signal.SIGKILL, 5.0),
        )
        for signal_number, patience_s in steps:
            if signal_number is not None and self._child is not None:
                self._child.signal_group(signal_number)
            deadline = time.monotonic() + (patience_s if not self._aborted or signal_number == signal.SIGKILL else 0)
            channel.pump(lambda: channel.exited_at is not None, deadline)
            if channel.exited_at is not None:
                return signal_number is not None
        return True

    def send(self, method: str, params: Mapping[str, Any] | None = None) -> int:
        """Send a request without waiting for the reply, and return its id for `wait`.

        If the conversation uses MCP 2026-07-28, the envelope is added (see `discover`). Raises `ValueError` or
        `TypeError` if *params* cannot be written as JSON.
        """
        if self._envelope is not None:
            params = {**(params or {}), "_meta": {**as_object((params or {}).get("_meta")), **self._envelope}}
        with self._lock:
            channel = self._channel
            if channel is not None and not self._closed:
                channel.transfer_available()  # the answer cannot be in data that has already arrived
            pending = self._requests.ask(method, params)
            self._write(pending.line)
            self._request_ends[pending.id] = channel.queued if channel else 0
            return pending.id

    @contextmanager
    def at_once(self) -> Generator[None]:
        """Collect the requests that are made within the block, and send all of them together at its end.

        The server can then work on them at the same time.
        """
        with self._lock, self._channel.batched_writes() if self._channel is not None else nullcontext():
            yield

    def wait(self, id: int, timeout_s: float | None = None) -> Reply:
        """Wait for the reply to the request *id*, up to *timeout_s* seconds (default: `Limits.request_timeout_s`).

        The time is counted from the call of this method, not from the sending of the request. Raises `KeyError` if no
        request has this id, or if the reply was already returned.
        """
        with self._lock:
            pending = self._requests.pending.get(id)
            if pending is not None:
                self._await(pending, self.limits.request_timeout_s if timeout_s is None else timeout_s)
            self._request_ends.pop(id, None)
            return self._requests.replies.pop(id)

    def request(self, method: str, params: Mapping[str, Any] | None = None, timeout_s: float | None = None) -> Reply:
        """Send a request and wait for its reply."""
        return self.wait(self.send(method, params), timeout_s)

    def notify(self, method: str, params: Mapping[str, Any] | None = None) -> None:
        """Send a notification."""
        with self._lock:
            self._write(jsonrpc.notification(method, params))

    def drain(self, seconds: float, until: Callable[[], bool] | None = None) -> bool:
        """Read the server's output for this many seconds, or until the server ends or is aborted.

        If *until* is given, reading also ends as soon as it returns True. Returns True in this case, otherwise False.
        """
        with self._lock:
            if self._channel is not None and not self._closed:
                self._pump(lambda: self._aborted or (until is not None and until()), time.monotonic() + seconds)
            return until is not None and until()

    def sent(self) -> list[bytes]:
        """Return the lines that were sent to the server and are still complete, in order."""
        return [m.line for m in self.transcript if m.direction == "out" and not m.cut]

    @property
    def stderr(self) -> bytes:
        """The end of stderr: at most `Limits.stderr_bytes` bytes."""
        return bytes(self._stderr[-self.limits.stderr_bytes :])

    def stderr_lines(self) -> list[str]:
        """Return the end of stderr as lines. Bytes that are not UTF-8 are replaced."""
        return self.stderr.decode(errors="replace").splitlines()

    def notifications(self, method: str | None = None) -> list[dict[str, Any]]:
        """Return the complete notifications in the transcript: the notifications of *method*, or all if *method* is
        None."""
        lines = [e.line for e in self.transcript if e.direction == "in" and not e.cut]
        # In the line, the key "method" may be written with \u escapes.
        messages = [jsonrpc.parse(line) for line in lines if b"method" in line or b"\\u00" in line]
        notifications = [m.fields for m in messages if m.kind == "notification"]
        return [n for n in notifications if method is None or n["method"] == method]

    def initialize(
        self,
        *,
        client_name: str | None = None,
        client_version: str | None = None,
        capabilities: Mapping[str, Any] | None = None,
        protocol_version: str = PROTOCOL_VERSION,
        timeout_s: float | None = None,
    ) -> Reply:
        """Perform the handshake, within *timeout_s* (default: `Limits.start_timeout_s`).

        By default, the client's name is `CLIENT_NAME`, and its version is the version of the suite. *capabilities* are
        the capabilities of the client.
        """
        client = {"name": client_name or CLIENT_NAME, "version": client_version or version()}
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
        client_version: str | None = None,
        capabilities: Mapping[str, Any] | None = None,
        timeout_s: float | None = None,
    ) -> Reply:
        """Open a conversation in the protocol of 2026-07-28. In this protocol, the ``_meta`` of each request has the
        protocol version and the client's identity. These members are called the envelope of the request.

        Afterwards `modern` is True if the server speaks this protocol. Otherwise the conversation is not open, and
        `initialize` may follow.
        """
        client = {"name": client_name or CLIENT_NAME, "version": client_version or version()}
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
        """True if the conversation uses MCP 2026-07-28."""
        return self._envelope is not None

    @property
    def offers_logging(self) -> bool:
        """True if `set_log_level` has an effect."""
        return "logging" in self.capabilities and not self.modern

    def set_log_level(self, level: str = "debug") -> Reply:
        """Request log notifications from this level on."""
        return self.request("logging/setLevel", {"level": level})

    def list_tools(self, timeout_s: float | None = None) -> tuple[list[dict[str, Any]], Reply]:
        """Return the tools of all pages, and the reply with the last page. The time limit applies to all pages
        together.

        The list ends if the server does not return a page. It also ends at a cursor that is not a string, at a cursor
        that was returned before, and after the hundredth page. These three cases are recorded as anomalies. An entry
        that is not an object is also recorded as an anomaly.
        """
        deadline = time.monotonic() + (self.limits.request_timeout_s if timeout_s is None else timeout_s)
        tools: list[dict[str, Any]] = []
        seen_cursors: set[str] = set()
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
            next_cursor: Any = result.get("nextCursor")
            cursor = _text(next_cursor)
            if not reply.ok or not cursor:
                if next_cursor is not None and cursor is None:
                    self.transcript.note("paging", f"the cursor of tools/list is {next_cursor!r:.100}, not a string")
                return tools, reply
            if cursor in seen_cursors or len(seen_cursors) + 1 >= _MAX_PAGES:
                reason = "a second time" if cursor in seen_cursors else f"on page {_MAX_PAGES}"
                self.transcript.note("paging", f"tools/list returned the cursor {cursor!r:.100} {reason}")
                return tools, reply
            seen_cursors.add(cursor)

    def call_tool(self, name: str, arguments: Mapping[str, Any] | None = None, timeout_s: float | None = None) -> Reply:
        """Call a tool."""
        return self.request("tools/call", {"name": name, "arguments": dict(arguments or {})}, timeout_s)

    def _write(self, line: bytes, *, chatter: bool = False) -> None:
        self.transcript.add("out", line, chatter=chatter)
        if self._channel is not None and not self._closed:
            self._channel.write(line)

    def _await(self, pending: Pending, timeout_s: float) -> None:
        id = pending.id
        if self._channel is None or self._closed:
            self._requests.give_up(id, self.failure or self._failure("closed", "the server is not running"))
            return
        limit = self.limits.max_unanswered
        is_impatient = limit is not None and self._unanswered >= limit
        fatal: Failure | None = None

        def done() -> bool:
            nonlocal fatal
            if id in self._requests.replies:
                return True
            fatal = self._fatal_failure(pending)
            return fatal is not None

        self._pump(done, time.monotonic() + (0 if is_impatient else timeout_s))
        if self._requests.answered:
            self._unanswered = self._requests.answered = 0
        if id not in self._requests.replies:
            fatal = fatal or self._fatal_failure(pending)
            if fatal is None and is_impatient:
                reason = f"{pending.method}: not waited for: {self._unanswered} requests in a row had no response"
                self._requests.give_up(id, self._failure("unanswered", reason))
                return
            self._requests.give_up(id, fatal or self._timed_out(pending, timeout_s))
            self._unanswered += fatal is None or fatal.kind == "too-large"
            if fatal is None and pending.method != "initialize":
                self.notify("notifications/cancelled", {"requestId": id, "reason": "no response in time"})
        elif (failure := self._requests.replies[id].failure) is not None and not failure.stderr:
            self._unanswered += failure.kind == "too-large"
            completed = replace(failure, stderr=self._stderr_end(), exit=self.exit)
            self._requests.replies[id] = replace(self._requests.replies[id], failure=completed)

    def _pump(self, done: Callable[[], bool], deadline: float) -> None:
        channel = self._channel
        assert channel is not None

        def done_after_answering() -> bool:
            # A server that keeps sending requests without reading must not fill the suite's memory with answers.
            while self._requests.to_send and channel.queued - channel.written < _MAX_BACKLOG_BYTES:
                self._write(self._requests.to_send.popleft(), chatter=True)
            return done()

        channel.pump(done_after_answering, deadline)
        self._note_closed_pipes(channel)

    def _note_closed_pipes(self, channel: Channel) -> None:
        """Record an anomaly if a running server has closed a pipe."""
        if channel.stdin_closed_at is not None and self.exit is None:
            self._note_once("stdin-closed", "a write to its stdin failed")
        if _long_ago(channel.stdout_closed_at) and self.exit is None:
            self._note_once("stdout-closed", "nothing more can be read from it")

    def _note_once(self, kind: str, detail: str) -> None:
        if kind not in self._noted:
            self._noted.add(kind)
            self.transcript.note(kind, detail)

    def _fatal_failure(self, pending: Pending) -> Failure | None:
        """Return the failure if a response has become impossible; None while a response may still come."""
        channel = self._channel
        assert channel is not None
        if self._aborted:
            return self._failure("closed", f"{pending.method}: the run was ended")
        if (head := channel.lines.overflowing) is not None and jsonrpc.guess_id(head) == pending.id:
            return self._too_large(pending, "its response is over")
        if channel.finished or _long_ago(channel.exited_at, pending):
            return self._exited(pending)
        if _long_ago(channel.stdout_closed_at, pending):
            return self._failure("closed", f"{pending.method}: the server closed its stdout but keeps running")
        if _long_ago(channel.stdin_closed_at, pending) and self._request_ends.get(pending.id, 0) > channel.written:
            return self._failure("closed", f"{pending.method}: the server closed its stdin but keeps running")
        return None

    def _too_large(self, pending: Pending, what: str) -> Failure:
        return self._failure("too-large", f"{pending.method}: {what} {self.limits.max_line_bytes:,} bytes")

    def _exited(self, pending: Pending) -> Failure:
        phase = "before it answered" if pending.method != "initialize" else "at its start, before it answered"
        garbage = f"; on stdout it wrote {self._requests.last_garbage}" if self._requests.last_garbage else ""
        return self._failure("exited", f"{pending.method}: the server {self.exit} {phase}{garbage}")

    def _timed_out(self, pending: Pending, timeout_s: float) -> Failure:
        channel = self._channel
        if channel is not None and channel.lines.overflowing is not None:
            return self._too_large(pending, "no response in time, while receiving a line of more than")
        detail = f"{pending.method}: no response within {timeout_s:g} s"
        if anomaly_count := self.transcript.counts.total() - pending.anomalies_before:
            kept_anomalies = self.transcript.anomalies[pending.anomalies_before :]
            times, first = (
                "once" if anomaly_count == 1 else f"{anomaly_count} times",
                kept_anomalies[0] if kept_anomalies else self.transcript.last_anomaly,
            )
            detail += f"; unexpected behaviour was noted ({times}), at first: {first}"
        got_garbage = self._requests.garbage > pending.garbage_before
        got_messages = self._requests.messages > pending.messages_before
        return self._failure("garbage" if got_garbage and not got_messages else "timeout", detail)

    def _failure(self, kind: FailureKind, detail: str) -> Failure:
        return Failure(kind, detail, self.exit, self._stderr_end())

    def _stderr_end(self) -> str:
        return self._stderr[-_STDERR_END:].decode(errors="replace").strip()

    def _keep_stderr(self, chunk: bytes) -> None:
        self._stderr += chunk
        if len(self._stderr) > self.limits.stderr_bytes * 2:
            del self._stderr[: -self.limits.stderr_bytes]

    def _keep_stderr_line(self, line: Line) -> None:
        self.transcript.add("err", line.data, cut=line.size - len(line.data), chatter=True)


def _long_ago(when: float | None, pending: Pending | None = None) -> bool:
    """True if the event at *when* was so long ago that all data in transit has arrived. If *pending* is given, this
    must be true of the sending of this request, too."""
    return when is not None and time.monotonic() - max(when, pending.sent_at_monotonic if pending else when) > _SETTLE_S


def as_object(value: object) -> dict[str, Any]:
    """Return the value if it is a JSON object, otherwise an empty object."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _why_not_started(command: str, cwd: str | os.PathLike[str] | None, problem: Exception) -> str:
    if cwd is not None and not os.path.isdir(cwd):
        return f"the working directory {os.fspath(cwd)} is not a directory"
    if isinstance(problem, FileNotFoundError):
        if "/" in command and os.path.exists(os.path.join(cwd or "", command)):
            return f"{command} exists, but not the interpreter that its first line names, or the loader that it needs"
        where = (
            f"there is no such file (seen from {os.path.abspath(cwd or '.')})"
            if "/" in command
            else "it is not on the PATH"
        )
        return f"cannot start {command}: {where}"
    if isinstance(problem, PermissionError):
        return f"cannot start {command}: it is not executable"
    if isinstance(problem, OSError):
        return f"cannot start {command}: {problem.strerror}"
    return f"cannot start {command!r}: {problem}"
