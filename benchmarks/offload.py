"""Cost of offloading: ``python benchmarks/offload.py [--runs N]``.

Measures how long it takes to offload n demo memories at full detail, with estimate, file and descriptor. Compares this
with the minimum that offloading has to do: to serialise the same records and write them durably (exclusive private
file, fsync, rename, fsync of the folder). Prints medians of interleaved rounds, in milliseconds. The paper's figure is
for its file write alone, on another machine.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from itertools import cycle, islice
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
for folder in (ROOT / "reference_impl", ROOT):
    sys.path.insert(0, str(folder))

import orjson  # noqa: E402

from lro_reference.interceptor import Offloaded, ResultSet, intercept  # noqa: E402
from lro_reference.memory.demo import demo_memories  # noqa: E402
from lro_reference.memory.model import SCHEMA_VERSION, line_schema  # noqa: E402
from lro_reference.settings import Settings  # noqa: E402

SIZES = (25, 200, 500, 1000)
PAPER_MS = 23.9
MAX_RATIO = 2.0
"""Target: the time to offload, divided by the time of the bare write."""


def offload_records(records: list[Any], folder: str) -> None:
    results = ResultSet("recall", "full", records, line_schema("full"), SCHEMA_VERSION)
    outcome = intercept(results, Settings(threshold_tokens=1, output_dir=folder), lambda event: None)
    assert isinstance(outcome, Offloaded)
    orjson.dumps(outcome.response.to_dict())


def write_only(records: list[Any], folder: str) -> None:
    path = os.path.join(folder, "bare.jsonl")
    file = os.open(f"{path}.tmp", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    os.write(file, b"\n".join(map(orjson.dumps, records)))
    os.fsync(file)
    os.close(file)
    os.rename(f"{path}.tmp", path)
    directory = os.open(folder, os.O_RDONLY)
    os.fsync(directory)
    os.close(directory)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=40, help="rounds (default 40)")
    parser.add_argument("--folder", help="where to write (default: a temporary folder)")
    options = parser.parse_args()
    target_met = True
    print(f"{'n':>5}{'offload':>10}{'bare write':>12}{'ratio':>8}   (paper, file write alone: {PAPER_MS} ms)")
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        for n in SIZES:
            records = list(islice(cycle(list(demo_memories())), n))
            times: dict[Any, list[float]] = {offload_records: [], write_only: []}
            for _ in range(options.runs + 1):
                for function, seconds in times.items():
                    start = time.perf_counter()
                    function(records, folder)
                    seconds.append(time.perf_counter() - start)
            offload_ms, write_ms = (statistics.median(seconds[1:]) * 1e3 for seconds in times.values())
            ratio = statistics.median(
                a / b for a, b in zip(times[offload_records][1:], times[write_only][1:], strict=True)
            )
            target_met = target_met and ratio <= MAX_RATIO
            print(f"{n:>5}{offload_ms:>10.2f}{write_ms:>12.2f}{ratio:>8.2f}")
    print(f"target: at most {MAX_RATIO} times the bare write: {'met' if target_met else 'not met'}")
    return 0 if target_met else 1


if __name__ == "__main__":
    sys.exit(main())
