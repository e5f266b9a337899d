"""A conversation of a client with `lro proxy` before the scripted upstream server, kept in tests/data/frozen.

What differs from run to run is masked: folders, ULIDs, digests of files, times, versions.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.support.frozen import FOLDER
from tests.support.proxying import Client, proxy

TRANSCRIPTS = FOLDER / "proxy.json"

ROWS = [{"id": n, "name": f"row {n}", "tags": ["a", "b"], "price": 1.5} for n in range(60)]
EXACT = ['{"n": 1.50, "big": 12345678901234567890}'] * 80
WORDS = "A line of plain words.\n" * 200
HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "client", "version": "1"}}


def said(text: str, **more: Any) -> dict[str, Any]:
    """The arguments that have the upstream server answer with a text."""
    return {"result": json.dumps({"content": [{"type": "text", "text": text}], **more})}


CALLS: dict[str, tuple[str, dict[str, Any]]] = {
    "a small text": ("say", said("hello")),
    "records in a text": ("say", said(json.dumps(ROWS))),
    "records below a key, with what stands beside them": ("say", said(json.dumps({"total": 60, "items": ROWS}))),
    "lines of JSON": ("say", said("\n".join(map(json.dumps, ROWS)))),
    "plain words": ("say", said(WORDS)),
    "an error": ("say", said(WORDS, isError=True)),
    "structured content": ("typed", said("[]", structuredContent={"items": ROWS})),
    "structured content that is small": ("typed", said("[]", structuredContent={"items": ROWS[:1]})),
    "numbers as they are written": (
        "say",
        said(f"[{','.join(EXACT)}]"),
    ),
}
OPTIONS = {"plain": (), "with its own tools": ("--tools", "extract")}


def transcripts() -> dict[str, list[Any]]:
    """What the client gets for each message, by the proxy's options."""
    return {name: _conversation(*options) for name, options in OPTIONS.items()}


def _conversation(*options: str) -> list[Any]:
    with TemporaryDirectory() as folder, proxy(Path(folder), *options) as client:
        seen: list[Any] = [["initialize", client.answer(client.post("initialize", **HELLO))]]
        client.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        methods = ("ping", "tools/list", "resources/read", "something/unknown")
        seen += [[method, client.answer(client.post(method))] for method in methods]
        seen += [[name, _call(client, tool, arguments)] for name, (tool, arguments) in CALLS.items()]
        files = [
            [path.name, path.read_text(encoding="utf-8").splitlines()[:3]]
            for path in sorted(Path(folder).rglob("*.jsonl"))
        ]
        return json.loads(masked(json.dumps([*seen, ["files", files]]), folder))


def _call(client: Client, tool: str, arguments: dict[str, Any]) -> Any:
    return client.answer(client.call(tool, **arguments))


def masked(text: str, folder: str) -> str:
    """The text without what differs from run to run."""
    text = text.replace(str(Path(folder).resolve()), "FOLDER").replace(folder, "FOLDER")
    text = re.sub(r"\b[0-7][0-9A-HJKMNP-TV-Z]{25}\b", "ULID", text)
    text = re.sub(r"\b[0-9a-f]{64}\b", "DIGEST", text)
    text = re.sub(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)", "TIME", text)
    return re.sub(r'("name": "lro[^"]*", (?:"title": "[^"]*", )?"version": )"[^"]*"', r'\1"VERSION"', text)


def write() -> None:
    """Keep what is said now."""
    TRANSCRIPTS.write_text(json.dumps(transcripts(), indent=1) + "\n", encoding="utf-8")
