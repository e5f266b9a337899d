"""GitHub Actions: annotations (workflow commands) and step outputs."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from lro_conformance.report.sanitize import one_line

if TYPE_CHECKING:
    from lro_conformance.judging.results import Report

MAX_ANNOTATIONS = 10
"""Largest number of annotations of one kind that GitHub shows for a step."""


def command(kind: str, message: str, properties: Mapping[str, str | int | None]) -> str:
    """A workflow command. *message* may have several lines; the property ``file`` is made relative to the workspace.

    Properties with the value None are left out.
    """
    present = {key: value for key, value in properties.items() if value is not None}
    if "file" in present:
        present["file"] = from_workspace(str(present["file"]))
    listed = ",".join(f"{key}={_property(value)}" for key, value in present.items())
    return f"::{kind} {listed}::{_data(message)}"


def from_workspace(path: str) -> str:
    """Return the path relative to the GitHub workspace. A path outside of the workspace is returned unchanged."""
    workspace = os.environ.get("GITHUB_WORKSPACE")
    if workspace is None:
        return path
    try:
        return Path(os.path.abspath(path)).relative_to(workspace).as_posix()
    except ValueError:
        return path


def report_annotations(report: Report, file: str) -> Iterator[str]:
    """Annotations of the profile *file*: failures, errors of the suite, and warnings, in this order. There are at most
    `MAX_ANNOTATIONS` of each.

    Before them come a missing verdict, and stale and expired entries of the baseline. They become errors.

    A failure becomes an error if the requirement is a MUST of the claimed level or of a lower level. If no level is
    claimed, it becomes an error if the requirement is a MUST of any level. Other failures do not affect the exit code,
    and become warnings, as do errors of the suite and warnings. If all deciding checks of a requirement are accepted by
    the baseline, its annotation becomes a notice.
    """
    from lro_conformance.judging.verdicts import Verdict
    from lro_conformance.report.details import failure_lines, reason_of
    from lro_conformance.report.exit_code import is_must_up_to
    from lro_conformance.report.view import acceptance_line

    accepted = {a.check for a in report.baseline if a.state == "accepted"}
    if report.failure is not None:
        yield command("error", "\n".join(failure_lines(report)), {"file": file, "title": "LRO: no verdict"})
    for entry in report.baseline:
        if entry.state in ("stale", "expired"):
            yield command("error", acceptance_line(entry), {"file": file, "title": f"LRO baseline: {entry.state}"})
    for verdict, kind in ((Verdict.FAIL, "error"), (Verdict.ERROR, "warning"), (Verdict.WARN, "warning")):
        results = [r for r in report.requirements if r.verdict is verdict]
        for result in results[:MAX_ANNOTATIONS]:
            title = one_line(f"{result.requirement.id} {result.requirement.title}")
            deciding = {c.name for c in result.checks if c.verdict is verdict}
            affects_exit_code = is_must_up_to(result.requirement, report.claimed or 3)
            severity = "notice" if deciding and deciding <= accepted else kind if affects_exit_code else "warning"
            yield command(severity, reason_of(result), {"file": file, "title": title})


def step_outputs(report: Report) -> Iterator[str]:
    """Outputs of the action's step, as lines ``name=value``."""
    yield f"achieved={report.achieved}"
    for number, level in report.levels.items():
        yield f"level-{number}={'no-verdict' if report.failure is not None else level}"


def main(argv: Sequence[str]) -> int:
    """``python -m lro_conformance.report.formats.github annotations|results REPORT [FILE]``, called by action.yml."""
    from lro_conformance.errors import UsageError
    from lro_conformance.report.load import read_report

    kind, path, *file = argv
    try:
        report = read_report(Path(path))
    except UsageError as problem:
        sys.stderr.write(f"{problem}\n")
        return problem.exit_code
    output = step_outputs(report) if kind == "results" else report_annotations(report, file[0] if file else "lro.yaml")
    sys.stdout.writelines(f"{line}\n" for line in output)
    return 0


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(value: str | int) -> str:
    return _data(str(value)).replace(":", "%3A").replace(",", "%2C")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
