"""Where in a JSON text a value stands. Only findings need it, so it is simple rather than fast."""

from __future__ import annotations

import json
import re

_decoded = json.JSONDecoder().raw_decode
_BEFORE_VALUE = re.compile(r"[ \t\r\n]*:?[ \t\r\n]*")
_AFTER_VALUE = re.compile(r"[ \t\r\n]*(?:,[ \t\r\n]*)?")
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
        name, at = _decoded(text, at)
        value = _behind(_BEFORE_VALUE, text, at)
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
    return _behind(_AFTER_VALUE, text, _decoded(text, value)[1])


def _behind(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    return at if found is None else found.end()


def _skip(text: str, at: int) -> int:
    while text[at] in _SPACE:
        at += 1
    return at
