"""JSON read so that it can be written again with nothing lost: every number keeps the digits it came with.

A plain parser turns 1.10 into 1.1 and 12345678901234567890123 into a float. Here such numbers stay what they were, as
fragments of JSON text that orjson writes out unchanged. What no parser can give back (a key that occurs twice in one
object) is refused, so that the caller keeps the text itself.
"""

from __future__ import annotations

import json
from typing import Any

import orjson

_SAFE_DIGITS = 18
"""An integer of so many digits fits 64 bits."""


class InexactError(ValueError):
    """The text is no JSON, or not one that can be written again without a loss."""


def parse(text: str | bytes) -> Any:
    """The value of a JSON text; numbers that a float or 64 bits would change are `orjson.Fragment`.

    `orjson.dumps` of it has every member, every element and every digit. Raises `InexactError`.
    """
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    try:
        value = orjson.loads(data)
        if orjson.dumps(value) == data or orjson.dumps(value, option=orjson.OPT_INDENT_2) == data:
            return value  # as JSON.stringify writes it: the plain parser lost nothing
    except ValueError:
        pass
    try:
        return _DECODER.decode(data.decode("utf-8", "surrogatepass"))
    except (ValueError, RecursionError) as problem:
        raise InexactError(str(problem)) from None


def _integer(text: str) -> Any:
    return int(text) if len(text) <= _SAFE_DIGITS and text != "-0" else _fragment(text)


def _fragment(text: str) -> orjson.Fragment:
    return orjson.Fragment(text.encode())


def _refuse(text: str) -> Any:
    raise InexactError(f"{text} is no JSON number")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        raise InexactError("an object has a key twice")
    return made


_DECODER = json.JSONDecoder(
    parse_int=_integer, parse_float=_fragment, parse_constant=_refuse, object_pairs_hook=_object
)
