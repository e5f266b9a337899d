"""Sizes of the descriptors and pages that agents are given, and times of writing a file and of starting programs."""

from __future__ import annotations

import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from functools import cache

from lro_bench.conditions import conditions
from lro_bench.corpus import corpus
from lro_bench.server import offload, reduced_descriptor
from lro_bench.tokens import count
from lro_reference.writer import encode
from lro_spec.tokens import characters_estimate


@cache
def descriptor_sizes(n: int) -> dict[str, tuple[int, int]]:
    """Tokens of the descriptors of the conditions C1 to C4, by characters ÷ 4 and by o200k."""
    with tempfile.TemporaryDirectory(prefix="lro-bench-") as folder:
        response = offload(corpus(n), folder)
        texts = {
            name: encode(reduced_descriptor(response, conditions()[f"E2/{name}"].delivery.keep)).decode()
            for name in ("C1", "C2", "C3", "C4")
        }
    return {name: (characters_estimate(text), count(text)) for name, text in texts.items()}


@cache
def page_tokens(n: int, page_size: int) -> tuple[int, int]:
    """Two counts of the tokens of all pages: each page counted once, and counted in every request that contains it.

    The second count is for an agent that fetches one page per turn.
    """
    records = corpus(n).records
    pages = [count(encode(list(records[start : start + page_size])).decode()) for start in range(0, n, page_size)]
    return sum(pages), sum(sum(pages[:turn]) for turn in range(1, len(pages) + 1))


def timings(n: int = 500, rounds: int = 100) -> dict[str, tuple[float, float] | None]:
    """Median and 95th percentile of the time in milliseconds to write a file, to start grep, and to start jq.

    The times of a program are None if it is not on the PATH.
    """
    with tempfile.TemporaryDirectory(prefix="lro-bench-") as folder:
        write = _times(lambda: offload(corpus(n), folder), rounds)
    starts = {name: _start_times([name, "--version"], rounds) for name in ("grep", "jq")}
    return {"write": write, **{f"start of {name}": times for name, times in starts.items()}}


def _start_times(command: list[str], rounds: int) -> tuple[float, float] | None:
    if shutil.which(command[0]) is None:
        return None
    return _times(lambda: subprocess.run(command, capture_output=True, check=False), rounds)


def _times(action: Callable[[], object], rounds: int) -> tuple[float, float]:
    milliseconds: list[float] = []
    for _ in range(rounds):
        start = time.perf_counter()
        action()
        milliseconds.append(1000 * (time.perf_counter() - start))
    return statistics.median(milliseconds), sorted(milliseconds)[int(0.95 * rounds) - 1]
