"""Starts the server processes of one profile under chosen settings, opens conversations with them, and stops them."""

from __future__ import annotations

import itertools
import json
import os
import stat
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Protocol

from lro_conformance import profile as profiles
from lro_conformance.capture.corpus import as_lines, corpus
from lro_conformance.capture.file import open_preserving_atime
from lro_conformance.capture.start import Entry, Start
from lro_conformance.judging.outcome import NotObserved
from lro_conformance.lab.errors import ServerTrouble, describe
from lro_conformance.lab.handshake import Handshakes
from lro_conformance.lab.ledger import Ledger
from lro_conformance.profile import Profile
from lro_conformance.profile.launcher import Value
from lro_conformance.wire.reply import Reply
from lro_conformance.wire.server import Limits, ServerProcess
from lro_conformance.wire.workspace import Workspace

MAX_LINE_BYTES = 64 << 20
"""Maximum number of bytes of a line on stdout. Longer lines are skipped. The largest results that the suite requests
have only a few megabytes."""

TRANSCRIPT_BYTES = 48 << 20
"""Maximum RAM, in bytes, for the transcript of each server. Calls keep their own lines in addition."""

MAX_UNANSWERED = 2
"""If this many consecutive requests had no response, the suite no longer waits for the server process."""

COMMAND_TIMEOUT_S = 60
"""Longest time, in seconds, that a command of the profile may take."""

SHORT_STOP_TIMEOUT_S = 0.2
"""Seconds that a server gets to stop before each signal. It applies after an earlier process had to be stopped by a
signal."""


MAX_ENTRIES = 200
"""Maximum number of entries of an output folder that a `Start` lists."""


class Recorder(Protocol):
    """Records the communication with servers."""

    def follow(self, server: ServerProcess, start: Start) -> None:
        """Begin to record the communication with this server, which is about to start."""
        ...


