"""The ten recipes of the specification on a large file: ``python benchmarks/extract.py [--lines N] [--runs N]``.

Compares a recipe's command, run by a shell with the jq binary, with the evaluation of the same recipe by `lro_extract`,
in a fresh process each time so that peak memory is measured per recipe. Every answer is compared with jq's, value by
value. The time of the recipe alone counts, because in use the server already runs; the time of the whole process is
shown, too.
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

TARGET, MOST_MIB = 5.0, 64
WORDS = {2: "_semantic", 3: "note 7", 6: "semantic", 10: "mistake"}
"""Words for the recipes that take one, by their number: each is in a tenth to a half of the demo memories."""
SORTING = {4, 9}
CHILD = """
import sys, time
sys.path[:0] = {paths!r}
from lro_proxy.tools.recipes import RECIPES
recipe = RECIPES[{effect!r}]
with open({path!r}, "rb", buffering=1 << 18) as file, open({out!r}, "wb") as out:
    begun, used = time.perf_counter(), time.process_time()
    if recipe.array: out.write(b"[")
    for place, row in enumerate(recipe.rows(file, {word!r}, recipe.most)):
        if recipe.array and place: out.write(b",")
        out.write(row + b"\\n")
    if recipe.array: out.write(b"]")
    print(time.perf_counter() - begun, time.process_time() - used)
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
            changed = {**memory, "id": f"m{number}", "content": memory["content"][:240]}
            changed["provenance"] = {**memory["provenance"], "confidence": (number * 7919 % 10007) / 10007}
            file.write(orjson.dumps(changed) + b"\n")


def values(path: Path) -> list[Any]:
    """An answer as JSON values, an array as its items; rows of a table as their cells."""
    found: list[Any] = []
    with path.open("rb") as file:
        whole = file.read()
    if whole.startswith(b"["):
        return orjson.loads(whole)
    for line in whole.splitlines():
        try:
            found.append(orjson.loads(line))
        except ValueError:
            found.append([_cell(cell) for cell in line.split(b"\t")])
    return found


def _cell(text: bytes) -> float | bytes:
    try:
        return float(text)  # jq 1.6 writes 17 digits where 16 say the same
    except ValueError:
        return text


def by_jq(command: str, out: Path) -> tuple[float, float, float]:
    """Wall and CPU seconds, and peak MiB of the shell or its largest program."""
    before, begun = os.times(), time.perf_counter()
    with out.open("wb") as file:
        process = subprocess.Popen(["/bin/sh", "-c", command], stdout=file)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = status
    wall, after = time.perf_counter() - begun, os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return wall, cpu, used.ru_maxrss / 1024


def natively(effect: str, word: str, path: Path, out: Path) -> tuple[float, float, float, float]:
    """Wall and CPU seconds of the recipe, peak MiB of its process, and wall seconds of the whole process."""
    program = CHILD.format(paths=list(PATHS), effect=effect, path=str(path), out=str(out), word=word)
    begun = time.perf_counter()
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    whole = time.perf_counter() - begun
    wall, cpu, peak = map(float, done.stdout.split())
    return wall, cpu, peak / 1024, whole


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

    met = True
    with tempfile.TemporaryDirectory() as folder:
        path, theirs, ours = (Path(folder) / name for name in ("file.jsonl", "jq", "native"))
        write_file(path, options.lines)
        print(f"{options.lines:,} lines, {path.stat().st_size / 2**20:.0f} MiB; seconds of wall time (of CPU)")
        print(f"{'recipe':<28}{'jq':>15}{'lro_extract':>15}{'ratio':>14}{'peak MiB':>10}{'process':>9}  answers")
        totals = [0.0, 0.0]
        for entry in EDITIONS["lro-6400"].recipes:
            recipe = RECIPES[entry.effect]
            word = WORDS.get(entry.number, recipe.default)
            command = entry.command.replace("{file}", f"'{path}'").replace("jq ", "jq -c ", 1)
            command = command.replace(f'"{recipe.default}"', f'"{word}"') if recipe.word else command
            jq, native = [], []
            for _ in range(options.runs):
                jq.append(by_jq(command, theirs))
                native.append(natively(entry.effect, word, path, ours))
            wall, cpu, _ = map(statistics.median, zip(*jq, strict=True))
            mine, mine_cpu, peak, whole = map(statistics.median, zip(*native, strict=True))
            answer = values(theirs)
            equal = answer == values(ours)
            fast, lean = wall / mine >= TARGET, peak < MOST_MIB or entry.number in SORTING
            met = met and equal and fast and lean and bool(answer)
            totals[0], totals[1] = totals[0] + wall, totals[1] + mine
            print(
                f"{entry.number:>2} {entry.effect:<25}{wall:>7.2f} ({cpu:.2f}){mine:>8.2f} ({mine_cpu:.2f})"
                f"{wall / mine:>6.1f} ({cpu / mine_cpu:.1f}){peak:>10.0f}{whole:>9.2f}  "
                f"{'equal' if equal else 'DIFFERENT'}, {len(answer):,}"
            )
        print(f"{'all ten':<28}{totals[0]:>7.2f}{totals[1]:>15.2f}{totals[0] / totals[1]:>13.1f}")
    print(
        f"target: every recipe at least {TARGET:g} times as fast, every answer equal, streaming ones under "
        f"{MOST_MIB} MiB: {'met' if met else 'not met'}"
    )
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
