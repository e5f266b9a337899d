"""Values and places in JSON documents, as messages show them."""

from __future__ import annotations

import json

_SHOWN = 120


def shown(value: object) -> str:
    """A value as JSON, cut to what fits a line of a report."""
    try:
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError):  # no JSON value; nested too deep
        text = f"a {type(value).__name__}"
    return cut(text)


def cut(text: str) -> str:
    """A text, cut to what fits a line of a report."""
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"


def pointer(path: list[str | int]) -> str:
    """The JSON pointer of a path of keys and indexes."""
    return "".join(f"/{str(part).replace('~', '~0').replace('/', '~1')}" for part in path)
