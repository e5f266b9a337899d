"""Speed of `lro validate`, beside a bare loop and beside the sourcemeta CLI.

    python benchmarks/validate.py [--lines N] [--rounds N] [--sourcemeta PATH] [--million]

The file is like a file of the reference server: N records of about 700 bytes. Each round runs every contender once, one
after the other. The medians over the rounds are printed, and also the medians of the ratios within a round, because a
busy machine slows all contenders down alike. Memory is sampled in a separate run, as the sum over all processes of a
command, with shared memory counted once. A file with a fault in every record is validated, too. With --million, the
commands also run on 1,000,000 lines (up to three rounds; the CLI needs ten gigabytes of memory).

    npm install --prefix /tmp/sourcemeta @sourcemeta/jsonschema
    python benchmarks/validate.py --sourcemeta /tmp/sourcemeta/node_modules/.bin/jsonschema
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from random import Random

import jsonschema_rs
import orjson

ROOT = Path(__file__).parent.parent
for folder in ("", "conformance", "reference_impl"):
    sys.path.insert(0, str(ROOT / folder))

from lro_reference.memory.demo import demo_memories  # noqa: E402
from lro_reference.memory.model import line_schema  # noqa: E402
from lro_spec.recipes.render import render  # noqa: E402
from lro_spec.validation import validate_file  # noqa: E402
from lro_spec.validation.linked import Following  # noqa: E402

Run = Callable[[Path, Path], object]
Times = dict[str, list[float]]

NAME = "atlatl-recall-01KJPY44E0A1B2C3D4E5F6G7H8.jsonl"
MAX_RECORD_BYTES = 900
"""Larger demo memories are left out, so that the mean size is the mean size of real records."""


def make_valid(folder: Path, lines: int) -> tuple[Path, Path]:
    """Write a file and its descriptor, and return both paths, the descriptor's first."""
    random = Random(4)
    memories = [m for m in demo_memories() if len(orjson.dumps(m)) <= MAX_RECORD_BYTES]
    path, namespaces, size = folder / NAME, Counter[str](), 0
    with path.open("wb") as file:
        header = {
            "type": "lro_header",
            "operation": "recall",
            "query": "*",
            "count": lines,
            "schema_version": "1.0",
            "timestamp": "2026-03-02T09:30:00Z",
            "estimated_tokens": lines * 180,
            "detail": "full",
        }
        file.write(orjson.dumps(header) + b"\n")
        for number in range(lines):
            record = {**memories[number % len(memories)], "id": f"{random.getrandbits(128):032x}"}
            line = orjson.dumps(record)
            namespaces[record["namespace"]] += 1
            size += len(line)
            file.write(line + b"\n")
    descriptor = {
        "offloaded": True,
        "summary": {
            "count": lines,
            "estimated_tokens": lines * 180,
            "operation": "recall",
            "top_namespaces": [name for name, _ in namespaces.most_common(5)],
            "score_range": None,
            "detail": "full",
        },
        "file_path": str(path),
        "line_schema": line_schema("full"),
        "jq_recipes": [{"description": r.description, "command": r.command} for r in render("lro-6400", str(path))],
        "guidance": f"{lines} records are in {path}.",
    }
    descriptor_path = folder / "descriptor.json"
    descriptor_path.write_bytes(orjson.dumps(descriptor))
    print(f"{lines:,} lines of {size / lines:.0f} bytes; a descriptor of {descriptor_path.stat().st_size} bytes")
    return descriptor_path, path


def make_faulty(folder: Path, paths: tuple[Path, Path]) -> tuple[Path, Path]:
    """Write the same file and descriptor, but with a number as the title of every record; returns both paths."""
    folder.mkdir()
    descriptor, path = folder / paths[0].name, folder / paths[1].name
    descriptor.write_bytes(paths[0].read_bytes().replace(str(paths[1]).encode(), str(path).encode()))
    with paths[1].open("rb") as valid, path.open("wb") as file:
        file.write(next(valid))
        for line in valid:
            file.write(orjson.dumps({**orjson.loads(line), "title": 7}) + b"\n")
    return descriptor, path


