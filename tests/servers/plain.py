"""A conformant LRO memory server over stdio, written by hand and from the text of the specification alone.

It shares no code with the project, so that what the suite thinks of it is a second opinion, and it imports next to
nothing, so that it answers `initialize` about 20 ms after it was spawned. Every decision is a separate method: a broken
server is this one with one method overridden.
"""

from __future__ import annotations

import os
import sys
import time

from tests.servers.fastjson import dumps, loads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    Record = dict[str, Any]

CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
DETAILS = ("light", "medium", "full")
LIGHT = ("id", "title", "namespace", "memory_type", "tags", "status", "created")
MEDIUM = (*LIGHT, "modified", "content", "summary", "entities")
RECIPES = (
    ("Titles with their scores", "jq -r '[.title, .provenance.confidence] | @tsv'"),
    ("Memories of a namespace prefix", "jq 'select(.namespace | startswith(\"_semantic\"))'"),
    ("Memories whose title has a keyword", 'jq \'select(.title | test("keyword"; "i"))\''),
    ("All, by falling confidence", "jq -s 'sort_by(-.provenance.confidence)'"),
    ("Ids and titles only", "jq '{id, title, namespace}'"),
    ("Memories of one type", "jq 'select(.memory_type == \"semantic\")'"),
    ("Memories that have entities", "jq 'select(.entities | length > 0)'"),
    (
        "How many a namespace has",
        "jq -s 'group_by(.namespace) | map({namespace: .[0].namespace, count: length}) | sort_by(-.count)'",
    ),
    ("The ten best", "jq -s 'sort_by(-.provenance.confidence) | .[:10]'"),
    ("Memories whose content has a pattern", 'jq \'select(.content | test("pattern"; "i"))\''),
)


class Settings:
    """The settings of [prompt.offload]."""

    enabled = True
    threshold = 6400
    ttl = 3600.0
    """Seconds."""
    output_dir = ""
    """Empty: the system's temporary folder."""


class Call:
    """One call of a memory tool: what was asked for and what was found."""

    operation: str
    arguments: dict[str, Any]
    query: str
    detail: str
    found: list[Record]
    """Whole memories, as the service layer returns them."""
    records: list[Record]
    """The memory at the requested detail level."""
    lines: list[str]
    """One line of JSON for each record."""
    tokens: int
    """The estimate that the decision is made with."""


class BadArguments(ValueError):
    """The caller sent invalid arguments; the message says why."""


PLAIN = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+,:@%"
"""Characters that mean themselves in a shell."""
WIDE = bytes(range(0xE1, 0x100))
"""First bytes in UTF-8 of characters from U+1000 on, which include the wide ones."""


