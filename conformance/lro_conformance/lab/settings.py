"""The LRO settings of one server start, and a time zone far from UTC in which a server can be started."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cache

from lro_conformance.lab.thresholds import AcceptedThresholds
from lro_conformance.profile.launcher import Value

FAR_ZONE_OFFSET_S = 7 * 3600
"""The local time in the far zone is ahead of UTC by this many seconds, all year round."""

_ZONE_NAME, _ZONE_RULE = "Etc/GMT-7", "XXX-7"
"""Two values of TZ for the far zone: its name in the time zone database, and its POSIX rule, which works without a
database."""


@dataclass(frozen=True)
class Settings:
    """The LRO settings of one start. A setting of None is not given to the server, so that the server's default
    applies."""

    threshold_tokens: int | None = None
    ttl_seconds: int | None = None
    enabled: bool | None = None
    output_dir: str | None = "{own}"
    """The output folder. ``{own}`` is replaced by the path of a new folder for this server, and ``{relative}`` by a
    relative path of such a folder. Other values are given to the server unchanged."""
    omits_enabled: bool = False
    """If True, ``enabled`` is left out even if the server offloads only with ``enabled = true``."""

    def values(self, accepted: AcceptedThresholds) -> dict[str, Value]:
        """Return the settings other than None. A threshold other than 0 is replaced by the nearest threshold that the
        server accepts."""
        values = {
            "enabled": self.enabled,
            "threshold_tokens": self.threshold_tokens and accepted.nearest(self.threshold_tokens),
            "ttl_seconds": self.ttl_seconds,
            "output_dir": self.output_dir,
        }
        return {k: v for k, v in values.items() if v is not None}


@cache
def far_zone() -> str:
    """Return the value of TZ for the far zone. It is the zone's name if the machine knows this name. Otherwise it is
    the zone's POSIX rule, which some runtimes do not understand.

    Some servers are started in this zone. This reveals timestamps in local time even if the suite runs in UTC.
    """
    return _ZONE_NAME if os.path.exists(os.path.join("/usr/share/zoneinfo", _ZONE_NAME)) else _ZONE_RULE
