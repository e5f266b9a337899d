"""Identical calls under MCP 2026-07-28 and under an older version of MCP, on a server that speaks both versions."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lro_conformance.capture.call import Call
from lro_conformance.judging.outcome import NotObserved
from lro_conformance.lab.settings import Settings
from lro_conformance.trials import trial
from lro_conformance.trials.survey import EDGE_LIMIT, ServerMessage, Survey, messages_of, usual_detail
from lro_conformance.wire.reply import MODERN_VERSION

if TYPE_CHECKING:
    from lro_conformance.lab.lab import Lab


@dataclass(frozen=True)
class Eras:
    """Calls under MCP 2026-07-28 on a server that is otherwise used under an older version."""

    protocol: str
    calls: tuple[tuple[Call, Call], ...]
    """Pairs of a call and the same call under the older version, which was offloaded there."""
    messages: tuple[ServerMessage, ...]
    """The server's messages other than results of tool calls."""


@trial("MCP 2026-07-28, if the server speaks it", after=("folders",))
def eras(lab: Lab, survey: Survey) -> Eras:
    """Open a conversation by ``server/discover``. For each operation, repeat the survey's call for `EDGE_LIMIT` records
    if it was offloaded."""
    if survey.protocol == MODERN_VERSION:
        raise NotObserved(f"the server speaks MCP {MODERN_VERSION} all along")
    lab.launcher.handshakes.require_modern()
    threshold = 1 if survey.adjustable else None
    kept = lab.kept.get("modern")
    with lab.bench(Settings(threshold_tokens=threshold), modern=True) if kept is None else nullcontext(kept) as bench:
        older_calls: Mapping[str, tuple[Call, Call]] = survey.repeats
        arguments: dict[str, Any] = {"limit": EDGE_LIMIT}
        calls = [
            (bench.call(name, detail=usual_detail(bench.operations[name]), **arguments), older)
            for name, (older, _) in older_calls.items()
            if older.outcome == "offloaded"
        ]
        bench.server.list_tools()
        return Eras(MODERN_VERSION, tuple(calls), messages_of(bench.server))
