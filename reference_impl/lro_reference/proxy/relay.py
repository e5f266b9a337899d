"""The relay between a client and a server: raw lines both ways, and only three answers are ever touched.

Those are the results of `tools/call` (and `tasks/result`) above the threshold, `tools/list` where tools have output
schemas or the proxy has tools of its own, and `initialize` or `server/discover`, which advertise the capability.
Everything else leaves as the bytes that came.
"""

from __future__ import annotations

import itertools
import threading
from contextlib import suppress
from typing import Any, cast

import orjson

from lro_reference import exact, proxy_hint
from lro_reference.line_sources import TextLines
from lro_reference.proxy.calls import Id, Request, Requests, request_of
from lro_reference.proxy.ends import answered_in, id_in
from lro_reference.proxy.eras import OPENINGS, introduced
from lro_reference.proxy.errors import CANCELLED, GONE, INTERNAL, TIMED_OUT, TOO_LONG, UNREADABLE, Say, error_line
from lro_reference.proxy.lines import Outgoing, TooLong, Writer, ends, read_lines
from lro_reference.proxy.messages import Message, exactly, members, parsed, raw_items, raw_member, written
from lro_reference.proxy.own_tools import OwnTools
from lro_reference.proxy.raw_result import WORTH_IT
from lro_reference.proxy.raw_result import read as read_raw_result
from lro_reference.proxy.terms import Terms
from lro_reference.proxy.widening import advertise, widen_tools
from lro_reference.shapes import Shape
from lro_reference.tool_results import Interceptor
from lro_spec.tokens import wide_characters

