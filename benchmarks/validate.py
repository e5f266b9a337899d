"""Speed of `lro validate`, beside a bare loop and beside the sourcemeta CLI.

    python benchmarks/validate.py [--lines N] [--rounds N] [--sourcemeta PATH] [--million]

The file is as the reference server writes it: N records of about 700 bytes. Each round runs every contender once, one
after the other. Printed are the medians over the rounds, and the medians of the ratios within a round, because a busy
machine slows all contenders down. Memory is the sum over all processes of a command, sampled in a run of its own;
shared memory counts once. A file with a fault in every record is validated, too. With --million, the commands also run
on 1,000,000 lines (up to three rounds; the CLI needs ten gigabytes of memory).

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
LARGEST = 900
"""Largest size of the demo memories that are used, in bytes; with it, their mean size is that of a real record."""


def make(folder: Path, lines: int) -> tuple[Path, Path]:
    """Write a file and its descriptor; returns both paths, the descriptor's first."""
    random = Random(4)
    memories = [m for m in demo_memories() if len(orjson.dumps(m)) <= LARGEST]
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
    where = folder / "descriptor.json"
    where.write_bytes(orjson.dumps(descriptor))
    print(f"{lines:,} lines of {size / lines:.0f} bytes; a descriptor of {where.stat().st_size} bytes")
    return where, path


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


def prepared(folder: Path, lines: int) -> tuple[Path, Path]:
    """Write a file, its descriptor, and a schema that accepts the header, too, for the CLI; returns the first two
    paths."""
    paths = make(folder, lines)
    schema = {"if": {"required": ["id"]}, "then": orjson.loads(paths[0].read_bytes())["line_schema"]}
    text = json.dumps({"$schema": "https://json-schema.org/draft/2020-12/schema", **schema})
    (folder / "schema.json").write_text(text)
    return paths


def bare(descriptor: Path, path: Path) -> None:
    """The obvious loop: each line is parsed and validated against the line schema."""
    schema = orjson.loads(descriptor.read_bytes())["line_schema"]
    is_valid, loads = jsonschema_rs.validator_for(schema).is_valid, orjson.loads
    with path.open("rb") as file:
        next(file)
        assert all(is_valid(loads(line)) for line in file)


def whole(descriptor: Path, path: Path) -> None:
    """Validate the file by itself."""
    assert list(validate_file(path)) == []


def followed(descriptor: Path, path: Path) -> None:
    """The descriptor and the file, everything switched on, as `lro validate --follow` does it."""
    both = Following(orjson.loads(descriptor.read_bytes()))
    assert list(both.findings()) == []


class Command:
    """A whole command; D, F and S stand for the descriptor, the file, and a schema of its lines."""

    def __init__(self, *words: str, code: int = 0) -> None:
        self.words = words
        self.code = code

    def __call__(self, descriptor: Path, path: Path) -> None:
        with self._started(descriptor, path) as process:
            assert process.wait() == self.code

    def memory(self, descriptor: Path, path: Path) -> float:
        """Its peak memory in MiB."""
        most = 0
        with self._started(descriptor, path) as process:
            while process.poll() is None:
                most = max(most, sum(map(proportional, family(process.pid))))
                time.sleep(0.01)
            assert process.returncode == 0
        return most / 1024

    def _started(self, descriptor: Path, path: Path) -> subprocess.Popen[bytes]:
        named = {"D": str(descriptor), "F": str(path), "S": str(descriptor.with_name("schema.json"))}
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path[:3])}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed package is compiled once
        argv = [named.get(word, word) for word in self.words]
        return subprocess.Popen(argv, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def family(pid: int) -> Iterator[int]:
    """A process and all its descendants."""
    yield pid
    with suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):
            for child in Path(f"/proc/{pid}/task/{thread}/children").read_text().split():
                yield from family(int(child))


def proportional(pid: int) -> int:
    """Kibibytes of a process, with its share of the memory that it has in common with others."""
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1])
    return 0


def rounds(contenders: dict[str, Run], paths: tuple[Path, Path], count: int) -> Times:
    """Seconds of each contender, round by round."""
    times: Times = {name: [] for name in contenders}
    for _ in range(count):
        for name, run in contenders.items():
            began = time.perf_counter()
            run(*paths)
            times[name].append(time.perf_counter() - began)
    return times


def ratio(times: Times, name: str, base: str) -> float:
    """Speed relative to *base*: the median of the ratios of all rounds."""
    return statistics.median(b / s for b, s in zip(times[base], times[name], strict=True))


