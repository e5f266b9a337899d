"""Findings about Python values that strict JSON cannot express, and about texts that are not strict JSON; and whole
numbers by the rules of JSON Schema."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from typing import Any, cast

from lro_spec.display import pointer, show
from lro_spec.findings import Finding, Kind
from lro_spec.jsonl.strict import DEEPEST, StrictJsonError, loads

Path = tuple[str | int, ...]

_SURROGATE = re.compile("[\ud800-\udfff]")
_NEAR = 30
"""Number of characters that a finding quotes, from the problem on."""
_PLAIN = (str, bool, type(None))


def whole_number(value: object) -> int | None:
    """A number without a fraction as an `int`: also ``3.0``, as in JSON Schema. None for anything else."""
    if isinstance(value, float):
        return int(value) if value.is_integer() else None
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def not_json(value: object) -> Iterator[tuple[Path, Finding]]:
    """Findings about parts of a value that are not strict JSON, or that readers treat differently, each with its path.

    All have the rule ``json``. Errors are NaN, infinities, numbers beyond a double, values and keys of types that JSON
    does not have, and values that contain themselves or are nested too deeply; half of a surrogate pair is a warning.
    For a value that `lro_spec.jsonl.strict.loads` returned, only the warning is possible.
    """
    left: list[tuple[Path, object, bool]] = [((), value, True)]
    inside: set[int] = set()
    while left:
        path, one, enters = left.pop()
        if not enters:
            inside.discard(id(one))
        elif isinstance(one, dict | list | tuple):
            if id(cast("object", one)) in inside or len(path) >= DEEPEST:
                message = (
                    "a value contains itself" if id(cast("object", one)) in inside else "a value is nested too deeply"
                )
                yield path, _error(path, Kind.TOO_DEEP, message, f"at most {DEEPEST} levels", "more of them")
                continue
            inside.add(id(cast("object", one)))
            left.append((path, cast("object", one), False))
            if isinstance(one, dict):
                names = list(cast("dict[Any, object]", one))
                for name in names:
                    if not isinstance(name, str):
                        yield (
                            path,
                            _error(path, Kind.WRONG_TYPE, "a key is not a string", "keys that are strings", show(name)),
                        )
                    elif _SURROGATE.search(name):
                        yield path, _half((*path, name), name)
            children = [(p, child, True) for p, child in _children(path, cast("Any", one))]
            left += reversed(children)
        elif isinstance(one, str):
            if not one.isascii() and _SURROGATE.search(one):
                yield path, _half(path, one)
        elif not isinstance(one, _PLAIN) and (finding := _number(path, one)) is not None:
            yield path, finding


def problems(texts: Iterable[str]) -> Iterator[tuple[StrictJsonError, str]]:
    """The problem of each text that is not strict JSON, together with the text."""
    for text in texts:
        try:
            loads(text)
        except StrictJsonError as problem:
            yield problem, text


def not_strict(problem: StrictJsonError, text: str, place: str = "") -> Finding:
    """The finding that a text is not strict JSON; it quotes the text at the problem."""
    near = text[problem.offset : problem.offset + _NEAR]
    observed = show(near) if near.strip() else "the end of the text"
    hint = "two readers may read different values" if problem.kind is Kind.REPEATED_KEY else ""
    return Finding("json", problem.kind, place, problem.problem, "strict JSON in UTF-8", observed, hint)


def _children(path: Path, value: Any) -> Iterable[tuple[Path, object]]:
    if isinstance(value, dict):
        members = cast("dict[Any, object]", value)
        return [((*path, name), child) for name, child in members.items() if isinstance(name, str)]
    return [((*path, place), child) for place, child in enumerate(cast("list[object]", value))]


def _number(path: Path, value: object) -> Finding | None:
    """The finding about a value that is not a string, container, boolean or null; None if it is a valid number."""
    if not isinstance(value, int | float):
        return _error(path, Kind.WRONG_TYPE, "a value has a type that JSON does not have", "a JSON value", show(value))
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if math.isnan(number) or (math.isinf(number) and isinstance(value, float)):
        return _error(
            path, Kind.BAD_NUMBER, f"{show(value)} is not JSON", "a number that a double can hold", show(value)
        )
    if math.isinf(number):
        message = "a number is beyond the range of a double"
        return _error(path, Kind.BAD_NUMBER, message, "a number that a double can hold", "a larger one")
    return None


def _half(path: Path, text: str) -> Finding:
    half = _SURROGATE.search(text)
    message, hint = (
        "a string has half of a surrogate pair",
        "readers replace it or reject it; cut strings between characters only",
    )
    observed = f"\\u{ord(half.group()):04x}" if half is not None else ""
    return Finding(
        "json",
        Kind.LONE_SURROGATE,
        pointer(list(path)),
        message,
        "Unicode characters",
        observed,
        hint,
        severity="warning",
    )


def _error(path: Path, kind: Kind, message: str, expected: str, observed: str) -> Finding:
    return Finding("json", kind, pointer(list(path)), message, expected, observed)
