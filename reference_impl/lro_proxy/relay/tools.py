"""The proxy's own tools. They are listed after the server's tools, and their calls are answered here.

If the server has a tool of the same name, calls of that name go to the server. Each call of a tool of the proxy runs
in a thread of its own, because a query may take seconds. The answers are never offloaded.
"""

from __future__ import annotations

import itertools
import json
import queue
import secrets
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import orjson

from lro_proxy import protocol
from lro_proxy.errors import GONE, INVALID_PARAMS, NO_METHOD, error_line
from lro_proxy.relay.resources import OffloadedResources
from lro_proxy.relay.server_tools import ServerTools
from lro_proxy.tools import sampling
from lro_proxy.tools.limits import Refused
from lro_proxy.wire.jsonrpc import Message, members, parse_lossless, serialise
from lro_reference.cancellation import Cancellation
from lro_reference.tool import Answer, Tool

if TYPE_CHECKING:
    from lro_proxy.tools.toolbox import Toolbox


class _Call:
    """A pending call of a tool of the proxy."""

    def __init__(self, id: object, message: Message, *, supports_sampling: bool) -> None:
        self.id = id
        """Id of the request to answer. None while there is no such request, because the client is asking its model and
        will then repeat the call (MCP 2026-07-28)."""
        self.modern = protocol.message_version(message) is not None
        self.supports_sampling = protocol.supports_sampling(message) if self.modern else supports_sampling
        self.cancellation = Cancellation()
        self.thread: threading.Thread | None = None
        self.responses: queue.SimpleQueue[Message] = queue.SimpleQueue()
        """Responses of the client's model, or an error in place of a response that will not come."""


