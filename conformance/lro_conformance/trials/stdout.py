"""What all servers of a run wrote to stdout: no experiment of its own, it comes with the others."""

from __future__ import annotations

from dataclasses import dataclass

from lro_conformance.starts import Start

STDOUT = "stdout"
"""The name of this evidence. It is there once the last server has ended."""


@dataclass(frozen=True)
class Stdout:
    """The offences of all servers of the run against the shape of stdout."""

    lawless: tuple[str, ...]
    """What is no JSON-RPC message of MCP, each in one sentence; some of each server."""
    starts: int
    """How many servers were started."""
    first: Start | None = None
    """The first server that wrote such a thing."""
