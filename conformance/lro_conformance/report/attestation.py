"""The report as an in-toto attestation: a statement about the artifact that was tested, ready to be signed."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lro_conformance.misuse import Misuse
from lro_conformance.report.exits import HOLDS, exit_code
from lro_conformance.report.jsonfile import dumped, to_json
from lro_conformance.report.layout import bound_extensions
from lro_conformance.report.model import Report
from lro_conformance.report.text import one_line
from lro_conformance.verdicts import Verdict

STATEMENT = "https://in-toto.io/Statement/v1"
PREDICATE = "https://in-toto.io/attestation/test-result/v0.1"

_DIGEST = re.compile(r"(?P<name>.+)@sha256:(?P<digest>[0-9a-f]{64})", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Subject:
    """An artifact, by its digest."""

    name: str
    sha256: str


def subject(given: str) -> Subject:
    """The artifact that a user names: a file, or ``NAME@sha256:HEX`` for what is none, like an image.

    Raises `Misuse` when it is neither.
    """
    by_digest = _DIGEST.fullmatch(given)
    if by_digest is not None:
        return Subject(by_digest["name"], by_digest["digest"].lower())
    try:
        with Path(given).open("rb") as file:
            return Subject(Path(given).name, hashlib.file_digest(file, "sha256").hexdigest())
    except OSError as problem:
        raise Misuse(f"--subject {given}: {problem.strerror}; expected a file, or NAME@sha256:HEX") from None


def to_attestation(report: Report, subjects: Sequence[Subject]) -> str:
    """A statement of type ``test-result`` about *subjects*, as JSON.

    Its result is ``PASSED`` where `lro certify` exits with 0 and nothing warned, ``WARNED`` where something did or a
    baseline accepts something, else ``FAILED``. Among its tests are the requirements, by id, and the levels, as
    ``lro-6400/level-2``, and the extensions that bind the server, as ``lro-6400/proxy``; what was not observed is in
    none of the three lists.
    """
    told: dict[Verdict, list[str]] = {Verdict.PASS: [], Verdict.WARN: [], Verdict.FAIL: []}
    for result in report.requirements:
        verdict = Verdict.FAIL if result.verdict is Verdict.ERROR else result.verdict
        if verdict in told:
            told[verdict].append(result.requirement.id)
    if report.failure is None:
        for number, found in report.levels.items():
            if found in ("proved", "failed"):
                told[Verdict.PASS if found == "proved" else Verdict.FAIL].append(f"{report.edition}/level-{number}")
        own = [(name, Verdict.of(found)) for name, found in bound_extensions(report).items()]
        for name, verdict in own:
            if verdict in told:
                told[verdict].append(f"{report.edition}/{name}")
    holds = exit_code(report) == HOLDS
    warned = told[Verdict.WARN] or any(a.state == "accepted" for a in report.baseline)
    return dumped(
        {
            "_type": STATEMENT,
            "subject": [{"name": one_line(s.name), "digest": {"sha256": s.sha256}} for s in subjects],
            "predicateType": PREDICATE,
            "predicate": {
                "result": ("WARNED" if warned else "PASSED") if holds else "FAILED",
                "configuration": list(_configuration(report)),
                "passedTests": told[Verdict.PASS],
                "warnedTests": told[Verdict.WARN],
                "failedTests": told[Verdict.FAIL],
            },
        }
    )


def _configuration(report: Report) -> list[dict[str, Any]]:
    """What judged, and the report that says more."""
    whole = hashlib.sha256(to_json(report).encode()).hexdigest()
    annotations = {
        "edition": one_line(report.edition),
        "claimed": report.claimed,
        "achieved": report.achieved,
        "seed": report.seed,
        "startedAt": report.started_at,
        "server": one_line(f"{report.server.name} {report.server.version}".strip()),
    }
    suite = {"name": "lro-spec", "uri": f"pkg:pypi/lro-spec@{report.suite_version}", "annotations": annotations}
    return [suite, {"name": "report.json", "mediaType": "application/json", "digest": {"sha256": whole}}]
