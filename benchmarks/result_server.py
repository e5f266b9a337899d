"""An MCP server that answers a call with the exact bytes of a file: ``python result_server.py FOLDER``.

The argument ``path`` names a file with the JSON of a `tools/call` result.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

SERVER = {"name": "results", "version": "1"}
TOOL = {"name": "read_text_file", "inputSchema": {"type": "object"}}


def result(method: str, params: dict[str, Any]) -> bytes:
    match method:
        case "initialize":
            version = params["protocolVersion"]
            return json.dumps(
                {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": SERVER}
            ).encode()
        case "tools/list":
            return json.dumps({"tools": [TOOL]}).encode()
        case _:
            return Path(params["arguments"]["path"]).read_bytes()


def main() -> None:
    for line in sys.stdin:
        message = json.loads(line)
        if "id" in message:
            result_json = result(message["method"], message.get("params", {}))
            sys.stdout.buffer.write(b'{"jsonrpc":"2.0","id":%d,"result":' % message["id"] + result_json + b"}\n")
            sys.stdout.buffer.flush()


main()
