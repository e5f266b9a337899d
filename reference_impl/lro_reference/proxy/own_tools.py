"""The proxy's own tools beside the server's: listed with them, called here, and never passed on.

A name that the server has, too, is the server's. Calls run in threads of their own, because a query may take seconds,
and what they answer goes to the client as it is: it is never offloaded.
"""

from __future__ import annotations

import itertools
import queue
import secrets
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from lro_reference.extraction import sampling
from lro_reference.extraction.stopping import Stop
from lro_reference.proxy import eras
from lro_reference.proxy.arguments import arguments
from lro_reference.proxy.errors import NO_METHOD
from lro_reference.proxy.messages import Message, members, written
from lro_reference.proxy.server_tools import ServerTools
from lro_reference.tooling import Answer, Tool

if TYPE_CHECKING:
    from lro_reference.extraction.families import Toolbox


class _Call:
    """A call of an own tool that is not answered yet."""

    def __init__(self, id: object, message: Message, *, lends_model: bool) -> None:
        self.id = id
        """Of the request that waits for it; None while the client asks its model."""
        self.modern = eras.modern(message) is not None
        self.lends_model = eras.lends_model(message) if self.modern else lends_model
        self.stop = Stop()
        self.thread: threading.Thread | None = None
        self.heard: queue.SimpleQueue[Message] = queue.SimpleQueue()
        """What the client's model says."""


