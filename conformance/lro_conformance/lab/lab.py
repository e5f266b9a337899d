"""The laboratory opens benches. A bench is a running server under chosen settings. The lab keeps the benches that are
used by several trials."""

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
from lro_conformance.lab.ledger import HeldRam, Ledger, StrayFiles
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
    """The number of sequences of calls that the explorer tries, and their maximum length."""

    sequences: int = 8
    steps: int = 5
    """Maximum number of steps of a sequence."""

    @property
    def seconds(self) -> float:
        """After this many seconds, no further sequence is begun. So slow servers get fewer sequences."""
        return 4.0 * self.sequences


@dataclass(frozen=True)
class _Directories:
    """The directories of one server process, and the values of its settings."""

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
        other_editions: Sequence[str] = (),
        trials: Collection[str] = (),
    ) -> None:
        """*other_editions* are the names of further editions by which the observations will be judged. *trials* are the
        names of the trials of the run."""
        self.budget = budget
        self.trials = frozenset(trials)
        self.work_begun_ahead: dict[str, Future[Any]] = {}
        """Work that was begun before its trial started, by the name of the trial. The work is removed when the trial
        uses its result."""
        ledger = Ledger(HeldRam(), StrayFiles(workspace.root))
        self._set_up(
            Launcher(profile, workspace, ledger, recorder),
            Editions.named(profile.edition, other_editions),
            observer,
            seed,
        )
        self._kept: list[Bench] = []
        self.kept: dict[str, Bench] = {}
        """Servers that run until the end of the run, by the name of the trial that keeps them. If the servers of the
        run are opened by `initialize`, a server that accepted `server/discover` is kept under the name ``modern``."""

    def _set_up(self, launcher: Launcher, editions: Editions, observer: Observer, seed: int) -> None:
        self.launcher = launcher
        self.ledger = launcher.ledger
        self.workspace = launcher.workspace
        self.editions = editions
        self.seed = seed
        self.explorations = 0
        """Number of explorations that have begun. It matters because kept servers still have the memories that earlier
        explorations stored."""
        self.accepted = AcceptedThresholds()
        self.seeding = Seeding(self.ledger.remark)
        self.needs_enabled = False
        """True if the server offloads only with ``enabled = true``. This setting is then given to all later servers."""
        self._observer = observer
        self._operations: dict[str, Operation] | None = None
        self._tools: Sequence[Mapping[str, Any]] = ()
        self._lock = threading.Lock()

    def for_profile(self, profile: Profile) -> Lab:
        """Return a lab of the same run for a different profile. It has its own ledger."""
        other = Lab.__new__(Lab)
        other._set_up(
            self.launcher.for_profile(profile, self.ledger.for_profile()), self.editions, self._observer, self.seed
        )
        other.needs_enabled, other._kept, other.kept, other.budget = self.needs_enabled, self._kept, {}, self.budget
        other.trials, other.work_begun_ahead = frozenset[str](), {}
        return other

    @property
    def profile(self) -> Profile:
        """The profile of the server."""
        return self.launcher.profile

    def begin(self, trial: str, work: Callable[[], object]) -> None:
        """If the trial is part of the run, begin its work before the trial starts, in a separate thread."""
        if trial in self.trials:
            pool = ThreadPoolExecutor(1, thread_name_prefix=f"{trial}, ahead")
            self.work_begun_ahead[trial] = pool.submit(work)
            pool.shutdown(wait=False)

    def result_of(self, trial: str, work: Callable[[], Result]) -> Result:
        """Return the result of the work of a trial. If `begin` has begun the work ahead, this waits for its result.
        Otherwise, or if an earlier attempt of the trial has already used that result, the work is done now."""
        ahead = self.work_begun_ahead.pop(trial, None)
        return work() if ahead is None else ahead.result()

    def step(self, trial: str, detail: str) -> None:
        """Report the progress of a trial."""
        self._observer(TrialStep(trial, detail))

    @contextmanager
    def bench(
        self,
        settings: Settings,
        *,
        keep_for: str | None = None,
        folder: str = "out",
        prepare: Callable[[Path], object] = Path.mkdir,
        file_size_limit: int | None = None,
        client: str | None = None,
        modern: bool | None = False,
        in_far_zone: bool = False,
        seeds: bool = True,
    ) -> Generator[Bench, None, None]:
        """Start a server under *settings*. It is stopped at the end of the block, unless *keep_for* names a trial that
        keeps it.

        - *folder* is the name of its output folder. *prepare* is called with the path of the folder before the server
          starts; by default it makes the folder.
        - *file_size_limit* limits each file that the server writes, in bytes.
        - *client* is the client name that the suite sends. If it is None, the suite sends the name in the profile, or
          its own name if the profile has none.
        - *modern* selects the protocol. If it is True, the bench speaks MCP 2026-07-28 even if the other servers speak
          an older version. If it is False or None, the bench speaks the version of the other servers. If it is None,
          the suite also finds out whether the server speaks MCP 2026-07-28, unless that is already known.
        - *in_far_zone* sets a time zone far from UTC, unless the profile sets TZ.
        - If *seeds* is False, the suite stores no memories in the server by the seed tool.

        Raises `ServerTrouble` if the server does not start, and `Shortage` if its processes share their data. Raises
        `NotObserved` if the suite cannot set one of the settings, or if *modern* is True and the server does not speak
        MCP 2026-07-28.
        """

        def place() -> _Directories:
            return self._place(settings, folder, prepare)

        zone = {"TZ": far_zone()} if in_far_zone else {}
        bench = self._open(place, file_size_limit, client, zone, modern=modern, seeds=seeds)
        bench.server.forget_opening(raw_only=keep_for is not None or modern is True)
        if keep_for is not None:
            self._keep(bench, keep_for)
        try:
            yield bench
        finally:
            if keep_for is None:
                bench.close()

    def _place(self, settings: Settings, folder: str, prepare: Callable[[Path], object]) -> _Directories:
        """Make new directories for a server under *settings*. Returns them and the values of its settings."""
        workdir = self.workspace.workdir()
        temp = workdir / "tmp"
        temp.mkdir()
        values = settings.values(self.accepted)
        if self.needs_enabled and not settings.omits_enabled:
            values.setdefault("enabled", True)
        output_dir: Path | None = None
        if values.get("output_dir") in ("{own}", "{relative}"):
            if self.can_set("output_dir"):
                output_dir = workdir / folder
                # the relative path first climbs to the root, so it is correct in every working directory
                climb = "../" * 32 if values["output_dir"] == "{relative}" else "/"
                values["output_dir"] = climb + str(output_dir).removeprefix("/")
                prepare(output_dir)
            else:
                del values["output_dir"]
        return _Directories(values, workdir, temp, output_dir)

    def _open(
        self,
        place: Callable[[], _Directories],
        file_size_limit: int | None,
        client: str | None,
        zone: Mapping[str, str],
        *,
        modern: bool | None,
        seeds: bool,
    ) -> Bench:
        # each process gets its own directories: otherwise processes may find each other's memories
        directories = place()
        server, start = self.launcher.spawn(
            directories.values, directories.workdir, directories.temp, directories.output_dir, file_size_limit, zone
        )
        on_restart, on_stored = self.seeding.fill_again, self._note_stored
        bench = Bench(
            self.launcher, self.ledger, self.editions, self.accepted, server, start, on_restart, on_stored, client
        )
        handshakes = self.launcher.handshakes
        try:
            if modern:
                handshakes.probe(server)
                handshakes.require_modern()
            elif modern is None and not handshakes.modern and handshakes.knows_modern is None:
                if not handshakes.probe_and_open(server, client):
                    if server.modern:
                        self._equip(bench, seeds=seeds)
                        self._keep(bench, "modern")
                    else:
                        self.launcher.stop(server)
                    return self._open(place, file_size_limit, client, zone, modern=False, seeds=seeds)
            else:
                self.launcher.handshake(server, client)
            self._equip(bench, seeds=seeds)
        except Refused as refused:
            self.launcher.stop(server)
            # the other protocol is not tried if an earlier server was opened, or if it was already tried
            if self._operations is not None or not handshakes.switch_protocol():
                raise
            try:
                return self._open(place, file_size_limit, client, zone, modern=modern, seeds=seeds)
            except ServerTrouble:
                handshakes.revert_protocol()
                raise refused from None  # this first refusal says what is wrong, and not the second one
        except BaseException as problem:
            if isinstance(problem, ServerTrouble):
                problem.start = start
            self.launcher.stop(server)
            raise
        return bench

    def _equip(self, bench: Bench, *, seeds: bool) -> None:
        bench.tools, bench.operations = self._find_operations(bench.server)
        bench.files_before = frozenset(bench.files())
        if seeds:
            self.seeding.refuse_shared_data(bench)
        if self.seeding.is_on and seeds:
            self.seeding.fill(bench)

    def _note_stored(self, bench: Bench, memory: Memory) -> None:
        self.seeding.note_stored(bench, memory, list(self.kept.values()))

    def _keep(self, bench: Bench, name: str) -> None:
        with self._lock:
            self._kept.append(bench)
            self.kept[name] = bench

    # servers that do not start with the suite's preferred thresholds

    @contextmanager
    def lowest_bench(self, settings: Settings, *, keep_for: str | None = None) -> Generator[Bench, None, None]:
        """Open a bench under *settings*, whose threshold is 1 or None.

        If the server does not start with 1, the lowest value of `LOW` that the server accepts is used from then on. If
        the server accepts no value of `LOW`, the first `ServerTrouble` is raised.
        """
        with self._bench_at_accepted_threshold(settings, self.accepted.find_lowest, keep_for=keep_for) as bench:
            yield bench

    @contextmanager
    def highest_bench(self, settings: Settings, *, keep_for: str | None = None) -> Generator[Bench, None, None]:
        """Open a bench under *settings*, with a threshold of `MAX_THRESHOLD`.

        If the server does not start with `MAX_THRESHOLD`, the highest value of `HIGH` that the server accepts is used
        from then on. If the server accepts no value of `HIGH`, the first `ServerTrouble` is raised.
        """
        with self._bench_at_accepted_threshold(settings, self.accepted.find_highest, keep_for=keep_for) as bench:
            yield bench

    @contextmanager
    def bench_if_accepted(
        self, settings: Settings, *, prepare: Callable[[Path], object] = Path.mkdir, in_far_zone: bool = False
    ) -> Generator[Bench | ServerTrouble, None, None]:
        """Open a bench under *settings*. If the server exits or refuses the handshake under these settings, the block
        gets the `ServerTrouble` instead. For the other parameters see `bench`."""
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
        self, settings: Settings, find: Callable[[Callable[[int], bool]], bool], *, keep_for: str | None
    ) -> Generator[Bench, None, None]:
        def starts(threshold: int) -> bool:
            with suppress(ServerTrouble), self.bench(replace(settings, threshold_tokens=threshold)):
                return True
            return False

        with ExitStack() as stack:
            try:
                bench = stack.enter_context(self.bench(settings, keep_for=keep_for))
            except ServerTrouble as trouble:
                if settings.threshold_tokens is None or not trouble.declined or not find(starts):
                    raise
                if self.accepted.nearest(settings.threshold_tokens) == settings.threshold_tokens:
                    self.ledger.remark(
                        f"a start of the server failed, but a second start with the same settings succeeded: {trouble}"
                    )
                bench = stack.enter_context(self.bench(settings, keep_for=keep_for))
            yield bench

    @property
    def observes_events(self) -> bool:
        """True if the profile says where events appear. If an event does not appear there, the server has not emitted
        it."""
        return self.profile.events.observable

    @property
    def seeded_by(self) -> str | None:
        """The way in which servers get the suite's memories: the key below ``seed`` in the profile, which is tool, env
        or command. None if servers do not get these memories."""
        seed = self.profile.seed
        if seed is None or seed.tool is not None:
            return "tool" if self.seeding.is_on else None
        return "env" if seed.env is not None else "command"

    def seed_like(self, other: Lab) -> None:
        """Use the same seeding as *other*, a lab for the same server with a different profile: store the suite's
        memories in new servers if *other* does, and wait for the same time after storing.
        """
        self.seeding.is_on = other.seeding.is_on
        self.ledger.finding_lag_s = other.ledger.finding_lag_s

    def can_set(self, name: str) -> bool:
        """Return whether the suite can set this setting."""
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
            operation_names = dict.fromkeys(n for e in self.editions.all for n in e.operations or TOOLS)
            self._tools, self._operations = tools, resolve(self.profile, tools, operation_names)
            return self._tools, self._operations

    def close(self) -> None:
        """Stop the kept servers, and remove the offloaded files that servers wrote outside of the run's own folders."""
        wait(self.work_begun_ahead.values())
        for bench in self._kept:
            bench.close()
        self.ledger.stray_files.remove(self.editions)
