"""The captured observations of one run."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from lro_conformance.judging.results import ServerInfo, Span
from lro_conformance.profile import Profile


@dataclass(frozen=True, slots=True)
class CapturedRun:
    """The evidence of one run. Reports can be made from it without a server."""

    profile: Profile
    """The profile, with the edition of the specification for which the run was made."""
    seed: int
    examples: int
    """Number of sequences of calls that the explorer was to try; 0 if the explorer was left out."""
    only: Collection[str] | None
    """Names of the checks, or ids of the requirements, to which the run was restricted; None if it was not
    restricted."""
    started_at: str
    """The time at which the run started, in ISO 8601 and UTC."""
    duration_s: float
    starts: int
    """Number of server processes that were started."""
    server: ServerInfo
    """The server's information about itself, which is known even if every trial failed."""
    timeline: tuple[Span, ...]
    trouble: str | None
    """A sentence about the first tool call that got no response, with the reason; None if all calls got a response.
    Calls whose response the suite did not wait for do not count."""
    trials: Mapping[str, Any]
    """Evidence by the name of its trial. If evidence is missing, its place is taken by the exception that explains
    why."""
    incomplete: str = ""
    """The reason why the run ended before its last experiment; empty if the run did not end early."""
    shortage: str = ""
    """The resource that the machine lacked during the run, such as disk space, so that there is no verdict. Empty if it
    lacked nothing."""
