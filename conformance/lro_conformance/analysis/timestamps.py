"""Comparison of the times in a file with the time of the call that wrote it."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from lro_conformance.capture.call import Call
from lro_conformance.capture.records import show
from lro_conformance.judging.subjects import TIME_IN_HEADER_AND_NAME
from lro_spec.editions import Edition
from lro_spec.filenames import parse_ulid
from lro_spec.timestamps import moments, parse, utc

CLOCK_TOLERANCE_S = 2.0
"""Number of seconds by which a time may lie before or after the call. Some servers write only whole seconds, and some
read the clock early."""


_WITHOUT_SECONDS = re.compile(r"[Tt ]\d\d:?\d\d(?![:\d])")


_MAX_DISTANCE_S = 38 * 3600
"""Times that are at most this number of seconds away from a call count as times of the run. The number is large,
because a time may be a mere date in any time zone."""
_MAX_TIMESTAMP = 1e13
"""Numbers of this size or more are no times in milliseconds. They may even be too large to divide."""

_MAX_DIFFERENCE = timedelta(seconds=1)
"""Two times that differ by less than this are taken for the same time, because a header may have whole seconds."""

_OFFSET = re.compile(r"\s?(?:[Zz]|[+-]\d\d:?\d\d)$")


Compared = tuple[bool, str, str]
"""Result of a comparison: True if a time lies within the call, apart from `CLOCK_TOLERANCE_S`; a text that says what
was expected; and a text that says what was observed."""


def place_of_time(call: Call, edition: Edition) -> str:
    """The place by which failures with a wrong time are grouped: `TIME_IN_HEADER_AND_NAME` if the header and the file
    name have the same time, otherwise empty."""
    stated, ulid = call.header.get("timestamp"), ulid_of(call, edition)
    created = None if ulid is None else parse_ulid(ulid)
    possible_times = moments(stated, call.time_zone) if isinstance(stated, str) else ()
    return (
        TIME_IN_HEADER_AND_NAME
        if created is not None and any(abs(m - created) < _MAX_DIFFERENCE for m in possible_times)
        else ""
    )


def written_at(call: Call) -> Compared | str | None:
    """Comparison of the header's timestamp with the time of the call. If the timestamp is not a time, the result is a
    reason; if it is not a text, or is empty, the result is None.

    A timestamp without seconds stands for a whole minute, and a timestamp without minutes stands for a whole hour.
    """
    stated = call.header.get("timestamp")
    if not isinstance(stated, str) or not stated:
        return None
    possible_times = [m.timestamp() for m in moments(stated, call.time_zone)]
    if not possible_times:
        return "a timestamp is not an ISO 8601 date and time"
    precision_s = 3600 if re.search(r"[Tt ]\d\d(?![:\d])", stated) else 60 if _WITHOUT_SECONDS.search(stated) else 0
    earliest, latest = call.started - CLOCK_TOLERANCE_S - precision_s, call.ended + CLOCK_TOLERANCE_S
    return (
        any(earliest <= m <= latest for m in possible_times),
        f"an ISO 8601 time between {_iso(call.started)} and {_iso(call.ended)} (± {CLOCK_TOLERANCE_S:.0f} s)",
        show(stated) + _remark_on_zone(possible_times[0], call),
    )


def ulid_time(call: Call, edition: Edition) -> Compared | str:
    """Comparison of the time in the file name's ULID with the time of the call. If the name has no ULID, the result is
    a reason."""
    ulid = ulid_of(call, edition)
    created = None if ulid is None else parse_ulid(ulid)
    if created is None:
        return "the name has no ULID"
    moment = created.timestamp()
    return (
        call.started - CLOCK_TOLERANCE_S <= moment <= call.ended + CLOCK_TOLERANCE_S,
        f"a ULID whose time lies within the call (± {CLOCK_TOLERANCE_S:.0f} s)",
        f"{ulid} says {created.isoformat()}, "
        + (in_local_time(moment, call) or f"{moment - call.started:+.1f} s from the call"),
    )


def ulid_of(call: Call, edition: Edition) -> str | None:
    """The part of a file's name at the position of the ULID. If the name does not have the usual form, it is the first
    part that looks like a ULID; None if there is no such part."""
    name = os.path.basename(call.path)
    found = re.fullmatch(rf"{edition.file_prefix}-[a-z_]+-(.+)\.jsonl", name) or re.search(
        r"(?:^|[^0-9A-Za-z])([0-9A-Za-z]{26})\b", name
    )
    return found[1] if found else None


def are_times_near_call(one: object, other: object, call: Call) -> bool:
    """True if two values are times near the time of a call, and have the same format.

    Such values may differ between two server processes: each process stores a memory at a different time, perhaps in a
    different time zone, and gives the memory this time.
    """
    if not all(any(abs(t - call.started) < _MAX_DISTANCE_S for t in _times(value)) for value in (one, other)):
        return False
    (time, offset), (other_time, other_offset) = _form(one), _form(other)
    is_another_zone = bool(offset and other_offset) and any(map(_is_not_zero, (offset, other_offset)))
    return time == other_time and (offset == other_offset or is_another_zone)


def are_newest_first(values: Iterable[object], call: Call) -> bool:
    """True if all values are times near the time of a call, and none is later than the one before it."""
    earliest = math.inf
    for value in values:
        near = [t for t in _times(value) if abs(t - call.started) < _MAX_DISTANCE_S]
        if not near or near[0] > earliest:
            return False
        earliest = near[0]
    return True


def _times(value: object) -> list[float]:
    """The moments that a value may stand for, in seconds since the epoch. The value may be a text in ISO 8601, or a
    number of seconds or milliseconds."""
    if isinstance(value, (int, float)):
        return [value, value / 1000] if 0 < value < _MAX_TIMESTAMP else []
    if not isinstance(value, str):
        return []
    moment = parse(value) or parse(f"{value}T00")
    return [] if moment is None else [utc(moment).timestamp()]


def _form(value: object) -> tuple[str, str]:
    """The form of a time, and its offset from UTC as written. In the form, each number is replaced by a zero, and
    fractions are left out."""
    text = str(value)
    found = _OFFSET.search(text)
    offset = "" if found is None else found[0]
    time = text.removesuffix(offset)
    return re.sub(r"0([.,]0)?(?=\D|$)", "0", re.sub(r"\d+", "0", time)), offset


def _is_not_zero(offset: str) -> bool:
    return any(digit in offset for digit in "123456789")


def _remark_on_zone(moment: float, call: Call) -> str:
    return f", {explanation}" if (explanation := in_local_time(moment, call)) else ""


def in_local_time(moment: float, call: Call) -> str:
    """If a timestamp seems to be local time instead of UTC, a text that says so; otherwise empty."""
    offset_s = call.utc_offset_s
    if not offset_s or not call.started - CLOCK_TOLERANCE_S <= moment - offset_s <= call.ended + CLOCK_TOLERANCE_S:
        return ""
    return f"local time, which is {offset_s / 3600:+g} h from UTC in this server (TZ={call.start.env.get('TZ', '')})"


def _iso(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")
