"""A strict JSON reader with positions, and the suite's comparison of JSON values.

`loads` refuses what two readers may understand differently: NaN, repeated keys, a byte order mark, invalid UTF-8,
numbers beyond a double, excessive nesting. The only exception is half of a surrogate pair, which it accepts. `read`
returns the value that lenient readers get, with its problems: a repeated key, a bad number, excessive nesting, half of
a surrogate pair. `position` finds the value of a JSON pointer in a text. `equal` ignores differences that correct
libraries introduce: the spelling of numbers, the order of keys, lone surrogates.
"""

from __future__ import annotations

import json
import marshal
import math
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from json.encoder import encode_basestring_ascii
from typing import Any, NoReturn, TypeAlias, cast

import orjson

from lro_spec.findings import Kind

Json: TypeAlias = Any
"""Any JSON value; Python has no type for it that would help a reader."""

MAX_LEVELS = 500
"""Largest number of levels of nested arrays and objects that is accepted."""

_ORJSON_LEVELS = 254
"""Deepest nesting that orjson writes; for deeper values it raises `TypeError`."""

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{}:,]|-?(?:NaN|Infinity)|[^\s"\[\]{}:,]+', re.DOTALL)
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|.)")
_BEFORE_VALUE = re.compile(r"[ \t\r\n]*:?[ \t\r\n]*")
_AFTER_VALUE = re.compile(r"[ \t\r\n]*(?:,[ \t\r\n]*)?")
_SPACE = " \t\r\n"
_SURROGATE = re.compile("[\ud800-\udfff]")
_DIGITS_OF_DOUBLE = 308
"""An integer of at most this many digits is within the range of a double; a longer one has to be examined."""


class StrictJsonError(ValueError):
    """A text is not strict JSON."""

    def __init__(self, problem: str, text: str, offset: int, kind: Kind = Kind.NOT_JSON) -> None:
        self.problem = problem
        """The problem, without its place."""
        self.kind = kind
        self.offset = offset
        """Number of characters before the problem."""
        self.line = text.count("\n", 0, offset) + 1
        """From 1."""
        self.column = offset - (text.rfind("\n", 0, offset) + 1) + 1
        """In characters, from 1."""
        super().__init__(f"line {self.line}, column {self.column}: {problem}")


class _Refused(Exception):
    """Raised in hooks of the decoder, which do not know their position in the text."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A well-formed text as lenient readers understand it."""

    value: Json
    problems: tuple[StrictJsonError, ...] = ()
    """The first problem of each kind, in the order of the text: a repeated key, NaN or a number beyond a double,
    excessive nesting, half of a surrogate pair."""


def loads(source: bytes | str) -> Json:
    """The value of one JSON text. Integers keep every digit. Raises `StrictJsonError`.

    Half of a surrogate pair is accepted, because it matters only in some values.
    """
    text = _decoded(source) if isinstance(source, bytes) else source
    deep = _first_too_deep(text)
    if deep is not None:
        try:
            raise deep
        finally:
            del deep  # otherwise the error, its traceback and this frame keep the text until garbage is collected
    try:
        return _decode(_STRICT, text)
    except _Refused:
        raise next(_refused(text)) from None


def read(text: str) -> Reading:
    """The value of one JSON text, and the reasons why readers may disagree on it.

    Raises `StrictJsonError` if the text is not well-formed, starts with a byte order mark, or is nested too deeply for
    Python.
    """
    try:
        value, problems = _decode(_STRICT, text), list[StrictJsonError]()
    except _Refused:
        value, problems = _decode(_LENIENT, text), list(_refused(text))
    problems += filter(None, (_first_too_deep(text), _first_half_pair(text)))
    return Reading(value, tuple(sorted(problems, key=lambda each: each.offset)))


def position(text: str, pointer: str) -> int | None:
    """The index of the first character of the value at a JSON pointer; None if there is no such value.

    If a key occurs twice, the last one counts, as it does for most readers.
    """
    try:
        index = _skip(text, 0)
        for escaped in pointer.split("/")[1:]:
            part = escaped.replace("~1", "/").replace("~0", "~")
            inner = _member(text, index, part) if text[index] == "{" else _item(text, index, int(part))
            if inner is None:
                return None
            index = inner
    except (ValueError, IndexError, RecursionError):
        return None
    return index


def nearest_position(text: str, pointer: str) -> int:
    """Like `position`, but if the value does not exist, the index of the innermost existing value on the path to it."""
    while True:
        index = position(text, pointer)
        if index is not None or not pointer:
            return index or 0
        pointer = pointer.rpartition("/")[0]


def is_cut_off(text: str, index: int) -> bool:
    """True if a text that is invalid from *index* on is cut off: if it ends there, or within a string that begins
    there."""
    return index >= len(text.rstrip()) or (text[index] == '"' and _TOKEN.match(text, index) is None)


