"""Examples in the help of commands, and the check for supported platforms."""

from __future__ import annotations

import os

import click

from lro_conformance.errors import UsageError

EXAMPLES: dict[str, tuple[str, ...]] = {
    "bench": ("lro bench paper", "lro bench run --agent oracle -o bench", "lro bench report bench"),
    "certify": (
        "lro certify -- python -m my_server",
        "lro certify --level 2 --json report.json --html report.html",
        "lro certify --profile lro.yaml --evidence evidence -j 1",
        "lro certify --only failed --fail-fast",
        "lro certify --watch src -- python -m my_server",
    ),
    "compare": (
        "lro compare old.json new.json",
        "lro compare --matrix one.json two.json three.json --html servers.html",
    ),
    "doctor": ("lro doctor",),
    "explain": ("lro explain LRO-FILE-06", "lro explain thr-07 I-31 file.header_count"),
    "gain": ("lro gain --ceiling claude-code --days 30", "lro gain"),
    "init": ("lro init -- python -m my_server", "lro init --force --tool recall=find_notes -- npx my-server"),
    "judge": ("lro judge evidence", "lro judge evidence --level 3 --markdown summary.md"),
    "proxy": (
        "lro proxy -- npx -y @modelcontextprotocol/server-filesystem /home/me",
        "lro proxy --threshold-tokens 2000 -- my-server",
    ),
    "requirements": (
        "lro requirements --level 2",
        "lro requirements --group threshold --json",
        "lro requirements --format sep",
    ),
    "schema": ("lro schema", "lro schema profile"),
    "serve": ("lro serve --data :memory: --threshold-tokens 1000",),
    "validate": (
        "lro validate result.jsonl",
        "lro validate --follow descriptor.json --format github",
        "lro validate lro.yaml 'out/**/*.jsonl'",
    ),
    "vectors": (
        "lro vectors export vectors --edition lro-6400",
        "lro vectors run --kind write -- node adapter.mjs",
        "lro vectors check my-vectors",
    ),
    "weigh": ("lro weigh -- python -m my_server", "lro weigh --calls calls.yaml --json weights.json -- my-server"),
}
"""Examples at the end of the help of each command."""

STARTS_SERVERS = frozenset({"bench", "certify", "init", "proxy", "serve", "weigh"})
"""Commands that need POSIX processes."""


def with_examples(command: click.Command) -> click.Command:
    """Append the examples of a command to its help."""
    lines = "".join(f"  {example}\n" for example in EXAMPLES[str(command.name)])
    command.epilog = f"\b\nExamples:\n{lines}"
    return command


def check_platform(command: str | None) -> None:
    """Raise `UsageError` for a command that this system does not support."""
    if command in STARTS_SERVERS and os.name != "posix":
        others = ", ".join(sorted(EXAMPLES.keys() - STARTS_SERVERS))
        raise UsageError(
            f"{command} is not supported on Windows: run it in WSL or a container (supported here: {others})"
        )
