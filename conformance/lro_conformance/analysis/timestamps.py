"""Comparison of the times in a file with the time of the call that wrote it."""

from __future__ import annotations

import os
import re
from datetime import UTC, datetime, timedelta

from lro_conformance.capture.call import Call
from lro_conformance.capture.records import show
from lro_conformance.judging.subjects import STATED_TIME
from lro_spec.editions import Edition
from lro_spec.filenames import parse_ulid
from lro_spec.timestamps import moments, parse, utc

CLOCK_S = 2.0
"""Tolerance in seconds for times outside of the call: some servers write whole seconds only, some take the time
early."""


_MINUTES = re.compile(r"[Tt ]\d\d:?\d\d(?![:\d])")


_RUN_S = 38 * 3600
"""Distance in seconds from a call within which a time counts as one of the run. It is so large because the time may be
a mere date, in any zone."""
_LARGEST = 1e13
"""A number that is at least as large is no time in milliseconds, and may be too large to divide."""

_SAME = timedelta(seconds=1)
"""Distance within which two times are the same one: a header may have whole seconds."""

_OFFSET = re.compile(r"\s?(?:[Zz]|[+-]\d\d:?\d\d)$")


Compared = tuple[bool, str, str]
"""True if a time lies within the call, give or take `CLOCK_S`; then what was expected, and what was observed."""


def place_of_time(call: Call, edition: Edition) -> str:
    """The place of a wrong time: `STATED_TIME` if header and file name have the same time; otherwise empty."""
    stated, ulid = call.header.get("timestamp"), ulid_of(call, edition)
    created = None if ulid is None else parse_ulid(ulid)
    meant = moments(stated, call.local) if isinstance(stated, str) else ()
    return STATED_TIME if created is not None and any(abs(m - created) < _SAME for m in meant) else ""


def written_at(call: Call) -> Compared | str | None:
    """Comparison of the header's timestamp with the call. A reason if it is not a time; None if it is not a text.

    A timestamp without seconds stands for a whole minute, and one without minutes for a whole hour.
    """
    stated = call.header.get("timestamp")
    if not isinstance(stated, str) or not stated:
        return None
    meant = [m.timestamp() for m in moments(stated, call.local)]
    if not meant:
        return "a timestamp is not an ISO 8601 date and time"
    coarse = 3600 if re.search(r"[Tt ]\d\d(?![:\d])", stated) else 60 if _MINUTES.search(stated) else 0
    low, high = call.started - CLOCK_S - coarse, call.ended + CLOCK_S
    return (
        any(low <= m <= high for m in meant),
        f"an ISO 8601 time between {_iso(call.started)} and {_iso(call.ended)} (± {CLOCK_S:.0f} s)",
        show(stated) + _remark_on_zone(meant[0], call),
    )


def ulid_time(call: Call, edition: Edition) -> Compared | str:
    """Comparison of the time in the file name's ULID with the call; the reason if the name has no ULID."""
    ulid = ulid_of(call, edition)
    created = None if ulid is None else parse_ulid(ulid)
    if created is None:
        return "the name has no ULID"
    moment = created.timestamp()
    return (
        call.started - CLOCK_S <= moment <= call.ended + CLOCK_S,
        f"a ULID whose time lies within the call (± {CLOCK_S:.0f} s)",
        f"{ulid} says {created.isoformat()}, "
        + (in_local_time(moment, call) or f"{moment - call.started:+.1f} s from the call"),
    )


def ulid_of(call: Call, edition: Edition) -> str | None:
    """The part of a file's name where its ULID should be, or that looks like one; None if there is none."""
    name = os.path.basename(call.path)
    found = re.fullmatch(rf"{edition.file_prefix}-[a-z_]+-(.+)\.jsonl", name) or re.search(
        r"(?:^|[^0-9A-Za-z])([0-9A-Za-z]{26})\b", name
    )
    return found[1] if found else None


def are_of_the_run(one: object, other: object, call: Call) -> bool:
    """True if two values are times near the time of a call, in the same format.

    A server gives a memory the time at which it is stored, and each process stores it at another time, perhaps in
    another time zone.
    """
    if not all(any(abs(t - call.started) < _RUN_S for t in _times(value)) for value in (one, other)):
        return False
    (time, offset), (other_time, other_offset) = _form(one), _form(other)
    is_another_zone = bool(offset and other_offset) and any(map(_is_not_zero, (offset, other_offset)))
    return time == other_time and (offset == other_offset or is_another_zone)


def _times(value: object) -> list[float]:
    """The moments, in seconds since the epoch, that a value may stand for: a text in ISO 8601, or a number of seconds
    or milliseconds."""
    if isinstance(value, (int, float)):
        return [value, value / 1000] if 0 < value < _LARGEST else []
    if not isinstance(value, str):
        return []
    moment = parse(value) or parse(f"{value}T00")
    return [] if moment is None else [utc(moment).timestamp()]


def _form(value: object) -> tuple[str, str]:
    """The form of a time, in which each number is a zero and fractions are left out, and its offset from UTC as
    written."""
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
    """Explanation of a timestamp in local time that should be UTC; empty for any other."""
    ahead = call.utc_offset_s
    if not ahead or not call.started - CLOCK_S <= moment - ahead <= call.ended + CLOCK_S:
        return ""
    return f"local time, which is {ahead / 3600:+g} h from UTC in this server (TZ={call.start.env.get('TZ', '')})"


def _iso(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")