def too_deep(value: Json, max_levels: int = MAX_LEVELS) -> bool:
    """True if a value is nested deeper than *max_levels* levels. Lenient readers accept such values, but recursive code
    fails on them.

    A value that orjson can write has at most 254 levels. Any other value is examined level by level, without recursion.
    """
    if max_levels >= _ORJSON_LEVELS:
        with suppress(TypeError):
            orjson.dumps(value)
            return False
    level: list[Any] = [value]
    for _ in range(max_levels):
        level = [child for parent in level for child in _members(parent) if isinstance(child, (dict, list))]
        if not level:
            return False
    return True


def _members(value: Json) -> Iterable[Any]:
    if isinstance(value, dict):
        return cast("dict[str, Any]", value).values()
    return cast("list[Any]", value) if isinstance(value, list) else ()


def equal(a: Json, b: Json) -> bool:
    """True if the suite treats two JSON values as equal.

    Numbers are compared as doubles (1 equals 1.0, -0.0 equals 0, and integers beyond ±(2^53-1) may have been rounded).
    Objects are compared regardless of the order of their keys, and lone surrogates as U+FFFD. true does not equal 1.
    """
    if type(a) in _SCALARS and type(a) is type(b) and a == b:
        return True
    return (type(a) in _CONTAINERS and surely_equal(a, b)) or canonical(a) == canonical(b)


def surely_equal(a: Json, b: Json) -> bool:
    """True if two values are spelled alike, and are therefore equal.

    This quick test recognises most equal values. If it returns false, the values may still be equal.
    """
    bytes_of_a = bytes_of(a)
    return bytes_of_a is not None and bytes_of_a == bytes_of(b)


def bytes_of(value: Json) -> bytes | None:
    """Return bytes that are the same for two values exactly if the values are spelled alike. Returns None if the value
    is nested too deeply."""
    try:
        return marshal.dumps(value, 0)  # version 0 does not mark interned strings
    except ValueError:
        return None


def spelling(value: Json) -> str:
    """A text that is different for different values, and may also be different for equal values, such as 1 and 1.0.

    It is computed faster than `canonical`. Raises `TypeError` for a value that is not JSON, and `RecursionError` for a
    value that is nested too deeply.
    """
    return _SPELL(value)


