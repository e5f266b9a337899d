"""Verdicts on a quiet and on a busy machine: ``python benchmarks/stability.py [--runs N] [--load N] [--set-clock]``.

Certifies each sound server once on an otherwise idle machine, then makes N certifications (100 by default) while other
processes compute, one per core (or ``--load``). Prints every verdict that differs. All certifications are complete,
with property checks, and have the same seed. With ``--set-clock``, the clock that the suite and the servers see is also
set forward and back repeatedly. Servers are then certified one at a time: a trial is repeated if the clock was set
during it, and succeeds only if it takes less time than passes between two settings. This option needs libfaketime
(Debian: faketime). Exit code 1 if anything differs.
"""

from __future__ import annotations

import argparse
import errno
import multiprocessing
import os
import random
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
for folder in (ROOT / "reference_impl", ROOT / "conformance", ROOT):
    sys.path.insert(0, str(folder))

from tests.servers.sound.catalogue import sounds  # noqa: E402
from tests.support.certifying import Job, Outcome, side_by_side, spread  # noqa: E402

if "FAKETIME_TIMESTAMP_FILE" in os.environ:
    _sleep = time.sleep

    def _sleep_under_libfaketime(seconds: float) -> None:
        """Sleep; under load, libfaketime reports EINVAL for a short sleep whose end has already passed."""
        try:
            _sleep(seconds)
        except OSError as problem:
            if problem.errno != errno.EINVAL:
                raise

    time.sleep = _sleep_under_libfaketime


def _burn() -> None:
    while True:
        pass


@contextmanager
def busy(processes: int) -> Generator[None]:
    """Context in which *processes* processes compute without a pause."""
    burning = [multiprocessing.Process(target=_burn, daemon=True) for _ in range(processes)]
    for one in burning:
        one.start()
    try:
        yield
    finally:
        for one in burning:
            one.kill()
            one.join()


STEPS_S = (5, 60, 3600, 86_400)
"""Seconds by which the clock is set forward and back."""


def settable_clock() -> Path:
    """The file with the seconds by which the clock of this process and its children is set forward.

    Restarts this process once, under libfaketime.
    """
    if "FAKETIME_TIMESTAMP_FILE" in os.environ:
        return Path(os.environ["FAKETIME_TIMESTAMP_FILE"])
    library = next(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"), None)
    if library is None:
        sys.exit("--set-clock needs libfaketime (Debian: apt install faketime)")
    setting = Path(tempfile.mkdtemp()) / "clock"
    setting.write_text("+0\n")
    environment = {
        "LD_PRELOAD": str(library),
        "FAKETIME_TIMESTAMP_FILE": str(setting),
        "FAKETIME_NO_CACHE": "1",
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        "FAKE_UTIME": "1",
    }
    return os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, **environment})


@contextmanager
def set_clock(setting: Path | None) -> Generator[None]:
    """Context in which the clock is set forward or back every 20 to 40 seconds; without *setting*, nothing happens."""
    if setting is None:
        yield
        return
    over, choose = threading.Event(), random.Random(1)

    def put(seconds: int) -> None:
        new = setting.with_suffix(".new")
        new.write_text(f"{seconds:+d}\n")
        new.replace(setting)

    def work() -> None:
        while not over.wait(choose.uniform(20, 40)):
            put(choose.choice((1, -1)) * choose.choice(STEPS_S))
        put(0)

    worker = threading.Thread(target=work)
    worker.start()
    try:
        yield
    finally:
        over.set()
        worker.join()


def differences(quiet: Outcome, loud: Outcome) -> Iterator[str]:
    """Differences between two outcomes, in words."""
    if quiet.failure != loud.failure:
        yield f"failure {quiet.failure!r}, then {loud.failure!r}"
    if quiet.achieved != loud.achieved:
        yield f"level {quiet.achieved}, then {loud.achieved}"
    for name in sorted(quiet.checks.keys() | loud.checks.keys()):
        before, after = quiet.checks.get(name), loud.checks.get(name)
        if before != after:
            yield f"{name}: {before}, then {after}"
    for id in sorted(loud.messages.keys() - quiet.messages.keys()):
        yield f"{id}: {' / '.join(loud.messages[id])[:300]}"


def main() -> int:
    """Print each difference as it is found, then how many there were."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=100, help="number of certifications under load")
    parser.add_argument("--servers", type=int, default=50, help="number of sound servers, which take turns")
    parser.add_argument(
        "--load", type=int, default=os.cpu_count() or 1, help="number of processes that compute meanwhile"
    )
    parser.add_argument("--set-clock", action="store_true", help="set the clock forward and back meanwhile")
    given = parser.parse_args()
    setting = settable_clock() if given.set_clock else None
    chapters: dict[str, list[str]] = {}
    for name, sound in sounds().items():
        chapters.setdefault(sound.server.__module__, []).append(name)
    jobs = [Job(name, explored=True) for name in spread(chapters, min(given.servers, given.runs))]
    with side_by_side(jobs) as outcome:
        quiet = {job: outcome(job) for job in jobs}
    done = different = 0
    while done < given.runs:
        turn = jobs[: given.runs - done]
        with busy(given.load), set_clock(setting), side_by_side(turn, 1 if given.set_clock else None) as outcome:
            for job in turn:
                found = list(differences(quiet[job], outcome(job)))
                different += bool(found)
                for line in found:
                    print(f"{job.server}: {line}", flush=True)
        done += len(turn)
    if setting is not None:
        shutil.rmtree(setting.parent)
    load = "under load, with the clock set" if given.set_clock else "under load"
    print(f"{done} certifications of {len(jobs)} sound servers {load}: {different} with another verdict")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
