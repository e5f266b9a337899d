"""A server's estimate E of one file, and the bounds within which E is plausible."""

from __future__ import annotations

from lro_conformance.capture.call import Call
from lro_spec.tokens import honest_estimates


def characters(call: Call) -> int:
    """Number of characters of the records in a call's file; 0 without a file."""
    return call.file.characters if call.file is not None else 0


def is_honest(call: Call) -> bool:
    """True if a file's E lies within the tolerance."""
    low, high = honest_range(call)
    return low <= (call.estimate or 0) <= high


def honest_range(call: Call) -> tuple[int, int]:
    """The bounds of an honest E for a file, whether characters are counted literally or as escapes."""
    wide, escapes, narrow = call.file.scripts if call.file is not None else (0, 0, 0)
    return honest_estimates(wide, escapes, narrow)


def tokens_per_character(call: Call) -> float:
    """The server's own rate: E per character of the file's records. A quarter if the file has no records; 0 if it has
    some, but E is unknown."""
    return (call.estimate or 0) / characters(call) if characters(call) else 0.25