OWN_LIST = "tools/list for the proxy's own tools"
TOOL_RESULTS = ("tools/call", "tasks/result")
_TOKENS_A_BYTE = 10 / 36
"""No text costs more tokens than this for a byte of its JSON."""
_MARK_OF_ORDER = b"\xef\xbb\xbf"
_HINT = proxy_hint.META.encode()
_NEVER = 2**63


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
        self._numbers = itertools.count(1)
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
        if self._own is not None:
            self._own.of_server.ask = lambda params: self._ask_for_tools(server, params)
            self._own.pass_on = lambda line: self._forward(bytearray(line), server)
        for line in read_lines(pipe, self._terms.most_bytes):
            if isinstance(line, TooLong):
                self._refuse_long_request(line)
            else:
                self._forward(line, server)
        self.client_left = True

    def _forward(self, line: bytearray, server: Outgoing) -> None:
        try:
            passed_on = self.noted(line)
        except Exception as problem:  # a defect of the proxy: the server may have an answer to it
            self._say(f"a message of the client's passes as it is: {type(problem).__name__}: {problem}")
            self._unread, passed_on = True, line
        if passed_on is not None:
            server.write(passed_on)
        if self._gone:
            self._bury()

    def _ask_for_tools(self, server: Outgoing, params: Message) -> None:
        """Asks the server for a page of its tools; the proxy's own hear the answer."""
        request = Request(f"lro-proxy/tools/{next(self._numbers)}", OWN_LIST)
        self._requests.expect(request)
        line = {"jsonrpc": "2.0", "id": request.id, "method": "tools/list", "params": params}

        def ask() -> None:
            if not server.write(written(line)) or self._gone:
                self._fail(self._requests.answered(request.id), GONE, "")

        threading.Thread(target=ask, name="tools", daemon=True).start()  # the server may be slow to read

    def unread(self) -> None:
        """What the client said last cannot be passed on: the server has not read for long, or has ended."""
        if self._gone:
            self._bury()
        for request in self._requests.take_all():
            self._fail(request, TIMED_OUT, "the server no longer reads")

    def noted(self, line: bytearray) -> bytes | bytearray | None:
        """Remembers what the client asks for; the line for the server, which hears of the proxy at the beginning.

        None where it asks the proxy itself.
        """
        whole: Any = parsed(line)
        if whole is None:
            self._unread = True  # the server has its own answer to that
            return line
        if isinstance(whole, list):
            return self._noted_batch(cast("list[Any]", whole), line)
        return self._noted_one(cast("Message", whole), line) if isinstance(whole, dict) else line

    def _noted_batch(self, batch: list[Any], line: bytearray) -> bytes | bytearray | None:
        texts = raw_items(line)
        rest = [text for one, text in zip(batch, texts, strict=True) if self._noted_one(members(one), text) is not None]
        if len(rest) == len(texts):
            return line
        return b"[" + b",".join(rest) + b"]" if rest else None

    def _noted_one(self, said: Message, line: bytes | bytearray) -> bytes | bytearray | None:
        id, params = said.get("id"), members(said.get("params"))
        possible = id is None or isinstance(id, Id)
        if possible and self._own is not None and self._own.take(said, lambda: line):
            return None
        if "method" in said and not possible:
            self._unread = True  # the server has its own answer to that, too
        elif "method" in said and id is not None:
            self._requests.expect(request_of(said, params))
        elif said.get("method") == "notifications/cancelled":
            self._requests.cancel(params.get("requestId"))
        return introduced(line) if said.get("method") == "initialize" else line

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
            try:
                self._pass_on(line)
            except Exception as problem:  # a defect of the proxy: it may not cost all later answers
                self._fail_odd_answer(line, problem)
            self.busy = False
            del line  # it may not stay in memory until the next one comes

    def _pass_on(self, line: bytearray | TooLong) -> None:
        if isinstance(line, TooLong):
            self._fail_long_answer(line)
            return
        if line.startswith(_MARK_OF_ORDER):
            del line[: len(_MARK_OF_ORDER)]  # which JSON does not have, and hardly a client takes
        if len(line) >= WORTH_IT and (raw := self._large_result(line)) is not None:
            self._client.write(raw)
            return
        message = parsed(line)
        if isinstance(message, dict) and "method" not in message:
            self._answer_one(cast("Message", message), line)
        elif isinstance(message, list) and any(isinstance(one, dict) for one in cast("list[Any]", message)):
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
        own = self._own if request.method in ("tools/list", OWN_LIST) else None
        if own is not None and request.method == OWN_LIST:
            own.of_server.heard(message)
        elif own is not None and own.wait_for_pages(members(message.get("result")), request.id):
            own.of_server.learn(lambda: self._give(message, line, request))
        else:
            self._give(message, line, request)

    def _give(self, message: Message, line: bytearray, request: Request) -> None:
        made = self._touched(message, line, request)
        self._client.write(line if made is None else made)

    def _answer_batch(self, batch: list[Any], line: bytearray) -> None:
        texts = raw_items(line)
        made = [self._answer_in_batch(members(one), text) for one, text in zip(batch, texts, strict=True)]
        if all(one is None for one in made):
            self._client.write(line)
            return
        self._client.write(b"[" + b",".join(one or text for one, text in zip(made, texts, strict=True)) + b"]")

    def _answer_in_batch(self, message: Message, line: bytes) -> bytes | None:
        if "method" in message:
            self._watch(message)
            return None
        request = self._requests.answered(message.get("id"))
        return None if request is None else self._touched(message, line, request)

    def _touched(self, message: Message, line: bytes | bytearray, request: Request) -> bytes | None:
        """Another answer, where this one does not pass as it is."""
        result = message.get("result")
        if not isinstance(result, dict):
            if self._own is None or request.method != "tools/list":
                return None
            return self._own.instead_of(message, request.id, modern=request.modern)
        try:
            if request.method in TOOL_RESULTS:
                try:
                    return self._tool_result(message, line, request)
                except (ValueError, TypeError, RecursionError):  # half a surrogate pair, NaN, a key twice, or deep
                    return self._as_text(message, line, request)
            if request.method in OPENINGS:
                message = exactly(line)
                changed = advertise(message["result"], self._terms.capability)
                changed = (self._own is not None and self._own.advertise(message["result"])) or changed
                return written(message) if changed else None
            if request.method == "tools/list" and (self._own is not None or b'"outputSchema"' in line):
                message = exactly(line)
                changed = widen_tools(message["result"])
                changed = (self._own is not None and self._own.add_to(message["result"], request.id)) or changed
                return written(message) if changed else None
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
        if self._own is not None and message.get("method") == "notifications/tools/list_changed":
            self._own.of_server.known = False
        if message.get("method") == "notifications/progress":
            self._requests.progressed(members(message.get("params")).get("progressToken"))

    def _unreadable(self, line: bytearray) -> None:
        shown = bytes(line[:80]).decode(errors="replace").strip()
        request = self._requests.answered(answered_in(ends(line)))
        if request is not None:
            self._fail(request, UNREADABLE, f"the server's answer is not valid JSON: {shown}…")
        elif shown:
            self._say(f"the server wrote {len(line)} bytes that are no message, and they are dropped: {shown!r}")

    def _fail_odd_answer(self, line: bytearray | TooLong, problem: Exception) -> None:
        why = f"internal error: {type(problem).__name__}: {problem}"
        self._say(f"an answer of the server's is lost: {why}")
        id = answered_in(line if isinstance(line, TooLong) else ends(line))
        self._requests.answered(id)
        if isinstance(id, Id):
            with suppress(Exception):  # what could not take the answer may not take this, either
                self._error(id, INTERNAL, why)

    def _fail_long_answer(self, line: TooLong) -> None:
        self._say(f"the server sent a line of {line.size} bytes; at most {self._terms.most_bytes} are passed on")
        why = (
            f"the server's answer of {line.size} bytes is larger than the {self._terms.most_bytes} that the proxy "
            "takes (--max-line-mb): ask for less at a time"
        )
        request = self._requests.answered(answered_in(line))
        if request is not None:
            self._fail(request, TOO_LONG, why)
        elif b'"method"' not in line.head[:200]:
            for waiting in self._requests.take_all():  # one of them it was; none of them may wait for ever
                self._fail(waiting, TOO_LONG, why)

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
            self._fail(request, GONE, self._gone)

    def _fail(self, request: Request | None, code: int, why: str) -> None:
        if request is not None and request.method == OWN_LIST:
            if self._own is not None:
                self._own.of_server.heard({})
        elif request is not None:
            self._error(request.id, code, why)

    def expire(self, server: Outgoing) -> None:
        """Answers the requests whose time is over, and tells the server to stop."""
        for request in self._requests.overdue():
            self._say(f"no answer to {request.method} {request.tool} in time")
            self._fail(
                request, TIMED_OUT, f"the server has not answered {request.method} in time (--request-timeout-s)"
            )
            if request.method != "initialize":
                params = {"requestId": request.id, "reason": "timed out"}
                note = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}
                server.offer(written(note))  # one that hangs may not even read

    def _error(self, id: object, code: int, message: str) -> None:
        self._client.write(error_line(id, code, message))


def _exactly(line: bytes | bytearray) -> Message:
    return exact.parse(bytes(line))
