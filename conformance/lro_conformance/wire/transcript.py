"""The raw lines of a conversation with a server, in order. Their total memory is limited."""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

from lro_conformance.wire import jsonrpc

Direction = Literal["out", "in", "err"]
Sink = Callable[["Entry", bool], None]
"""A function that is called with each line, and with True if the line is chatter (see `Transcript`)."""

CUT_BYTES = 512
"""If a line is cut to save memory, this many bytes of it remain."""
_OVERHEAD_BYTES = 400
"""Estimated memory of an `Entry` in addition to its line."""
_MAX_ANOMALIES = 1000

TOLERATED_ANOMALIES = {"late", "server-request", "stdin-closed", "unterminated", "too-large"}
"""Kinds of anomalies that do not violate the protocol on stdout."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One line. The direction is ``out`` for a line to the server's stdin, ``in`` for a line from its stdout, and
    ``err`` for a line from its stderr."""

    direction: Direction
    at: float
    """Time at which the line was sent or read, in seconds since the epoch."""
    line: bytes
    """The raw line without its newline."""
    problem: str | None = None
    """The kind of the line's first problem (a key of `jsonrpc.KINDS`); None if the line has no problem."""
    cut: int = 0
    """Number of bytes of the line that are missing, because the line was over the size limit or was cut to save
    memory."""

    @property
    def parsed(self) -> Any:
        """The JSON value, which is parsed each time. None if the line is not JSON, or if it is cut."""
        return None if self.cut else jsonrpc.parse(self.line).value


@dataclass(frozen=True, slots=True)
class Anomaly:
    """Behaviour of a server that the protocol does not allow, or that is unusual."""

    kind: str
    """A key of `jsonrpc.KINDS`."""
    detail: str
    at: float
    line: bytes = b""
    """The line with the anomaly, or the beginning of this line."""

    def __str__(self) -> str:
        """The anomaly in one sentence."""
        return f"{jsonrpc.KINDS.get(self.kind, self.kind)}: {self.detail}"


def violations(anomalies: Iterable[Anomaly]) -> list[Anomaly]:
    """Return the anomalies that violate the protocol on stdout, in order. Empty lines come last, because nothing can be
    seen in them."""
    return sorted((a for a in anomalies if a.kind not in TOLERATED_ANOMALIES), key=lambda a: a.kind == "blank")


class Transcript:
    """The lines of one server.

    *Chatter* is everything except the suite's own requests and notifications, and the lines with the answers to these
    requests. At most *max_chatter* lines of stderr, and as many other lines of chatter, are kept; if there are more,
    the oldest are dropped. Lines that are not chatter are never dropped. All lines together may take *max_bytes* of
    memory. Beyond that, lines are cut to `CUT_BYTES`: chatter first, and the oldest first. If no line is left to cut,
    chatter is dropped.
    """

    def __init__(self, *, max_bytes: int = 256 << 20, max_chatter: int = 10_000) -> None:
        self._max_bytes = max_bytes
        self._max_chatter = max_chatter
        self._entries: dict[int, Entry] = {}
        self._chatter: tuple[deque[int], deque[int]] = (deque(), deque())
        self._cuttable: tuple[deque[int], deque[int]] = (deque(), deque())
        self._next = 0
        self._bytes = 0
        self.dropped = 0
        """Number of lines of chatter that were dropped."""
        self.anomalies: list[Anomaly] = []
        """The first thousand anomalies; `counts` counts all of them."""
        self.last_anomaly: Anomaly | None = None
        self.counts: Counter[str] = Counter()
        """Number of anomalies of each kind."""
        self.sink: Sink | None = None
        """Called with every line when the line is recorded. Later, the line may be cut or dropped."""

    def __iter__(self) -> Iterator[Entry]:
        """Iterates over the kept lines, in order."""
        return iter(list(self._entries.values()))

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def kept_bytes(self) -> int:
        """Number of bytes of the kept lines, including a fixed overhead for each."""
        return self._bytes

    def add(
        self,
        direction: Direction,
        line: bytes,
        problems: tuple[jsonrpc.Problem, ...] = (),
        *,
        cut: int = 0,
        chatter: bool = False,
        at: float | None = None,
    ) -> None:
        """Record a line and its problems. *cut* is the number of bytes that *line* lacks."""
        when = time.time() if at is None else at
        for kind, detail in problems:
            self.note(kind, detail, line, at=when)
        number, self._next = self._next, self._next + 1
        entry = Entry(direction, when, line, problems[0][0] if problems else None, cut)
        self._entries[number] = entry
        if self.sink is not None:
            self.sink(entry, chatter)
        self._bytes += len(line) + _OVERHEAD_BYTES
        if len(line) > CUT_BYTES:
            self._cuttable[0 if chatter else 1].append(number)
        if chatter:
            ring = self._chatter[0 if direction == "err" else 1]
            ring.append(number)
            if len(ring) > self._max_chatter:
                self._drop(ring)
        while self._bytes > self._max_bytes and self._make_room(number):
            pass

    def note(self, kind: str, detail: str, line: bytes = b"", *, at: float | None = None) -> None:
        """Record an anomaly."""
        self.counts[kind] += 1
        self.last_anomaly = Anomaly(kind, detail, time.time() if at is None else at, line[:CUT_BYTES])
        if len(self.anomalies) < _MAX_ANOMALIES:
            self.anomalies.append(self.last_anomaly)

    def keep_sent(self) -> None:
        """Release all received lines, and keep the lines that were sent."""
        self._entries = {n: m for n, m in self._entries.items() if m.direction == "out"}
        self._bytes = sum(len(m.line) + _OVERHEAD_BYTES for m in self._entries.values())
        for numbers in (*self._chatter, *self._cuttable):
            remaining = [n for n in numbers if n in self._entries]
            numbers.clear()
            numbers.extend(remaining)

    def cut_answers(self) -> None:
        """Cut all answers so far to `CUT_BYTES`."""
        numbers = self._cuttable[1]
        for number in [numbers.popleft() for _ in range(len(numbers))]:
            if self._entries[number].direction == "in":
                self._cut(number)
            else:
                numbers.append(number)

    def _make_room(self, newest: int) -> bool:
        """Cut a line or, if no line is left to cut, drop a line of chatter. Returns False if neither is possible.

        The line *newest* is not cut or dropped.
        """
        for numbers in self._cuttable:
            while numbers and numbers[0] not in self._entries:
                numbers.popleft()
            if numbers and numbers[0] != newest:
                self._cut(numbers.popleft())
                return True
        for ring in self._chatter:
            if ring and ring[0] != newest:
                self._drop(ring)
                return True
        return False

    def _cut(self, number: int) -> None:
        entry = self._entries[number]
        lost = len(entry.line) - CUT_BYTES
        self._entries[number] = replace(entry, line=entry.line[:CUT_BYTES], cut=entry.cut + lost)
        self._bytes -= lost

    def _drop(self, ring: deque[int]) -> None:
        dropped = self._entries.pop(ring.popleft())
        self._bytes -= len(dropped.line) + _OVERHEAD_BYTES
        self.dropped += 1
