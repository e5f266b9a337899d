"""Giving servers the suite's own memories, where the profile says how (seed) and they hold too little."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from lro_conformance import profile as profiles
from lro_conformance.bench import Bench, run_command
from lro_conformance.claims import size_of
from lro_conformance.records import show, text_of
from lro_conformance.seeds import corpus
from lro_conformance.wire import Reply
from lro_spec.tokens import LOW

if TYPE_CHECKING:
    from lro_conformance.lab import Lab


class Seeding:
    """What the servers of one laboratory are given."""

    def __init__(self, lab: Lab) -> None:
        self._lab = lab
        self.on = False
        """Whether every server that starts is given the corpus by the seed tool."""

    def file(self, workdir: Path) -> Path | None:
        """Where the profile seeds by a file: the corpus as JSONL, and the seed command run."""
        seed = self._lab.profile.seed
        if seed is None or seed.tool is not None:
            return None
        path = workdir / "seed.jsonl"
        path.write_text("".join(json.dumps(m, ensure_ascii=False) + "\n" for m in corpus()), encoding="utf-8")
        if seed.command:
            command = [profiles.fill(word, workdir=workdir, seed_file=path) for word in seed.command]
            run_command(list(profiles.own_lro(command)), "seed.command", self._lab.launch({}, workdir))
        return path

    def wanted(self, bench: Bench) -> bool:
        """Whether the server holds too little for the default threshold and the profile says how to give it more."""
        lab, seed = self._lab, self._lab.profile.seed
        if seed is None or seed.tool is None or not bench.operations:
            return False
        name, operation = next(iter(bench.operations.items()))
        call = bench.call(name, detail=operation.details[-1] if operation.details else None)
        enough = 1.2 * max(e.default_threshold_tokens for e in (lab.edition, *lab.others))
        return (call.estimate or LOW * size_of(call) / 4) < enough

    def begin(self, bench: Bench) -> None:
        """Give this server, and every one started later, the suite's own corpus."""
        self.on = True
        self.fill(bench)

    def fill(self, bench: Bench) -> None:
        """Give a server the corpus."""
        for memory in corpus():
            reply = bench.store(memory)
            bench.base = len(bench.given)
            if not self.taken(reply):
                return

    def fill_again(self, bench: Bench) -> None:
        """Give a server the suite's corpus once more, if it lost it when it was restarted."""
        if self.on and self.wanted(bench):
            self.fill(bench)

    def taken(self, reply: Reply | None) -> bool:
        """Whether the server took a memory; that it did not is told in the report."""
        result: object = reply.result if reply is not None else None
        answer = cast("dict[str, Any]", result) if isinstance(result, dict) else None
        if reply is None or (answer is not None and answer.get("isError") is not True):
            return answer is not None
        said = reply.error or text_of(answer) or (reply.failure.detail if reply.failure is not None else "no answer")
        seed = self._lab.profile.seed
        tool = seed.tool if seed is not None else None
        self._lab.remarks.append(
            f"seeding failed: {tool} did not take a memory of the suite's (profile: seed): {show(said, 300)}"
        )
        return False
