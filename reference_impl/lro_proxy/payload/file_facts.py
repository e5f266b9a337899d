"""Facts of a file that only a look at its bytes tells."""

from __future__ import annotations

import hashlib

from lro_spec.tokens import wide_in_utf8

_MANY = 10_000


class FileFacts:
    """Size, digest and wide characters of a file that is being written."""

    def __init__(self) -> None:
        self._digest = hashlib.sha256()
        self.size = self.wide = 0
        """Bytes, and characters of wide scripts; from ten thousand on, these are not counted further."""

    def add(self, lines: bytes) -> None:
        """Look at the next whole lines."""
        self._digest.update(lines)
        self.size += len(lines)
        if self.wide < _MANY:
            self.wide += wide_in_utf8(lines)

    @property
    def sha256(self) -> str:
        """The digest of all lines so far, in hexadecimal."""
        return self._digest.hexdigest()
