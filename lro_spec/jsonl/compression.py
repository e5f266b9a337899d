"""Input streams: gzip is unpacked, and the first bytes can be inspected before they are read."""

from __future__ import annotations

import errno
import os
import zlib
from pathlib import PurePath
from typing import Any, cast

from lro_spec.jsonl.lines import Readable

PACKED_SUFFIXES = (".gz", ".zst")
"""Suffixes of compressed files."""

_GZIP = b"\x1f\x8b"
_ZSTD = b"\x28\xb5\x2f\xfd"


MAX_UNPACKED_BYTES = 4 << 30
"""Largest size to which a stream is unpacked. Reading more bytes raises `DamagedError`."""

MAX_RATIO, RATIO_FROM_BYTES = 200, 4 << 20
"""Largest ratio of unpacked to packed size, and the unpacked size from which this limit applies."""


class DamagedError(Exception):
    """Compressed bytes cannot be unpacked, or unpack to too many bytes. The message says why."""


class UnreadPackingError(OSError):
    """The bytes are compressed by zstd, which is not unpacked here. The message says what to do."""


class Peekable:
    """A stream whose first bytes can be inspected before they are read; it need not be seekable."""

    def __init__(self, stream: Readable) -> None:
        self._stream = stream
        self._ahead = bytearray()  # not `bytes`, which would be copied with each part that is added or removed
        self._damage: DamagedError | None = None

    def peek(self, size: int) -> bytes:
        """The next *size* bytes, or fewer if the stream ends or is damaged; a later `read` returns them again.

        Raises `DamagedError` if the stream is damaged before the next byte.
        """
        while len(self._ahead) < size and self._damage is None:
            try:
                more = self._some(size - len(self._ahead))
            except DamagedError as problem:
                self._damage = problem  # raised once the bytes before the damage have been read
            else:
                if not more:
                    break
                self._ahead += more
        if self._damage is not None and not self._ahead:
            raise self._damage
        return bytes(self._ahead[:size])

    def read(self, size: int = -1, /) -> bytes:
        """Read like any binary stream. Raises `DamagedError` where the stream is damaged."""
        if not self._ahead:
            if self._damage is not None:
                raise self._damage
            return self._some(size)
        if size < 0:
            ahead, self._ahead = self._ahead, bytearray()
            return bytes(ahead) + self._some(size)
        ahead = bytes(self._ahead[:size])
        del self._ahead[:size]
        return ahead

    def _some(self, size: int) -> bytes:
        more = cast("bytes | None", self._stream.read(size))
        if more is None:  # a non-blocking stream that has no data yet, which is not its end
            raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))
        return more

    def readable(self) -> bool:
        """True; required by `gzip`."""
        return True


def unpacked(stream: Readable) -> Peekable:
    """Return a stream of the unpacked bytes if the stream is gzip, otherwise a stream of the same bytes.

    Reading the returned stream raises `DamagedError` if the compressed bytes are cut off or wrong, or unpack to too
    many bytes. This function itself raises `UnreadPackingError` for zstd.
    """
    packed = stream if isinstance(stream, Peekable) else Peekable(stream)
    start = packed.peek(4)
    if start == _ZSTD:
        raise UnreadPackingError(
            "compressed by zstd, but only gzip can be unpacked; use: zstdcat FILE | lro validate -"
        )
    return Peekable(_Unpacked(packed)) if start.startswith(_GZIP) else packed


def plain_name(name: str) -> str:
    """A file's name without the suffix of its compression: its name before it was compressed."""
    return PurePath(name).stem if name.lower().endswith(PACKED_SUFFIXES) else name


class _Counted:
    """A stream that counts the bytes that are read from it."""

    def __init__(self, stream: Peekable) -> None:
        self._stream = stream
        self.count = 0

    def read(self, size: int = -1, /) -> bytes:
        data = self._stream.read(size)
        self.count += len(data)
        return data


class _Unpacked:
    def __init__(self, stream: Peekable) -> None:
        import gzip  # imported here because most files are not compressed

        self._packed = _Counted(stream)
        self._bad_file = gzip.BadGzipFile
        self._stream = gzip.GzipFile(fileobj=cast("Any", self._packed))
        self._count = 0

    def read(self, size: int, /) -> bytes:
        if self._count > MAX_UNPACKED_BYTES:
            raise DamagedError(f"it unpacks to more than {MAX_UNPACKED_BYTES:,} bytes")
        if self._count > max(RATIO_FROM_BYTES, MAX_RATIO * self._packed.count):
            raise DamagedError(f"it unpacks to more than {MAX_RATIO} times its size, as no file of records does")
        try:
            # Read only the bytes that are available at once, so that the bytes before a damaged place are not lost.
            data = self._stream.read(size) if size < 0 else self._stream.read1(size)
        except (self._bad_file, EOFError, zlib.error) as problem:
            raise DamagedError(str(problem).rstrip(".") or type(problem).__name__) from None
        self._count += len(data)
        return data
