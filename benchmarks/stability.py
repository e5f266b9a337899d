"""Verdicts on a quiet and on a busy machine: ``python benchmarks/stability.py [--runs N] [--load N] [--set-clock]``.

Certifies each sound server once on an otherwise idle machine, then makes N certifications (100 by default) while other
processes compute, one per core (or ``--load``). Prints every verdict that differs. All certifications are complete,
with property checks, and have the same seed. With ``--set-clock``, the clock that the suite and the servers see is also
set forward and back repeatedly. Servers are then certified one at a time, because a trial is repeated if the clock was
set during the trial: it succeeds only if it takes less time than passes between two settings. This option needs
libfaketime (Debian: faketime). The exit code is 1 if anything differs.
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
        """Sleep, and ignore the EINVAL that libfaketime reports under load if the end of a short sleep has passed."""
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
    started = [multiprocessing.Process(target=_burn, daemon=True) for _ in range(processes)]
    for process in started:
        process.start()
    try:
        yield
    finally:
        for process in started:
            process.kill()
            process.join()


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
    clock_file = Path(tempfile.mkdtemp()) / "clock"
    clock_file.write_text("+0\n")
    environment = {
        "LD_PRELOAD": str(library),
        "FAKETIME_TIMESTAMP_FILE": str(clock_file),
        "FAKETIME_NO_CACHE": "1",
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        "FAKE_UTIME": "1",
    }
    return os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, **environment})


@contextmanager
def set_clock(clock_file: Path | None) -> Generator[None]:
    """Context in which the clock is set forward or back every 20 to 40 seconds. Has no effect without *clock_file*."""
    if clock_file is None:
        yield
        return
    stopped, rng = threading.Event(), random.Random(1)

    def set_offset(seconds: int) -> None:
        replacement = clock_file.with_suffix(".new")
        replacement.write_text(f"{seconds:+d}\n")
        replacement.replace(clock_file)

    def set_repeatedly() -> None:
        while not stopped.wait(rng.uniform(20, 40)):
            set_offset(rng.choice((1, -1)) * rng.choice(STEPS_S))
        set_offset(0)

    worker = threading.Thread(target=set_repeatedly)
    worker.start()
    try:
        yield
    finally:
        stopped.set()
        worker.join()


def differences(quiet: Outcome, under_load: Outcome) -> Iterator[str]:
    """Differences between two outcomes, in words."""
    if quiet.failure != under_load.failure:
        yield f"failure {quiet.failure!r}, then {under_load.failure!r}"
    if quiet.achieved != under_load.achieved:
        yield f"level {quiet.achieved}, then {under_load.achieved}"
    for name in sorted(quiet.checks.keys() | under_load.checks.keys()):
        quiet_verdict, loaded_verdict = quiet.checks.get(name), under_load.checks.get(name)
        if quiet_verdict != loaded_verdict:
            yield f"{name}: {quiet_verdict}, then {loaded_verdict}"
    for requirement_id in sorted(under_load.messages.keys() - quiet.messages.keys()):
        yield f"{requirement_id}: {' / '.join(under_load.messages[requirement_id])[:300]}"


def main() -> int:
    """Print each difference as it is found, then how many there were."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=100, help="number of certifications under load")
    parser.add_argument("--servers", type=int, default=50, help="number of sound servers, which take turns")
    parser.add_argument(
        "--load", type=int, default=os.cpu_count() or 1, help="number of processes that compute meanwhile"
    )
    parser.add_argument("--set-clock", action="store_true", help="set the clock forward and back meanwhile")
    options = parser.parse_args()
    clock_file = settable_clock() if options.set_clock else None
    names_by_module: dict[str, list[str]] = {}
    for name, sound in sounds().items():
        names_by_module.setdefault(sound.server.__module__, []).append(name)
    jobs = [Job(name, explored=True) for name in spread(names_by_module, min(options.servers, options.runs))]
    with side_by_side(jobs) as outcome:
        quiet = {job: outcome(job) for job in jobs}
    certified = differing = 0
    while certified < options.runs:
        batch = jobs[: options.runs - certified]
        with (
            busy(options.load),
            set_clock(clock_file),
            side_by_side(batch, 1 if options.set_clock else None) as outcome,
        ):
            for job in batch:
                lines = list(differences(quiet[job], outcome(job)))
                differing += bool(lines)
                for line in lines:
                    print(f"{job.server}: {line}", flush=True)
        certified += len(batch)
    if clock_file is not None:
        shutil.rmtree(clock_file.parent)
    load = "under load, with the clock set" if options.set_clock else "under load"
    print(f"{certified} certifications of {len(jobs)} sound servers {load}: {differing} with another verdict")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
