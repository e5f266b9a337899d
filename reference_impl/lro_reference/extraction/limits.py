"""What every tool of every family is held to, and the refusal that a caller gets."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

MOST_UTF8_BYTES = 4
"""Of one character."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of one call."""

    output_characters: int = 40_000
    """The longest answer: characters, since one line may be the whole file."""
    seconds: float = 10.0
    """The longest that a query or a search may run."""
    memory_mb: int = 512
    """What the process of a query may take."""
    program_characters: int = 10_000
    """The longest query or pattern."""
    at_once: int = 2
    """Queries that run at the same time; others wait for their turn."""


class Refused(ValueError):
    """What a tool will not do; the message tells the caller why, and what to do instead."""


class TooLarge(Refused):
    """An answer above the limit."""

    def __init__(self, fitting: int, limit: int) -> None:
        super().__init__(f"the answer is larger than {limit} characters")
        self.fitting = fitting
        """How many of its pieces would have fitted, from the first on."""


def joined(pieces: Iterable[bytes], limit: int, *, array: bool = False) -> str:
    """The pieces as one text of at most *limit* characters, each on a line of its own; with *array* as a JSON array.

    No more of them is read than that. Raises `TooLarge`.
    """
    texts: list[str] = []
    separator = ",\n" if array else "\n"
    room = limit - 2 * array
    for piece in pieces:
        text = "" if len(piece) > MOST_UTF8_BYTES * room else piece.decode("utf-8", "replace")
        room -= len(text) + (len(separator) if texts else 0)
        if room < 0 or (piece and not text):
            raise TooLarge(len(texts), limit)
        texts.append(text)
    text = separator.join(texts)
    return f"[{text}]" if array else text
