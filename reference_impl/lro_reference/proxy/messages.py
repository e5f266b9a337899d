"""JSON-RPC messages as lines: how they are read and written again."""

from __future__ import annotations

import json
from typing import Any, cast

import orjson

Message = dict[str, Any]


def members(value: object) -> Message:
    """An object; an empty one instead of anything else."""
    return cast("Message", value) if isinstance(value, dict) else {}


def parsed(line: bytes | bytearray) -> Any:
    """The value of a line, also where only a more patient parser reads it (half surrogate pairs, NaN); None if none."""
    try:
        return orjson.loads(line)
    except ValueError:
        return _patiently(line)


def exactly(line: bytes | bytearray) -> Any:
    """The same for lines that are written again: no digit may be lost."""
    from lro_reference import exact

    try:
        return exact.parse(bytes(line))
    except exact.InexactError:
        return _patiently(line)


def written(message: object) -> bytes:
    """A message as a line, without its end."""
    try:
        return orjson.dumps(message)
    except TypeError:
        return json.dumps(message, separators=(",", ":")).encode()


def _patiently(line: bytes | bytearray) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None
