"""The explorer gives three servers the same sequences of steps, and judges the result of every call. Some sequences are
fixed; Hypothesis composes the others.

The servers have the lowest threshold, a threshold near the sizes of results, and a threshold that no result reaches. A
sequence ends when it violates the target requirement. The explorer then looks for the shortest sequence that violates
this requirement.
"""

from __future__ import annotations

import os
import random
import string
import time
import uuid
import weakref
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from lro_conformance.analysis.detail import DetailLevels
from lro_conformance.analysis.documents import (
    Document,
    document_of,
    is_examined,
    unmet_precondition,
    violates,
    with_recipes,
)
from lro_conformance.analysis.estimate import Estimates
from lro_conformance.analysis.exchanges import RULES, Exchange, context_of, exchanges_of, extended_context, findings
from lro_conformance.analysis.failed_writes import offloads_again, violated_by
from lro_conformance.analysis.sequences import failing_of, in_sequence, recovered_of
from lro_conformance.analysis.sweeps import violated_by_sweep
from lro_conformance.capture.call import Call
from lro_conformance.capture.corpus import (
    NOWHERE,
    cjk_memories,
    revisions,
    tiny_memory,
    undocumented,
    uneven,
    unusual,
    various_memories,
)
from lro_conformance.capture.intervention import MENDED, REMOVED, REPLACED, RESTARTED, Intervention
from lro_conformance.capture.records import Record, strings_in
from lro_conformance.explorers.budgeted_search import BudgetedSearch, Violation
from lro_conformance.judging.outcome import NotObserved
from lro_conformance.lab.broken_folder import BrokenFolder, clear
from lro_conformance.profile.reader import memory_placeholders
from lro_conformance.trials import trial
from lro_conformance.trials.decoys import DAY
from lro_conformance.trials.edges import Edges
from lro_conformance.trials.exploration import Explored, LiveFinding, Series, Triple
from lro_conformance.trials.survey import Inline, Survey
from lro_conformance.trials.trigger import sweep_beside, template_in
from lro_spec.catalogue import catalogue
from lro_spec.findings import Finding
from lro_spec.tokens import CHARACTERS_PER_TOKEN
from lro_spec.validation.recipes import RecipeJudge

if TYPE_CHECKING:
    from lro_conformance.lab.bench import Bench
    from lro_conformance.lab.lab import Lab

MAX_SEARCHES = 3
"""Maximum number of searches. Each reduces a violation of a different requirement to its shortest sequence."""

MAX_PLACING_ATTEMPTS = 4
"""Maximum number of memories that are stored, one after another, until the size of a result is at the threshold."""

MUST_RUN_BEFORE = ("defaults", "control", "lasting")
"""Trials that have to end before the explorer begins. They compare calls of servers that are shared by trials
(`Lab.kept`), in which the explorer stores more memories, or they look at files in folders that the explorer breaks."""

LARGE_BUDGET = 100
"""Minimum number of sequences in a large budget. Only with a large budget do the sequences that are composed by
Hypothesis include steps that start a server, run a command of the profile, or wait."""

BEGINNING_CHARACTERS = 40
"""Number of characters at the beginning of a text by which the text is recognised, since a server may show only its
beginning."""

MAX_SERIES_CALLS = 250
"""Maximum number of equal calls in a series (`Series`), which one process has to answer."""

CONCURRENT_SERIES_CALLS = 10
"""Number of calls of the series that are made at the same time."""

SERIES_TIME_S = 2.5
"""Time, in seconds, after which no further calls of the series begin, so that slow servers have to answer fewer
calls."""

BATCH_TEST_LIMITS = (100, 101, 128, 129)
"""Values of `limit` in calls that test batches. They are multiples of the usual batch sizes (10, 16, 20, 25, 32, 50,
64, 100), and one more than these multiples."""

LARGE_CONTENT_CHARACTERS = 8_000
"""Characters in the content of memories that are much larger than others (`_try_growing_results`)."""

Step = Sequence[Any]
"""The name of a step and its arguments."""

TOKEN_BUDGET = 300
"""Token budget in some calls of inject. The decision whether to offload, and the file, must not depend on the
budget."""

MAX_PLACED_CHARACTERS = 200_000
"""Maximum size, in characters, of a memory that is stored to make the size of a result reach the threshold."""


