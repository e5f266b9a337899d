"""Formatting of JSON values, places and the output of processes for messages."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

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


def counted(number: int, noun: str) -> str:
    """``1 memory``, ``2,000 memories``."""
    plural = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{number:,} {noun if number == 1 else plural}"


def pointer(path: list[str | int]) -> str:
    """The JSON pointer of a path of keys and indexes."""
    return "".join(f"/{str(part).replace('~', '~0').replace('/', '~1')}" for part in path)


def telling_line(stderr: Sequence[str]) -> str:
    """The line of stderr that names what ended a process; empty if no line has a word.

    It is the last line, unless that names no error and an earlier one does: some programs print a stack, the
    properties of an error, or a frame after it.
    """
    spoken = [" ".join(line.split()) for line in stderr if re.search(r"\w", line)]
    telling = [line for line in spoken if _TELLING.search(line)]
    if not telling or spoken[-1] in telling:
        return spoken[-1] if spoken else ""
    return telling[0]


_TELLING = re.compile(r"(?:Error|Exception|panic|fatal)(?: \[\w+\])?: .*\w|\bpanicked at\b", re.IGNORECASE)
