"""The relay between a client and a server: raw lines both ways, and only three answers are ever touched.

Those are the results of `tools/call` (and `tasks/result`) above the threshold, `tools/list` where tools have output
schemas, and `initialize`, which advertises the capability. Everything else leaves as the bytes that came.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import orjson

from lro_reference import exact, proxy_hint
from lro_reference.line_sources import TextLines
from lro_reference.proxy.calls import Id, Request, Requests
from lro_reference.proxy.lines import Outgoing, TooLong, Writer, ends, read_lines
from lro_reference.proxy.messages import Message, members, parsed, raw_member, written
from lro_reference.proxy.own_tools import OwnTools
from lro_reference.proxy.raw_result import WORTH_IT
from lro_reference.proxy.raw_result import read as read_raw_result
from lro_reference.proxy.widening import advertise, widen_tools
from lro_reference.shapes import Shape
from lro_reference.tool_results import Interceptor
from lro_spec.tokens import estimate_of, wide_characters

if TYPE_CHECKING:
    from lro_spec.masking import Masks

GONE, TIMED_OUT, TOO_LONG, UNREADABLE, CANCELLED = -32001, -32002, -32003, -32004, -32800
"""Codes of the errors that the proxy answers with itself."""
TOOL_RESULTS = ("tools/call", "tasks/result")
_TOKENS_A_BYTE = 10 / 36
"""No text costs more tokens than this for a byte of its JSON."""
_HEAD_ID = re.compile(rb'\A\s*\{\s*"jsonrpc"\s*:\s*"2\.0"\s*,\s*"id"\s*:\s*(-?\d+|"(?:[^"\\]|\\.)*")\s*,')
_TAIL_ID = re.compile(
    rb'(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(-?\d+|"(?:[^"\\]|\\.)*")\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*\Z'
)

_HINT = proxy_hint.META.encode()
_NEVER = 2**63

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Terms:
    """What the proxy holds both sides to."""

    most_bytes: int
    """The longest line."""
    threshold_of: Callable[[str], int | None]
    """The threshold for a tool, in tokens; None where its results are never touched."""
    capability: Mapping[str, Any]
    estimate_of: Callable[[int, int], int] = estimate_of
    """Tokens of a text with so many characters, of which so many are wide."""
    masks: Masks | None = None
    """What may not be seen of what the server says."""


class Relay:
    """One client and one server."""

    def __init__(
        self,
        terms: Terms,
        requests: Requests,
        interceptor: Interceptor,
        client: Writer,
        say: Say,
        own: OwnTools | None = None,
    ) -> None:
        self._terms, self._requests, self._interceptor = terms, requests, interceptor
        self._client, self._say, self._own = client, say, own
        self._gone = ""
        self._unread = False
        """Set when the client has said something that only the server may understand."""
        self.client_left = False
        """Set when the client has closed its side: then the server may end, too."""
        self.busy = False
        """Whether something that the server said is being passed on."""

    # --- from the client

    def forward(self, pipe: int, server: Outgoing) -> None:
        """Passes on what the client says until it leaves."""
        for line in read_lines(pipe, self._terms.most_bytes):
            if isinstance(line, TooLong):
                self._refuse_long_request(line)
                continue
            passed_on = self.noted(line)
            if passed_on is not None:
                server.write(passed_on)
            if self._gone:
                self._bury()
        self.client_left = True

    def unread(self) -> None:
        """What the client said last cannot be passed on: the server has not read for long, or has ended."""
        if self._gone:
            self._bury()
        for request in self._requests.take_all():
            self._error(request.id, TIMED_OUT, "the server no longer reads")

    def noted(self, line: bytearray) -> bytes | bytearray | None:
        """Remembers what the client asks for; the line for the server, which hears of the proxy at the beginning.

        None where it asks the proxy itself.
        """
        whole: Any = parsed(line)
        if whole is None:
            self._unread = True  # the server has its own answer to that
            return line
        for message in cast("list[Any]", whole) if isinstance(whole, list) else [whole]:
            if not isinstance(message, dict):
                continue
            said = cast("Message", message)
            id, params = said.get("id"), members(said.get("params"))
            possible = id is None or isinstance(id, Id)
            if possible and self._own is not None and message is whole and self._own.take(said, lambda: line):
                return None
            if "method" not in said:
                continue
            if not possible:
                self._unread = True  # the server has its own answer to that, too
            elif id is not None:
                self._requests.expect(_request(said, params))
            elif said["method"] == "notifications/cancelled":
                self._requests.cancel(params.get("requestId"))
        if isinstance(whole, dict) and cast("Message", whole).get("method") == "initialize":
            return _introduced(line)
        return line

    def _refuse_long_request(self, line: TooLong) -> None:
        self._say(f"the client sent a line of {line.size} bytes; at most {self._terms.most_bytes} are passed on")
        if (id := id_in(line)) is not None:
            self._error(id, TOO_LONG, f"the message is larger than {self._terms.most_bytes} bytes: send less at a time")

    # --- from the server

    def answer(self, pipe: int) -> None:
        """Passes on what the server says until it ends."""
        for line in read_lines(pipe, self._terms.most_bytes):
            self.busy = True
            if self._terms.masks is not None and not isinstance(line, TooLong):
                line = bytearray(self._terms.masks.data(bytes(line)))
            self._pass_on(line)
            self.busy = False
            del line  # it may not stay in memory until the next one comes

    def _pass_on(self, line: bytearray | TooLong) -> None:
        if isinstance(line, TooLong):
            self._fail_long_answer(line)
            return
        if len(line) >= WORTH_IT and (raw := self._large_result(line)) is not None:
            self._client.write(raw)
            return
        message = parsed(line)
        if isinstance(message, dict) and "method" not in message:
            self._answer_one(cast("Message", message), line)
        elif isinstance(message, list):
            self._answer_batch(cast("list[Any]", message), line)
        elif isinstance(message, dict):
            self._watch(cast("Message", message))
            self._client.write(line)
        else:
            self._unreadable(line)

    def _large_result(self, line: bytearray) -> bytes | None:
        """The answer instead of a line whose result is one large payload; None where it takes the general way."""
        found = read_raw_result(line)
        if found is None:
            return None
        request = self._requests.look(found.message.get("id"))
        if request is None or request.method not in TOOL_RESULTS or request.cancelled:
            return None
        threshold = self._terms.threshold_of(request.tool)
        result = found.message["result"]
        tokens = self._terms.estimate_of(found.characters, found.wide)
        if threshold is None or tokens <= threshold or result.get("isError") is True:
            return None
        try:
            made = self._interceptor.shaped(
                result,
                found.shape,
                tokens,
                tool=request.tool,
                arguments=request.arguments,
                threshold_tokens=threshold,
            )
        except Exception as problem:  # then it takes the general way, which has an answer to everything
            self._say(f"a large result cannot be taken from its line: {problem}")
            return None
        self._requests.answered(request.id)
        return orjson.dumps({**found.message, "result": made})

    def _answer_one(self, message: Message, line: bytearray) -> None:
        request = self._requests.answered(message.get("id"))
        if request is None:
            if message.get("id") is None or self._unread:
                self._client.write(line)  # about something that could not be read
            else:
                self._say(f"the server answered {message['id']!r}, for which nobody waits; the answer is dropped")
            return
        made = self._touched(message, line, request)
        self._client.write(line if made is None else made)

    def _answer_batch(self, batch: list[Any], line: bytearray) -> None:
        whole: list[Any] = []
        changed = False
        for message in batch:
            made = None
            if isinstance(message, dict) and "method" not in message:
                request = self._requests.answered(cast("Message", message).get("id"))
                if request is not None:
                    made = self._touched(cast("Message", message), written(cast("Message", message)), request)
            changed = changed or made is not None
            whole.append(message if made is None else orjson.Fragment(made))
        self._client.write(orjson.dumps(whole) if changed else line)

    def _touched(self, message: Message, line: bytes | bytearray, request: Request) -> bytes | None:
        """Another answer, where this one does not pass as it is."""
        result = message.get("result")
        if not isinstance(result, dict):
            return None
        try:
            if request.method in TOOL_RESULTS:
                try:
                    return self._tool_result(message, line, request)
                except (ValueError, TypeError):  # half a surrogate pair, NaN, a key twice
                    return self._as_text(message, line, request)
            if request.method == "initialize":
                message = _exactly(line)
                changed = advertise(message["result"], self._terms.capability)
                changed = (self._own is not None and self._own.advertise(message["result"])) or changed
                return orjson.dumps(message) if changed else None
            if request.method == "tools/list" and (self._own is not None or b'"outputSchema"' in line):
                message = _exactly(line)
                changed = widen_tools(message["result"])
                changed = (self._own is not None and self._own.add_to(message["result"], request.id)) or changed
                return orjson.dumps(message) if changed else None
        except Exception as problem:  # whatever it is, it must not cost the client its answer, nor all later ones
            self._say(f"an answer to {request.method} cannot be taken apart and passes as it is: {problem}")
        return None

    def _tool_result(self, message: Message, line: bytes | bytearray, request: Request) -> bytes | None:
        threshold = self._terms.threshold_of(request.tool)
        hinted = _HINT in line
        if not hinted and (threshold is None or len(line) * _TOKENS_A_BYTE <= threshold):
            return None
        if request.cancelled:
            return error_line(request.id, CANCELLED, "the call was cancelled, and its large result not kept")
        result = message["result"]
        made = self._interceptor.result(
            result,
            tool=request.tool,
            arguments=request.arguments,
            again=lambda: _exactly(line)["result"],
            threshold_tokens=_NEVER if threshold is None else threshold,
        )
        if made is result:
            return None
        rest = {key for key in message if key not in ("jsonrpc", "id", "result")}
        if rest or set(made) - {"content", "structuredContent", "isError"}:
            try:
                whole = _exactly(line)
            except exact.InexactError:
                whole = message
            said = whole["result"]
            said = proxy_hint.without(said) if proxy_hint.has_told(said) else said
            new = {key: made[key] if key in ("content", "structuredContent") else value for key, value in said.items()}
            return written({**whole, "result": new | {k: v for k, v in made.items() if k not in new}})
        return written({**message, "result": made})

    def _as_text(self, message: Message, line: bytes | bytearray, request: Request) -> bytes | None:
        """The same for a result that cannot be taken apart without a loss: the file holds its JSON as it came."""
        result, threshold = message["result"], self._terms.threshold_of(request.tool)
        raw = raw_member(line, "result")
        made = self._interceptor.shaped(
            result,
            Shape(TextLines(raw), (), {"format": "text", "from": "result", "ending": ""}),
            self._terms.estimate_of(len(raw), wide_characters(raw)),
            tool=request.tool,
            arguments=request.arguments,
            threshold_tokens=_NEVER if threshold is None else threshold,
        )
        return None if made is result else written({**message, "result": made})

    def _watch(self, message: Message) -> None:
        """A notification or a request of the server's."""
        if message.get("method") == "notifications/progress":
            params = message.get("params")
            self._requests.progressed(
                cast("Message", params).get("progressToken") if isinstance(params, dict) else None
            )

    def _unreadable(self, line: bytearray) -> None:
        shown = bytes(line[:80]).decode(errors="replace").strip()
        request = self._requests.answered(id_in(ends(line)))
        if request is not None:
            self._error(request.id, UNREADABLE, f"the server's answer is not valid JSON: {shown}…")
        elif shown:
            self._say(f"the server wrote {len(line)} bytes that are no message, and they are dropped: {shown!r}")

    def _fail_long_answer(self, line: TooLong) -> None:
        self._say(f"the server sent a line of {line.size} bytes; at most {self._terms.most_bytes} are passed on")
        why = (
            f"the server's answer of {line.size} bytes is larger than the {self._terms.most_bytes} that the proxy "
            "takes (--max-line-mb): ask for less at a time"
        )
        request = self._requests.answered(id_in(line))
        if request is not None:
            self._error(request.id, TOO_LONG, why)
        elif b'"method"' not in line.head[:200]:
            for waiting in self._requests.take_all():  # one of them it was; none of them may wait for ever
                self._error(waiting.id, TOO_LONG, why)

    # --- what goes wrong

    @property
    def ended(self) -> bool:
        """Whether the server has ended; what is noted then is answered by `unread`."""
        return bool(self._gone)

    @property
    def owes(self) -> bool:
        """Whether somebody waits for an answer of the server's."""
        return self._requests.wanted

    def gone(self, why: str) -> None:
        """The server has ended: from now on every request is answered with that."""
        if not self._gone:
            self._say(why)
        self._gone = why
        self._bury()

    def _bury(self) -> None:
        for request in self._requests.take_all():
            self._error(request.id, GONE, self._gone)

    def expire(self, server: Outgoing) -> None:
        """Answers the requests whose time is over, and tells the server to stop."""
        for request in self._requests.overdue():
            self._say(f"no answer to {request.method} {request.tool} in time")
            self._error(
                request.id, TIMED_OUT, f"the server has not answered {request.method} in time (--request-timeout-s)"
            )
            if request.method != "initialize":
                params = {"requestId": request.id, "reason": "timed out"}
                note = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}
                server.offer(orjson.dumps(note))  # one that hangs may not even read

    def _error(self, id: object, code: int, message: str) -> None:
        self._client.write(error_line(id, code, message))


