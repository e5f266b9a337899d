"""The request that a descriptor answers: the arguments that decide the content of the descriptor and its file."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Request:
    """Operation and detail level of the call that a descriptor answers.

    Validation without a request can only compare the parts of a document with each other.
    """

    operation: str
    detail: str | None
    """The detail level that applies; None if it is not known."""
