"""Facts of a written file that only a look at its bytes tells."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from lro_spec.tokens import wide_in_utf8

_CHUNK = 1 << 18
_MANY = 10_000


@dataclass(frozen=True, slots=True)
class FileFacts:
    """Size, digest and wide characters of a file."""

    size: int
    sha256: str
    wide: int
    """Characters of wide scripts; from ten thousand on they are not counted further."""


def read_facts(path: str) -> FileFacts:
    """Read a file once. Raises `OSError`."""
    digest = hashlib.sha256()
    size = wide = 0
    with open(path, "rb", buffering=0) as file:
        rest = b""
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
            size += len(chunk)
            if wide < _MANY and not chunk.isascii():
                text = rest + chunk
                end = _whole_characters(text)
                wide, rest = wide + wide_in_utf8(text[:end]), text[end:]
            else:
                rest = b""
    return FileFacts(size, digest.hexdigest(), wide)


def _whole_characters(text: bytes) -> int:
    """The end of the last whole character of UTF-8 in a part of a text, or the start of one that may be whole."""
    end = len(text)
    while end and 0x80 <= text[end - 1] < 0xC0:
        end -= 1
    return end - 1 if end and text[end - 1] >= 0xC0 else end
