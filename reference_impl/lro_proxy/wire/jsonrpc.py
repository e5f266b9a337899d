"""Parsing and serialising JSON-RPC messages."""

from __future__ import annotations

import json
import re
from typing import Any, cast

import orjson

from lro_spec.jsonl import lossless

Message = dict[str, Any]
TOO_DEEP = "is nested more deeply than the proxy can read"


def members(value: object) -> Message:
    """The value itself if it is an object, otherwise an empty object."""
    return cast("Message", value) if isinstance(value, dict) else {}


def parse(line: bytes | bytearray) -> Any:
    """The JSON value of a line, or None if the line is not JSON or is nested too deeply.

    Unpaired surrogates and NaN are accepted.
    """
    try:
        return orjson.loads(line)
    except ValueError:
        return _parse_leniently(line)


def parse_lossless(line: bytes | bytearray) -> Any:
    """The JSON value of a line, whose numbers keep all their digits when the value is serialised again.

    A line that cannot be parsed without loss, such as a line with a repeated key or NaN, is parsed with loss. Returns
    None if the line is not JSON or is nested too deeply.
    """
    try:
        return lossless.parse(bytes(line), allow_deep=True)
    except lossless.InexactError:
        return _parse_leniently(line)


def unreadable_reason(line: bytes | bytearray) -> str:
    """The reason why `parse` does not accept a line, as a predicate for messages."""
    try:
        _LENIENT.decode(line.decode())
    except RecursionError:
        return TOO_DEEP
    except ValueError:
        pass
    return f"is not valid JSON: {bytes(line[:80]).decode(errors='replace').strip()}…"


def serialise(message: object) -> bytes:
    """A message as a line, without the line end."""
    try:
        return orjson.dumps(message)
    except TypeError:  # an unpaired surrogate, or deep nesting
        try:
            return lossless.dump(message)
        except ValueError:  # NaN
            return json.dumps(message, separators=(",", ":")).encode()


def raw_member(line: bytes | bytearray, name: str) -> str:
    """The original JSON text of a member of a message, or an empty text if the member is absent.

    Raises `ValueError` if the message is not valid JSON, and `RecursionError` if the message is nested too deeply.
    """
    text = line.decode()
    found = ""
    place = _after_space(text, text.index("{") + 1)
    while text.startswith('"', place):
        key, end = _LENIENT.raw_decode(text, place)
        place = _after_space(text, _after_space(text, end) + 1)
        _, end = _LENIENT.raw_decode(text, place)
        found = text[place:end] if key == name else found
        place = _after_space(text, _after_space(text, end) + 1)
    return found


def raw_items(line: bytes | bytearray) -> list[bytes]:
    """The original JSON texts of the items of an array. Raises the same errors as `raw_member`."""
    text = line.decode()
    found: list[bytes] = []
    place = _after_space(text, text.index("[") + 1)
    while not text.startswith("]", place):
        _, end = _LENIENT.raw_decode(text, place)
        found.append(text[place:end].encode())
        place = _after_space(text, end)
        place = _after_space(text, place + 1) if text.startswith(",", place) else place
    return found


def _after_space(text: str, place: int) -> int:
    found = _SPACE.match(text, place)
    return found.end() if found else place


def _parse_leniently(line: bytes | bytearray) -> Any:
    try:
        return _LENIENT.decode(line.decode())
    except (ValueError, RecursionError):
        return None


def _integer(text: str) -> float:
    return int(text) if len(text) < _MAX_DIGITS else float(text)


_SPACE = re.compile(r"[ \t\r\n]*")
_MAX_DIGITS = 4300
"""Maximum length of the integers that Python parses."""
_LENIENT = json.JSONDecoder(parse_int=_integer)
