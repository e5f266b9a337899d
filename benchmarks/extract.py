"""The ten recipes of the specification on a large file: ``python benchmarks/extract.py [--lines N] [--runs N]``.

Compares two evaluations of each recipe: its command, which a shell runs with the jq binary, and `lro_extract`. Each
evaluation has a fresh process, so that peak memory is measured per recipe. Every answer of `lro_extract` is compared
with the answer of jq, value by value. Only the time of the recipe itself counts, because a server that is in use is
running already; the time of the whole process is shown, too.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from itertools import cycle, islice
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PATHS = (str(ROOT / "reference_impl"), str(ROOT))
sys.path[:0] = PATHS

import orjson  # noqa: E402

MIN_SPEEDUP, MAX_PEAK_MIB = 5.0, 64
WORDS = {2: "_semantic", 3: "note 7", 6: "semantic", 10: "mistake"}
"""Words for the recipes that take a word, by the number of the recipe.

Each word is in a tenth to a half of the demo memories.
"""
SORTING_RECIPES = {4, 9}
"""Numbers of the recipes that sort. They cannot stream the file, so their memory is not limited."""
CHILD = """
import sys, time
sys.path[:0] = {paths!r}
from lro_proxy.tools.recipes import RECIPES
recipe = RECIPES[{effect!r}]
with open({path!r}, "rb", buffering=1 << 18) as file, open({out!r}, "wb") as out:
    start, cpu_start = time.perf_counter(), time.process_time()
    if recipe.array: out.write(b"[")
    for index, row in enumerate(recipe.rows(file, {word!r}, recipe.most)):
        if recipe.array and index: out.write(b",")
        out.write(row + b"\\n")
    if recipe.array: out.write(b"]")
    print(time.perf_counter() - start, time.process_time() - cpu_start)
print(next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")))
"""


def write_file(path: Path, lines: int) -> None:
    """Write an offloaded file of *lines* demo memories."""
    from lro_reference.memory.demo import demo_memories

    memories = list(demo_memories())
    with path.open("wb") as file:
        header = {"type": "lro_header", "operation": "recall", "query": None, "count": lines, "schema_version": "1.0.0"}
        file.write(orjson.dumps({**header, "timestamp": "", "estimated_tokens": 0, "detail": "full"}) + b"\n")
        for number, memory in enumerate(islice(cycle(memories), lines)):
            record = {**memory, "id": f"m{number}", "content": memory["content"][:240]}
            record["provenance"] = {**memory["provenance"], "confidence": (number * 7919 % 10007) / 10007}
            file.write(orjson.dumps(record) + b"\n")


def values(path: Path) -> list[Any]:
    """The values of an answer: the items of an array, or the JSON values or cells of each line."""
    parsed: list[Any] = []
    with path.open("rb") as file:
        content = file.read()
    if content.startswith(b"["):
        return orjson.loads(content)
    for line in content.splitlines():
        try:
            parsed.append(orjson.loads(line))
        except ValueError:
            parsed.append([_cell(cell) for cell in line.split(b"\t")])
    return parsed


def _cell(text: bytes) -> float | bytes:
    try:
        return float(text)  # jq 1.6 writes 17 digits where 16 digits mean the same number
    except ValueError:
        return text


def run_jq(command: str, out: Path) -> tuple[float, float, float]:
    """Run a command; returns wall and CPU seconds, and the peak MiB of the shell or of its largest program."""
    times_before, start = os.times(), time.perf_counter()
    with out.open("wb") as file:
        process = subprocess.Popen(["/bin/sh", "-c", command], stdout=file)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = status
    wall, times_after = time.perf_counter() - start, os.times()
    cpu = (
        times_after.children_user
        + times_after.children_system
        - times_before.children_user
        - times_before.children_system
    )
    return wall, cpu, usage.ru_maxrss / 1024


def run_natively(effect: str, word: str, path: Path, out: Path) -> tuple[float, float, float, float]:
    """Evaluate a recipe in a new process.

    Returns wall and CPU seconds of the recipe, the peak MiB of the process, and the wall seconds of the whole process.
    """
    program = CHILD.format(paths=list(PATHS), effect=effect, path=str(path), out=str(out), word=word)
    start = time.perf_counter()
    completed = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    process_seconds = time.perf_counter() - start
    wall, cpu, peak = map(float, completed.stdout.split())
    return wall, cpu, peak / 1024, process_seconds


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--lines", type=int, default=100_000, help="records in the file (default 100,000)")
    parser.add_argument("--runs", type=int, default=3, help="rounds; the medians count (default 3)")
    options = parser.parse_args()
    if shutil.which("jq") is None:
        print("there is no jq binary to compare with", file=sys.stderr)
        return 2
    from lro_proxy.tools.recipes import RECIPES
    from lro_spec.editions import EDITIONS

    targets_met = True
    with tempfile.TemporaryDirectory() as folder:
        path, jq_output, native_output = (Path(folder) / name for name in ("file.jsonl", "jq", "native"))
        write_file(path, options.lines)
        print(f"{options.lines:,} lines, {path.stat().st_size / 2**20:.0f} MiB; seconds of wall time (of CPU)")
        print(f"{'recipe':<28}{'jq':>15}{'lro_extract':>15}{'ratio':>14}{'peak MiB':>10}{'process':>9}  answers")
        totals = [0.0, 0.0]
        for entry in EDITIONS["lro-6400"].recipes:
            recipe = RECIPES[entry.effect]
            word = WORDS.get(entry.number, recipe.default)
            command = entry.command.replace("{file}", f"'{path}'").replace("jq ", "jq -c ", 1)
            command = command.replace(f'"{recipe.default}"', f'"{word}"') if recipe.word else command
            jq_runs, native_runs = [], []
            for _ in range(options.runs):
                jq_runs.append(run_jq(command, jq_output))
                native_runs.append(run_natively(entry.effect, word, path, native_output))
            jq_wall, jq_cpu, _ = map(statistics.median, zip(*jq_runs, strict=True))
            native_wall, native_cpu, peak, process_seconds = map(statistics.median, zip(*native_runs, strict=True))
            answer = values(jq_output)
            is_equal = answer == values(native_output)
            is_fast, is_lean = (
                jq_wall / native_wall >= MIN_SPEEDUP,
                peak < MAX_PEAK_MIB or entry.number in SORTING_RECIPES,
            )
            targets_met = targets_met and is_equal and is_fast and is_lean and bool(answer)
            totals[0], totals[1] = totals[0] + jq_wall, totals[1] + native_wall
            print(
                f"{entry.number:>2} {entry.effect:<25}{jq_wall:>7.2f} ({jq_cpu:.2f})"
                f"{native_wall:>8.2f} ({native_cpu:.2f})"
                f"{jq_wall / native_wall:>6.1f} ({jq_cpu / native_cpu:.1f}){peak:>10.0f}{process_seconds:>9.2f}  "
                f"{'equal' if is_equal else 'DIFFERENT'}, {len(answer):,}"
            )
        print(f"{'all ten':<28}{totals[0]:>7.2f}{totals[1]:>15.2f}{totals[0] / totals[1]:>13.1f}")
    print(
        f"target: every recipe at least {MIN_SPEEDUP:g} times as fast, every answer equal, streaming ones under "
        f"{MAX_PEAK_MIB} MiB: {'met' if targets_met else 'not met'}"
    )
    return 0 if targets_met else 1


if __name__ == "__main__":
    sys.exit(main())
