"""A seed replays a run: the same sequences are tried, and a violation is reduced to the same calls as before."""

from __future__ import annotations

import gc
from pathlib import Path

import pytest

from lro_conformance import profile as profiles
from lro_conformance.engine.run import certify
from lro_conformance.explorers.explorer import Explorer
from lro_conformance.judging.results import CheckResult
from tests.servers.variants import profile_text


def _failure(folder: Path, seed: int) -> CheckResult:
    """The check that fails a server that trims contents."""
    path = folder / "lro.yaml"
    path.write_text(profile_text("trims_contents"), encoding="utf-8")
    report = certify(profiles.load(path), seed=seed, only={"file.values_are_untouched"})
    ((check,),) = (r.checks for r in report.requirements if r.checks)
    return check


@pytest.fixture(scope="module")
def twice(tmp_path_factory: pytest.TempPathFactory) -> tuple[CheckResult, CheckResult]:
    """Failing checks of two runs with the same seed."""
    folder = tmp_path_factory.mktemp("replay")
    return _failure(folder, 11), _failure(folder, 11)


def test_a_seed_replays_the_shrunk_violation_to_the_letter(twice: tuple[CheckResult, CheckResult]) -> None:
    first, again = twice
    assert (first.expected, first.observed) == (again.expected, again.observed)
    memory = first.evidence.splitlines()[0]
    assert memory == again.evidence.splitlines()[0]
    assert memory.startswith("memory: ")
    assert "store_memory" in first.reproduce


def test_nothing_of_an_exploration_stays_in_memory(twice: tuple[CheckResult, CheckResult]) -> None:
    """Hypothesis keeps the classes of its machines; what these refer to would be all of a run."""
    assert twice
    gc.collect()
    assert not [one for one in gc.get_objects() if type(one) is Explorer]
