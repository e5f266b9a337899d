"""Facts of a file that only its bytes show."""

from __future__ import annotations

import hashlib

from lro_spec.tokens import wide_in_utf8

_MANY = 10_000
"""Number of wide characters above which they are not counted further."""


class FileFacts:
    """Size, digest and wide characters of a file that is being written.

    *wide* is the number of wide characters after the first line, if they have already been counted.
    """

    def __init__(self, wide: int | None = None) -> None:
        self._digest = hashlib.sha256()
        self._counts = wide is None
        self.size, self.wide = 0, wide or 0
        """Number of bytes, and number of characters of wide scripts; the latter is counted only up to about `_MANY`."""

    def add(self, lines: bytes) -> None:
        """Take in the next whole lines."""
        if self.wide < _MANY and (self._counts or not self.size):
            self.wide += wide_in_utf8(lines if self._counts else lines.partition(b"\n")[0])
        self._digest.update(lines)
        self.size += len(lines)

    @property
    def sha256(self) -> str:
        """The digest of all lines so far, in hexadecimal."""
        return self._digest.hexdigest()
