"""Results that came inline because the server could not write them, though nothing was done to prevent it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from lro_conformance import profile as profiles
from lro_conformance.engine.run import certify
from lro_conformance.judging.results import Report
from lro_conformance.judging.verdicts import Verdict
from lro_conformance.report.exit_code import EXIT_NO_VERDICT, exit_code
from tests.servers import broken
from tests.servers.variants import PROFILE


def report(folder: Path, which: str) -> Report:
    """The report on a server whose writes fail: all, those of an operation, or those from so many bytes on."""
    run = Path(broken.__file__).parent / "run.py"
    words = ", ".join(f'"{w}"' for w in (sys.executable, "-I", "-S", str(run), "CannotWrite", which))
    path = folder / "lro.yaml"
    path.write_text(PROFILE.format(command=f"[{words}]"), encoding="utf-8")
    return certify(profiles.load(path), seed=1, examples=0)


def test_a_server_that_can_write_nothing_has_no_verdict(tmp_path: Path) -> None:
    found = report(tmp_path, "all")
    assert exit_code(found) == EXIT_NO_VERDICT
    assert "proved" not in found.levels.values()
    assert "which the server says it could not write" in (found.failure or "")
    assert "Offloading failed (No space left on device)" in (found.failure or "")
    assert "give it a folder with free space" in (found.failure or "")


@pytest.mark.parametrize("which", ["later", *(pytest.param(w, marks=pytest.mark.long) for w in ("recall", "20000"))])
def test_what_could_not_be_written_is_not_observed(tmp_path: Path, which: str) -> None:
    """Neither is the server accused, nor does its warning earn it a level. `--long` tries two other kinds, too."""
    found = report(tmp_path, which)
    assert [r.requirement.id for r in found.requirements if r.verdict is Verdict.FAIL] == []
    assert found.levels == {1: "unproved", 2: "unproved", 3: "unproved"}
    unseen = {r.requirement.id: r.reason for r in found.requirements if any(c.hindered for c in r.checks)}
    assert unseen
    assert all("could not write the result of " in reason for reason in unseen.values())
