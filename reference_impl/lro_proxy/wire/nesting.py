"""JSON that is nested more deeply than parsers allow: deep values stay text."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

import orjson

_DEEPEST = 100
"""Depth below which values stay text."""
_BRACKET = re.compile(r'"(?:[^"\\]|\\.)*"|[\[{\]}]', re.DOTALL)

Parse = Callable[[str], Any]
"""A JSON parser; raises `ValueError`."""


@dataclass(frozen=True, slots=True)
class Flat:
    """A JSON text in which a placeholder string replaces each value that is nested too deeply."""

    text: str
    pieces: dict[str, str]
    """Replaced texts by placeholder."""
    _marks: re.Pattern[str]

    def fill_in(self, value: Any) -> Any:
        """Replace the placeholders in the parsed text with fragments, which serialise to the original values."""
        if isinstance(value, dict):
            return {key: self.fill_in(inner) for key, inner in cast("dict[str, Any]", value).items()}
        if isinstance(value, list):
            return [self.fill_in(inner) for inner in cast("list[Any]", value)]
        return orjson.Fragment(self.pieces[value]) if isinstance(value, str) and value in self.pieces else value

    def restore(self, text: str) -> str:
        """Replace the placeholders in a part of the text with the original texts."""
        return self._marks.sub(lambda found: self.pieces[found[1]], text)


def flatten(text: str, parse: Parse) -> Flat | None:
    """The text with deep values replaced; None if there are none. Raises `ValueError` for an invalid deep value."""
    mark = secrets.token_hex(8)
    pieces: dict[str, str] = {}
    levels: list[list[str]] = [[]]
    begun: list[int] = []
    depth = after = 0
    for found in _BRACKET.finditer(text):
        if found[0] in "[{":
            if depth and depth % _DEEPEST == 0:
                levels[-1].append(text[after : found.start()])
                levels.append([])
                begun.append(after := found.start())
            depth += 1
        elif found[0] in "]}":
            depth -= 1
            if depth > 0 and depth % _DEEPEST == 0:
                parse("".join((*levels.pop(), text[after : found.end()])))
                start, after = begun.pop(), found.end()
                if depth > _DEEPEST:
                    levels[-1].append("0")  # the piece is parsed for its syntax only
                else:
                    name = f"{mark}{len(pieces)}"
                    pieces[name] = text[start:after]
                    levels[-1].append(f'"{name}"')
    if depth:
        raise ValueError("not every bracket is closed")
    flat = "".join((*levels[0], text[after:]))
    return Flat(flat, pieces, re.compile(f'"({mark}[0-9]+)"')) if pieces else None
