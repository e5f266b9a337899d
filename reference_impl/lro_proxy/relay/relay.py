"""The relay between a client and a server, which forwards raw lines both ways.

It rewrites large results (of tasks, too), the results of `tools/list`, and the messages by which each side learns of
the proxy: the opening exchange and, since MCP 2026-07-28, calls. Secrets in the server's messages are redacted if
`RelayOptions.masks` is set. Lines from the server that are not messages are dropped, as are answers to requests that
are not pending.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

from lro_proxy.errors import CANCELLED, GONE, INTERNAL, TIMED_OUT, TOO_LONG, UNREADABLE, Log, error_line
from lro_proxy.gain.ledger import Ledger, tokens_of
from lro_proxy.payload.array import MIN_BATCHED_BYTES
from lro_proxy.payload.interceptor import Interceptor, distinct_tool_name
from lro_proxy.payload.result import Answer, cut_answer, read_answer
from lro_proxy.protocol import OPENINGS, TOOL_RESULTS, announce_proxy
from lro_proxy.relay import size_limits
from lro_proxy.relay.output_schemas import advertise, widen_tool
from lro_proxy.relay.pending import Id, PendingRequests, Request, request_of
from lro_proxy.relay.tasks import NOTIFICATION, Tasks, rewrite_result
from lro_proxy.relay.tools import ProxyTools
from lro_proxy.wire.framing import Outgoing, OversizedLine, Writer, ends, read_lines
from lro_proxy.wire.jsonrpc import (
    TOO_DEEP,
    Message,
    members,
    parse,
    parse_lossless,
    raw_items,
    raw_member,
    serialise,
    unreadable,
)
from lro_proxy.wire.truncated import id_in, response_id_in
from lro_reference import delegation

if TYPE_CHECKING:
    from lro_spec.redaction import Masks

OWN_LIST = "tools/list for the proxy's own tools"
"""In place of a method, marks a request of the proxy itself, by which it learns the names of the server's tools."""
_TOKENS_PER_BYTE = 10 / 36
"""Upper bound of the estimated tokens per byte of JSON."""
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_HINT = delegation.META.encode()
"""Part of every line in which a server describes its result for the proxy (`delegation`)."""
_NEVER = 2**63
"""A threshold that no result exceeds."""


@dataclass(frozen=True, slots=True)
class RelayOptions:
    """Limits and offloading options that apply to every upstream."""

    max_bytes: int
    """Maximum size of a line."""
    threshold_of: Callable[[str, int | None], int | None]
    """Returns the threshold of a tool in tokens, from its name and the threshold that its server declares, if any.

    None means that the tool's results are never offloaded.
    """
    capability: Mapping[str, Any]
    """The capability ``lro`` that the proxy advertises."""
    masks: Masks | None = None
    """Secrets that are redacted in all messages of servers."""
    ledger: Ledger | None = None
    """Counts what is saved."""
    enabled: bool = True
    """False if nothing is offloaded. Then servers do not learn of the proxy, and their tools' declarations stay as they
    are."""


