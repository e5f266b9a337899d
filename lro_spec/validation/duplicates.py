"""Detection of repeated ids in a file of any size, in bounded memory."""

from __future__ import annotations

import tempfile
from array import array
from collections.abc import Collection, Iterator, Sequence
from itertools import count
from typing import IO

_PARTITIONS = 256
_BUFFER_ITEMS = 1024
"""Number of ids of a partition that are collected before they are written to the file."""


_ZERO = -0x61C8864680B583EB
"""Replacement for a hash of 0, because 0 marks an empty slot. No integer has this hash, and a text only by chance."""


def _hash(id: str | int) -> int:
    return -1 if id == -1 else hash(id)  # Python hashes -1 like -2, and nothing as -1


class SeenIds:
    """Remembers ids by a 64-bit hash.

    In files of a million ids that are texts, two different ids collide once in thirty million files. The first *limit*
    ids are kept in memory. As long as there are fewer than *few*, each is kept with its line. If there are more, they
    are kept without their lines in a table of eight bytes per slot, because a set of a million integers takes ninety
    megabytes. Later ids go to a temporary file of sixteen bytes per id, which is searched part by part at the end
    (`late`).
    """

    def __init__(self, limit: int = 1_500_000, few: int = 50_000) -> None:
        self.limit = limit
        self.count = 0
        """Number of ids in memory."""
        self._few: dict[int, int] | None = {}
        """The line of each hash; None once there are too many ids."""
        self._max_few = min(few, limit)
        self._table: array[int] = array("q")
        """A hash is in the slot that its last bits select, or in a later slot with no empty slot (0) in between."""
        self._spilled: _Spilled | None = None

    def add(self, id: str | int, line: int) -> bool:
        """Add an id. False if it is known to be repeated; `late` yields *line* if that is only found later."""
        return self.add_hashes([_hash(id)], line)

    def add_all(self, ids: Sequence[str | int], first_line: int) -> list[int]:
        """Like `add`, for the ids of consecutive lines. Returns the indexes in *ids* of repeated ids."""
        hashes = list(map(hash, ids))
        if -2 in hashes:  # an id is -1 or -2, or a text that happens to have this hash
            hashes = list(map(_hash, ids))
        if self.add_hashes(hashes, first_line):
            return []
        return [place for place, id in enumerate(ids) if not self.add(id, first_line + place)]

    def add_hashes(self, hashes: Sequence[int], first_line: int) -> bool:
        """Like `add`, for the hashes of ids of consecutive lines. Returns False and adds none if one is repeated."""
        if self._few is not None:
            new = dict(zip(hashes, count(first_line)))
            if len(new) < len(hashes) or not self._few.keys().isdisjoint(new):
                return False
            if self.count + len(new) < self._max_few:
                self._few |= new
                self.count += len(new)
                return True
            few, self._few, self.count = self._few, None, 0
            # At least a quarter of the table remains empty.
            self._table = array("q", [0]) * (1 << (self.limit * 4 // 3).bit_length())
            self._keep(few)
        room = self.limit - self.count
        if len(hashes) <= room:
            return self._keep(hashes)
        if len(set(hashes)) < len(hashes) or any(map(self._is_kept, hashes)):
            return False
        self._keep(hashes[:room])
        self._spilled = self._spilled or _Spilled()
        for place in range(room, len(hashes)):
            self._spilled.add(hashes[place], first_line + place)
        return True

    def line_of(self, id: str | int) -> int | None:
        """The line with which an id was added; None if it was not, or if there are too many ids to keep their lines."""
        return None if self._few is None else self._few.get(_hash(id))

    def late(self) -> Iterator[int]:
        """The lines of repeated ids that `add` could not detect, in no particular order."""
        return self._spilled.repeated() if self._spilled is not None else iter(())

    def _keep(self, hashes: Collection[int]) -> bool:
        """Add hashes to the table. Returns False and adds none if one is repeated or was there already."""
        table, last, places = self._table, len(self._table) - 1, list[int]()
        for hashed in hashes:
            at = hashed & last
            while kept := table[at]:
                if kept == (hashed or _ZERO):
                    for each in places:
                        table[each] = 0
                    return False
                at = (at + 1) & last
            table[at] = hashed or _ZERO
            places.append(at)
        self.count += len(places)
        return True

    def _is_kept(self, hashed: int) -> bool:
        at, last = hashed, len(self._table) - 1
        while kept := self._table[at & last]:
            if kept == (hashed or _ZERO):
                return True
            at += 1
        return False


class _Spilled:
    """Hashes with their lines, in an unnamed file that is deleted when it is closed."""

    def __init__(self) -> None:
        self._file: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as this object
        self._pending = [array("q") for _ in range(_PARTITIONS)]
        self._written: list[list[int]] = [[] for _ in range(_PARTITIONS)]

    def add(self, hashed: int, line: int) -> None:
        partition = (hashed >> 32) % _PARTITIONS
        pending = self._pending[partition]
        pending.append(hashed)
        pending.append(line)
        if len(pending) >= 2 * _BUFFER_ITEMS:
            self._written[partition].append(self._file.tell())
            pending.tofile(self._file)
            del pending[:]

    def repeated(self) -> Iterator[int]:
        """The lines that have the same hash as an earlier line."""
        for places, pending in zip(self._written, self._pending, strict=True):
            known: set[int] = set()
            for part in (*(self._read(place) for place in places), pending):
                for hashed, line in zip(part[::2], part[1::2], strict=True):
                    if hashed in known:
                        yield line
                    known.add(hashed)

    def _read(self, place: int) -> array[int]:
        part: array[int] = array("q")
        self._file.seek(place)
        part.fromfile(self._file, 2 * _BUFFER_ITEMS)
        return part
