"""The captured observations of one run."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from lro_conformance.judging.results import ServerInfo, Span
from lro_conformance.profile import Profile


@dataclass(frozen=True, slots=True)
class CapturedRun:
    """Evidence of one run, from which reports are made without a server."""

    profile: Profile
    """The profile, with the edition that the run was made for."""
    seed: int
    examples: int
    """Number of sequences that the explorer was to try; 0 if it was left out."""
    only: Collection[str] | None
    """Names of the checks, or ids of the requirements, that the run was restricted to; None if it was not."""
    started_at: str
    """ISO 8601, UTC."""
    duration_s: float
    starts: int
    """Number of server processes that were started."""
    server: ServerInfo
    """The server's information about itself, which is known even if every trial failed."""
    timeline: tuple[Span, ...]
    trouble: str | None
    """The first tool call without a response, and the reason; None if there is none. Calls for which the suite did not
    wait do not count."""
    trials: Mapping[str, Any]
    """Evidence by the name of its trial; an exception stands for evidence that is missing."""
    incomplete: str = ""
    """The reason why the run ended before its last experiment; empty if it did not."""
    shortage: str = ""
    """Resource that the machine lacked, so that there is no verdict; empty if it lacked nothing."""
