"""A proxy that offloads large results, written by hand and from the text alone: ``run.py NAME -- COMMAND…``.

It shares no code with the project. Lines go both ways as they came; what is large is cut into records as text, so that
no digit is lost. Every decision is a method of its own: a broken proxy is this one with one method overridden.
"""

from __future__ import annotations

import os
import sys

from tests.servers.fastjson import dumps, loads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    Record = dict[str, Any]

PROFILE = """\
server: {command: [{command}, --, {probe}], timeout_s: 6}
proxy: {command: [{command}, --, "{upstream}"]}
operations: null
seed: null
cleanup: null
events: none
"""
"""Sections of lro.yaml for a proxy, in front of a server whose tools are not called."""


AT_AN_ADDRESS = PROFILE.replace('--, "{upstream}"', '"--url={upstream_url}"')
"""Sections of lro.yaml for a proxy in front of a server at an address."""

CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
PREFIX = "ATLATL_PROMPT__OFFLOAD__"


class Proxy:
    """One client, one server."""

    def __init__(self) -> None:
        self.threshold = int(os.environ.get(f"{PREFIX}THRESHOLD_TOKENS") or 6400)
        self.folder = os.environ.get(f"{PREFIX}OUTPUT_DIR") or "/tmp"
        self.asked: dict[Any, Record] = {}
        """The client's requests that have no answer yet, by their ids."""
        self.calls = 0
        self.gone = False

    def serve(self) -> None:
        import subprocess
        import threading

        environment = {k: v for k, v in os.environ.items() if not k.startswith(PREFIX)}
        self.server = subprocess.Popen(self.behind(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)
        threading.Thread(target=self.forward, daemon=True).start()
        assert self.server.stdout is not None
        for line in self.server.stdout:
            self.from_server(line)
        self.gone = True
        self.at_the_end()
        os._exit(0)

    def behind(self) -> list[str]:
        """The command of the server."""
        return sys.argv[sys.argv.index("--") + 1 :]

    def say(self, line: bytes) -> None:
        """Writes a line to the client."""
        sys.stdout.buffer.write(line if line.endswith(b"\n") else line + b"\n")
        sys.stdout.buffer.flush()

    def tell(self, line: bytes) -> None:
        """Writes a line to the server."""
        assert self.server.stdin is not None
        try:
            self.server.stdin.write(line if line.endswith(b"\n") else line + b"\n")
            self.server.stdin.flush()
        except OSError:
            return

    # From the client

    def forward(self) -> None:
        for line in sys.stdin.buffer:
            message = loads(line.decode())
            if "method" in message and "id" in message:
                self.asked[message["id"]] = message
            self.from_client(message, line)
        assert self.server.stdin is not None
        self.server.stdin.close()

    def from_client(self, message: Record, line: bytes) -> None:
        self.tell(line)

    # From the server

    def from_server(self, line: bytes) -> None:
        message = loads(line.decode())
        if "method" in message:
            self.unasked(message, line)
            return
        request = self.asked.pop(message.get("id"), {})
        result, method = message.get("result"), request.get("method")
        if method == "tools/list":
            self.say(self.listed(message, line))
        elif method == "tools/call" and isinstance(result, dict):
            self.say(self.answer(request, message, line))
        else:
            self.say(self.other(message, line))

    def unasked(self, message: Record, line: bytes) -> None:
        """A notification or a request of the server's."""
        self.say(line)

    def other(self, message: Record, line: bytes) -> bytes:
        """An answer that is no result of a tool."""
        return line

    def listed(self, message: Record, line: bytes) -> bytes:
        for tool in message["result"]["tools"]:
            if "outputSchema" in tool:
                tool["outputSchema"] = self.schema(tool["outputSchema"])
        return self.encode(message)

    def schema(self, schema: Record) -> Record:
        either = {"type": "object", "required": ["offloaded"]}
        return {"type": "object", "anyOf": [schema, either]}

    def encode(self, message: Record) -> bytes:
        return dumps(message).encode()

    def answer(self, request: Record, message: Record, line: bytes) -> bytes:
        """The answer that the client gets in place of a tool's result."""
        result = message["result"]
        if self.passes(result):
            return self.passed(message, line)
        self.calls += 1
        records, extra = self.records(result)
        try:
            path = self.write(records, extra, request)
        except OSError as problem:
            return self.failed(message, records, problem)
        return self.encode({**message, "result": self.replaced(result, self.descriptor(path, records))})

    def passed(self, message: Record, line: bytes) -> bytes:
        """A result that is not touched."""
        return line

    def passes(self, result: Record) -> bool:
        """True if the proxy leaves a result unchanged."""
        return result.get("isError") is True or self.size(result) / 4 <= self.threshold

    def size(self, result: Record) -> int:
        return max(len(self.text(result)), len(dumps(result.get("structuredContent"))))

    def text(self, result: Record) -> str:
        return "\n".join(block["text"] for block in result["content"] if block["type"] == "text")

    # The records

    def records(self, result: Record) -> tuple[list[str], str]:
        """The payload as lines of JSON, and what of it is no record."""
        text, structured = self.text(result), result.get("structuredContent")
        if structured is not None:
            return self.of_json(dumps(structured))
        if text[:1] in ("[", "{"):
            try:
                return self.of_json(text)
            except ValueError:
                lines = text.removesuffix("\n").split("\n")
                for line in lines:
                    loads(line)
                return lines, ""
        return self.of_text(text)

    def of_text(self, text: str) -> tuple[list[str], str]:
        lines = text.removesuffix("\n").split("\n")
        return [dumps({"n": n, "text": line}) for n, line in enumerate(lines, 1)], ""

    def of_json(self, text: str) -> tuple[list[str], str]:
        value = loads(text)
        if isinstance(value, list):
            return elements(text), ""
        name = max(value, key=lambda key: len(dumps(value[key])))
        if not isinstance(value[name], list):
            return [dumps({"member": key, "value": value[key]}) for key in value], ""
        around = {key: value[key] for key in value if key != name}
        return [dumps(item) for item in value[name]], dumps(around)

    # The file

    def write(self, records: Sequence[str], extra: str, request: Record) -> str:
        path = os.path.join(self.folder, f"lro-{self.operation(request)}-{self.ulid()}.jsonl")
        with open(path, "x", encoding="utf-8", opener=lambda p, flags: os.open(p, flags, 0o600)) as file:
            file.write("\n".join([self.header(records, extra, request), *records]) + "\n")
        return path

    def operation(self, request: Record) -> str:
        return request["params"]["name"]

    def header(self, records: Sequence[str], extra: str, request: Record) -> str:
        known = {"type": "lro_header", "operation": self.operation(request), "count": len(records), "detail": "full"}
        return dumps(known | ({"extra": extra} if extra else {}))

    def ulid(self) -> str:
        import time

        value = int(time.time() * 1000) << 80 | int.from_bytes(os.urandom(10), "big")
        return "".join(CROCKFORD[value >> 5 * place & 31] for place in range(25, -1, -1))

    # The answer

    def descriptor(self, path: str, records: Sequence[str]) -> Record:
        summary = {"count": len(records), "estimated_tokens": sum(map(len, records)) // 4, "operation": "any"}
        return {
            "offloaded": True,
            "summary": {**summary, "top_namespaces": [], "score_range": None, "detail": "full"},
            "file_path": path,
            "line_schema": {"type": "object"},
            "jq_recipes": [{"description": about, "command": self.recipe(path, jq)} for about, jq in self.programs()],
            "guidance": f"{len(records)} records are in {path}; the first line is a header.",
        }

    def programs(self) -> Sequence[tuple[str, str]]:
        return (("The first ten", "jq -c -s '.[:10]'"), ("What fields there are", "jq -c 'keys'"))

    def recipe(self, path: str, jq: str) -> str:
        return f"tail -n +2 '{path}' | {jq}"

    def replaced(self, result: Record, descriptor: Record) -> Record:
        """The result with the descriptor in place of its payload."""
        text = {"type": "text", "text": dumps(descriptor)}
        made = {**result, "content": [text, *(b for b in result["content"] if b["type"] != "text")]}
        if "structuredContent" in result:
            made["structuredContent"] = descriptor
        return made

    def failed(self, message: Record, records: Sequence[str], problem: OSError) -> bytes:
        """The answer where the file cannot be written."""
        kept = [loads(line) for line in records[:5]]
        warning = f"Offloading failed ({problem.strerror}): only {len(kept)} of {len(records)} records are here."
        value = {"offloaded": False, "results": kept, "warning": warning}
        return self.encode({**message, "result": self.replaced(message["result"], value)})

    def at_the_end(self) -> None:
        """The server has ended."""
        for id in list(self.asked):
            error = {"code": -31001, "message": "the server behind this proxy has ended"}
            self.say(self.encode({"jsonrpc": "2.0", "id": id, "error": error}))


class Rewriting(Proxy):
    """Writes small results anew."""

    def passed(self, message: Record, line: bytes) -> bytes:
        return self.encode({**message, "result": self.small(message["result"])})

    def small(self, result: Record) -> Record:
        raise NotImplementedError


class Remote(Proxy):
    """Stands before a server over streamable HTTP, if it is given an address."""

    def serve(self) -> None:
        given = [word.removeprefix("--url=") for word in sys.argv if word.startswith("--url=")]
        if not given:
            return super().serve()
        import threading

        self.host, _, self.path = given[0].removeprefix("http://").partition("/")
        self.lock = threading.Lock()
        threads: list[threading.Thread] = []
        for line in sys.stdin.buffer:
            message = loads(line.decode())
            if "method" in message and "id" in message:
                self.asked[message["id"]] = message
            threads.append(threading.Thread(target=self.post, args=(message, line), daemon=True))
            threads[-1].start()
            if message.get("method") in ("initialize", "notifications/initialized"):
                threads[-1].join()
        return None

    def post(self, message: Record, line: bytes) -> None:
        """Sends a message, and hands on what comes back."""
        import http.client

        accepted = "application/json, text/event-stream"
        headers = {"Content-Type": "application/json", "Accept": accepted, "MCP-Protocol-Version": "2025-11-25"}
        try:
            connection = http.client.HTTPConnection(self.host)
            connection.request("POST", "/" + self.path, line.strip(), headers)
            response = connection.getresponse()
            if "event-stream" in (response.getheader("Content-Type") or ""):
                for one in response:
                    if one.startswith(b"data: "):
                        self.event(one[6:].strip())
            elif body := response.read().strip():
                self.received(body)
        except (OSError, http.client.HTTPException) as problem:
            self.unreachable(message, problem)
        if message.get("id") in self.asked:
            self.unreachable(message, OSError("the answer broke off"))

    def event(self, line: bytes) -> None:
        """A message out of a stream."""
        self.received(line)

    def received(self, line: bytes) -> None:
        with self.lock:
            self.from_server(line)

    def unreachable(self, message: Record, problem: Exception) -> None:
        if self.asked.pop(message.get("id"), None) is not None:
            error = {"code": -31001, "message": f"the server cannot be reached: {problem}"}
            self.say(self.encode({"jsonrpc": "2.0", "id": message["id"], "error": error}))


class Renumbering(Proxy):
    """Uses its own ids towards the server."""

    def __init__(self) -> None:
        super().__init__()
        self.ids: dict[int, Any] = {}

    def from_client(self, message: Record, line: bytes) -> None:
        if "id" in message and "method" in message:
            number = len(self.ids) + 1000
            self.ids[number] = message["id"]
            self.tell(dumps({**message, "id": number}).encode())
        else:
            self.tell(self.mapped(message, line))

    def mapped(self, message: Record, line: bytes) -> bytes:
        """A notification of the client's, or its answer."""
        return line

    def from_server(self, line: bytes) -> None:
        message = loads(line.decode())
        if "method" not in message:
            number = message["id"]
            line = line.replace(f'"id":{number}'.encode(), f'"id":{self.ids[number]}'.encode(), 1)
        super().from_server(line)


def elements(text: str) -> list[str]:
    """The elements of a JSON array as they are written there."""
    found: list[str] = []
    depth, inside, start, at = 0, False, 0, 0
    while at < len(text):
        c = text[at]
        if inside:
            at += c == "\\"
            inside = c != '"'
        elif c == '"':
            inside = True
        elif c in "[{":
            depth += 1
            start = at + 1 if depth == 1 else start
        elif c in "]}":
            depth -= 1
            if depth == 0:
                found.append(text[start:at])
        elif c == "," and depth == 1:
            found.append(text[start:at])
            start = at + 1
        at += 1
    return [one.strip() for one in found if one.strip()]
