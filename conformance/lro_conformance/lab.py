"""The laboratory: starts servers under chosen settings. A trial opens benches; those that property checks use later are
kept until the run ends."""

from __future__ import annotations

import copy
import itertools
import json
import os
import sys
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from lro_conformance import profile as profiles
from lro_conformance.bench import LIMIT, Bench, ServerTrouble, Settings, system_temps
from lro_conformance.calls import Call, FileSeen
from lro_conformance.events import Observer, TrialStep
from lro_conformance.handshakes import Handshakes, Refused, in_words, trouble_of
from lro_conformance.judge import NotObserved
from lro_conformance.operations import OPERATIONS, TOOLS, Operation, resolve
from lro_conformance.profile import Profile
from lro_conformance.profile.launching import Value
from lro_conformance.profile.matching import match
from lro_conformance.seeding import Seeding
from lro_conformance.starts import Start
from lro_conformance.taken import NEVER, Taken
from lro_conformance.wire import Failure, Limits, Reply, Run, ServerProcess
from lro_conformance.zones import far_zone
from lro_spec.editions import Edition, edition
from lro_spec.naming import parse_file_name

if TYPE_CHECKING:
    from lro_conformance.evidence.recorder import Recorder

MAX_LINE_BYTES = 64 << 20
"""A longer line on stdout is read past: the suite asks for results of a few megabytes at most."""

MAX_HELD_BYTES = 320 << 20
"""What the calls that are kept may take of memory together."""

TRANSCRIPT_BYTES = 48 << 20
"""What each server's transcript may take; the calls keep their own lines."""

MAX_UNANSWERED = 2
"""After so many requests in a row without a response one server process is waited for no more."""

MAX_WAITS = 6
"""After so many waits in vain in one run no further server is started."""

LAWFUL = {"late", "server-request", "stdin-closed", "unterminated", "too-large"}
"""Kinds of anomalies that are no offence against the shape of stdout."""

MAX_LAWLESS = 3
"""How many offences against it are kept of one server."""

IMPATIENT_S = 0.2
"""How long a server may take to stop, before each signal, once another process of it had to be stopped by one."""


