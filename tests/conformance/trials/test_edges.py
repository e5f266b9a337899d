"""Where identical calls differ, further ones may differ more than those that were compared."""

from __future__ import annotations

import sys
from pathlib import Path

from lro_conformance import profile as profiles
from lro_conformance.engine.run import certify
from lro_conformance.judging.verdicts import Verdict
from tests.support.paths import ROOT

SERVER = """\
import sys
sys.path.insert(0, {root!r})
from tests.servers.plain import Server

class GrowsLater(Server):
    def at_detail(self, memory, detail):
        seen = (4 * (self.calls % 2)) if self.settings.threshold == 1 else 10
        return {{**super().at_detail(memory, detail), "x_seen": "." * seen}}

GrowsLater().serve()
"""
"""A server whose records differ by 0 or 4 characters at the lowest threshold, and are 6 longer at any other."""


def test_a_result_that_is_larger_than_the_largest_compared_one_is_not_blamed(tmp_path: Path) -> None:
    (tmp_path / "server.py").write_text(SERVER.format(root=str(ROOT)))
    path = tmp_path / "lro.yaml"
    path.write_text(f"server: {{command: [{sys.executable}, -I, -S, {tmp_path / 'server.py'}]}}\n")
    name = "threshold.equal_to_threshold_stays_inline"
    report = certify(profiles.load(path), seed=1, examples=0, only={name})
    (result,) = [c for r in report.requirements for c in r.checks if c.name == name]
    assert result.verdict is Verdict.PASS, result
