"""Trying mutants: each in a process of its own, on what reaches the changed lines, until something notices it."""

from __future__ import annotations

import gc
import os
import pickle
import resource
import select
import signal
import sys
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import ModuleType
from typing import Any, Protocol

from tests.tools.mutation.mutants import Mutant
from tests.tools.mutation.patching import Line, Unpatchable, instrument, put, tells

VERDICT = "a verdict"
ERROR = "an error"
WORDS = "the words"
TEST = "a test"
TIME = "time"
SURVIVES = "survives"
UNREACHED = "unreached"
UNTRIED = "untried"

KILLED = (VERDICT, ERROR, WORDS, TEST)
"""What a mutant dies of. `TIME` is not among them: one that did not end is told apart."""

MEMORY = 6 << 30
"""The bytes of address space that a mutant may take beyond what is there."""

QUICK_S = 0.3
"""What takes longer is tried last."""

TRIAL_S = 1.0
"""How long a trial may take beyond twenty times what it took before, of the time of a processor."""


class Yardstick(Protocol):
    """What mutants are tried with."""

    def trials(self) -> Sequence[str]:
        """The names of all trials."""
        ...

    def measure(self, trial: str) -> Any:
        """What a trial gives, as plain values."""
        ...

    def difference(self, before: Any, after: Any) -> str | None:
        """What a mutant dies of that changes what a trial gives, or None where it makes no difference."""
        ...

    def rank(self, trial: str, mutant: Mutant, before: Any) -> int:
        """The order in which trials are made: those that are likely to notice it first."""
        ...


@dataclass(frozen=True)
class Known:
    """What a trial gives without any mutant."""

    value: Any
    seconds: float
    lines: frozenset[Line]
    """The lines at which a statement that it executes begins, of the modules that were looked at."""

    @cached_property
    def modules(self) -> frozenset[str]:
        """The modules that it executes anything of."""
        return frozenset(name for name, _ in self.lines)


@dataclass(frozen=True, slots=True)
class Fate:
    """What came of a mutant."""

    mutant: Mutant
    outcome: str
    by: str = ""
    """Which trial noticed it, or why it could not be tried."""
    trials: int = 0
    """How many were made."""

    @property
    def killed(self) -> bool:
        return self.outcome in KILLED


def baseline(yardstick: Yardstick, *modules: ModuleType, here: bool = False) -> dict[str, Known]:
    """What each trial gives, and which lines of these modules it executes.

    By default another process does it and this one stays as it is. *here*: in this one, which then remembers what was
    made for the trials; only right where a mutant leaves that as it is.
    """

    def work() -> dict[str, Known]:
        lines: set[Line] = set()
        restores = [instrument(module, lines.add) for module in modules]
        found: dict[str, Known] = {}
        for trial in yardstick.trials():
            lines.clear()
            begun = time.perf_counter()
            value = yardstick.measure(trial)
            found[trial] = Known(value, time.perf_counter() - begun, frozenset(lines))
        for restore in restores:
            restore()
        return found

    return work() if here else in_a_child(work, 3600)


def reaching(mutant: Mutant, known: Mapping[str, Known]) -> list[str]:
    """The trials that execute the changed statement; all, of one that is outside of functions."""
    if mutant.everywhere or not tells(sys.modules[mutant.module], mutant.place):
        return list(known)
    wanted = {(mutant.module, line) for line in range(mutant.line, mutant.last + 1)}
    return [trial for trial, one in known.items() if not one.lines.isdisjoint(wanted)]


def try_all(
    mutants: Sequence[Mutant],
    yardstick: Yardstick,
    known: Mapping[str, Known],
    *,
    until: float,
    patience_s: float,
    workers: int,
) -> Iterator[Fate]:
    """The fates of the mutants, as they come; begins none after *until* (monotonic).

    *patience_s* is for how long one mutant is tried before it counts as a survivor, of the time of a processor.
    """
    gc.freeze()
    pipes = []
    for worker in range(workers):
        read, write = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(read)
            _work(mutants[worker::workers], yardstick, known, until, patience_s, write)
        os.close(write)
        pipes.append((pid, read))
    try:
        yield from _gathered([read for _, read in pipes])
    finally:
        for pid, read in pipes:
            os.close(read)
            os.kill(pid, signal.SIGTERM)
            os.waitpid(pid, 0)


def _work(
    mutants: Sequence[Mutant],
    yardstick: Yardstick,
    known: Mapping[str, Known],
    until: float,
    patience_s: float,
    write: int,
) -> None:
    code = 1
    try:
        killers: dict[str, set[str]] = {}
        for mutant in mutants:
            if time.monotonic() > until:
                break
            earlier = killers.setdefault(mutant.place, set())
            found = fate(mutant, yardstick, known, patience_s, earlier)
            if found.killed:
                earlier.add(found.by)
            made = pickle.dumps(found)
            os.write(write, len(made).to_bytes(4, "big") + made)
        code = 0
    finally:
        os._exit(code)


