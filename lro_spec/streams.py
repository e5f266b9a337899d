"""Bytes as validation takes them in: looked into before they are read, unpacked, from whatever they come.

gzip comes with Python; zstd with Python 3.14, or with the extra ``zstd`` of this package.
"""

from __future__ import annotations

import errno
import importlib
import os
from pathlib import PurePath
from typing import Any, cast

from lro_spec.physical_lines import Readable

PACKED_SUFFIXES = (".gz", ".zst")
"""What a compressed file's name ends with."""

_GZIP = b"\x1f\x8b"
_ZSTD = b"\x28\xb5\x2f\xfd"
_SKIPPABLE = b"\x2a\x4d\x18"  # zstd's skippable frame, after a first byte 50 to 5f
_WINDOW_LOG = 27  # the most that zstd itself takes without being asked
WIDEST = "128 MiB"
"""The widest window of zstd that is unpacked."""


class DamagedError(Exception):
    """Compressed bytes that cannot be unpacked; the message says why."""


class TooWideError(DamagedError):
    """Bytes of zstd that take more memory than is given to them; they may be sound."""


class NoZstdError(OSError):
    """There is no library for zstd; the message says how to get one."""


class Peekable:
    """A stream whose beginning can be looked at before it is read; it need not be seekable."""

    def __init__(self, stream: Readable) -> None:
        self._stream = stream
        self._ahead = bytearray()  # bytes would be copied whole with each part that comes or goes
        self._damage: DamagedError | None = None

    def peek(self, size: int) -> bytes:
        """The next *size* bytes, fewer where the stream ends or is damaged; they stay to be read."""
        while len(self._ahead) < size and self._damage is None:
            try:
                more = self._some(size - len(self._ahead))
            except DamagedError as problem:
                self._damage = problem  # what came before it is told first
            else:
                if not more:
                    break
                self._ahead += more
        if self._damage is not None and not self._ahead:
            raise self._damage
        return bytes(self._ahead[:size])

    def read(self, size: int = -1, /) -> bytes:
        """As of any binary stream."""
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
        if more is None:  # a stream that does not block, and has nothing yet: that is not its end
            raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))
        return more

    def readable(self) -> bool:
        """True: what unpacks a stream asks."""
        return True


def unpacked(stream: Readable) -> Peekable:
    """The bytes of a stream, unpacked where they are gzip or zstd.

    Reading raises `DamagedError` where the compressed bytes are cut off or wrong. Raises `NoZstdError`.
    """
    packed = stream if isinstance(stream, Peekable) else Peekable(stream)
    start = packed.peek(4)
    if start.startswith(_GZIP):
        import gzip
        import zlib

        return Peekable(_Unpacked(gzip.GzipFile(fileobj=cast("Any", packed)), (gzip.BadGzipFile, EOFError, zlib.error)))
    if start == _ZSTD or (start[1:] == _SKIPPABLE and 0x50 <= start[0] <= 0x5F):
        zstd = _zstd()
        options = {zstd.DecompressionParameter.window_log_max: _WINDOW_LOG}
        return Peekable(_Unpacked(zstd.ZstdFile(packed, options=options), (EOFError, zstd.ZstdError)))
    return packed


def plain_name(name: str) -> str:
    """A file's name without the suffix of its compression: the name that it had."""
    return PurePath(name).stem if name.lower().endswith(PACKED_SUFFIXES) else name


class _Unpacked:
    def __init__(self, stream: Readable, problems: tuple[type[Exception], ...]) -> None:
        self._stream = stream
        self._problems = problems

    def read(self, size: int, /) -> bytes:
        try:
            # No more than is there at once: what was unpacked before the damage is not lost with it.
            return self._stream.read(size) if size < 0 else cast("Any", self._stream).read1(size)
        except self._problems as problem:
            if "too much memory" in str(problem):
                raise TooWideError(str(problem)) from None
            raise DamagedError(str(problem).rstrip(".") or type(problem).__name__) from None


def _zstd() -> Any:
    for name in ("compression.zstd", "backports.zstd"):
        try:
            return importlib.import_module(name)
        except ImportError:
            continue
    raise NoZstdError("zstd needs a library that is not installed: pip install 'lro-spec[zstd]', or unpack it first")
