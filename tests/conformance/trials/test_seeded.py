"""Memories in a wide script are asked for by an operation that finds them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from lro_conformance import profile as profiles
from lro_conformance.engine.run import certify
from lro_conformance.judging.verdicts import Verdict
from tests.support.paths import ROOT

SERVER = """\
import sys
sys.path.insert(0, {root!r})
from tests.servers.faults.threshold import counts_cjk_like_latin
from tests.servers.plain import Server

class RecallsTheOldest({base}):
    def corpus(self):
        every = [(n, memory) for n in range(8) for memory in super(RecallsTheOldest, self).corpus()]
        return [{{**memory, "id": f"{{n}}-{{memory['id']}}"}} for n, memory in every][:300]

    def tools(self):
        recall, search, _, *others = super().tools()
        detail = recall["inputSchema"]["properties"]["detail"]
        takes = {{"limit": {{"type": "integer", "maximum": 200}}, "detail": detail}}
        recall["inputSchema"] = {{"type": "object", "properties": takes}}
        return [recall, search, *others]

    def call_tool(self, name, arguments):
        if name == "recall_memories":
            arguments = {{**arguments, "query": "*", "limit": min(200, arguments.get("limit", 200))}}
        return super().call_tool(name, arguments)

RecallsTheOldest().serve()
"""
"""A server whose recall has no query, and returns at most 200 memories, never those that were stored last."""


@pytest.mark.parametrize(
    ("base", "verdict"), [("Server", Verdict.PASS), ("counts_cjk_like_latin", Verdict.WARN)], ids=["sound", "fault"]
)
def test_what_a_recall_does_not_return_is_searched_for(tmp_path: Path, base: str, verdict: Verdict) -> None:
    (tmp_path / "server.py").write_text(SERVER.format(root=str(ROOT), base=base))
    path = tmp_path / "lro.yaml"
    path.write_text(
        f"server: {{command: [{sys.executable}, -I, -S, {tmp_path / 'server.py'}]}}\n"
        'seed: {tool: store_memory, arguments: {memory: "$memory"}}\n'
    )
    report = certify(profiles.load(path), seed=1, examples=0, only={"LRO-THR-03"})
    (result,) = [r for r in report.requirements if r.requirement.id == "LRO-THR-03"]
    assert result.verdict is verdict
