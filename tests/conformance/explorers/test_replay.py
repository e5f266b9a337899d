"""A seed replays a run: the same sequences are tried, and a violation is reduced to the same calls as before."""

from __future__ import annotations

from pathlib import Path

from lro_conformance import profile as profiles
from lro_conformance.engine.run import certify
from lro_conformance.judging.results import CheckResult
from tests.servers.variants import profile_text


def _failure(folder: Path, seed: int) -> CheckResult:
    """The check that fails a server that trims contents."""
    path = folder / "lro.yaml"
    path.write_text(profile_text("trims_contents"), encoding="utf-8")
    report = certify(profiles.load(path), seed=seed, only={"file.values_are_untouched"})
    ((check,),) = (r.checks for r in report.requirements if r.checks)
    return check


def test_a_seed_replays_the_shrunk_violation_to_the_letter(tmp_path: Path) -> None:
    first, again = _failure(tmp_path, 11), _failure(tmp_path, 11)
    assert (first.expected, first.observed) == (again.expected, again.observed)
    memory = first.evidence.splitlines()[0]
    assert memory == again.evidence.splitlines()[0]
    assert memory.startswith("memory: ")
    assert "store_memory" in first.reproduce
