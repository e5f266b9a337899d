"""The evidence of a check as lines of a conversation, the one that it rests on marked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Kind = Literal["sent", "received", "about"]


@dataclass(frozen=True, slots=True)
class Line:
    """One line of evidence."""

    number: int
    """From 1."""
    kind: Kind
    text: str
    marked: bool
    """Whether what was observed is to be seen here."""


def transcript(evidence: Sequence[str]) -> tuple[Line, ...]:
    """The lines, each with what it is.

    What was observed is in the server's last answer; where nobody was spoken to, a line is as good as any other, and
    none is marked.
    """
    kinds: list[Kind] = [_kind(text) for text in evidence]
    last = max((n for n, kind in enumerate(kinds) if kind == "received"), default=None)
    return tuple(Line(n + 1, kind, text, n == last) for n, (kind, text) in enumerate(zip(kinds, evidence, strict=True)))


def _kind(text: str) -> Kind:
    if text.startswith("→ "):
        return "sent"
    return "received" if text.startswith("← ") else "about"
