"""Judging is the second half of a run alone: recorded evidence becomes a report, and nothing is started for it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from lro_conformance.engine.judgement import judge_again
from lro_conformance.evidence.reader import read
from lro_conformance.judging.events import CheckJudged, Event, RunFinished, RunStarted
from tests.support.archives import unpack
from tests.support.paths import DATA

RECORDED = sorted((DATA / "evidence").glob("*.tar.xz"), key=lambda path: path.stat().st_size)

JUDGE = """
import json, sys
from lro_conformance.cli.main import main
code = main(["judge", sys.argv[1], "--plain", "--json", sys.argv[2]])
print(json.dumps([code, sorted(sys.modules)]))
"""

DRIVING = (
    *(f"lro_conformance.lab.{name}" for name in ("lab", "bench", "launcher", "handshake", "seeding", "ledger")),
    *(f"lro_conformance.wire.{name}" for name in ("server", "child", "pipes", "exchange", "reaper", "workspace")),
    "lro_conformance.engine.capture",
    "lro_conformance.engine.run",
    "lro_conformance.evidence.recorder",
    "lro_conformance.explorers.machine",
    "lro_conformance.explorers.hypothesis_runner",
    "hypothesis",
)
"""Modules that start or drive servers, or record them."""


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    """The smallest of the recorded runs."""
    unpack(RECORDED[0], tmp_path / "evidence")
    return tmp_path / "evidence"


def test_judging_loads_nothing_that_drives_servers(recorded: Path, tmp_path: Path) -> None:
    out = tmp_path / "report.json"
    done = subprocess.run(
        [sys.executable, "-c", JUDGE, str(recorded), str(out)],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    code, loaded = json.loads(done.stdout.splitlines()[-1])
    assert code in (0, 1)  # one of the recorded servers only warns
    assert json.loads(out.read_text())["server_starts"] > 0
    assert [name for name in loaded if name.startswith(DRIVING)] == []
    assert "lro_conformance.checks.test_threshold" in loaded


def test_every_check_of_the_report_is_announced_and_judging_twice_says_the_same(recorded: Path) -> None:
    events: list[Event] = []
    stored = read(recorded)
    report = judge_again(stored, events.append)
    assert isinstance(events[0], RunStarted)
    assert isinstance(events[-1], RunFinished)
    announced = [event.result.name for event in events if isinstance(event, CheckJudged)]
    judged = {c.name for r in report.requirements for c in r.checks}
    assert len(announced) == len(set(announced))
    assert judged == set(announced)
    assert judge_again(stored).to_dict() == report.to_dict()
