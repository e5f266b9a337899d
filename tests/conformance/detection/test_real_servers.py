"""Servers from public registries that never heard of offloading: said calmly, quickly, and without touching their data.

Each is installed for the run into a temporary folder; where that cannot be done the test is skipped, and says why.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.registry import Installed

pytestmark = [pytest.mark.registry, pytest.mark.timeout(400)]

MEMORIES = (
    '{"type":"entity","name":"Ada","entityType":"person","observations":["wrote the first program, from memory"]}\n'
    '{"type":"entity","name":"Engine","entityType":"machine","observations":["was never finished"]}\n'
    '{"type":"relation","from":"Ada","to":"Engine","relationType":"programmed"}\n'
)


def _certify(folder: Path, command: list[str], **env: str) -> dict[str, Any]:
    """`lro certify -- …` of a server whose results came inline."""
    report, code, shown = _run(folder, command, **env)
    assert code == 1, shown
    assert "it does not implement LRO, which is optional at levels 1 and 2 and required at level 3" in shown
    verdicts = {r["id"]: r["verdict"] for r in report["requirements"]}
    assert report["implemented"] is False
    assert report["level"] == {"claimed": None, "achieved": 2, "1": "proved", "2": "proved", "3": "failed"}
    assert verdicts["LRO-IMPL-02"] == "warn"
    assert [id for id, verdict in verdicts.items() if verdict == "fail"] == ["LRO-IMPL-03"]
    return report


def _not_called(folder: Path, command: list[str], **env: str) -> dict[str, Any]:
    """`lro certify -- …` of a server whose tools have names of their own: nothing was called, so nothing is proved."""
    report, code, shown = _run(folder, command, **env)
    assert code == 3, shown
    assert "so none was called and no level is proved" in shown
    assert (report["implemented"], report["level"]["achieved"], report["counts"]["fail"]) == (None, 0, 0)
    return report


def _run(folder: Path, command: list[str], **env: str) -> tuple[dict[str, Any], int, str]:
    """The report, the exit code, and what was shown."""
    target = folder / "report.json"
    argv = [sys.executable, "-m", "lro_conformance", "certify", "--plain", "--json", str(target), "--", *command]
    done = subprocess.run(
        argv, capture_output=True, text=True, timeout=60, check=False, cwd=folder, env={**os.environ, **env}
    )
    assert "Traceback" not in done.stdout + done.stderr
    report: dict[str, Any] = json.loads(target.read_bytes())
    assert report["counts"]["error"] == 0
    assert report["duration_s"] < 10
    return report, done.returncode, done.stdout + done.stderr


def _contents(folder: Path) -> dict[str, str]:
    """Every file below a folder, by its hash."""
    files = (p for p in folder.rglob("*") if p.is_file())
    return {str(p.relative_to(folder)): hashlib.sha256(p.read_bytes()).hexdigest() for p in files}


def test_the_memory_server(tmp_path: Path, installed: Installed) -> None:
    data = tmp_path / "data"
    data.mkdir()
    (data / "memory.jsonl").write_text(MEMORIES)
    report = _certify(tmp_path, installed.npm("server-memory"), MEMORY_FILE_PATH=str(data / "memory.jsonl"))
    assert report["server"]["name"] == "memory-server"
    assert [p.name for p in data.iterdir()] == ["memory.jsonl"]
    assert (data / "memory.jsonl").read_text() == MEMORIES


def test_the_everything_server(tmp_path: Path, installed: Installed) -> None:
    report = _not_called(tmp_path, installed.npm("server-everything"))
    assert "everything" in report["server"]["name"]


def test_the_git_server(tmp_path: Path, installed: Installed) -> None:
    if shutil.which("git") is None:
        pytest.skip("mcp-server-git: git is not installed here")
    repository = tmp_path / "repository"
    repository.mkdir()
    (repository / "README").write_text("a repository that nobody may change\n")
    who = ("-c", "user.name=A", "-c", "user.email=a@example.org")
    for words in (["init", "--quiet"], ["add", "README"], [*who, "commit", "--quiet", "-m", "one"]):
        subprocess.run(["git", "-C", str(repository), *words], check=True, timeout=30)
    (repository / "README").write_text("changed, and not yet committed\n")
    before = _contents(repository)
    report = _not_called(tmp_path, [*installed.pypi("mcp-server-git"), "--repository", str(repository)])
    assert report["server"]["name"] == "mcp-git"
    assert _contents(repository) == before
