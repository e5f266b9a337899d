"""Calls whose result cannot be written, for each kind of failure (`FAILURE_KINDS`).

E is the estimated number of tokens of a result, which the header of an offloaded file states.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lro_conformance.capture.call import Call, CallSubject
from lro_conformance.capture.corpus import UNEVEN_WORD, uneven
from lro_conformance.capture.estimate import tokens_per_character
from lro_conformance.capture.intervention import (
    BREAKING,
    FROM_START,
    PARENT_REPLACED,
    READ_ONLY,
    REMOVED,
    REPLACED,
    SIZE_LIMIT,
    Intervention,
)
from lro_conformance.capture.records import Record, by_id, mentions_any, size
from lro_conformance.capture.reproduce import of_call, of_steps, patience, shell_word, with_id
from lro_conformance.judging.outcome import NotObserved
from lro_conformance.judging.subjects import evidence_of, reproducer_of
from lro_conformance.lab.broken_folder import BrokenFolder, clear, put_a_file
from lro_conformance.lab.errors import ServerTrouble
from lro_conformance.lab.settings import Settings
from lro_conformance.trials import trial
from lro_conformance.trials.survey import EDGE_LIMIT, Inline, Survey, usual_detail
from lro_spec.display import counted

if TYPE_CHECKING:
    from lro_conformance.lab.bench import Bench
    from lro_conformance.lab.lab import Lab

FAILURE_KINDS: Mapping[str, str] = {
    FROM_START: "output_dir is a regular file when the server starts",
    REPLACED: "output_dir is replaced by a regular file while the server runs",
    REMOVED: "output_dir is removed while the server runs",
    PARENT_REPLACED: "the folder that output_dir is in is replaced by a regular file while the server runs",
    READ_ONLY: "output_dir is made read-only while the server runs",
    SIZE_LIMIT: "the operating system refuses files of this size, as on a full disk",
}


THRESHOLD_DIVISOR = 6
"""The threshold is the smallest E of the calls divided by this number. Then at most about a sixth of the records fits,
so that a server that truncates to a fixed number of records, or to half of them, returns more than the threshold."""

UNREACHED_SIZE = 1 << 50
"""A file-size limit, in bytes, that is never reached. With it, the server is started with SIGXFSZ ignored, so that the
limit can be reduced later."""

LARGE_SHARE, MAX_LARGE_CHARACTERS = 0.6, 900
"""Size of the content of a large memory among small memories: this share of the threshold, but at most this number of
characters."""

EXCESS_FACTOR = 1.6
"""Minimum number of tokens that the large memories at the beginning have together, as a multiple of the threshold."""

FOLDER = "results/out"
"""The output folder. Its parent folder contains nothing else, so that the parent can be broken, too."""


@dataclass(frozen=True)
class Failing(CallSubject):
    """One call whose result cannot be written."""

    kind: str
    call: Call
    threshold: int
    server: int | None
    """The process id of the server."""
    original: Call
    """An identical call whose file could be written."""
    known: Mapping[str, Record]
    """The records of `original` by id, from the inline result or from the file (`known_records`); empty if they are not
    known."""
    alive: bool
    events: tuple[str, ...]
    first: bool
    """True if no other write of this server has failed since its last successful write, or since its start."""
    events_observable: bool = field(metadata={"formerly": "listened"})
    """True when the profile names a channel on which events appear."""
    new_entries: tuple[str, ...] = field(metadata={"formerly": "litter"})
    """New files in the folder after the call, except the file that the descriptor names."""
    limit: int | None = None
    """The largest file that the operating system allowed, in bytes; None if it set no limit."""
    returned_estimate: int | None = field(default=None, metadata={"formerly": "weighed"})
    """E of the returned records; None unless they seem to exceed the threshold and E could be determined."""
    steps: tuple[Call | Intervention, ...] = ()
    """Earlier calls and interventions that may matter, in a sequence of the explorer or in the same process."""
    task_status: str | None = None
    """The last status of the task, if the call was made as a task; None otherwise."""
    events_known: bool = True
    """False if events of other calls could not be distinguished from the events of this call."""

    @property
    def recreated(self) -> bool:
        """True if the server wrote the file after all, for example because it made the removed folder again. That is
        allowed."""
        file = self.call.file
        return self.call.outcome == "offloaded" and file is not None and file.problem is None and self.torn is None

    @property
    def unreadable_even_normally(self) -> bool:
        """True if the call was offloaded, and the server's files cannot be read even when writing works."""
        original = self.original.file
        return self.call.outcome == "offloaded" and (original is None or original.problem is not None)

    @property
    def elsewhere(self) -> bool:
        """True when the named file is not in the folder that was set, although the server otherwise writes there."""
        return _within(self.original) is True and _within(self.call) is False

    @property
    def torn(self) -> str | None:
        """Defect of a readable file whose end is missing; None for any other file."""
        file, whole = self.call.file, self.original.file
        if self.call.outcome != "offloaded" or file is None or file.problem is not None or whole is None:
            return None
        broken = [line.number for line in file.lines if line.record is None and line.raw.strip()]
        if broken and all(line.record is not None for line in whole.lines if line.raw.strip()):
            return (
                f"line {broken[0]} of {len(file.lines)} ends in the middle of its object, after {len(file.data)} bytes"
            )
        count, there = self.call.header.get("count"), len(self.call.file_records)
        if (
            self.original.header.get("count") == len(self.original.file_records)
            and isinstance(count, int)
            and there < count
        ):
            return f"{counted(there, 'record')} of the {count} in its header"
        return None if file.data or not whole.data else "it is empty"


