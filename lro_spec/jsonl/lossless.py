"""The lossless JSON reader and writer: every number keeps its digits.

A plain parser turns 1.10 into 1.1 and 12345678901234567890123 into a float. Here such numbers remain fragments of JSON
text, which orjson writes unchanged. A text that no value can represent (an object with a repeated key) is refused, so
that the caller keeps the text itself. orjson is tried first, because it reads most texts without loss, and takes 5 µs
for a record. Python's decoder takes 12 µs.
"""

from __future__ import annotations

import json
import re
import secrets
from dataclasses import fields, is_dataclass
from typing import Any

import orjson

_MIN_INTEGER, _MAX_INTEGER = -(2**63), 2**64 - 1
"""The least and the greatest integer that orjson reads and writes exactly."""
_MAX_DIGITS = 20
"""Maximum number of characters of an integer between `_MIN_INTEGER` and `_MAX_INTEGER`, including its sign."""
_SPACE = b" \t\r\n"
_STRING = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)


class InexactError(ValueError):
    """The text is not JSON, or cannot be read and written without loss."""


def parse(text: str | bytes, *, allow_deep: bool = False) -> Any:
    """The value of a JSON text. A number that would be changed by a float or by 64 bits becomes an `orjson.Fragment`.

    `dump` of the result has every member, element and digit. `orjson.dumps` writes the same, but refuses half of a
    surrogate pair, and more than 254 levels of nesting.

    Raises `InexactError` if the text is not JSON, or cannot be represented without loss. If *allow_deep* is false, also
    raises it for a text with more than 254 levels. But if orjson cannot read a text, for example because of half of a
    surrogate pair, the text may have more levels in any case.
    """
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    try:
        value = orjson.loads(data)
    except ValueError:
        pass
    else:
        try:
            if is_lossless(value, data):
                return value
        except InexactError:
            if not allow_deep:
                raise
    try:
        return _DECODER.decode(data.decode("utf-8", "surrogatepass"))
    except (ValueError, RecursionError) as problem:
        raise InexactError(str(problem)) from None


def dump(value: Any, *, sort_keys: bool = False) -> bytes:
    """A value, including one from `parse`, as one line of JSON; half of a surrogate pair is written as its escape."""
    try:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS if sort_keys else None)
    except TypeError:  # rare: half a surrogate pair, an integer beyond 64 bits, or nesting beyond 254 levels
        return dump_with_layout(value, separators=(",", ":"), sort_keys=sort_keys).encode("utf-8", "backslashreplace")


def dump_with_layout(value: Any, **layout: Any) -> str:
    """A value, including one from `parse`, as `json.dumps` writes it, but not escaped to ASCII. *layout* are keyword
    arguments of `json.dumps`, such as ``indent``."""
    sentinel = secrets.token_hex(8)

    def default(part: object) -> Any:
        return sentinel + orjson.dumps(part).decode() if isinstance(part, orjson.Fragment) else members(part)

    text = json.dumps(value, ensure_ascii=False, allow_nan=False, default=default, **layout)
    return re.sub(f'"{sentinel}([^"]*)"', r"\1", text)


def members(value: object) -> Any:
    """The JSON value of an object that orjson can write and `json.dumps` cannot: a dataclass, a time.

    Raises `TypeError` for any other object.
    """
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in fields(value)}
    return orjson.loads(orjson.dumps(value))


def is_lossless(value: Any, data: bytes) -> bool:
    """True if orjson lost nothing but spaces when it read *value* from *data*. Raises `InexactError` if the value is
    nested too deeply to be written again.

    orjson can lose digits and members. It lost nothing if it writes the same tokens again, apart from spaces and the
    spelling of strings. Strings are not compared, because orjson keeps them: if two texts have the same number of
    strings in the same places, the strings are the same.
    """
    try:
        again = orjson.dumps(value)
    except TypeError as problem:  # nested too deeply
        raise InexactError(str(problem)) from None
    if again == data:
        return True
    spaceless = data.translate(None, _SPACE)
    if again.translate(None, _SPACE) == spaceless:
        return True
    # Escapes that JSON does not have (\x, \U) occur in no JSON text, so they cannot make different texts equal.
    if again.decode().encode("ascii", "backslashreplace").translate(None, _SPACE) == spaceless:
        return True
    as_python_writes = json.dumps(value).encode()  # Python and orjson spell strings and small floats differently
    return as_python_writes.translate(None, _SPACE) == spaceless or _tokens(again) == _tokens(data)


def _tokens(data: bytes) -> bytes:
    return _STRING.sub(b'"', data).translate(None, _SPACE)


def _integer(text: str) -> Any:
    number = int(text) if len(text) <= _MAX_DIGITS and text != "-0" else None
    return _fragment(text) if number is None or not _MIN_INTEGER <= number <= _MAX_INTEGER else number


def _decimal(text: str) -> Any:
    number = float(text)
    return number if repr(number) == text else _fragment(text)


def _fragment(text: str) -> orjson.Fragment:
    return orjson.Fragment(text.encode())


def _refuse(text: str) -> Any:
    raise InexactError(f"{text} is not a JSON number")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members_by_key = dict(pairs)
    if len(members_by_key) < len(pairs):
        raise InexactError("an object has a key twice")
    return members_by_key


_DECODER = json.JSONDecoder(parse_int=_integer, parse_float=_decimal, parse_constant=_refuse, object_pairs_hook=_object)