class Lab:
    """Starts benches for one run."""

    def __init__(
        self,
        profile: Profile,
        run: Run,
        observer: Observer,
        *,
        seed: int,
        recorder: Recorder | None = None,
        others: Sequence[str] = (),
    ) -> None:
        self.profile = profile
        self.edition: Edition = edition(profile.edition)
        self.others = tuple(edition(name) for name in others)
        """Further editions that what is found here is to be judged by."""
        self.run = run
        self.seed = seed
        self.recorder = recorder
        self._numbers = itertools.count(1)
        self._observer = observer
        self._kept: list[Bench] = []
        self._stray: set[str] = set()
        self._begun = time.time() - 2.0  # some file systems keep whole seconds only
        self._lock = threading.Lock()
        self._operations: dict[str, Operation] | None = None
        self._tools: Sequence[Mapping[str, Any]] = ()
        self.seeding = Seeding(self)
        self.switched_on = False
        """Whether the server offloads only with ``enabled = true``, which is set from then on."""
        self.taken = Taken()
        self._held = 0
        self._let_go: deque[int] = deque()
        """What was held by calls that are gone; a finalizer may run anywhere, so it takes no lock."""
        self.capabilities: Mapping[str, Any] = {}
        """What the suite says that it can do as a client."""
        self.cleanup_lag_s = 0.0
        """How long after the answer a cleanup was seen to delete something."""
        self.cleanup_patience_s = 3.0
        """How long files that ought to go may stay after the answer; less once that was waited for in vain."""
        self._waits = 0
        self._stubborn = False
        self.remarks: list[str] = []
        """What the report is to say of the profile, and of memories that were not taken."""
        self.lawless: list[str] = []
        self.lawless_start: Start | None = None
        """The first server that did such a thing."""
        self._starts: weakref.WeakKeyDictionary[ServerProcess, Start] = weakref.WeakKeyDictionary()
        """What servers that have ended wrote to stdout and no JSON-RPC message of MCP is, some of each."""
        self.trouble: str | None = None
        """The first call that had no response, and why, in one line."""
        self.handshakes = Handshakes(self.note_failure)

    def another(self, profile: Profile) -> Lab:
        """A laboratory of the same run for another server: what is found wrong there is not held against the first."""
        made = copy.copy(self)
        made.profile, made._operations, made._waits = profile, None, 0
        made.seeding, made.taken = Seeding(made), Taken()
        made.lawless, made.remarks, made.trouble = [], [], None
        made.handshakes = Handshakes(made.note_failure)
        return made

    def step(self, trial: str, detail: str) -> None:
        """Say how a trial got on."""
        self._observer(TrialStep(trial, detail))

    @contextmanager
    def bench(
        self,
        settings: Settings,
        *,
        keep: bool = False,
        folder: str = "out",
        prepare: Callable[[Path], object] = Path.mkdir,
        file_size_limit: int | None = None,
        client: str | None = None,
        modern: bool = False,
        abroad: bool = False,
    ) -> Generator[Bench, None, None]:
        """A server under *settings*, stopped at the end unless *keep*.

        *folder* is the name of its own output folder; *prepare* is called with that path before the server starts (by
        default the folder is made); *file_size_limit* bounds every file that the server writes, in bytes; *client* is
        who the suite says that it is; *modern* asks for the protocol of 2026-07-28, whatever the others speak; *abroad*
        sets local time far from UTC, unless the profile sets TZ.

        Raises `ServerTrouble` when the server does not start.
        """
        workdir = self.run.workdir()
        temp = workdir / "tmp"
        temp.mkdir()
        values = settings.given(self.taken)
        if self.switched_on and not settings.as_shipped:
            values.setdefault("enabled", True)
        output_dir: Path | None = None
        if values.get("output_dir") in ("{own}", "{relative}"):
            if self.can_set("output_dir"):
                output_dir = workdir / folder
                # Wherever it is taken to begin, it climbs to the root, and so names the same folder.
                climb = "../" * 32 if values["output_dir"] == "{relative}" else "/"
                values["output_dir"] = climb + str(output_dir).removeprefix("/")
                prepare(output_dir)
            else:
                del values["output_dir"]
        zone = {"TZ": far_zone()} if abroad else {}
        made = self._open(values, workdir, temp, output_dir, file_size_limit, client, zone, modern=modern)
        made.server.forget_opening(raw_only=keep or modern)
        if keep:
            with self._lock:
                self._kept.append(made)
        try:
            yield made
        finally:
            if not keep:
                made.close()

    def _open(
        self,
        values: dict[str, Value],
        workdir: Path,
        temp: Path,
        output_dir: Path | None,
        file_size_limit: int | None,
        client: str | None,
        zone: Mapping[str, str],
        *,
        modern: bool,
    ) -> Bench:
        server, start = self.spawn(values, workdir, temp, output_dir, file_size_limit, zone)
        made = Bench(self, server, start, client)
        try:
            if modern:
                self.handshakes.probe(server)
            else:
                self.shake(server, client)
            made.tools, made.operations = self._find_operations(server)
            if self.seeding.on:
                self.seeding.fill(made)
        except Refused as refused:
            self.stop(server)
            if self._operations is not None or not self.handshakes.turn():  # others were served, or it was tried
                raise
            try:
                return self._open(values, workdir, temp, output_dir, file_size_limit, client, zone, modern=modern)
            except ServerTrouble:
                self.handshakes.turn_back()
                raise refused from None  # what it said first is what its makers expect
        except BaseException as problem:
            if isinstance(problem, ServerTrouble):
                problem.start = start
            self.stop(server)
            raise
        return made

    def shake(self, server: ServerProcess, client: str | None = None) -> Reply:
        """The handshake, as *client* or else under the suite's own name. Raises `ServerTrouble` when it fails."""
        return self.handshakes.shake(server, client, self.capabilities)

    def note_failure(self, failure: Failure, call: str | None = None) -> None:
        """Take note of a request without a response, of a call's or of the handshake."""
        with self._lock:
            if failure.kind in ("timeout", "garbage"):
                self._waits += 1
            if call is not None and self.trouble is None and failure.kind != "unanswered":
                self.trouble = f"{call}: {in_words(failure)}"

    def hold(self, call: Call) -> None:
        """Count what a call takes of memory for as long as anybody keeps it.

        Raises `NotObserved` when all that is kept is too much: better no verdict than a machine without memory.
        """
        weight = call.weight
        weakref.finalize(call, self._let_go.append, weight).atexit = False
        with self._lock:
            self._held += weight
            while self._let_go:
                self._held -= self._let_go.popleft()
            held = self._held
        if held > MAX_HELD_BYTES:
            size = len(call.reply.raw or b"") + len(call.file.data if call.file is not None else b"")
            raise NotObserved(
                f"{call.label}: its result and file have {size:,} bytes; with those before they are more than the "
                "suite keeps (use a smaller data set, or a tool with a limit)"
            )

    def stop(self, server: ServerProcess) -> None:
        """End a server; from the first that only a signal stops, the others are given less time."""
        patient = not self._stubborn
        if not patient:
            server.limits = replace(server.limits, stop_timeout_s=IMPATIENT_S, term_timeout_s=IMPATIENT_S)
        exit = server.close()
        with self._lock:
            if exit is not None and exit.killed:
                self._stubborn = True
            if exit is not None and patient:
                self.remarks += exit.remarks
            lawless = [str(a) for a in server.transcript.anomalies if a.kind not in LAWFUL]
            self.lawless += lawless[:MAX_LAWLESS]
            if lawless and self.lawless_start is None:
                self.lawless_start = self._starts.get(server)
        server.forget()

    def spawn(
        self,
        values: Mapping[str, Value],
        workdir: Path,
        temp: Path,
        output_dir: Path | None,
        file_size_limit: int | None,
        zone: Mapping[str, str] = MappingProxyType({}),
    ) -> tuple[ServerProcess, Start]:
        """Start a process under these settings, in a *zone* (TZ) or in the suite's own; nothing is said to it yet."""
        for name in values:
            if not self.can_set(name):
                raise NotObserved(f"the server offers no setting {name} (profile: settings.{name})")
        if self._waits >= MAX_WAITS:
            raise ServerTrouble(f"not tried: {self._waits} requests of this run had no response in time")
        launch = self.launch(values, workdir, seed_file=self.seeding.file(workdir))
        spec = self.profile.server
        environment = {"TMPDIR": str(temp), **zone, **launch.env}
        server = self.run.server(
            launch.argv,
            env={**dict.fromkeys(launch.unset), **environment},
            cwd=launch.cwd,
            limits=Limits(
                request_timeout_s=spec.timeout_s,
                start_timeout_s=spec.start_timeout_s,
                max_line_bytes=MAX_LINE_BYTES,
                transcript_bytes=TRANSCRIPT_BYTES,
                max_unanswered=MAX_UNANSWERED,
            ),
            file_size_limit=file_size_limit,
        )
        seed = self.profile.seed
        start = Start(
            number=next(self._numbers),
            argv=launch.argv,
            env=environment,
            unset=launch.unset,
            cwd=launch.cwd,
            workdir=workdir,
            temp=temp,
            settings=dict(values),
            output_dir=output_dir,
            file_size_limit=file_size_limit,
            files=_given(launch),
            seed=None if seed is None or seed.tool is None else (seed.tool, json.dumps(seed.arguments)),
            python=sys.executable,
            sent=server.sent,
        )
        self._starts[server] = start
        if self.recorder is not None:
            self.recorder.follow(server, start)
        failure = server.start()
        if failure is not None:
            raise ServerTrouble(in_words(failure))
        return server, start

    def launch(self, values: Mapping[str, Value], workdir: Path, *, seed_file: Path | None = None) -> profiles.Launch:
        """What starts a process under these settings, or one that works beside such a process."""
        return profiles.launch(self.profile, values, workdir, seed_file=seed_file)

    @property
    def tells_events(self) -> bool:
        """Whether the profile says where events are seen, so that silence means that there were none."""
        return self.profile.events.named and self.profile.events.channel != "none"

    def forget(self) -> None:
        """What kept servers were given beside the corpus is history: another experiment begins."""
        for bench in self._kept:
            del bench.given[bench.base :]

    def convention(self, path: str) -> str:
        """The edition whose convention for names files are planted by: one that a file of the server's own follows."""
        name = os.path.basename(path)
        every = (self.edition, *self.others)
        return next((e.name for e in every if parse_file_name(name, edition=e.name) is not None), self.edition.name)

    def is_ours(self, name: str) -> bool:
        """Whether a name begins and ends as those of offloaded files do in one of the editions."""
        ours = tuple(f"{e.file_prefix}-" for e in (self.edition, *self.others))
        return name.startswith(ours) and name.endswith(".jsonl")

    def can_set(self, name: str) -> bool:
        """Whether the profile says how this setting reaches the server."""
        return self.profile.settings.get(name) is not None

    def reads_system_temp(self, settings: Mapping[str, object]) -> bool:
        """Whether files in the system's temporary folder are this server's: where no output folder was set."""
        return not settings.get("output_dir")

    def _find_operations(self, server: ServerProcess) -> tuple[Sequence[Mapping[str, Any]], dict[str, Operation]]:
        with self._lock:
            if self._operations is not None:
                return self._tools, self._operations
        tools, reply = server.list_tools()
        if reply.failure is not None:
            self.note_failure(reply.failure)
            raise trouble_of(reply.failure)
        remarks = match(self.profile, tools)
        with self._lock:
            self.remarks += remarks
            known = dict.fromkeys(n for e in (self.edition, *self.others) for n in e.operations or TOOLS)
            self._tools, self._operations = tools, resolve(self.profile, tools, known)
            return self._tools, self._operations

    def remember(self, file: FileSeen) -> None:
        """Note a file outside of the run's own folders, to remove it when the run ends."""
        if file.problem is not None or (file.mtime or 0.0) < self._begun:
            return  # not there, or somebody else's: it is older than this run
        if not Path(os.path.realpath(file.path)).is_relative_to(os.path.realpath(self.run.root)):
            with self._lock:
                self._stray.add(file.path)

    def close(self) -> None:
        """Stop every server kept, and remove the files that a server was made to write elsewhere."""
        for bench in self._kept:
            bench.close()
        for path in self._stray:
            if self.is_ours(os.path.basename(path)):
                with suppress(OSError):
                    os.unlink(path)


def _given(launch: profiles.Launch) -> dict[str, str]:
    path = launch.config_file
    return {} if path is None else {str(path): path.read_text(encoding="utf-8", errors="replace")}


__all__ = ["LIMIT", "NEVER", "OPERATIONS", "Bench", "Lab", "ServerTrouble", "Settings", "system_temps"]
