"""Timestamps of headers (I-36): ISO 8601 in extended or basic format, to the hour or finer, with or without an offset.

A date may be given by month, by week, or by the number of the day in the year.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, tzinfo

_FORM = re.compile(
    r"(?P<date>\d{4}-\d\d-\d\d|\d{8}|\d{4}-W\d\d-\d|\d{4}W\d{3}|\d{4}-?\d{3})[Tt ]"
    r"(?P<hour>\d\d)(?::?(?P<minute>\d\d)(?::?(?P<second>[0-5]\d|60)(?:[.,](?P<fraction>\d+))?)?)?"
    r"\s?(?P<offset>[Zz]|[+-]\d\d(?::?\d\d)?)?"
)


def parse(text: str) -> datetime | None:
    """The time that *text* denotes: aware if it has an offset, otherwise naive; None if it is not an ISO 8601 date and
    time. Digits beyond microseconds are cut; a leap second counts as the second before it."""
    match = _FORM.fullmatch(text)
    if match is None:
        return None
    parts = match.groupdict()
    date = parts["date"].replace("-", "")
    form = "%GW%V%u" if "W" in date else "%Y%j" if len(date) == len("YYYYDDD") else "%Y%m%d"
    second = min(59, int(parts["second"] or 0))
    fraction = (parts["fraction"] or "0")[:6]
    offset = (parts["offset"] or "").upper().replace("Z", "+0000").replace(":", "")
    offset = offset and offset.ljust(5, "0")
    written = f"{date}T{parts['hour']}{parts['minute'] or '00'}{second:02}.{fraction}{offset}"
    try:
        moment = datetime.strptime(written, form + "T%H%M%S.%f" + ("%z" if offset else ""))
    except ValueError:
        return None
    # `strptime` reads a week or a day after the end of its year as one of the next year.
    return moment if form == "%Y%m%d" or moment.strftime(form) == date else None


def utc(moment: datetime) -> datetime:
    """A time converted to UTC. A naive time is taken as UTC, and so is one that is out of range in UTC."""
    try:
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except OverflowError:  # within hours of the start of year 1 or the end of year 9999
        return moment.replace(tzinfo=UTC)


def moments(text: str, local: tzinfo | None = None) -> list[datetime]:
    """The times that *text* may denote: one if it has an offset, otherwise two, as UTC and as local time; none if it is
    malformed.

    *local* is the local time zone, by default this machine's.
    """
    moment = parse(text)
    if moment is None:
        return []
    if moment.tzinfo is not None:
        return [moment]
    return [moment.replace(tzinfo=UTC), moment.astimezone() if local is None else moment.replace(tzinfo=local)]