class ProxyTools:
    """The tools of a toolbox for one client, and offloaded files as *resources*.

    *send* writes a line to the client; *log* writes a line for operators.
    """

    def __init__(
        self,
        toolbox: Toolbox,
        send: Callable[[bytes], object],
        log: Callable[[str], None],
        resources: OffloadedResources | None = None,
    ) -> None:
        self._toolbox, self._send, self._log, self._resources = toolbox, send, log, resources
        self._server_names: set[str] = set()
        self._later_pages: set[object] = set()
        """Ids of requests for further pages of `tools/list`, after the first."""
        self._running: dict[object, _Call] = {}
        """Calls to be answered, by the id of the request. A cancelled call is removed."""
        self._supports_sampling = False
        self._waiting_for_model: dict[str, _Call] = {}
        """Calls that wait for the client's model, by the id that its response will have or, since MCP 2026-07-28, by
        the state that the repeated call will have."""
        self._numbers = itertools.count(1)
        self.server_has_none = False
        """True if the server has no tools at all. The proxy then answers `tools/list`."""
        self.server_tools = ServerTools(self._reserve_names)
        self.forward: Callable[[bytes], object] = lambda line: None
        """Forwards the line of a call whose tool has turned out to be a tool of the server."""
        self.count_answer: Callable[[Message, Sequence[str]], object] = lambda arguments, texts: None
        """Counts an answer with these texts to a call with these arguments."""

    def handle(self, message: Message, line_of: Callable[[], bytes | bytearray]) -> bool:
        """Handle a message of the client; returns True if the server must not get it.

        A call is answered later, by its thread; other requests for the proxy are answered at once. *line_of* returns
        the line of the message. The arguments of a call are parsed from that line without losing a digit.
        """
        method, id = message.get("method"), message.get("id")
        if method is None:
            waiting = self._waiting_for_model.get(id) if isinstance(id, str) else None
            if waiting is not None:
                waiting.responses.put(message)
            return waiting is not None
        params = members(message.get("params"))
        if method == "notifications/cancelled":
            call = self._running.pop(_id_key(params.get("requestId")), None)
            if call is not None:
                call.cancellation.request()
            return call is not None
        if id is None or isinstance(id, (dict, list)):
            return False
        if self._resources is not None and self._resources.handles(message):
            self._read(self._resources, message, id)
            return True
        if method == "initialize":
            self._supports_sampling = "sampling" in members(params.get("capabilities"))
        elif method == "tools/list":
            self.server_tools.envelope = protocol.envelope(message)
            if params.get("cursor") is not None:
                self._later_pages.add(_id_key(id))
            elif self.server_has_none:
                self._reply(id, self._tool_list(modern=protocol.message_version(message) is not None))
                return True
        elif method == "tools/call":
            return self._begin_call(message, id, params, line_of)
        return False

    def _begin_call(
        self, message: Message, id: object, params: Message, line_of: Callable[[], bytes | bytearray]
    ) -> bool:
        name, state = params.get("name"), params.get("requestState")
        if not isinstance(name, str) or name not in self._toolbox or name in self._server_names:
            return False
        waiting = self._waiting_for_model.get(state) if isinstance(state, str) else None
        if waiting is not None:
            waiting.id = id
            self._running[_id_key(id)] = waiting
            waiting.responses.put(protocol.summary_response(params))
            return True
        call = self._running[_id_key(id)] = _Call(id, message, supports_sampling=self._supports_sampling)
        line = bytes(line_of())
        if self.server_has_none or self.server_tools.is_complete:
            self._start(call, name, line)
        else:
            self.server_tools.envelope = protocol.envelope(message)
            self.server_tools.fetch(lambda: self._start(call, name, line))
        return True

    def _start(self, call: _Call, name: str, line: bytes) -> None:
        if name in self._server_names:
            if self._running.pop(_id_key(call.id), None) is not None:
                threading.Thread(target=self.forward, args=(line,), name="late", daemon=True).start()
        elif not call.cancellation.requested:
            call.thread = threading.Thread(target=self._call, args=(call, name, line), name="tool", daemon=True)
            call.thread.start()

    def add_to_list(self, result: Message, id: object) -> bool:
        """Add the tools to the first page of `tools/list`, which some clients request alone; True if any were added."""
        listed = result.get("tools")
        if not isinstance(listed, list):
            return False
        tools = cast("list[Any]", listed)
        self._reserve_names(members(tool).get("name") for tool in tools)
        if _id_key(id) in self._later_pages:
            self._later_pages.discard(_id_key(id))
            return False
        if result.get("nextCursor") is None:
            self.server_tools.is_complete = True
        own_tools = [_list_entry(tool) for tool in self._toolbox.tools if tool.name not in self._server_names]
        tools.extend(own_tools)
        return bool(own_tools)

    def list_without_server(self, message: Message, id: object, *, modern: bool) -> bytes | None:
        """The list of the proxy's tools if *message* says that `tools/list` is unknown; None for any other answer."""
        is_unknown = members(message.get("error")).get("code") == NO_METHOD
        if not self._toolbox.tools or not is_unknown or _id_key(id) in self._later_pages:
            return None
        self.server_has_none = True
        return serialise({"jsonrpc": "2.0", "id": id, "result": self._tool_list(modern=modern)})

    def needs_more_pages(self, result: Message, id: object) -> bool:
        """True if the answer with the first page must wait for the names on the other pages."""
        has_more = result.get("nextCursor") is not None and _id_key(id) not in self._later_pages and self._toolbox.tools
        return bool(has_more) and not self.server_tools.is_complete

    def advertise(self, result: Message) -> bool:
        """Add the capabilities `tools` and `resources` if they are needed and missing; True if any was added."""
        changed = self._resources is not None and self._resources.advertise(result)
        capabilities = result.get("capabilities")
        if not self._toolbox.tools or not isinstance(capabilities, dict) or "tools" in capabilities:
            return changed
        capabilities["tools"] = {}
        self.server_has_none = True
        return True

    def wait_for_calls(self, seconds: float) -> None:
        """Wait for calls in progress after the client has left, for at most *seconds*.

        Calls that wait for the client's model get an error in place of its response.
        """
        for call in list(self._waiting_for_model.values()):
            call.responses.put({"error": {"message": "the client has left"}})
        deadline = time.monotonic() + seconds
        for call in list(self._running.values()):
            while call.thread is None and time.monotonic() < deadline:  # waits until the server's tools are known
                time.sleep(0.01)
            if call.thread is not None:
                call.thread.join(max(0.0, deadline - time.monotonic()))

    def stop(self, why: str) -> None:
        """Answer the calls in progress with an error, because the proxy is ending."""
        for key in list(self._running):
            call = self._running.pop(key, None)  # None: it has just been answered
            if call is not None:
                call.cancellation.request()
                self._send(error_line(call.id, GONE, why))

    def _reserve_names(self, names: Iterable[object]) -> None:
        """Hide the tools whose names are used by the server."""
        for name in names:
            if isinstance(name, str) and name in self._toolbox and name not in self._server_names:
                self._server_names.add(name)
                advice = " (--tool-prefix renames it)" if self._toolbox.hide(name) else ""
                self._log(f"the server also has a tool {name}, so the proxy's is left out{advice}")

    def _tool_list(self, *, modern: bool) -> Message:
        tools = [_list_entry(tool) for tool in self._toolbox.tools]
        return protocol.tool_list_result(tools) if modern else {"tools": tools}

    def _call(self, call: _Call, name: str, line: bytes) -> None:
        call_arguments: Any = None
        try:
            call_arguments = arguments(line)
            ask = partial(self._ask, call) if call.supports_sampling else None
            answer = (
                self._toolbox.call(name, cast("Message", call_arguments), ask, call.cancellation)
                if isinstance(call_arguments, dict)
                else Answer((f"{name}: arguments must be an object",), is_error=True)
            )
        except Exception as problem:  # a defect of the proxy: the client must receive an answer
            answer = Answer((f"{name} failed: {type(problem).__name__}: {problem}",), is_error=True)
        if self._running.pop(_id_key(call.id), None) is not None:  # not cancelled
            self.count_answer(members(cast("object", call_arguments)), answer.texts)
            content = [{"type": "text", "text": text} for text in answer.texts]
            result = {"content": content, "isError": answer.is_error}
            self._reply(call.id, protocol.complete_result(result) if call.modern else result)

    def _ask(self, call: _Call, text: str) -> str:
        """The answer of the client's language model. Raises `Refused`."""
        id = f"lro-proxy/sampling/{next(self._numbers)}"
        if call.modern:
            id += f"/{secrets.token_hex(8)}"
        self._waiting_for_model[id] = call
        if not call.modern:
            self._send(
                serialise(
                    {"jsonrpc": "2.0", "id": id, "method": "sampling/createMessage", "params": sampling.request(text)}
                )
            )
        elif self._running.pop(_id_key(call.id), None) is not None:
            call_id, call.id = call.id, None
            self._reply(call_id, protocol.summary_request(text, id))
        cancelled: Message = {"error": {"message": "the call was cancelled"}}
        try:
            with call.cancellation.on_request(lambda: call.responses.put(cancelled)):
                response = call.responses.get(timeout=sampling.TIME_LIMIT_S)
        except queue.Empty:
            raise sampling.failure(f"no answer within {sampling.TIME_LIMIT_S:g} s") from None
        finally:
            del self._waiting_for_model[id]
        if "error" in response:
            error = response["error"]
            raise sampling.failure(cast("Message", error).get("message") if isinstance(error, dict) else error)
        return sampling.answer(response.get("result"))

    def _read(self, resources: OffloadedResources, message: Message, id: object) -> None:
        try:
            result = resources.result(message)
        except Refused as problem:
            self._send(error_line(id, INVALID_PARAMS, str(problem)))
            return
        if message.get("method") == "resources/read":
            uri: str = message["params"]["uri"]
            self.count_answer({"uri": uri.partition("?")[0]}, [content["text"] for content in result["contents"]])
        modern = protocol.message_version(message) is not None
        self._reply(id, protocol.uncached_result(result) if modern else result)

    def _reply(self, id: object, result: Message) -> None:
        self._send(serialise({"jsonrpc": "2.0", "id": id, "result": result}))


def _list_entry(tool: Tool) -> Message:
    return {
        "name": tool.name,
        "description": tool.description,
        "inputSchema": dict(tool.input_schema),
        "annotations": {"readOnlyHint": tool.reads_only},
    }


def _id_key(id: object) -> tuple[type, str]:
    return type(id), str(id)


_MAX_DIGITS = 4300
"""Maximum length of the integers that Python parses."""


def arguments(line: bytes) -> Any:
    """The arguments of a call; an empty object if it has none.

    Objects in a list are the messages of a conversation, whose numbers keep every digit (`lossless.parse`). All other
    numbers become plain Python numbers for the tools.
    """
    parsed = parse_lossless(line)["params"].get("arguments")
    return {} if parsed is None else _with_plain_numbers(parsed)


def _with_plain_numbers(value: Any) -> Any:
    if isinstance(value, orjson.Fragment):
        text = orjson.dumps(value)
        return json.loads(text) if len(text) < _MAX_DIGITS else float(text)
    if isinstance(value, dict):
        return {key: _with_plain_numbers(member) for key, member in cast("dict[str, Any]", value).items()}
    if isinstance(value, list):
        return [item if isinstance(item, dict) else _with_plain_numbers(item) for item in cast("list[Any]", value)]
    return value
