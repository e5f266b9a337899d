"""Where in a JSON text a value stands. Only findings need it, so it is simple rather than fast."""

from __future__ import annotations

import json

_DECODER = json.JSONDecoder()
_SPACE = " \t\r\n"


def position(text: str, pointer: str) -> int | None:
    """The index of the first character of the value at a JSON pointer; None when there is no such value.

    Of a key that is there twice the last one counts, as it does for readers.
    """
    try:
        at = _skip(text, 0)
        for escaped in pointer.split("/")[1:]:
            part = escaped.replace("~1", "/").replace("~0", "~")
            found = _member(text, at, part) if text[at] == "{" else _item(text, at, int(part))
            if found is None:
                return None
            at = found
    except (ValueError, IndexError, RecursionError):
        return None
    return at


def nearest_position(text: str, pointer: str) -> int:
    """The same; where there is no such value, that of what should hold it."""
    while True:
        at = position(text, pointer)
        if at is not None or not pointer:
            return at or 0
        pointer = pointer.rpartition("/")[0]


def _member(text: str, at: int, key: str) -> int | None:
    last = None
    at = _skip(text, at + 1)
    while text[at] != "}":
        name, at = _DECODER.raw_decode(text, at)
        value = _skip(text, _skip(text, at) + 1)
        if name == key:
            last = value
        at = _next(text, value)
    return last


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
