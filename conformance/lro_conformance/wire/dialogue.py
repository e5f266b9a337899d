"""Which response belongs to which request: the bookkeeping of one connection, without any input or output."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, cast

from lro_conformance.wire import jsonrpc
from lro_conformance.wire.child import Exit
from lro_conformance.wire.lines import Line
from lro_conformance.wire.transcript import Transcript

FailureKind = Literal["not-started", "timeout", "exited", "too-large", "closed", "garbage", "unanswered"]

_MAX_REFUSALS = 256
_MAX_BATCH = 1000


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a request has no response."""

    kind: FailureKind
    detail: str
    """A sentence: what was waited for and what came instead."""
    exit: Exit | None = None
    """How the server ended, if it had by then."""
    stderr: str = ""
    """The end of what it had written to stderr."""

    def __str__(self) -> str:
        """The sentence, and the end of stderr below it."""
        return f"{self.detail}\nstderr ends:\n{self.stderr}" if self.stderr else self.detail


@dataclass(frozen=True, slots=True)
class Reply:
    """What came of a request: a result, an error, or a failure to get either."""

    id: int
    request: bytes
    """The line that was sent, without its newline."""
    raw: bytes | None
    """The line that answered it, without its newline; None when none did."""
    result: Any
    """The JSON value as it came; None also where there is none."""
    error: Any
    """The JSON-RPC error as it came, of whatever shape; None where there is none."""
    failure: Failure | None
    sent_at: float
    """Seconds since the epoch."""
    elapsed_s: float
    problems: tuple[jsonrpc.Problem, ...] = ()
    """What was wrong with the line that answered, though it could be understood."""

    @property
    def ok(self) -> bool:
        """Whether there is a result and nothing else."""
        return self.failure is None and self.error is None


@dataclass(frozen=True, slots=True)
class Pending:
    """A request that has no response yet."""

    id: int
    method: str
    line: bytes
    sent_at: float
    clock: float
    messages_before: int
    garbage_before: int
    anomalies_before: int

    def reply(
        self,
        *,
        raw: bytes | None = None,
        result: object = None,
        error: object = None,
        failure: Failure | None = None,
        problems: tuple[jsonrpc.Problem, ...] = (),
    ) -> Reply:
        """The reply to it, as of now."""
        elapsed = time.monotonic() - self.clock
        return Reply(self.id, self.line, raw, result, error, failure, self.sent_at, elapsed, problems)


@dataclass(slots=True)
class _Reading:
    """One line while it is read."""

    raw: bytes
    problems: list[jsonrpc.Problem]
    answers: bool = field(default=False)


