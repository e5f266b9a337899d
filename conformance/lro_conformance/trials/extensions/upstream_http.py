"""The suite's own server over streamable HTTP on the loopback interface, for proxies that need the address of a server.

It answers a request with JSON or, if messages come before the answer, with a stream of events. There is one
conversation at a time, and no session.
"""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Generator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from queue import SimpleQueue
from typing import Any, cast

from lro_conformance.trials.extensions.upstream import Upstream

PATH = "/mcp"
_POLL_INTERVAL_S = 0.02
"""Seconds between two checks of a thread whether the server has ended."""


@contextmanager
def serving() -> Generator[str]:
    """The address of a server that runs within this context, or until its tool ``end`` is called."""
    with _Server() as server:
        threading.Thread(target=server.serve_forever, args=(_POLL_INTERVAL_S,), daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}{PATH}"
        finally:
            server.end()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.upstream = _OverHttp(self)
        self.connections: set[socket.socket] = set()
        self.ended = threading.Event()

    def end(self) -> None:
        """Stop listening, and cut every connection."""
        self.ended.set()
        self.shutdown()
        self.socket.close()
        for connection in list(self.connections):
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Print nothing: that a client disconnects is no error of the suite."""


class _OverHttp(Upstream):
    """The conversation over HTTP. An answer goes into the stream of the request that it answers. Any other message goes
    into the stream of the request that is being handled."""

    def __init__(self, server: _Server) -> None:
        super().__init__()
        self.server = server
        self.lock = threading.Lock()
        self.streams: dict[str, SimpleQueue[str]] = {}
        """Maps the id, as JSON, of each request that has no answer yet to the lines for its stream."""
        self.handled = ""
        """The id, as JSON, of the request that is being handled."""

    def receive(self, message: dict[str, Any]) -> SimpleQueue[str] | None:
        """Handle a message. Returns the stream of lines for a request, None for any other message."""
        with self.lock:
            if message.get("method") == "initialize":
                self.waiting, self.asking, self.heard = [], None, []
            if "method" not in message or "id" not in message:
                self.take(message)
                return None
            self.handled = json.dumps(message["id"])
            stream = self.streams[self.handled] = SimpleQueue()
            self.take(message)
            return stream

    def write(self, line: str) -> None:
        """Put a line into the stream that it belongs to."""
        message = json.loads(line)
        key = self.handled if "method" in message else json.dumps(message["id"])
        if key in self.streams:
            self.streams[key].put(line)
        if "method" not in message:
            self.streams.pop(key, None)

    def end(self) -> None:
        """End the server. The call of the tool ``end`` gets no answer."""
        threading.Thread(target=self.server.end, daemon=True).start()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    @property
    def http_server(self) -> _Server:
        """The server, as an object of its actual type."""
        return cast("_Server", self.server)

    def setup(self) -> None:
        super().setup()
        self.http_server.connections.add(self.connection)

    def finish(self) -> None:
        self.http_server.connections.discard(self.connection)
        with suppress(OSError):
            super().finish()

    def log_message(self, format: str, *args: Any) -> None:
        """Print nothing."""

    def do_GET(self) -> None:
        """Refuse: there is no stream except in answer to a request."""
        self._reply(405)

    def do_DELETE(self) -> None:
        """Refuse: there is no session to end."""
        self._reply(405)

    def do_POST(self) -> None:
        """Handle one message from the client."""
        try:
            message = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)))
        except ValueError:
            message = None
        if not isinstance(message, dict):
            self._reply(400)
            return
        stream = self.http_server.upstream.receive(message)  # pyright: ignore[reportUnknownArgumentType]
        if stream is None:
            self._reply(202)
            return
        line = self._next(stream)
        if line is not None and _is_answer(line):
            self._reply(200, line.encode())
        elif line is not None:
            self._stream(line, stream)

    def _next(self, stream: SimpleQueue[str]) -> str | None:
        """The next line of a stream; None if the server ends."""
        while not self.http_server.ended.is_set():
            with suppress(Exception):
                return stream.get(timeout=_POLL_INTERVAL_S)
        self.close_connection = True
        return None

    def _stream(self, line: str | None, stream: SimpleQueue[str]) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        while line is not None:
            data = f"data: {line}\n\n".encode()
            self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
            if _is_answer(line):
                self.wfile.write(b"0\r\n\r\n")
                return
            line = self._next(stream)

    def _reply(self, status: int, body: bytes = b"") -> None:
        self.send_response(status)
        if body:
            self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def _is_answer(line: str) -> bool:
    return "method" not in json.loads(line)
