"""Notes on the server of one profile that are kept when a process ends: timeouts, RAM in use, remarks, violations of
the protocol."""

from __future__ import annotations

import os
import threading
import time
import weakref
from collections import Counter, deque
from collections.abc import Collection, Iterable
from contextlib import suppress
from pathlib import Path

from lro_conformance.capture.call import Call
from lro_conformance.capture.file import FileSeen
from lro_conformance.capture.start import Start
from lro_conformance.judging.outcome import NotObserved
from lro_conformance.lab.editions import Editions
from lro_conformance.lab.errors import ServerTrouble, describe
from lro_conformance.wire.reply import Failure
from lro_conformance.wire.transcript import Anomaly, violations

MAX_HELD_BYTES = 320 << 20
"""Limit of the RAM that all retained calls take together."""

MAX_WAITS = 6
"""Number of requests without a response in time after which no further server is started."""

MAX_TIMEOUTS = 2
"""Number of calls of one tool without a response in time after which the tool is not called again."""

MAX_VIOLATIONS = 3
"""Maximum number of violations that are noted for each server process."""


class HeldRam:
    """The RAM that the calls of one run take, as long as they are referred to."""

    def __init__(self) -> None:
        self._held = 0
        self._released: deque[int] = deque()  # a finalizer may run anywhere, so it must not acquire a lock
        self._lock = threading.Lock()

    def hold(self, call: Call) -> None:
        """Count the RAM of a call. Raises `NotObserved` beyond `MAX_HELD_BYTES`, before the machine runs out."""
        weight = call.weight
        weakref.finalize(call, self._released.append, weight).atexit = False
        with self._lock:
            self._held += weight
            while self._released:
                self._held -= self._released.popleft()
            held = self._held
        if held > MAX_HELD_BYTES:
            size = len(call.reply.raw or b"") + len(call.file.data if call.file is not None else b"")
            raise NotObserved(
                f"{call.label}: its result and file have {size:,} bytes; together with earlier results they exceed the "
                "memory limit of the suite (use a smaller data set, or a tool with a limit)"
            )


class StrayFiles:
    """Files that the servers of one run have written outside of the run's own folders."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._paths: set[str] = set()
        self._begun = time.time() - 2.0  # some file systems keep whole seconds only
        self._lock = threading.Lock()

    def note(self, file: FileSeen) -> None:
        """Note a file that a server named, unless it cannot be read, is in the run's own folders, or is older than the
        run."""
        if file.problem is not None or (file.mtime or 0.0) < self._begun:
            return
        if not Path(os.path.realpath(file.path)).is_relative_to(os.path.realpath(self._root)):
            with self._lock:
                self._paths.add(file.path)

    def remove(self, editions: Editions) -> None:
        """Delete the noted files that have names of offloaded files."""
        for path in self._paths:
            if editions.is_offload_name(os.path.basename(path)):
                with suppress(OSError):
                    os.unlink(path)


class Ledger:
    """Notes on the server of one profile."""

    def __init__(self, held: HeldRam, stray: StrayFiles) -> None:
        self._held = held
        self.stray = stray
        self._lock = threading.Lock()
        self._waits = 0
        self._timeouts: Counter[str] = Counter()
        self.remarks: list[str] = []
        """Remarks for the report, such as on the profile, on how servers stopped, and on memories that they refused."""
        self.protocol_violations: list[str] = []
        """Violations of the protocol on stdout, such as a line that is not JSON or a second response to one request; up
        to `MAX_VIOLATIONS` of each server that ended."""
        self.first_violation: tuple[Start | None, float | None] = None, None
        """The start of the server with the first of `protocol_violations`, and the time at which this violation was
        noticed, in seconds since the epoch; None for both if there is none."""
        self.trouble: str | None = None
        """The first call of a tool without a response, and the reason, in one line; None if there is none. Calls for
        which the suite did not wait do not count."""
        self.finding_lag_s = 0.0
        """Seconds that have to pass between storing a memory and the next call; 0 for most servers."""
        self.cleanup_lag_s = 0.0
        """The longest time observed between the answer to a cleanup request and a deletion."""
        self.cleanup_patience_s = 3.0
        """Longest time, in seconds, to wait for deletions after the answer to a cleanup request; it is reduced after a
        cleanup that deleted nothing."""

    def for_profile(self) -> Ledger:
        """An empty ledger of the same run, for a different profile."""
        return Ledger(self._held, self.stray)

    def note_failure(self, failure: Failure, call: str | None = None) -> None:
        """Note a request without a response. *call* describes the tool call; it is None for other requests."""
        with self._lock:
            if failure.kind in ("timeout", "garbage"):
                self._waits += 1
            if call is not None and self.trouble is None and failure.kind != "unanswered":
                self.trouble = f"{call}: {describe(failure)}"

    def note_timeout(self, tool: str) -> None:
        """Note a call of this tool that had no response in time."""
        with self._lock:
            self._timeouts[tool] += 1

    def reason_not_to_call(self, tool: str) -> str | None:
        """The reason why a tool is not called again; None if it may be called."""
        if self._timeouts[tool] < MAX_TIMEOUTS:
            return None
        return f"not called: {tool} had no response in time twice (profile: server.timeout_s)"

    def check_waits(self) -> None:
        """Raise `ServerTrouble` if `MAX_WAITS` requests or more had no response in time."""
        if self._waits >= MAX_WAITS:
            raise ServerTrouble(f"not tried: {self._waits} requests of this run had no response in time")

    def note_call(self, call: Call) -> None:
        """Count the RAM of a call. Raises `NotObserved` if all calls together exceed the limit."""
        self._held.hold(call)

    def note_end(self, anomalies: Iterable[Anomaly], remarks: Collection[str], start: Start | None) -> None:
        """Note the remarks on how a server stopped, and the violations of the protocol among its anomalies."""
        found = violations(anomalies)[:MAX_VIOLATIONS]
        with self._lock:
            self.remarks += remarks
            if found and not self.protocol_violations:
                self.first_violation = start, found[0].at
            self.protocol_violations += map(str, found)

    def remark(self, *remarks: str) -> None:
        """Add remarks for the report."""
        with self._lock:
            self.remarks += remarks
