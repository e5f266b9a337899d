"""Values of a Python program as JSON: tuples, dataclasses and similar, and numbers that JSON does not have."""

from __future__ import annotations

import json
from typing import Any, cast

from lro_spec.jsonl import lossless


class NoJsonError(ValueError):
    """A value that JSON cannot hold without loss: it has NaN, infinity, or a key twice."""


def plain(value: Any) -> Any:
    """The value as a JSON parser returns it, with every digit.

    Raises `NoJsonError` for a value that JSON cannot hold, and `TypeError` for objects that cannot be serialised.
    """
    try:
        parsed = lossless.parse(lossless.dump(value))
        if parsed != value:  # because of a tuple, or because NaN became null
            json.dumps(value, allow_nan=False, default=lossless.members)
    except ValueError as problem:
        raise NoJsonError(str(problem)) from None
    return parsed


def text(value: Any) -> str:
    """The text that Python's `json` writes for a value with numbers that JSON does not have.

    Each item of a list or a tuple has a line of its own.
    """
    if isinstance(value, (list, tuple)):
        return "[" + ",\n".join(map(_line, cast("list[Any]", value))) + "]"
    return _line(value)


def _line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=lossless.members)
