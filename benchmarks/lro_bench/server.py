"""The MCP server of the benchmark, over stdio: ``python -m lro_bench.server CONDITION N``.

It has the tools of the condition. Descriptors come from the reference interceptor, which also writes the offloaded
file. The path and the time, which differ from run to run, are replaced by a fixed path and a fixed time of the same
form, so that results are the same to the byte. Tools read files by the fixed path only.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from lro_bench.ceilings import CEILINGS
from lro_bench.conditions import DESCRIPTOR_PARTS, Delivery, conditions
from lro_bench.corpus import Corpus, corpus
from lro_bench.shell import Shell
from lro_proxy.tools.toolbox import Toolbox
from lro_reference.interceptor import Offloaded, ResultSet, intercept
from lro_reference.memory.model import SCHEMA_VERSION, line_schema
from lro_reference.settings import Settings
from lro_reference.writer import encode
from lro_spec.messages import OffloadResponse
from lro_spec.sandbox.process import JobLimits, Sandbox, WorkerError

OFFLOADED_PATH = "/tmp/lro/lro-recall-01JZZZZZZZZZZZZZZZZZZZZZZZ.jsonl"
SAVED_PATH = "/tmp/results/list_memories-1.json"
"""Paths by which agents know the files."""
TIMESTAMP = "2026-01-01T00:00:00.000Z"
PROTOCOL = "2025-11-25"
CONVERSATION_KEY = "lro-bench/conversation"
"""Key in the metadata of a call. Its value names the conversation of the call, since a server may have several."""
_MAX_LINE = 2_000
"""Maximum number of characters of a line that `read_lines` shows, as in harnesses that read by lines."""
_PYTHON_TIMEOUT_S, _PYTHON_MEMORY = 20.0, 512 << 20


def _object_schema(required: tuple[str, ...] = (), **properties: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}


_STRING, _POSITIVE_INTEGER = {"type": "string"}, {"type": "integer", "minimum": 1}
COMMON_TOOLS: Mapping[str, tuple[str, dict[str, Any]]] = {
    "bash": (
        "Runs a pipeline of jq, grep, head, tail, cat, wc, sort and uniq.",
        _object_schema(("command",), command=_STRING),
    ),
    "read_file": (
        "Reads lines of a file, from line offset_lines (1 is the first) on.",
        _object_schema(("path",), path=_STRING, offset_lines=_POSITIVE_INTEGER, limit_lines=_POSITIVE_INTEGER),
    ),
    "list_files": ("Lists the files of a folder.", _object_schema(("folder",), folder=_STRING)),
    "read_lines": (
        "Reads lines of a file, each cut after 2000 characters.",
        _object_schema(("path",), path=_STRING, offset=_POSITIVE_INTEGER, limit=_POSITIVE_INTEGER),
    ),
    "search_file": (
        "Searches a text in a file. mode: files_with_matches, content or count (of matching lines).",
        _object_schema(("path", "text"), path=_STRING, text=_STRING, mode=_STRING),
    ),
    "python_exec": (
        "Runs Python code and returns what it prints. Names persist between calls; json, re and Counter are there.",
        _object_schema(("code",), code=_STRING),
    ),
}
"""Descriptions and input schemas of the tools that are the same in all conditions."""


@dataclass(frozen=True, slots=True)
class Result:
    """Result of a tool call."""

    text: str
    is_error: bool = False


class BenchServer:
    """The tools of one delivery over one corpus."""

    def __init__(self, delivery: Delivery, data: Corpus, folder: str, stack: ExitStack) -> None:
        self._delivery, self._data, self._folder, self._stack = delivery, data, folder, stack
        self._outputs = dict(delivery.outputs)
        self._conversation = ""
        self._tools: Mapping[str, Callable[..., Result]] = {
            "list_memories": self._list_memories,
            "bash": self._bash,
            "read_file": self._read_file,
            "list_files": self._list_files,
            "read_lines": self._read_lines,
            "search_file": self._search_file,
            "python_exec": self._python_exec,
            "lro_extract": self._lro_extract,
        }

    def list_tools(self) -> list[dict[str, Any]]:
        """The entries of tools/list."""
        return [self._entry(name) for name in self._delivery.tools]

    def call(self, name: str, arguments: Mapping[str, Any], conversation: str = "") -> Result:
        """Call a tool. The result of a wrong call is an error. Python names persist within a *conversation*."""
        self._conversation = conversation
        if name not in self._delivery.tools:
            return Result(f"there is no tool {name}; there are {', '.join(self._delivery.tools)}", is_error=True)
        try:
            result = self._tools[name](**arguments)
        except TypeError:
            return Result(f"{name}: wrong arguments {', '.join(arguments) or '(none)'}", is_error=True)
        max_characters = self._outputs.get(name)
        if max_characters is not None and len(result.text) > max_characters:
            cut_text = (
                f"{result.text[:max_characters]}\n[cut: {len(result.text):,} characters, {max_characters:,} are shown]"
            )
            return Result(cut_text, result.is_error)
        return result

    def _entry(self, name: str) -> dict[str, Any]:
        if name == "lro_extract":
            (tool,) = self._toolbox.tools
            return {"name": name, "description": tool.description, "inputSchema": dict(tool.input_schema)}
        if name == "list_memories":
            is_paged = self._delivery.kind == "pages"
            list_description = "Lists all memories, in pages." if is_paged else "Lists all memories."
            return {
                "name": name,
                "description": list_description,
                "inputSchema": _object_schema(page=_POSITIVE_INTEGER) if is_paged else _object_schema(),
            }
        description, schema = COMMON_TOOLS[name]
        if self._delivery.kind == "pages_in_code":
            description += (
                ' The function list_memories(page=1) is there, too, and returns {"results": [memory, …], "page": p, '
                f'"pages": P, "total": n}}; a memory has the fields {json.dumps(_field_types(self._data))}.'
            )
        return {"name": name, "description": description, "inputSchema": schema}

    # --- the corpus

    def _list_memories(self, page: int = 1) -> Result:
        match self._delivery.kind:
            case "descriptor":
                return Result(encode(self._descriptor).decode())
            case "whole":
                return Result(CEILINGS[self._delivery.ceiling].apply(self._whole_result, SAVED_PATH).text)
            case _:
                if not 1 <= page <= len(self.pages):
                    return Result(f"there is no page {page}; there are {len(self.pages)}", is_error=True)
                return Result(self._page_texts[page - 1])

    @cached_property
    def pages(self) -> list[dict[str, Any]]:
        """The pages of the corpus."""
        records, size = self._data.records, self._delivery.page_size
        fields = self._delivery.fields
        visible_records = [{key: record[key] for key in fields} if fields else record for record in records]
        parts = [visible_records[start : start + size] for start in range(0, len(visible_records), size)]
        return [
            {"results": part, "page": number, "pages": len(parts), "total": len(records)}
            for number, part in enumerate(parts, 1)
        ]

    @cached_property
    def _page_texts(self) -> list[str]:
        return [encode(page).decode() for page in self.pages]

    @cached_property
    def _whole_result(self) -> str:
        return encode({"results": list(self._data.records), "count": len(self._data.records)}).decode()

    @cached_property
    def _response(self) -> OffloadResponse:
        return offload(self._data, self._folder)

    @cached_property
    def _descriptor(self) -> dict[str, Any]:
        response = self._toolbox.publish(self._response) if "lro_extract" in self._delivery.tools else self._response
        return reduced_descriptor(response, self._delivery.keep)

    @cached_property
    def _toolbox(self) -> Toolbox:
        return Toolbox(["extract"], Settings(output_dir=self._folder))

    @cached_property
    def files(self) -> dict[str, bytes]:
        """The files that an agent can read, by path."""
        if self._delivery.kind == "descriptor":
            return {OFFLOADED_PATH: frozen_file(self._response)}
        if (
            self._delivery.kind == "whole"
            and CEILINGS[self._delivery.ceiling].apply(self._whole_result, SAVED_PATH).is_saved
        ):
            return {SAVED_PATH: self._whole_result.encode()}
        return {}

    # --- tools that read files

    @cached_property
    def _shell(self) -> Shell:
        return self._stack.enter_context(Shell(self.files))

    def _bash(self, command: str) -> Result:
        output = self._shell.run(command)
        return Result(output.text, output.failed)

    def _lines_of(self, path: str, offset: int, limit: int | None) -> tuple[list[str], int] | None:
        if path not in self.files:
            return None
        lines = self.files[path].decode().splitlines(keepends=True)
        return lines[offset - 1 : None if limit is None else offset - 1 + limit], len(lines)

    def _no_file(self, path: str) -> Result:
        return Result(f"{path}: no such file; there is {', '.join(self.files) or 'none'}", is_error=True)

    def _read_file(self, path: str, offset_lines: int = 1, limit_lines: int | None = None) -> Result:
        selection = self._lines_of(path, offset_lines, limit_lines)
        if selection is None:
            return self._no_file(path)
        lines, total = selection
        kept_lines: list[str] = []
        spare_characters = self._outputs["read_file"] - 100
        for line in lines:
            spare_characters -= len(line)
            if spare_characters < 0 and kept_lines:
                return Result(
                    f"{''.join(kept_lines)}[lines {offset_lines} to {offset_lines + len(kept_lines) - 1} of {total}: "
                    f"continue with offset_lines {offset_lines + len(kept_lines)}]\n"
                )
            kept_lines.append(line)
        return Result("".join(kept_lines))

    def _list_files(self, folder: str) -> Result:
        paths = [path for path in self.files if path.startswith(f"{folder.rstrip('/')}/")]
        return Result("\n".join(paths) or f"{folder}: no files", is_error=not paths)

    def _read_lines(self, path: str, offset: int = 1, limit: int = 100) -> Result:
        selection = self._lines_of(path, offset, limit)
        return self._no_file(path) if selection is None else Result("".join(line[:_MAX_LINE] for line in selection[0]))

    def _search_file(self, path: str, text: str, mode: str = "files_with_matches") -> Result:
        if path not in self.files:
            return self._no_file(path)
        lines = [line for line in self.files[path].decode().splitlines() if text in line]
        if mode == "count":
            return Result(str(len(lines)))
        if mode == "content":
            return Result("\n".join(line[:_MAX_LINE] for line in lines) or "no match")
        return Result(path if lines else "no match")

    def _lro_extract(self, **arguments: Any) -> Result:
        if arguments.get("file_path") == OFFLOADED_PATH:
            arguments["file_path"] = self._response.file_path
        else:
            return self._no_file(str(arguments.get("file_path")))
        answer = self._toolbox.call("lro_extract", arguments)
        return Result("\n".join(answer.texts).replace(self._response.file_path, OFFLOADED_PATH), answer.is_error)

    # --- code

    @cached_property
    def _python(self) -> Sandbox:
        pages = self.pages if self._delivery.kind == "pages_in_code" else []
        job = Path(__file__).with_name("python_job.py")
        return self._stack.enter_context(Sandbox(job, {"pages": pages}, memory=_PYTHON_MEMORY, sealed=True))

    def _python_exec(self, code: str) -> Result:
        try:
            request = {"code": code, "conversation": self._conversation}
            answer = self._python.run(request, limits=JobLimits(_PYTHON_TIMEOUT_S, _PYTHON_TIMEOUT_S + 1, 1 << 20))
        except WorkerError as problem:
            return Result(f"python_exec: {problem.message or problem}", is_error=True)
        text = answer.output.decode()
        return Result(f"{text}{answer.result['problem']}", is_error=bool(answer.result["problem"]))


def offload(data: Corpus, folder: str) -> OffloadResponse:
    """The descriptor that the reference interceptor returns for the whole corpus. The file is written to *folder*."""
    outcome = intercept(
        ResultSet(
            operation="recall",
            detail="full",
            records=data.records,
            line_schema=_line_schema(),
            schema_version=SCHEMA_VERSION,
        ),
        Settings(threshold_tokens=1, output_dir=folder),
        lambda event: None,
    )
    assert isinstance(outcome, Offloaded), f"{folder} cannot be written"
    return outcome.response


def _line_schema() -> dict[str, Any]:
    """The schema of a memory at full detail, and of the fields that the tasks ask about."""
    schema = line_schema("full")
    integer = {"type": "integer"}
    schema["properties"]["extensions"] = {"type": "object", "properties": {"priority": integer, "ticket": integer}}
    return schema


def reduced_descriptor(response: OffloadResponse, keep: tuple[str, ...]) -> dict[str, Any]:
    """The descriptor with only the parts that are in *keep*, and with the fixed path.

    If *keep* has ``count``, only the number of records and the path are left.
    """
    text = json.dumps(response.to_dict()).replace(response.file_path, OFFLOADED_PATH)
    descriptor: dict[str, Any] = json.loads(text)
    if "count" in keep:
        return {"offloaded": True, "count": response.summary.count, "file_path": OFFLOADED_PATH}
    return {key: part for key, part in descriptor.items() if key not in DESCRIPTOR_PARTS or key in keep}


def frozen_file(response: OffloadResponse) -> bytes:
    """The offloaded file with a fixed time in its header."""
    header, _, records = Path(response.file_path).read_bytes().partition(b"\n")
    return encode({**json.loads(header), "timestamp": TIMESTAMP}) + b"\n" + records


def _field_types(data: Corpus) -> dict[str, str]:
    names = Counter({key: 1 for record in data.records[:1] for key in record})
    return {key: type(data.records[0][key]).__name__ for key in names}


def main() -> None:
    """Serve until standard input ends."""
    name, size = sys.argv[1], int(sys.argv[2])
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="lro-bench-"))
        server = BenchServer(conditions()[name].delivery, corpus(size), folder, stack)
        for line in sys.stdin.buffer:
            message = json.loads(line)
            if "id" in message:
                answer = {"jsonrpc": "2.0", "id": message["id"], **_answer(server, message)}
                sys.stdout.buffer.write(encode(answer) + b"\n")
                sys.stdout.buffer.flush()


def _answer(server: BenchServer, message: Mapping[str, Any]) -> dict[str, Any]:
    params: dict[str, Any] = message.get("params") or {}
    match message["method"]:
        case "initialize":
            return {
                "result": {
                    "protocolVersion": PROTOCOL,
                    "capabilities": {"tools": {}},
                    "serverInfo": {"name": "lro-bench", "version": "1"},
                }
            }
        case "ping":
            return {"result": {}}
        case "tools/list":
            return {"result": {"tools": server.list_tools()}}
        case "tools/call":
            meta: Mapping[str, Any] = params.get("_meta") or {}
            conversation = str(meta.get(CONVERSATION_KEY, ""))
            result = server.call(params["name"], params.get("arguments") or {}, conversation)
            content = [{"type": "text", "text": result.text}]
            return {"result": {"content": content, "isError": result.is_error}}
        case method:
            return {"error": {"code": -32601, "message": f"there is no method {method}"}}


if __name__ == "__main__":
    main()
