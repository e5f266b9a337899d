"""What one large answer needed serves for the next: memory is not given back and fetched anew for each call."""

from __future__ import annotations

import json
import platform
import sys
from pathlib import Path

import pytest

from tests.support.paths import ROOT
from tests.support.proxying import proxy

SERVER = ROOT / "benchmarks" / "result_server.py"
MOST = 100
"""Pages that a call may touch for the first time."""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc can be told what to keep")
@pytest.mark.parametrize("lines", [8_000, 20_000])
def test_a_call_touches_few_new_pages(tmp_path: Path, lines: int) -> None:
    text = "".join(
        f'GET /items/{n} HTTP/1.1 200 "a quoted – agent" \\path\\{n} took {n % 900} ms\n' for n in range(lines)
    )
    answer = {"content": [{"type": "text", "text": text}], "structuredContent": {"content": text}}
    written = json.dumps(answer, ensure_ascii=False, separators=(",", ":"))
    (tmp_path / "answer.json").write_text(written, encoding="utf-8")
    with proxy(tmp_path / "out", server=[sys.executable, "-I", str(SERVER)], threshold=6400) as client:
        client.answer(client.post("initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo={}))

        def call() -> str:
            return client.result("read_text_file", path=str(tmp_path / "answer.json"))["content"][0]["text"]

        assert json.loads(call())["summary"]["count"] == lines
        for _ in range(5):
            call()
        before = _faults(client.process.pid)
        for _ in range(5):
            call()
        assert _faults(client.process.pid) - before < 5 * MOST


def _faults(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[7])
