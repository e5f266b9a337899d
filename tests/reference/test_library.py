"""The examples of docs/library.md, run as they are printed, with the official client."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.documents import TEXTS, fenced
from tests.support.mcp_clients import python_client
from tests.support.proxying import records

EXAMPLES = fenced(TEXTS["docs/library.md"], "python")
ISSUES, NOTES = EXAMPLES[:2], EXAMPLES[2]
(REPORT,) = (block for block in fenced(TEXTS["docs/library.md"], "") if block.startswith("server "))


@pytest.mark.parametrize("example", ISSUES, ids=["high-level", "low-level"])
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


def _certified(folder: Path, server: str, *options: str) -> list[str]:
    """The lines of a report on a server."""
    (folder / "notes.py").write_text(server, encoding="utf-8")
    command = [sys.executable, "-m", "lro_conformance", "certify", "--quiet", "--budget", "quick", *options, "--"]
    own = {name: value for name, value in os.environ.items() if not name.startswith(("ATLATL_", "LRO_"))}
    command += [sys.executable, "notes.py"]
    done = subprocess.run(command, cwd=folder, env=own, capture_output=True, text=True, timeout=300, check=False)
    return done.stdout.splitlines()


@pytest.mark.timeout(300)
def test_a_server_with_the_interceptor_passes_what_it_fails_without_a_step(tmp_path: Path) -> None:
    """Whether it proves level 3 is left to `--long`: each experiment starts a server, for a second of one core."""
    report = tmp_path / "report.json"
    _certified(tmp_path, NOTES, "--only", "LRO-DET-02", "--json", str(report))
    judged = {one["id"]: one["verdict"] for one in json.loads(report.read_bytes())["requirements"]}
    assert judged["LRO-DET-02"] == "pass"


@pytest.mark.long
@pytest.mark.timeout(300)
def test_a_server_with_the_interceptor_proves_level_3_as_the_page_shows(tmp_path: Path) -> None:
    lines = _certified(tmp_path, NOTES)
    *shown, rest = REPORT.splitlines()
    assert rest == "…"
    assert lines[: len(shown)] == shown


@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    ("with_it", "without_it", "verdict", "missed"),
    [
        ('= "light") -> Any', '= "full") -> Any', "fail", ["LRO-DET-02"]),
        pytest.param(', "detail": detail}', "}", "fail", ["LRO-FILE-08", "LRO-DESC-08"], marks=pytest.mark.long),
        pytest.param(
            *("    lro.clean()\n", "", "not-observed", ["LRO-CLN-01", "LRO-CLN-02", "LRO-CFG-03"]),
            marks=pytest.mark.long,
        ),
    ],
    ids=["default level", "detail", "clean"],
)
def test_without_a_step_of_the_page_a_level_is_missed(
    tmp_path: Path, with_it: str, without_it: str, verdict: str, missed: list[str]
) -> None:
    assert NOTES.count(with_it) == 1
    report = tmp_path / "report.json"
    _certified(tmp_path, NOTES.replace(with_it, without_it), "--only", ",".join(missed), "--json", str(report))
    judged = {one["id"]: one["verdict"] for one in json.loads(report.read_bytes())["requirements"]}
    assert {id: judged[id] for id in missed} == dict.fromkeys(missed, verdict)
