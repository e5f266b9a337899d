"""Coverage-guided fuzzing of validation, by hand: ``pip install 'lro-spec[fuzz]'``, then

    python -m tests.tools.fuzz.validation -runs=1000000 -max_len=512

Arguments are libFuzzer's. No input may raise, hang (ten seconds) or take memory (512 MiB). Inputs start from sound
documents; a folder given as an argument keeps what was interesting.
"""

from __future__ import annotations

import io
import json
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import atheris

with atheris.instrument_imports(include=["lro_spec"]):
    from lro_spec.jsonl.strict import StrictJsonError, loads
    from lro_spec.recipes.pipeline import parse_command
    from lro_spec.recipes.shell import RecipeSyntaxError
    from lro_spec.validation import Finding, validate_descriptor, validate_file, validate_header, validate_line

LIMITS = ("-timeout=10", "-rss_limit_mb=512")

HEADER = (
    b'{"type":"lro_header","operation":"recall","query":null,"count":1,"schema_version":"1.0",'
    b'"timestamp":"2026-03-02T09:30:00Z","estimated_tokens":9,"detail":"light"}'
)
DESCRIPTOR = (
    b'{"offloaded":true,"summary":{"count":1,"estimated_tokens":9,"operation":"recall","top_namespaces":["a"],'
    b'"detail":"light"},"file_path":"/t/x.jsonl","line_schema":{"properties":{"id":{"pattern":"^x"}}},"jq_recipes":'
    b'[{"description":"d","command":"tail -n +2 /t/x.jsonl | jq .id"}],"guidance":"g"}'
)
SEEDS = (
    b"\x00" + HEADER + b'\n{"id":"a","title":"A","tags":["x"]}\n',
    b"\x01" + HEADER,
    b"\x02" + DESCRIPTOR,
    b'\x03{"id":"a","content":"","provenance":{"confidence":0.5}}',
    b"\x04tail -n +2 /t/x.jsonl | jq -r '[.title, .id] | @tsv'",
)


def judged(data: bytes, judge: Callable[[Any], Iterator[Finding]]) -> None:
    try:
        value = loads(data)
    except StrictJsonError:
        return
    consumed(judge(value))


def consumed(found: Iterator[Finding]) -> None:
    for finding in found:
        assert finding.rule
        assert finding.message
        json.dumps(str(finding))


def understood(data: bytes) -> None:
    try:
        parse_command(data.decode("utf-8", "replace"))
    except RecipeSyntaxError:
        return


TARGETS: tuple[Callable[[bytes], None], ...] = (
    lambda data: consumed(validate_file(io.BytesIO(data), max_line_bytes=300)),
    lambda data: judged(data, validate_header),
    lambda data: judged(data, validate_descriptor),
    lambda data: judged(data, validate_line),
    understood,
)


def one(data: bytes) -> None:
    """Process one input; the first byte selects the function for the rest."""
    if data:
        TARGETS[data[0] % len(TARGETS)](data[1:])


def main() -> None:
    if {"-h", "--help"} & set(sys.argv):  # libFuzzer would take it for a word to begin with
        print(__doc__)
        return
    with tempfile.TemporaryDirectory() as folder:
        for number, seed in enumerate(SEEDS):
            (Path(folder) / f"seed{number}").write_bytes(seed)
        atheris.Setup([sys.argv[0], *LIMITS, *sys.argv[1:], folder], one)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