class Dialogue:
    """Numbers requests, matches responses, refuses the server's own requests, and names what is odd."""

    def __init__(self, transcript: Transcript) -> None:
        self.transcript = transcript
        self.pending: dict[int, Pending] = {}
        self.replies: dict[int, Reply] = {}
        self.to_send: deque[bytes] = deque()
        """Answers to the server's requests, to be sent by whoever owns the pipe."""
        self.messages = 0
        """How many readable messages came."""
        self.garbage = 0
        """How many lines came that could not be read."""
        self.last_garbage = ""
        self.answered = 0
        """How many responses came, late ones too, since somebody set this to 0."""
        self._next_id = 1
        self._given_up: set[int] = set()

    def ask(self, method: str, params: Mapping[str, Any] | None) -> Pending:
        """A new request. Raises `ValueError` when *params* hold NaN or an infinity."""
        line = jsonrpc.request(self._next_id, method, params)
        # What comes before the first request is looked at with it: a greeting may come sooner than that.
        before = (self.messages, self.garbage, self.transcript.counts.total()) if self._next_id > 1 else (0, 0, 0)
        pending = Pending(self._next_id, method, line, time.time(), time.monotonic(), *before)
        self.pending[pending.id] = pending
        self._next_id += 1
        return pending

    def give_up(self, id: int, failure: Failure) -> None:
        """Ends a request without a response; one that still comes is recorded as late."""
        self.replies[id] = self.pending.pop(id).reply(failure=failure)
        self._given_up.add(id)

    def receive(self, line: Line) -> None:
        """Takes in one line of the server's stdout."""
        if line.too_large:
            self._receive_too_large(line)
            return
        parsed = jsonrpc.parse(line.data)
        reading = _Reading(line.data, list(parsed.problems))
        if not line.terminated:
            reading.problems.append(("unterminated", f"ends without a newline: {jsonrpc.excerpt(line.data)}"))
        if parsed.readable:
            self._take(parsed.value, reading)
        else:
            self._count_garbage(line.data, reading.problems)
            self._lose(line.data[:4096], line.data[-4096:], "garbage", f"its response: {reading.problems[-1][1]}")
        self.transcript.add("in", line.data, tuple(reading.problems), chatter=not reading.answers)

    def _receive_too_large(self, line: Line) -> None:
        problem = ("too-large", f"a line of {line.size:,} bytes: {jsonrpc.excerpt(line.data, 80)}")
        self.transcript.add("in", line.data, (problem,), cut=line.size - len(line.data), chatter=True)
        self._lose(line.data, line.tail, "too-large", f"its response is a line of {line.size:,} bytes, over the cap")

    def _lose(self, head: bytes, tail: bytes, kind: FailureKind, why: str) -> None:
        """Fails the request that an unreadable line most likely answers: the one it names, or the only one there is."""
        id = jsonrpc.likely_id(head, tail)
        if id is None and kind == "too-large" and len(self.pending) == 1 and not jsonrpc.names_method(head):
            id = next(iter(self.pending))
        if id in self.pending:
            pending = self.pending[id]
            self.give_up(id, Failure(kind, f"{pending.method}: {why}"))

    def _count_garbage(self, raw: bytes, problems: list[jsonrpc.Problem]) -> None:
        if problems[-1][0] != "blank":
            self.garbage += 1
            self.last_garbage = jsonrpc.excerpt(raw)

    def _take(self, value: object, reading: _Reading) -> None:
        if isinstance(value, dict):
            self._take_message(cast("dict[str, Any]", value), reading)
        elif isinstance(value, list):
            entries = cast("list[Any]", value)
            reading.problems.append(("batch", f"an array of {len(entries)}: {jsonrpc.excerpt(reading.raw)}"))
            for entry in entries[:_MAX_BATCH]:
                if isinstance(entry, dict):
                    self._take_message(cast("dict[str, Any]", entry), reading)
        else:
            reading.problems.append(("not-an-object", jsonrpc.excerpt(reading.raw)))
            self._count_garbage(reading.raw, reading.problems)

    def _take_message(self, message: dict[str, Any], reading: _Reading) -> None:
        kind = jsonrpc.shape(message)
        if kind == "none":
            reading.problems.append(("not-a-message", jsonrpc.excerpt(reading.raw)))
            self._count_garbage(reading.raw, reading.problems)
            id = message.get("id")
            if isinstance(id, int) and not isinstance(id, bool) and (pending := self.pending.get(id)):
                self.give_up(id, Failure("garbage", f"{pending.method}: its response has neither result nor error"))
            return
        self.messages += 1
        if message.get("jsonrpc") != "2.0":
            reading.problems.append(("jsonrpc-version", f"jsonrpc is {jsonrpc.excerpt(message.get('jsonrpc'))}"))
        if kind == "request":
            self._take_request(message, reading)
        elif kind == "response":
            self._take_response(message, reading)

    def _take_request(self, message: dict[str, Any], reading: _Reading) -> None:
        method = message["method"]
        answer: dict[str, Any] = {"jsonrpc": "2.0", "id": message["id"]}
        if method == "ping":
            answer["result"] = {}
        else:
            reading.problems.append(("server-request", f"{jsonrpc.excerpt(method)} was refused"))
            text = f"the client offers no {jsonrpc.excerpt(method)}"
            answer["error"] = {"code": jsonrpc.METHOD_NOT_FOUND, "message": text}
        # A server that asks without reading its stdin must not fill our memory with answers.
        if len(self.to_send) < _MAX_REFUSALS and len(reading.raw) < 65536:
            try:
                self.to_send.append(jsonrpc.encode(answer))
            except (ValueError, RecursionError):
                reading.problems.append(("id-type", f"a request with the id {jsonrpc.excerpt(message['id'])}"))

    def _take_response(self, message: dict[str, Any], reading: _Reading) -> None:
        self.answered += 1
        reading.problems += jsonrpc.response_problems(message)
        id = self._response_id(message, reading)
        pending = self.pending.pop(id, None) if id is not None else None
        if pending is None:
            reading.problems.append(self._unasked(id, message))
            return
        reading.answers = True
        self.replies[pending.id] = pending.reply(
            raw=reading.raw,
            result=message.get("result"),
            error=message.get("error"),
            problems=tuple(reading.problems),
        )

    def _response_id(self, message: dict[str, Any], reading: _Reading) -> int | None:
        """The id as the number that was sent, however the server spelled it."""
        id: Any = message.get("id")
        if id is None:
            reading.problems.append(("null-id", jsonrpc.excerpt(reading.raw)))
            return next(iter(self.pending)) if len(self.pending) == 1 else None
        if isinstance(id, int) and not isinstance(id, bool):
            return id
        if isinstance(id, float) and id.is_integer():
            return int(id)
        if isinstance(id, str) and id.isascii() and id.isdigit() and len(id) < 16 and int(id) in self.pending:
            reading.problems.append(("id-type", f"the request had {id}, its response has {jsonrpc.excerpt(id)}"))
            return int(id)
        return None

    def _unasked(self, id: int | None, message: dict[str, Any]) -> jsonrpc.Problem:
        if id is None or not 0 < id < self._next_id:
            return ("unknown-id", f"id {jsonrpc.excerpt(message.get('id'))}; {self._next_id - 1} requests were made")
        if id in self._given_up:
            self._given_up.discard(id)
            return ("late", f"the response to request {id}")
        return ("duplicate-id", f"another response to request {id}")