def number_of(value: Json) -> float | None:
    """A JSON number as a double, the way jq reads it; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        return float(value) + 0.0
    except OverflowError:
        return sys.float_info.max if value > 0 else -sys.float_info.max


def canonical(value: Json) -> str:
    """A text that is the same for equal values and different for others. It serves as a key for sets and counters."""
    parts: list[str] = []
    _write(value, parts)
    return "".join(parts)


def _write(value: Json, parts: list[str]) -> None:
    # Plain loops: a comprehension would double the depth of the Python stack.
    if isinstance(value, str):
        parts.append(_text(value))
    elif value is None or isinstance(value, bool):
        parts.append(_CONSTANTS[value])
    elif isinstance(value, (int, float)):
        parts.append(repr(_double(value)))
    elif isinstance(value, dict):
        members: list[str] = []
        for key, member in cast("dict[str, Any]", value).items():
            inner = [_text(key), ":"]
            _write(member, inner)
            members.append("".join(inner))
        parts.append("{" + ",".join(sorted(members)) + "}")
    elif isinstance(value, (list, tuple)):
        parts.append("[")
        for item in cast("list[Any]", value):
            _write(item, parts)
            parts.append(",")
        parts.append("]")
    else:
        raise TypeError(f"{type(value).__name__} is not a JSON value")


_CONSTANTS = {None: "null", True: "true", False: "false"}


def _text(value: str) -> str:
    return encode_basestring_ascii(value if value.isascii() else _SURROGATE.sub("\ufffd", value))


def _double(value: float) -> float:
    try:
        return float(value) + 0.0  # -0.0 + 0.0 is 0.0
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _decoded(source: bytes) -> str:
    try:
        return source.decode("utf-8")
    except UnicodeDecodeError as problem:
        text_before = source[: problem.start].decode("utf-8")
        bad_bytes = source[problem.start : problem.end].hex(" ")
        raise StrictJsonError(
            f"invalid UTF-8 (bytes {bad_bytes})", text_before, len(text_before), Kind.NOT_UTF8
        ) from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise _Refused
    return members


def _refuse(_: str) -> NoReturn:
    raise _Refused


def _float(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise _Refused
    return value


def _int(text: str) -> int:
    if len(text) > _DIGITS_OF_DOUBLE and math.isinf(float(text)):
        raise _Refused
    return int(text)


def _any_int(text: str) -> float:
    return float(text) if len(text) > _DIGITS_OF_DOUBLE else int(text)  # int() refuses very long numbers


_SCALARS = (str, int, float, bool, type(None))
_CONTAINERS = (dict, list)
_SPELL = json.JSONEncoder(sort_keys=True).encode
_STRICT = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_refuse, parse_float=_float, parse_int=_int)
_LENIENT = json.JSONDecoder(parse_int=_any_int)


def _decode(decoder: json.JSONDecoder, text: str) -> Json:
    if text.startswith("\ufeff"):
        raise StrictJsonError("starts with a byte order mark", text, 0, Kind.BYTE_ORDER_MARK)
    try:
        return decoder.decode(text)
    except json.JSONDecodeError as problem:
        raise StrictJsonError(problem.msg, text, problem.pos) from None
    except RecursionError:
        raise StrictJsonError(f"it is nested deeper than {MAX_LEVELS} levels", text, 0, Kind.TOO_DEEP) from None


def _tokens(text: str) -> Iterator[tuple[str, int]]:
    return ((match.group(), match.start()) for match in _TOKEN.finditer(text))


def _first_too_deep(text: str) -> StrictJsonError | None:
    if text.count("[") + text.count("{") <= MAX_LEVELS:
        return None
    depth = 0
    for piece, offset in _tokens(text):
        if piece in "[{":
            depth += 1
            if depth > MAX_LEVELS:
                return StrictJsonError(f"it is nested deeper than {MAX_LEVELS} levels", text, offset, Kind.TOO_DEEP)
        elif piece in "]}":
            depth -= 1
    return None


def _refused(text: str) -> Iterator[StrictJsonError]:
    """The first repeated key and the first invalid number, in the order of the text. The text must be well-formed up to
    these places."""
    key_reported = number_reported = False
    open_keys: list[set[str] | None] = []
    expects_key = False
    for piece, offset in _tokens(text):
        if piece in "[{":
            open_keys.append(set() if piece == "{" else None)
            expects_key = piece == "{"
        elif piece in "]}":
            open_keys.pop()
        elif piece in ",:":
            expects_key = piece == "," and open_keys[-1] is not None
        elif piece.startswith('"'):
            keys = open_keys[-1] if expects_key and open_keys else None
            if keys is not None:
                key = cast("str", json.loads(piece))
                if key in keys and not key_reported:
                    key_reported = True
                    yield StrictJsonError(f"key {key!r} occurs twice in one object", text, offset, Kind.REPEATED_KEY)
                keys.add(key)
        elif number_reported:
            continue
        elif piece.lstrip("-") in ("NaN", "Infinity"):
            number_reported = True
            yield StrictJsonError(f"{piece} is not JSON", text, offset, Kind.BAD_NUMBER)
        elif piece[0] in "-0123456789" and math.isinf(float(piece)):
            number_reported = True
            shortened = piece if len(piece) <= 24 else piece[:20] + "…"
            yield StrictJsonError(f"number {shortened} is beyond the range of a double", text, offset, Kind.BAD_NUMBER)


def _first_half_pair(text: str) -> StrictJsonError | None:
    """The first escaped half of a surrogate pair without the other half, in a well-formed text."""
    high: int | None = None
    for escape in _ESCAPE.finditer(text) if "\\u" in text else ():
        code = int(escape[1] or "0", 16)
        if high is not None:
            if escape.start() != high + 6 or not 0xDC00 <= code <= 0xDFFF:
                return _half_pair(text, high)
            high = None
        elif 0xDC00 <= code <= 0xDFFF:
            return _half_pair(text, escape.start())
        elif 0xD800 <= code <= 0xDBFF:
            high = escape.start()
    return None if high is None else _half_pair(text, high)


def _half_pair(text: str, offset: int) -> StrictJsonError:
    return StrictJsonError("half of a surrogate pair", text, offset, Kind.LONE_SURROGATE)


_value_and_end = json.JSONDecoder().raw_decode


def _member(text: str, index: int, key: str) -> int | None:
    last = None
    index = _skip(text, index + 1)
    while text[index] != "}":
        name, index = _value_and_end(text, index)
        value = _end_of_match(_BEFORE_VALUE, text, index)
        if name == key:
            last = value
        index = _next(text, value)
    return last


def _item(text: str, index: int, items_left: int) -> int | None:
    if text[index] != "[":
        return None
    index = _skip(text, index + 1)
    while text[index] != "]":
        if items_left == 0:
            return index
        items_left -= 1
        index = _next(text, index)
    return None


def _next(text: str, value: int) -> int:
    """The start of the next value, or of the bracket that closes the container."""
    return _end_of_match(_AFTER_VALUE, text, _value_and_end(text, value)[1])


def _end_of_match(pattern: re.Pattern[str], text: str, index: int) -> int:
    space = pattern.match(text, index)
    return index if space is None else space.end()


def _skip(text: str, index: int) -> int:
    while text[index] in _SPACE:
        index += 1
    return index
