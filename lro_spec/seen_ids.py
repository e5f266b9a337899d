"""Telling a repeated id among millions, in little memory."""

from __future__ import annotations

_BUCKETS = 1 << 16
_WIDTH = 8
_MASK = (1 << 64) - 1


class SeenIds:
    """Remembers ids by a 64-bit hash, about ten bytes each, up to a limit.

    Hashes stand packed in many small byte strings, because a search in bytes is fast and a set of a million integers
    is ninety megabytes. Two different ids of a million collide once in thirty million files.
    """

    def __init__(self, limit: int = 8_000_000) -> None:
        self.limit = limit
        self.count = 0
        self._buckets: dict[int, bytearray] = {}

    def add(self, id: str) -> bool:
        """Whether the id is new. Always true once the limit is reached: what is not remembered is not accused."""
        hashed = hash(id) & _MASK
        packed = hashed.to_bytes(_WIDTH, "little")
        bucket = self._buckets.get(hashed % _BUCKETS)
        if bucket is None:
            bucket = self._buckets[hashed % _BUCKETS] = bytearray()
        at = bucket.find(packed)
        while at > 0 and at % _WIDTH:
            at = bucket.find(packed, at + 1)
        if at >= 0:
            return False
        if self.count < self.limit:
            bucket += packed
            self.count += 1
        return True