def prepare(folder: Path, lines: int) -> tuple[Path, Path]:
    """Write a file and its descriptor, and return the paths, the descriptor's first.

    Also writes a schema for the CLI, which accepts the header of the file, too.
    """
    paths = make_valid(folder, lines)
    schema = {"if": {"required": ["id"]}, "then": orjson.loads(paths[0].read_bytes())["line_schema"]}
    text = json.dumps({"$schema": "https://json-schema.org/draft/2020-12/schema", **schema})
    (folder / "schema.json").write_text(text)
    return paths


def bare_loop(descriptor: Path, path: Path) -> None:
    """The obvious loop: each line is parsed and validated against the line schema."""
    schema = orjson.loads(descriptor.read_bytes())["line_schema"]
    is_valid, loads = jsonschema_rs.validator_for(schema).is_valid, orjson.loads
    with path.open("rb") as file:
        next(file)
        assert all(is_valid(loads(line)) for line in file)


def validate_alone(descriptor: Path, path: Path) -> None:
    """Validate the file without its descriptor."""
    assert list(validate_file(path)) == []


def follow(descriptor: Path, path: Path) -> None:
    """Validate the descriptor and the file with all checks, as `lro validate --follow` does."""
    following = Following(orjson.loads(descriptor.read_bytes()))
    assert list(following.findings()) == []


class Command:
    """A whole command, in which D, F and S are replaced by paths.

    They are the paths of the descriptor, of the file, and of a schema of its lines.
    """

    def __init__(self, *words: str, code: int = 0) -> None:
        self.words = words
        self.code = code

    def __call__(self, descriptor: Path, path: Path) -> None:
        with self._start(descriptor, path) as process:
            assert process.wait() == self.code

    def memory(self, descriptor: Path, path: Path) -> float:
        """Run the command, and return its peak memory in MiB."""
        peak = 0
        with self._start(descriptor, path) as process:
            while process.poll() is None:
                peak = max(peak, sum(map(proportional_kib, process_tree(process.pid))))
                time.sleep(0.01)
            assert process.returncode == 0
        return peak / 1024

    def _start(self, descriptor: Path, path: Path) -> subprocess.Popen[bytes]:
        path_of_word = {"D": str(descriptor), "F": str(path), "S": str(descriptor.with_name("schema.json"))}
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path[:3])}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed package is compiled once
        argv = [path_of_word.get(word, word) for word in self.words]
        return subprocess.Popen(argv, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def process_tree(pid: int) -> Iterator[int]:
    """A process and all its descendants."""
    yield pid
    with suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):
            for child in Path(f"/proc/{pid}/task/{thread}/children").read_text().split():
                yield from process_tree(int(child))


def proportional_kib(pid: int) -> int:
    """Memory of a process in KiB. Memory that several processes share is divided among them."""
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1])
    return 0


def run_rounds(contenders: dict[str, Run], paths: tuple[Path, Path], count: int) -> Times:
    """Seconds of each contender, round by round."""
    times: Times = {name: [] for name in contenders}
    for _ in range(count):
        for name, run in contenders.items():
            start = time.perf_counter()
            run(*paths)
            times[name].append(time.perf_counter() - start)
    return times


def median_ratio(times: Times, name: str, base: str) -> float:
    """Speed of *name* relative to *base*: the median of the ratios in all rounds."""
    return statistics.median(b / s for b, s in zip(times[base], times[name], strict=True))


def print_times(title: str, times: Times, base: str, memory: dict[str, float] | None = None) -> None:
    """Print a line for each contender: its median, its ratio to *base*, and its peak memory."""
    print(f"{title}:")
    for name, seconds in times.items():
        peak = f"  {memory[name]:6.0f} MiB" if memory and name in memory else ""
        faster = f"{median_ratio(times, name, base):5.2f} times as fast as {base}"
        print(f"  {name:<34} {statistics.median(seconds):7.2f} s   {faster}{peak}")


