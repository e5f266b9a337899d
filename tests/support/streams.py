"""Streams that give a few bytes at a time, and may break."""

from __future__ import annotations

import io

from lro_spec.jsonl.compression import DamagedError


class Steps(io.BytesIO):
    """A stream that gives at most *step* bytes at a time; a damaged one breaks at its end."""

    def __init__(self, data: bytes, step: int, *, damaged: bool = False) -> None:
        super().__init__(data)
        self._step, self._damaged = step, damaged

    def read(self, size: int | None = -1, /) -> bytes:
        found = super().read(self._step if size is None or size < 0 else min(size, self._step))
        if not found and self._damaged:
            raise DamagedError("cut off")
        return found
