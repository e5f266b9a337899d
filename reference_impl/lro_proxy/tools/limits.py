"""Limits of all tools, and the refusals that callers receive."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

MAX_UTF8_BYTES = 4
"""Maximum size of a character in UTF-8."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of each call, and the limit of concurrent queries."""

    output_characters: int = 40_000
    """Maximum size of an answer in characters, not in lines, since one line may be the complete file."""
    seconds: float = 10.0
    """Maximum processor time of a query or a search. By the clock, it may take about twice as long."""
    memory_mb: int = 512
    """Maximum memory, in mebibytes, of the process that runs a query."""
    program_characters: int = 10_000
    """Maximum length of a query or pattern."""
    concurrent_queries: int = 2
    """Maximum number of concurrent queries; further queries wait."""


class Refused(ValueError):
    """A refused call; the message tells the caller the reason and an alternative."""


class InvalidPattern(Refused):
    """A pattern that is not a regular expression."""


class TooLarge(Refused):
    """An answer above the limit."""

    def __init__(self, fitting: int, limit: int) -> None:
        super().__init__(f"the answer is larger than {limit} characters")
        self.fitting = fitting
        """Number of leading pieces that fit."""


def joined(pieces: Iterable[bytes], limit: int, *, array: bool = False) -> str:
    """Join pieces to one text of at most *limit* characters, in which each piece is on a line of its own.

    With *array*, the text is a JSON array of the pieces. Pieces beyond the limit are not read. Raises `TooLarge`.
    """
    texts: list[str] = []
    separator = ",\n" if array else "\n"
    remaining = limit - 2 * array
    for piece in pieces:
        text = "" if len(piece) > MAX_UTF8_BYTES * remaining else piece.decode("utf-8", "replace")
        remaining -= len(text) + (len(separator) if texts else 0)
        if remaining < 0 or (piece and not text):
            raise TooLarge(len(texts), limit)
        texts.append(text)
    text = separator.join(texts)
    return f"[{text}]" if array else text
