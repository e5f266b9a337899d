"""The baseline: checks whose verdicts are accepted for a while, each until a day and for a reason.

It keeps a gate open that known failures would close. It changes no verdict and no level, and it does not rot: an entry
whose day has passed, or whose check has another verdict now, closes the gate by itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any

from lro_conformance.misuse import Misuse
from lro_conformance.profile.problems import Problem, dotted, nearest, told, value_at
from lro_conformance.profile.yaml_lines import MAX_BYTES, Document, YamlError, read
from lro_conformance.report.catalogue import every_check
from lro_conformance.report.model import Acceptance, CheckResult, Report
from lro_conformance.verdicts import Verdict


@dataclass(frozen=True, slots=True)
class Entry:
    """One check whose verdict is accepted."""

    check: str
    verdict: Verdict
    until: date
    """The last day."""
    reason: str


def load(path: Path) -> tuple[Entry, ...]:
    """The entries of a baseline. Raises `Misuse` with every problem that it has, a line each."""
    try:
        with path.open("rb") as stream:
            document = read(stream.read(MAX_BYTES + 1), dates=True, least="accept: []")
    except OSError as problem:
        raise Misuse(f"--baseline {path}: cannot be read: {problem.strerror}") from None
    except YamlError as problem:
        raise Misuse(str(Problem(str(path), problem.line, dotted(problem.path), problem.message))) from None
    problems = sorted(_problems(str(path), document), key=lambda p: p.line or 0)
    if problems:
        raise Misuse("\n".join(map(str, problems)))
    return tuple(
        Entry(e["check"], Verdict.of(e.get("verdict", "fail")), date.fromisoformat(e["until"]), e["reason"])
        for e in document.value["accept"]
    )


def held_to(report: Report, entries: tuple[Entry, ...]) -> Report:
    """The report with what became of each entry, on the day of its run."""
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
    from lro_spec.schema_errors import violations

    wrong = list(violations(document.value, "baseline"))
    for error in wrong:
        message = told(error, value_at(document.value, error.path))
        yield Problem(file, document.line(error.path), dotted(error.path), message)
    if wrong:
        return
    seen: dict[str, int] = {}
    known = every_check()
    entries: list[dict[str, Any]] = document.value["accept"]
    for number, entry in enumerate(entries):
        path = ("accept", number, "check")
        line = document.line(path)
        if entry["check"] not in known:
            message = f"no check {entry['check']}{nearest(entry['check'], known)}"
            yield Problem(file, line, dotted(path), message)
        elif entry["check"] in seen:
            yield Problem(file, line, dotted(path), f"accepted twice, first on line {seen[entry['check']]}")
        seen.setdefault(entry["check"], line)
        try:
            date.fromisoformat(entry["until"])
        except ValueError:
            path = ("accept", number, "until")
            message = f"expected a day as YYYY-MM-DD, got {entry['until']}"
            yield Problem(file, document.line(path), dotted(path), message)
