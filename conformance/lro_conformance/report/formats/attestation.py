"""The report as an in-toto attestation: a test result for an artifact, to be signed."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lro_conformance.errors import UsageError
from lro_conformance.judging.results import Report
from lro_conformance.judging.verdicts import Verdict
from lro_conformance.report.exit_code import EXIT_OK, exit_code
from lro_conformance.report.formats.json import dump, to_json
from lro_conformance.report.sanitize import one_line
from lro_conformance.report.view import applicable_extensions

STATEMENT = "https://in-toto.io/Statement/v1"
PREDICATE = "https://in-toto.io/attestation/test-result/v0.1"

_DIGEST = re.compile(r"(?P<name>.+)@sha256:(?P<digest>[0-9a-f]{64})", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Subject:
    """An artifact and its digest."""

    name: str
    sha256: str


def subject(artifact: str) -> Subject:
    """Resolve an artifact: a file, or ``NAME@sha256:HEX`` for an image or anything else that is not a file.

    Raises `UsageError` if *artifact* is neither.
    """
    by_digest = _DIGEST.fullmatch(artifact)
    if by_digest is not None:
        return Subject(by_digest["name"], by_digest["digest"].lower())
    try:
        with Path(artifact).open("rb") as file:
            return Subject(Path(artifact).name, hashlib.file_digest(file, "sha256").hexdigest())
    except OSError as problem:
        raise UsageError(f"--subject {artifact}: {problem.strerror}; expected a file, or NAME@sha256:HEX") from None


def to_attestation(report: Report, subjects: Sequence[Subject]) -> str:
    """A statement of type ``test-result`` about *subjects*, as JSON.

    If `lro certify` does not exit with 0, the result is ``FAILED``. If it exits with 0, the result is ``WARNED`` if
    there is a warning, or a check that is accepted by the baseline. Otherwise the result is ``PASSED``.

    Tests are the requirements (by id), the levels (``lro-6400/level-2``) and the applicable extensions
    (``lro-6400/proxy``). They are listed as passed, warned or failed; an *error* of the suite is listed as failed, too.
    Tests with any other verdict, such as *not-observed*, *attested* or *unproved*, are in none of the three lists.
    """
    tests: dict[Verdict, list[str]] = {Verdict.PASS: [], Verdict.WARN: [], Verdict.FAIL: []}
    for result in report.requirements:
        verdict = Verdict.FAIL if result.verdict is Verdict.ERROR else result.verdict
        if verdict in tests:
            tests[verdict].append(result.requirement.id)
    if report.failure is None:
        for number, level in report.levels.items():
            if level in ("proved", "failed"):
                tests[Verdict.PASS if level == "proved" else Verdict.FAIL].append(f"{report.edition}/level-{number}")
        groups = [(name, Verdict.of(label)) for name, label in applicable_extensions(report).items()]
        for name, verdict in groups:
            if verdict in tests:
                tests[verdict].append(f"{report.edition}/{name}")
    holds = exit_code(report) == EXIT_OK
    has_warnings = tests[Verdict.WARN] or any(a.state == "accepted" for a in report.baseline)
    return dump(
        {
            "_type": STATEMENT,
            "subject": [{"name": one_line(s.name), "digest": {"sha256": s.sha256}} for s in subjects],
            "predicateType": PREDICATE,
            "predicate": {
                "result": ("WARNED" if has_warnings else "PASSED") if holds else "FAILED",
                "configuration": list(_configuration(report)),
                "passedTests": tests[Verdict.PASS],
                "warnedTests": tests[Verdict.WARN],
                "failedTests": tests[Verdict.FAIL],
            },
        }
    )


def _configuration(report: Report) -> list[dict[str, Any]]:
    """Resource descriptors (a term of in-toto) of the suite and of the JSON report. The JSON report has the details,
    and is identified by its digest."""
    digest = hashlib.sha256(to_json(report).encode()).hexdigest()
    annotations = {
        "edition": one_line(report.edition),
        "claimed": report.claimed,
        "achieved": report.achieved,
        "seed": report.seed,
        "startedAt": report.started_at,
        "server": one_line(f"{report.server.name} {report.server.version}".strip()),
    }
    suite = {"name": "lro-spec", "uri": f"pkg:pypi/lro-spec@{report.suite_version}", "annotations": annotations}
    return [suite, {"name": "report.json", "mediaType": "application/json", "digest": {"sha256": digest}}]
