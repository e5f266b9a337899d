"""JSON read so that it can be written again with nothing lost: every number keeps the digits it came with.

A plain parser turns 1.10 into 1.1 and 12345678901234567890123 into a float. Here such numbers stay what they were, as
fragments of JSON text that orjson writes out unchanged. What no parser can give back (a key that occurs twice in one
object) is refused, so that the caller keeps the text itself.
"""

from __future__ import annotations

import json
import re
import secrets
from dataclasses import fields, is_dataclass
from typing import Any

import orjson

_LEAST, _MOST = -(2**63), 2**64 - 1
_DIGITS = 20
"""No integer of more digits fits 64 bits."""
_SPACE = b" \t\r\n"
_STRING = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)


class InexactError(ValueError):
    """The text is no JSON, or not one that can be written again without a loss."""


def parse(text: str | bytes, *, allow_deep: bool = False) -> Any:
    """The value of a JSON text; numbers that a float or 64 bits would change are `orjson.Fragment`.

    `orjson.dumps` of it has every member, every element and every digit; *allow_deep* also accepts nesting beyond the
    254 levels that it writes. Raises `InexactError`.
    """
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    try:
        value = orjson.loads(data)
    except ValueError:
        pass
    else:
        try:
            if is_whole(value, data):
                return value
        except InexactError:
            if not allow_deep:
                raise
    try:
        return _DECODER.decode(data.decode("utf-8", "surrogatepass"))
    except (ValueError, RecursionError) as problem:
        raise InexactError(str(problem)) from None


def dump(value: Any, *, sort_keys: bool = False) -> bytes:
    """A value, also one of `parse`, as one line of JSON; half of a surrogate pair stands there as its escape."""
    try:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS if sort_keys else None)
    except TypeError:  # half a surrogate pair, integers beyond 64 bits, nesting beyond 254 levels: rare, and slower
        return laid_out(value, separators=(",", ":"), sort_keys=sort_keys).encode("utf-8", "backslashreplace")


def laid_out(value: Any, **layout: Any) -> str:
    """A value, also one of `parse`, as `json.dumps` writes it with this *layout*, beyond ASCII as it is."""
    mark = secrets.token_hex(8)

    def marked(found: object) -> Any:
        return mark + orjson.dumps(found).decode() if isinstance(found, orjson.Fragment) else members(found)

    text = json.dumps(value, ensure_ascii=False, allow_nan=False, default=marked, **layout)
    return re.sub(f'"{mark}([^"]*)"', r"\1", text)


def members(value: object) -> Any:
    """What orjson writes of an object that `json.dumps` does not know: a dataclass, a time. Raises `TypeError`."""
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in fields(value)}
    return orjson.loads(orjson.dumps(value))


def is_whole(value: Any, data: bytes) -> bool:
    """Whether orjson, which read *value* from *data*, has lost nothing but spaces. Raises `InexactError`.

    It may lose digits and members. It has lost none where what it writes has the same tokens: spaces apart, and strings
    apart that are spelt in another way, for as many strings in the same places are the same strings.
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
    as_python_writes = json.dumps(value).encode()  # it spells strings and small floats in another way
    return as_python_writes.translate(None, _SPACE) == spaceless or _tokens(again) == _tokens(data)


def _tokens(data: bytes) -> bytes:
    return _STRING.sub(b'"', data).translate(None, _SPACE)


def _integer(text: str) -> Any:
    number = int(text) if len(text) <= _DIGITS and text != "-0" else None
    return _fragment(text) if number is None or not _LEAST <= number <= _MOST else number


def _decimal(text: str) -> Any:
    number = float(text)
    return number if repr(number) == text else _fragment(text)


def _fragment(text: str) -> orjson.Fragment:
    return orjson.Fragment(text.encode())


def _refuse(text: str) -> Any:
    raise InexactError(f"{text} is no JSON number")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        raise InexactError("an object has a key twice")
    return made


_DECODER = json.JSONDecoder(parse_int=_integer, parse_float=_decimal, parse_constant=_refuse, object_pairs_hook=_object)
