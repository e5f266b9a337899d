"""What a reader of a report should know and no verdict says, and why there is none where there is none."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from lro_conformance.bench import ServerTrouble
from lro_conformance.judge import NotObserved
from lro_conformance.readings import incomparable, volatile
from lro_conformance.records import as_record, show
from lro_conformance.reproducing import Everything
from lro_conformance.taken import NEVER
from lro_conformance.trials.edges import Edges
from lro_conformance.trials.eras import Eras
from lro_conformance.trials.fallback import Fallback
from lro_conformance.trials.overall import OVERALL, Overall
from lro_conformance.trials.survey import Inline, Survey


def notes(evidence: Mapping[str, Any], trouble: str | None) -> tuple[str, ...]:
    """The notes of a run, from its evidence; *trouble* is the first call that had no response, and why."""
    found: list[str] = []
    survey, inline, edges, fallback = (evidence.get(n) for n in ("survey", "inline", "edges", "fallback"))
    if isinstance(survey, Survey):
        missing = [o for o in ("recall", "search", "inject") if o not in survey.operations]
        if survey.operations and missing:
            found.append(f"no tool was found for {', '.join(missing)} (profile: operations)")
        if not survey.adjustable:
            found.append("the threshold cannot be set: it was bracketed by limits (profile: settings.threshold_tokens)")
        if survey.lowest > 1:
            found.append(f"a threshold of 1 is refused: {survey.lowest} is the lowest of those tried that is not")
        found += _offered(survey)
        found += _undecided(survey)
    eras = evidence.get("eras")
    if isinstance(eras, Eras):
        found.append(f"the server speaks MCP {eras.protocol} (server/discover), too: its calls were judged by both")
    if isinstance(inline, Inline) and inline.threshold < NEVER:
        found.append(f"a threshold of {NEVER} is refused: {inline.threshold} stood for it")
    if isinstance(survey, Survey) and isinstance(inline, Inline):
        paths = sorted({"/".join(p) for n in survey.operations for p in volatile(inline, n)})
        if paths:
            found.append(f"differs between identical calls, left out of comparisons: {', '.join(paths)}")
        against = incomparable(survey, inline)
        if survey.files and against is not None:
            found.append(f"{against}, so files and inline results are not compared")
    if isinstance(edges, Edges):
        found += [
            f"E of {e.operation} differs by {e.drift} between identical calls: its threshold was tested that much wider"
            for e in edges.edges.values()
            if e.drift
        ]
        if isinstance(survey, Survey) and edges.reason is None:
            found += [
                f"the exact threshold of {n} was not tested: no result of it tells an E of {survey.lowest + 2} or more"
                for n in survey.effective
                if n not in edges.edges
            ]
    overall = evidence.get(OVERALL)
    if isinstance(overall, Overall):
        found += overall.remarks
    if isinstance(fallback, Fallback):
        found += [f"write failure, {kind}: not provoked: {why}" for kind, why in fallback.skipped.items()]
    if trouble is not None:
        found.append(f"a call had no response: {trouble}")
    return tuple(found)


def _untold(survey: Survey) -> str:
    """Why nobody can tell whether a server offloads of which it is said that it does."""
    said = "; ".join(survey.claims)
    if not survey.operations:
        return f"{said}; but no tool was found for recall, search or inject (profile: operations)"
    set_to = f"with threshold_tokens = {survey.lowest}" if survey.adjustable else "at the server's own threshold"
    return (
        f"whether the server offloads could not be seen: {said}; nothing was offloaded {set_to}, and no result surely "
        f"exceeds the default of {survey.default_tokens} tokens (the largest has {survey.greatest} characters). "
        "Either that setting does not reach the server (profile: settings.threshold_tokens), or the server does not "
        "offload; memories for a larger result tell which (profile: seed)"
    )


def no_verdict(survey: object, trouble: str | None) -> str | None:
    """Why there is no verdict, in one line; None where there is one. *trouble* is the first call without a response."""
    if isinstance(survey, Survey):
        return None if survey.implemented is not None else trouble or nothing_to_see(survey)
    if isinstance(survey, ServerTrouble):
        return str(survey) if trouble is None else f"{survey}; the first: {trouble}"
    if isinstance(survey, NotObserved):
        return trouble or str(survey)
    return f"the suite failed: {type(survey).__name__}: {survey}"


def nothing_to_see(survey: Survey) -> str:
    """Why a server that answered gave nothing to judge by."""
    if survey.claims and (survey.filled or not survey.operations):
        return _untold(survey)
    failed = next((c for c in survey.calls if c.outcome in ("error", "no answer")), None)
    said = f"; {failed.label}: {failed.evidence().splitlines()[-1][:200]}" if failed is not None else ""
    return f"no operation returned a result that could have been offloaded (profile: seed gives it memories){said}"


def once_more(survey: object) -> str:
    """What starts a server once more that did not come so far as to be observed."""
    start = survey.start if isinstance(survey, ServerTrouble) else None
    return "" if start is None else Everything(start).reproducer()


def _undecided(survey: Survey) -> Iterator[str]:
    """What a server without LRO should be read with."""
    if survey.implemented is not False:
        return
    if not survey.operations:
        listed = show([str(t.get("name")) for t in survey.tools], 300)
        said = "no tool sounds like recall, search or inject, so none was called"
        yield f"{said}; the server lists {listed} (profile: operations)"
    elif survey.claims:
        said = "; ".join(survey.claims)
        yield f"{said}; yet nothing was offloaded, not even a result of {survey.greatest} characters"
    elif not survey.exceeding:
        yield (
            "no result surely exceeds the default threshold, so that only threshold_tokens = 1 could show offloading: "
            "where the server has settings of its own, name them (profile: settings)"
        )


def _offered(survey: Survey) -> Iterator[str]:
    """What a server offers that the suite does not make use of."""
    tools = [o.tool for o in survey.operations.values()]  # a list: what a server calls a name may be an object
    listed = [t for t in survey.tools if t.get("name") in tools]
    tasks = [str(t["name"]) for t in listed if as_record(t.get("execution")).get("taskSupport") in _TASKS]
    if tasks:
        found = f"{', '.join(tasks)} may be called as MCP tasks: they were called directly (LRO-SCOPE-07)"
        yield found
    opened = json.dumps([m.value for m in survey.messages if m.kind in ("initialize", "server/discover")])
    if re.search(r"streamable[-_ ]?http", opened, re.IGNORECASE):
        yield "the server speaks of streamable-http: it was run over stdio, and LRO-DEP-01 is about that transport"


_TASKS = ("optional", "required")