def print_times(title: str, times: Times, base: str, memory: dict[str, float] | None = None) -> None:
    """Print a line for each contender: its median, its ratio to *base*, and its peak memory."""
    print(f"{title}:")
    for name, seconds in times.items():
        peak = f"  {memory[name]:6.0f} MiB" if memory and name in memory else ""
        faster = f"{ratio(times, name, base):5.2f} times as fast as {base}"
        print(f"  {name:<34} {statistics.median(seconds):7.2f} s   {faster}{peak}")


LRO = (sys.executable, "-m", "lro_conformance", "validate", "-q")
FOLLOWED = "lro validate --follow D"
CLI = "sourcemeta validate -f -F"
INSIDE: dict[str, Run] = {
    "bare loop": bare,
    "validate_file": whole,
    "follow": followed,
}


def commands(paths: tuple[Path, Path], count: int, sourcemeta: str | None) -> tuple[Times, dict[str, float]]:
    """Times and memory of whole commands, which are also printed."""
    base = "lro validate F"
    run = {base: Command(*LRO, "F"), FOLLOWED: Command(*LRO, "--follow", "D")}
    if sourcemeta:
        base = CLI
        run[CLI] = Command(sourcemeta, "validate", "-f", "-F", "S", "F")
    memory = {name: command.memory(*paths) for name, command in run.items()}
    times = rounds({**run}, paths, count)
    print_times("whole commands, cold start included", times, base, memory)
    return times, memory


def with_faults(valid: tuple[Path, Path], folder: Path, count: int) -> list[tuple[str, float, float]]:
    """Print the times of whole commands on a faulty file beside those on the valid one; returns the requirements."""
    faulty = make_faulty(folder, valid)
    requirements: list[tuple[str, float, float]] = []
    for base, words in (("lro validate F", ("F",)), (FOLLOWED, ("--follow", "D"))):
        name = f"{base}, all faulty"

        def on_faulty(failing: Command, *_: Path) -> None:
            failing(*faulty)

        passing, failing = Command(*LRO, *words), Command(*LRO, *words, code=1)
        run: dict[str, Run] = {base: passing, name: partial(on_faulty, failing)}
        times = rounds(run, valid, count)
        print_times("a fault in every line", times, base)
        requirements.append((f"{base}: a fault in every line, in 5 times", 5 * ratio(times, name, base), 1.0))
    return requirements


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lines", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--sourcemeta", help="the command of npm's @sourcemeta/jsonschema")
    parser.add_argument("--million", action="store_true", help="run the commands on 1,000,000 lines too")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        paths = prepared(Path(folder), options.lines)
        inside = rounds(INSIDE, paths, options.rounds)
        print_times("in the process, imports done", inside, "bare loop")
        outside, memory = commands(paths, options.rounds, options.sourcemeta)
        alone = rounds(
            {"lro validate D": Command(*LRO, "D"), "python -c pass": Command(sys.executable, "-c", "pass")},
            paths,
            5 * options.rounds,
        )
        print_times("a descriptor alone", alone, "python -c pass")
        faults = with_faults(paths, Path(folder, "faulty"), options.rounds)
    requirements = [
        *faults,
        ("follow, of the bare loop's throughput", ratio(inside, "follow", "bare loop"), 0.5),
        ("a descriptor alone, in 150 ms", 0.150 / statistics.median(alone["lro validate D"]), 1.0),
        ("memory, in 64 MiB", 64 / max(memory[name] for name in memory if name != CLI), 1.0),
    ]
    if CLI in outside:
        requirements.append(("--follow, times as fast as the CLI", ratio(outside, FOLLOWED, CLI), 1.0))
    if options.million:
        with tempfile.TemporaryDirectory() as folder:
            outside, memory = commands(prepared(Path(folder), 1_000_000), min(3, options.rounds), options.sourcemeta)
        requirements.append(
            ("1,000,000 lines: memory, in 64 MiB", 64 / max(memory[n] for n in memory if n != CLI), 1.0)
        )
        if CLI in outside:
            requirements.append(
                ("1,000,000 lines: --follow, times as fast as the CLI", ratio(outside, FOLLOWED, CLI), 2.0)
            )
    print("required:")
    for what, found, least in requirements:
        print(f"  {what:<52} {found:5.2f}, at least {least:g}: {'met' if found >= least else 'NOT MET'}")


if __name__ == "__main__":
    main()
