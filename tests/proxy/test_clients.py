"""The official clients through the proxy: they accept every message, also where a tool has an output schema."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.mcp_clients import environment, python_client
from tests.support.proxying import SCRIPTED, records
from tests.support.registry import Installed

ITEMS = {"items": [{"id": n, "name": f"item {n}"} for n in range(400)]}
LARGE = json.dumps({"content": [{"type": "text", "text": json.dumps(ITEMS)}], "structuredContent": ITEMS})
SMALL = '{"content": [{"type": "text", "text": "{}"}], "structuredContent": {"items": []}}'
CALLS = [
    {"name": "typed", "arguments": {"result": SMALL}},
    {"name": "typed", "arguments": {"result": LARGE}},
    {"name": "say", "arguments": {"result": json.dumps({"content": [{"type": "text", "text": "word\n" * 5000}]})}},
]


def proxied(*server: str) -> list[str]:
    return [sys.executable, "-m", "lro_proxy", "--", *server]


def accepted(results: list[dict[str, Any]], folder: Path) -> None:
    small, typed, text = results
    assert small["structuredContent"] == {"items": []}
    assert typed["structuredContent"] == json.loads(typed["content"][0]["text"])
    assert records(typed["structuredContent"]["file_path"])[1] == ITEMS["items"]
    assert "structuredContent" not in text
    assert len(records(json.loads(text["content"][0]["text"])["file_path"])[1]) == 5000
    assert len(list(folder.iterdir())) == 2


def test_the_python_client(tmp_path: Path) -> None:
    accepted(python_client(proxied(*SCRIPTED), tmp_path, CALLS), tmp_path)


@pytest.mark.registry
@pytest.mark.timeout(400)
@pytest.mark.parametrize("generation", ["sdk", "client"])
def test_the_typescript_clients(tmp_path: Path, installed: Installed, generation: str) -> None:
    script = Path(__file__).with_name("clients.mjs")
    said = run(tmp_path, "node", str(script), str(installed.node_modules()), generation, *proxied(*SCRIPTED))
    assert said["errors"] == []
    assert said["capabilities"]["experimental"]["lro"]["proxy"] is True
    accepted(said["results"], tmp_path)


@pytest.mark.long
@pytest.mark.registry
@pytest.mark.timeout(400)
def test_the_client_of_fastmcp(tmp_path: Path, installed: Installed) -> None:
    script = Path(__file__).with_name("fastmcp_client.py")
    accepted(run(tmp_path, installed.python("fastmcp"), str(script), *proxied(*SCRIPTED)), tmp_path)


@pytest.mark.long
@pytest.mark.registry
@pytest.mark.timeout(400)
def test_the_inspector(tmp_path: Path, installed: Installed) -> None:
    """Installing it takes longer than all that is tried of the TypeScript SDK, by which it is written."""

    def inspect(*method: str) -> Any:
        return run(tmp_path, *installed.inspector(), "--cli", *proxied(*SCRIPTED), "--method", *method)

    assert len(inspect("tools/list")["tools"]) == 2
    calls = (("--tool-name", one["name"], "--tool-arg", f"result={one['arguments']['result']}") for one in CALLS)
    accepted([inspect("tools/call", *call) for call in calls], tmp_path)


def run(folder: Path, *words: str) -> Any:
    """The output of a client as JSON, which gets the calls on stdin."""
    done = subprocess.run(
        words,
        input=json.dumps(CALLS),
        capture_output=True,
        text=True,
        timeout=100,
        env=environment(folder),
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
