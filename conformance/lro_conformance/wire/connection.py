"""Requests and replies over the pipes of one child: waiting with a limit, and telling why nothing came."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

from lro_conformance.wire import jsonrpc
from lro_conformance.wire.channel import Channel
from lro_conformance.wire.child import Child, Exit
from lro_conformance.wire.dialogue import Dialogue, Failure, FailureKind, Pending, Reply
from lro_conformance.wire.lines import Line
from lro_conformance.wire.transcript import Message, Transcript

_SETTLE_S = 0.5
_STDERR_END = 4000
_MAX_BACKLOG_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Limits:
    """What one server may take of time and memory."""

    request_timeout_s: float = 20.0
    start_timeout_s: float = 30.0
    """For the first request, `initialize`."""
    stop_timeout_s: float = 2.0
    """How long a server may take to exit after its stdin was closed, before SIGTERM."""
    term_timeout_s: float = 1.0
    """How long it may take after SIGTERM, before SIGKILL."""
    max_line_bytes: int = 256 << 20
    """A longer line on stdout is read past and not kept."""
    transcript_bytes: int = 256 << 20
    """What the transcript holds; beyond it the bodies of older lines are cut."""
    max_chatter: int = 10_000
    """How many lines the transcript keeps that are neither requests nor their answers."""
    stderr_bytes: int = 1 << 20
    """How much of the end of stderr is kept."""
    max_unanswered: int | None = None
    """After so many requests in a row without a response (none in time, or one over the cap) later ones get no time."""


class Connection:
    """The conversation with one child, which may not be there yet, or not any more.

    One thread at a time talks; only `abort` may come from another.
    """

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.failure: Failure | None = None
        """Why the server could not be started."""
        self.transcript = Transcript(max_bytes=limits.transcript_bytes, max_chatter=limits.max_chatter)
        self._dialogue = Dialogue(self.transcript)
        self._stderr = bytearray()
        self._child: Child | None = None
        self._final: Exit | None = None
        self._channel: Channel | None = None
        self._ends: dict[int, int] = {}
        self._told: set[str] = set()
        self._unanswered = 0
        self._aborted = False
        self._closed = False
        self._lock = threading.RLock()

    def _connect(self, child: Child) -> None:
        self._child = child
        self._channel = Channel(
            child,
            max_line_bytes=self.limits.max_line_bytes,
            on_line=self._dialogue.receive,
            on_stderr=self._keep_stderr,
            on_stderr_line=self._keep_stderr_line,
        )

    def abort(self) -> None:
        """Kills the process group at once, from any thread; a reply that is waited for fails. Still `close` it."""
        self._aborted = True
        if self._child is not None:
            self._child.signal_group(signal.SIGKILL)

    @property
    def exit(self) -> Exit | None:
        """How the server ended; None while it lives or was never started."""
        return self._final or (self._child.peek() if self._child else None)

    def send(self, method: str, params: Mapping[str, Any] | None = None) -> int:
        """Sends a request without waiting; its id, for `wait`. Raises `ValueError` when *params* are not JSON."""
        with self._lock:
            channel = self._channel
            if channel is not None and not self._closed:
                channel.sweep()  # what is there already cannot be the answer
            pending = self._dialogue.ask(method, params)
            self._write(pending.line)
            self._ends[pending.id] = channel.queued if channel else 0
            return pending.id

    def wait(self, id: int, timeout_s: float | None = None) -> Reply:
        """The reply to a request; *timeout_s* counts from this call (by default `Limits.request_timeout_s`).

        Raises `KeyError` for an id that was never sent or whose reply was taken already.
        """
        with self._lock:
            pending = self._dialogue.pending.get(id)
            if pending is not None:
                self._await(pending, self.limits.request_timeout_s if timeout_s is None else timeout_s)
            self._ends.pop(id, None)
            return self._dialogue.replies.pop(id)

    def request(self, method: str, params: Mapping[str, Any] | None = None, timeout_s: float | None = None) -> Reply:
        """Sends a request and waits for its reply."""
        return self.wait(self.send(method, params), timeout_s)

    def notify(self, method: str, params: Mapping[str, Any] | None = None) -> None:
        """Sends a notification."""
        with self._lock:
            self._write(jsonrpc.notification(method, params))

    def drain(self, seconds: float, until: Callable[[], bool] | None = None) -> bool:
        """Takes in what the server says for a while; True as soon as *until* holds, else False at the end."""
        with self._lock:
            if self._channel is not None and not self._closed:
                self._pump(lambda: self._aborted or (until is not None and until()), time.monotonic() + seconds)
            return until is not None and until()

    def sent(self) -> list[bytes]:
        """The lines that were sent and are kept whole, in order."""
        return [m.line for m in self.transcript if m.direction == "out" and not m.cut]

    @property
    def stderr(self) -> bytes:
        """The end of stderr, at most `Limits.stderr_bytes`."""
        return bytes(self._stderr[-self.limits.stderr_bytes :])

    def stderr_lines(self) -> list[str]:
        """The same as lines; what is not UTF-8 is replaced."""
        return self.stderr.decode(errors="replace").splitlines()

    def notifications(self, method: str | None = None) -> list[dict[str, Any]]:
        """The notifications that are kept, or those of one method."""
        return [n for m in self.transcript if (n := _notification(m)) and (method is None or n["method"] == method)]

    def _write(self, line: bytes, *, chatter: bool = False) -> None:
        self.transcript.add("out", line, chatter=chatter)
        if self._channel is not None and not self._closed:
            self._channel.write(line)

    def _await(self, pending: Pending, timeout_s: float) -> None:
        id = pending.id
        if self._channel is None or self._closed:
            self._dialogue.give_up(id, self.failure or self._failure("closed", "the server is not running"))
            return
        most = self.limits.max_unanswered
        given_up = most is not None and self._unanswered >= most
        doom: Failure | None = None

        def done() -> bool:
            nonlocal doom
            if id in self._dialogue.replies:
                return True
            doom = self._doom(pending)
            return doom is not None

        self._pump(done, time.monotonic() + (0 if given_up else timeout_s))
        if self._dialogue.answered:
            self._unanswered = self._dialogue.answered = 0
        if id not in self._dialogue.replies:
            doom = doom or self._doom(pending)
            if doom is None and given_up:
                text = f"{pending.method}: not waited for: {self._unanswered} requests in a row had no response"
                self._dialogue.give_up(id, self._failure("unanswered", text))
                return
            self._dialogue.give_up(id, doom or self._timed_out(pending, timeout_s))
            self._unanswered += doom is None or doom.kind == "too-large"
            if doom is None and pending.method != "initialize":
                self.notify("notifications/cancelled", {"requestId": id, "reason": "no response in time"})
        elif (failure := self._dialogue.replies[id].failure) is not None and not failure.stderr:
            self._unanswered += failure.kind == "too-large"
            told = replace(failure, stderr=self._stderr_end(), exit=self.exit)
            self._dialogue.replies[id] = replace(self._dialogue.replies[id], failure=told)

    def _pump(self, done: Callable[[], bool], deadline: float) -> None:
        channel = self._channel
        assert channel is not None

        def done_after_answering() -> bool:
            # A server that asks and asks without reading must not fill our memory with answers.
            while self._dialogue.to_send and channel.queued - channel.written < _MAX_BACKLOG_BYTES:
                self._write(self._dialogue.to_send.popleft(), chatter=True)
            return done()

        channel.pump(done_after_answering, deadline)
        self._see(channel)

    def _see(self, channel: Channel) -> None:
        """Notices pipes that a living server has closed."""
        if channel.stdin_closed_at is not None and self.exit is None:
            self._tell_once("stdin-closed", "a write to its stdin failed")
        if _long_ago(channel.stdout_closed_at) and self.exit is None:
            self._tell_once("stdout-closed", "nothing can be read from it any more")

    def _tell_once(self, kind: str, detail: str) -> None:
        if kind not in self._told:
            self._told.add(kind)
            self.transcript.note(kind, detail)

    def _doom(self, pending: Pending) -> Failure | None:
        """Why there can be no response any more; None while there can."""
        channel = self._channel
        assert channel is not None
        if self._aborted:
            return self._failure("closed", f"{pending.method}: the run was ended")
        if (head := channel.lines.overflowing) is not None and _names(head, pending.id):
            return self._too_large(pending, "its response is over")
        if channel.finished or _long_ago(channel.exited_at, pending):
            return self._exited(pending)
        if _long_ago(channel.stdout_closed_at, pending):
            return self._failure("closed", f"{pending.method}: the server closed its stdout and runs on")
        if _long_ago(channel.stdin_closed_at, pending) and self._ends.get(pending.id, 0) > channel.written:
            return self._failure("closed", f"{pending.method}: the server closed its stdin and runs on")
        return None

    def _too_large(self, pending: Pending, what: str) -> Failure:
        return self._failure("too-large", f"{pending.method}: {what} {self.limits.max_line_bytes:,} bytes")

    def _exited(self, pending: Pending) -> Failure:
        when = "before it answered" if pending.method != "initialize" else "at its start, before it answered"
        garbage = f"; on stdout it wrote {self._dialogue.last_garbage}" if self._dialogue.last_garbage else ""
        return self._failure("exited", f"{pending.method}: the server {self.exit} {when}{garbage}")

    def _timed_out(self, pending: Pending, timeout_s: float) -> Failure:
        channel = self._channel
        if channel is not None and channel.lines.overflowing is not None:
            return self._too_large(pending, "its time ran out while a line came that is over")
        text = f"{pending.method}: no response within {timeout_s:g} s"
        if odd := self.transcript.counts.total() - pending.anomalies_before:
            kept = self.transcript.anomalies[pending.anomalies_before :]
            times, first = "once" if odd == 1 else f"{odd} times", kept[0] if kept else self.transcript.last_anomaly
            text += f"; what came was wrong ({times}), at first: {first}"
        garbage = self._dialogue.garbage > pending.garbage_before
        understood = self._dialogue.messages > pending.messages_before
        return self._failure("garbage" if garbage and not understood else "timeout", text)

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
    """Whether *when*, and the request too, is long enough ago for what was under way to have arrived."""
    return when is not None and time.monotonic() - max(when, pending.clock if pending else when) > _SETTLE_S


def _names(head: bytes, id: int) -> bool:
    return jsonrpc.likely_id(head) == id


def _notification(message: Message) -> dict[str, Any] | None:
    if message.direction != "in":
        return None
    value = as_object(message.parsed)
    return value if isinstance(value.get("method"), str) and "id" not in value else None


def as_object(value: object) -> dict[str, Any]:
    """The value if it is a JSON object, else an empty one."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}
