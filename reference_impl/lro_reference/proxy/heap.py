"""Memory that is kept from one large answer for the next."""

from __future__ import annotations

import contextlib
import ctypes

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # M_… of malloc.h
_KEPT = 64 << 20
_LARGEST = 16 << 20
"""What is larger comes from the system and goes back to it at once."""


def keep() -> None:
    """Lets the C library keep what was freed, up to 64 MiB, where it is glibc.

    It comes to that by itself after an answer of 32 MiB. Before, it gives back most of what an answer took, and to get
    that for the next one, page by page, takes a tenth of the call.
    """
    with contextlib.suppress(OSError, AttributeError, TypeError):
        mallopt = ctypes.CDLL(None).mallopt
        mallopt(_TRIM_THRESHOLD, _KEPT)
        mallopt(_MMAP_THRESHOLD, _LARGEST)
