"""Detection of repeated ids in a file of any size, in bounded memory."""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterator, Sequence
from itertools import count
from typing import IO

_PARTITIONS = 256
_BUFFER_ITEMS = 1024
"""Number of ids of a partition that are collected before they are written to the file."""


_HASH_FOR_ZERO = -0x61C8864680B583EB
"""Replacement for a hash of 0, because 0 marks an empty slot. No integer has this hash, and a text only by chance."""


def _hash(id: str | int) -> int:
    return -1 if id == -1 else hash(id)  # Python gives -1 the same hash as -2; no value has the hash -1


class SeenIds:
    """Remembers ids by a 64-bit hash.

    In files of a million ids that are texts, two different ids collide once in thirty million files. The first *limit*
    ids are kept in memory. As long as there are fewer than *max_with_lines* ids, each id is kept with its line. If
    there are more, the ids are kept without their lines in a table of eight bytes per slot, because a set of a million
    integers takes ninety megabytes. Ids after the first *limit* go to a temporary file of sixteen bytes per id, which
    is searched part by part at the end (`late`).
    """

    def __init__(self, limit: int = 1_500_000, max_with_lines: int = 50_000) -> None:
        self.limit = limit
        self.count = 0
        """Number of ids in memory."""
        self._line_by_hash: dict[int, int] | None = {}
        """The line of each hash. None once there are too many ids."""
        self._max_with_lines = min(max_with_lines, limit)
        self._table: array[int] = array("q")
        """A hash is in the slot that is selected by its last bits, or in a later slot without an empty slot (0) in
        between."""
        self._hash_file: _HashFile | None = None

    def add(self, id: str | int, line: int) -> bool:
        """Add an id. Returns False if it is known to be repeated. If this is only found later, `late` yields *line*."""
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
        """Like `add`, for the hashes of ids of consecutive lines. If a hash is repeated, returns False and adds no
        hash."""
        if self._line_by_hash is not None:
            new = dict(zip(hashes, count(first_line)))
            if len(new) < len(hashes) or not self._line_by_hash.keys().isdisjoint(new):
                return False
            if self.count + len(new) < self._max_with_lines:
                self._line_by_hash |= new
                self.count += len(new)
                return True
            hashes_so_far, self._line_by_hash, self.count = self._line_by_hash, None, 0
            # At least a quarter of the table remains empty.
            self._table = array("q", [0]) * (1 << (self.limit * 4 // 3).bit_length())
            self._keep(hashes_so_far)
        spare = self.limit - self.count
        if len(hashes) <= spare:
            return self._keep(hashes)
        if len(set(hashes)) < len(hashes) or any(map(self._is_kept, hashes)):
            return False
        self._keep(hashes[:spare])
        self._hash_file = self._hash_file or _HashFile()
        for place in range(spare, len(hashes)):
            self._hash_file.add(hashes[place], first_line + place)
        return True

    def line_of(self, id: str | int) -> int | None:
        """Return the line of an id. None if the id was not added, or if there are too many ids to keep their lines."""
        return None if self._line_by_hash is None else self._line_by_hash.get(_hash(id))

    def late(self) -> Iterator[int]:
        """The lines of repeated ids that `add` could not detect, in no particular order."""
        return self._hash_file.repeated() if self._hash_file is not None else iter(())

    def _keep(self, hashes: Collection[int]) -> bool:
        """Add hashes to the table. If a hash is repeated or was there already, returns False and adds no hash."""
        table, mask, filled_slots = self._table, len(self._table) - 1, list[int]()
        for hashed in hashes:
            slot = hashed & mask
            while kept := table[slot]:
                if kept == (hashed or _HASH_FOR_ZERO):
                    for filled in filled_slots:
                        table[filled] = 0
                    return False
                slot = (slot + 1) & mask
            table[slot] = hashed or _HASH_FOR_ZERO
            filled_slots.append(slot)
        self.count += len(filled_slots)
        return True

    def _is_kept(self, hashed: int) -> bool:
        slot, mask = hashed, len(self._table) - 1
        while kept := self._table[slot & mask]:
            if kept == (hashed or _HASH_FOR_ZERO):
                return True
            slot += 1
        return False


class _HashFile:
    """Hashes with their lines, in an unnamed file that is deleted when it is closed."""

    def __init__(self) -> None:
        import tempfile  # imported here because few files need it

        self._file: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as this object
        self._pending = [array("q") for _ in range(_PARTITIONS)]
        self._offsets: list[list[int]] = [[] for _ in range(_PARTITIONS)]

    def add(self, hashed: int, line: int) -> None:
        partition = (hashed >> 32) % _PARTITIONS
        pending = self._pending[partition]
        pending.append(hashed)
        pending.append(line)
        if len(pending) >= 2 * _BUFFER_ITEMS:
            self._offsets[partition].append(self._file.tell())
            pending.tofile(self._file)
            del pending[:]

    def repeated(self) -> Iterator[int]:
        """The lines that have the same hash as an earlier line."""
        for offsets, pending in zip(self._offsets, self._pending, strict=True):
            seen: set[int] = set()
            for part in (*(self._read(offset) for offset in offsets), pending):
                for hashed, line in zip(part[::2], part[1::2], strict=True):
                    if hashed in seen:
                        yield line
                    seen.add(hashed)

    def _read(self, offset: int) -> array[int]:
        part: array[int] = array("q")
        self._file.seek(offset)
        part.fromfile(self._file, 2 * _BUFFER_ITEMS)
        return part
