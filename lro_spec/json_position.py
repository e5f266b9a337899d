"""Where in a JSON text a value stands. Only findings need it, so it is simple rather than fast."""

from __future__ import annotations

import json
from collections.abc import Sequence

_DECODER = json.JSONDecoder()
_SPACE = " \t\r\n"


def position(text: str, path: Sequence[str | int]) -> int | None:
    """The index of the first character of the value at *path*; None when there is no such value."""
    try:
        at = _skip(text, 0)
        for part in path:
            found = _member(text, at, part) if isinstance(part, str) else _item(text, at, part)
            if found is None:
                return None
            at = found
    except (ValueError, IndexError, RecursionError):
        return None
    return at


def _member(text: str, at: int, key: str) -> int | None:
    if text[at] != "{":
        return None
    at = _skip(text, at + 1)
    while text[at] != "}":
        name, at = _DECODER.raw_decode(text, at)
        value = _skip(text, _skip(text, at) + 1)
        if name == key:
            return value
        at = _next(text, value)
    return None


def _item(text: str, at: int, index: int) -> int | None:
    if text[at] != "[":
        return None
    at = _skip(text, at + 1)
    while text[at] != "]":
        if index == 0:
            return at
        index -= 1
        at = _next(text, at)
    return None


def _next(text: str, value: int) -> int:
    """Where the neighbour of the value at this place starts, or the bracket that closes both."""
    _, at = _DECODER.raw_decode(text, value)
    at = _skip(text, at)
    return _skip(text, at + 1) if text[at] == "," else at


def _skip(text: str, at: int) -> int:
    while text[at] in _SPACE:
        at += 1
    return at
