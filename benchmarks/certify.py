"""Cost of a certification: ``python benchmarks/certify.py [--runs N]``.

Each round certifies the plain server of the tests (standard library, starts in 20 ms), then certifies the reference
server, then starts the reference server (to the answer of initialize) and stops it as often as its certification did,
two at a time. Prints the medians, and the ratio of the last two, which says more than seconds.
"""

from __future__ import annotations

import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
for folder in (ROOT / "reference_impl", ROOT / "conformance", ROOT):
    sys.path.insert(0, str(folder))

from lro_conformance.profile import launch, profile_for_command  # noqa: E402
from lro_conformance.wire.workspace import Workspace  # noqa: E402
from tests.servers.variants import profile_text  # noqa: E402

os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # installed code is compiled, and so is a checkout after its first run

JOBS = 2
"""Number of servers that run at the same time."""
PLAIN_TARGET_S = 4.0
RATIO_TARGET = 1.25


def certified(*options: str) -> tuple[float, int]:
    """Seconds of one `lro certify`, its own start and imports included, and how many servers it started."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path[:3])}
    argv = [
        sys.executable,
        "-m",
        "lro_conformance",
        "certify",
        "--seed",
        "1",
        "-q",
        "--plain",
        "-j",
        str(JOBS),
        *options,
    ]
    begun = time.monotonic()
    done = subprocess.run(argv, env=environment, capture_output=True, text=True, check=False)
    seconds = time.monotonic() - begun
    starts = re.search(r"(\d+) server starts", done.stdout)
    if done.returncode or starts is None:
        sys.exit(f"{' '.join(options)} was not certified (exit code {done.returncode}):\n{done.stdout}{done.stderr}")
    return seconds, int(starts[1])


def started(times: int) -> float:
    """Seconds that it takes to start the reference server, shake hands, and stop it, *times* times."""
    profile = profile_for_command(("lro", "serve"))

    def one(run: Workspace) -> None:
        workdir = run.workdir()
        plan = launch(profile, {"output_dir": str(workdir)}, workdir)
        with run.server(plan.argv, {**dict.fromkeys(plan.unset), **plan.env}, plan.cwd) as server:
            reply = server.initialize()
            if not reply.ok:
                sys.exit(f"the reference server did not start: {reply.failure}")

    begun = time.monotonic()
    with Workspace() as run, ThreadPoolExecutor(JOBS) as pool:
        list(pool.map(one, [run] * times))
    return time.monotonic() - begun


def main() -> None:
    """Measure, and print the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=7, help="rounds (default: 7)")
    runs: int = parser.parse_args().runs
    plain, reference, bare = list[float](), list[float](), list[float]()
    plain_starts = reference_starts = 0
    with tempfile.TemporaryDirectory() as folder:
        profile = Path(folder) / "plain.yaml"
        profile.write_text(profile_text())
        for number in range(runs):
            seconds, plain_starts = certified("--profile", str(profile))
            plain.append(seconds)
            seconds, reference_starts = certified("--", "lro", "serve")
            reference.append(seconds)
            bare.append(started(reference_starts))
            print(f"run {number + 1}: {plain[-1]:.1f} s, {reference[-1]:.1f} s, {bare[-1]:.1f} s", file=sys.stderr)
    a, b, c = (statistics.median(m) for m in (plain, reference, bare))
    load = f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors"
    print(f"medians of {runs}, {JOBS} servers at a time, {load}")
    print(
        f"certify the plain server       {a:6.2f} s  {plain_starts} starts (target: under {PLAIN_TARGET_S:g} s, idle)"
    )
    print(f"certify the reference server   {b:6.2f} s  {reference_starts} starts")
    print(f"start and stop it as often     {c:6.2f} s")
    print(f"ratio                          {b / c:6.2f}    (target: under {RATIO_TARGET:g})")


if __name__ == "__main__":
    main()
