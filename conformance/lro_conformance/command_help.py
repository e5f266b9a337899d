"""What the help of commands has beside their options: examples, and where a command does not run."""

from __future__ import annotations

import os

import click

from lro_conformance.misuse import Misuse

EXAMPLES: dict[str, tuple[str, ...]] = {
    "certify": (
        "lro certify -- python -m my_server",
        "lro certify --level 2 --json report.json --html report.html",
        "lro certify --profile lro.yaml --evidence seen -j 1",
    ),
    "compare": (
        "lro compare old.json new.json",
        "lro compare --matrix one.json two.json three.json --html servers.html",
    ),
    "explain": ("lro explain LRO-FILE-06", "lro explain thr-07 I-31 file.header_count"),
    "init": ("lro init -- python -m my_server", "lro init --force --tool recall=find_notes -- npx my-server"),
    "judge": ("lro judge seen", "lro judge seen --level 3 --markdown summary.md"),
    "proxy": (
        "lro proxy -- npx -y @modelcontextprotocol/server-filesystem /home/me",
        "lro proxy --threshold-tokens 2000 -- my-server",
    ),
    "requirements": ("lro requirements --level 2", "lro requirements --group threshold --json"),
    "schema": ("lro schema", "lro schema profile"),
    "serve": ("lro serve --data :memory: --threshold-tokens 1000",),
    "validate": (
        "lro validate result.jsonl",
        "lro validate --follow descriptor.json --format github",
        "lro validate lro.yaml 'out/**/*.jsonl'",
    ),
}
"""Calls that stand at the end of each command's help; those of serve and proxy in the help of `lro`."""

STARTS_SERVERS = frozenset({"certify", "init", "proxy", "serve"})
"""What needs processes as POSIX has them."""


def with_examples(command: click.Command) -> click.Command:
    """The command with the examples of its name in its help."""
    lines = "".join(f"  {example}\n" for example in EXAMPLES[str(command.name)])
    command.epilog = f"\b\nExamples:\n{lines}"
    return command


def check_platform(command: str | None) -> None:
    """Raises `Misuse`, in one line, for a command that does not run on this system."""
    if command in STARTS_SERVERS and os.name != "posix":
        others = ", ".join(sorted(EXAMPLES.keys() - STARTS_SERVERS))
        raise Misuse(f"{command} is not supported on Windows, run it in WSL or a container (here: {others})")
