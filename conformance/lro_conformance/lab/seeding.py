"""Storing the suite's own memories in servers that hold too little, by the tool that the profile names (seed)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

from lro_conformance.capture.corpus import corpus
from lro_conformance.capture.records import show, text_of
from lro_conformance.lab.queries import is_enough, largest_result
from lro_conformance.profile import Seed
from lro_conformance.wire.reply import Reply

if TYPE_CHECKING:
    from lro_conformance.lab.bench import Bench


def reason_not_to_store(seed: Seed | None) -> str | None:
    """The reason why the suite cannot store memories while a server runs; None if it can."""
    if seed is None:
        return "the suite cannot store memories (profile: seed)"
    if seed.tool is not None:
        return None
    way = "seed.env" if seed.env is not None else "seed.command"
    return (
        f"{way} gives the server memories before it starts; this needs further ones, while it runs (profile: seed.tool)"
    )


class Seeding:
    """Seeds the servers of one profile."""

    def __init__(self, remark: Callable[[str], None]) -> None:
        self._remark = remark
        self.on = False
        """True when every server that starts is seeded."""

    def is_wanted(self, bench: Bench) -> bool:
        """Return whether the server holds too little for the default threshold and the profile says how to seed it."""
        seed = bench.profile.seed
        if seed is None or seed.tool is None or not bench.operations:
            return False
        return not is_enough(bench, largest_result(bench, next(iter(bench.operations))))

    def begin(self, bench: Bench) -> None:
        """Seed this server, and every one started later if this one accepts a memory."""
        self.on = self.fill(bench)

    def fill(self, bench: Bench) -> bool:
        """Store the suite's memories, until one is refused. Returns whether any was stored."""
        stored = False
        for memory in corpus():
            reply = bench.store(memory)
            bench.corpus_requests = len(bench.state_changing_requests)
            if not self.is_stored(bench, reply):
                break
            stored = True
        return stored

    def fill_again(self, bench: Bench) -> None:
        """Seed a server again if it lost the memories when it was restarted."""
        if self.on and self.is_wanted(bench):
            self.fill(bench)

    def is_stored(self, bench: Bench, reply: Reply | None) -> bool:
        """Return whether the server accepted a memory; a refusal becomes a remark in the report."""
        result: object = reply.result if reply is not None else None
        answer = cast("dict[str, Any]", result) if isinstance(result, dict) else None
        if reply is None or (answer is not None and answer.get("isError") is not True):
            return answer is not None
        reason = reply.error or text_of(answer) or (reply.failure.detail if reply.failure is not None else "no answer")
        seed = bench.profile.seed
        tool = seed.tool if seed is not None else None
        self._remark(
            f"seeding failed: {tool} did not accept a memory of the suite (profile: seed): {show(reason, 300)}"
        )
        return False
