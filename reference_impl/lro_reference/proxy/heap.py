"""Memory that is kept from one large answer for the next."""

from __future__ import annotations

import contextlib
import ctypes

_TRIM_THRESHOLD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -3, -8  # M_… of malloc.h
KEPT = 64 << 20
"""What of freed memory is kept, in bytes."""
_LARGEST = 16 << 20
"""What is larger comes from the system and goes back to it at once."""


def keep() -> None:
    """Lets the C library keep what was freed, up to 64 MiB for all threads, where it is glibc.

    It comes to that by itself after an answer of 32 MiB. Before, it gives back most of what an answer took, and to get
    that for the next one, page by page, takes a tenth of the call.
    """
    with contextlib.suppress(OSError, AttributeError, TypeError):
        mallopt = ctypes.CDLL(None).mallopt
        mallopt(_ARENA_MAX, 1)
        mallopt(_TRIM_THRESHOLD, KEPT)
        mallopt(_MMAP_THRESHOLD, _LARGEST)


def give_back() -> None:
    """Gives what is kept back to the system: what has outgrown it would lie beside it, twice where it was moved."""
    with contextlib.suppress(OSError, AttributeError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)
