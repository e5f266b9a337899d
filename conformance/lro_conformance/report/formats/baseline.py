"""A baseline that accepts what keeps a claim from holding, to be completed with reasons."""

from __future__ import annotations

import json
from datetime import date, timedelta

from lro_conformance.judging.results import Report
from lro_conformance.judging.verdicts import Verdict
from lro_conformance.report.exit_code import open_results

DAYS = 90
"""Days for which an entry is accepted."""


def to_baseline(report: Report) -> str:
    """The text of a baseline; of a claimed level, what was not observed is accepted, too."""
    until = (date.fromisoformat(report.started_at[:10]) + timedelta(days=DAYS)).isoformat()
    entries = [
        f"  - check: {json.dumps(check.name)}\n    verdict: {check.verdict.label}\n    until: {until}\n"
        f"    reason: {json.dumps(f'{result.requirement.id}: say why, or name an issue')}\n"
        for result, verdict in open_results(report)
        if verdict is not Verdict.ERROR and (verdict is Verdict.FAIL or report.claimed is not None)
        for check in result.checks
        if check.verdict is verdict
    ]
    text = "accept:\n" + "".join(entries) if entries else "accept: []\n"
    return f"# Accepted until a day, each for a reason (lro certify --baseline FILE).\n{text}"
