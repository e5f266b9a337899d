"""A server's estimate E of the number of tokens in one file, and the bounds within which E is plausible ("honest")."""

from __future__ import annotations

from lro_conformance.capture.call import Call
from lro_spec.tokens import estimate_limits


def characters(call: Call) -> int:
    """Number of characters of the records in a call's file; 0 if the call has no file."""
    return call.file.characters if call.file is not None else 0


def is_within_tolerance(call: Call) -> bool:
    """True if E of a call's file lies within the bounds of `tolerated_range`. An unknown E counts as 0."""
    low, high = tolerated_range(call)
    return low <= (call.estimate or 0) <= high


def tolerated_range(call: Call) -> tuple[int, int]:
    """The lowest and the highest honest E of a call's file. They allow for servers that count a character literally and
    for servers that count it as an escape."""
    wide, escapes, narrow = call.file.scripts if call.file is not None else (0, 0, 0)
    return estimate_limits(wide, escapes, narrow)


def tokens_per_character(call: Call) -> float:
    """The server's own rate: E divided by the number of characters of the file's records.

    If the file has no records, the rate is a quarter. If it has records but E is unknown, the rate is 0.
    """
    return (call.estimate or 0) / characters(call) if characters(call) else 0.25
