"""Notes of a report: facts about a run that no verdict states, and the reason for a missing verdict."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from lro_conformance.analysis.comparison import Comparison
from lro_conformance.capture.overall import OVERALL, Overall
from lro_conformance.capture.records import as_record, show
from lro_conformance.capture.reproduce import Conversation
from lro_conformance.judging.derived import Evidence
from lro_conformance.judging.outcome import NotObserved
from lro_conformance.judging.subjects import evidence_of, reproducer_of
from lro_conformance.lab.errors import ServerTrouble
from lro_conformance.lab.thresholds import NEVER
from lro_conformance.trials.cleanup import Cleanup
from lro_conformance.trials.edges import Edges
from lro_conformance.trials.eras import Eras
from lro_conformance.trials.fallback import Fallback
from lro_conformance.trials.survey import Inline, Survey
from lro_conformance.trials.tasks import tasked_tools


def notes(evidence: Evidence, trouble: str | None) -> tuple[str, ...]:
    """Notes on a run. *trouble* describes the first call without a response."""
    found: list[str] = []
    have = evidence.captured
    survey, inline, edges, fallback = (have.get(n) for n in ("survey", "inline", "edges", "fallback"))
    if isinstance(survey, Survey):
        missing = [o for o in ("recall", "search", "inject") if o not in survey.operations]
        if survey.operations and missing:
            found.append(f"no tool was found for {', '.join(missing)} (profile: operations)")
        if not survey.adjustable:
            found.append("the threshold cannot be set: it was bracketed by limits (profile: settings.threshold_tokens)")
        if survey.lowest > 1:
            found.append(f"a threshold of 1 is rejected; {survey.lowest} is the lowest of those tried that is accepted")
        found += _unused_features(survey)
        found += _undecided(survey)
    cleanup = have.get("cleanup")
    if isinstance(cleanup, Cleanup) and cleanup.at_start_only and cleanup.own is not None and cleanup.own.gone:
        found.append("expired files were deleted at a start; whether they are while the server runs is unknown (I-43)")
    eras = have.get("eras")
    if isinstance(eras, Eras):
        found.append(
            f"the server also speaks MCP {eras.protocol} (server/discover): its calls were judged under both protocol "
            "versions"
        )
    if isinstance(inline, Inline) and inline.threshold < NEVER:
        found.append(f"a threshold of {NEVER} is rejected; {inline.threshold} was used instead")
    if isinstance(survey, Survey) and isinstance(inline, Inline):
        comparison: Comparison = evidence.select(["comparison"])["comparison"]
        paths = sorted({"/".join(p) for n in survey.operations for p in comparison.volatile(n)})
        if paths:
            found.append(f"differs between identical calls, ignored in comparisons: {', '.join(paths)}")
        if survey.files and comparison.obstacle is not None:
            found.append(f"{comparison.obstacle}, so files and inline results are not compared")
    if isinstance(edges, Edges):
        found += [
            f"E of {e.operation} differs by {e.drift} between identical calls: its threshold was tested that much wider"
            for e in edges.edges.values()
            if e.drift
        ]
        if isinstance(survey, Survey) and edges.reason is None:
            found += [
                f"the exact threshold of {n} was not tested: no result of it has an E of {survey.lowest + 2} or more"
                for n in survey.effective
                if n not in edges.edges
            ]
    overall = have.get(OVERALL)
    if isinstance(overall, Overall):
        found += overall.remarks
    if isinstance(fallback, Fallback):
        found += [f"write failure, {kind}: not tested, because {why}" for kind, why in fallback.skipped.items()]
    if trouble is not None:
        found.append(f"a call had no response: {trouble}")
    return tuple(found)


def _unconfirmed(survey: Survey) -> str:
    """Explains why offloading that was claimed could not be confirmed."""
    claims = "; ".join(survey.claims)
    if not survey.operations:
        return f"{claims}; but no tool was found for recall, search or inject (profile: operations)"
    set_to = f"with threshold_tokens = {survey.lowest}" if survey.adjustable else "at the server's own threshold"
    return (
        f"offloading could not be confirmed: {claims}; nothing was offloaded {set_to}, and no "
        f"result certainly exceeds the default of {survey.default_tokens} tokens (the largest has "
        f"{survey.largest_inline} characters). "
        "Either that setting does not reach the server (profile: settings.threshold_tokens), or the server does not "
        f"offload; memories for a larger result would show which ({survey.seed_advice})"
    )


def no_verdict(survey: object, trouble: str | None) -> str | None:
    """Reason for a missing verdict, in one line; None if there is a verdict. For *trouble* see `notes`."""
    if isinstance(survey, Survey):
        return None if survey.implemented is not None else trouble or nothing_observed(survey)
    if isinstance(survey, ServerTrouble):
        return str(survey) if trouble is None else f"{survey}; the first: {trouble}"
    if isinstance(survey, NotObserved):
        return trouble or str(survey)
    return f"the suite failed: {type(survey).__name__}: {survey}"


def nothing_observed(survey: Survey) -> str:
    """Explains why a server that responded could not be judged."""
    if survey.claims and (survey.returned_anything or not survey.operations):
        return _unconfirmed(survey)
    failed = next((c for c in survey.calls if c.outcome in ("error", "no answer")), None)
    error = f"; {failed.label}: {evidence_of(failed).splitlines()[-1][:200]}" if failed is not None else ""
    gives = "profile: seed gives it memories"
    if survey.seeded_by is not None:
        gives = f"{survey.seed_advice}: name arguments that find them, profile: operations"
    return f"no operation returned a result that could have been offloaded ({gives}){error}"


def start_reproducer(survey: object) -> str:
    """Command that restarts a server which failed before it could be observed."""
    start = survey.start if isinstance(survey, ServerTrouble) else None
    return "" if start is None else reproducer_of(Conversation(start))


def _undecided(survey: Survey) -> Iterator[str]:
    """Notes on the verdict that a server does not implement LRO."""
    if survey.implemented is not False:
        return
    if not survey.operations:
        listed = show([str(t.get("name")) for t in survey.tools], 300)
        reason = "no tool resembles recall, search or inject, so none was called"
        yield f"{reason}; the server lists {listed} (profile: operations)"
    elif survey.claims:
        claims = "; ".join(survey.claims)
        yield f"{claims}; yet nothing was offloaded, not even a result of {survey.largest_inline} characters"
    elif not survey.exceeds_default:
        yield (
            "no result certainly exceeds the default threshold, so only threshold_tokens = 1 could show offloading: "
            "if the server has settings of its own, name them (profile: settings)"
        )


def _unused_features(survey: Survey) -> Iterator[str]:
    """Notes on features of the server that the suite does not use."""
    tools = [o.tool for o in survey.operations.values()]  # a list, because a name from the server may be unhashable
    listed = [t for t in survey.tools if t.get("name") in tools]
    tasks = [str(t["name"]) for t in listed if as_record(t.get("execution")).get("taskSupport") in _TASKS]
    if tasks and not any(tasked_tools(survey)):
        declares = "but the server does not declare the capability tasks.requests.tools.call"
        yield f"{', '.join(tasks)} may be called as MCP tasks, {declares}: they were called directly (LRO-SCOPE-07)"
    handshake = json.dumps([m.value for m in survey.messages if m.kind in ("initialize", "server/discover")])
    if re.search(r"streamable[-_ ]?http", handshake, re.IGNORECASE):
        yield "the server mentions streamable-http: it was run over stdio, and LRO-DEP-01 concerns that transport"


_TASKS = ("optional", "required")
