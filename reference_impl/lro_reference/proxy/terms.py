"""What the proxy holds both sides to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lro_spec.tokens import estimate_of

if TYPE_CHECKING:
    from lro_spec.masking import Masks


@dataclass(frozen=True, slots=True)
class Terms:
    """The same for every server."""

    most_bytes: int
    """The longest line."""
    threshold_of: Callable[[str], int | None]
    """The threshold for a tool, in tokens; None where its results are never touched."""
    capability: Mapping[str, Any]
    estimate_of: Callable[[int, int], int] = estimate_of
    """Tokens of a text with so many characters, of which so many are wide."""
    masks: Masks | None = None
    """What may not be seen of what the server says."""