class Launcher:
    """Starts and stops the servers of one profile, and opens conversations with them."""

    def __init__(
        self,
        profile: Profile,
        workspace: Workspace,
        ledger: Ledger,
        recorder: Recorder | None,
        numbers: Iterator[int] | None = None,
    ) -> None:
        self.profile = profile
        self.workspace = workspace
        self.ledger = ledger
        self.handshakes = Handshakes(ledger.note_failure, profile.client)
        self._recorder = recorder
        self._numbers = itertools.count(1) if numbers is None else numbers
        self._starts: weakref.WeakKeyDictionary[ServerProcess, Start] = weakref.WeakKeyDictionary()
        self._needs_signal = False
        self._lock = threading.Lock()

    def for_profile(self, profile: Profile, ledger: Ledger) -> Launcher:
        """Return a launcher of the same run for a different profile."""
        return Launcher(profile, self.workspace, ledger, self._recorder, self._numbers)

    def spawn(
        self,
        values: Mapping[str, Value],
        workdir: Path,
        temp: Path,
        output_dir: Path | None,
        file_size_limit: int | None,
        zone: Mapping[str, str] = MappingProxyType({}),
    ) -> tuple[ServerProcess, Start]:
        """Start a process under these settings, without sending it a message.

        *zone* has the environment variable TZ. It is empty if the server gets the time zone of the suite. Raises
        `NotObserved` if the suite cannot set one of the settings. Raises `ServerTrouble` if the process does not start,
        if the profile's seed command fails, or if too many requests of the run had no response.
        """
        for name in values:
            if not self.can_set(name):
                raise NotObserved(self.profile.reason_not_set(name))
        self.ledger.check_unanswered_requests()
        seed_file, seed_command = self._seed(workdir)
        launch = self.launch(values, workdir, seed_file=seed_file)
        spec = self.profile.server
        environment = {"TMPDIR": str(temp), **zone, **launch.env}
        server = self.workspace.server(
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
        seed, config = self.profile.seed, launch.config_file
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
            files={} if config is None else {str(config): config.read_text(encoding="utf-8", errors="replace")},
            planted=tuple(_entries(output_dir)) if output_dir is not None else (),
            seed=None if seed is None or seed.tool is None else (seed.tool, json.dumps(seed.arguments)),
            seed_file=seed_file,
            seed_command=seed_command,
            python=sys.executable,
            sent=server.sent,
        )
        self._starts[server] = start
        if self._recorder is not None:
            self._recorder.follow(server, start)
        failure = server.start()
        if failure is not None:
            raise ServerTrouble(describe(failure))
        return server, start

    def launch(self, values: Mapping[str, Value], workdir: Path, *, seed_file: Path | None = None) -> profiles.Launch:
        """Return the command, the environment and the working directory of a server under these settings. If the
        profile has a command that is run for the server, it gets the same environment and working directory."""
        return profiles.launch(self.profile, values, workdir, seed_file=seed_file)

    def handshake(self, server: ServerProcess, client: str | None = None) -> Reply:
        """Open the conversation (see `Handshakes.open`). The server's start is added to a `ServerTrouble` that is
        raised."""
        try:
            return self.handshakes.open(server, client)
        except ServerTrouble as trouble:
            trouble.start = self._starts.get(server)
            raise

    def stop(self, server: ServerProcess) -> None:
        """Stop a server. After a server had to be stopped by a signal, all later servers get less time to stop."""
        patient = not self._needs_signal
        if not patient:
            server.limits = replace(
                server.limits, stop_timeout_s=SHORT_STOP_TIMEOUT_S, term_timeout_s=SHORT_STOP_TIMEOUT_S
            )
        exit = server.close()
        with self._lock:
            self._needs_signal |= exit is not None and exit.killed
        remarks = exit.remarks if exit is not None and patient and not server.aborted else ()
        self.ledger.note_end(server.transcript.anomalies, remarks, self._starts.get(server))
        server.forget()

    def can_set(self, name: str) -> bool:
        """Return whether the profile says how this setting reaches the server."""
        return self.profile.can_set(name)

    def run_command(self, words: Sequence[str], key: str, values: Mapping[str, Value], workdir: Path) -> list[str]:
        """Run a command of the profile to its end, in the environment that `launch` gives a server. Returns the lines
        of its stderr.

        *key* is the command's key in the profile. Raises `ServerTrouble` if the command cannot be run, fails, or takes
        longer than `COMMAND_TIMEOUT_S`.
        """
        launch = self.launch(values, workdir)
        environment = {k: v for k, v in os.environ.items() if k not in launch.unset} | dict(launch.env)
        try:
            with subprocess.Popen(
                list(profiles.with_own_lro(words)),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=launch.cwd,
                env=environment,
            ) as process:
                try:
                    stderr = self._stderr(process).decode("utf-8", "replace")
                except BaseException:
                    process.kill()
                    raise
        except (OSError, subprocess.TimeoutExpired) as problem:
            raise ServerTrouble(f"{key} of the profile could not be run: {problem}") from None
        if process.returncode:
            last_line = stderr.strip().splitlines()[-1:]
            raise ServerTrouble(
                f"{key} of the profile failed with exit code {process.returncode}: {' '.join(last_line)}"
            )
        return stderr.splitlines()

    def _stderr(self, process: subprocess.Popen[bytes]) -> bytes:
        """Wait for the end of a command, and return its complete stderr. Raises `subprocess.TimeoutExpired` if that
        takes longer than `COMMAND_TIMEOUT_S`, or if the run is aborted."""
        deadline = time.monotonic() + COMMAND_TIMEOUT_S
        while True:
            try:
                return process.communicate(timeout=0.25)[1]
            except subprocess.TimeoutExpired:
                if self.workspace.aborted or time.monotonic() > deadline:
                    raise subprocess.TimeoutExpired(process.args, COMMAND_TIMEOUT_S) from None

    def _seed(self, workdir: Path) -> tuple[Path | None, tuple[str, ...]]:
        """Write the suite's memories to a file and run the profile's seed command, if there is one.

        Returns the path of the file and the words of the command, which are empty if there is no seed command. If the
        profile stores memories by a tool, or not at all, this method does nothing and returns None and no words.
        """
        seed = self.profile.seed
        if seed is None or seed.tool is not None:
            return None, ()
        path = workdir / "seed.jsonl"
        path.write_text("".join(as_lines(corpus())), encoding="utf-8")
        words = tuple(profiles.fill(word, workdir=workdir, seed_file=path) for word in seed.command)
        if words:
            self.run_command(words, "seed.command", {}, workdir)
        return path, words


def _entries(folder: Path) -> Iterator[Entry]:
    """Yield the first `MAX_ENTRIES` entries below a folder. Each folder comes before its own entries."""
    paths = ((Path(parent) / name) for parent, folders, files in os.walk(folder) for name in (*folders, *files))
    for path in itertools.islice(paths, MAX_ENTRIES):
        with suppress(OSError):
            status = path.lstat()
            target = os.readlink(path) if stat.S_ISLNK(status.st_mode) else None
            first_line = None
            if stat.S_ISREG(status.st_mode):
                with open_preserving_atime(path) as file:
                    first_line = file.readline(1 << 16).decode("utf-8", "replace")
            yield Entry(str(path.relative_to(folder)), int(status.st_mtime), first_line, target)
