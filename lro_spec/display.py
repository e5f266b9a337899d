"""Formatting of JSON values, places and the output of processes for messages."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

_MAX_LENGTH = 120
"""Largest number of characters of a value or text that is shown in a line of a report."""


def show(value: object) -> str:
    """A value as JSON, shortened to fit a line of a report."""
    try:
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError):  # not a JSON value; nested too deeply
        text = f"a {type(value).__name__}"
    return shorten(text)


def shorten(text: str) -> str:
    """A text, shortened to fit a line of a report."""
    return text if len(text) <= _MAX_LENGTH else f"{text[: _MAX_LENGTH - 1]}…"


def counted(number: int, noun: str) -> str:
    """A number with its noun, in the singular or plural: ``1 memory``, ``2,000 memories``."""
    plural = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{number:,} {noun if number == 1 else plural}"


def pointer(path: list[str | int]) -> str:
    """The JSON pointer of a path of keys and indexes."""
    return "".join(f"/{str(part).replace('~', '~0').replace('/', '~1')}" for part in path)


def error_line(stderr: Sequence[str]) -> str:
    """Return the line of standard error that says why a process ended. It is empty if no line contains a word.

    This is usually the last line that contains a word. But if the last line names no error and an earlier line does,
    the first line that names an error is returned, because some programs print a stack trace, the properties of the
    error, or the border of a box after the error itself.
    """
    lines = [" ".join(line.split()) for line in stderr if re.search(r"\w", line)]
    errors = [line for line in lines if _ERROR.search(line)]
    if not errors or lines[-1] in errors:
        return lines[-1] if lines else ""
    return errors[0]


_ERROR = re.compile(r"(?:Error|Exception|panic|fatal)(?: \[\w+\])?: .*\w|\bpanicked at\b", re.IGNORECASE)
