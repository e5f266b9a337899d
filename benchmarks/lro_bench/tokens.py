"""Token counts without network access: by o200k and cl100k, whose vocabularies are installed, and characters ÷ 4."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from importlib import import_module
from typing import Any

from lro_spec.tokens import characters_estimate

VOCABULARIES = ("o200k", "cl100k")
_MAX_PIECE = 100_000
"""Maximum number of characters of a text that is passed to a tokenizer at a time."""
_BOUNDARY = re.compile(r"[A-Za-z0-9](?=[\",:}\]])|\n(?=[A-Za-z])")
"""Places to cut a text where no token of either vocabulary crosses the cut.

They are between a word and the punctuation after it, and between a line feed and a letter.
"""


@lru_cache(maxsize=20_000)
def count(text: str) -> int:
    """Tokens of a text by o200k."""
    return count_by("o200k", text)


def count_by(vocabulary: str, text: str) -> int:
    """Tokens of a text by a vocabulary of `VOCABULARIES`, or by characters ÷ 4 (``characters/4``)."""
    if vocabulary == "characters/4":
        return characters_estimate(text)
    encode = _encoding(vocabulary).encode_ordinary
    return sum(len(encode(piece)) for piece in _pieces(text))


def _pieces(text: str) -> Iterator[str]:
    """The text in pieces of limited length. If possible, they are cut where the cut does not change the count."""
    start = 0
    while len(text) - start > _MAX_PIECE:
        boundaries = [match.end() for match in _BOUNDARY.finditer(text, start + _MAX_PIECE - 2_000, start + _MAX_PIECE)]
        end = boundaries[-1] if boundaries else start + _MAX_PIECE
        yield text[start:end]
        start = end
    yield text[start:]


@cache
def _encoding(vocabulary: str) -> Any:
    # Imported by name, because the package has no types.
    return import_module("bpe_openai").get_encoding(f"{vocabulary}_base")
