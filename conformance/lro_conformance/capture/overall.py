"""Facts about all servers of a run together: no experiment of its own, they come with the others."""

from __future__ import annotations

from dataclasses import dataclass

from lro_conformance.capture.start import Start

OVERALL = "overall"
"""The name of this evidence. It is there once the last server has ended."""


@dataclass(frozen=True)
class Overall:
    """Observations made of any server of the run."""

    lawless: tuple[str, ...]
    """Output on stdout that is no JSON-RPC message of MCP: one sentence for each, a few for each server."""
    starts: int
    """Number of servers that were started."""
    first: Start | None = None
    """The first server that wrote such a thing."""
    remarks: tuple[str, ...] = ()
    """Remarks for the report about the profile, and about memories that were not accepted."""
