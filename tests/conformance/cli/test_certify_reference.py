"""`lro certify -- lro serve` as a user runs it: proved wherever it is run, and nothing touched or left behind.

Each whole run is made once and looked at from all sides: one in a folder that is full of traps, one without any program
on the PATH.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator, FormatChecker

from lro_spec.schema.bundled import json_schema
from tests.support.frozen import BASE, as_frozen, frozen_standings, standing
from tests.support.wire_helpers import eventually

pytestmark = pytest.mark.timeout(400)

SCRIPT = Path(sys.executable).with_name("lro")
LRO = [str(SCRIPT)] if SCRIPT.exists() else [sys.executable, "-P", "-m", "lro_conformance"]
TAG = "LRO_TEST_OF_LEFTOVERS"
TRAP = "raise SystemExit('this folder is not ours to import from')\n"
TRAPS = {
    "conftest.py": TRAP,
    "sitecustomize.py": TRAP,
    "json.py": TRAP,
    "click.py": TRAP,
    "lro_spec.py": TRAP,
    "mcp.py": TRAP,
    "test_trap.py": TRAP,
    "pytest.ini": "[pytest]\naddopts = --bogus\n",
    "setup.cfg": "[tool:pytest]\naddopts = --bogus\n[metadata\n",
    "tox.ini": "[pytest]\naddopts = --bogus\n",
    "pyproject.toml": "this is = not [toml\n",
}


class Place:
    """A user's machine in small: a working directory, a home with data in it, a temporary folder, an environment."""

    def __init__(self, root: Path, path: str) -> None:
        self.here, self.home, self.temp = root / "here", root / "home", root / "temp"
        for folder in (self.here, self.home, self.temp):
            folder.mkdir(parents=True)
        self.data = self.home / ".local" / "share" / "lro-reference"
        self.data.mkdir(parents=True)
        (self.data / "memories.db").write_bytes(b"what somebody remembers")
        self.tag = uuid.uuid4().hex
        self.environment = {
            TAG: self.tag,
            "HOME": str(self.home),
            "XDG_DATA_HOME": str(self.home / ".local" / "share"),
            "TMPDIR": str(self.temp),
            "PATH": path,
            "PYTEST_ADDOPTS": "--bogus",
            "PYTEST_PLUGINS": "no_such_plugin",
            "ATLATL_DATA_DIR": str(self.data),
            "ATLATL_CONFIG": str(self.home / "no-such.toml"),
            "ATLATL_PROMPT__OFFLOAD__THRESHOLD_TOKENS": "99",
            "ATLATL_PROMPT__OFFLOAD__ENABLED": "false",
            **{name: os.environ[name] for name in ("LANG", "LC_ALL") if name in os.environ},
        }
        if path := os.environ.get("PYTHONPATH"):  # where the package is not installed; a relative one would mean a trap
            absolute = [os.path.abspath(entry) for entry in path.split(os.pathsep) if entry]
            self.environment["PYTHONPATH"] = os.pathsep.join(absolute)

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [*LRO, *arguments],
            cwd=self.here,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def processes(self) -> list[int]:
        """What lives of all that was started from here."""
        needle = f"{TAG}={self.tag}".encode()
        found: list[int] = []
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                try:
                    environment = (entry / "environ").read_bytes()
                except OSError:
                    continue
                if needle in environment.split(b"\0"):
                    found.append(int(entry.name))
        return found

    def home_files(self) -> dict[str, bytes]:
        return {str(p.relative_to(self.home)): p.read_bytes() for p in self.home.rglob("*") if p.is_file()}


@dataclass(frozen=True)
class Finished:
    place: Place
    code: int
    out: str
    err: str
    report: dict[str, Any]

    @property
    def verdicts(self) -> dict[str, str]:
        """Everything that a run decides, by name."""
        checks = {c["name"]: c["verdict"] for r in self.report["requirements"] for c in r["checks"]}
        requirements = {r["id"]: r["verdict"] for r in self.report["requirements"]}
        levels = {f"level {n}": v for n, v in self.report["level"].items()}
        return {**checks, **requirements, **levels, "hardening": self.report["hardening"]}


def certified(place: Place, *options: str) -> Finished:
    report = ("--json", str(place.here / "report.json"))
    process = place.start("certify", "--plain", *options, *report, "--", "lro", "serve")
    out, err = process.communicate(timeout=300)
    written = place.here / "report.json"
    assert written.exists(), out + err
    return Finished(place, process.returncode, out, err, json.loads(written.read_bytes()))


