"""An adapter for `lro vectors run` to the plain server of an edition: ``python vectors.py [counts_the_header]``."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.servers.editions.plain import PLAIN
from tests.servers.plain import Call, Server


class Writer(Server):
    """The plain server with the time, the name and the folder of a question."""

    def write_vector(self, asked: dict[str, Any]) -> dict[str, Any]:
        call = Call()
        call.operation, call.query = asked["call"]["operation"], asked["call"].get("query", "")
        call.detail = asked["call"].get("detail") or self.default_detail(call.operation)
        call.records, call.found, call.tokens = asked["records"], asked["records"], asked["estimated_tokens"]
        call.lines = [self.record_line(record) for record in call.records]
        self.ulid = lambda: asked["ulid"]
        self.timestamp = lambda now: asked["timestamp"]
        path = os.path.join(asked["output_dir"], self.file_name(call))
        file = self.file_bytes(call).decode()
        header, *records = map(json.loads, file.removesuffix("\n").split("\n"))
        return {"descriptor": self.descriptor(call, path), "file": file, "header": header, "records": records}

    def cleanup_vector(self, asked: dict[str, Any]) -> list[str]:
        self.settings.ttl = asked.get("settings", {}).get("ttl_seconds", 3600)
        with tempfile.TemporaryDirectory() as folder:
            self.settings.output_dir = folder
            for entry in asked["entries"]:
                path = Path(folder, entry["name"])
                path.parent.mkdir(exist_ok=True)
                if entry["kind"] == "link":
                    path.symlink_to(entry["target"])
                else:
                    (path.touch if entry["kind"] == "file" else path.mkdir)()
                os.utime(path, (entry["modified"], entry["modified"]), follow_symlinks=False)
            return [os.path.relpath(path, folder) for path in self.cleanup(asked["now"])]

    def fallback_vector(self, asked: dict[str, Any]) -> dict[str, Any]:
        self.settings.threshold = asked["settings"]["threshold_tokens"]
        call, events = Call(), list[str]()
        call.operation, call.records = "recall", asked["records"]
        call.lines = [self.record_line(record) for record in call.records]
        self.emit = lambda event, level, **data: events.append(event)
        result = self.on_write_failure(call, OSError(28, asked["error"]))
        said = {**result["structuredContent"], "is_error": result["isError"], "file_path": None, "event": events[0]}
        return {**said, "records": len(said["results"])}


class CountsTheHeader(Writer):
    """The count includes the header line."""

    def header(self, call: Call) -> dict[str, Any]:
        return {**super().header(call), "count": len(call.records) + 1}


WRITERS = {edition: type(edition, (Writer, plain), {}) for edition, plain in PLAIN.items()}


def main() -> None:
    for line in sys.stdin:
        request = json.loads(line)
        writer = CountsTheHeader if sys.argv[1:] == ["counts_the_header"] else WRITERS[request["params"]["edition"]]
        method = getattr(writer(), f"{request['method']}_vector", None)
        no = {"error": {"code": -32601, "message": f"no {request['method']} here"}}
        outcome = no if method is None else {"result": {"answer": method(request["params"]["input"])}}
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], **outcome}), flush=True)


if __name__ == "__main__":
    main()
