"""The proxy's own tools beside the server's: listed with them, called here, and never passed on.

A name that the server has, too, is the server's. Calls run in threads of their own, because a query may take seconds,
and what they answer goes to the client as it is: it is never offloaded.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, cast

import orjson

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
        self.alone = False
        """Set when the server has no tools at all: then the proxy lists its own by itself."""

    def take(self, message: Message) -> bool:
        """Whether a request of the client's is for these tools; then it is answered, some time."""
        method, id = message.get("method"), message.get("id")
        params = message.get("params")
        params = cast("Message", params) if isinstance(params, dict) else {}
        if method == "notifications/cancelled":
            return self._running.pop(_key(params.get("requestId")), None) is not None
        if id is None or isinstance(id, (dict, list)):
            return False
        if method == "tools/list" and self.alone:
            self._reply(id, {"tools": [_listed(tool) for tool in self._toolbox.tools]})
            return True
        if method == "tools/list" and params.get("cursor") is not None:
            self._later_pages.add(_key(id))
        name = params.get("name")
        if method != "tools/call" or name not in self._toolbox or name in self._taken:
            return False
        thread = threading.Thread(target=self._call, args=(id, name, params.get("arguments")), name="tool", daemon=True)
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
        """Waits for calls in progress, for so long at most."""
        until = time.monotonic() + seconds
        for thread in list(self._running.values()):
            thread.join(max(0.0, until - time.monotonic()))

    def _call(self, id: object, name: str, arguments: object) -> None:
        try:
            given: Any = {} if arguments is None else arguments
            answer = (
                self._toolbox.call(name, cast("Mapping[str, Any]", given))
                if isinstance(given, dict)
                else Answer((f"{name}: arguments must be an object",), is_error=True)
            )
        except Exception as problem:  # a defect of the proxy: nobody may wait for ever because of it
            answer = Answer((f"{name} failed: {type(problem).__name__}: {problem}",), is_error=True)
        if self._running.pop(_key(id), None) is not None:  # not cancelled
            content = [{"type": "text", "text": text} for text in answer.texts]
            self._reply(id, {"content": content, "isError": answer.is_error})

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