def known_records(inline: Call, filed: Call) -> Mapping[str, Record]:
    """The records of a call by id. If more records have an id in the file than inline, these are the records of the
    file.

    An inline result may be only a page of the records, or may name ids differently. Empty if the inline result is a
    text without records.
    """
    returned, written = by_id(inline.records or []), by_id(filed.file_records)
    return written if inline.records is not None and len(written) > len(returned) else returned


@reproducer_of.register
def _(failing: Failing) -> str:
    return of_steps(failing.call, failing.steps or [Intervention(failing.kind, largest=failing.limit)])


@evidence_of.register
def _(failing: Failing) -> str:
    task = "" if failing.task_status is None else f"called as a task, whose status is {failing.task_status}\n"
    return f"{task}{FAILURE_KINDS[failing.kind]}\n{evidence_of(failing.call)}"


@dataclass(frozen=True)
class Recovered(CallSubject):
    """A call whose result can be written again, on a server whose earlier writes were made to fail."""

    call: Call
    steps: tuple[Call | Intervention, ...] = ()
    """Calls and interventions before the call, in a sequence of the explorer or in its process."""


@reproducer_of.register
def _(recovered: Recovered) -> str:
    call = recovered.call
    alone = reproducer_of(call)
    if not alone or call.output_dir is None:
        return alone
    if recovered.steps:
        return of_steps(call, recovered.steps)
    folder, pause = shell_word(call.start, str(call.output_dir)), f"sleep {patience(call)}"
    broken = BREAKING[REPLACED].format(folder=folder, parent="")
    failing = with_id(call.reply.request, call.reply.id, "while it was broken")
    return of_call(
        call, items_before_call=[f"{pause}; {broken}", failing, f"{pause}; rm -rf {folder}; mkdir -p {folder}"]
    )


@dataclass(frozen=True)
class Fallback:
    """All write failures."""

    failing: tuple[Failing, ...]
    recovered: tuple[Call, ...]
    """The calls once writing works again."""
    skipped: Mapping[str, str]
    """Kinds that could not be provoked here, with the reason."""


