"""An MCP server whose tools behave as their names say: ``python odd_server.py [ROWS]``."""

from __future__ import annotations

import json
import sys
import time
from typing import Any

ROWS = int(sys.argv[1]) if len(sys.argv) > 1 else 3000
READS = {"readOnlyHint": True}
NOTHING: dict[str, Any] = {"type": "object", "properties": {}}
TOOLS = [
    {"name": "table", "inputSchema": NOTHING, "annotations": READS, "outputSchema": {"type": "object"}},
    {"name": "truncated", "inputSchema": NOTHING, "annotations": READS},
    {"name": "needy", "inputSchema": {**NOTHING, "required": ["path"]}, "annotations": READS},
    {"name": "hangs", "inputSchema": NOTHING, "annotations": READS},
    {"name": "dies", "inputSchema": NOTHING, "annotations": READS},
    {"name": "asks", "inputSchema": NOTHING, "annotations": READS},
    {"name": "floods", "inputSchema": NOTHING, "annotations": READS},
    {"name": "fails", "inputSchema": NOTHING, "annotations": READS},
    {"name": "mumbles", "inputSchema": NOTHING, "annotations": READS},
    {"name": "deletes", "inputSchema": NOTHING},
]


def send(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def call(name: str, id: int) -> dict[str, Any] | str:
    match name:
        case "table":
            rows = [{"id": n, "name": f"row {n}", "note": "äöü <|endoftext|>"} for n in range(ROWS)]
            return {"content": [{"type": "text", "text": json.dumps(rows)}], "structuredContent": {"rows": rows}}
        case "truncated":
            return {"content": [{"type": "text", "text": "a\nb\n... (truncated)"}]}
        case "hangs":
            time.sleep(60)
        case "dies":
            sys.stderr.write("out of cheese\n")
            sys.exit(3)
        case "asks":
            send({"id": "q", "method": "elicitation/create", "params": {"message": "Which one?"}})
            return {"content": [{"type": "text", "text": "none"}]}
        case "floods":
            sys.stdout.write(f'{{"jsonrpc":"2.0","id":{id},"result":{{"content":[{{"type":"text","text":"')
            for _ in range(70):
                sys.stdout.write("x" * (1 << 20))
            sys.exit(0)
        case "mumbles":
            return "mm"
        case "fails":
            return {"content": [{"type": "text", "text": "no such table"}], "isError": True}
        case _:
            raise SystemExit(f"{name} was called")
    return {}


for line in sys.stdin:
    message = json.loads(line)
    match message.get("method"):
        case "initialize":
            answer = {
                "protocolVersion": "2025-11-25",
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "odd", "version": "1"},
            }
            send({"id": message["id"], "result": answer})
        case "tools/list":
            send({"id": message["id"], "result": {"tools": TOOLS}})
        case "tools/call":
            send({"id": message["id"], "result": call(message["params"]["name"], message["id"])})
        case _:
            pass
