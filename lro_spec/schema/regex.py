"""Regular expressions of JSON Schema, in the dialect of ECMA-262; its character classes differ from Python's.

In ECMA-262 ``\\w``, ``\\d`` and ``\\b`` are ASCII only, ``\\s`` is every white space of Unicode, and ``\\p{L}`` exists.
Servers validate in one dialect or the other, so a text violates a pattern only if it does not match in either of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError
    from jsonschema.protocols import Validator

_SPACE = r"\s\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
_PARTS = re.compile(r"\\.|\[\^?\]?|\]", re.DOTALL)
_CLASSES = re.compile(r"\\[wWdDsSbB]")


def compiles(pattern: str) -> bool:
    """True if Python can compile a text as a regular expression."""
    try:
        re.compile(pattern)
    except (re.error, RecursionError, OverflowError):
        return False
    return True


def is_evaluated(pattern: str) -> bool:
    """True if `matches` can evaluate an expression, because Python or jsonschema-rs supports it."""
    return compiles(pattern) or _in_rust(pattern) is not None


def matches(pattern: str, text: str) -> bool:
    """True if a text matches in at least one of the two dialects, or if the expression cannot be evaluated."""
    if not compiles(pattern):
        rust_validator = _in_rust(pattern)
        try:
            return rust_validator is None or bool(rust_validator.is_valid(text))
        except ValueError:  # half a surrogate pair, which jsonschema-rs cannot represent
            return True
    if re.search(pattern, text):
        return True
    ecma = _as_ecma(pattern)
    return ecma is not None and ecma.search(text) is not None


@lru_cache(maxsize=8)
def with_both_dialects(kind: type[Validator]) -> type[Validator]:
    """The validator class *kind*, extended: a string matches a pattern if it matches in one of the two dialects.

    There is one exception: if Python supports a pattern of ``patternProperties``, only fields whose names match it in
    Python's dialect have to satisfy its schema.
    """
    from jsonschema.validators import extend  # pyright: ignore[reportUnknownVariableType]

    keywords = {
        "pattern": _pattern,
        "patternProperties": _pattern_properties,
        "additionalProperties": _additional_properties,
    }
    return cast("type[Validator]", cast("Any", extend)(kind, keywords))


def _pattern(validator: Any, pattern: str, instance: object, _: object) -> Iterator[ValidationError]:
    from jsonschema.exceptions import ValidationError

    if isinstance(instance, str) and not matches(pattern, instance):
        yield ValidationError(f"{instance!r} does not match {pattern!r}")


def _pattern_properties(
    validator: Any, patterns: Mapping[str, Any], instance: object, _: object
) -> Iterator[ValidationError]:
    members = cast("dict[str, Any]", instance) if isinstance(instance, dict) else {}
    for pattern, schema in patterns.items():
        for name, value in members.items() if is_evaluated(pattern) else ():
            if _matches_name(pattern, name):
                yield from validator.descend(value, schema, path=name, schema_path=pattern)


def _additional_properties(
    validator: Any, allowed: object, instance: object, schema: Mapping[str, Any]
) -> Iterator[ValidationError]:
    from jsonschema.exceptions import ValidationError

    patterns, known = schema.get("patternProperties", {}), schema.get("properties", {})
    names = cast("dict[str, Any]", instance) if isinstance(instance, dict) else {}
    others = [name for name in names if name not in known and not any(matches(p, name) for p in patterns)]
    if isinstance(allowed, dict):
        for name in others:
            yield from validator.descend(names[name], allowed, path=name)
    elif not allowed and others:
        listing = ", ".join(map(repr, others))
        yield ValidationError(f"Additional properties are not allowed ({listing} {_were(others)} unexpected)")


def _matches_name(pattern: str, name: str) -> bool:
    """True if an expression matches the name of a field, in Python's dialect if Python supports it, otherwise in
    ECMA-262's."""
    return re.search(pattern, name) is not None if compiles(pattern) else matches(pattern, name)


def _were(names: list[str]) -> str:
    return "was" if len(names) == 1 else "were"


@lru_cache(maxsize=256)
def _in_rust(pattern: str) -> Any:
    """Return an expression that Python does not support, compiled by jsonschema-rs, or None if jsonschema-rs does not
    support it either."""
    import jsonschema_rs

    try:
        return jsonschema_rs.validator_for({"pattern": pattern}, offline=True)
    except (ValueError, RecursionError, OverflowError):
        return None


@lru_cache(maxsize=256)
def _as_ecma(pattern: str) -> re.Pattern[str] | None:
    """Return the expression for Python, with the character classes of ECMA-262. Returns None if the expression contains
    no class that differs, or if Python does not support it."""
    if not _CLASSES.search(pattern):
        return None
    in_class = False

    def translated(part: re.Match[str]) -> str:
        nonlocal in_class
        text = part[0]
        if text[0] == "[" and not in_class:
            in_class = True
        elif text == "]":
            in_class = False
        elif text == r"\s":
            return _SPACE if in_class else f"[{_SPACE}]"
        elif text == r"\S" and not in_class:
            return f"[^{_SPACE}]"
        return text

    try:
        return re.compile(_PARTS.sub(translated, pattern), re.ASCII)
    except (re.error, ValueError, RecursionError, OverflowError):
        return None