LRO = (sys.executable, "-m", "lro_conformance", "validate", "-q")
FOLLOW = "lro validate --follow D"
CLI = "sourcemeta validate -f -F"
IN_PROCESS: dict[str, Run] = {
    "bare loop": bare_loop,
    "validate_file": validate_alone,
    "follow": follow,
}


def measure_commands(paths: tuple[Path, Path], count: int, sourcemeta: str | None) -> tuple[Times, dict[str, float]]:
    """Measure and print the times and the peak memory of whole commands; returns both."""
    base = "lro validate F"
    run = {base: Command(*LRO, "F"), FOLLOW: Command(*LRO, "--follow", "D")}
    if sourcemeta:
        base = CLI
        run[CLI] = Command(sourcemeta, "validate", "-f", "-F", "S", "F")
    memory = {name: command.memory(*paths) for name, command in run.items()}
    times = run_rounds({**run}, paths, count)
    print_times("whole commands, cold start included", times, base, memory)
    return times, memory


def measure_faults(valid: tuple[Path, Path], folder: Path, count: int) -> list[tuple[str, float, float]]:
    """Print the times of whole commands on a faulty file beside their times on the valid file.

    Returns a requirement for each command: its text, the measured value, and the minimum.
    """
    faulty = make_faulty(folder, valid)
    requirements: list[tuple[str, float, float]] = []
    for base, words in (("lro validate F", ("F",)), (FOLLOW, ("--follow", "D"))):
        name = f"{base}, all faulty"

        def on_faulty(failing: Command, *_: Path) -> None:
            failing(*faulty)

        passing, failing = Command(*LRO, *words), Command(*LRO, *words, code=1)
        run: dict[str, Run] = {base: passing, name: partial(on_faulty, failing)}
        times = run_rounds(run, valid, count)
        print_times("a fault in every line", times, base)
        requirements.append((f"{base}: a fault in every line, in 5 times", 5 * median_ratio(times, name, base), 1.0))
    return requirements


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lines", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--sourcemeta", help="the command of npm's @sourcemeta/jsonschema")
    parser.add_argument("--million", action="store_true", help="run the commands on 1,000,000 lines too")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        paths = prepare(Path(folder), options.lines)
        in_process = run_rounds(IN_PROCESS, paths, options.rounds)
        print_times("in the process, imports done", in_process, "bare loop")
        command_times, memory = measure_commands(paths, options.rounds, options.sourcemeta)
        descriptor_times = run_rounds(
            {"lro validate D": Command(*LRO, "D"), "python -c pass": Command(sys.executable, "-c", "pass")},
            paths,
            5 * options.rounds,
        )
        print_times("a descriptor alone", descriptor_times, "python -c pass")
        fault_requirements = measure_faults(paths, Path(folder, "faulty"), options.rounds)
    requirements = [
        *fault_requirements,
        ("follow, of the bare loop's throughput", median_ratio(in_process, "follow", "bare loop"), 0.5),
        ("a descriptor alone, in 150 ms", 0.150 / statistics.median(descriptor_times["lro validate D"]), 1.0),
        ("memory, in 64 MiB", 64 / max(memory[name] for name in memory if name != CLI), 1.0),
    ]
    if CLI in command_times:
        requirements.append(("--follow, times as fast as the CLI", median_ratio(command_times, FOLLOW, CLI), 1.0))
    if options.million:
        with tempfile.TemporaryDirectory() as folder:
            command_times, memory = measure_commands(
                prepare(Path(folder), 1_000_000), min(3, options.rounds), options.sourcemeta
            )
        requirements.append(
            ("1,000,000 lines: memory, in 64 MiB", 64 / max(memory[n] for n in memory if n != CLI), 1.0)
        )
        if CLI in command_times:
            requirements.append(
                ("1,000,000 lines: --follow, times as fast as the CLI", median_ratio(command_times, FOLLOW, CLI), 2.0)
            )
    print("required:")
    for text, measured, minimum in requirements:
        print(f"  {text:<52} {measured:5.2f}, at least {minimum:g}: {'met' if measured >= minimum else 'NOT MET'}")


if __name__ == "__main__":
    main()
