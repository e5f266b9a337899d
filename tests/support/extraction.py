"""The reference server with its own tools for offloaded files."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.support.proxying import SETTING, Client, started

ISSUES = [{"number": n, "state": "open" if n % 3 else "closed", "title": f"issue {n} {'x' * 40}"} for n in range(60)]
HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
BUSY = "[limit(1e9; repeat(1))] | length"
"""A query that runs until it is stopped."""


@contextmanager
def server(folder: Path, *options: str) -> Iterator[Client]:
    command = [sys.executable, "-m", "lro_proxy.serve", "--data", ":memory:", "--tools", "extract", *options]
    with started(command, **{f"{SETTING}OUTPUT_DIR": str(folder), f"{SETTING}THRESHOLD_TOKENS": "500"}) as client:
        greet(client)
        yield client


def greet(client: Client) -> dict[str, Any]:
    said = client.answer(client.post("initialize", **HELLO))["result"]
    client.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
    return said


def names(client: Client) -> list[str]:
    return [tool["name"] for tool in client.answer(client.post("tools/list"))["result"]["tools"]]


def said(result: dict[str, Any]) -> str:
    (block,) = result["content"]
    return block["text"]


def offloaded(client: Client, payload: Any = ISSUES) -> dict[str, Any]:
    result = {"content": [{"type": "text", "text": json.dumps(payload)}]}
    return json.loads(said(client.result("say", result=json.dumps(result))))