def _gathered(pipes: list[int]) -> Iterator[Fate]:
    waiting = dict.fromkeys(pipes, b"")
    while waiting:
        for read in select.select(list(waiting), [], [])[0]:
            part = os.read(read, 1 << 16)
            text = waiting[read] + part
            while len(text) >= 4 and len(text) >= 4 + (size := int.from_bytes(text[:4], "big")):
                yield pickle.loads(text[4 : 4 + size])
                text = text[4 + size :]
            waiting[read] = text
            if not part:
                del waiting[read]


def fate(
    mutant: Mutant,
    yardstick: Yardstick,
    known: Mapping[str, Known],
    patience_s: float,
    killers: Collection[str] = (),
) -> Fate:
    """Try one mutant. *killers*: trials that are made first, because they noticed mutants of the same place."""
    trials = reaching(mutant, known)
    if not trials:
        return Fate(mutant, UNREACHED)

    def order(trial: str) -> tuple[object, ...]:
        """First what noticed others, then, of what is quick, what is about this module alone, and what takes long."""
        one = known[trial]
        near = mutant.module in one.modules
        rank = yardstick.rank(trial, mutant, one.value)
        return trial not in killers, not near, rank, one.seconds > QUICK_S, len(one.modules), one.seconds

    trials.sort(key=order)

    def work() -> tuple[str, str, int]:
        return _tried(mutant, yardstick, known, trials, patience_s)

    try:
        outcome, by, tried = in_a_child(work, patience_s + 30)
    except TimeoutError:
        outcome, by, tried = TIME, "", len(trials)
    except ChildProcessError as problem:
        outcome, by, tried = ERROR, str(problem), len(trials)
    return Fate(mutant, outcome, by, tried)


class _TooLong(BaseException):
    """A trial does not end. Not an `Exception`, which what is tried might catch."""


def _tried(
    mutant: Mutant, yardstick: Yardstick, known: Mapping[str, Known], trials: Sequence[str], patience_s: float
) -> tuple[str, str, int]:
    """What a mutant dies of, by which trial, and how many were made."""
    limit = _address_space() + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))

    rung: list[bool] = []

    def ring(*_: object) -> None:
        rung.append(True)
        raise _TooLong

    signal.signal(signal.SIGPROF, ring)
    try:
        put(mutant)
    except Unpatchable as problem:
        return UNTRIED, str(problem), 0
    except Exception as problem:  # a module that cannot be imported any more
        return ERROR, f"import: {type(problem).__name__}", 0
    begun = _spent()
    words = ""
    number = 0
    for number, trial in enumerate(trials, 1):
        signal.setitimer(signal.ITIMER_PROF, TRIAL_S + 20 * known[trial].seconds)
        try:
            value = yardstick.measure(trial)
        except _TooLong:
            return TIME, trial, number
        except MemoryError:
            return ERROR, trial, number
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
        if rung:  # what tries it has caught it
            return TIME, trial, number
        dies = yardstick.difference(known[trial].value, value)
        if dies is not None and dies != WORDS:
            return dies, trial, number
        if dies == WORDS:
            words = words or trial
        if _spent() - begun > (patience_s / 4 if words else patience_s):
            break
    return (WORDS, words, number) if words else (SURVIVES, "", number)


def _spent() -> float:
    """Seconds that processors have spent on this process, and on those that it started and waited for."""
    return sum(os.times()[:4])


def _address_space() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[0]) * resource.getpagesize()


def in_a_child(work: Callable[[], Any], seconds: float) -> Any:
    """What *work* returns in a process of its own, which leaves this one as it is.

    Raises `TimeoutError` when it does not end in time, and `ChildProcessError` when it fails.
    """
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        _answer(work, read, write)
    os.close(write)
    parts: list[bytes] = []
    until = time.monotonic() + seconds
    try:
        while True:
            if not select.select([read], [], [], max(0.0, until - time.monotonic()))[0]:
                raise TimeoutError
            part = os.read(read, 1 << 20)
            if not part:
                break
            parts.append(part)
    finally:
        os.close(read)
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    if not parts:
        raise ChildProcessError("it ended without a word")
    done, made = pickle.loads(b"".join(parts))
    if not done:
        raise ChildProcessError(made)
    return made


def _answer(work: Callable[[], object], read: int, write: int) -> None:
    os.close(read)
    try:
        try:
            made = pickle.dumps((True, work()))
        except BaseException as problem:
            made = pickle.dumps((False, f"{type(problem).__name__}: {problem}"))
        with os.fdopen(write, "wb") as stream:
            stream.write(made)
    finally:
        os._exit(0)
