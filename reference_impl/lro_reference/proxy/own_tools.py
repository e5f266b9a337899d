"""The proxy's own tools beside the server's: listed with them, called here, and never passed on.

A name that the server has, too, is the server's. Calls run in threads of their own, because a query may take seconds,
and what they answer goes to the client as it is: it is never offloaded.
"""

from __future__ import annotations

import itertools
import queue
import threading
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, cast

import orjson

from lro_reference.extraction import sampling
from lro_reference.proxy.arguments import arguments
from lro_reference.tooling import Answer, Tool

if TYPE_CHECKING:
    from lro_reference.extraction.families import Toolbox

Message = dict[str, Any]


class OwnTools:
    """The tools of a toolbox for one client; *send* writes a line to it, *say* one for people."""

    def __init__(self, toolbox: Toolbox, send: Callable[[bytes], object], say: Callable[[str], None]) -> None:
        self._toolbox, self._send, self._say = toolbox, send, say
        self._taken: set[str] = set()
        self._later_pages: set[object] = set()
        self._running: dict[object, threading.Thread] = {}
        self._lends_model = False
        self._asked: dict[str, queue.SimpleQueue[Message]] = {}
        self._numbers = itertools.count(1)
        self.alone = False
        """Set when the server has no tools at all: then the proxy lists its own by itself."""

    def take(self, message: Message, written: Callable[[], bytes | bytearray]) -> bool:
        """Whether a message of the client's is for these tools; a request is answered, some time.

        *written* gives its line, from which a call's arguments are read without losing a digit.
        """
        method, id = message.get("method"), message.get("id")
        if method is None:
            waiting = self._asked.get(id) if isinstance(id, str) else None
            if waiting is not None:
                waiting.put(message)
            return waiting is not None
        params = message.get("params")
        params = cast("Message", params) if isinstance(params, dict) else {}
        if method == "notifications/cancelled":
            return self._running.pop(_key(params.get("requestId")), None) is not None
        if id is None or isinstance(id, (dict, list)):
            return False
        if method == "initialize":
            capabilities = params.get("capabilities")
            self._lends_model = isinstance(capabilities, dict) and "sampling" in capabilities
        if method == "tools/list" and self.alone:
            self._reply(id, {"tools": [_listed(tool) for tool in self._toolbox.tools]})
            return True
        if method == "tools/list" and params.get("cursor") is not None:
            self._later_pages.add(_key(id))
        name = params.get("name")
        if method != "tools/call" or name not in self._toolbox or name in self._taken:
            return False
        thread = threading.Thread(target=self._call, args=(id, name, bytes(written())), name="tool", daemon=True)
        self._running[_key(id)] = thread
        thread.start()
        return True

    def add_to(self, result: Message, id: object) -> bool:
        """Adds the tools to the first page of `tools/list`, since not every client asks for more; whether it did."""
        listed = result.get("tools")
        if not isinstance(listed, list):
            return False
        tools = cast("list[Any]", listed)
        names = {cast("Message", tool).get("name") for tool in tools if isinstance(tool, dict)}
        for tool in self._toolbox.tools:
            if tool.name in names and tool.name not in self._taken:
                self._taken.add(tool.name)
                self._say(f"the server has a tool {tool.name}, too: the proxy's is left out (--tool-prefix renames it)")
        if _key(id) in self._later_pages:
            self._later_pages.discard(_key(id))
            return False
        mine = [_listed(tool) for tool in self._toolbox.tools if tool.name not in self._taken]
        tools.extend(mine)
        return bool(mine)

    def advertise(self, result: Message) -> bool:
        """Adds the capability `tools` to a result of `initialize`, where the server has none; whether it had none."""
        capabilities = result.get("capabilities")
        if not isinstance(capabilities, dict) or "tools" in capabilities:
            return False
        capabilities["tools"] = {}
        self.alone = True
        return True

    def settle(self, seconds: float) -> None:
        """The client has left: waits for calls in progress, for so long at most."""
        for waiting in list(self._asked.values()):
            waiting.put({"error": {"message": "the client has left"}})
        until = time.monotonic() + seconds
        for thread in list(self._running.values()):
            thread.join(max(0.0, until - time.monotonic()))

    def _call(self, id: object, name: str, line: bytes) -> None:
        try:
            given = arguments(line)
            answer = (
                self._toolbox.call(name, cast("Mapping[str, Any]", given), self._ask if self._lends_model else None)
                if isinstance(given, dict)
                else Answer((f"{name}: arguments must be an object",), is_error=True)
            )
        except Exception as problem:  # a defect of the proxy: nobody may wait for ever because of it
            answer = Answer((f"{name} failed: {type(problem).__name__}: {problem}",), is_error=True)
        if self._running.pop(_key(id), None) is not None:  # not cancelled
            content = [{"type": "text", "text": text} for text in answer.texts]
            self._reply(id, {"content": content, "isError": answer.is_error})

    def _ask(self, text: str) -> str:
        """What the client's language model says. Raises `Refused`."""
        id = f"lro-proxy/sampling/{next(self._numbers)}"
        waiting = self._asked[id] = queue.SimpleQueue()
        params = sampling.request(text)
        self._send(orjson.dumps({"jsonrpc": "2.0", "id": id, "method": "sampling/createMessage", "params": params}))
        try:
            said = waiting.get(timeout=sampling.SECONDS)
        except queue.Empty:
            raise sampling.failed(f"no answer within {sampling.SECONDS:g} s") from None
        finally:
            del self._asked[id]
        if "error" in said:
            error = said["error"]
            raise sampling.failed(cast("Message", error).get("message") if isinstance(error, dict) else error)
        return sampling.answer(said.get("result"))

    def _reply(self, id: object, result: Message) -> None:
        self._send(orjson.dumps({"jsonrpc": "2.0", "id": id, "result": result}))


def _listed(tool: Tool) -> Message:
    return {
        "name": tool.name,
        "description": tool.description,
        "inputSchema": dict(tool.input_schema),
        "annotations": {"readOnlyHint": tool.reads_only},
    }


def _key(id: object) -> tuple[type, str]:
    return type(id), str(id)
