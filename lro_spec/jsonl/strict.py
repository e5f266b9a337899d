"""JSON read strictly, and compared as the suite compares it.

`loads` refuses what the standard library lets through and two readers may take differently: NaN, duplicate keys, a byte
order mark, invalid UTF-8, numbers beyond a double, bottomless nesting. `equal` ignores what honest libraries change on
the way: the spelling of numbers, the order of keys, lone surrogates.
"""

from __future__ import annotations

import json
import marshal
import math
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from json.encoder import encode_basestring_ascii
from typing import Any, NoReturn, TypeAlias, cast

from lro_spec.findings import Kind

Json: TypeAlias = Any
"""A value that JSON can hold; Python has no type for it that helps a reader."""

DEEPEST = 500
"""How deep arrays and objects may nest."""

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{}:,]|-?(?:NaN|Infinity)|[^\s"\[\]{}:,]+', re.DOTALL)
_SURROGATE = re.compile("[\ud800-\udfff]")
# A double has at most this many digits before its point; longer numbers are looked at.
_DIGITS_OF_DOUBLE = 308


class StrictJsonError(ValueError):
    """A text is not strict JSON."""

    def __init__(self, problem: str, text: str, offset: int, kind: Kind = Kind.NOT_JSON) -> None:
        self.problem = problem
        """What is wrong, without the place."""
        self.kind = kind
        self.offset = offset
        """Characters before it."""
        self.line = text.count("\n", 0, offset) + 1
        """From 1."""
        self.column = offset - (text.rfind("\n", 0, offset) + 1) + 1
        """In characters, from 1."""
        super().__init__(f"line {self.line}, column {self.column}: {problem}")


class _Refused(Exception):
    """Raised within hooks, which do not know where they are."""


class _RefusedKey(_Refused):
    """The same for a key that was there before; anything else is a number."""


def loads(source: bytes | str) -> Json:
    """The value of one JSON text. Integers keep every digit. Raises `StrictJsonError`."""
    text = _decoded(source) if isinstance(source, bytes) else source
    if text.startswith("\ufeff"):
        raise StrictJsonError("starts with a byte order mark", text, 0, Kind.BYTE_ORDER_MARK)
    if (problem := _first_too_deep(text)) is not None:
        raise problem
    try:
        return _DECODER.decode(text)
    except json.JSONDecodeError as problem:
        raise StrictJsonError(problem.msg, text, problem.pos) from None
    except RecursionError:
        raise StrictJsonError(f"nests deeper than {DEEPEST} levels", text, 0, Kind.TOO_DEEP) from None
    except _Refused:
        raise next(_refused(text)) from None


@dataclass(frozen=True, slots=True)
class Reading:
    """A well-formed text as lenient readers take it."""

    value: Json
    fits: bool = True
    """Whether each of its numbers is one, and within the range of a double."""
    undisputed: bool = True
    """Whether it has no key twice in one object, and does not nest too deep for some readers."""


def read(text: str) -> Reading:
    """Reads a text, without a word on where in it something is wrong: in a fraction of the time.

    Raises `json.JSONDecodeError` for what is not well-formed, `RecursionError` for what nests without end.
    """
    if text.startswith("\ufeff"):
        raise json.JSONDecodeError("Unexpected UTF-8 BOM (decode using utf-8-sig)", text, 0)
    shallow = _first_too_deep(text) is None
    try:
        return Reading(_DECODER.decode(text), undisputed=shallow)
    except _Refused as refused:
        value = _GRAMMAR.decode(text)
        twice = isinstance(refused, _RefusedKey)
        fits = twice and _accepts(_NUMBERS, text)
        return Reading(value, fits, not twice and shallow and _accepts(_KEYS, text))


def no_number(text: str) -> StrictJsonError | None:
    """Where the first number stands that does not fit, in a well-formed text."""
    return next((problem for problem in _refused(text) if problem.kind is Kind.BAD_NUMBER), None)


def dispute(text: str) -> StrictJsonError | None:
    """Where the first key stands that was there before, or the first bracket too deep, in a well-formed text."""
    return _first_too_deep(text) or next(
        (problem for problem in _refused(text) if problem.kind is Kind.REPEATED_KEY), None
    )


def breaks_off(text: str, at: int) -> bool:
    """Whether a text that is no JSON from *at* on ends there, or within a string that begins there."""
    return at >= len(text.rstrip()) or (text[at] == '"' and _TOKEN.match(text, at) is None)


def too_deep(value: Json, most: int = DEEPEST) -> bool:
    """Whether a value nests deeper than *most* levels: what lenient readers let through, and no recursion survives.

    Looks level by level, so that it needs no stack of its own.
    """
    level: list[Any] = [value]
    for _ in range(most):
        level = [child for parent in level for child in _members(parent) if isinstance(child, (dict, list))]
        if not level:
            return False
    return True


def _members(value: Json) -> Iterable[Any]:
    if isinstance(value, dict):
        return cast("dict[str, Any]", value).values()
    return cast("list[Any]", value) if isinstance(value, list) else ()


def equal(a: Json, b: Json) -> bool:
    """Whether two JSON values are equal as the suite reads it.

    Numbers are compared as doubles (1 is 1.0, -0.0 is 0, integers beyond ±(2^53-1) may have been rounded), objects
    whatever the order of their keys, lone surrogates as U+FFFD. true is not 1.
    """
    if type(a) in _SCALARS and type(a) is type(b) and a == b:
        return True
    if type(a) in _CONTAINERS:
        try:
            # Most that are equal are alike to the byte, which C settles; version 0 does not tell interned strings.
            if marshal.dumps(a, 0) == marshal.dumps(b, 0):
                return True
        except ValueError:  # too deep
            pass
    return canonical(a) == canonical(b)


def spelled(value: Json) -> str:
    """A text that differs for values that differ, and may for equal ones (1 and 1.0) too: cheaper than `canonical`.

    Raises `TypeError` for what is not JSON, `RecursionError` for what nests too deeply.
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
    """A text that is the same for equal values and for no others: a key for sets and counters."""
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
        before = source[: problem.start].decode("utf-8")
        bad = source[problem.start : problem.end].hex(" ")
        raise StrictJsonError(f"invalid UTF-8 (bytes {bad})", before, len(before), Kind.NOT_UTF8) from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise _RefusedKey
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
    return float(text) if len(text) > _DIGITS_OF_DOUBLE else int(text)  # int() refuses very long ones


_SCALARS = (str, int, float, bool, type(None))
_CONTAINERS = (dict, list)
_SPELL = json.JSONEncoder(sort_keys=True).encode
_DECODER = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_refuse, parse_float=_float, parse_int=_int)
_GRAMMAR = json.JSONDecoder(parse_int=_any_int)
_NUMBERS = json.JSONDecoder(parse_constant=_refuse, parse_float=_float, parse_int=_int)
_KEYS = json.JSONDecoder(object_pairs_hook=_unique, parse_int=float)


def _tokens(text: str) -> Iterator[tuple[str, int]]:
    return ((match.group(), match.start()) for match in _TOKEN.finditer(text))


def _accepts(decoder: json.JSONDecoder, text: str) -> bool:
    try:
        decoder.decode(text)
    except _Refused:
        return False
    return True


def _first_too_deep(text: str) -> StrictJsonError | None:
    if text.count("[") + text.count("{") <= DEEPEST:
        return None
    depth = 0
    for piece, offset in _tokens(text):
        if piece in "[{":
            depth += 1
            if depth > DEEPEST:
                return StrictJsonError(f"nests deeper than {DEEPEST} levels", text, offset, Kind.TOO_DEEP)
        elif piece in "]}":
            depth -= 1
    return None


def _refused(text: str) -> Iterator[StrictJsonError]:
    """What hooks refuse, in the order of the text, which is well-formed up to the first of it."""
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
                if key in keys:
                    yield StrictJsonError(f"key {key!r} occurs twice in one object", text, offset, Kind.REPEATED_KEY)
                keys.add(key)
        elif piece.lstrip("-") in ("NaN", "Infinity"):
            yield StrictJsonError(f"{piece} is not JSON", text, offset, Kind.BAD_NUMBER)
        elif piece[0] in "-0123456789" and math.isinf(float(piece)):
            shown = piece if len(piece) <= 24 else piece[:20] + "…"
            yield StrictJsonError(f"number {shown} is beyond the range of a double", text, offset, Kind.BAD_NUMBER)
