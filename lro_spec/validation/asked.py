"""The call that a descriptor answers, as far as it decides the content of the descriptor and its file."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Asked:
    """Operation and detail level of the call. Without it, two parts of a document can only be compared."""

    operation: str
    detail: str | None
    """The detail level that applies; None if it is not known."""
