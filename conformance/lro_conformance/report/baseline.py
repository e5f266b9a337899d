"""Baselines: known failures that a project accepts, each with a reason and a last day.

A baseline lets a pipeline pass in spite of known failures. It changes no verdict and no level. It cannot go out of date
unnoticed, because an entry fails the run in two cases: its check has a verdict other than the accepted one, or its
check still has the accepted verdict after the last day. If there is no verdict to compare with the accepted one, the
entry has the state ``open`` (`Acceptance.state`) and does not fail the run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any

from lro_conformance.errors import UsageError
from lro_conformance.judging.results import Acceptance, CheckResult, Report
from lro_conformance.judging.verdicts import Verdict
from lro_conformance.profile.errors import Complaint, Problem, dotted, explain, nearest, value_at
from lro_conformance.profile.yaml import Document, YamlError, read, read_file
from lro_conformance.report.catalogue import check_names


@dataclass(frozen=True, slots=True)
class Entry:
    """A check whose verdict is accepted."""

    check: str
    verdict: Verdict
    until: date
    """The last day on which the verdict is accepted."""
    reason: str


def load(path: Path) -> tuple[Entry, ...]:
    """Read the entries of a baseline. Raises `UsageError` with one line for each problem of the file."""
    try:
        document = read(read_file(path), dates=True, expected_content="accept: []")
    except OSError as problem:
        raise UsageError(f"--baseline {path}: cannot be read: {problem.strerror}") from None
    except YamlError as problem:
        raise UsageError(str(_as_problem(path, problem))) from None
    if document.problems:
        raise UsageError("\n".join(str(_as_problem(path, problem)) for problem in document.problems))
    problems = sorted(_problems(str(path), document), key=lambda p: p.line or 0)
    if problems:
        raise UsageError("\n".join(map(str, problems)))
    return tuple(
        Entry(e["check"], Verdict.of(e.get("verdict", "fail")), date.fromisoformat(e["until"]), e["reason"])
        for e in document.value["accept"]
    )


def _as_problem(path: Path, problem: YamlError) -> Problem:
    return Problem(str(path), problem.line, dotted(problem.path), Complaint(problem.message))


def apply_baseline(report: Report, entries: tuple[Entry, ...]) -> Report:
    """Return the report with the state of each entry on the day of the run."""
    today = date.fromisoformat(report.started_at[:10])
    results = {c.name: c for r in report.requirements for c in r.checks}
    return replace(report, baseline=tuple(_acceptance(e, results, report, today) for e in entries))


def _acceptance(entry: Entry, results: Mapping[str, CheckResult], report: Report, today: date) -> Acceptance:
    result = results.get(entry.check)
    if report.failure is not None or result is None or result.verdict is Verdict.ERROR:
        state = "open"
    elif result.verdict is not entry.verdict:
        state = "stale"
    else:
        state = "accepted" if today <= entry.until else "expired"
    id = result.requirement if result is not None else ""
    return Acceptance(entry.check, id, entry.verdict, entry.until.isoformat(), entry.reason, state)


def _problems(file: str, document: Document) -> Iterator[Problem]:
    from lro_spec.schema.errors import violations

    errors = list(violations(document.value, "baseline"))
    for error in errors:
        complaint = explain(error, value_at(document.value, error.path))
        yield Problem(file, document.line(error.path), dotted(error.path), complaint)
    if errors:
        return
    first_lines: dict[str, int] = {}
    names = check_names()
    entries: list[dict[str, Any]] = document.value["accept"]
    for number, entry in enumerate(entries):
        path = ("accept", number, "check")
        line = document.line(path)
        if entry["check"] not in names:
            message = f"no check {entry['check']}{nearest(entry['check'], names)}"
            yield Problem(file, line, dotted(path), Complaint(message))
        elif entry["check"] in first_lines:
            yield Problem(
                file, line, dotted(path), Complaint(f"accepted twice, first on line {first_lines[entry['check']]}")
            )
        first_lines.setdefault(entry["check"], line)
        try:
            date.fromisoformat(entry["until"])
        except ValueError:
            path = ("accept", number, "until")
            complaint = Complaint("", "a day as YYYY-MM-DD", entry["until"])
            yield Problem(file, document.line(path), dotted(path), complaint)
