"""Telling a repeated id among any number of them, in memory that has a bound."""

from __future__ import annotations

import struct
import tempfile
from array import array
from collections.abc import Iterator, Sequence
from operator import contains
from typing import IO

_BUCKETS = 1 << 15
_WIDTH = 8
_MASK = (1 << 64) - 1
_SHARES = 256
_SHARE_ITEMS = 1024


class SeenIds:
    """Remembers ids by a 64-bit hash. Two different ids of a million collide once in thirty million files.

    The first ids, *limit* of them, are kept in memory: in a set while they are few, then packed in byte strings at
    about ten bytes each, because a set of a million integers is ninety megabytes. What comes after them goes to a
    temporary file of sixteen bytes an id, in shares that are looked through one by one at the end (`late`).
    """

    def __init__(self, limit: int = 1_500_000, few: int = 120_000) -> None:
        self.limit = limit
        self.count = 0
        """How many are kept in memory."""
        self._few: set[int] | None = set()
        self._most_few = min(few, limit)
        self._buckets: list[bytearray] = []
        self._spilled: _Spilled | None = None

    def add(self, id: str, line: int = 0) -> bool:
        """Whether the id is new, as far as it can be told at once; *line* is what `late` then says."""
        hashed = hash(id)
        if self._few is None:
            return self._add_packed(hashed & _MASK, line)
        if hashed in self._few:
            return False
        self._few.add(hashed)
        self.count += 1
        if self.count >= self._most_few:
            self._pack()
        return True

    def add_all(self, ids: Sequence[str], first_line: int) -> list[int]:
        """Like `add`, for the ids of lines in a row: the places in *ids* of those that are not new."""
        if self.add_hashes(list(map(hash, ids)), first_line):
            return []
        return [place for place, id in enumerate(ids) if not self.add(id, first_line + place)]

    def add_hashes(self, hashes: Sequence[int], first_line: int) -> bool:
        """Like `add` for the hashes of ids of lines in a row; False, and nothing is added, where one is not new."""
        new = set(hashes)
        if len(new) < len(hashes):
            return False
        if self._few is not None:
            if not self._few.isdisjoint(new):
                return False
            if self.count + len(new) < self._most_few:
                self._few |= new
                self.count += len(new)
                return True
            self._pack()
        # By calls over all of them: one at a time takes three times as long.
        raw = struct.pack(f"<{len(hashes)}q", *hashes)
        packed = [raw[at : at + _WIDTH] for at in range(0, len(raw), _WIDTH)]
        buckets = [self._buckets[hashed % _BUCKETS] for hashed in hashes]
        if any(map(contains, buckets, packed)):  # or, once in a universe, where two ids meet: `add` tells that
            return False
        if self.count + len(hashes) > self.limit:
            for place, hashed in enumerate(hashes):
                self._keep(hashed & _MASK, first_line + place)
            return True
        for bucket, one in zip(buckets, packed, strict=True):
            bucket += one
        self.count += len(hashes)
        return True

    def late(self) -> Iterator[int]:
        """The lines of ids that were there before and could not be told at once, in no order."""
        return self._spilled.repeated() if self._spilled is not None else iter(())

    def _pack(self) -> None:
        self._buckets = [bytearray() for _ in range(_BUCKETS)]
        for signed in self._few or ():
            hashed = signed & _MASK
            self._buckets[hashed % _BUCKETS] += hashed.to_bytes(_WIDTH, "little")
        self._few = None

    def _add_packed(self, hashed: int, line: int) -> bool:
        if self._is_packed(hashed):
            return False
        self._keep(hashed, line)
        return True

    def _is_packed(self, hashed: int) -> bool:
        packed = hashed.to_bytes(_WIDTH, "little")
        bucket = self._buckets[hashed % _BUCKETS]
        at = bucket.find(packed)
        while at > 0 and at % _WIDTH:
            at = bucket.find(packed, at + 1)
        return at >= 0

    def _keep(self, hashed: int, line: int) -> None:
        if self.count < self.limit:
            self._buckets[hashed % _BUCKETS] += hashed.to_bytes(_WIDTH, "little")
            self.count += 1
            return
        if self._spilled is None:
            self._spilled = _Spilled()
        self._spilled.add(hashed, line)


class _Spilled:
    """Hashes with their lines, in a file that has no name and goes when it is closed."""

    def __init__(self) -> None:
        self._file: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as this object
        self._pending = [array("Q") for _ in range(_SHARES)]
        self._written: list[list[int]] = [[] for _ in range(_SHARES)]

    def add(self, hashed: int, line: int) -> None:
        share = (hashed >> 32) % _SHARES
        pending = self._pending[share]
        pending.append(hashed)
        pending.append(line)
        if len(pending) >= 2 * _SHARE_ITEMS:
            self._written[share].append(self._file.tell())
            pending.tofile(self._file)
            del pending[:]

    def repeated(self) -> Iterator[int]:
        """The lines whose hash was there before."""
        for places, pending in zip(self._written, self._pending, strict=True):
            known: set[int] = set()
            for part in (*(self._read(place) for place in places), pending):
                for hashed, line in zip(part[::2], part[1::2], strict=True):
                    if hashed in known:
                        yield line
                    known.add(hashed)

    def _read(self, place: int) -> array[int]:
        part: array[int] = array("Q")
        self._file.seek(place)
        part.fromfile(self._file, 2 * _SHARE_ITEMS)
        return part
