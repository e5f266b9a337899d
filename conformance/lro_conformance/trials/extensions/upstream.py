"""The server that the suite puts behind a proxy: it answers exactly as requested, and reports what it received.

Run as a script (``python -I -S upstream.py``), it is an MCP server over stdio that needs only the standard library.
The suite passes each result as text in an argument of the call, and the server returns this text unparsed, so the suite
knows every byte that the proxy received.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

PREFIX = "lro_probe_"
"""Prefix of the server's tool names; a proxy may add a further one."""

ITEMS_SCHEMA = {
    "type": "object",
    "properties": {"items": {"type": "array", "items": {"type": "object"}}},
    "required": ["items"],
}
_RESULT = {"type": "object", "properties": {"result": {"type": "string"}}, "required": ["result"]}
_NOTHING: dict[str, Any] = {"type": "object", "properties": {}}

TOOLS: list[dict[str, Any]] = [
    {"name": "lro_probe_say", "description": "Answers with this result.", "inputSchema": _RESULT},
    {
        "name": "lro_probe_typed",
        "description": "The same, with an output schema.",
        "inputSchema": _RESULT,
        "outputSchema": ITEMS_SCHEMA,
    },
    {"name": "lro_probe_refuse", "description": "Answers with this JSON-RPC error.", "inputSchema": _RESULT},
    {"name": "lro_probe_wait", "description": "Answers when it is released.", "inputSchema": _NOTHING},
    {"name": "lro_probe_release", "description": "Answers all waiting calls with this result.", "inputSchema": _RESULT},
    {
        "name": "lro_probe_heard",
        "description": "Returns received notifications and waiting calls.",
        "inputSchema": _NOTHING,
    },
    {"name": "lro_probe_tell", "description": "Answers after progress and a log message.", "inputSchema": _RESULT},
    {
        "name": "lro_probe_ask",
        "description": "Answers with what the client answers.",
        "inputSchema": _NOTHING,
    },
    {"name": "lro_probe_flood", "description": "Answers after many log messages.", "inputSchema": _RESULT},
    {"name": "lro_probe_end", "description": "Ends the server.", "inputSchema": _NOTHING},
]

SAMPLING_PARAMS = {"messages": [{"role": "user", "content": {"type": "text", "text": "lro-probe"}}], "maxTokens": 5}
"""The parameters of the request that the tool ``ask`` sends to the client."""
STEPS = 3
"""Number of progress notifications that a call of the tool ``tell`` causes."""
FLOOD = 2000
"""Number of log messages that a call of the tool ``flood`` causes."""
LAST_WORDS = "lro probe: ends as it was asked to"
"""Line that the server writes to stderr before it exits."""


class Upstream:
    """The server in one conversation with a client."""

    def __init__(self) -> None:
        self.waiting: list[Any] = []
        """The ids of the calls of ``wait`` that have no answer yet."""
        self.asking: Any = None
        """The id of the call of ``ask``, which is answered once the client has answered the server's request."""
        self.heard: list[Any] = []
        """The notifications that were received."""

    def serve(self) -> None:
        """Reads and answers until stdin ends."""
        for line in sys.stdin.buffer:
            try:
                message = json.loads(line)
            except ValueError:
                continue
            if isinstance(message, dict):
                self.take(message)  # pyright: ignore[reportUnknownArgumentType]

    def take(self, message: dict[str, Any]) -> None:
        """Handles one message from the client."""
        method, id = message.get("method"), message.get("id")
        if method is None:
            if id == "lro-probe-1" and self.asking is not None:
                self.answer(self.asking, text_result({k: message[k] for k in ("result", "error") if k in message}))
                self.asking = None
        elif id is None:
            self.heard.append({"method": method, "params": message.get("params")})
        elif method == "initialize":
            version = message["params"].get("protocolVersion", "2025-11-25")
            capabilities: dict[str, Any] = {"tools": {}, "logging": {}}
            info = {"name": "lro-probe", "version": "1"}
            self.answer(id, dumps({"protocolVersion": version, "capabilities": capabilities, "serverInfo": info}))
        elif method == "tools/list":
            self.answer(id, dumps({"tools": TOOLS}))
        elif method == "tools/call":
            params = message["params"]
            self.call(id, str(params["name"]).removeprefix(PREFIX), params.get("arguments") or {}, params)
        elif method in ("ping", "logging/setLevel"):
            self.answer(id, "{}")
        else:
            self.write(f'{{"jsonrpc":"2.0","id":{dumps(id)},"error":{{"code":-32601,"message":"no such method"}}}}')

    def call(self, id: Any, name: str, arguments: dict[str, Any], params: dict[str, Any]) -> None:
        """Performs one call of a tool."""
        if name in ("say", "typed"):
            self.answer(id, arguments["result"])
        elif name == "refuse":
            self.write(f'{{"jsonrpc":"2.0","id":{dumps(id)},"error":{arguments["result"]}}}')
        elif name == "wait":
            self.waiting.append(id)
        elif name == "release":
            for one in self.waiting:
                self.answer(one, arguments["result"])
            self.waiting.clear()
            self.answer(id, text_result({"released": True}))
        elif name == "heard":
            self.answer(id, text_result({"heard": self.heard, "waiting": self.waiting}))
        elif name == "tell":
            meta: dict[str, Any] = params.get("_meta") or {}
            for step in range(STEPS):
                note = {
                    "progressToken": meta.get("progressToken"),
                    "progress": step + 1,
                    "total": STEPS,
                    "message": f"step {step + 1}",
                }
                self.notify("notifications/progress", note)
            self.notify("notifications/message", {"level": "warning", "logger": "lro-probe", "data": {"n": 1}})
            self.answer(id, arguments["result"])
        elif name == "flood":
            for n in range(FLOOD):
                self.notify("notifications/message", {"level": "info", "logger": "lro-probe-flood", "data": {"n": n}})
            self.answer(id, arguments["result"])
        elif name == "ask":
            self.asking = id
            request = {
                "jsonrpc": "2.0",
                "id": "lro-probe-1",
                "method": "sampling/createMessage",
                "params": SAMPLING_PARAMS,
            }
            self.write(dumps(request))
        elif name == "end":
            self.end()

    def end(self) -> None:
        """Ends the process."""
        sys.stderr.write(LAST_WORDS + "\n")
        sys.stderr.flush()
        os._exit(7)

    def notify(self, method: str, params: dict[str, Any]) -> None:
        """Sends a notification."""
        self.write(dumps({"jsonrpc": "2.0", "method": method, "params": params}))

    def answer(self, id: Any, result: str) -> None:
        """Answers a request with a result that is JSON already."""
        self.write(f'{{"jsonrpc":"2.0","id":{dumps(id)},"result":{result}}}')

    def write(self, line: str) -> None:
        """Writes a line."""
        sys.stdout.buffer.write(line.encode() + b"\n")
        sys.stdout.buffer.flush()


def dumps(value: Any) -> str:
    """JSON on one line."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def text_result(value: Any) -> str:
    """A result whose one text is this value as JSON."""
    return dumps({"content": [{"type": "text", "text": dumps(value)}]})


if __name__ == "__main__":
    Upstream().serve()
