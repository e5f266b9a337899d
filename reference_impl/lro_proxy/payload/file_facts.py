"""Facts about a file that are collected from its bytes while it is written."""

from __future__ import annotations

import hashlib

from lro_spec.tokens import wide_characters_in_utf8

_MAX_COUNTED = 10_000
"""Once so many wide characters have been counted, no further ones are counted."""


class FileFacts:
    """Size, digest and number of wide characters (Chinese, Japanese, Korean and emoji) of a file that is being written.

    *wide_count* is the number of wide characters after the first line; None if they have not been counted yet.
    """

    def __init__(self, wide_count: int | None = None) -> None:
        self._digest = hashlib.sha256()
        self._counts = wide_count is None
        self.size, self.wide_count = 0, wide_count or 0
        """Number of bytes, and number of wide characters, which are counted only up to about `_MAX_COUNTED`."""

    def add(self, lines: bytes) -> None:
        """Take in the next whole lines."""
        if self.wide_count < _MAX_COUNTED and (self._counts or not self.size):
            self.wide_count += wide_characters_in_utf8(lines if self._counts else lines.partition(b"\n")[0])
        self._digest.update(lines)
        self.size += len(lines)

    @property
    def sha256(self) -> str:
        """The digest of all lines so far, in hexadecimal."""
        return self._digest.hexdigest()
