"""What a run on GitHub shows beside a line: workflow commands; and the results of a run for the steps that follow."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from lro_conformance.report.text import one_line

if TYPE_CHECKING:
    from lro_conformance.report.model import Report

MOST = 10
"""GitHub shows no more annotations of a kind in a step."""


def command(kind: str, message: str, properties: Mapping[str, str | int | None]) -> str:
    """One workflow command; *message* may have several lines, and a *file* is told from the root of the workspace."""
    known = {key: value for key, value in properties.items() if value is not None}
    if "file" in known:
        known["file"] = from_workspace(str(known["file"]))
    told = ",".join(f"{key}={_property(value)}" for key, value in known.items())
    return f"::{kind} {told}::{_data(message)}"


def from_workspace(path: str) -> str:
    """A path as GitHub finds it: from the root of its workspace, where it is in one; elsewhere as it came."""
    workspace = os.environ.get("GITHUB_WORKSPACE")
    if workspace is None:
        return path
    try:
        return Path(os.path.abspath(path)).relative_to(workspace).as_posix()
    except ValueError:
        return path


def annotated(report: Report, file: str) -> Iterator[str]:
    """A report's failures and warnings as annotations at the profile *file*, the gravest first.

    An error is what the exit code rests on: not what decides no level, nor what a level needs that nobody claims.
    """
    from lro_conformance.report.exits import binds
    from lro_conformance.report.layout import no_verdict, reason_of
    from lro_conformance.verdicts import Verdict

    accepted = {a.requirement for a in report.baseline if a.state == "accepted"}
    if report.failure is not None:
        yield command("error", "\n".join(no_verdict(report)), {"file": file, "title": "LRO: no verdict"})
    for entry in report.baseline:
        if entry.state in ("stale", "expired"):
            message = one_line(f"{entry.check}: accepted {entry.verdict.label} until {entry.until}: {entry.reason}")
            yield command("error", message, {"file": file, "title": f"LRO baseline: {entry.state}"})
    for verdict, kind in ((Verdict.FAIL, "error"), (Verdict.ERROR, "warning"), (Verdict.WARN, "warning")):
        found = [r for r in report.requirements if r.verdict is verdict]
        for result in found[:MOST]:
            title = one_line(f"{result.requirement.id} {result.requirement.title}")
            counts = binds(result.requirement, report.claimed or 3)
            told = "notice" if result.requirement.id in accepted else kind if counts else "warning"
            yield command(told, reason_of(result), {"file": file, "title": title})


def results(report: Report) -> Iterator[str]:
    """The lines of a step's outputs."""
    yield f"achieved={report.achieved}"
    for number, found in report.levels.items():
        yield f"level-{number}={'no-verdict' if report.failure is not None else found}"


def main(argv: Sequence[str]) -> int:
    """``python -m lro_conformance.report.workflow annotations|results REPORT [FILE]``: what action.yml calls."""
    from lro_conformance.misuse import Misuse
    from lro_conformance.report.reading import read_report

    what, path, *file = argv
    try:
        report = read_report(Path(path))
    except Misuse as problem:
        sys.stderr.write(f"{problem}\n")
        return problem.exit_code
    made = results(report) if what == "results" else annotated(report, file[0] if file else "lro.yaml")
    sys.stdout.writelines(f"{line}\n" for line in made)
    return 0


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(value: str | int) -> str:
    return _data(str(value)).replace(":", "%3A").replace(",", "%2C")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
