"""Retaining freed memory between large answers (glibc)."""

from __future__ import annotations

import contextlib
import ctypes

_TRIM_THRESHOLD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -3, -8  # M_… of malloc.h
MAX_RETAINED_BYTES = 64 << 20
"""Largest amount of freed memory that is retained, in bytes."""
_MMAP_BYTES = 16 << 20
"""Blocks of at least this size in bytes are taken directly from the system, and returned to it when they are freed."""


def retain_freed_memory() -> None:
    """Let glibc retain freed memory, up to 64 MiB for all threads.

    By default glibc does so only after an answer of 32 MiB. Before that, it returns most of an answer's memory to the
    system. Getting the memory back for the next answer, page by page, takes a tenth of the time of a call.
    """
    with contextlib.suppress(OSError, AttributeError, TypeError):
        mallopt = ctypes.CDLL(None).mallopt
        mallopt(_ARENA_MAX, 1)
        mallopt(_TRIM_THRESHOLD, MAX_RETAINED_BYTES)
        mallopt(_MMAP_THRESHOLD, _MMAP_BYTES)


def release_memory() -> None:
    """Return retained memory to the system.

    This is done when a line grows beyond `MAX_RETAINED_BYTES`, because such a line takes memory in addition to the
    retained memory.
    """
    with contextlib.suppress(OSError, AttributeError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)
