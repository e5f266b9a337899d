"""JSON that is nested more deeply than parsers go: what lies far down is kept as the text that it is."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

import orjson

_DEEPEST = 100
"""From here on down nothing is looked at."""
_BRACKET = re.compile(r'"(?:[^"\\]|\\.)*"|[\[{\]}]', re.DOTALL)

Parse = Callable[[str], Any]
"""Raises `ValueError` for what is no JSON."""


@dataclass(frozen=True, slots=True)
class Flat:
    """A text in which a string, a mark, stands instead of each value that lies too deep."""

    text: str
    pieces: dict[str, str]
    """By mark: what it stands for."""
    _marks: re.Pattern[str]

    def placed(self, value: Any) -> Any:
        """The parsed text, with fragments instead of the marks: written again, it is whole."""
        if isinstance(value, dict):
            return {key: self.placed(inner) for key, inner in cast("dict[str, Any]", value).items()}
        if isinstance(value, list):
            return [self.placed(inner) for inner in cast("list[Any]", value)]
        return orjson.Fragment(self.pieces[value]) if isinstance(value, str) and value in self.pieces else value

    def restored(self, text: str) -> str:
        """A part of the text as it came."""
        return self._marks.sub(lambda found: self.pieces[found[1]], text)


def flattened(text: str, parse: Parse) -> Flat | None:
    """A text with marks; None where nothing in it lies that deep. Raises `ValueError` for a value down there."""
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
                    levels[-1].append("0")  # of a piece that is looked at for its form only
                else:
                    name = f"{mark}{len(pieces)}"
                    pieces[name] = text[start:after]
                    levels[-1].append(f'"{name}"')
    if depth:
        raise ValueError("not every bracket is closed")
    flat = "".join((*levels[0], text[after:]))
    return Flat(flat, pieces, re.compile(f'"({mark}[0-9]+)"')) if pieces else None
