"""Local time far from UTC: one server is started in such a zone, so that stamps of local time show wherever the suite
runs."""

from __future__ import annotations

import os
from functools import cache

AHEAD_S = 7 * 3600
"""What local time there is ahead of UTC, in seconds; nobody changes it in summer."""

_NAME, _RULE = "Etc/GMT-7", "XXX-7"
"""The same zone by its name in the database of zones, and by its POSIX rule, which needs no database."""


@cache
def far_zone() -> str:
    """The value of TZ for it: the name where the machine knows it, since not every runtime reads rules."""
    return _NAME if os.path.exists(os.path.join("/usr/share/zoneinfo", _NAME)) else _RULE
