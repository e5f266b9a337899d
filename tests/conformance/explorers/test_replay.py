"""A seed replays a run: the same sequences are tried, and a violation is reduced to the same calls as before."""

from __future__ import annotations

import gc
import json
import subprocess
from pathlib import Path

import pytest

from lro_conformance import profile as profiles
from lro_conformance.engine.judgement import judge_again
from lro_conformance.engine.run import certify
from lro_conformance.evidence.reader import read
from lro_conformance.explorers.explorer import Explorer
from lro_conformance.judging.results import CheckResult, Report
from lro_spec.messages import find_descriptor
from tests.servers.variants import profile_text

EXPLORED = 5
"""Number of sequences that are enough to find the violation."""


def _report(folder: Path) -> Report:
    """The report on a server that trims contents, with its evidence beside it."""
    folder.mkdir()
    path = folder / "lro.yaml"
    path.write_text(profile_text("trims_contents"), encoding="utf-8")
    return certify(
        profiles.load(path),
        seed=11,
        only={"file.values_are_untouched"},
        examples=EXPLORED,
        evidence=folder / "evidence",
    )


def _failure(report: Report) -> CheckResult:
    ((check,),) = (r.checks for r in report.requirements if r.checks)
    return check


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("replay")


@pytest.fixture(scope="module")
def twice(folder: Path) -> tuple[Report, Report]:
    """The reports of two runs with the same seed."""
    return _report(folder / "first"), _report(folder / "again")


def test_a_seed_replays_the_shrunk_violation_to_the_letter(twice: tuple[Report, Report]) -> None:
    first, again = map(_failure, twice)
    assert (first.expected, first.observed) == (again.expected, again.observed)
    memory = first.evidence.splitlines()[0]
    assert memory == again.evidence.splitlines()[0]
    assert memory.startswith("memory: ")
    assert "store_memory" in first.reproduce


def test_a_violation_is_shown_by_the_shortest_sequence(twice: tuple[Report, Report]) -> None:
    """The memory that it takes is stored first, and no other; then the call."""
    script = _failure(twice[0]).reproduce
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=60, check=False)
    said = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    assert 1 <= script.count('"store_memory"') <= 2
    assert find_descriptor(said[-1]["result"]) is not None


@pytest.mark.long
def test_what_an_earlier_call_has_cached_is_shown_by_both_calls(tmp_path: Path) -> None:
    """In a process that has cached it already, the second one alone would violate the requirement."""
    path = tmp_path / "lro.yaml"
    path.write_text(profile_text("writes_a_memory_as_it_was_at_first"), encoding="utf-8")
    failure = _failure(certify(profiles.load(path), seed=1, only={"file.values_are_untouched"}))
    script = failure.reproduce.replace("head -n 2", "cat")
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=60, check=False)
    lines = [line.removeprefix("  ") for line in done.stdout.splitlines() if line.startswith('  {"id"')]
    assert len(lines) == 2 == script.count('"store_memory"')
    assert lines[0] == lines[1]


def test_its_evidence_is_judged_to_the_same_report(twice: tuple[Report, Report], folder: Path) -> None:
    assert judge_again(read(folder / "first" / "evidence")).to_dict() == twice[0].to_dict()


def test_nothing_of_an_exploration_stays_in_memory(twice: tuple[Report, Report]) -> None:
    """Hypothesis keeps the classes of its machines; what these refer to would be all of a run."""
    assert twice
    gc.collect()
    assert not [one for one in gc.get_objects() if type(one) is Explorer]


def test_the_script_of_a_long_session_has_its_calls_answered(tmp_path: Path) -> None:
    """It makes the same call again and again, with another id each time, and counts the files."""
    path = tmp_path / "lro.yaml"
    path.write_text(profile_text("uses_names_again_in_a_long_session"), encoding="utf-8")
    name = "naming.names_of_a_long_session_differ"
    script = _failure(certify(profiles.load(path), seed=1, examples=1, only={name})).reproduce
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=60, check=False)
    assert 200 < int(done.stdout.splitlines()[-1]) < 250, done.stderr
