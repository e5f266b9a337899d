"""Matches the responses of one server to the requests. This module does no input or output."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lro_conformance.wire import jsonrpc
from lro_conformance.wire.framing import Line
from lro_conformance.wire.reply import Failure, FailureKind, Reply
from lro_conformance.wire.transcript import Transcript

_MAX_REFUSALS = 256
"""Maximum number of answers to the server's own requests that wait to be sent. Further requests are not answered."""


@dataclass(frozen=True, slots=True)
class Pending:
    """A request without a response."""

    id: int
    method: str
    line: bytes
    sent_at: float
    sent_at_monotonic: float
    messages_before: int
    """The count `RequestTracker.messages` before the request; 0 for the first request."""
    garbage_before: int
    """The count `RequestTracker.garbage` before the request; 0 for the first request."""
    anomalies_before: int
    """Number of anomalies before the request; 0 for the first request."""

    def reply(
        self,
        *,
        raw: bytes | None = None,
        result: object = None,
        error: object = None,
        failure: Failure | None = None,
        problems: tuple[jsonrpc.Problem, ...] = (),
    ) -> Reply:
        """Return the reply to this request. Its elapsed time ends now."""
        elapsed = time.monotonic() - self.sent_at_monotonic
        return Reply(self.id, self.line, raw, result, error, failure, self.sent_at, elapsed, problems)


class RequestTracker:
    """Numbers requests, matches responses to them, answers the server's own requests, and records anomalies."""

    def __init__(self, transcript: Transcript) -> None:
        self.transcript = transcript
        self.pending: dict[int, Pending] = {}
        self.replies: dict[int, Reply] = {}
        self.to_send: deque[bytes] = deque()
        """Answers to the server's own requests. The owner of the pipe has to send them."""
        self.messages = 0
        """Number of requests, notifications and responses that could be read."""
        self.garbage = 0
        """Number of lines, and of entries of batches, that are not JSON-RPC messages. Empty lines do not count."""
        self.last_garbage = ""
        """The beginning of the last line that `garbage` counts."""
        self.answered = 0
        """Number of responses to requests since this number was last set to 0. Late responses count, too."""
        self._next_id = 1
        self._given_up: set[int] = set()

    def ask(self, method: str, params: Mapping[str, Any] | None) -> Pending:
        """Create a request.

        Raises `ValueError` if *params* contain NaN or an infinity, and `TypeError` if they contain a value whose type
        does not exist in JSON.
        """
        line = jsonrpc.request(self._next_id, method, params)
        # Output before the first request is counted as if it came after that request, because a server may print a
        # greeting when it starts, which may be before or after it receives the request.
        counts_before = (
            (self.messages, self.garbage, self.transcript.counts.total()) if self._next_id > 1 else (0, 0, 0)
        )
        pending = Pending(self._next_id, method, line, time.time(), time.monotonic(), *counts_before)
        self.pending[pending.id] = pending
        self._next_id += 1
        return pending

    def give_up(self, id: int, failure: Failure) -> None:
        """End a request that has no response. A response that arrives later is recorded as late."""
        self.replies[id] = self.pending.pop(id).reply(failure=failure)
        self._given_up.add(id)

    def receive(self, line: Line) -> None:
        """Process one line of the server's stdout."""
        if line.too_large:
            self._receive_too_large(line)
            return
        message = jsonrpc.parse(line.data)
        problems = list(message.problems)
        if not line.terminated:
            problems.append(("unterminated", f"ends without a newline: {jsonrpc.excerpt(line.data)}"))
        is_answer = False
        for entry in message.entries if message.kind == "batch" else (message,):
            if entry is not message:
                problems += entry.problems
            match entry.kind:
                case "response":
                    is_answer |= self._receive_response(entry, line.data, problems)
                case "request":
                    self._refuse(entry, len(line.data), problems)
                case "unreadable" | "other":
                    self._receive_garbage(entry, line.data)
                case _:
                    pass
            self.messages += entry.kind in ("request", "notification", "response")
        self.transcript.add("in", line.data, tuple(problems), chatter=not is_answer)

    def _receive_too_large(self, line: Line) -> None:
        problem = ("too-large", f"a line of {line.size:,} bytes: {jsonrpc.excerpt(line.data, 80)}")
        self.transcript.add("in", line.data, (problem,), cut=line.size - len(line.data), chatter=True)
        id = jsonrpc.guess_id(line.data, line.tail)
        if id is None and len(self.pending) == 1 and not jsonrpc.names_method(line.data):
            id = next(iter(self.pending))
        self._fail(id, "too-large", f"its response is a line of {line.size:,} bytes, over the size limit")

    def _receive_garbage(self, message: jsonrpc.Message, raw: bytes) -> None:
        self.garbage += 1
        self.last_garbage = jsonrpc.excerpt(raw)
        unreadable = message.kind == "unreadable"
        reason = (
            f"its response: {message.problems[-1][1]}" if unreadable else "its response has neither result nor error"
        )
        self._fail(message.id, "garbage", reason)

    def _fail(self, id: int | None, kind: FailureKind, reason: str) -> None:
        """End the request that is answered by an unusable line as failed."""
        if id in self.pending:
            pending = self.pending[id]
            self.give_up(id, Failure(kind, f"{pending.method}: {reason}"))

    def _refuse(self, message: jsonrpc.Message, size: int, problems: list[jsonrpc.Problem]) -> None:
        """Answer a request of the server: a ping with an empty result, any other request with an error.

        No answer is sent to a request of 64 KiB or more, or if `_MAX_REFUSALS` answers are waiting to be sent.
        """
        method, id = message.fields["method"], message.fields["id"]
        answer: dict[str, Any] = {"jsonrpc": "2.0", "id": id}
        if method == "ping":
            answer["result"] = {}
        else:
            problems.append(("server-request", f"{jsonrpc.excerpt(method)} was refused"))
            text = f"the client offers no {jsonrpc.excerpt(method)}"
            answer["error"] = {"code": jsonrpc.METHOD_NOT_FOUND, "message": text}
        # A server that sends requests without reading its stdin must not fill the suite's memory with answers.
        if len(self.to_send) < _MAX_REFUSALS and size < 65536:
            try:
                self.to_send.append(jsonrpc.encode(answer))
            except (ValueError, RecursionError):
                problems.append(("id-type", f"a request with the id {jsonrpc.excerpt(id)}"))

    def _receive_response(self, message: jsonrpc.Message, raw: bytes, problems: list[jsonrpc.Problem]) -> bool:
        """Match a response with its request. Returns False if the request is not pending.

        If only one request is pending, a response without an id is taken for its response.
        """
        id = message.id
        if message.fields.get("id") is None and len(self.pending) == 1:
            id = next(iter(self.pending))
        pending = self.pending.pop(id, None) if id is not None else None
        self.answered += pending is not None or id in self._given_up
        if pending is None:
            problems.append(self._unmatched(message))
            return False
        result, error = message.fields.get("result"), message.fields.get("error")
        self.replies[pending.id] = pending.reply(raw=raw, result=result, error=error, problems=tuple(problems))
        return True

    def _unmatched(self, message: jsonrpc.Message) -> jsonrpc.Problem:
        id = message.id
        if id is None or not 0 < id < self._next_id:
            id_text = jsonrpc.excerpt(message.fields.get("id"))
            return ("unknown-id", f"id {id_text}; {self._next_id - 1} requests were made")
        if id in self._given_up:
            self._given_up.discard(id)
            return ("late", f"the response to request {id}")
        return ("duplicate-id", f"a second response to request {id}")
