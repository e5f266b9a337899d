"""A baseline that accepts the checks that keep a claim from holding; the user has to add the reasons."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import date, timedelta

from lro_conformance.judging.results import UNEXPLAINED, Acceptance, Report
from lro_conformance.judging.verdicts import Verdict
from lro_conformance.report.exit_code import blocking_results
from lro_conformance.report.sanitize import one_line

ACCEPTED_DAYS = 90
"""Number of days after the run for which a new entry accepts a check."""


def to_baseline(report: Report) -> str:
    """The text of a baseline. It accepts the failures that keep the claim from holding.

    If a level is claimed, checks that were not observed and therefore keep the level from being proved are accepted,
    too.

    If the run itself was given a baseline, its entries are kept unchanged, except for stale and expired entries.
    """
    entries = entries_of(report)
    text = "accept:\n" + "".join(map(_entry, entries)) if entries else "accept: []\n"
    return f"# Checks that are accepted until a day, each for a reason (lro certify --baseline FILE).\n{text}"


def entries_of(report: Report) -> list[Acceptance]:
    """The entries of the baseline that `to_baseline` writes."""
    kept = [a for a in report.baseline if a.state in ("accepted", "open")]
    return [*kept, *_new_entries(report, {a.check for a in kept})]


def _new_entries(report: Report, kept: set[str]) -> Iterator[Acceptance]:
    until = (date.fromisoformat(report.started_at[:10]) + timedelta(days=ACCEPTED_DAYS)).isoformat()
    for result, verdict in blocking_results(report):
        for check in result.checks if verdict is not Verdict.ERROR else ():
            if check.verdict is verdict and check.name not in kept:
                yield Acceptance(check.name, result.requirement.id, verdict, until, UNEXPLAINED, "accepted")


def _entry(entry: Acceptance) -> str:
    check, reason = one_line(entry.check), one_line(entry.reason)
    head = f"  # {one_line(entry.requirement)}\n" if entry.requirement else ""
    return (
        f"{head}  - check: {json.dumps(check)}\n    verdict: {entry.verdict.label}\n"
        f"    until: {one_line(entry.until)}\n"
        f"    reason: {json.dumps(reason)}\n"
    )
