"""Facts about all servers of a run together, collected during the other experiments."""

from __future__ import annotations

from dataclasses import dataclass, field

from lro_conformance.capture.start import Start

OVERALL = "overall"
"""The name of this evidence, which is complete once the last server has ended."""


@dataclass(frozen=True)
class Overall:
    """Observations about all servers of the run."""

    protocol_violations: tuple[str, ...] = field(metadata={"formerly": "lawless"})
    """Output on stdout that is not a JSON-RPC message of MCP: one sentence each, a few per server."""
    starts: int
    """Number of servers that were started."""
    first: Start | None = None
    """The first server that wrote such output."""
    remarks: tuple[str, ...] = ()
    """Remarks for the report: on the profile, on memories that were not accepted, on starts or cleanups that failed."""
    first_at: float | None = None
    """When the first of this output was read, in seconds since the epoch; None if there was none."""
