"""Notes on the server of one profile that outlive its processes: timeouts, RAM in use, remarks for the report,
violations of the protocol."""

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
"""Maximum RAM, in bytes, of all retained calls together."""

MAX_UNANSWERED_REQUESTS = 6
"""If this many requests had no response in time, no further server is started."""

MAX_TIMEOUTS_PER_TOOL = 2
"""If this many calls of a tool had no response in time, the tool is not called again."""

MAX_VIOLATIONS = 3
"""Maximum number of violations that are noted for each server process."""


class HeldRam:
    """The RAM of all calls of one run. A call counts as long as an object refers to it."""

    def __init__(self) -> None:
        self._held = 0
        self._released: deque[int] = deque()  # without a lock: a finalizer may run at any point of the program
        self._lock = threading.Lock()

    def hold(self, call: Call) -> None:
        """Count the RAM of a call. Raises `NotObserved` if the calls take more than `MAX_HELD_BYTES`, so that the
        machine does not run out of memory."""
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
        self._begun = time.time() - 2.0  # some file systems store times in whole seconds
        self._lock = threading.Lock()

    def note(self, file: FileSeen) -> None:
        """Note a file named by a server. It is ignored if it cannot be read, if it is in the run's own folders, or if
        it is older than the run."""
        if file.problem is not None or (file.mtime or 0.0) < self._begun:
            return
        if not Path(os.path.realpath(file.path)).is_relative_to(os.path.realpath(self._root)):
            with self._lock:
                self._paths.add(file.path)

    def remove(self, editions: Editions) -> None:
        """Delete those of the noted files whose names are names of offloaded files in one of the *editions*."""
        for path in self._paths:
            if editions.is_offload_name(os.path.basename(path)):
                with suppress(OSError):
                    os.unlink(path)


class Ledger:
    """Notes on the server of one profile."""

    def __init__(self, held: HeldRam, stray: StrayFiles) -> None:
        self._held = held
        self.stray_files = stray
        self._lock = threading.Lock()
        self._unanswered_requests = 0
        self._timeouts: Counter[str] = Counter()
        self.remarks: list[str] = []
        """Remarks for the report, for example on the profile, on how servers stopped, and on memories that servers
        refused."""
        self.protocol_violations: list[str] = []
        """Violations of the protocol on stdout, such as a line that is not JSON, or a second response to one request.
        The first `MAX_VIOLATIONS` violations of each server are added when the server has ended."""
        self.first_violation: tuple[Start | None, float | None] = None, None
        """The start of the server that committed the first of `protocol_violations`, and the time at which this
        violation was noticed, in seconds since the epoch. Both are None if there is no violation."""
        self.first_unanswered_call: str | None = None
        """The first call of a tool that had no response, and the reason, in one line; None if all calls had a response.
        Calls for which the suite did not wait do not count."""
        self.finding_lag_s = 0.0
        """The server needs this many seconds to find a memory after it was stored, so the suite waits for that time
        before the next call. 0 for most servers."""
        self.cleanup_lag_s = 0.0
        """The longest observed time, in seconds, between the answer to a cleanup request and a deletion."""
        self.cleanup_patience_s = 3.0
        """Longest time, in seconds, for which the suite waits for deletions after the answer to a cleanup request. It
        is reduced after a cleanup that deleted nothing."""

    def for_profile(self) -> Ledger:
        """Return an empty ledger of the same run, for a different profile."""
        return Ledger(self._held, self.stray_files)

    def note_failure(self, failure: Failure, call: str | None = None) -> None:
        """Note a request that had no response. If the request is a tool call, *call* describes it; otherwise *call* is
        None."""
        with self._lock:
            if failure.kind in ("timeout", "garbage"):
                self._unanswered_requests += 1
            if call is not None and self.first_unanswered_call is None and failure.kind != "unanswered":
                self.first_unanswered_call = f"{call}: {describe(failure)}"

    def note_timeout(self, tool: str) -> None:
        """Note a call of this tool that had no response in time."""
        with self._lock:
            self._timeouts[tool] += 1

    def reason_not_to_call(self, tool: str) -> str | None:
        """Return the reason why a tool must not be called again; None if it may be called."""
        if self._timeouts[tool] < MAX_TIMEOUTS_PER_TOOL:
            return None
        return f"not called: {tool} had no response in time twice (profile: server.timeout_s)"

    def check_unanswered_requests(self) -> None:
        """Raise `ServerTrouble` if at least `MAX_UNANSWERED_REQUESTS` requests had no response in time."""
        if self._unanswered_requests >= MAX_UNANSWERED_REQUESTS:
            raise ServerTrouble(f"not tried: {self._unanswered_requests} requests of this run had no response in time")

    def note_call(self, call: Call) -> None:
        """Count the RAM of a call. Raises `NotObserved` if all calls together exceed the limit."""
        self._held.hold(call)

    def note_end(self, anomalies: Iterable[Anomaly], remarks: Collection[str], start: Start | None) -> None:
        """Note a server that has stopped: the remarks on how it stopped, and the violations of the protocol among its
        anomalies."""
        new_violations = violations(anomalies)[:MAX_VIOLATIONS]
        with self._lock:
            self.remarks += remarks
            if new_violations and not self.protocol_violations:
                self.first_violation = start, new_violations[0].at
            self.protocol_violations += map(str, new_violations)

    def remark(self, *remarks: str) -> None:
        """Add remarks for the report."""
        with self._lock:
            self.remarks += remarks
