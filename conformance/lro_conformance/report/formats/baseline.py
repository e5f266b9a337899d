"""A baseline that accepts the checks that keep a claim from holding; the user has to add the reasons."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import date, timedelta

from lro_conformance.judging.results import UNEXPLAINED, Acceptance, Report
from lro_conformance.judging.verdicts import Verdict
from lro_conformance.report.exit_code import open_results
from lro_conformance.report.sanitize import one_line

DAYS = 90
"""Number of days after the run for which a new entry accepts a check."""


def to_baseline(report: Report) -> str:
    """The text of a baseline. It accepts the failures that keep the claim from holding.

    If a level is claimed, it also accepts checks that were not observed, if this keeps the level from being proved.

    Entries of the baseline that the run was given are kept as they are, unless they are stale or expired.
    """
    entries = entries_of(report)
    text = "accept:\n" + "".join(map(_entry, entries)) if entries else "accept: []\n"
    return f"# Checks that are accepted until a day, each for a reason (lro certify --baseline FILE).\n{text}"


def entries_of(report: Report) -> list[Acceptance]:
    """The entries of the baseline that `to_baseline` writes."""
    kept = [a for a in report.baseline if a.state in ("accepted", "open")]
    return [*kept, *_new(report, {a.check for a in kept})]


def _new(report: Report, kept: set[str]) -> Iterator[Acceptance]:
    until = (date.fromisoformat(report.started_at[:10]) + timedelta(days=DAYS)).isoformat()
    for result, verdict in open_results(report):
        for check in result.checks if verdict is not Verdict.ERROR else ():
            if check.verdict is verdict and check.name not in kept:
                yield Acceptance(check.name, result.requirement.id, verdict, until, UNEXPLAINED, "accepted")


def _entry(one: Acceptance) -> str:
    check, reason = one_line(one.check), one_line(one.reason)
    head = f"  # {one_line(one.requirement)}\n" if one.requirement else ""
    return (
        f"{head}  - check: {json.dumps(check)}\n    verdict: {one.verdict.label}\n    until: {one_line(one.until)}\n"
        f"    reason: {json.dumps(reason)}\n"
    )
