"""Timestamps of headers (I-36): ISO 8601 in extended or basic format, to the hour or finer, with or without an offset.

A date may be given by month, by week, or by the number of the day in the year.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, tzinfo

_PATTERN = re.compile(
    r"(?P<date>\d{4}-\d\d-\d\d|\d{8}|\d{4}-W\d\d-\d|\d{4}W\d{3}|\d{4}-?\d{3})[Tt ]"
    r"(?P<hour>\d\d)(?::?(?P<minute>\d\d)(?::?(?P<second>[0-5]\d|60)(?:[.,](?P<fraction>\d+))?)?)?"
    r"\s?(?P<offset>[Zz]|[+-]\d\d(?::?\d\d)?)?"
)


def parse(text: str) -> datetime | None:
    """Return the time that *text* denotes, or None if *text* is not a date and time of ISO 8601.

    The time is aware if the text has an offset, otherwise naive. Digits beyond microseconds are cut off. A leap second
    counts as the second before it.
    """
    match = _PATTERN.fullmatch(text)
    if match is None:
        return None
    parts = match.groupdict()
    date = parts["date"].replace("-", "")
    date_format = "%GW%V%u" if "W" in date else "%Y%j" if len(date) == len("YYYYDDD") else "%Y%m%d"
    second = min(59, int(parts["second"] or 0))
    fraction = (parts["fraction"] or "0")[:6]
    offset = (parts["offset"] or "").upper().replace("Z", "+0000").replace(":", "")
    offset = offset and offset.ljust(5, "0")
    full_text = f"{date}T{parts['hour']}{parts['minute'] or '00'}{second:02}.{fraction}{offset}"
    try:
        moment = datetime.strptime(full_text, date_format + "T%H%M%S.%f" + ("%z" if offset else ""))
    except ValueError:
        return None
    # `strptime` accepts a week or a day after the end of its year, and returns a time in the next year.
    return moment if date_format == "%Y%m%d" or moment.strftime(date_format) == date else None


def utc(moment: datetime) -> datetime:
    """Return a time converted to UTC. A naive time, or a time that would be out of range in UTC, is taken as UTC."""
    try:
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except OverflowError:  # within hours of the start of year 1 or the end of year 9999
        return moment.replace(tzinfo=UTC)


def moments(text: str, local: tzinfo | None = None) -> list[datetime]:
    """Return the times that *text* may denote.

    A text with an offset denotes one time. A text without an offset may denote two times: one in UTC and one in local
    time. A malformed text denotes none. *local* is the local time zone, by default this machine's.
    """
    moment = parse(text)
    if moment is None:
        return []
    if moment.tzinfo is not None:
        return [moment]
    return [moment.replace(tzinfo=UTC), moment.astimezone() if local is None else moment.replace(tzinfo=local)]
