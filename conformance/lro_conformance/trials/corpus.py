"""A server given known memories of a wide script, to see how it weighs them."""

from __future__ import annotations

from dataclasses import dataclass

from lro_conformance.calls import Call
from lro_conformance.judge import NotObserved
from lro_conformance.lab import LIMIT, Bench, Lab, Settings
from lro_conformance.records import wide_characters
from lro_conformance.seeds import LARGE, WORD, wide
from lro_conformance.trials import trial
from lro_conformance.trials.survey import Survey


@dataclass(frozen=True)
class Seeded:
    """Results of a server that was given memories in CJK scripts."""

    wide: tuple[Call, ...]
    """Offloaded calls, those whose files are made of the widest text first."""
    large: Call | None
    """One memory of several thousand tokens, asked for at a threshold of twice its E."""
    large_estimate: int


@trial("memories in a wide script")
def seeded(lab: Lab, survey: Survey) -> Seeded:
    """Store memories in CJK scripts and ask for them."""
    if lab.profile.seed is None or lab.profile.seed.tool is None:
        raise NotObserved("the suite cannot store memories (profile: seed)")
    if not survey.adjustable:
        raise NotObserved("the server's threshold cannot be set (profile: settings.threshold_tokens)")
    with lab.bench(Settings(threshold_tokens=1)) as bench:
        for memory in wide():
            reply = bench.store(memory)
            if reply is None or reply.result is None or reply.result.get("isError") is True:
                raise NotObserved("the server did not take a memory of the suite's")
        name = next(n for n in survey.operations if survey.offloads(n))
        details = [d for d in survey.operations[name].details if d != "light"] or [None]
        calls = [bench.call(name, detail=details[-1], limit=limit) for limit in (len(wide()), LIMIT)]
        if survey.operations[name].query is not None:
            calls.append(bench.call(name, detail=details[-1], query="漢字"))
        estimate = _alone(bench, name).estimate if bench.store(LARGE) is not None else None
    found = [c for c in calls if c.outcome == "offloaded" and c.filed]
    large: Call | None = None
    if estimate is not None and survey.operations[name].query is not None:
        with lab.bench(Settings(threshold_tokens=2 * estimate)) as bench:
            bench.store(LARGE)
            large = _alone(bench, name)
    return Seeded(tuple(sorted(found, key=_narrow_share)), large, estimate or 0)


def _alone(bench: Bench, name: str) -> Call:
    """A call that finds the large memory only, where the server's search allows."""
    details = bench.operations[name].details
    return bench.call(name, detail=details[-1] if details else None, limit=1, query=WORD)


def _narrow_share(call: Call) -> float:
    text = call.file.data.decode("utf-8", "replace") if call.file is not None else ""
    return 1 - wide_characters(text) / max(1, len(text))
