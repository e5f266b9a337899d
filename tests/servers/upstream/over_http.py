"""An MCP server over HTTP that does what its client asks for, however wrong: standard library only, in this process."""

from __future__ import annotations

import json
import threading
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

TOOLS = [{"name": "say", "inputSchema": {"type": "object"}}]


@dataclass
class Served:
    """Requests that a server received, and its behaviour."""

    seen: list[tuple[str, Mapping[str, str], Any]] = field(default_factory=list[tuple[str, Mapping[str, str], Any]])
    """Method, headers in lower case, and message of each request, in order."""
    session: str = "session-1"
    modern: bool = False
    dawdles: bool = False
    """True if the answer to DELETE arrives one byte at a time and never ends."""
    url: str = ""
    speaks: threading.Event = field(default_factory=threading.Event)
    """Set when the server is to say something by itself."""
    hung_up: threading.Event = field(default_factory=threading.Event)
    over: threading.Event = field(default_factory=threading.Event)

    def messages(self, method: str) -> list[tuple[Mapping[str, str], Any]]:
        return [(h, m) for verb, h, m in self.seen if verb == "POST" and m.get("method") == method]


class _Server(ThreadingHTTPServer):
    request_queue_size = 64
    """Of fifty at once the usual five would be let in, and the others knock again seconds later."""


@contextmanager
def serving(**how: Any) -> Generator[Served]:
    served = Served(**how)
    handler = type("Bound", (_Handler,), {"served": served})
    with _Server(("127.0.0.1", 0), handler) as server:
        served.url = f"http://127.0.0.1:{server.server_address[1]}/mcp"
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        try:
            yield served
        finally:
            served.over.set()
            server.shutdown()


class _Handler(BaseHTTPRequestHandler):
    served: Served
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def _note(self, message: Any) -> None:
        self.served.seen.append((self.command, {k.lower(): v for k, v in self.headers.items()}, message))

    def do_DELETE(self) -> None:
        self._note({})
        if not self.served.dawdles:
            self._body(b"")
        with suppress(OSError):
            while self.served.dawdles and not self.served.over.wait(0.02):
                self.wfile.write(b"H")

    def do_GET(self) -> None:
        self._note({})
        if (last := self.headers.get("Last-Event-ID")) and last.startswith("stopped-"):
            self._events(f"id: x\ndata: {json.dumps(_answer(int(last[8:]), 'resumed'))}\n\n")
            return
        if self.served.modern:
            self._body(b"", 405)
            return
        self._open()
        while not self.served.speaks.wait(0.05):
            if self.served.over.is_set():
                return
        self.served.speaks.clear()
        self._chunk('data: {"jsonrpc":"2.0","method":"notifications/tools/list_changed"}\n\n')
        self._chunk('data: {"jsonrpc":"2.0","id":"s-1","method":"roots/list"}\n\n')
        self._chunk("")

    def do_POST(self) -> None:
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self._note(message)
        if self.path == "/mcp" and self.served.url.endswith("/"):
            self._body(b"", 307, Location="/mcp/")
            return
        method, id = message.get("method"), message.get("id")
        if method == "initialize":
            made: dict[str, Any] = {
                "protocolVersion": message["params"]["protocolVersion"],
                "capabilities": {"tools": {}},
            }
            self._json({"jsonrpc": "2.0", "id": id, "result": made}, session=self.served.session)
        elif not self.served.modern and self.headers.get("Mcp-Session-Id") != self.served.session:
            self._body(b"no such session", 404)
        elif method is None or id is None:
            self._body(b"", 202)
        elif method == "tools/list":
            self._json({"jsonrpc": "2.0", "id": id, "result": {"tools": TOOLS}})
        else:
            self._call(id, message["params"]["name"], message["params"].get("arguments", {}))

    def _call(self, id: int, name: str, arguments: Mapping[str, Any]) -> None:
        text = arguments.get("text", "") * arguments.get("times", 1)
        match name:
            case "say":
                self._json(_answer(id, text))
            case "pretty":
                pretty = json.dumps(_answer(id, "two\nlines"), indent=2).replace("\n", "\r\n")
                self._body(pretty.encode(), 200, **{"Content-Type": "application/json; charset=utf-8"})
            case "stream":
                note = {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "on"}}
                lines = json.dumps(_answer(id, text), indent=1).splitlines()
                data = "".join(f"data: {line}\n" for line in lines)
                self._events(f": hello\n\ndata: {json.dumps(note)}\n\nevent: message\n{data}\n")
            case "marked":
                self._events(f"\ufeffdata: {json.dumps(_answer(id, text), ensure_ascii=False)}\r\r", "; charset=latin1")
            case "no JSON":
                self._body(b"<p>", 200, **{"Content-Type": "application/json"})
            case "another":
                self._json(_answer(-id, text))
            case "stopped":
                self._events(f"retry: 10\nid: stopped-{id}\ndata:\n\n")
            case "ended":
                self._events(": nothing\n\n")
            case "accepted":
                self._body(b"", 202)
            case "broken":
                self._body(b"<h1>out of order</h1>", 500, **{"Content-Type": "text/html"})
            case "refused":
                error = {"jsonrpc": "2.0", "id": None, "error": {"code": -32602, "message": "not like this"}}
                self._json(error, 400)
            case "unauthorized":
                self._body(b"", 401)
            case "elsewhere":
                self._body(b"", 308, Location="http://192.0.2.1/mcp")
            case "cut":
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", "1000")
                self.end_headers()
                self.wfile.write(b'{"jsonrpc":')
                self.close_connection = True
            case "forget":
                self.served.session = "session-2"
                self._json(_answer(id, "forgotten"))
            case _:  # hangs until the client does
                self._open()
                try:
                    while not self.served.over.wait(0.02):
                        self._chunk(": still here\n\n")
                except OSError:
                    self.served.hung_up.set()

    def _open(self, more: str = "") -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream" + more)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()

    def _chunk(self, text: str) -> None:
        data = text.encode()
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))

    def _events(self, text: str, more: str = "") -> None:
        self._open(more)
        self._chunk(text)
        self._chunk("")

    def _json(self, value: Any, status: int = 200, session: str = "") -> None:
        headers = {"Content-Type": "application/json"} | ({"Mcp-Session-Id": session} if session else {})
        self._body(json.dumps(value).encode(), status, **headers)

    def _body(self, data: bytes, status: int = 200, /, **headers: str) -> None:
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(data))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)


def _answer(id: int, text: str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id, "result": {"content": [{"type": "text", "text": text}]}}
