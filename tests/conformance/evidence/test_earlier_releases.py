"""Evidence of earlier releases: it is judged as it was, `lro validate` agrees, and words decide nothing.

That words decide nothing, and that `lro validate` agrees, is tried each time on the evidence of a fault, on the rest
with ``--long``.
"""

from __future__ import annotations

import json
import shutil
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from lro_conformance.capture.overall import OVERALL
from lro_conformance.engine.judgement import judge_again
from lro_conformance.evidence.reader import Stored, read
from lro_conformance.judging.check import Subjects
from lro_conformance.judging.results import Report
from lro_conformance.trials import trials
from lro_spec.findings import Finding
from tests.support.agreement import disagreements
from tests.support.paths import DATA, ROOT

ARCHIVES = sorted((DATA / "evidence").glob("*.tar.xz"))


@dataclass(frozen=True)
class Recorded:
    """Evidence in an archive, and what is made of it today."""

    folder: Path
    stored: Stored
    report: Report


@pytest.fixture(scope="module", params=ARCHIVES, ids=lambda path: path.name)
def recorded(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    folder = tmp_path_factory.mktemp("recorded")
    shutil.unpack_archive(request.param, folder)
    stored = read(folder)
    return Recorded(folder, stored, judge_again(stored))


of_a_fault = pytest.mark.parametrize(
    "recorded",
    [
        pytest.param(path, id=path.name, marks=pytest.mark.long if "offloads_at" not in path.name else ())
        for path in ARCHIVES
    ],
    indirect=True,
)


def test_evidence_of_earlier_releases_is_judged_as_it_was(recorded: Recorded) -> None:
    """Every release reads the recordings of earlier ones, and comes to the same verdicts and levels.

    A requirement that no check judged then may be judged now.
    """
    then = json.loads((recorded.folder / "report.json").read_text())
    now = {r.requirement.id: r.verdict.label for r in recorded.report.requirements}
    judged = {r["id"]: r["verdict"] for r in then["requirements"] if r["checks"]}
    assert {id: now[id] for id in judged} == judged
    assert recorded.report.to_dict()["level"] == then["level"]


@of_a_fault
def test_recorded_documents_are_judged_alike(recorded: Recorded, tmp_path: Path) -> None:
    assert list(disagreements(recorded.stored, recorded.report, tmp_path)) == []


@of_a_fault
def test_other_words_leave_verdicts_and_counts(recorded: Recorded, monkeypatch: pytest.MonkeyPatch) -> None:
    made, expect = Finding.__init__, Subjects.expect

    def mute(
        self: Finding, rule: Any, kind: Any, pointer: Any, message: Any, expected: Any, observed: Any, hint: Any = "",
        *rest: Any, **others: Any
    ) -> None:  # fmt: skip
        made(self, rule, kind, pointer, "word", "word", "word", "word", *rest, **others)

    def mute_expect(self: Subjects, holds: bool, *, expected: str, observed: str, subject: object = None) -> bool:
        return expect(self, holds, expected="word", observed="word", subject=subject)

    monkeypatch.setattr(Finding, "__init__", mute)
    monkeypatch.setattr(Subjects, "expect", mute_expect)
    muted = judge_again(read(recorded.folder))  # read anew: what is read keeps the findings that were made of it
    assert counted(muted) == counted(recorded.report)


def counted(report: Report) -> list[Any]:
    return [(c.name, c.verdict, c.subjects, c.erratum) for r in report.requirements for c in r.checks]


def test_this_release_has_evidence_of_every_trial(tmp_path: Path) -> None:
    """Each release adds a recording of its own, and none of its trials is without one."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert ARCHIVES[-1].name.startswith(f"{project['version']}-")
    assert [p.name for p in ARCHIVES if p.stat().st_size > 250_000] == []
    shutil.unpack_archive(ARCHIVES[-1], tmp_path)
    assert {p.stem for p in (tmp_path / "trials").iterdir()} >= {*trials(), OVERALL}
