"""Certifying servers that mean harm: bounded time and memory, nothing reached or left, and the report stays whole."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from lro_spec.schema.bundled import json_schema
from tests.servers.hostile.catalogue import hostiles
from tests.servers.variants import profile_text
from tests.support.wire_helpers import marked

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")

SECONDS = 60
MEBIBYTES = 700
TRACE = "LRO_TEST_TRACE"
"""An environment variable that everything started here inherits, so that it can be found."""
OUTSIDE = Path("/etc/passwd").read_text(encoding="utf-8").splitlines()[0]
LIMITS = "server:\n  command: [{command}]\n  timeout_s: 2\n  start_timeout_s: 15\n"
MEASURED = """\
import re, sys
from lro_conformance.cli.main import main
from lro_conformance.cli.certify import BUDGETS
BUDGETS["standard"] = 1
code = main(sys.argv[2:])
with open(sys.argv[1], "w") as file:
    file.write(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1])
sys.exit(code)
"""
ALWAYS = {
    *("evil_last_words", "kills_its_group", "half_a_line", "removes_its_folder"),
    *("many_lines", "names_the_user_database", "vast_line_schema", "nested_input_schema"),
}
"""Tried in every run of the tests, as most take a second of one core; all of them, with --long, take six minutes. Deep
results, lines and schemas, and integers of hundreds of digits, are given to the parsers alone each time."""


@dataclass
class Ended:
    """One certification that ended."""

    code: int
    out: str
    err: str
    text: str
    """The JSON report as it was written."""
    seconds: float
    mebibytes: float

    @property
    def report(self) -> dict[str, Any]:
        return json.loads(self.text)


@dataclass
class Cell:
    """Where a hostile server is let loose, and where it would show what it reached."""

    folder: Path
    trace: str
    network: socket.socket

    def certify(self, name: str, *options: str, older: Path | None = None) -> Ended:
        """`lro certify` in a process of its own, whose memory is measured."""
        one = hostiles()[name]
        sections = LIMITS + one.profile
        (self.folder / "work" / "lro.yaml").write_text(profile_text(name, sections), encoding="utf-8")
        port = self.network.getsockname()[1]
        environment = {
            **os.environ,
            TRACE: self.trace,
            "TMPDIR": str(self.folder / "tmp"),
            "HOME": str(self.folder / "home"),
            "XDG_CACHE_HOME": str(self.folder / "cache"),  # the suite notes there what failed
            "LRO_TEST_OWNED": str(self.folder / "home" / "owned"),
            "LRO_TEST_NETWORK": f"http://127.0.0.1:{port}",
            "LRO_TEST_OLDER_FILE": str(older or ""),
        }
        measure, report = self.folder / "rss", self.folder / "report.json"
        argv = [sys.executable, "-c", MEASURED, str(measure)]
        argv += ["certify", "--seed", "1", "-v", "--json", str(report), *options]
        begun = time.monotonic()
        with subprocess.Popen(
            argv, env=environment, cwd=self.folder / "work", stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as suite:
            try:
                out, err = suite.communicate(timeout=2 * SECONDS)
            except subprocess.TimeoutExpired:
                suite.kill()
                out, err = suite.communicate(timeout=30)
        seconds = time.monotonic() - begun
        text = report.read_text(encoding="utf-8") if report.exists() else "{}"
        rss = int(measure.read_text()) / 1024 if measure.exists() else 0.0
        return Ended(suite.returncode, out.decode(), err.decode(), text, seconds, rss)

    def processes(self) -> list[str]:
        """The command lines of what was started here and lives."""
        return marked(TRACE, self.trace)

    def strays(self) -> dict[str, list[str]]:
        """What stands where nothing should."""
        found = {name: os.listdir(self.folder / name) for name in ("tmp", "home")}
        found["work"] = [n for n in os.listdir(self.folder / "work") if n != "lro.yaml"]
        return {name: entries for name, entries in found.items() if entries}

    def was_called(self) -> bool:
        """Whether anybody tried to fetch something."""
        try:
            self.network.accept()
        except BlockingIOError:
            return False
        return True


@pytest.fixture
def cell(tmp_path: Path) -> Iterator[Cell]:
    for name in ("tmp", "home", "work"):
        (tmp_path / name).mkdir()
    with socket.create_server(("127.0.0.1", 0)) as network:
        network.setblocking(False)
        yield Cell(tmp_path, f"{os.getpid()}-{time.monotonic_ns()}", network)


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=() if n in ALWAYS else pytest.mark.long) for n in sorted(hostiles())]
)
def test_a_hostile_server_ends_in_a_report_and_reaches_nothing(cell: Cell, name: str) -> None:
    ended = cell.certify(name)
    assert "Traceback" not in ended.out + ended.err
    assert ended.code in (0, 1, 3)
    assert ended.seconds < SECONDS
    assert 0 < ended.mebibytes < MEBIBYTES
    assert defects(ended.report) == []
    assert invalid(ended.report) == []
    assert raw_controls(ended.out + ended.err) == []
    assert raw_controls(ended.text) == []
    assert OUTSIDE not in ended.out + ended.text
    assert not cell.was_called()
    assert cell.strays() == {}
    assert cell.processes() == []


def test_a_file_that_is_older_than_the_run_is_never_removed(cell: Cell) -> None:
    older = cell.folder / "tmp" / "atlatl-recall-01ARZ3NDEKTSV4RRFFQ69G5FAV.jsonl"
    older.write_text('{"type": "lro_header"}\n', encoding="utf-8")
    os.utime(older, (1_700_000_000, 1_700_000_000))
    cell.certify("claims_an_older_file", "--only", "LRO-CFG-05", older=older)  # where no folder is set
    assert older.exists()


def defects(report: dict[str, Any]) -> list[str]:
    """Checks that ended in the suite's own fault, and a failure that says so."""
    found = [f"{c['name']}: {c['observed']}" for r in report["requirements"] for c in r["checks"]]
    wrong = [text for text, check in zip(found, _checks(report), strict=True) if check["verdict"] == "error"]
    return wrong + [text for text in [report["failure"] or ""] if "the suite failed" in text]


def _checks(report: dict[str, Any]) -> list[dict[str, Any]]:
    return [c for r in report["requirements"] for c in r["checks"]]


def invalid(report: dict[str, Any]) -> list[str]:
    """Why a report is not one."""
    from jsonschema import Draft202012Validator

    validator: Any = Draft202012Validator(json_schema("report"))
    return [e.message[:200] for e in validator.iter_errors(report)]


def raw_controls(text: str) -> list[str]:
    """The characters of a text that a terminal or a reader could be fooled by."""
    return sorted({repr(c) for c in text if c != "\n" and unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp")})
