"""Regular expressions as JSON Schema has them: those of ECMA-262, whose classes are not Python's.

There ``\\w``, ``\\d`` and ``\\b`` know ASCII only, and ``\\s`` every white space of Unicode.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError
    from jsonschema.protocols import Validator

_SPACE = r"\s\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
_PARTS = re.compile(r"\\.|\[\^?\]?|\]", re.DOTALL)
_CLASSES = re.compile(r"\\[wWdDsSbB]")


def compiles(pattern: str) -> bool:
    """Whether Python takes a text for a regular expression."""
    try:
        re.compile(pattern)
    except (re.error, RecursionError, OverflowError):
        return False
    return True


def found(pattern: str, text: str) -> bool:
    """Whether a text matches in one of the two readings: Python's, or that of ECMA-262."""
    if re.search(pattern, text):
        return True
    other = _as_ecma(pattern)
    return other is not None and other.search(text) is not None


@lru_cache(maxsize=8)
def reading_patterns_in_both_ways(kind: type[Validator]) -> type[Validator]:
    """A class of validators like this one that accuses nobody whom either reading acquits."""
    from jsonschema.validators import extend  # pyright: ignore[reportUnknownVariableType]

    return cast("type[Validator]", cast("Any", extend)(kind, {"pattern": _pattern}))


def _pattern(validator: Any, pattern: str, instance: object, _: object) -> Iterator[ValidationError]:
    from jsonschema.exceptions import ValidationError

    if isinstance(instance, str) and not found(pattern, instance):
        yield ValidationError(f"{instance!r} does not match {pattern!r}")


@lru_cache(maxsize=256)
def _as_ecma(pattern: str) -> re.Pattern[str] | None:
    if not _CLASSES.search(pattern):
        return None
    inside = False

    def translated(part: re.Match[str]) -> str:
        nonlocal inside
        text = part[0]
        if text[0] == "[" and not inside:
            inside = True
        elif text == "]":
            inside = False
        elif text == r"\s":
            return _SPACE if inside else f"[{_SPACE}]"
        elif text == r"\S" and not inside:
            return f"[^{_SPACE}]"
        return text

    try:
        return re.compile(_PARTS.sub(translated, pattern), re.ASCII)
    except (re.error, ValueError, RecursionError, OverflowError):
        return None
