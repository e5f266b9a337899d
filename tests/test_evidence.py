"""Evidence: what a run observed is kept, and judged again without a server to the same report."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import pytest

from lro_conformance import profile as profiles
from lro_conformance.engine import certify, judge_again
from lro_conformance.evidence.layout import EvidenceError
from lro_conformance.evidence.reader import read
from lro_conformance.report.model import Report
from lro_conformance.verdicts import Verdict
from tests.servers.variants import profile_text

FAULT = "offloads_at_equal_threshold"


def _certified(
    folder: Path, name: str, sections: str = "", *, only: set[str] | None = None, examples: int = 0
) -> Report:
    profile = folder / "lro.yaml"
    profile.write_text(profile_text(name, sections), encoding="utf-8")
    return certify(profiles.load(profile), seed=1, jobs=2, only=only, examples=examples, evidence=folder / "evidence")


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Report]:
    """A whole run against a server with one fault."""
    folder = tmp_path_factory.mktemp("recorded")
    return folder / "evidence", _certified(folder, FAULT, examples=2)


def _refused(*_: object, **__: object) -> None:
    raise AssertionError("a judgement looked at this machine")


def test_the_same_report_comes_of_evidence_alone(
    recorded: tuple[Path, Report], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing but the folder is looked at: no path of the recorded run, no process, no clock, no time zone."""
    folder, report = recorded
    assert [r.requirement.id for r in report.requirements if r.verdict is Verdict.FAIL] == ["LRO-THR-07"]
    stored = read(folder)
    for module, names in (
        (os.path, ("realpath",)),
        (os, ("stat", "lstat", "scandir", "listdir", "access", "open")),
        (subprocess, ("Popen", "run")),
        (shutil, ("which",)),
        (tempfile, ("gettempdir",)),
        (time, ("time",)),
    ):
        for name in names:
            monkeypatch.setattr(module, name, _refused)
    again = judge_again(stored)
    monkeypatch.undo()
    assert again.to_dict() == report.to_dict()
    assert json.loads((folder / "report.json").read_text()) == report.to_dict()


def test_a_server_that_does_not_start_is_evidence_too(tmp_path: Path) -> None:
    """Why there is no verdict is kept, with the words of the server."""
    sections = 'server: {command: [sh, -c, "echo out of luck >&2; exit 7"]}'
    report = _certified(tmp_path, "", sections)
    again = judge_again(read(tmp_path / "evidence"))
    assert "exited with code 7" in (again.failure or "")
    assert "out of luck" in (again.failure or "")
    assert again.to_dict() == report.to_dict()


def _damaged(folder: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(folder, tmp_path / "copy"))


@pytest.mark.parametrize("name", ["calls.jsonl", "trials/survey.json", "servers/0001/transcript.jsonl", "report.json"])
def test_changed_evidence_is_refused(recorded: tuple[Path, Report], tmp_path: Path, name: str) -> None:
    """One byte that is another, or the end cut off: the line names the file."""
    copy = _damaged(recorded[0], tmp_path)
    data = (copy / name).read_bytes()
    for wrong in (data.replace(b"1", b"2", 1), data[:-2]):
        (copy / name).write_bytes(wrong)
        with pytest.raises(EvidenceError, match=f"{name}: not as it was recorded"):
            read(copy)
    (copy / name).unlink()
    with pytest.raises(EvidenceError, match=f"{name}: part of the evidence, but No such file"):
        read(copy)


def test_changed_contents_are_refused(recorded: tuple[Path, Report], tmp_path: Path) -> None:
    """A file that the server wrote is named by its own checksum."""
    copy = _damaged(recorded[0], tmp_path)
    for path in (copy / "files").iterdir():
        path.write_bytes(path.read_bytes() + b" ")
    with pytest.raises(EvidenceError, match="not as it was recorded"):
        read(copy)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "no JSON"),
        ("[]", "expected format lro-evidence/1"),
        ('{"format": "lro-evidence/9", "complete": true}', "got 'lro-evidence/9'"),
        ('{"format": "lro-evidence/1", "complete": false}', "incomplete"),
        ('{"format": "lro-evidence/1", "complete": true}', "'checksums' is missing"),
        ('{"format": "lro-evidence/1", "complete": true, "checksums": {"../../etc/passwd": "0"}}', "lies outside"),
    ],
)
def test_a_wrong_manifest_is_one_line(tmp_path: Path, text: str, said: str) -> None:
    """Whatever stands in it, there is a sentence and no traceback."""
    (tmp_path / "evidence.json").write_text(text)
    with pytest.raises(EvidenceError, match=said) as refused:
        read(tmp_path)
    assert "\n" not in str(refused.value)
