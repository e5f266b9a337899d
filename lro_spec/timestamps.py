"""Times as headers write them: ISO 8601, extended or basic, in any precision, with an offset or without."""

from __future__ import annotations

import re
from datetime import UTC, datetime, tzinfo

_FORM = re.compile(
    r"(?P<date>\d{4}-\d\d-\d\d|\d{8})[Tt ](?P<hour>\d\d):?(?P<minute>\d\d)(?::?(?P<second>\d\d)(?:[.,](?P<part>\d+))?)?"
    r"\s?(?P<offset>[Zz]|[+-]\d\d(?::?\d\d)?)?"
)


def parse(text: str) -> datetime | None:
    """The time that *text* writes; aware when it names an offset, naive when it does not, None when it is no ISO 8601
    date and time. Digits beyond microseconds are cut; a leap second counts as the second before it."""
    match = _FORM.fullmatch(text)
    if match is None:
        return None
    part = match.groupdict()
    date = part["date"].replace("-", "")
    second = min(59, int(part["second"] or 0))
    fraction = (part["part"] or "0")[:6]
    offset = (part["offset"] or "").upper().replace("Z", "+0000").replace(":", "")
    offset = offset and offset.ljust(5, "0")
    written = f"{date}T{part['hour']}{part['minute']}{second:02}.{fraction}{offset}"
    try:
        return datetime.strptime(written, "%Y%m%dT%H%M%S.%f" + ("%z" if offset else ""))
    except ValueError:
        return None


def moments(text: str, local: tzinfo | None = None) -> list[datetime]:
    """The moments that *text* may mean: one with an offset; UTC or local time without; none when it is malformed.

    *local* is the zone of local time, by default this machine's.
    """
    moment = parse(text)
    if moment is None:
        return []
    if moment.tzinfo is not None:
        return [moment]
    return [moment.replace(tzinfo=UTC), moment.astimezone() if local is None else moment.replace(tzinfo=local)]
