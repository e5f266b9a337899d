"""Whoever ends `lro validate` while a recipe or a schema takes its time leaves no process behind."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from lro_spec.recipes.render import render
from tests.support.validating import HEADER, NAME, lines

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="children are bound to their parent on Linux")


def descriptor(folder: Path, kind: str) -> Path:
    """One whose judging takes seconds in a child process: by a recipe, or by a pattern that backtracks."""
    file = folder / NAME
    file.write_bytes(lines(HEADER, {"id": "a", "title": "a" * 40 + "!"}))
    recipes = [{"description": r.description, "command": r.command} for r in render("lro-6400", str(file))]
    schema: dict[str, Any] = {"properties": {"id": {"type": "string"}}}
    if kind == "schema":
        recipes, schema["properties"]["title"] = [], {"pattern": "^(?=a)(a+)+$"}
    else:
        recipes[0]["command"] = f"tail -n +2 '{file}' | jq -c 'reduce range(1000000000) as $n (0; . + $n)'"
    told = {"offloaded": True, "file_path": str(file), "line_schema": schema, "jq_recipes": recipes, "guidance": "g"}
    path = folder / "descriptor.json"
    path.write_text(json.dumps(told))
    return path


def children(pid: int) -> list[int]:
    try:
        threads = list(Path(f"/proc/{pid}/task").iterdir())
        return [int(each) for thread in threads for each in (thread / "children").read_text().split()]
    except OSError:
        return []


def until(met: Any, seconds: float = 30.0) -> Any:
    end = time.monotonic() + seconds
    while not (value := met()) and time.monotonic() < end:
        time.sleep(0.02)
    return value


@pytest.mark.parametrize("kind", ["recipe", "schema"])
@pytest.mark.parametrize("ended_by", [signal.SIGTERM, signal.SIGKILL])
def test_the_child_ends_too(tmp_path: Path, kind: str, ended_by: signal.Signals) -> None:
    argv = [sys.executable, "-m", "lro_conformance", "validate", "--follow", str(descriptor(tmp_path, kind))]
    process = subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        found = until(lambda: children(process.pid))
        assert found
        (child,) = found
        # once it is at work: by then it has bound itself
        assert until(lambda: process.poll() is not None or processor_time(child) > 0.4)
        assert process.poll() is None
    finally:
        process.send_signal(ended_by)
        process.wait()
    assert until(lambda: not running(child), 2.0)


def processor_time(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) / 100


def running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
