"""Cost of a certification: ``python benchmarks/certify.py [--runs N]``.

Each round has three steps. It certifies the plain server of the tests, which uses only the standard library and starts
in 20 ms. It certifies the reference server. Then it starts the reference server, waits for the answer to initialize,
and stops it, as often as the certification did, with two servers at a time. Prints the medians of the steps, and the
ratio of the last two steps, which says more than seconds.
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


def time_certification(*options: str) -> tuple[float, int]:
    """Run `lro certify` once.

    Returns its seconds, including its own start and imports, and how many servers it started.
    """
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
    start = time.monotonic()
    completed = subprocess.run(argv, env=environment, capture_output=True, text=True, check=False)
    seconds = time.monotonic() - start
    starts = re.search(r"(\d+) server starts", completed.stdout)
    if completed.returncode or starts is None:
        sys.exit(
            f"{' '.join(options)} was not certified (exit code {completed.returncode}):\n"
            f"{completed.stdout}{completed.stderr}"
        )
    return seconds, int(starts[1])


def time_starts(count: int) -> float:
    """Seconds that it takes to start the reference server, shake hands, and stop it, *count* times."""
    profile = profile_for_command(("lro", "serve"))

    def start_once(workspace: Workspace) -> None:
        workdir = workspace.workdir()
        plan = launch(profile, {"output_dir": str(workdir)}, workdir)
        with workspace.server(plan.argv, {**dict.fromkeys(plan.unset), **plan.env}, plan.cwd) as server:
            reply = server.initialize()
            if not reply.ok:
                sys.exit(f"the reference server did not start: {reply.failure}")

    start = time.monotonic()
    with Workspace() as workspace, ThreadPoolExecutor(JOBS) as pool:
        list(pool.map(start_once, [workspace] * count))
    return time.monotonic() - start


def main() -> None:
    """Measure, and print the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=7, help="rounds (default: 7)")
    runs: int = parser.parse_args().runs
    plain_times, reference_times, start_times = list[float](), list[float](), list[float]()
    plain_starts = reference_starts = 0
    with tempfile.TemporaryDirectory() as folder:
        profile = Path(folder) / "plain.yaml"
        profile.write_text(profile_text())
        for number in range(runs):
            seconds, plain_starts = time_certification("--profile", str(profile))
            plain_times.append(seconds)
            seconds, reference_starts = time_certification("--", "lro", "serve")
            reference_times.append(seconds)
            start_times.append(time_starts(reference_starts))
            print(
                f"run {number + 1}: {plain_times[-1]:.1f} s, {reference_times[-1]:.1f} s, {start_times[-1]:.1f} s",
                file=sys.stderr,
            )
    plain_median, reference_median, start_median = (
        statistics.median(m) for m in (plain_times, reference_times, start_times)
    )
    load = f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors"
    print(f"medians of {runs}, {JOBS} servers at a time, {load}")
    print(
        f"certify the plain server       {plain_median:6.2f} s  {plain_starts} starts "
        f"(target: under {PLAIN_TARGET_S:g} s, idle)"
    )
    print(f"certify the reference server   {reference_median:6.2f} s  {reference_starts} starts")
    print(f"start and stop it as often     {start_median:6.2f} s")
    print(f"ratio                          {reference_median / start_median:6.2f}    (target: under {RATIO_TARGET:g})")


if __name__ == "__main__":
    main()
