"""The call that a descriptor answers, as far as it decides what the descriptor and its file must say."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Asked:
    """What was asked for. Without it two parts of a document can only be held against each other."""

    operation: str
    detail: str | None
    """The detail level that applies; None where it is not known."""