@trial("write failure of every kind")
def fallback(lab: Lab, survey: Survey, inline: Inline) -> Fallback:
    """Make writing fail in each way that is possible here and call every operation."""
    if not lab.can_set("output_dir"):
        raise NotObserved(f"{lab.profile.reason_not_set('output_dir')}, so no write can be made to fail")
    original_estimates = _original_estimates(survey)
    if not original_estimates:
        raise NotObserved("no operation offloads a result whose E is known")
    experiment = _Experiment(
        lab,
        survey,
        inline,
        original_estimates,
        [],
        [],
        {},
        lab.accepted.nearest(min(original_estimates.values()) // THRESHOLD_DIVISOR),
    )
    experiment.run()
    return Fallback(tuple(experiment.failing), tuple(experiment.recovered), experiment.skipped)


def _original_estimates(survey: Survey) -> dict[str, int]:
    """Maps each operation whose call in the survey was offloaded to E of this call."""
    original_estimates: dict[str, int] = {}
    for name, (first, _) in survey.repeats.items():
        if first.outcome == "offloaded" and first.estimate is not None and first.estimate >= 4:
            original_estimates[name] = first.estimate
    return original_estimates


@dataclass
class _Experiment:
    """The trial in progress, with its observations so far."""

    lab: Lab
    survey: Survey
    inline: Inline
    original_estimates: dict[str, int]
    failing: list[Failing]
    recovered: list[Call]
    skipped: dict[str, str]
    threshold: int
    has_failed: bool = False
    """True if a write of the current server has failed since it last wrote."""
    returned_estimates: dict[tuple[str, str | None, frozenset[str]], int] = field(
        default_factory=dict[tuple[str, "str | None", frozenset[str]], int]
    )
    """E of records that were returned inline, by operation, detail level and ids."""

    def run(self) -> None:
        """Make writes fail in every way, in a single server if it writes again whenever its folder is mended. Then, if
        memories can be stored, make writes fail once more in a server with memories of uneven size."""
        try:
            if not self._from_start():
                with self.lab.bench(self._settings(), folder=FOLDER, prepare=_make_folders) as bench:
                    self._while_running(bench)
        except OSError as problem:
            self.skipped[REPLACED] = f"the server's folder could not be replaced: {problem}"
        self.failing = [f for f in self.failing if f.call.operation in self.original_estimates]
        if (
            self.original_estimates
            and SIZE_LIMIT not in self.skipped
            and all(f.kind != SIZE_LIMIT for f in self.failing)
        ):
            try:
                with self.lab.bench(self._settings(), file_size_limit=UNREACHED_SIZE) as bench:
                    self._size_limit(bench)
            except ServerTrouble as trouble:
                self.skipped[SIZE_LIMIT] = f"the server does not start under this limit: {trouble}"
        seed = self.lab.profile.seed
        if self.original_estimates and self.survey.adjustable and seed is not None and seed.tool is not None:
            with (
                suppress(ServerTrouble),
                self.lab.bench(self._settings(), folder=FOLDER, prepare=_make_folders, seeds=False) as bench,
            ):
                self._among_uneven_memories(bench)
        estimates = self.returned_estimates
        self.failing = [replace(f, returned_estimate=estimates.get(_returned_key(f))) for f in self.failing]

    def _from_start(self) -> bool:
        """Start a server whose output folder is a file, then make the folder and continue with the same server.

        Returns False if that is impossible, because the server does not start or does not offload to the new folder.
        """
        try:
            with self.lab.bench(
                self._settings(), folder=FOLDER, prepare=put_a_file, file_size_limit=UNREACHED_SIZE
            ) as bench:
                self.record_failures(bench, FROM_START)
                folder = bench.output_dir
                if folder is None or not bench.server.alive:
                    return False
                clear(folder)
                folder.mkdir()
                if not all(_is_written(self._call(bench, name)) for name in self.original_estimates):
                    return False
                self._fail_while_running(bench, folder)
                if bench.server.alive and self.recovered and all(map(_is_written, self.recovered)):
                    self._size_limit(bench)
                return True
        except ServerTrouble as trouble:
            self.skipped[FROM_START] = f"the server does not start then, which is allowed: {trouble}"
            return False

    def _while_running(self, bench: Bench) -> None:
        folder = bench.output_dir
        if folder is None:
            return
        # A server that compares a number other than E may offload nothing here, so that no write can fail.
        self.original_estimates = {
            n: e for n, e in self.original_estimates.items() if self._call(bench, n).outcome == "offloaded"
        }
        if self.original_estimates:
            self._fail_while_running(bench, folder)
        else:
            self.skipped["every kind"] = (
                "no result is offloaded at a threshold of a sixth of its E, even while its file could be written"
            )

    def _fail_while_running(self, bench: Bench, folder: Path) -> None:
        """Break and mend the folder of a server that has just written to it, in every way."""
        self.has_failed = False
        for kind in BREAKING:
            if kind == READ_ONLY and os.geteuid() == 0:
                self.skipped[kind] = "root ignores permissions"
                continue
            with BrokenFolder(folder, kind):
                self.record_failures(bench, kind)
                if kind == REPLACED:
                    self.record_failures(bench, kind, richest=True)
        if bench.server.alive:
            self.recovered += [self._call(bench, n) for n in self.original_estimates]
            self._measure_returned(bench)

    def _size_limit(self, bench: Bench) -> None:
        self.has_failed = False
        sizes = [
            len(c.file.data) for n in self.original_estimates for c in self.survey.repeats[n] if c.file is not None
        ]
        limit = min(sizes, default=0) // 2
        if limit < 512:
            self.skipped[SIZE_LIMIT] = "the results are too small"
            return
        if not bench.server.limit_files(limit):
            self.skipped[SIZE_LIMIT] = "this system cannot limit a running process"
            return
        small = [n for n in self.original_estimates if bench.operations[n].limit is not None]
        control = [bench.call(n, limit=1) for n in small or self.original_estimates]
        if any(c.outcome not in ("inline", "offloaded") for c in control):
            self.skipped[SIZE_LIMIT] = "the server cannot answer small calls under this limit either"
            return
        self.record_failures(bench, SIZE_LIMIT, limit)

    def _settings(self) -> Settings:
        return Settings(threshold_tokens=self.threshold if self.survey.adjustable else None)

    def _call(self, bench: Bench, name: str) -> Call:
        return bench.call(name, **self._arguments(bench, name))

    def _arguments(self, bench: Bench, name: str, richest: str | None = None) -> dict[str, Any]:
        if richest is not None:
            return {"detail": richest}
        detail = usual_detail(bench.operations[name])
        return {"detail": detail, "limit": EDGE_LIMIT if self.survey.adjustable else None}

    def record_failures(self, bench: Bench, kind: str, limit: int | None = None, *, richest: bool = False) -> None:
        """Call every operation while writing fails, and record each call as a `Failing`.

        With *richest*, call for many records at the richest detail level instead. Stops when the server has ended.
        """
        self.lab.step("fallback", kind)
        for name in self.original_estimates:
            if not bench.server.alive:
                return
            detail = next(reversed(bench.operations[name].details), None) if richest else None
            key = (name, detail)
            if richest and (detail is None or self.survey.whole[key].outcome != "offloaded"):
                continue
            original = self.survey.whole[key] if richest else self.survey.repeats[name][0]
            inline_call = self.inline.whole[key] if richest else self.inline.edges[name]
            records = known_records(inline_call, original)
            self._record(bench, kind, original, records, self._arguments(bench, name, detail), limit)

    def _record(
        self,
        bench: Bench,
        kind: str,
        original: Call,
        known: Mapping[str, Record],
        arguments: Mapping[str, Any],
        limit: int | None = None,
    ) -> None:
        """Make the *original* call again while writing fails, and record it as a `Failing`."""
        before, earlier = set(bench.files()), Counter(bench.events("OffloadWriteFailed", -1))
        call = bench.call(original.operation, **arguments)
        events = Counter(bench.events("OffloadWriteFailed", earlier.total())) - earlier
        self.failing.append(
            Failing(
                kind=kind,
                call=call,
                threshold=self.threshold,
                original=original,
                first=not self.has_failed,
                server=bench.server.pid,
                known=known,
                alive=bench.server.alive,
                events=tuple(events.elements()),  # by line: a server may emit each event on several channels
                events_observable=self.lab.observes_events,
                new_entries=tuple(sorted(set(bench.files()) - before - _named(call))),
                limit=limit,
            )
        )
        self.has_failed = True

    def _among_uneven_memories(self, bench: Bench) -> None:
        """Make writing fail when the first records are larger than most records, so that a server cannot infer their
        size from their number."""
        self.lab.step("fallback", "memories of uneven size")
        folder, rate = (
            bench.output_dir,
            tokens_per_character(self.survey.repeats[next(iter(self.original_estimates))][0]),
        )
        characters = min(MAX_LARGE_CHARACTERS, int(LARGE_SHARE * self.threshold / rate))
        large = 1 + int(EXCESS_FACTOR * self.threshold / (characters * rate))
        if folder is None or not all(map(bench.try_to_store, uneven(characters, large))):
            return
        arguments_by_operation: dict[str, dict[str, Any]] = {
            name: {"detail": o.details[-1] if o.details else None, "query": UNEVEN_WORD}
            for name, o in bench.operations.items()
            if name in self.original_estimates and o.query is not None
        }
        written = {name: bench.call(name, **arguments) for name, arguments in arguments_by_operation.items()}
        self.has_failed = False
        with BrokenFolder(folder, REPLACED):
            for name, original in written.items():
                if original.outcome == "offloaded" and original.file_records and bench.server.alive:
                    known = by_id(original.file_records) if self._shows_memories(name) else {}
                    self._record(bench, REPLACED, original, known, arguments_by_operation[name])
        self._measure_returned(bench)

    def _shows_memories(self, name: str) -> bool:
        """Return whether inline results of an operation have records, or are a text that shows some."""
        inline_call = self.inline.whole[name, None]
        return inline_call.records is not None or mentions_any(
            inline_call.text, self.survey.whole[name, None].file_records
        )

    def _measure_returned(self, bench: Bench) -> None:
        """Determine E of records that were returned inline and seem to exceed the threshold.

        The call is repeated for as many records, now that files can be written. If the records are returned inline
        again, they do not exceed the threshold.
        """
        for failing in self.failing:
            call, key = failing.call, _returned_key(failing)
            seems = sum(map(size, call.records or [])) * tokens_per_character(failing.original)
            if key in self.returned_estimates or seems <= self.threshold or not bench.server.alive:
                continue
            alone = bench.call(call.operation, detail=call.detail, limit=len(key[2]), query=call.query)
            if by_id(alone.file_records or alone.records or []).keys() == key[2]:
                self.returned_estimates[key] = self.threshold if alone.estimate is None else alone.estimate


def _returned_key(failing: Failing) -> tuple[str, str | None, frozenset[str]]:
    """The records that were returned inline, as a key of `_Experiment.returned_estimates`."""
    call = failing.call
    return call.operation, call.detail, frozenset(by_id(call.records or []))


def _within(call: Call) -> bool | None:
    """Return whether a call's file is below the output folder that was set; None if the path of either is unknown."""
    if call.file is None or call.file.real_path is None or call.real_output_dir is None:
        return None
    return Path(call.file.real_path).is_relative_to(call.real_output_dir)


def _is_written(call: Call) -> bool:
    """Return whether a call's result is in a readable file of the output folder."""
    file = call.file
    return call.outcome == "offloaded" and file is not None and file.problem is None and _within(call) is not False


def _make_folders(path: Path) -> None:
    path.mkdir(parents=True)


def _named(call: Call) -> set[str]:
    return {os.path.basename(call.file.path)} if call.file is not None else set()
