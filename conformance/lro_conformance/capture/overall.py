"""What is known of all servers of a run together: no experiment of its own, it comes with the others."""

from __future__ import annotations

from dataclasses import dataclass

from lro_conformance.capture.start import Start

OVERALL = "overall"
"""The name of this evidence. It is there once the last server has ended."""


@dataclass(frozen=True)
class Overall:
    """What was noticed of any server of the run."""

    lawless: tuple[str, ...]
    """What stood on stdout and is no JSON-RPC message of MCP, each in one sentence; some of each server."""
    starts: int
    """How many servers were started."""
    first: Start | None = None
    """The first server that wrote such a thing."""
    remarks: tuple[str, ...] = ()
    """What the report is to say of the profile, and of memories that were not taken."""
