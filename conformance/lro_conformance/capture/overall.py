"""Facts about all servers of a run together, which are collected during the other experiments."""

from __future__ import annotations

from dataclasses import dataclass, field

from lro_conformance.capture.start import Start

OVERALL = "overall"
"""The name of this evidence, which is complete once the last server has ended."""


@dataclass(frozen=True)
class Overall:
    """Observations about all servers of the run."""

    protocol_violations: tuple[str, ...] = field(metadata={"formerly": "lawless"})
    """Output on stdout that is not a JSON-RPC message of MCP: one sentence for each such output, and at most a few
    sentences for each server."""
    starts: int
    """Number of servers that were started."""
    first: Start | None = None
    """The first server that wrote such output; None if no server did."""
    remarks: tuple[str, ...] = ()
    """Remarks for the report. They are about the profile, memories that were not accepted, and failed starts or
    cleanups."""
    first_at: float | None = None
    """The time at which the first such output was read, in seconds since the epoch; None if there was no such
    output."""