def _introduced(line: bytearray) -> bytes | bytearray:
    try:
        message = _exactly(line)
        proxy_hint.announce(message["params"])
        return orjson.dumps(message)
    except (exact.InexactError, KeyError, TypeError, AttributeError):
        return line


def _request(message: Message, params: Message) -> Request:
    method = message["method"] if isinstance(message["method"], str) else ""
    meta = params.get("_meta")
    token = cast("Message", meta).get("progressToken") if isinstance(meta, dict) else None
    name, arguments = params.get("name"), params.get("arguments")
    return Request(
        id=message["id"],
        method=method,
        tool=name if isinstance(name, str) else "task" if method == "tasks/result" else "",
        arguments=cast("Message", arguments) if isinstance(arguments, dict) else {},
        progress=token if isinstance(token, (str, int)) else None,
    )


def error_line(id: object, code: int, message: str) -> bytes:
    """An error of the proxy's own."""
    return orjson.dumps({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": f"lro proxy: {message}"}})


def _exactly(line: bytes | bytearray) -> Message:
    return exact.parse(bytes(line))


def id_in(line: TooLong) -> Any:
    """The id of a message of which only the ends are known; None where it is in neither."""
    found = _HEAD_ID.search(line.head) or _TAIL_ID.search(line.tail)
    try:
        return orjson.loads(found[1]) if found else None
    except ValueError:
        return None
