"""The examples of docs/library.md, run as they are printed, with the official client."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.support.documents import TEXTS, fenced
from tests.support.mcp_clients import python_client
from tests.support.proxying import records

EXAMPLES = fenced(TEXTS["docs/library.md"], "python")


@pytest.mark.parametrize("example", EXAMPLES, ids=["high-level", "low-level"])
def test_an_example_offloads(tmp_path: Path, example: str) -> None:
    server, folder = tmp_path / "server.py", tmp_path / "files"
    server.write_text(example, encoding="utf-8")
    (result,) = python_client([sys.executable, str(server)], folder, [{"name": "list_issues", "arguments": {}}])
    descriptor = json.loads(result["content"][0]["text"])
    header, lines = records(descriptor["file_path"])
    assert (header["operation"], len(lines), lines[899]["title"]) == ("list_issues", 900, "Issue 900")
    assert Path(descriptor["file_path"]).parent == folder


def test_an_example_is_five_lines() -> None:
    assert len([line for line in EXAMPLES[0].splitlines() if "lro" in line]) <= 5
