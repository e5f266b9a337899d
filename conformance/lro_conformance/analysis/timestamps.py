"""Comparison of the times in a file with the time of the call that wrote it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, datetime

from lro_conformance.capture.call import Call
from lro_conformance.capture.records import show
from lro_conformance.judging.subjects import Subjects
from lro_conformance.trials.cleanup import Cleanup
from lro_spec.timestamps import moments

CLOCK_S = 2.0
"""Tolerance in seconds for times outside of the call: some servers write whole seconds only, some take the time
early."""


_MINUTES = re.compile(r"[Tt ]\d\d:?\d\d(?![:\d])")


def call_after_uptime(cleanup: Cleanup) -> list[Call]:
    """The call to a server that has been running for more than two seconds; None if it wrote no file."""
    call = cleanup.own.late if cleanup.own is not None else None
    return [] if call is None or call.file is None or call.file.problem is not None else [call]


def expect_times_within_call(calls: Iterable[Call], subjects: Subjects) -> None:
    """Expect each header's timestamp to lie within the call; a timestamp without seconds stands for a whole minute."""
    for call in (c for c in calls if isinstance(c.header.get("timestamp"), str) and c.header["timestamp"]):
        said = str(call.header["timestamp"])
        meant = [m.timestamp() for m in moments(said, call.local)]
        if not meant:
            subjects.not_observed("a timestamp is not an ISO 8601 date and time")
            continue
        coarse = 3600 if re.search(r"[Tt ]\d\d(?![:\d])", said) else 60 if _MINUTES.search(said) else 0
        low, high = call.started - CLOCK_S - coarse, call.ended + CLOCK_S
        subjects.expect(
            any(low <= m <= high for m in meant),
            expected=f"an ISO 8601 time between {_iso(call.started)} and {_iso(call.ended)} (± {CLOCK_S:.0f} s)",
            observed=show(said) + _ahead(meant[0], call),
            at=call,
        )


def _ahead(moment: float, call: Call) -> str:
    return f", {in_local_time(moment, call)}" if in_local_time(moment, call) else ""


def in_local_time(moment: float, call: Call) -> str:
    """Explanation of a timestamp in local time that should be UTC; empty for any other."""
    ahead = call.utc_offset_s
    if not ahead or not call.started - CLOCK_S <= moment - ahead <= call.ended + CLOCK_S:
        return ""
    return f"local time, which is {ahead / 3600:+g} h from UTC in this server (TZ={call.start.env.get('TZ', '')})"


def _iso(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")