class Relay:
    """The relay of one client and one server."""

    def __init__(
        self,
        options: RelayOptions,
        requests: PendingRequests,
        interceptor: Interceptor,
        client: Writer,
        log: Log,
        tools: ProxyTools | None = None,
    ) -> None:
        self._options, self._requests, self._interceptor = options, requests, interceptor
        self._client, self._log, self._tools = client, log, tools
        self._numbers = itertools.count(1)
        self._end_reason = ""
        self._has_unparsed = False
        """True once the client has sent a message that the relay could not read; the server may still answer it."""
        self._defers = False
        """True if the client announced in `initialize` that a proxy nearer to it offloads."""
        self._declared: dict[str, int] = {}
        """Thresholds that the server declares, by tool."""
        self._tasks = Tasks()
        self._delivery = threading.Lock()
        """Held while a request moves from the pending ones to `_delivering`, and while its answer is written to the
        client. So `stop` neither misses a request nor answers it a second time."""
        self._delivering: dict[Id, Request] = {}
        """Requests whose answer has come and is not yet given to the client."""
        self._stopped = False
        self.client_left = False
        """True once the client has closed its side. If the server then ends, that matters only to pending requests."""
        self.busy = False
        """True while a line of the server is being forwarded."""

    # --- from the client

    def forward(self, pipe: int, server: Outgoing) -> None:
        """Forward the lines of the client until it leaves."""
        if self._tools is not None:
            self._tools.server_tools.ask = lambda params: self._ask_for_tools(server, params)
            self._tools.forward = lambda line: self._forward(bytearray(line), server)
        for line in read_lines(pipe, self._options.max_bytes):
            if isinstance(line, OversizedLine):
                self._refuse_long_request(line)
            else:
                self._forward(line, server)
        self.client_left = True

    def _forward(self, line: bytearray, server: Outgoing) -> None:
        try:
            passed_on = self.track(line)
        except Exception as problem:  # a defect of the proxy; the server may still understand the message
            self._log(f"a message of the client is forwarded unchanged: {type(problem).__name__}: {problem}")
            self._has_unparsed, passed_on = True, line
        if passed_on is not None:
            server.write(passed_on)
        if self._end_reason:
            self._fail_pending()

    def _ask_for_tools(self, server: Outgoing, params: Message) -> None:
        """Request a page of the list of the server's tools; `ServerTools.receive` gets the answer."""
        request = Request(f"lro-proxy/tools/{next(self._numbers)}", OWN_LIST)
        self._requests.add(request)
        line = {"jsonrpc": "2.0", "id": request.id, "method": "tools/list", "params": params}

        def ask() -> None:
            if not server.write(serialise(line)) or self._end_reason:
                self._fail(self._requests.pop(request.id), GONE, "")

        threading.Thread(target=ask, name="tools", daemon=True).start()  # the server may read slowly

    def upstream_stalled(self) -> None:
        """Fail all requests, since the server does not read any more or has ended."""
        if self._end_reason:
            self._fail_pending()
        for request in self._requests.pop_all():
            self._fail(request, TIMED_OUT, "the server no longer reads")

    def track(self, line: bytearray) -> bytes | bytearray | None:
        """Track the requests in a line of the client.

        Returns the line for the server, or None if all of it was for the proxy's own tools. Unless offloading is
        disabled, the returned line announces the proxy in `initialize` and, since MCP 2026-07-28, in calls.
        """
        whole: Any = parse(line)
        if whole is None:
            self._has_unparsed = True  # left to the server
            return line
        if isinstance(whole, list):
            return self._track_batch(cast("list[Any]", whole), line)
        return self._track_message(cast("Message", whole), line) if isinstance(whole, dict) else line

    def _track_batch(self, batch: list[Any], line: bytearray) -> bytes | bytearray | None:
        texts = raw_items(line)
        rest = [
            text for one, text in zip(batch, texts, strict=True) if self._track_message(members(one), text) is not None
        ]
        if len(rest) == len(texts):
            return line
        return b"[" + b",".join(rest) + b"]" if rest else None

    def _track_message(self, message: Message, line: bytes | bytearray) -> bytes | bytearray | None:
        id, params = message.get("id"), members(message.get("params"))
        has_usable_id = id is None or isinstance(id, Id)
        if has_usable_id and self._tools is not None and self._tools.handle(message, lambda: line):
            return None
        if "method" in message and not has_usable_id:
            self._has_unparsed = True  # left to the server
        elif "method" in message and id is not None:
            self._add(request_of(message, params))
        elif message.get("method") == "notifications/cancelled":
            self._requests.cancel(params.get("requestId"))
        return announce_proxy(message, line) if self._options.enabled else line

    def _add(self, request: Request) -> None:
        if request.client and self._options.ledger is not None:
            self._options.ledger.client = request.client
        if request.method == "initialize":
            self._defers = request.defers
        if request.defers and request.method == "initialize":
            self._log("a proxy between this one and the client offloads: results are forwarded unchanged")
        request.defers = request.defers or (self._defers and not request.modern)
        self._tasks.attribute(request)
        self._requests.add(request)

    def _refuse_long_request(self, line: OversizedLine) -> None:
        self._log(f"the client sent a line of {line.size} bytes, but at most {self._options.max_bytes} are forwarded")
        if (id := id_in(line)) is not None:
            self._error(
                id, TOO_LONG, f"the message is larger than {self._options.max_bytes} bytes: send less at a time"
            )

    # --- from the server

    def answer(self, pipe: int) -> None:
        """Forward the lines of the server until it ends."""
        for line in read_lines(pipe, self._options.max_bytes):
            self.busy = True
            if self._options.masks is not None and not isinstance(line, OversizedLine):
                line = bytearray(self._options.masks.data(bytes(line)))
            try:
                self._pass_on(line)
            except Exception as problem:  # a defect of the proxy must not lose all later answers
                self._fail_broken_answer(line, problem)
            self.busy = False
            del line  # frees its memory before the next one arrives

    def _pass_on(self, line: bytearray | OversizedLine) -> None:
        if isinstance(line, OversizedLine):
            self._fail_long_answer(line)
            return
        if line.startswith(_BYTE_ORDER_MARK):
            del line[: len(_BYTE_ORDER_MARK)]  # a byte order mark, which JSON does not allow and most clients reject
        # a large line is not parsed as a whole, which takes much memory
        answer = cut_answer(line) if len(line) >= MIN_BATCHED_BYTES else None
        message = parse(line) if answer is None else answer.message
        if isinstance(message, dict) and "method" not in message:
            self._answer_one(cast("Message", message), line, answer)
        elif isinstance(message, list) and any(isinstance(one, dict) for one in cast("list[Any]", message)):
            self._answer_batch(cast("list[Any]", message), line)
        elif isinstance(message, dict):
            self._observe(cast("Message", message))
            rewritten = self._task_notification(cast("Message", message), line)
            self._client.write(line if rewritten is None else rewritten)
        else:
            self._drop_unreadable(line)

    def _answer_one(self, message: Message, line: bytearray, answer: Answer | None) -> None:
        request = self._take(message.get("id"))
        if request is None:
            if message.get("id") is None or self._has_unparsed:
                self._client.write(line)  # may answer a message that the relay could not parse
            else:
                self._log(f"the server answered {message['id']!r}, but no such request is pending; this is dropped")
            return
        own = self._tools if request.method in ("tools/list", OWN_LIST) else None
        if own is not None and request.method == OWN_LIST:
            self._delivering.pop(request.id, None)
            own.server_tools.receive(message)
        elif own is not None and own.needs_more_pages(members(message.get("result")), request.id):
            own.server_tools.fetch(lambda: self._deliver(message, line, request, answer))
        else:
            self._deliver(message, line, request, answer)

    def _deliver(self, message: Message, line: bytearray, request: Request, answer: Answer | None) -> None:
        rewritten = self._rewrite(message, line, request, answer)
        self._give(line if rewritten is None else rewritten, [request])

    def _take(self, id: object) -> Request | None:
        """Note that the answer to a pending request has come (`_delivering`).

        Returns the request; None if it is not pending.
        """
        with self._delivery:
            request = self._requests.pop(id)
            if request is not None:
                self._delivering[request.id] = request
            return request

    def _give(self, line: bytes | bytearray, answered: Sequence[Request]) -> None:
        """Give the client the line that answers these requests, unless `stop` has answered them."""
        with self._delivery:
            if not self._stopped:
                self._client.write(line)
            for request in answered:
                self._delivering.pop(request.id, None)

    def _answer_batch(self, batch: list[Any], line: bytearray) -> None:
        texts = raw_items(line)
        answered: list[Request] = []
        parts = zip(batch, texts, strict=True)
        rewritten = [self._answer_in_batch(members(one), text, answered) for one, text in parts]
        if all(one is None for one in rewritten):
            self._give(line, answered)
            return
        whole = b",".join(one or text for one, text in zip(rewritten, texts, strict=True))
        self._give(b"[" + whole + b"]", answered)

    def _answer_in_batch(self, message: Message, line: bytes, answered: list[Request]) -> bytes | None:
        if "method" in message:
            self._observe(message)
            return None
        request = self._take(message.get("id"))
        if request is None:
            return None
        answered.append(request)
        return self._rewrite(message, line, request)

    def _rewrite(
        self, message: Message, line: bytes | bytearray, request: Request, answer: Answer | None = None
    ) -> bytes | None:
        """The rewritten answer; None if it is forwarded unchanged.

        *answer* is given if a large payload was cut out of the line; then *message* lacks that payload.
        """
        result = message.get("result")
        if not isinstance(result, dict):
            if self._tools is None or request.method != "tools/list":
                return None
            return self._tools.list_without_server(message, request.id, modern=request.modern)
        try:
            if request.method in TOOL_RESULTS:
                return None if request.defers else self._offload(message, line, request, answer)
            if request.method in OPENINGS:
                message = parse_lossless(line)
                offers = self._options.enabled and not request.defers
                changed = offers and advertise(message["result"], self._options.capability)
                changed = (self._tools is not None and self._tools.advertise(message["result"])) or changed
                return serialise(message) if changed else None
            if request.method == "tools/list":
                return self._list_tools(line, request)
        except RecursionError:
            return error_line(request.id, UNREADABLE, f"the server's answer {TOO_DEEP}")
        except Exception as problem:  # must not lose this answer nor later ones
            self._log(f"an answer to {request.method} cannot be rewritten and is forwarded unchanged: {problem}")
        return None

    def _list_tools(self, line: bytes | bytearray, request: Request) -> bytes | None:
        message = parse_lossless(line)
        before = serialise(message) if self._options.ledger is not None else b""
        changed = self._options.enabled and not request.defers and self._adapt_tools(message["result"])
        changed = (self._tools is not None and self._tools.add_to_list(message["result"], request.id)) or changed
        if not changed:
            return None
        after = serialise(message)
        if self._options.ledger is not None:
            self._options.ledger.count_listing(len(after) - len(before))
        return after

    def _adapt_tools(self, result: Message) -> bool:
        """Adapt the tools' output schemas and size limits to results that may be offloaded; True if changed."""
        listed, changed = result.get("tools"), False
        for tool in map(members, cast("list[Any]", listed) if isinstance(listed, list) else []):
            name, limit = tool.get("name"), size_limits.declared(tool)
            if not isinstance(name, str):
                continue
            self._declared.pop(name, None)
            if limit is not None:
                self._declared[name] = size_limits.threshold_for(limit)
            widened = widen_tool(tool)
            changed = size_limits.declare(tool, self._threshold_of(name)) or widened or changed
        return changed

    def _threshold_of(self, tool: str) -> int | None:
        return self._options.threshold_of(tool, self._declared.get(tool))

    def _offload(
        self, message: Message, line: bytes | bytearray, request: Request, answer: Answer | None
    ) -> bytes | None:
        """The answer to a call, with a descriptor in place of the result; None if it stays unchanged."""
        if request.method == "tasks/get":
            return self._offload_in_task(line, "result", request)
        if request.method == "tools/call" and answer is None:
            self._tasks.remember(request, members(message["result"]))
        try:
            rewritten = self._tool_result(line, request, answer)
        except (ValueError, TypeError, RecursionError):
            rewritten = self._as_text(line, request)  # half of a surrogate pair, NaN, a key twice, deep nesting
        if self._options.ledger is not None:
            self._count(request, message, rewritten, answer)
        return rewritten

    def _count(self, request: Request, message: Message, rewritten: bytes | None, answer: Answer | None) -> None:
        """Count a result by the tokens that the client receives: those of *rewritten* or, if None, of the result."""
        assert self._options.ledger is not None
        if rewritten is not None:
            sent = tokens_of(members(members(parse(rewritten)).get("result")))
        else:
            sent = tokens_of(message["result"]) if answer is None else -(-answer.result.size[0] // 4)
        self._options.ledger.result(request.tool, request.arguments, sent)

    def _offload_in_task(self, line: bytes | bytearray, member: str, request: Request) -> bytes | None:
        """The line of a message about a task, with a descriptor in place of the task's result; None if unchanged."""
        call = replace(request, method="tasks/result", cancelled=False)

        def offload(line: bytes) -> bytes | None:
            return self._offload(cast("Message", parse(line)), line, call, None)

        return rewrite_result(line, member, offload)

    def _task_notification(self, message: Message, line: bytearray) -> bytes | None:
        """A notification of a completed task, with a descriptor in place of the task's result.

        None if it stays unchanged, as any other message does.
        """
        if message["method"] != NOTIFICATION or self._defers:
            return None
        task = members(message.get("params")).get("taskId")
        request = Request("", NOTIFICATION, tool="task", task=task if isinstance(task, str) else None)
        self._tasks.attribute(request)
        try:
            return self._offload_in_task(line, "params", request)
        except (ValueError, TypeError, RecursionError) as problem:
            self._log(f"a notification of a task is forwarded unchanged: {problem}")
            return None

    def _tool_result(self, line: bytes | bytearray, request: Request, answer: Answer | None) -> bytes | None:
        threshold = self._threshold_of(request.tool)
        if (threshold is None or len(line) * _TOKENS_PER_BYTE <= threshold) and _HINT not in line:
            return None
        if request.cancelled:
            return error_line(request.id, CANCELLED, "the call was cancelled, and its large result discarded")
        answer = read_answer(line) if answer is None else answer
        rewritten = self._interceptor.offload(
            answer.result,
            tool=distinct_tool_name(request.tool),
            arguments=request.arguments,
            threshold_tokens=_NEVER if threshold is None else threshold,
        )
        return None if rewritten is None else serialise({**answer.message, "result": rewritten})

    def _as_text(self, line: bytes | bytearray, request: Request) -> bytes | None:
        """Offload a result that cannot be parsed without loss: the file holds its original JSON text."""
        message, threshold = cast("Message", parse(line)), self._threshold_of(request.tool)
        rewritten = self._interceptor.offload_text(
            raw_member(line, "result"),
            message["result"],
            source="result",
            tool=distinct_tool_name(request.tool),
            arguments=request.arguments,
            threshold_tokens=_NEVER if threshold is None else threshold,
        )
        return None if rewritten is None else serialise({**message, "result": rewritten})

    def _observe(self, message: Message) -> None:
        """Note changes of the tools, and the progress of requests, from a message of the server."""
        if self._tools is not None and message.get("method") == "notifications/tools/list_changed":
            self._tools.server_tools.is_complete = False
        if message.get("method") == "notifications/progress":
            self._requests.extend(members(message.get("params")).get("progressToken"))

    def _drop_unreadable(self, line: bytearray) -> None:
        shown = bytes(line[:80]).decode(errors="replace").strip()
        request = self._requests.pop(response_id_in(ends(line)))
        if request is not None:
            self._fail(request, UNREADABLE, f"the server's answer {unreadable(line)}")
        elif shown:
            self._log(f"the server wrote {len(line)} bytes that are not a message; they are dropped: {shown!r}")

    def _fail_broken_answer(self, line: bytearray | OversizedLine, problem: Exception) -> None:
        why = f"internal error: {type(problem).__name__}: {problem}"
        self._log(f"an answer of the server is lost: {why}")
        id = response_id_in(line if isinstance(line, OversizedLine) else ends(line))
        self._requests.pop(id)
        if isinstance(id, Id):
            self._delivering.pop(id, None)
            with suppress(Exception):  # the client may be gone
                self._error(id, INTERNAL, why)

    def _fail_long_answer(self, line: OversizedLine) -> None:
        self._log(f"the server sent a line of {line.size} bytes, but at most {self._options.max_bytes} are forwarded")
        why = (
            f"the server's answer of {line.size} bytes is larger than the {self._options.max_bytes} that the proxy "
            "accepts (--max-line-mb): request less at a time"
        )
        request = self._requests.pop(response_id_in(line))
        if request is not None:
            self._fail(request, TOO_LONG, why)
        elif b'"method"' not in line.head[:200]:
            for waiting in self._requests.pop_all():  # the answer is for one of them, and none may wait forever
                self._fail(waiting, TOO_LONG, why)

    # --- failures

    @property
    def has_ended(self) -> bool:
        """True once the server has ended.

        `forward` itself fails requests that come later; after `track`, its caller has to do so (`upstream_stalled`).
        """
        return bool(self._end_reason)

    @property
    def has_pending(self) -> bool:
        """True while a request that was not cancelled waits for the server's answer."""
        return self._requests.has_uncancelled

    def stop(self, why: str) -> None:
        """Fail all requests whose answers the client has not received, because the proxy is ending.

        Blocks if the client does not read.
        """
        with self._delivery:
            self._stopped = True
            given_up = [*self._delivering.values(), *self._requests.pop_all()]
        self.upstream_ended(why)
        for request in given_up:
            self._fail(request, GONE, why)

    def upstream_ended(self, why: str) -> None:
        """Fail all pending and later requests, because the server has ended."""
        if not self._end_reason:
            self._log(why)
        self._end_reason = why
        self._fail_pending()

    def _fail_pending(self) -> None:
        for request in self._requests.pop_all():
            self._fail(request, GONE, self._end_reason)

    def _fail(self, request: Request | None, code: int, why: str) -> None:
        if request is not None and request.method == OWN_LIST:
            if self._tools is not None:
                self._tools.server_tools.receive({})
        elif request is not None:
            self._error(request.id, code, why)

    def expire(self, server: Outgoing) -> None:
        """Fail overdue requests, and cancel them on the server, except `initialize`, which must not be cancelled."""
        for request in self._requests.pop_overdue():
            self._log(f"no answer to {request.method} {request.tool} in time")
            self._fail(
                request, TIMED_OUT, f"the server has not answered {request.method} in time (--request-timeout-s)"
            )
            if request.method != "initialize":
                params = {"requestId": request.id, "reason": "timed out"}
                note = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}
                server.offer(serialise(note))  # a hanging server may not read

    def _error(self, id: object, code: int, message: str) -> None:
        self._client.write(error_line(id, code, message))
