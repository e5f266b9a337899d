"""Scripts for faults that only a later event of a process shows: they repeat what the process did before."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from lro_conformance import profile as profiles
from lro_conformance.engine.run import certify
from lro_conformance.judging.results import CheckResult
from tests.servers import later_events
from tests.servers.variants import PROFILE, command

OWN = Path(later_events.__file__)
FAILED = '"event": "OffloadWriteFailed"'
WARNING = "results are truncated"

Shows = Callable[[str, str], bool]
"""Whether the output of a script, on stdout and on stderr, shows the failure."""


def _answers(stdout: str) -> list[str]:
    return [line for line in stdout.splitlines() if '"result"' in line and '"content"' in line]


def _left_after_cleanup(stdout: str, stderr: str) -> bool:
    return "-search-" in stdout.rpartition("total ")[2]


FAULTS: dict[str, tuple[str, str, Shows]] = {
    "announces_only_its_first_failure": (
        "LRO-ERR-04",
        "of each server process",
        lambda stdout, stderr: stderr.count(FAILED) < stdout.count(WARNING) // 2,
    ),
    "warns_only_twice": (
        "LRO-ERR-03",
        "no warning",
        lambda stdout, stderr: WARNING not in _answers(stdout)[-1],
    ),
    "breaker_opens_at_the_fourth_failure": (
        "LRO-ERR-06",
        "inline",
        lambda stdout, stderr: '\\"offloaded\\": true' not in _answers(stdout)[-1],
    ),
    "forgets_its_third_file": ("LRO-CLN-01", "1 of 4 still there", _left_after_cleanup),
    "deletes_a_file_at_every_run": (
        "LRO-CLN-03",
        "was deleted",
        lambda stdout, stderr: stdout.rpartition("total ")[2].count("-recall-") < 4,
    ),
    "recall_defaults_to_the_level_last_used": (
        "LRO-DET-02",
        "differs from its form at light",
        lambda stdout, stderr: '"detail": "light"' not in stdout,
    ),
    "header_estimate_grows_with_every_call": (
        "LRO-FILE-13",
        "E = ",
        lambda stdout, stderr: len({s.partition(",")[0] for s in stdout.split('"estimated_tokens": ')[1:]}) > 1,
    ),
}


def _blamed(folder: Path, name: str, requirement: str) -> CheckResult:
    start = [sys.executable, "-I", "-S", str(OWN), name] if hasattr(later_events, name) else command(name)
    path = folder / "lro.yaml"
    path.write_text(PROFILE.format(command=f"{start}".replace("'", '"')), encoding="utf-8")
    report = certify(profiles.load(path), seed=1, examples=0, only={requirement})
    (found,) = (r for r in report.requirements if r.requirement.id == requirement)
    return next(check for check in found.checks if check.reproduce)


def _ran(script: str) -> tuple[str, str]:
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=120, check=False)
    return done.stdout, done.stderr


EACH_TIME = {"announces_only_its_first_failure", "forgets_its_third_file", "recall_defaults_to_the_level_last_used"}
"""One that fails to write, one that cleans up, one that is only called; `--long` tries all."""


@pytest.mark.parametrize("name", [pytest.param(n, marks=() if n in EACH_TIME else pytest.mark.long) for n in FAULTS])
def test_a_script_shows_what_only_a_later_event_does(tmp_path: Path, name: str) -> None:
    """Against the faulty server it shows the failure, and against the sound one it does not."""
    requirement, says, shows = FAULTS[name]
    check = _blamed(tmp_path, name, requirement)
    assert says in check.observed
    # Its pauses are some seconds long, within which a busy machine may not have got so far.
    assert any(shows(*_ran(check.reproduce)) for _ in range(3))
    sound = check.reproduce.replace(f"{OWN} {name}", f"{OWN} sound").replace(f"run.py {name}", "run.py")
    assert sound != check.reproduce
    assert not shows(*_ran(sound))