class OwnTools:
    """The tools of a toolbox for one client; *send* writes a line to it, *say* one for people."""

    def __init__(self, toolbox: Toolbox, send: Callable[[bytes], object], say: Callable[[str], None]) -> None:
        self._toolbox, self._send, self._say = toolbox, send, say
        self._taken: set[str] = set()
        self._later_pages: set[object] = set()
        self._running: dict[object, _Call] = {}
        self._lends_model = False
        self._asked: dict[str, _Call] = {}
        """Calls that wait for the client's model, by the id or the state that it answers with."""
        self._numbers = itertools.count(1)
        self.alone = False
        """Set when the server has no tools at all: then the proxy lists its own by itself."""
        self.of_server = ServerTools(self._take_names)
        self.pass_on: Callable[[bytes], object] = lambda line: None
        """Takes a line of the client's once more, now that the server is known to have the tool that it calls."""

    def take(self, message: Message, written: Callable[[], bytes | bytearray]) -> bool:
        """Whether a message of the client's is for these tools; a request is answered, some time.

        *written* gives its line, from which a call's arguments are read without losing a digit.
        """
        method, id = message.get("method"), message.get("id")
        if method is None:
            waiting = self._asked.get(id) if isinstance(id, str) else None
            if waiting is not None:
                waiting.heard.put(message)
            return waiting is not None
        params = members(message.get("params"))
        if method == "notifications/cancelled":
            call = self._running.pop(_key(params.get("requestId")), None)
            if call is not None:
                call.stop.say()
            return call is not None
        if id is None or isinstance(id, (dict, list)):
            return False
        if method == "initialize":
            self._lends_model = "sampling" in members(params.get("capabilities"))
        elif method == "tools/list":
            self.of_server.envelope = eras.envelope(message)
            if params.get("cursor") is not None:
                self._later_pages.add(_key(id))
            elif self.alone:
                self._reply(id, self._all(modern=eras.modern(message) is not None))
                return True
        elif method == "tools/call":
            return self._begin(message, id, params, written)
        return False

    def _begin(self, message: Message, id: object, params: Message, written: Callable[[], bytes | bytearray]) -> bool:
        name, state = params.get("name"), params.get("requestState")
        if not isinstance(name, str) or name not in self._toolbox or name in self._taken:
            return False
        asked = self._asked.get(state) if isinstance(state, str) else None
        if asked is not None:
            asked.id = id
            self._running[_key(id)] = asked
            asked.heard.put(eras.summary_in(params))
            return True
        call = self._running[_key(id)] = _Call(id, message, lends_model=self._lends_model)
        line = bytes(written())
        if self.alone or self.of_server.known:
            self._start(call, name, line)
        else:
            self.of_server.envelope = eras.envelope(message)
            self.of_server.learn(lambda: self._start(call, name, line))
        return True

    def _start(self, call: _Call, name: str, line: bytes) -> None:
        if name in self._taken:
            if self._running.pop(_key(call.id), None) is not None:
                threading.Thread(target=self.pass_on, args=(line,), name="late", daemon=True).start()
        elif not call.stop.said:
            call.thread = threading.Thread(target=self._call, args=(call, name, line), name="tool", daemon=True)
            call.thread.start()

    def add_to(self, result: Message, id: object) -> bool:
        """Adds the tools to the first page of `tools/list`, since not every client asks for more; whether it did."""
        listed = result.get("tools")
        if not isinstance(listed, list):
            return False
        tools = cast("list[Any]", listed)
        self._take_names(members(tool).get("name") for tool in tools)
        if _key(id) in self._later_pages:
            self._later_pages.discard(_key(id))
            return False
        if result.get("nextCursor") is None:
            self.of_server.known = True
        mine = [_listed(tool) for tool in self._toolbox.tools if tool.name not in self._taken]
        tools.extend(mine)
        return bool(mine)

    def instead_of(self, message: Message, id: object, *, modern: bool) -> bytes | None:
        """The list of these tools, where a server that has none answers so; None for any other answer."""
        if members(message.get("error")).get("code") != NO_METHOD or _key(id) in self._later_pages:
            return None
        self.alone = True
        return written({"jsonrpc": "2.0", "id": id, "result": self._all(modern=modern)})

    def wait_for_pages(self, result: Message, id: object) -> bool:
        """Whether a first page cannot be answered before the names on the other pages are known."""
        more = result.get("nextCursor") is not None and _key(id) not in self._later_pages
        return more and not self.of_server.known

    def advertise(self, result: Message) -> bool:
        """Adds the capability `tools` where the server has none; whether it had none."""
        capabilities = result.get("capabilities")
        if not isinstance(capabilities, dict) or "tools" in capabilities:
            return False
        capabilities["tools"] = {}
        self.alone = True
        return True

    def settle(self, seconds: float) -> None:
        """The client has left: waits for calls in progress, for so long at most."""
        for call in list(self._asked.values()):
            call.heard.put({"error": {"message": "the client has left"}})
        until = time.monotonic() + seconds
        for call in list(self._running.values()):
            while call.thread is None and time.monotonic() < until:  # until the server has told its tools
                time.sleep(0.01)
            if call.thread is not None:
                call.thread.join(max(0.0, until - time.monotonic()))

    def _take_names(self, names: Iterable[object]) -> None:
        """These are the server's."""
        for name in names:
            if isinstance(name, str) and name in self._toolbox and name not in self._taken:
                self._taken.add(name)
                self._toolbox.hide(name)
                self._say(f"the server has a tool {name}, too: the proxy's is left out (--tool-prefix renames it)")

    def _all(self, *, modern: bool) -> Message:
        tools = [_listed(tool) for tool in self._toolbox.tools]
        return eras.listed(tools) if modern else {"tools": tools}

    def _call(self, call: _Call, name: str, line: bytes) -> None:
        try:
            given = arguments(line)
            ask = partial(self._ask, call) if call.lends_model else None
            answer = (
                self._toolbox.call(name, cast("Mapping[str, Any]", given), ask, call.stop)
                if isinstance(given, dict)
                else Answer((f"{name}: arguments must be an object",), is_error=True)
            )
        except Exception as problem:  # a defect of the proxy: nobody may wait for ever because of it
            answer = Answer((f"{name} failed: {type(problem).__name__}: {problem}",), is_error=True)
        if self._running.pop(_key(call.id), None) is not None:  # not cancelled
            content = [{"type": "text", "text": text} for text in answer.texts]
            result = {"content": content, "isError": answer.is_error}
            self._reply(call.id, eras.complete(result) if call.modern else result)

    def _ask(self, call: _Call, text: str) -> str:
        """What the client's language model says. Raises `Refused`."""
        id = f"lro-proxy/sampling/{next(self._numbers)}"
        if call.modern:
            id += f"/{secrets.token_hex(8)}"
        self._asked[id] = call
        if not call.modern:
            self._send(
                written(
                    {"jsonrpc": "2.0", "id": id, "method": "sampling/createMessage", "params": sampling.request(text)}
                )
            )
        elif self._running.pop(_key(call.id), None) is not None:
            waits, call.id = call.id, None
            self._reply(waits, eras.wanting_summary(text, id))
        cancelled: Message = {"error": {"message": "the call was cancelled"}}
        try:
            with call.stop.doing(lambda: call.heard.put(cancelled)):
                said = call.heard.get(timeout=sampling.SECONDS)
        except queue.Empty:
            raise sampling.failed(f"no answer within {sampling.SECONDS:g} s") from None
        finally:
            del self._asked[id]
        if "error" in said:
            error = said["error"]
            raise sampling.failed(cast("Message", error).get("message") if isinstance(error, dict) else error)
        return sampling.answer(said.get("result"))

    def _reply(self, id: object, result: Message) -> None:
        self._send(written({"jsonrpc": "2.0", "id": id, "result": result}))


def _listed(tool: Tool) -> Message:
    return {
        "name": tool.name,
        "description": tool.description,
        "inputSchema": dict(tool.input_schema),
        "annotations": {"readOnlyHint": tool.reads_only},
    }


def _key(id: object) -> tuple[type, str]:
    return type(id), str(id)
