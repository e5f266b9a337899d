"""Retaining freed memory between large answers (glibc)."""

from __future__ import annotations

import contextlib
import ctypes

_TRIM_THRESHOLD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -3, -8  # M_… of malloc.h
KEPT = 64 << 20
"""Largest amount of freed memory that is retained, in bytes."""
_LARGEST = 16 << 20
"""Size in bytes from which memory is taken directly from the system, and returned to it as soon as it is freed."""


def retain_freed_memory() -> None:
    """Let glibc retain freed memory, up to 64 MiB for all threads.

    By default glibc does so only after an answer of 32 MiB. Before that it returns most of an answer's memory, and
    getting it back for the next one, page by page, takes a tenth of the call.
    """
    with contextlib.suppress(OSError, AttributeError, TypeError):
        mallopt = ctypes.CDLL(None).mallopt
        mallopt(_ARENA_MAX, 1)
        mallopt(_TRIM_THRESHOLD, KEPT)
        mallopt(_MMAP_THRESHOLD, _LARGEST)


def give_back() -> None:
    """Return retained memory to the system. A line that grows beyond `KEPT` would otherwise take memory in addition."""
    with contextlib.suppress(OSError, AttributeError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)
