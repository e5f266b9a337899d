"""Laboratory: opens benches under chosen settings, and keeps those that several trials use until the run ends."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from lro_conformance.capture.corpus import Memory
from lro_conformance.judging.events import Observer, TrialStep
from lro_conformance.lab.bench import Bench
from lro_conformance.lab.editions import Editions
from lro_conformance.lab.errors import Refused, ServerTrouble, trouble_of
from lro_conformance.lab.launcher import Launcher, Recorder
from lro_conformance.lab.ledger import HeldMemory, Ledger, StrayFiles
from lro_conformance.lab.operations import TOOLS, Operation, resolve
from lro_conformance.lab.seeding import Seeding, fields_left_out
from lro_conformance.lab.settings import Settings, far_zone
from lro_conformance.lab.thresholds import AcceptedThresholds
from lro_conformance.profile import Profile
from lro_conformance.profile.launcher import Value
from lro_conformance.profile.tools import match
from lro_conformance.wire.server import ServerProcess
from lro_conformance.wire.workspace import Workspace

Result = TypeVar("Result")


@dataclass(frozen=True)
class Budget:
    """Number of sequences that the explorer tries, and their length in steps."""

    sequences: int = 8
    steps: int = 5
    """Largest number of steps of a sequence."""

    @property
    def seconds(self) -> float:
        """Time after which no further sequence is begun: slow servers get fewer."""
        return 4.0 * self.sequences


@dataclass(frozen=True)
class _Place:
    """Directories of one server process, and its settings."""

    values: dict[str, Value]
    workdir: Path
    temp: Path
    output_dir: Path | None


class Lab:
    """Opens benches of one server for one run."""

    def __init__(
        self,
        profile: Profile,
        workspace: Workspace,
        observer: Observer,
        *,
        seed: int,
        budget: Budget = Budget(),
        recorder: Recorder | None = None,
        others: Sequence[str] = (),
        trials: Collection[str] = (),
    ) -> None:
        """*trials*: the names of those that are part of the run."""
        self.budget = budget
        self.trials = frozenset(trials)
        self.ahead: dict[str, Future[Any]] = {}
        """The work that was begun ahead and is not asked for yet, by the name of its trial."""
        ledger = Ledger(HeldMemory(), StrayFiles(workspace.root))
        self._set_up(
            Launcher(profile, workspace, ledger, recorder), Editions.named(profile.edition, others), observer, seed
        )
        self._kept: list[Bench] = []
        self.kept: dict[str, Bench] = {}
        """Servers that run until the end, by the name of the trial that keeps them; that of ``modern`` was asked by
        `server/discover` and accepted it, although the others of the run are asked by `initialize`."""

    def _set_up(self, launcher: Launcher, editions: Editions, observer: Observer, seed: int) -> None:
        self.launcher = launcher
        self.ledger = launcher.ledger
        self.workspace = launcher.workspace
        self.editions = editions
        self.seed = seed
        self.explorations = 0
        """Number of explorations that have begun. Kept servers hold what the earlier ones stored."""
        self.accepted = AcceptedThresholds()
        self.seeding = Seeding(self.ledger.remark)
        self.switched_on = False
        """True when the server offloads only with ``enabled = true``, which is set from then on."""
        self._observer = observer
        self._operations: dict[str, Operation] | None = None
        self._tools: Sequence[Mapping[str, Any]] = ()
        self._lock = threading.Lock()

    def for_profile(self, profile: Profile) -> Lab:
        """A lab of the same run for a different server, with notes of its own."""
        other = Lab.__new__(Lab)
        other._set_up(
            self.launcher.for_profile(profile, self.ledger.for_profile()), self.editions, self._observer, self.seed
        )
        other.switched_on, other._kept, other.kept, other.budget = self.switched_on, self._kept, {}, self.budget
        other.trials, other.ahead = frozenset[str](), {}
        return other

    @property
    def profile(self) -> Profile:
        """The profile of the server."""
        return self.launcher.profile

    def begin(self, trial: str, work: Callable[[], object]) -> None:
        """Begin the work of a trial ahead of it, in a thread of its own, if the trial is part of the run."""
        if trial in self.trials:
            pool = ThreadPoolExecutor(1, thread_name_prefix=f"{trial}, ahead")
            self.ahead[trial] = pool.submit(work)
            pool.shutdown(wait=False)

    def begun(self, trial: str, work: Callable[[], Result]) -> Result:
        """The result of work that was begun ahead, or else of the same work now: also if the trial is repeated."""
        ahead = self.ahead.pop(trial, None)
        return work() if ahead is None else ahead.result()

    def step(self, trial: str, detail: str) -> None:
        """Report the progress of a trial."""
        self._observer(TrialStep(trial, detail))

    @contextmanager
    def bench(
        self,
        settings: Settings,
        *,
        keep: str | None = None,
        folder: str = "out",
        prepare: Callable[[Path], object] = Path.mkdir,
        file_size_limit: int | None = None,
        client: str | None = None,
        modern: bool | None = False,
        in_far_zone: bool = False,
        seeds: bool = True,
    ) -> Generator[Bench, None, None]:
        """A server under *settings*, stopped at the end unless *keep* names the trial that keeps it.

        *folder* is the name of its own output folder; *prepare* is called with that path before the server starts (by
        default the folder is made); *file_size_limit* bounds every file that the server writes, in bytes; *client* is
        the name that the suite gives, if not the profile's or its own; *modern* selects MCP 2026-07-28, whatever the
        other servers speak (None: only asks whether the server knows it); *in_far_zone* sets local time far from UTC,
        unless the profile sets TZ; without *seeds* the seed tool stores nothing in it.

        Raises `ServerTrouble` when the server does not start.
        """

        def place() -> _Place:
            return self._place(settings, folder, prepare)

        zone = {"TZ": far_zone()} if in_far_zone else {}
        made = self._open(place, file_size_limit, client, zone, modern=modern, seeds=seeds)
        made.server.forget_opening(raw_only=keep is not None or modern is True)
        if keep is not None:
            self._keep(made, keep)
        try:
            yield made
        finally:
            if keep is None:
                made.close()

    def _place(self, settings: Settings, folder: str, prepare: Callable[[Path], object]) -> _Place:
        """A fresh directory for a server under *settings*."""
        workdir = self.workspace.workdir()
        temp = workdir / "tmp"
        temp.mkdir()
        values = settings.values(self.accepted)
        if self.switched_on and not settings.as_shipped:
            values.setdefault("enabled", True)
        output_dir: Path | None = None
        if values.get("output_dir") in ("{own}", "{relative}"):
            if self.can_set("output_dir"):
                output_dir = workdir / folder
                # Whatever it is relative to, it climbs to the root, and so names the same folder.
                climb = "../" * 32 if values["output_dir"] == "{relative}" else "/"
                values["output_dir"] = climb + str(output_dir).removeprefix("/")
                prepare(output_dir)
            else:
                del values["output_dir"]
        return _Place(values, workdir, temp, output_dir)

    def _open(
        self,
        place: Callable[[], _Place],
        file_size_limit: int | None,
        client: str | None,
        zone: Mapping[str, str],
        *,
        modern: bool | None,
        seeds: bool,
    ) -> Bench:
        own = place()  # each process has its own: two that share one would find each other's memories
        server, start = self.launcher.spawn(own.values, own.workdir, own.temp, own.output_dir, file_size_limit, zone)
        refill, look = self.seeding.fill_again, self._note_stored
        made = Bench(self.launcher, self.ledger, self.editions, self.accepted, server, start, refill, look, client)
        handshakes = self.launcher.handshakes
        try:
            if modern:
                handshakes.probe(server)
                handshakes.require_modern()
            elif modern is None and not handshakes.modern and handshakes.knows_modern is None:
                if not handshakes.probe_and_open(server, client):
                    if server.modern:
                        self._equip(made, seeds=seeds)
                        self._keep(made, "modern")
                    else:
                        self.launcher.stop(server)
                    return self._open(place, file_size_limit, client, zone, modern=False, seeds=seeds)
            else:
                self.launcher.handshake(server, client)
            self._equip(made, seeds=seeds)
        except Refused as refused:
            self.launcher.stop(server)
            if self._operations is not None or not handshakes.switch_protocol():  # it was tried, or not needed so far
                raise
            try:
                return self._open(place, file_size_limit, client, zone, modern=modern, seeds=seeds)
            except ServerTrouble:
                handshakes.revert_protocol()
                raise refused from None  # the first refusal is by the usual protocol, so it says what is wrong
        except BaseException as problem:
            if isinstance(problem, ServerTrouble):
                problem.start = start
            self.launcher.stop(server)
            raise
        return made

    def _equip(self, made: Bench, *, seeds: bool) -> None:
        made.tools, made.operations = self._find_operations(made.server)
        made.files_before = frozenset(made.files())
        if seeds:
            self.seeding.refuse_shared_data(made)
        if self.seeding.on and seeds:
            self.seeding.fill(made)

    def _note_stored(self, bench: Bench, memory: Memory) -> None:
        self.seeding.note_stored(bench, memory, list(self.kept.values()))

    def _keep(self, made: Bench, name: str) -> None:
        with self._lock:
            self._kept.append(made)
            self.kept[name] = made

    # servers that refuse the suite's preferred thresholds

    @contextmanager
    def lowest_bench(self, settings: Settings, *, keep: str | None = None) -> Generator[Bench, None, None]:
        """A bench on a server of which nothing is known yet, at a threshold of 1 if the threshold can be set.

        If the server refuses 1, the lowest value of `LOW` that it accepts is used from then on. Raises `ServerTrouble`
        with the first error.
        """
        with self._bench_at_accepted_threshold(settings, self.accepted.find_lowest, keep=keep) as bench:
            yield bench

    @contextmanager
    def highest_bench(self, settings: Settings, *, keep: str | None = None) -> Generator[Bench, None, None]:
        """A bench under *settings* with a threshold of `NEVER`, which one of `HIGH` may replace from then on.

        Raises `ServerTrouble` with the first error.
        """
        with self._bench_at_accepted_threshold(settings, self.accepted.find_highest, keep=keep) as bench:
            yield bench

    @contextmanager
    def bench_if_accepted(
        self, settings: Settings, *, prepare: Callable[[Path], object] = Path.mkdir, in_far_zone: bool = False
    ) -> Generator[Bench | ServerTrouble, None, None]:
        """A bench under *settings*, perhaps with a prepared output folder or in a zone far from UTC; the error of the
        start if the server declines them."""
        with ExitStack() as stack:
            try:
                accepted = stack.enter_context(self.bench(settings, prepare=prepare, in_far_zone=in_far_zone))
            except ServerTrouble as trouble:
                if not trouble.declined:
                    raise
                accepted = trouble
            yield accepted

    @contextmanager
    def _bench_at_accepted_threshold(
        self, settings: Settings, find: Callable[[Callable[[int], bool]], bool], *, keep: str | None
    ) -> Generator[Bench, None, None]:
        def starts(threshold: int) -> bool:
            with suppress(ServerTrouble), self.bench(replace(settings, threshold_tokens=threshold)):
                return True
            return False

        with ExitStack() as stack:
            try:
                bench = stack.enter_context(self.bench(settings, keep=keep))
            except ServerTrouble as trouble:
                if settings.threshold_tokens is None or not trouble.declined or not find(starts):
                    raise
                if self.accepted.within(settings.threshold_tokens) == settings.threshold_tokens:
                    self.ledger.remark(f"a start of the server failed, and succeeded with the same settings: {trouble}")
                bench = stack.enter_context(self.bench(settings, keep=keep))
            yield bench

    @property
    def observes_events(self) -> bool:
        """True when the profile says where events are seen, so that silence means that there were none."""
        return self.profile.events.observable

    @property
    def seeded_by(self) -> str | None:
        """Way in which the suite's memories come into every server: tool, env or command; None if they do not."""
        seed = self.profile.seed
        if seed is None or seed.tool is not None:
            return "tool" if self.seeding.on else None
        return "env" if seed.env is not None else "command"

    def seed_like(self, other: Lab) -> None:
        """Seed servers as another lab does, which is of the same server with a different profile."""
        self.seeding.on = other.seeding.on
        self.ledger.finding_lag_s = other.ledger.finding_lag_s

    def can_set(self, name: str) -> bool:
        """Return whether the profile says how this setting reaches the server."""
        return self.launcher.can_set(name)

    def _find_operations(self, server: ServerProcess) -> tuple[Sequence[Mapping[str, Any]], dict[str, Operation]]:
        with self._lock:
            if self._operations is not None:
                return self._tools, self._operations
        tools, reply = server.list_tools()
        if reply.failure is not None:
            self.ledger.note_failure(reply.failure)
            raise trouble_of(reply.failure)
        self.ledger.remark(*match(self.profile, tools), *fields_left_out(self.profile.seed, tools))
        with self._lock:
            known = dict.fromkeys(n for e in self.editions.all for n in e.operations or TOOLS)
            self._tools, self._operations = tools, resolve(self.profile, tools, known)
            return self._tools, self._operations

    def close(self) -> None:
        """Stop every server kept, and remove the files that a server was made to write elsewhere."""
        wait(self.ahead.values())
        for bench in self._kept:
            bench.close()
        self.ledger.stray.remove(self.editions)
