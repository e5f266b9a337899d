"""Parsing and serialising JSON-RPC messages."""

from __future__ import annotations

import json
import re
from typing import Any, cast

import orjson

from lro_proxy.wire.nesting import flatten

Message = dict[str, Any]


def members(value: object) -> Message:
    """The value itself if it is an object, otherwise an empty object."""
    return cast("Message", value) if isinstance(value, dict) else {}


def parse(line: bytes | bytearray) -> Any:
    """The JSON value of a line, also with unpaired surrogates or NaN; None if it is not JSON.

    Values that are nested too deeply become an `orjson.Fragment`.
    """
    try:
        return orjson.loads(line)
    except ValueError:
        return _parse_leniently(line)


def parse_lossless(line: bytes | bytearray) -> Any:
    """The JSON value of a line with every digit, for lines that are serialised again; None if it is not JSON."""
    from lro_spec.jsonl import lossless

    try:
        return lossless.parse(bytes(line))
    except lossless.InexactError:
        pass
    try:
        flat = flatten(line.decode(), _LENIENT.decode)  # deeply nested values could not be serialised otherwise
        return _parse_leniently(line) if flat is None else flat.fill_in(lossless.parse(flat.text))
    except (ValueError, RecursionError):
        return _parse_leniently(line)


def serialise(message: object) -> bytes:
    """A message as a line, without the line end."""
    try:
        return orjson.dumps(message)
    except TypeError:
        return json.dumps(message, separators=(",", ":")).encode()


def raw_member(line: bytes | bytearray, name: str) -> str:
    """The original JSON text of a member of a message; empty if it is absent. Raises `ValueError`."""
    text = line.decode()
    try:
        return _member(text, name)
    except RecursionError:
        flat = flatten(text, _LENIENT.decode)
        return "" if flat is None else flat.restore(_member(flat.text, name))


def _member(text: str, name: str) -> str:
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
    """The original JSON texts of the items of an array. Raises `ValueError`."""
    text = line.decode()
    try:
        return [item.encode() for item in _items(text)]
    except RecursionError:
        flat = flatten(text, _LENIENT.decode)
        return [] if flat is None else [flat.restore(item).encode() for item in _items(flat.text)]


def _items(text: str) -> list[str]:
    found: list[str] = []
    place = _after_space(text, text.index("[") + 1)
    while not text.startswith("]", place):
        _, end = _LENIENT.raw_decode(text, place)
        found.append(text[place:end])
        place = _after_space(text, end)
        place = _after_space(text, place + 1) if text.startswith(",", place) else place
    return found


def _after_space(text: str, place: int) -> int:
    found = _SPACE.match(text, place)
    return found.end() if found else place


def _parse_leniently(line: bytes | bytearray) -> Any:
    try:
        text = line.decode()
        try:
            return _LENIENT.decode(text)
        except RecursionError:
            flat = flatten(text, _LENIENT.decode)
            return None if flat is None else flat.fill_in(_LENIENT.decode(flat.text))
    except ValueError:
        return None


def _integer(text: str) -> float:
    return int(text) if len(text) < _MAX_DIGITS else float(text)


_SPACE = re.compile(r"[ \t\r\n]*")
_MAX_DIGITS = 4300
"""Maximum length of the integers that Python parses."""
_LENIENT = json.JSONDecoder(parse_int=_integer)
