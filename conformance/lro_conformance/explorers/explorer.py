"""Explorer: gives three servers the same sequences of steps, which Hypothesis composes, and holds every exchange to the
model."""

from __future__ import annotations

import random
import string
import time
import uuid
import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from lro_conformance.analysis.detail import DetailLevels
from lro_conformance.analysis.documents import (
    Document,
    breaks,
    is_examined,
    unmet_precondition,
    validated,
    with_recipes,
)
from lro_conformance.analysis.estimate import Estimates
from lro_conformance.analysis.exchanges import RULES, Exchange, context_of, exchanges_of, findings, varying
from lro_conformance.capture.call import Call
from lro_conformance.capture.corpus import tiny, undocumented, various
from lro_conformance.capture.records import Record, by_id
from lro_conformance.explorers.budgeted_search import BudgetedSearch, Violation
from lro_conformance.judging.outcome import NotObserved
from lro_conformance.trials import trial
from lro_conformance.trials.edges import Edges
from lro_conformance.trials.exploration import Explored, LiveFinding, Triple
from lro_conformance.trials.survey import Inline, Survey
from lro_spec.catalogue import catalogue
from lro_spec.findings import Finding
from lro_spec.tokens import CHARACTERS_PER_TOKEN
from lro_spec.validation.recipes import RecipeJudge
from lro_spec.validation.request import Request

if TYPE_CHECKING:
    from lro_conformance.lab.bench import Bench
    from lro_conformance.lab.lab import Lab

MAX_REDUCED = 3
"""Largest number of requirements whose violation is reduced to its shortest sequence."""

TRIES = 4
"""Number of memories that are stored, one after another, to place a result at the threshold."""

MUST_RUN_BEFORE = ("defaults", "control")
"""Trials that end before the explorer begins: they compare calls with those of kept servers, to which it gives
further memories."""

MAX_PLACED_CHARACTERS = 200_000
"""Size of the largest memory that is stored to place a result at the threshold."""


@trial("explorer: sequences of calls, on three servers in lockstep", after=MUST_RUN_BEFORE)
def explored(lab: Lab, survey: Survey, inline: Inline, edges: Edges) -> Explored:
    """Compose sequences of calls and stored memories; find the shortest that violates a requirement."""
    if not survey.adjustable:
        raise NotObserved("the profile gives no way to set the threshold (settings.threshold_tokens)")
    if not survey.offloaded:
        raise NotObserved(f"nothing was offloaded with a threshold of {survey.lowest}")
    with Explorer(lab, survey, inline, edges) as explorer:
        return explorer.explore()


