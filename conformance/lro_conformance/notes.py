"""What a reader of a report should know and no verdict says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lro_conformance.readings import comparable, volatile
from lro_conformance.trials.edges import Edges
from lro_conformance.trials.fallback import Fallback
from lro_conformance.trials.overall import OVERALL, Overall
from lro_conformance.trials.survey import Inline, Survey


def notes(evidence: Mapping[str, Any]) -> tuple[str, ...]:
    """The notes of a run, from its evidence."""
    found: list[str] = []
    survey, inline, edges, fallback = (evidence.get(n) for n in ("survey", "inline", "edges", "fallback"))
    if isinstance(survey, Survey):
        missing = [o for o in ("recall", "search", "inject") if o not in survey.operations]
        if survey.operations and missing:
            found.append(f"no tool was found for {', '.join(missing)} (profile: operations)")
        if not survey.adjustable:
            found.append("the threshold cannot be set: it was bracketed by limits (profile: settings.threshold_tokens)")
    if isinstance(survey, Survey) and isinstance(inline, Inline):
        paths = sorted({"/".join(p) for n in survey.operations for p in volatile(inline, n)})
        if paths:
            found.append(f"differs between identical calls, left out of comparisons: {', '.join(paths)}")
        if survey.files and not comparable(survey, inline):
            found.append(
                "memories have other ids in every server process, so files and inline results are not compared"
            )
    if isinstance(edges, Edges):
        found += [
            f"E of {e.operation} differs by {e.drift} between identical calls: its threshold was tested that much wider"
            for e in edges.edges.values()
            if e.drift
        ]
    overall = evidence.get(OVERALL)
    if isinstance(overall, Overall):
        found += overall.remarks
    if isinstance(fallback, Fallback):
        found += [f"write failure, {kind}: not provoked: {why}" for kind, why in fallback.skipped.items()]
    return tuple(found)
