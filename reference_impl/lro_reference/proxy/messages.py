"""JSON-RPC messages as lines: how they are read and written again."""

from __future__ import annotations

import json
import re
from typing import Any, cast

import orjson

from lro_reference.proxy.deep import flattened

Message = dict[str, Any]


def members(value: object) -> Message:
    """An object; an empty one instead of anything else."""
    return cast("Message", value) if isinstance(value, dict) else {}


def parsed(line: bytes | bytearray) -> Any:
    """The value of a line, also where only a more patient parser reads it (half surrogate pairs, NaN); None if none.

    What is nested too deeply for that is an `orjson.Fragment` further down.
    """
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
        pass
    try:
        flat = flattened(line.decode(), _PATIENT.decode)  # or what is nested deeply could not be written
        return _patiently(line) if flat is None else flat.placed(exact.parse(flat.text))
    except (ValueError, RecursionError):
        return _patiently(line)


def written(message: object) -> bytes:
    """A message as a line, without its end."""
    try:
        return orjson.dumps(message)
    except TypeError:
        return json.dumps(message, separators=(",", ":")).encode()


def raw_member(line: bytes | bytearray, name: str) -> str:
    """The JSON text of a member of a message, as it was written; empty where there is none. Raises `ValueError`."""
    text = line.decode()
    try:
        return _member(text, name)
    except RecursionError:
        flat = flattened(text, _PATIENT.decode)
        return "" if flat is None else flat.restored(_member(flat.text, name))


def _member(text: str, name: str) -> str:
    found = ""
    place = _after_space(text, text.index("{") + 1)
    while text.startswith('"', place):
        key, end = _PATIENT.raw_decode(text, place)
        place = _after_space(text, _after_space(text, end) + 1)
        _, end = _PATIENT.raw_decode(text, place)
        found = text[place:end] if key == name else found
        place = _after_space(text, _after_space(text, end) + 1)
    return found


def raw_items(line: bytes | bytearray) -> list[bytes]:
    """The JSON texts of the items of an array, as they were written. Raises `ValueError`."""
    text = line.decode()
    try:
        return [item.encode() for item in _items(text)]
    except RecursionError:
        flat = flattened(text, _PATIENT.decode)
        return [] if flat is None else [flat.restored(item).encode() for item in _items(flat.text)]


def _items(text: str) -> list[str]:
    found: list[str] = []
    place = _after_space(text, text.index("[") + 1)
    while not text.startswith("]", place):
        _, end = _PATIENT.raw_decode(text, place)
        found.append(text[place:end])
        place = _after_space(text, end)
        place = _after_space(text, place + 1) if text.startswith(",", place) else place
    return found


def _after_space(text: str, place: int) -> int:
    found = _SPACE.match(text, place)
    return found.end() if found else place


def _patiently(line: bytes | bytearray) -> Any:
    try:
        text = line.decode()
        try:
            return _PATIENT.decode(text)
        except RecursionError:
            flat = flattened(text, _PATIENT.decode)
            return None if flat is None else flat.placed(_PATIENT.decode(flat.text))
    except ValueError:
        return None


def _integer(text: str) -> float:
    return int(text) if len(text) < _MOST_DIGITS else float(text)


_SPACE = re.compile(r"[ \t\r\n]*")
_MOST_DIGITS = 4300
"""Python refuses integers of more."""
_PATIENT = json.JSONDecoder(parse_int=_integer)
