"""Files that a cleanup deleted or kept wrongly. A `Sweep` is one cleanup that the explorer triggered."""

from __future__ import annotations

from collections.abc import Iterator

from lro_conformance.trials.exploration import Sweep
from lro_spec.filenames import is_expired


def wrong_by_name(sweep: Sweep) -> list[str]:
    """Names of files that were deleted although they are not named like offloaded files."""
    return [name for name, gone in sweep.named if gone] if sweep.worked else []


def wrong_by_age(sweep: Sweep, ttl_s: int) -> list[tuple[int, bool]]:
    """Ages, in seconds, of the files that were deleted too early or kept too long. Each age comes with True if the file
    is gone, and with False if it is still there."""
    return [(age, gone) for age, gone in sweep.aged if gone != is_expired(age, ttl_s)] if sweep.worked else []


def violated_by_sweep(sweep: Sweep, ttl_s: int) -> Iterator[str]:
    """The requirement that a cleanup violates. Nothing is yielded if it violates no requirement. *ttl_s* is the TTL in
    seconds."""
    if sweep.worked and sweep.own_gone:
        yield "LRO-CLN-03"
    elif wrong_by_age(sweep, ttl_s):
        yield "LRO-CLN-02"
