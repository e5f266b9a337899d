"""JSON without the ``json`` package, whose regular expressions cost more start-up time than the whole server."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def _refuse(value: object) -> Any:
    raise TypeError(f"{type(value).__name__} is not JSON")


class _Reading:
    strict = True
    object_hook = None
    object_pairs_hook = None
    parse_float = float
    parse_int = int
    memo: dict[str, str] = {}  # noqa: RUF012 - the scanner wants the attribute

    @staticmethod
    def parse_constant(name: str) -> Any:
        raise ValueError(f"{name} is not JSON")


try:
    from _json import encode_basestring, make_encoder, make_scanner

    _scan: Any = make_scanner(_Reading)  # pyright: ignore[reportArgumentType, reportUnknownVariableType]
    _encode: Any = make_encoder(None, _refuse, encode_basestring, None, ": ", ", ", False, False, False)  # pyright: ignore

    def loads(text: str) -> Any:
        """The value of a JSON text. Raises `ValueError` for anything else."""
        text = text.strip(" \t\r\n")
        try:
            value, end = _scan(text, 0)
        except StopIteration as stop:
            raise ValueError(f"no JSON value at character {stop.value}") from None
        if end != len(text):
            raise ValueError(f"something follows the JSON value at character {end}")
        return value

    def dumps(value: Any) -> str:
        """One line of JSON, other scripts unescaped. Raises `ValueError` for NaN and infinities."""
        return "".join(_encode(value, 0))

except ImportError:  # not CPython
    import json

    def loads(text: str) -> Any:
        """The value of a JSON text. Raises `ValueError` for anything else."""
        return json.loads(text, parse_constant=_Reading.parse_constant)

    def dumps(value: Any) -> str:
        """One line of JSON, other scripts unescaped. Raises `ValueError` for NaN and infinities."""
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