@trial("explorer: sequences of calls, on three servers in lockstep", after=MUST_RUN_BEFORE)
def explored(lab: Lab, survey: Survey, inline: Inline, edges: Edges) -> Explored:
    """Compose sequences of calls and stored memories; find the shortest that violates a requirement."""
    if not survey.adjustable:
        raise NotObserved(survey.reason_not_set("threshold_tokens"))
    if not survey.offloaded:
        raise NotObserved(f"nothing was offloaded with a threshold of {survey.lowest}")
    with Explorer(lab, survey, inline, edges) as explorer:
        return explorer.explore()


class Explorer:
    """Three servers with the same memories (two if no exact threshold was tested), and the sequences tried on them."""

    def __init__(self, lab: Lab, survey: Survey, inline: Inline, edges: Edges) -> None:
        self._lab = lab
        self._edition = lab.editions.own
        levels = DetailLevels(survey)
        self._estimates = Estimates(survey, levels)
        self._context = context_of(survey, levels, self._estimates, self._edition, inline, edges)
        if self._context.comparison is not None:
            self._context = extended_context(
                self._context, [Exchange(a, b) for a, b in self._context.comparison.pairs_between_inline_calls]
            )
        self._survey, self._inline = survey, inline
        kept = lab.kept
        self._benches: list[Bench] = [b for n in ("survey", "edges", "inline") if (b := kept.get(n)) is not None]
        self._threshold = edges.threshold if "edges" in kept else 0
        self._random = random.Random(lab.seed + lab.explorations)  # no second exploration stores the same memories
        lab.explorations += 1
        self._judged_requirements = {r.id for r in catalogue(self._edition.name) if r.excluded is None}
        self._stack = ExitStack()
        self._search: BudgetedSearch[tuple[Triple, ...]] = BudgetedSearch(0)
        self._known_violations: set[str] = set()
        self._target_requirement: str | None = None
        self._sequence: list[Triple] = []
        self._steps: list[tuple[str, tuple[Any, ...]]] = []
        self._violating_steps: Sequence[tuple[str, tuple[Any, ...]]] = ()
        self._stored_word: str | None = None
        self._last_id: str | None = None
        """The id of the memory that was stored last in the sequence."""
        self._memories: list[Record] = []
        self._refused_memories = 0
        self._series: Series | None = None
        self._new_interventions: list[Intervention] = []
        """Interventions since the last call of the sequence."""
        self._broken_folders: list[BrokenFolder] = []
        """The broken folders; empty if files can be written."""
        self._failure_kind = ""
        """Kind of failure of the broken folders."""
        self._request_before_failure: Mapping[str, Any] = {}
        """The arguments of the call that was made before the folders were broken."""
        self._is_stuck = False
        """True if a server ended while its folder was broken, or no longer offloads."""
        self._starts_afresh = False
        """True if the servers have to be restarted before each attempt, because the violation followed an intervention
        or may depend on earlier calls."""
        self._had_interventions = False
        """True if there were interventions since the processes were started."""
        self._known_events: Counter[str] = Counter()
        """OffloadWriteFailed events of the first server so far."""
        self._stored_before = 0
        """Number of memories that were stored in earlier sequences."""
        self._progress_tokens = 0
        """Number of calls that asked for progress."""
        self._live_findings: list[LiveFinding] = []
        self.details: Mapping[str, Sequence[str]] = {
            name: operation.details for name, operation in survey.operations.items() if survey.offloads(name)
        }
        """The operations that offload, with their detail levels."""
        self.filters: Mapping[str, Mapping[str, Any]] = {name: self._filters(name) for name in self.details}
        """For each operation, the optional arguments that select memories and the argument for a token budget, each
        with a value."""
        seed = lab.profile.seed
        self.can_store = seed is not None and seed.tool is not None
        """True if the suite can store memories."""
        words = {*memory_placeholders(seed.arguments)} if seed is not None else set[str]()
        self._stores_titles = bool(words & {"$memory", "$memory.title"})

    def __enter__(self) -> Explorer:
        return self

    def __exit__(self, *exception: object) -> None:
        self._stack.close()

    @property
    def can_place(self) -> bool:
        """True if memories can be stored until the size of a result is at the threshold of the middle server."""
        is_small = self._threshold * CHARACTERS_PER_TOKEN < MAX_PLACED_CHARACTERS
        return self.can_store and self._threshold > 0 and is_small

    @property
    def ttl_s(self) -> int:
        """The TTL of the servers, in seconds. It is the default TTL."""
        return self._edition.default_ttl_seconds

    @property
    def _offloading(self) -> list[Bench]:
        """The servers that offload: all servers except the last, whose threshold no result reaches."""
        return self._benches[:-1]

    @property
    def is_broken(self) -> bool:
        """True if the output folders are broken."""
        return bool(self._broken_folders)

    @property
    def interventions(self) -> Sequence[str]:
        """The interventions in sequences that are composed by Hypothesis.

        Interventions that need a start of a server, a command of the profile or a wait are included only if the budget
        is large.
        """
        trigger, is_large = self._benches[0].profile.cleanup, self._lab.budget.sequences >= LARGE_BUDGET
        is_quick = trigger is None or trigger.tool is not None or trigger.next_offload
        possible = {
            "break": self._can_break,
            "sweep": self._can_sweep and (is_quick or is_large),
            "restart": self._can_restart and is_large,
        }
        return [name for name, is_possible in possible.items() if is_possible]

    @property
    def _can_break(self) -> bool:
        """True if the folders of the servers that offload can be broken, and no violation of the requirements on failed
        writes is known."""
        is_known = self._known_violations & {"LRO-ERR-01", "LRO-ERR-06"}
        return not is_known and bool(self._offloading) and all(b.output_dir is not None for b in self._offloading)

    @property
    def _can_sweep(self) -> bool:
        """True if cleanup of the first server's own folder can be triggered without a restart, under the default
        TTL."""
        first = self._benches[0]
        trigger = first.profile.cleanup
        is_default = "ttl_seconds" not in first.profile.preset
        by_restart = trigger is not None and trigger.restart
        return is_default and first.output_dir is not None and first.has_trigger and not by_restart

    @property
    def _can_restart(self) -> bool:
        """True if the first server writes into a folder of its own, which it keeps when it is started again."""
        return self._benches[0].output_dir is not None

    def explore(self) -> Explored:
        """Try sequences until the budget is spent. After a violation, search again, up to `MAX_SEARCHES` searches in
        all."""
        from lro_conformance.explorers.hypothesis_runner import isolated, run_sequences
        from lro_conformance.explorers.machine import Steps, machine

        budget = self._lab.budget
        until = time.monotonic() + budget.seconds
        smallest: list[Triple] = []
        triples: list[Triple] = []
        unsteady: list[Triple] = []
        sequences = 0
        self._make_series()
        with isolated(self._lab.workspace.root / "hypothesis"):
            for turn in range(MAX_SEARCHES):
                self._search = BudgetedSearch(until, lambda: self._lab.workspace.aborted)
                self._target_requirement, self._starts_afresh = None, False

                def search(turn: int = turn) -> None:
                    if turn == 0:
                        if self.can_store:
                            self._try_fixed_sequences()
                        self._try_sizes()
                        if self.can_store:
                            self._try_growing_results()
                        self._try_interventions()
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
            refused=self._refused_memories,
            events_observable=self._lab.observes_events,
            series=self._series,
            live=tuple(self._live_findings),
        )

    # sequences

    def begin(self) -> None:
        """Count a sequence that is about to begin, and forget the previous one. Raises `OutOfBudget` if the budget is
        spent (see `BudgetedSearch.begin`)."""
        self._search.begin()
        self._forget()

    def _forget(self) -> None:
        """Forget the previous sequence. If it may have changed the behaviour of the servers that offload, restart these
        servers."""
        for bench in self._benches:  # servers of other trials, which run at the same time, are left alone
            bench.forget_experiment()
        self._sequence, self._steps, self._new_interventions = [], [], []
        self._stored_word = self._last_id = None
        self._stored_before = len(self._memories)
        if self._is_stuck or (self._starts_afresh and self._had_interventions):
            for bench in self._offloading:
                folder = bench.output_dir
                for path in folder.iterdir() if folder is not None and folder.is_dir() else ():
                    clear(path)  # otherwise each script that reproduces a violation would have to make this entry
                self._start_again(bench)
            self._is_stuck = self._had_interventions = False

    def step(self, name: str, *arguments: Any) -> None:
        """Take a step by its name. Raises `Violation` if it violates the target requirement (see `_judge`)."""
        self._steps.append((name, arguments))
        {
            "store": self.store,
            "call": self.call,
            "place": self.place,
            "break": self.break_folder,
            "mend": self.mend_folder,
            "sweep": self.sweep,
            "restart": self.restart,
        }[name](*arguments)

    def end(self) -> None:
        """Mend broken folders. Then record the sequence as one without a violation, unless a violation has been
        found."""
        self._mend()
        if not self._search.failing:
            self._search.clean_attempts.append(tuple(self._sequence))

    def _try_fixed_sequences(self) -> None:
        """Try a fixed sequence of steps for each operation.

        It stores memories that are tiny, varied, unusual, in CJK scripts, or stored again, and calls the operation
        after each. Then it makes calls with other queries and arguments, and calls whose results are at the threshold.
        """
        for name, details in self.details.items():
            richest = {"name": name, "detail": [None, *details][-1], "limit": 20, "find": "stored"}
            self.begin()
            try:
                version, next_version = revisions()
                in_cjk = [{**m, "id": self._id()} for m in cjk_memories()[:4]]
                in_cjk[-1]["id"] += f"-{self._id()}"  # longer than a UUID
                for arguments in (
                    ([tiny_memory()],),
                    (various_memories(),),
                    *(([m],) for m in (unusual(), *undocumented(), version)),
                    ([next_version], False, True),
                    (in_cjk,),
                ):
                    self.step("store", *arguments)
                    self.step("call", [richest])
                self.step("call", [{**richest, "progress": True}])
                self.step("call", [{**richest, "find": "nothing"}])
                self.step("call", [{**richest, "find": "any"}])
                selecting = [{**richest, "find": "all", "arguments": {k: v}} for k, v in self.filters[name].items()]
                if selecting:
                    self.step("call", selecting)
                for distance in (0, 1) if self.can_place else ():
                    self.step("place", {"name": name}, distance)
            except Violation:
                self._reduce()
                raise
            self.end()

    def _try_interventions(self) -> None:
        """Try a fixed sequence of interventions: folders are broken and mended, old files are cleaned up, and a server
        is restarted.

        All operations are called while the folders are broken for the first time. The other interventions are tried
        with only one operation.
        """
        requests = [{"name": n, "detail": [None, *d][-1], "limit": 3, "find": "all"} for n, d in self.details.items()]
        request, *other_requests = requests
        calls: list[Step] = [("call", [{**other, "limit": 20}]) for other in other_requests]
        ages = [self.ttl_s // 2, self.ttl_s - 60, self.ttl_s + 60, *(n * DAY for n in (2, 20, 70))]
        first_failure: list[Step] = [*calls, ("break", request, REPLACED), *calls, ("mend",)] if self._can_break else []
        second_failure: list[Step] = [("break", request, REMOVED), ("mend",)] if self._can_break else []
        sweep: list[Step] = [("sweep", request, ages)] if self._can_sweep else []
        restart: list[Step] = [("restart", request)] if self._can_restart else []
        self._try([*first_failure, *sweep, *second_failure, *restart])

    def _try_sizes(self) -> None:
        """Try limits at which the last batch of records, if batches have a usual size, is full or has only one
        record."""
        limited = [n for n in self.details if self._survey.operations[n].limit is not None]
        for name in limited[:1]:
            request = {"name": name, "detail": [None, *self.details[name]][-1], "find": "all"}
            self._try([("call", [{**request, "limit": size}]) for size in BATCH_TEST_LIMITS])

    def _try_growing_results(self) -> None:
        """Call for a result of one memory, store more memories, two of which are much larger, and make the call again.

        A server that keeps a part of the first result, or estimates by a sample of the records, misjudges the size of
        the second result.
        """
        requests = [
            {"name": n, "detail": [None, *d][-1], "limit": 20, "find": "stored"} for n, d in self.details.items()
        ]
        first_memory, *other_memories = (
            {**m, "id": self._id()} for m in uneven(LARGE_CONTENT_CHARACTERS, large=1, small=12)
        )
        calls = [("call", [request]) for request in requests]
        self._try([("store", [first_memory]), *calls, ("store", other_memories, True), *calls])

    def _try(self, steps: Sequence[Step]) -> None:
        """Try a sequence of these steps, and reduce it if it shows a violation."""
        try:
            self._take(steps)
        except Violation:
            self._reduce_to_part(steps[: len(self._steps)])
            raise

    def _take(self, steps: Sequence[Step]) -> None:
        """Take these steps, as a sequence of their own."""
        self.begin()
        try:
            for name, *arguments in steps:
                self.step(name, *arguments)
        finally:
            self.end()

    def _reduce_to_part(self, steps: Sequence[Step]) -> None:
        """Look for the shortest part of a sequence that reproduces the violation."""
        parts = [steps[n : n + length] for length in range(1, len(steps)) for n in range(len(steps) - length + 1)]
        for part in (p for p in parts if p[0][0] != "mend"):
            try:
                self._take(part)
            except Violation:
                return

    def _reduce(self) -> None:
        """Look for a short sequence that reproduces the violation, and record it.

        First, the last step is tried alone, and then after storing a single memory of the sequence. If the violation
        depends on earlier calls, such as a call that fills a cache, the smallest number of last steps that reproduces
        the violation is kept.
        """
        steps = self._steps
        name, arguments = steps[-1]
        stored = [m for name, arguments in steps if name == "store" for m in arguments[0]]
        for before in ((), *([("store", [memory])] for memory in stored)):
            try:
                self._take([*before, (name, *arguments)])
            except Violation:
                if self._recurs_afresh(self._steps):
                    return
                break
        for length in range(2, len(steps) + 1):
            if self._recurs_afresh(steps[-length:]):
                return
        self._search.failing.append(self._search.failing[0])  # no part of the sequence reproduces the violation

    def _recurs_afresh(self, steps: Sequence[tuple[str, tuple[Any, ...]]]) -> bool:
        """Return whether the violation recurs if these steps are repeated in fresh processes."""
        self._starts_afresh = self._had_interventions = True
        try:
            self._take([(name, *arguments) for name, arguments in steps])
        except Violation:
            self._had_interventions = True
            return True
        return False

    def _again(self) -> None:
        """Repeat the last sequence that has shown a violation."""
        self._forget()
        for name, arguments in self._violating_steps:
            self.step(name, *arguments)

    # steps

    def store(self, new_memories: Sequence[Record], are_more: bool = False, revise: bool = False) -> None:
        """Store memories in each server, with ids and with a word by which a query finds them.

        No other memory has this word. But if *are_more* is True, the word of the previously stored memories is used
        again. If *revise* is True, the first of the memories is a new version of the memory that was stored last in
        this sequence: it is stored under the same id.
        """
        word = (self._stored_word if are_more else None) or "".join(self._random.choices(string.ascii_lowercase, k=8))
        memories = [{"id": self._id(), **m, (field := self._word_field(m)): f"{word} {m[field]}"} for m in new_memories]
        if revise and self._last_id is not None:
            memories[0]["id"] = self._last_id
        if self._survey.lowest > 1:  # one memory has to exceed the lowest threshold
            memories[0]["content"] += " 0123456" * self._survey.lowest
        for memory in memories:
            first, *others = self._benches
            if not (first.try_to_store(memory) and all([bench.try_to_store(memory) for bench in others])):  # noqa: C419
                self._refused_memories += 1
                continue
            self._memories.append(memory)
            self._stored_word, self._last_id = word, memory["id"]

    def call(self, requests: Sequence[Mapping[str, Any]]) -> None:
        """Make these calls of each server, all at the same time, and judge what they return."""
        arguments = [self._arguments(request) for request in requests]
        files_by_server = [set(b.files()) for b in self._benches]
        with ExitStack() as stack:
            for bench in self._benches:
                stack.enter_context(bench.lock)
            sent = [bench.start_calls(arguments) for bench in self._benches]
            calls_by_server = [[b.finish_call(s) for s in each] for b, each in zip(self._benches, sent, strict=True)]
        named_files = {os.path.basename(c.path) for each in calls_by_server for c in each}
        stray_files = [
            name
            for bench, files_before in zip(self._benches, files_by_server, strict=True)
            for name in sorted(set(bench.files()) - files_before)
            if bench.editions.is_offload_name(name) and name not in named_files
        ]
        triples: list[Triple] = []
        for number, calls in enumerate(zip(*calls_by_server, strict=True)):
            lowest, *between, inline = calls
            middle = next(iter(between), None)
            triple = Triple(lowest, inline, middle, len(requests) > 1, tuple(stray_files) if number == 0 else ())
            before = tuple(self._new_interventions) if number == 0 else ()
            events = self._new_events() if self._broken_folders and len(requests) == 1 else None
            begins = not self._sequence and number == 0
            triples.append(
                replace(
                    triple,
                    begins=begins,
                    before=before,
                    broken=self._failure_kind,
                    events=events,
                    stored=len(self._memories),
                )
            )
        self._new_interventions = []
        self._sequence += triples
        self._judge(len(triples))

    def place(self, request: Mapping[str, Any], distance: int) -> None:
        """Store memories one after another, until the result of a call for the last memory has *distance* tokens more
        than the threshold of the middle server."""
        richest = [None, *self.details[request["name"]]][-1]
        wanted = {**request, "detail": richest, "find": "stored", "limit": 5}
        target = self._threshold + distance
        length = max(8, target * CHARACTERS_PER_TOKEN - 600)
        for _ in range(MAX_PLACING_ATTEMPTS):
            self.store([_plain("lorem ipsum " * (length // 12 + 1), length)])
            self.call([wanted])
            estimate = self._sequence[-1].lowest.estimate
            if estimate is None or estimate == target:
                return
            length = max(8, length + (target - estimate) * CHARACTERS_PER_TOKEN)
            if length > MAX_PLACED_CHARACTERS:
                return

    def break_folder(self, request: Mapping[str, Any], kind: str) -> None:
        """Make a call, break the output folders of the servers that offload, and make the call again."""
        self.call([request])
        self._request_before_failure, self._failure_kind = request, kind
        self._known_events = self._events(-1)
        self._broken_folders = [BrokenFolder(b.output_dir, kind) for b in self._offloading if b.output_dir is not None]
        self._intervene(Intervention(kind))
        self.call([request])

    def mend_folder(self) -> None:
        """Mend the folders, and make the call again that was made before they were broken."""
        self._mend()
        self.call([self._request_before_failure])

    def _mend(self) -> None:
        """Mend the folders if they are broken, without a call."""
        if not self._broken_folders:
            return
        for folder in self._broken_folders:
            folder.mend()
        self._broken_folders, self._failure_kind = [], ""
        self._intervene(Intervention(MENDED))
        self._is_stuck |= not all(b.server.alive for b in self._offloading)

    def _intervene(self, intervention: Intervention) -> None:
        self._new_interventions.append(intervention)
        self._had_interventions = True

    def _new_events(self) -> tuple[str, ...]:
        """OffloadWriteFailed events of the first server that have appeared since the last look."""
        known = self._known_events
        self._known_events = self._events(known.total() if self._lab.observes_events else -1)
        return tuple((self._known_events - known).elements())

    def _events(self, known_count: int) -> Counter[str]:
        """OffloadWriteFailed events of the first server so far.

        If there are at most *known_count* events, the wait for further events is longer. With -1, the wait is always
        short.
        """
        return Counter(self._benches[0].events("OffloadWriteFailed", known_count))

    def sweep(self, request: Mapping[str, Any], ages: Sequence[int]) -> None:
        """Make a call, plant copies of its file with these ages, and trigger cleanup."""
        self.call([request])
        triple, first = self._sequence[-1], self._benches[0]
        template = template_in(triple.lowest, self._edition.name)
        if template is None:
            return
        self._had_interventions = True
        result = sweep_beside(first, triple.lowest, template, ages)
        own_files = {c.path for t in self._sequence for c in (t.lowest,) if not t.broken and c.file is not None}
        gone = tuple(sorted(os.path.basename(path) for path in own_files if not os.path.lexists(path)))
        self._sequence[-1] = replace(triple, sweep=replace(result, own_gone=gone))
        self._judge(1)

    def restart(self, request: Mapping[str, Any]) -> None:
        """Make a call, restart the server with the lowest threshold, and make the call again."""
        self.call([request])
        self._start_again(self._benches[0])
        self._intervene(Intervention(RESTARTED))
        self.call([request])

    def _start_again(self, bench: Bench) -> None:
        """Restart a server, and store again the memories that it has lost, including those of earlier attempts."""
        memories_before = bench.memories
        bench.restart()
        if bench is self._benches[0]:
            self._known_events.clear()
        texts = [text for m in self._memories if (text := self._beginning(m))]
        texts = [text for text in texts if " " in text] or texts  # a word alone proves less
        word = texts[-1].partition(" ")[0] if texts else ""
        if not texts or self._holds(bench, word, [text for text in texts if text.partition(" ")[0] == word]):
            bench.memories = memories_before
            return
        of_sequence = {memory["id"] for memory in self._memories[self._stored_before :]}
        lost = memories_before[len(bench.memories) :]
        for memory in (m for m in lost if m.get("id") not in of_sequence):
            bench.try_to_store(memory)
        bench.forget_experiment()
        for memory in (m for m in lost if m.get("id") in of_sequence):
            bench.try_to_store(memory)

    def _beginning(self, memory: Record) -> str:
        """The beginning of the text by which a memory is found."""
        return str(memory[self._word_field(memory)]).strip().partition("\n")[0][:BEGINNING_CHARACTERS].strip()

    def _word_field(self, memory: Record) -> str:
        """The field of a memory to which the explorer adds a word.

        This is the title. It is the content if the memory has content but no title, or if the tool that stores memories
        takes no title.
        """
        return "title" if self._stores_titles and (memory["title"] or not memory["content"]) else "content"

    def _holds(self, bench: Bench, word: str, beginnings: Collection[str]) -> bool:
        """Return whether a server finds one of the memories whose texts have these *beginnings*.

        The ids of the memories and the names of their fields are ignored. The query is *word*, with which all
        beginnings start. An answer may repeat the query, so the word alone proves nothing, unless it is in a record.
        """
        calls = (bench.call(n, query=word, limit=5, detail=[None, *d][-1]) for n, d in self.details.items())
        answers = [(strings_in(call.file_records or call.records or []), call.text) for call in calls]
        of_records = [text for texts, _ in answers for text in texts]
        texts_without_records = [text for texts, text in answers if not texts]
        return any(
            b in text for b in beginnings for text in (*of_records, *(texts_without_records if " " in b else ()))
        )

    def _make_series(self) -> None:
        """Repeat one call of the first server, for its smallest result, `MAX_SERIES_CALLS` times or until
        `SERIES_TIME_S` are over.

        The first call that is not offloaded ends the series.
        """
        first = self._benches[0]
        name = next(iter(self.details))
        request = {"name": name, **first.accepted.arguments_of_offloading_call(name, 1)}
        until = time.monotonic() + SERIES_TIME_S
        calls = 0
        names: Counter[str] = Counter()
        read: list[str] = []
        last: Call | None = None
        while calls < MAX_SERIES_CALLS and time.monotonic() < until and (last is None or last.outcome == "offloaded"):
            for call in first.calls([request] * CONCURRENT_SERIES_CALLS):
                last, calls = call, calls + 1
                if call.outcome != "offloaded":
                    break
                names[os.path.basename(call.path)] += 1
                if call.file is not None and call.file.problem is None:
                    read.append(call.path)
        if last is not None:
            gone = tuple(os.path.basename(path) for path in read if not os.path.lexists(path))
            self._series = Series(last, calls, tuple(n for n, times in names.items() if times > 1), gone)

    def _arguments(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments that a bench needs to make this call."""
        wanted = dict(request)
        find, progress = wanted.pop("find"), wanted.pop("progress", False)
        words = {"stored": self._stored_word, "word": self._survey.word, "nothing": NOWHERE}
        if progress:
            self._progress_tokens += 1
            wanted["meta"] = {"progressToken": f"lro-{self._progress_tokens}"}
        omits = find == "any" and not self._survey.operations[wanted["name"]].needs_query
        return {**wanted, "query": words.get(find), "omit_query": omits}

    def _filters(self, name: str) -> dict[str, Any]:
        """Optional arguments of an operation that select memories, and its argument for a token budget, each with a
        value."""
        from lro_conformance.lab.seeding import filters  # here, so that `lro judge` loads no code that drives servers

        operation, whole = self._survey.operations[name], self._survey.whole[name, None]
        listed = [t for t in self._survey.tools if t.get("name") == operation.tool]
        special_arguments = (operation.query, operation.limit, operation.detail, operation.budget)
        taken = {*operation.arguments, *filter(None, special_arguments)}
        found = filters(listed[0], whole.file_records or whole.records or [], taken) if listed else {}
        return found if operation.budget is None else {**found, operation.budget: TOKEN_BUDGET}

    def _id(self) -> str:
        return str(uuid.UUID(int=self._random.getrandbits(128), version=4))

    # judging

    def _judge(self, count: int) -> None:
        """Judge the last *count* triples of the sequence. End the sequence if one of them violates the target
        requirement.

        If there is no target requirement yet, the first requirement that is violated becomes the target, unless the
        calls of the survey violate it, too. Requirements whose violation was found in an earlier search do not count.
        """
        last_calls = {id(c) for t in self._sequence[-count:] for c in t.calls}
        exchanges = [e for e in exchanges_of(self._sequence, self._memories) if id(e.call) in last_calls]
        self._context = extended_context(self._context, exchanges)
        exchanges = self._context.applied_to(exchanges)
        violated = (requirement for exchange in exchanges for requirement in self._violated(exchange))
        for requirement in (*self._violated_after_interventions(count), *violated):
            if requirement not in self._judged_requirements or requirement in self._known_violations:
                continue
            if self._target_requirement is None and requirement in self._violated_by_survey:
                continue
            if self._target_requirement is None:
                self._target_requirement = requirement
            if requirement == self._target_requirement:
                self._starts_afresh |= any(t.before or t.sweep is not None for t in self._sequence)
                self._violating_steps = tuple(self._steps)
                self._search.record_violation(tuple(self._sequence))

    def _violated_after_interventions(self, count: int) -> Iterator[str]:
        """Requirements on failed writes and on cleanup that the last *count* triples of the sequence violate."""
        for placed_triple in list(in_sequence(self._sequence))[-count:]:
            self._is_stuck |= placed_triple.is_stuck
            for failing in failing_of(placed_triple, observable=self._lab.observes_events):
                yield from violated_by(failing, self._context, self._inline, self._estimates)
            for recovered in recovered_of(placed_triple):
                if not all(f.holds for f in offloads_again(recovered.call, self._survey)):
                    yield "LRO-ERR-06"
            if placed_triple.triple.sweep is not None:
                yield from violated_by_sweep(placed_triple.triple.sweep, self.ttl_s)

    def _violated(self, exchange: Exchange) -> Iterator[str]:
        """Requirements that an exchange violates.

        Each call is made of all servers, but only the descriptor and the file of the server with the lowest threshold
        are validated. The descriptors and files of the other servers should have the same content.
        """
        for requirement in RULES:
            found = (f for f in findings(exchange, self._context, requirement) if not isinstance(f, str))
            if not all(f.holds for f in found):
                yield requirement
        if exchange.call.outcome == "offloaded" and (exchange.lowest is None or exchange.lowest is exchange.call):
            document = self._document(exchange.call)
            for finding in filter(violates, document.findings):
                if is_examined(finding.rule) and unmet_precondition(finding.rule, document) is None:
                    self._keep_installed_jq_finding(finding, document)
                    yield finding.rule

    def _document(self, call: Call) -> Document:
        document = document_of(call, self._context.details, self._edition)
        return with_recipes(document, self._recipes, self._edition)

    @cached_property
    def _recipes(self) -> RecipeJudge:
        """The judge of all recipes. It also compares outputs with those of the machine's jq, on which only a live run
        may depend."""
        return self._stack.enter_context(RecipeJudge(fallback=True, compare_with_installed_jq=True))

    def _keep_installed_jq_finding(self, finding: Finding, document: Document) -> None:
        """Keep a finding that is made only by the installed jq, since it may not be made where the evidence is judged
        again."""
        only_installed = {(f.rule, f.pointer, f.observed) for f in self._recipes.only_installed}
        if (finding.rule, finding.pointer, finding.observed) in only_installed:
            self._live_findings.append(LiveFinding.of(document.call, finding))

    @cached_property
    def _violated_by_survey(self) -> frozenset[str]:
        """Requirements that the calls of the survey violate, so that no sequence is needed to reproduce the
        violation."""
        comparison = self._context.comparison
        exchanges = [Exchange(call, inline) for call, inline in (comparison.pairs if comparison is not None else ())]
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
