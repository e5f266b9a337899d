"""Timestamps of headers: ISO 8601, extended or basic, to the hour or finer, with an offset or without; the day by
month, by week or by its number in the year (I-36)."""

from __future__ import annotations

import re
from datetime import UTC, datetime, tzinfo

_FORM = re.compile(
    r"(?P<date>\d{4}-\d\d-\d\d|\d{8}|\d{4}-W\d\d-\d|\d{4}W\d{3}|\d{4}-?\d{3})[Tt ]"
    r"(?P<hour>\d\d)(?::?(?P<minute>\d\d)(?::?(?P<second>\d\d)(?:[.,](?P<part>\d+))?)?)?"
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
    form = "%GW%V%u" if "W" in date else "%Y%j" if len(date) == len("YYYYDDD") else "%Y%m%d"
    second = min(59, int(part["second"] or 0))
    fraction = (part["part"] or "0")[:6]
    offset = (part["offset"] or "").upper().replace("Z", "+0000").replace(":", "")
    offset = offset and offset.ljust(5, "0")
    written = f"{date}T{part['hour']}{part['minute'] or '00'}{second:02}.{fraction}{offset}"
    try:
        moment = datetime.strptime(written, form + "T%H%M%S.%f" + ("%z" if offset else ""))
    except ValueError:
        return None
    # A week or a day beyond the end of its year counts on into the next year.
    return moment if form == "%Y%m%d" or moment.strftime(form) == date else None


def utc(moment: datetime) -> datetime:
    """A moment converted to UTC; a naive one is taken as UTC."""
    try:
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except OverflowError:  # within hours of year 1 or 9999
        return moment.replace(tzinfo=UTC)


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