class Explorer:
    """Three servers with the same memories, and the sequences that were tried on them."""

    def __init__(self, lab: Lab, survey: Survey, inline: Inline, edges: Edges) -> None:
        self._lab = lab
        self._edition = lab.editions.own
        levels = DetailLevels(survey)
        self._context = context_of(survey, levels, Estimates(survey, levels), self._edition, inline, edges)
        self._survey = survey
        kept = lab.kept
        self._benches: list[Bench] = [b for n in ("survey", "edges", "inline") if (b := kept.get(n)) is not None]
        self._threshold = edges.threshold if "edges" in kept else 0
        self._chance = random.Random(lab.seed + lab.explorations)  # no second exploration stores the same memories
        lab.explorations += 1
        self._judged = {r.id for r in catalogue(self._edition.name) if r.excluded is None}
        self._stack = ExitStack()
        self._search: BudgetedSearch[tuple[Triple, ...]] = BudgetedSearch(0)
        self._known_violations: set[str] = set()
        self._target_requirement: str | None = None
        self._sequence: list[Triple] = []
        self._steps: list[tuple[str, tuple[Any, ...]]] = []
        self._word: str | None = None
        self._memories: list[Record] = []
        self._refused = 0
        self._shares: bool | None = None
        """True if the servers share their memories; None until one has been stored."""
        self._live: list[LiveFinding] = []
        self.details: Mapping[str, Sequence[str]] = {
            name: operation.details for name, operation in survey.operations.items() if survey.offloads(name)
        }
        """The operations that offload, with their detail levels."""
        seed = lab.profile.seed
        self.can_store = seed is not None and seed.tool is not None
        """True if the suite can store memories."""

    def __enter__(self) -> Explorer:
        return self

    def __exit__(self, *exception: object) -> None:
        self._stack.close()

    @property
    def can_place(self) -> bool:
        """True if a result can be placed at the threshold of the server in the middle."""
        small = self._threshold * CHARACTERS_PER_TOKEN < MAX_PLACED_CHARACTERS
        return self.can_store and self._threshold > 0 and small

    def explore(self) -> Explored:
        """Try sequences until the budget is spent, again for each requirement that a sequence was found to violate."""
        from lro_conformance.explorers.hypothesis_runner import isolated, run_sequences
        from lro_conformance.explorers.machine import Steps, machine

        budget = self._lab.budget
        until = time.monotonic() + budget.seconds
        smallest: list[Triple] = []
        triples: list[Triple] = []
        unsteady: list[Triple] = []
        sequences = 0
        with isolated(self._lab.workspace.root / "hypothesis"):
            for turn in range(MAX_REDUCED):
                self._search, self._target_requirement = (
                    BudgetedSearch(until, lambda: self._lab.workspace.aborted),
                    None,
                )

                def search(turn: int = turn) -> None:
                    if turn == 0 and self.can_store:
                        self._try_fixed_sequences()
                    seed = self._lab.seed + turn
                    steps: Steps = weakref.proxy(self)
                    run_sequences(machine(steps), seed=seed, sequences=budget.sequences, steps=budget.steps)

                recurred = self._search.run(search, self._again)
                sequences += self._search.attempts
                triples += (t for clean in self._search.clean_attempts for t in clean)
                if not self._search.failing:
                    break
                (smallest if recurred else unsteady).extend(self._search.failing[-1])
                if self._target_requirement is not None:
                    self._known_violations.add(self._target_requirement)
                if time.monotonic() > until or not all(b.server.alive for b in self._benches):
                    break
        return Explored(
            smallest=tuple(smallest),
            triples=tuple(triples),
            unsteady=tuple(unsteady),
            threshold=self._threshold,
            sequences=sequences,
            memories=tuple(self._memories),
            refused=self._refused,
            live=tuple(self._live),
        )

    # sequences

    def begin(self) -> None:
        """Count a sequence that is about to begin, and forget the previous one. Raises `OutOfBudget`."""
        self._search.begin()
        self._lab.forget_experiments()
        self._sequence, self._steps, self._word = [], [], None

    def step(self, name: str, *given: Any) -> None:
        """Take the step *name*: ``store``, ``call`` or ``place``. Raises `Violation` for the target requirement."""
        self._steps.append((name, given))
        {"store": self.store, "call": self.call, "place": self.place}[name](*given)

    def end(self) -> None:
        """Record the sequence as one without a violation, unless one has been found."""
        if not self._search.failing:
            self._search.clean_attempts.append(tuple(self._sequence))

    def _try_fixed_sequences(self) -> None:
        """Try the sequences that come first in every run: tiny and varied memories, and results at the threshold."""
        for name, details in self.details.items():
            richest = {"name": name, "detail": [None, *details][-1], "limit": 20, "find": "stored"}
            self.begin()
            try:
                for memories in ([tiny()], various(), *([m] for m in undocumented())):
                    self.step("store", memories)
                    self.step("call", [richest])
                for distance in (0, 1) if self.can_place else ():
                    self.step("place", {"name": name}, distance)
            except Violation:
                self._reduce(richest)
                raise
            self.end()

    def _reduce(self, asked: Mapping[str, Any]) -> None:
        """Look for one memory of a sequence that shows the violation alone."""
        steps = self._steps
        for memory in [m for name, given in steps if name == "store" for m in given[0]]:
            try:
                self.begin()
                self.step("store", [memory])
                self.step("call", [asked])
            except Violation:
                return
        self._steps = steps

    def _again(self) -> None:
        """Repeat the last sequence."""
        steps = list(self._steps)
        self._lab.forget_experiments()
        self._sequence, self._steps, self._word = [], [], None
        for name, given in steps:
            self.step(name, *given)

    # steps

    def store(self, given: Sequence[Record]) -> None:
        """Store memories in each server, with ids and with a word in their titles that no other memory has."""
        word = "".join(self._chance.choices(string.ascii_lowercase, k=8))
        memories = [{"id": self._id(), **m, "title": f"{word} {m['title']}"} for m in given]
        if self._survey.lowest > 1:
            memories[0]["content"] += " 0123456" * self._survey.lowest
        for memory in memories:
            first, *others = self._benches
            accepted = first.stored(memory)
            if accepted and self._shares is None:
                self._shares = self._is_shared(others[-1], memory["id"], word)
            if not (accepted and (self._shares or all([bench.stored(memory) for bench in others]))):  # noqa: C419
                self._refused += 1
                return
            self._memories.append(memory)
        self._word = word

    def _is_shared(self, other: Bench, id: str, word: str) -> bool:
        """Return whether a server finds a memory that only another one was given, as they use the same store."""
        found = (other.call(name, query=word, limit=5) for name in self.details)
        return any(id in by_id(call.records or []) for call in found)

    def call(self, asked: Sequence[Mapping[str, Any]]) -> None:
        """Make calls of each server, several at once, and judge what they return."""
        wanted = [self._arguments(one) for one in asked]
        before = [set(b.files()) for b in self._benches]
        with ExitStack() as stack:
            for bench in self._benches:
                stack.enter_context(bench.lock)
            sent = [[bench.post(one) for one in wanted] for bench in self._benches]
            seen = [[b.collect(s) for s in each] for b, each in zip(self._benches, sent, strict=True)]
        named = {c.path for each in seen for c in each}
        stray = [
            name
            for bench, known in zip(self._benches, before, strict=True)
            for name in sorted(set(bench.files()) - known)
            if bench.editions.is_offload_name(name) and not any(path.endswith(f"/{name}") for path in named)
        ]
        made: list[Triple] = []
        for number, calls in enumerate(zip(*seen, strict=True)):
            lowest, *between, inline = calls
            middle = next(iter(between), None)
            made.append(Triple(lowest, inline, middle, len(asked) > 1, tuple(stray) if number == 0 else ()))
        self._sequence += made
        self._judge(len(made))

    def place(self, asked: Mapping[str, Any], distance: int) -> None:
        """Store memories one after another, so that the result of a call for the last is at the threshold."""
        richest = [None, *self.details[asked["name"]]][-1]
        wanted = {**asked, "detail": richest, "find": "stored", "limit": 5}
        target = self._threshold + distance
        length = max(8, target * CHARACTERS_PER_TOKEN - 600)
        for _ in range(TRIES):
            self.store([_plain("lorem ipsum " * (length // 12 + 1), length)])
            self.call([wanted])
            estimate = self._sequence[-1].lowest.estimate
            if estimate is None or estimate == target:
                return
            length = max(8, length + (target - estimate) * CHARACTERS_PER_TOKEN)
            if length > MAX_PLACED_CHARACTERS:
                return

    def _arguments(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Arguments of a bench's call."""
        wanted = dict(asked)
        find = wanted.pop("find")
        word = self._word if find == "stored" else self._survey.word if find == "word" else None
        return {**wanted, "query": word}

    def _id(self) -> str:
        return str(uuid.UUID(int=self._chance.getrandbits(128), version=4))

    # the model

    def _judge(self, count: int) -> None:
        """Judge the exchanges of the last *count* triples; end the sequence if one violates the target requirement.

        Without a target, the first requirement that is violated becomes it.
        """
        made = exchanges_of(self._sequence, self._memories)
        last = {id(c) for t in self._sequence[-count:] for c in t.calls}
        apart = varying(e for e in made if id(e.call) in last)
        self._context = replace(self._context, varying=max(self._context.varying, apart))
        for exchange in made:
            if id(exchange.call) not in last:
                continue
            for requirement in self._violated(exchange):
                if requirement not in self._judged or requirement in self._known_violations:
                    continue
                if self._target_requirement is None and requirement in self._violated_anyway:
                    continue
                if self._target_requirement is None:
                    self._target_requirement = requirement
                if requirement == self._target_requirement:
                    self._search.found(tuple(self._sequence))

    def _violated(self, exchange: Exchange) -> Iterator[str]:
        """Requirements that an exchange violates.

        Of the calls in lockstep, only that at the lowest threshold has its descriptor and file validated: the others
        have the same.
        """
        for requirement in RULES:
            found = (f for f in findings(exchange, self._context, requirement) if not isinstance(f, str))
            if not all(f.holds for f in found):
                yield requirement
        if exchange.call.outcome == "offloaded" and (exchange.lowest is None or exchange.lowest is exchange.call):
            document = self._document(exchange.call)
            for finding in filter(breaks, document.findings):
                if is_examined(finding.rule) and unmet_precondition(finding.rule, document) is None:
                    self._keep_installed_jq_finding(finding, document)
                    yield finding.rule

    def _document(self, call: Call) -> Document:
        details = self._context.details
        unknown = details.reason_for_no_level(call)
        request = Request(call.operation, details.level_of(call) if unknown is None else None)
        return with_recipes(validated(call, request, self._edition, unknown=unknown), self._recipes, self._edition)

    @cached_property
    def _recipes(self) -> RecipeJudge:
        """The judge of all recipes. It also compares with the machine's jq, which only a live run may depend on."""
        return self._stack.enter_context(RecipeJudge(fallback=True, compares=True))

    def _keep_installed_jq_finding(self, finding: Finding, document: Document) -> None:
        """Keep a finding that only the installed jq shows: judging the evidence again, elsewhere, would not find it."""
        shown = {(f.rule, f.pointer, f.observed) for f in self._recipes.only_installed}
        if (finding.rule, finding.pointer, finding.observed) in shown:
            self._live.append(LiveFinding.of(document.call, finding))

    @cached_property
    def _violated_anyway(self) -> frozenset[str]:
        """Requirements that the calls of the survey violate, so that no sequence is needed to show it."""
        comparison = self._context.comparison
        exchanges = [Exchange(call, twin) for call, twin in (comparison.pairs if comparison is not None else ())]
        exchanges += [Exchange(call) for call in self._survey.calls]
        return frozenset(requirement for exchange in exchanges for requirement in self._violated(exchange))


def _plain(text: str, length: int) -> Record:
    return {
        "memory_type": "semantic",
        "namespace": "_semantic/a",
        "title": "placed",
        "content": text[:length],
        "created": "2026-01-02T03:04:05Z",
        "status": "active",
        "provenance": {"confidence": 0.5},
    }
