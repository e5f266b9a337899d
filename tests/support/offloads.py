"""A file and its descriptor, and one change to them."""

from __future__ import annotations

import json
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

from lro_spec.findings import Finding
from lro_spec.recipes.render import render
from lro_spec.tokens import characters_estimate

NAME = "atlatl-recall-01KJPY44E0A1B2C3D4E5F6G7H8.jsonl"
NAMESPACES = ["_semantic/a", "_semantic/a", "_semantic/a", "_episodic/b", "_episodic/b", "_procedural/c"]
SCHEMA = {"type": "object", "properties": {"id": {"type": "string"}, "title": {"type": "string"}}, "required": ["id"]}


Change = Callable[[dict[str, Any], list[dict[str, Any]]], None]


def records(count: int = 24) -> list[dict[str, Any]]:
    return [
        {
            "id": f"m{n}",
            "memory_type": ("semantic", "episodic")[n % 2],
            "namespace": NAMESPACES[n % 6],
            "title": f"{('Alpha', 'Beta', 'Gamma')[n % 3]} release, note {n}",
            "content": f"{('Alpha', 'Delta')[n % 2]} went well, said note {n}.",
            "created": f"2026-03-{n % 28 + 1:02}T09:30:00Z",
            "tags": ["x"],
            "entities": [{"name": "e"}] if n % 2 else [],
            "score": round(0.25 + n / 100, 2),
            "provenance": {"confidence": round(0.9 - n / 100, 2)},
        }
        for n in range(count)
    ]


def made(folder: Path, change: Change = lambda descriptor, lines: None, count: int = 24) -> dict[str, Any]:
    """Writes a file and returns its descriptor; *change* gets both before the file is written, the header as line 0."""
    path = str(folder / NAME)
    lines = records(count)
    estimate = characters_estimate("\n".join(map(json.dumps, lines)))
    header = {
        "type": "lro_header",
        "operation": "recall",
        "query": "*",
        "count": count,
        "schema_version": "1.0",
        "timestamp": "2026-03-02T09:30:00Z",
        "estimated_tokens": estimate,
        "detail": "full",
    }
    descriptor = {
        "offloaded": True,
        "summary": {
            "count": count,
            "estimated_tokens": estimate,
            "operation": "recall",
            "top_namespaces": ["_semantic/a", "_episodic/b", "_procedural/c"],
            "score_range": [0.25, round(0.25 + (count - 1) / 100, 2)],
            "detail": "full",
        },
        "file_path": path,
        "line_schema": deepcopy(SCHEMA),
        "jq_recipes": [{"description": r.description, "command": r.command} for r in render("lro-6400", path)],
        "guidance": f"The records are in {path}.",
    }
    lines.insert(0, header)
    change(descriptor, lines)
    (folder / NAME).write_text("".join(json.dumps(line) + "\n" for line in lines))
    return descriptor


def rules(found: list[Finding]) -> set[str]:
    return {finding.rule for finding in found if finding.severity == "error"}


def summary(**changed: Any) -> Change:
    return lambda descriptor, lines: descriptor["summary"].update(changed)


def header(**changed: Any) -> Change:
    return lambda descriptor, lines: lines[0].update(changed)


def schema(**changed: Any) -> Change:
    return lambda descriptor, lines: descriptor["line_schema"].update(changed)


def recipe(number: int, jq: str, feed: str = "tail -n +2 {path}") -> Change:
    def change(descriptor: dict[str, Any], lines: list[dict[str, Any]]) -> None:
        command = f"{feed.format(path=descriptor['file_path'])} | {jq}"
        descriptor["jq_recipes"][number - 1]["command"] = command

    return change


def empty(**said: Any) -> Change:
    def change(descriptor: dict[str, Any], lines: list[dict[str, Any]]) -> None:
        del lines[1:]
        lines[0].update(count=0, estimated_tokens=0)
        none: dict[str, Any] = {"top_namespaces": [], "score_range": None}
        descriptor["summary"].update({"count": 0, "estimated_tokens": 0, **none, **said})

    return change


_COUNT = 150
FAULTS: list[Callable[[list[bytes], int], object]] = [
    lambda lines, at: lines.__setitem__(at, b"{broken"),
    lambda lines, at: lines.__setitem__(at, b""),
    lambda lines, at: lines.__setitem__(at, b'{"id": "x", "title": NaN}'),
    lambda lines, at: lines.__setitem__(at, lines[at] + b"\r"),
    lambda lines, at: lines.__setitem__(at, lines[at].replace(b"note", b"\xff")),
    lambda lines, at: lines.__setitem__(at, lines[at].replace(b'"tags": ["x"]', b'"tags": [7]')),
    lambda lines, at: lines.__setitem__(at, lines[at].replace(b'"title": "', b'"title": 3, "t": "')),
    lambda lines, at: lines.__setitem__(at, lines[at].replace(b'"score"', b'"score": 1.9, "score"')),
    lambda lines, at: lines.__setitem__(at, lines[at].replace(b'"score": 0', b'"score": 9')),
    lambda lines, at: lines.__setitem__(at, lines[at].replace(b'"title"', b'"status": "odd", "title"')),
    lambda lines, at: lines.__setitem__(at, lines[at].replace(b"_procedural/c", b"_semantic/else")),
    lambda lines, at: lines.__setitem__(at, lines[at - 1]),
    lambda lines, at: lines.__setitem__(at, lines[at // 2]),
    lambda lines, at: lines.__setitem__(at, lines[0]),
    lambda lines, at: lines.__setitem__(at, lines[at].replace(b"well", b"well" * 3000)),
    lambda lines, at: lines.insert(at, b'{"id": "more", "content": ""}'),
    lambda lines, at: lines.pop(at),
]


def descriptor(folder: Path) -> dict[str, Any]:
    """One whose recipes are not run: they take the time here, and have nothing to do with it."""
    found = made(folder, count=_COUNT)
    found["line_schema"]["properties"]["status"] = {"const": "even"}
    del found["jq_recipes"]
    return found
