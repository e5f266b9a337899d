"""Formatting of JSON values and places for messages."""

from __future__ import annotations

import json

_SHOWN = 120


def show(value: object) -> str:
    """A value as JSON, shortened to fit a line of a report."""
    try:
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError):  # not a JSON value; nested too deeply
        text = f"a {type(value).__name__}"
    return shorten(text)


def shorten(text: str) -> str:
    """A text, shortened to fit a line of a report."""
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"


def pointer(path: list[str | int]) -> str:
    """The JSON pointer of a path of keys and indexes."""
    return "".join(f"/{str(part).replace('~', '~0').replace('/', '~1')}" for part in path)