@pytest.fixture(scope="module")
def among_traps(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Finished:
    """Explored less each time than with `--long`."""
    place = Place(tmp_path_factory.mktemp("traps"), "/usr/bin:/bin")
    for name, text in TRAPS.items():
        (place.here / name).write_text(text, encoding="utf-8")
    return certified(place, *(() if request.config.getoption("--long") else ("--budget", "quick")))


@pytest.fixture(scope="module")
def without_programs(tmp_path_factory: pytest.TempPathFactory) -> Finished:
    root = tmp_path_factory.mktemp("bare")
    (root / "no-programs").mkdir()
    assert shutil.which("jq", path=str(root / "no-programs")) is None
    return certified(Place(root, str(root / "no-programs")))


# .ci/run certifies the plain server and parts of this one from the wheel without programs, so that a second whole run
# of this one is left to `--long`.
@pytest.fixture(params=["among_traps", pytest.param("without_programs", marks=pytest.mark.long)])
def finished(request: pytest.FixtureRequest) -> Finished:
    return request.getfixturevalue(request.param)


def test_level_3_is_proved(finished: Finished):
    assert finished.code == 0, finished.out + finished.err
    assert finished.report["level"] == {"claimed": 3, "achieved": 3, "1": "proved", "2": "proved", "3": "proved"}
    assert "Level 3         proved" in finished.out.splitlines()


def test_everything_judged_passes_without_a_warning(finished: Finished):
    verdicts = {r["id"]: r["verdict"] for r in finished.report["requirements"]}
    assert {id: v for id, v in verdicts.items() if v not in ("pass", "not-applicable", "not-judged")} == {}
    assert finished.report["hardening"] == "pass"
    assert finished.err == ""


def test_it_is_judged_as_it_was(finished: Finished):
    then = frozen_standings()[BASE[1]]
    now = as_frozen(standing(finished.report), BASE[1])
    assert now == then


def test_report_is_valid(finished: Finished):
    assert finished.report["requirements"]
    problems = Draft202012Validator(json_schema("report"), format_checker=FormatChecker()).iter_errors(finished.report)
    assert [p.message for p in problems] == []


def test_folder_is_as_it_was(finished: Finished):
    expected = TRAPS if (finished.place.here / "conftest.py").exists() else {}
    found = {p.name: p.read_text(encoding="utf-8") for p in finished.place.here.iterdir() if p.name != "report.json"}
    assert found == expected


def test_data_of_the_user_is_as_it_was(finished: Finished):
    assert finished.place.home_files() == {".local/share/lro-reference/memories.db": b"what somebody remembers"}


def test_no_file_and_no_process_is_left(finished: Finished):
    assert list(finished.place.temp.iterdir()) == []
    assert finished.place.processes() == []


@pytest.mark.long
def test_verdicts_are_the_same_again(among_traps: Finished, without_programs: Finished):
    assert len(among_traps.verdicts) > 100
    assert among_traps.verdicts == without_programs.verdicts


@pytest.mark.long
@pytest.mark.timeout(3600)
def test_verdicts_are_the_same_twenty_times(tmp_path: Path, among_traps: Finished):
    for number in range(19):
        again = certified(Place(tmp_path / str(number), "/usr/bin:/bin"))
        assert again.verdicts == among_traps.verdicts, f"run {number + 2}, seed {again.report['seed']}"


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="processes are found by their environment in /proc")
@pytest.mark.parametrize(
    ("stop", "code"),
    [
        (lambda process: process.send_signal(signal.SIGINT), 130),
        (lambda process: process.send_signal(signal.SIGTERM), -signal.SIGTERM),
        (lambda process: process.kill(), -signal.SIGKILL),
    ],
    ids=["SIGINT", "SIGTERM", "SIGKILL"],
)
def test_nothing_is_left_of_a_run_that_is_stopped(
    tmp_path: Path, stop: Callable[[subprocess.Popen[str]], None], code: int
):
    place = Place(tmp_path, "/usr/bin:/bin")
    with place.start("certify", "--plain", "-v", "--", "lro", "serve") as process:
        assert process.stderr is not None
        assert process.stderr.readline().startswith("trial survey")
        # two trials at least are under way now, each with a server of its own beside the survey's
        assert eventually(lambda: len(place.processes()) >= 3, 30)
        assert any(place.temp.iterdir())
        stop(process)
        process.communicate(timeout=60)
    assert process.returncode == code
    assert eventually(lambda: place.processes() == [] and list(place.temp.iterdir()) == [], 30), place.processes()
    assert place.home_files() == {".local/share/lro-reference/memories.db": b"what somebody remembers"}
