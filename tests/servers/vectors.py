"""An adapter for `lro vectors run`: ``python vectors.py [FAULT]`` answers with the methods of the plain server.

The only fault is ``counts_the_header``; it shows how a run reports a mistake.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.servers.plain import Call, Server


class Writer(Server):
    """The plain server with the time, the name and the folder of a question."""

    def write_vector(self, asked: dict[str, Any]) -> dict[str, Any]:
        call = Call()
        call.operation, call.query = asked["call"]["operation"], asked["call"].get("query", "")
        call.detail = asked["call"].get("detail") or self.default_detail(call.operation)
        call.records = call.found = asked["records"]
        call.lines = [self.record_line(record) for record in call.records]
        call.tokens = asked["estimated_tokens"]
        self.ulid = lambda: asked["ulid"]  # type: ignore[method-assign]
        self.timestamp = lambda now: asked["timestamp"]  # type: ignore[method-assign]
        path = os.path.join(asked["output_dir"], self.file_name(call))
        return {"descriptor": self.descriptor(call, path), "file": self.file_bytes(call).decode()}

    def cleanup_vector(self, asked: dict[str, Any]) -> list[str]:
        self.settings.ttl = asked.get("settings", {}).get("ttl_seconds", 3600)
        with tempfile.TemporaryDirectory() as folder:
            self.settings.output_dir = folder
            for entry in asked["entries"]:
                path = Path(folder, entry["name"])
                path.parent.mkdir(exist_ok=True)
                if entry["kind"] == "link":
                    path.symlink_to(entry["target"])
                    continue
                path.mkdir() if entry["kind"] == "directory" else path.touch()
                os.utime(path, (entry["modified"], entry["modified"]))
            return [os.path.relpath(path, folder) for path in self.cleanup(asked["now"])]

    def fallback_vector(self, asked: dict[str, Any]) -> dict[str, Any]:
        self.settings.threshold = asked["settings"]["threshold_tokens"]
        call, events = Call(), list[str]()
        call.operation, call.records = "recall", asked["records"]
        call.lines = [self.record_line(record) for record in call.records]
        self.emit = lambda event, level, **data: events.append(event)  # type: ignore[method-assign]
        result = self.on_write_failure(call, OSError(28, asked["error"]))
        said = result["structuredContent"]
        kept, warning = len(said["results"]), said["warning"]
        return {
            "is_error": result["isError"],
            "records": kept,
            "file_path": None,
            "warning": warning,
            "event": events[0],
        }


class CountsTheHeader(Writer):
    """The count includes the header line."""

    def header(self, call: Call) -> dict[str, Any]:
        return {**super().header(call), "count": len(call.records) + 1}


server = CountsTheHeader() if sys.argv[1:] == ["counts_the_header"] else Writer()
ANSWERS = {
    "write": server.write_vector,
    "cleanup": server.cleanup_vector,
    "fallback": server.fallback_vector,
    "estimate": lambda asked: server.estimate([asked["text"]]),
}
for line in sys.stdin:
    request = json.loads(line)
    answer = ANSWERS.get(request["method"])
    if answer is None:
        outcome: dict[str, Any] = {"error": {"code": -32601, "message": f"no {request['method']} here"}}
    else:
        outcome = {"result": {"answer": answer(request["params"]["input"])}}
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], **outcome}), flush=True)
