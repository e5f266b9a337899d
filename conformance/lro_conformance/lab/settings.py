"""LRO settings of one server start, and a time zone far from UTC in which a server can be started."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cache

from lro_conformance.lab.thresholds import AcceptedThresholds
from lro_conformance.profile.launcher import Value

FAR_ZONE_OFFSET_S = 7 * 3600
"""Seconds by which local time in the far zone is ahead of UTC, all year round."""

_NAME, _RULE = "Etc/GMT-7", "XXX-7"
"""The zone by its name in the time zone database, and by its POSIX rule, which needs no database."""


@dataclass(frozen=True)
class Settings:
    """LRO settings of one start; None leaves a setting out, so that the server's default applies."""

    threshold_tokens: int | None = None
    ttl_seconds: int | None = None
    enabled: bool | None = None
    output_dir: str | None = "{own}"
    """``{own}`` stands for a fresh folder of the bench, ``{relative}`` for a relative path of such a folder; other
    values are given to the server as they are."""
    as_shipped: bool = False
    """True to leave out ``enabled`` even if the server offloads only with ``enabled = true``."""

    def values(self, accepted: AcceptedThresholds) -> dict[str, Value]:
        """The settings other than None; the threshold is the nearest that the server accepts."""
        values = {
            "enabled": self.enabled,
            "threshold_tokens": None if self.threshold_tokens is None else accepted.nearest(self.threshold_tokens),
            "ttl_seconds": self.ttl_seconds,
            "output_dir": self.output_dir,
        }
        return {k: v for k, v in values.items() if v is not None}


@cache
def far_zone() -> str:
    """The value of TZ for the far zone: its name if the machine knows it, otherwise its POSIX rule, which not every
    runtime understands.

    Some servers are started in this zone, so that timestamps in local time are noticed wherever the suite runs.
    """
    return _NAME if os.path.exists(os.path.join("/usr/share/zoneinfo", _NAME)) else _RULE
