"""How fast `lro validate` is, beside a bare loop and beside the sourcemeta CLI.

    python benchmarks/validate.py [--lines N] [--rounds N] [--sourcemeta PATH]

The file is as the reference server writes it: N records of about 700 bytes. Each round runs everything once, one after
the other; what is printed are medians over the rounds, and ratios within them, since a busy machine is slow for all.

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
from pathlib import Path
from random import Random
from typing import Any

import jsonschema_rs
import orjson

ROOT = Path(__file__).parent.parent
for folder in ("", "conformance", "reference_impl"):
    sys.path.insert(0, str(ROOT / folder))

from lro_reference.corpus import demo_memories  # noqa: E402
from lro_reference.memories import line_schema  # noqa: E402
from lro_spec.following import Following  # noqa: E402
from lro_spec.recipes import render  # noqa: E402
from lro_spec.validation import validate_file  # noqa: E402

NAME = "atlatl-recall-01KJPY44E0A1B2C3D4E5F6G7H8.jsonl"
LARGEST = 900
"""Of the demo memories, those of at most so many bytes: their mean is what a record of a server is like."""


def make(folder: Path, lines: int) -> tuple[Path, Path]:
    """Writes a file and its descriptor; returns both paths, the descriptor's first."""
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


def bare(descriptor: Path, path: Path) -> None:
    """The loop that anybody would write: each line parsed and held against the line schema."""
    schema = orjson.loads(descriptor.read_bytes())["line_schema"]
    is_valid, loads = jsonschema_rs.validator_for(schema).is_valid, orjson.loads
    with path.open("rb") as file:
        next(file)
        assert all(is_valid(loads(line)) for line in file)


def whole(descriptor: Path, path: Path) -> None:
    """The file by itself."""
    assert list(validate_file(path)) == []


def followed(descriptor: Path, path: Path) -> None:
    """The descriptor and the file, everything switched on."""
    assert list(Following(orjson.loads(descriptor.read_bytes())).findings()) == []


LAUNCHER = """
import os, sys
child = os.fork()
if child == 0:
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    os.dup2(1, 2)
    os.execvp(sys.argv[1], sys.argv[1:])
_, status, usage = os.wait4(child, 0)
print(usage.ru_maxrss)
sys.exit(os.waitstatus_to_exitcode(status))
"""


def command(*words: str) -> Callable[[Path, Path], None]:
    """A whole command; D and F stand for the descriptor and the file."""

    def run(descriptor: Path, path: Path) -> None:
        named = {"D": str(descriptor), "F": str(path), "S": str(descriptor.with_name("schema.json"))}
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path[:3])}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed package is compiled once
        argv = [named.get(word, word) for word in words]
        # Started by something small: a process counts the memory of what it was forked from as its own.
        launched = subprocess.run(
            [sys.executable, "-I", "-S", "-c", LAUNCHER, *argv], env=environment, stdout=subprocess.PIPE, check=True
        )
        PEAK[words] = max(PEAK.get(words, 0), int(launched.stdout))

    run.__doc__ = " ".join(words)
    PEAKS_OF[run] = words
    return run


PEAK: dict[tuple[str, ...], int] = {}
PEAKS_OF: dict[Any, tuple[str, ...]] = {}


def rounds(contenders: dict[str, Callable[[Path, Path], None]], paths: tuple[Path, Path], count: int) -> dict[str, Any]:
    """Seconds of each contender, round by round."""
    times: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(count):
        for name, run in contenders.items():
            began = time.perf_counter()
            run(*paths)
            times[name].append(time.perf_counter() - began)
    return times


def told(times: dict[str, list[float]], contenders: dict[str, Any], base: str) -> Iterator[str]:
    """A line for each contender: its median, its ratio to *base* within the rounds, and its peak of memory."""
    for name, seconds in times.items():
        ratio = statistics.median(b / s for b, s in zip(times[base], seconds, strict=True))
        words = PEAKS_OF.get(contenders[name])
        peak = f"  {PEAK[words] / 1024:6.0f} MiB" if words else ""
        yield f"  {name:<34} {statistics.median(seconds):7.2f} s   {ratio:5.2f} times as fast as {base}{peak}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lines", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--sourcemeta", help="the command of npm's @sourcemeta/jsonschema")
    options = parser.parse_args()
    lro = (sys.executable, "-m", "lro_conformance", "validate", "-q")
    with tempfile.TemporaryDirectory() as folder:
        paths = make(Path(folder), options.lines)
        schema = {"if": {"required": ["id"]}, "then": orjson.loads(paths[0].read_bytes())["line_schema"]}
        (Path(folder) / "schema.json").write_text(
            json.dumps({"$schema": "https://json-schema.org/draft/2020-12/schema", **schema})
        )
        inside = {"bare loop": bare, "validate_file": whole, "follow": followed}
        print("in the process, imports done:")
        print(*told(rounds(inside, paths, options.rounds), inside, "bare loop"), sep="\n")
        outside = {"lro validate FILE": command(*lro, "F"), "lro validate --follow D": command(*lro, "--follow", "D")}
        base = "lro validate FILE"
        if options.sourcemeta:
            outside["sourcemeta validate -f -F"] = command(options.sourcemeta, "validate", "-f", "-F", "S", "F")
            base = "sourcemeta validate -f -F"
        print("whole commands, cold start included:")
        print(*told(rounds(outside, paths, options.rounds), outside, base), sep="\n")
        alone = {"lro validate D": command(*lro, "D"), "python -c pass": command(sys.executable, "-c", "pass")}
        print("a descriptor alone:")
        print(*told(rounds(alone, paths, 5 * options.rounds), alone, "python -c pass"), sep="\n")


if __name__ == "__main__":
    main()
