"""Reads JSON with comments and trailing commas, as written by clients.

The places of the members of objects in the text are noted, except within arrays. They serve to edit a configuration by
replacing parts of its text, so that everything else stays the same byte for byte.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

_SPACE = re.compile(r"(?:[ \t\r\n\ufeff]+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_SCALAR = re.compile(r"[^\s,\[\]{}:\"/]+")


@dataclass(frozen=True, slots=True)
class Node:
    """A value and its place in the text."""

    value: Any
    start: int
    stop: int
    members: dict[str, Member]
    """The members of an object; empty for any other value."""


@dataclass(frozen=True, slots=True)
class Member:
    """A member of an object: the place of its key, and its value."""

    start: int
    node: Node


def read(text: str) -> Node:
    """The value of a document. Raises `ValueError` for invalid JSON, and for an object in which a key occurs twice."""
    try:
        node = _value(text, _skip(text, 0))
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    if _skip(text, node.stop) != len(text):
        raise _problem(text, node.stop, "more than one value")
    return node


def _value(text: str, start: int) -> Node:
    match text[start : start + 1]:
        case "{":
            return _object(text, start)
        case "[":
            return _array(text, start)
        case '"':
            return _scalar(text, start, _STRING)
        case _:
            return _scalar(text, start, _SCALAR)


def _scalar(text: str, start: int, pattern: re.Pattern[str]) -> Node:
    found = pattern.match(text, start)
    if found is None:
        raise _problem(text, start, "a value is missing")
    try:
        return Node(json.loads(found[0]), start, found.end(), {})
    except ValueError:
        raise _problem(text, start, "not a JSON value") from None


def _array(text: str, start: int) -> Node:
    items: list[Any] = []
    place = _skip(text, start + 1)
    while not text.startswith("]", place):
        item = _value(text, place)
        items.append(item.value)
        place = _next_place(text, item.stop, "]")
    return Node(items, start, place + 1, {})


def _object(text: str, start: int) -> Node:
    members: dict[str, Member] = {}
    place = _skip(text, start + 1)
    while not text.startswith("}", place):
        key = _scalar(text, place, _STRING)
        if key.value in members:
            raise _problem(text, place, f"the key {key.value!r} occurs twice")
        colon = _skip(text, key.stop)
        if not text.startswith(":", colon):
            raise _problem(text, colon, "no colon after a key")
        node = _value(text, _skip(text, colon + 1))
        members[key.value] = Member(key.start, node)
        place = _next_place(text, node.stop, "}")
    return Node({key: member.node.value for key, member in members.items()}, start, place + 1, members)


def _next_place(text: str, place: int, end: str) -> int:
    """The place of the next item or, if there is none, of the closing bracket *end*."""
    place = _skip(text, place)
    if text.startswith(",", place):
        return _skip(text, place + 1)
    if not text.startswith(end, place):
        raise _problem(text, place, f"a comma or {end} is missing")
    return place


def _skip(text: str, place: int) -> int:
    """The first place at or after *place* that is not within spaces or comments."""
    found = _SPACE.match(text, place)
    return found.end() if found else place


def _problem(text: str, place: int, what: str) -> ValueError:
    return ValueError(f"line {text.count(chr(10), 0, place) + 1}: {what}")
