"""The attestation: a statement that in-toto's own library accepts, about the artifact that was tested."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from google.protobuf import json_format
from in_toto_attestation.predicates.test_result.v0 import test_result_pb2
from in_toto_attestation.v1 import statement_pb2
from in_toto_attestation.v1.statement import Statement

from lro_conformance.errors import UsageError
from lro_conformance.judging.results import Report
from lro_conformance.judging.verdicts import Verdict
from lro_conformance.report.formats.attestation import PREDICATE, Subject, subject, to_attestation
from lro_conformance.report.formats.json import to_json
from lro_conformance.report.outputs import FORMATS, Output, Outputs
from tests.support.report_samples import hostile, judged, mixed, report

IMAGE = Subject("registry.test/memories", "a" * 64)


def read(made: Report) -> dict[str, Any]:
    return json.loads(to_attestation(made, [IMAGE]))


@pytest.mark.parametrize("made", [mixed(), hostile(), report(failure="exit code 1")])
def test_is_a_statement_by_the_library_of_in_toto(made: Report):
    statement = json_format.Parse(to_attestation(made, [IMAGE]), statement_pb2.Statement())
    Statement.copy_from_pb(statement).validate()
    assert statement.predicate_type == PREDICATE
    json_format.ParseDict(read(made)["predicate"], test_result_pb2.TestResult())


@pytest.mark.parametrize(
    ("made", "result"),
    [
        (report(judged("LRO-A-01", Verdict.PASS)), "PASSED"),
        (report(judged("LRO-A-01", Verdict.WARN)), "WARNED"),
        (report(judged("LRO-A-01", Verdict.FAIL)), "FAILED"),
        (report(judged("LRO-A-01", Verdict.NOT_OBSERVED), claimed=1, levels={1: "unproved"}, achieved=0), "FAILED"),
        (report(failure="exit code 1"), "FAILED"),
    ],
)
def test_result_is_what_the_exit_code_says(made: Report, result: str):
    assert read(made)["predicate"]["result"] == result


def test_tests_are_requirements_and_levels_and_only_those_with_a_verdict():
    predicate = read(mixed(levels={1: "proved", 2: "failed", 3: "unproved"}))["predicate"]
    assert predicate["passedTests"] == ["LRO-FILE-01", "LRO-FILE-02", "lro-6400/level-1"]
    assert predicate["warnedTests"] == ["LRO-REC-04", "LRO-GUI-03"]
    assert predicate["failedTests"] == ["LRO-FILE-06", "LRO-HARD-01", "lro-6400/level-2"]


def test_holds_the_digest_of_the_report_that_says_more():
    configuration = read(mixed())["predicate"]["configuration"]
    assert configuration[0]["uri"] == "pkg:pypi/lro-spec@0.1.0"
    assert configuration[1]["digest"]["sha256"] == hashlib.sha256(to_json(mixed()).encode()).hexdigest()


def test_a_file_is_known_by_its_digest_and_an_image_by_the_one_that_is_given(tmp_path: Path):
    (tmp_path / "server.whl").write_bytes(b"bytes")
    assert subject(str(tmp_path / "server.whl")) == Subject("server.whl", hashlib.sha256(b"bytes").hexdigest())
    assert subject(f"registry.test/memories@sha256:{'A' * 64}") == IMAGE


@pytest.mark.parametrize("given", ["none.whl", "image@sha256:123", "."])
def test_what_is_neither_is_refused(given: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match=r"--subject .*expected a file, or NAME@sha256:HEX"):
        subject(given)


def test_without_an_artifact_there_is_nothing_to_state():
    form = next(f for f in FORMATS if f.name == "attestation")
    with pytest.raises(UsageError, match=r"--attestation a\.json needs --subject"):
        Outputs((Output(form, "a.json"),)).check()
