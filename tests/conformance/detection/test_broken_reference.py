"""The reference server with one small override each, in eleven groups: blamed for exactly what was broken."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from lro_conformance import profile as profiles
from lro_conformance.engine.run import certify
from lro_conformance.judging.verdicts import Verdict
from tests.servers import reference
from tests.support.paths import ROOT

PROFILE = """\
level: 3
server:
  command: {command}
  env:
    ATLATL_DATA_DIR: ":memory:"
    ATLATL_CONFIG: ""
    ATLATL_DEMO: "true"
    ATLATL_PROMPT__OFFLOAD__CLEANUP_INTERVAL_SECONDS: "3600"
seed: {{tool: store_memory, arguments: {{memory: "$memory"}}}}
cleanup: {{tool: run_custodial_task, arguments: {{task: offload_cleanup}}}}
events: notifications
"""
SAMPLE = "recipe_4_sorts_upwards"
"""The fault that every run of the tests tries, by its own requirement only, which takes one start of the server: in
full it takes half a minute."""


def blamed(name: str, folder: Path, only: set[str] | None = None) -> list[str]:
    requirement, says, _ = reference.FAULTS[name]
    path = folder / "lro.yaml"
    command = json.dumps([sys.executable, reference.__file__, name])
    path.write_text(PROFILE.format(command=command), encoding="utf-8")
    report = certify(profiles.load(path), seed=1, examples=0, only=only)
    assert report.failure is None
    found = {r.requirement.id: r for r in report.requirements if r.verdict >= Verdict.WARN}
    words = (f"{c.expected} {c.observed}" for c in found[requirement].checks if c.verdict >= Verdict.WARN)
    assert any(says in said for said in words)
    return list(found)


def test_the_broken_reference_is_blamed_in_words_that_name_it(tmp_path: Path) -> None:
    requirement, _, _ = reference.FAULTS[SAMPLE]
    assert blamed(SAMPLE, tmp_path, {requirement}) == [requirement]


@pytest.mark.long
@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", reference.FAULTS)
def test_the_broken_reference_is_blamed_for_exactly_that(name: str, tmp_path: Path) -> None:
    requirement, _, _ = reference.FAULTS[name]
    assert blamed(name, tmp_path) == [requirement]


def test_what_is_overridden_is_there() -> None:
    program = "from tests.servers.reference import FAULTS\nfor _, _, change in FAULTS.values(): change()"
    subprocess.run([sys.executable, "-c", program], cwd=ROOT, timeout=60, check=True)


def test_the_faults_are_of_ten_groups_and_more() -> None:
    from lro_spec.catalogue import requirement

    assert len({requirement(id).group for id, _, _ in reference.FAULTS.values()}) >= 10