class Server:
    """The whole server; see `Server.offer` for the path of one call."""

    name = "plain-memory"
    prefix = "atlatl"
    schema_version = "1.0.0"
    protocols = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
    budget = 2000
    """Tokens of the text that inject_context returns when nothing else is asked for."""

    def __init__(self) -> None:
        self.settings = self.read_settings(os.environ)
        self.stored: list[Record] | None = None
        self.calls = 0
        self.log_level = "debug"
        self.running = True

    def dumps(self, value: Any) -> str:
        """JSON as this server spells it, on one line."""
        return dumps(value)

    # Settings

    def read_settings(self, env: Mapping[str, str]) -> Settings:
        settings = Settings()
        value = {name: env.get(f"ATLATL_PROMPT__OFFLOAD__{name}", "").strip() for name in self.variables()}
        if value["ENABLED"]:
            settings.enabled = value["ENABLED"].lower() not in ("false", "0", "no", "off")
        if value["THRESHOLD_TOKENS"].isdigit():
            settings.threshold = int(value["THRESHOLD_TOKENS"])
        if value["TTL_SECONDS"].isdigit():
            settings.ttl = float(value["TTL_SECONDS"])
        settings.output_dir = env.get("ATLATL_PROMPT__OFFLOAD__OUTPUT_DIR", "")
        return settings

    def variables(self) -> tuple[str, ...]:
        return ("ENABLED", "THRESHOLD_TOKENS", "TTL_SECONDS", "OUTPUT_DIR")

    def output_dir(self) -> str:
        return os.path.abspath(self.settings.output_dir or os.environ.get("TMPDIR") or "/tmp")

    # The memories

    def corpus(self) -> list[Record]:
        from tests.servers.corpus import corpus

        return corpus()

    @property
    def memories(self) -> list[Record]:
        if self.stored is None:
            self.stored = self.corpus()
        return self.stored

    def score(self, memory: Record, query: str) -> float:
        """Score of a memory for a query, 0 to 1; 0 means that it is not a hit."""
        if query in ("", "*"):
            return 1.0
        text = " ".join(
            [memory["title"], memory["namespace"], memory.get("content") or "", *memory["tags"], str(memory["id"])]
        )
        text, terms = text.lower(), query.lower().split()
        there = len([term for term in terms if term in text])
        return round(there / max(1, len(terms)) * (1 - 1 / (2 + len(text) % 7)), 4) if there else 0.0

    def find(self, operation: str, query: str) -> list[Record]:
        """Every memory that answers the query; a search carries its scores, best first."""
        scored = [(self.score(memory, query), memory) for memory in self.memories]
        hits = [(score, memory) for score, memory in scored if score > 0]
        if operation != "search":
            return [memory for _, memory in hits]
        hits.sort(key=lambda hit: -hit[0])
        return [{**memory, "score": score} for score, memory in hits]

    def at_detail(self, memory: Record, detail: str) -> Record:
        """A memory as a record of a detail level."""
        if detail == "full":
            return dict(memory)
        record = {name: memory[name] for name in (LIGHT if detail == "light" else MEDIUM) if name in memory}
        confidence = self.confidence(memory)
        if confidence is not None:
            record["provenance"] = {"confidence": confidence}
        if "score" in memory:
            record["score"] = memory["score"]
        return record

    def confidence(self, record: Record) -> float | None:
        provenance: Record = record.get("provenance") or {}
        return provenance.get("confidence")

    def default_detail(self, operation: str) -> str:
        return "medium" if operation == "inject" else "light"

    def limited(self, found: list[Record], limit: int | None) -> list[Record]:
        return found if limit is None else found[:limit]

    def execute(self, operation: str, arguments: dict[str, Any]) -> Call:
        """Do the operation as if there were no offloading."""
        call = Call()
        call.operation, call.arguments = operation, arguments
        call.query = self.argument(arguments, "query", "*", str)
        call.detail = self.argument(arguments, "detail", self.default_detail(operation), str)
        if call.detail not in DETAILS:
            raise BadArguments(f"detail is one of {', '.join(DETAILS)}, not {call.detail!r}")
        limit = self.argument(arguments, "limit", None, int)
        if limit is not None and limit < 0:
            raise BadArguments(f"limit is 0 or more, not {limit}")
        call.found = self.limited(self.find(operation, call.query), limit)
        call.records = [self.at_detail(memory, call.detail) for memory in call.found]
        call.lines = [self.record_line(record) for record in call.records]
        call.tokens = self.tokens(call)
        return call

    def argument(self, arguments: dict[str, Any], name: str, default: Any, kind: type) -> Any:
        value = arguments.get(name)
        if value is None:
            return default
        if not isinstance(value, kind) or isinstance(value, bool):
            raise BadArguments(f"{name} must be {kind.__name__}, not {type(value).__name__}")
        return value

    # The threshold

    def estimate(self, lines: Sequence[str]) -> int:
        """Tokens of a result set: a quarter of its characters, a whole one for each of a wide script."""
        text = "".join(lines)
        quarters = len(text)
        if not text.isascii():
            data = text.encode("utf-8", "surrogatepass")
            quarters += 3 * (len(data) - len(data.translate(None, WIDE)))
        return -(-quarters // 4)

    def tokens(self, call: Call) -> int:
        return self.estimate(call.lines)

    def threshold(self, call: Call) -> int:
        return self.settings.threshold

    def exceeds(self, tokens: int, threshold: int) -> bool:
        return tokens > threshold

    def offer(self, operation: str, arguments: dict[str, Any]) -> Record:
        """The result of a call: inline, or offloaded to a file and described."""
        self.calls += 1
        call = self.execute(operation, arguments)
        if not self.settings.enabled or not self.exceeds(call.tokens, self.threshold(call)):
            return self.inline(call)
        try:
            path = self.offload(call)
        except OSError as problem:
            return self.on_write_failure(call, problem)
        return self.offloaded(call, path)

    # Inline

    def inline(self, call: Call) -> Record:
        if call.operation == "inject":
            return self.text(self.inject_text(call, self.argument(call.arguments, "max_tokens", self.budget, int)))
        return self.structured(self.inline_value(call))

    def inline_value(self, call: Call) -> Any:
        return {"operation": call.operation, "count": len(call.records), "results": call.records}

    def inject_text(self, call: Call, budget: int) -> str:
        """The memories as text for a prompt, whole ones only, within a budget of tokens."""
        text = "# Context from memory"
        for record in call.records:
            more = f"\n\n## {record['title']} ({record['namespace']})\n{record.get('content') or ''}".rstrip()
            if self.estimate([text + more]) > budget:
                break
            text += more
        return text

    def text(self, text: str) -> Record:
        return {"content": [{"type": "text", "text": text}], "isError": False}

    def structured(self, value: Any) -> Record:
        return {**self.text(self.dumps(value)), "structuredContent": value}

    def error(self, message: str) -> Record:
        return {**self.text(message), "isError": True}

    # The file

    def ulid(self) -> str:
        value = int(time.time() * 1000) << 80 | int.from_bytes(os.urandom(10), "big")
        return "".join(CROCKFORD[value >> 5 * place & 31] for place in range(25, -1, -1))

    def file_name(self, call: Call) -> str:
        return f"{self.prefix}-{call.operation}-{self.ulid()}.jsonl"

    def timestamp(self, now: float) -> str:
        return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(now)) + f".{int(now * 1000) % 1000:03}Z"

    def header(self, call: Call) -> Record:
        return {
            "type": "lro_header",
            "operation": call.operation,
            "query": call.query,
            "count": len(call.records),
            "schema_version": self.schema_version,
            "timestamp": self.timestamp(time.time()),
            "estimated_tokens": call.tokens,
            "detail": call.detail,
        }

    def record_line(self, record: Record) -> str:
        return self.dumps(record)

    def file_lines(self, call: Call) -> list[str]:
        return [self.dumps(self.header(call)), *call.lines]

    def file_bytes(self, call: Call) -> bytes:
        return ("\n".join(self.file_lines(call)) + "\n").encode()

    def write(self, path: str, data: bytes) -> None:
        """Write a private file that appears whole or not at all. Raises `OSError`."""
        folder, name = os.path.split(path)
        temporary = os.path.join(folder, f".{name}.part")
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        try:
            with open(descriptor, "wb") as file:
                file.write(data)
            os.rename(temporary, path)
        except OSError:
            os.unlink(temporary)
            raise

    def offload(self, call: Call) -> str:
        path = os.path.join(self.output_dir(), self.file_name(call))
        self.write(path, self.file_bytes(call))
        return path

    # The descriptor

    def offloaded(self, call: Call, path: str) -> Record:
        value = self.descriptor(call, path)
        return self.text(self.dumps(value)) if call.operation == "inject" else self.structured(value)

    def descriptor(self, call: Call, path: str) -> Record:
        summary = self.summary(call)
        return {
            "offloaded": True,
            "summary": summary,
            "file_path": path,
            "line_schema": self.line_schema(call.detail),
            "jq_recipes": self.recipes(path),
            "guidance": self.guidance(path, summary),
        }

    def summary(self, call: Call) -> Record:
        return {
            "count": len(call.records),
            "estimated_tokens": call.tokens,
            "operation": call.operation,
            "top_namespaces": self.top_namespaces(call.records),
            "score_range": self.score_range(call),
            "detail": call.detail,
        }

    def top_namespaces(self, records: Sequence[Record]) -> list[str]:
        counts: dict[str, int] = {}
        for record in records:
            counts[record["namespace"]] = counts.get(record["namespace"], 0) + 1
        return sorted(counts, key=lambda namespace: -counts[namespace])[:5]

    def scores(self, call: Call) -> list[float]:
        if call.operation == "search":
            return [memory["score"] for memory in call.found]
        given = [self.confidence(record) for record in call.records]
        return [score for score in given if score is not None]

    def score_range(self, call: Call) -> list[float] | None:
        scores = self.scores(call)
        return [min(scores), max(scores)] if scores else None

    def line_schema(self, detail: str) -> Record:
        text = {"type": "string"}
        things = {"type": "array", "items": {"type": "object"}}
        properties: Record = {
            "id": {"type": ["string", "integer"]},
            "title": text,
            "namespace": text,
            "memory_type": text,
            "tags": {"type": "array", "items": text},
            "status": text,
            "created": text,
            "provenance": {"type": "object", "properties": {"confidence": {"type": "number"}}},
            "score": {"type": "number"},
        }
        if detail != "light":
            properties |= {
                "modified": text,
                "content": text,
                "summary": {"type": ["string", "null"]},
                "entities": things,
            }
        if detail == "full":
            properties |= {
                "relationships": things,
                "wiki_links": {"type": "array"},
                "embedding": {"type": ["object", "array", "null"]},
                "temporal": {"type": ["object", "null"]},
                "extensions": {"type": ["object", "null"]},
                "blocks": {"type": "array"},
                "citations": {"type": "array"},
            }
        return {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "properties": properties,
            "required": ["id", "title", "namespace", "memory_type", "tags"],
        }

    def quote(self, path: str) -> str:
        """A path as one word of a POSIX shell."""
        plain = path.isascii() and not path.encode().translate(None, PLAIN)
        return path if plain else "'" + path.replace("'", "'\"'\"'") + "'"

    def recipes(self, path: str) -> list[Record]:
        return [{"description": about, "command": self.recipe(path, program)} for about, program in self.programs()]

    def programs(self) -> Sequence[tuple[str, str]]:
        return RECIPES

    def recipe(self, path: str, program: str) -> str:
        return f"tail -n +2 {self.quote(path)} | {program}"

    def guidance(self, path: str, summary: Record) -> str:
        return "\n".join(
            [
                f"{summary['count']} memories offloaded to a JSONL file (~{summary['estimated_tokens']} tokens saved).",
                f"File: {path}",
                f"Detail level: {summary['detail']}",
                "Use the jq recipes above to pick out what is needed, for instance:",
                "- Browse: recipe #1 (titles with scores)",
                "- Filter: recipe #2 (by namespace) or #3 (by keyword)",
                "- Analyze: recipe #8 (count by namespace)",
                "Read the file itself only where the complete set is needed.",
                "The header line (line 1) contains metadata; the memories start at line 2.",
            ]
        )

    # When writing fails

    def on_write_failure(self, call: Call, problem: OSError) -> Record:
        """The operation succeeded all the same: return what fits, and say what happened."""
        self.write_failed(call, problem)
        everything = len(call.records)
        kept = self.fitting(call)
        call.records, call.lines = call.records[:kept], call.lines[:kept]
        return self.truncated(call, self.warning(kept, everything, problem))

    def write_failed(self, call: Call, problem: OSError) -> None:
        self.emit("OffloadWriteFailed", "warning", operation=call.operation, error=str(problem))

    def fitting(self, call: Call) -> int:
        """Number of records, from the first, that fit within the threshold."""
        kept = len(call.lines)
        while kept and self.estimate(call.lines[:kept]) > self.settings.threshold:
            kept -= 1
        return kept

    def warning(self, kept: int, everything: int, problem: OSError) -> str:
        return f"Offloading failed ({problem.strerror}); results are truncated: {kept} of {everything} memories."

    def truncated(self, call: Call, warning: str) -> Record:
        if call.operation == "inject":
            budget = min(self.settings.threshold, self.argument(call.arguments, "max_tokens", self.budget, int))
            return self.text(f"Warning: {warning}\n\n{self.inject_text(call, budget)}")
        return self.structured({**self.inline_value(call), "truncated": True, "warning": warning})

    # Expiry

    def cleanup(self, now: float) -> list[str]:
        """Delete every expired file of ours; returns their paths."""
        expired = [path for path in self.candidates() if self.is_ours(path) and self.is_expired(path, now)]
        for path in expired:
            self.delete(path)
            self.expired(path)
        return expired

    def candidates(self) -> list[str]:
        """Files directly in the folder whose names match the pattern."""
        folder = self.output_dir()
        return [os.path.join(folder, name) for name in sorted(os.listdir(folder)) if self.matches(name)]

    def delete(self, path: str) -> None:
        os.unlink(path)

    def matches(self, name: str) -> bool:
        return name.startswith(f"{self.prefix}-") and name.endswith(".jsonl")

    def is_ours(self, path: str) -> bool:
        """A regular file, not a link to one."""
        return os.path.isfile(path) and not os.path.islink(path)

    def is_expired(self, path: str, now: float) -> bool:
        return self.created_at(path) + self.settings.ttl <= now

    def created_at(self, path: str) -> float:
        """Creation time in seconds since 1970: that in the name's ULID, or else the time of the last change."""
        created = self.ulid_time(os.path.basename(path).partition(".")[0].rpartition("-")[2])
        return self.changed_at(path) if created is None else created

    def changed_at(self, path: str) -> float:
        return os.lstat(path).st_mtime

    def ulid_time(self, ulid: str) -> float | None:
        if len(ulid) != 26 or ulid[0] > "7" or any(c not in CROCKFORD for c in ulid):
            return None
        milliseconds = 0
        for c in ulid[:10]:
            milliseconds = milliseconds << 5 | CROCKFORD.index(c)
        return milliseconds / 1000

    def expired(self, path: str) -> None:
        self.emit("OffloadFileExpired", "info", path=path)

    # Events

    def emit(self, event: str, level: str, **data: Any) -> None:
        body = {"event": event, **data}
        print(self.dumps(body), file=sys.stderr, flush=True)
        levels = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")
        if levels.index(level) >= levels.index(self.log_level):
            self.notify("notifications/message", {"level": level, "logger": "prompt.offload", "data": body})

    # The tools

    def tools(self) -> list[Record]:
        query = {"type": "string", "description": "Words to look for; * for everything"}
        common: Record = {
            "query": query,
            "limit": {"type": "integer", "minimum": 0, "description": "At most so many memories; all when left out"},
            "detail": {"type": "string", "enum": list(DETAILS)},
        }
        budget = {"type": "integer", "minimum": 0, "description": "Tokens of the text"}
        task = {"enum": ["offload_cleanup"]}
        return [
            self.tool("recall_memories", "Recall memories, newest knowledge first", common, output=True),
            self.tool("search_memories", "Search memories, best hits first", common, output=True),
            self.tool("inject_context", "Context from memory as text for a prompt", {**common, "max_tokens": budget}),
            self.tool("store_memory", "Store a memory", {"memory": {"type": "object"}}, required=["memory"]),
            self.tool("run_custodial_task", "Run a custodial task", {"task": task}, required=["task"]),
        ]

    def tool(
        self, name: str, about: str, properties: Record, *, required: Sequence[str] = (), output: bool = False
    ) -> Record:
        takes: Record = {"type": "object", "properties": properties, "required": list(required)}
        made: Record = {"name": name, "description": about, "inputSchema": takes}
        if output:
            made["outputSchema"] = self.output_schema()
        return made

    def output_schema(self) -> Record:
        return {"type": "object", "anyOf": [{"required": ["results"]}, {"required": ["offloaded"]}]}

    def call_tool(self, name: str, arguments: dict[str, Any]) -> Record:
        if name == "recall_memories":
            return self.offer("recall", arguments)
        if name == "search_memories":
            return self.offer("search", arguments)
        if name == "inject_context":
            return self.offer("inject", arguments)
        if name == "store_memory":
            return self.text(self.dumps({"id": self.store(self.argument(arguments, "memory", {}, dict))}))
        if arguments.get("task") != "offload_cleanup":
            raise BadArguments("the only task is offload_cleanup")
        return self.text(self.dumps({"task": "offload_cleanup", "deleted": len(self.cleanup(time.time()))}))

    def store(self, memory: Record) -> Any:
        self.memories.append(self.completed(memory))
        return self.memories[-1]["id"]

    def completed(self, memory: Record) -> Record:
        """A memory with what its giver left out."""
        now = self.timestamp(time.time())
        given: Record = {"id": self.ulid(), "title": "", "namespace": "_semantic/inbox", "memory_type": "semantic"}
        return {**given, "tags": [], "status": "active", "created": now, "modified": now, "content": "", **memory}

    # The protocol

    def initialize(self, params: dict[str, Any]) -> Record:
        asked = params.get("protocolVersion")
        return {
            "protocolVersion": asked if asked in self.protocols else self.protocols[0],
            "capabilities": {"tools": {}, "logging": {}},
            "serverInfo": {"name": self.name, "version": "1.0.0"},
        }

    def list_tools(self, params: dict[str, Any]) -> Record:
        return {"tools": self.tools()}

    def dispatch(self, method: str, params: dict[str, Any]) -> Record | None:
        """The result of a request; None for a method that is not known."""
        if method == "initialize":
            return self.initialize(params)
        if method == "tools/list":
            return self.list_tools(params)
        if method == "tools/call":
            try:
                return self.call_tool(params["name"], params.get("arguments") or {})
            except BadArguments as problem:
                return self.error(str(problem))
        if method == "logging/setLevel":
            self.log_level = params["level"]
        return {} if method in ("ping", "logging/setLevel") else None

    def handle(self, line: bytes) -> None:
        try:
            value = self.loads(line)
        except ValueError as problem:
            return self.fail(None, -32700, str(problem))
        if not isinstance(value, dict):
            return self.fail(None, -32600, "not a request")
        return self.take(value)  # pyright: ignore[reportUnknownArgumentType]

    def take(self, message: Record) -> None:
        if "method" not in message or "id" not in message:  # an answer, or a notification
            return None
        params: Record = message.get("params") or {}
        method: str = message["method"]
        if method == "tools/call" and params.get("name") not in [tool["name"] for tool in self.tools()]:
            return self.fail(message["id"], -32602, f"no tool {params.get('name')!r}")
        result = self.dispatch(method, params)
        if result is None:
            return self.fail(message["id"], -32601, f"no method {method!r}")
        return self.reply(message["id"], result)

    def loads(self, line: bytes) -> Any:
        text = line.decode()
        value = loads(text)
        if "\\ud" in text.lower():  # a lone surrogate cannot be written as UTF-8: read it as U+FFFD
            value = loads(dumps(value).encode("utf-16", "surrogatepass").decode("utf-16", "replace"))
        return value

    def reply(self, id: Any, result: Record) -> None:
        self.send({"jsonrpc": "2.0", "id": id, "result": result})

    def fail(self, id: Any, code: int, message: str) -> None:
        self.send({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}})

    def notify(self, method: str, params: Record) -> None:
        self.send({"jsonrpc": "2.0", "method": method, "params": params})

    def send(self, message: Record) -> None:
        self.send_line(self.dumps(message).encode())

    def send_line(self, line: bytes) -> None:
        sys.stdout.buffer.write(line + b"\n")
        sys.stdout.buffer.flush()

    def started(self) -> None:
        """Before the first line is read."""

    def serve(self) -> None:
        """Answer until standard input ends."""
        self.started()
        pending = b""
        while self.running and (chunk := self.read()):
            *lines, pending = (pending + chunk).split(b"\n")
            self.received([line for line in lines if line.strip()])

    def read(self) -> bytes:
        """Some bytes of standard input; none when it has ended."""
        return os.read(0, 1 << 20)

    def received(self, lines: Sequence[bytes]) -> None:
        """Lines that came together, in their order."""
        for line in lines:
            self.handle(line)
