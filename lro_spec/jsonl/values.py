"""Findings about Python values that strict JSON cannot express, and about texts that are not strict JSON.

`whole_number` reads whole numbers by the rules of JSON Schema.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from typing import Any, cast

from lro_spec.display import pointer, show
from lro_spec.findings import Finding, Kind
from lro_spec.jsonl.strict import MAX_LEVELS, StrictJsonError, loads

Path = tuple[str | int, ...]

_SURROGATE = re.compile("[\ud800-\udfff]")
_QUOTED_LENGTH = 30
"""Number of characters after a problem that are quoted in a finding."""
_PLAIN_TYPES = (str, bool, type(None))


def whole_number(value: object) -> int | None:
    """Return a number without a fraction as an `int`, or None for any other value. ``3.0`` has no fraction."""
    if isinstance(value, float):
        return int(value) if value.is_integer() else None
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def not_json(value: object) -> Iterator[tuple[Path, Finding]]:
    """Findings about parts of a value that are not strict JSON, or that readers treat differently, each with its path.

    All findings have the rule ``json``. NaN, infinities, numbers beyond a double, values and keys of types that JSON
    does not have, and values that contain themselves or are nested too deeply are errors. Half of a surrogate pair is a
    warning. A value that was returned by `lro_spec.jsonl.strict.loads` can only have the warning.
    """
    pending: list[tuple[Path, object, bool]] = [((), value, True)]
    open_containers: set[int] = set()
    while pending:
        path, part, is_entered = pending.pop()
        if not is_entered:
            open_containers.discard(id(part))
        elif isinstance(part, dict | list | tuple):
            if id(cast("object", part)) in open_containers or len(path) >= MAX_LEVELS:
                message = (
                    "a value contains itself"
                    if id(cast("object", part)) in open_containers
                    else "a value is nested too deeply"
                )
                yield path, _error(path, Kind.TOO_DEEP, message, f"at most {MAX_LEVELS} levels", "more of them")
                continue
            open_containers.add(id(cast("object", part)))
            pending.append((path, cast("object", part), False))
            if isinstance(part, dict):
                names = list(cast("dict[Any, object]", part))
                for name in names:
                    if not isinstance(name, str):
                        yield (
                            path,
                            _error(path, Kind.WRONG_TYPE, "a key is not a string", "keys that are strings", show(name)),
                        )
                    elif _SURROGATE.search(name):
                        yield path, _half((*path, name), name)
            children = [(p, child, True) for p, child in _children(path, cast("Any", part))]
            pending += reversed(children)
        elif isinstance(part, str):
            if not part.isascii() and _SURROGATE.search(part):
                yield path, _half(path, part)
        elif not isinstance(part, _PLAIN_TYPES) and (finding := _number(path, part)) is not None:
            yield path, finding


def problems(texts: Iterable[str]) -> Iterator[tuple[StrictJsonError, str]]:
    """The problem of each text that is not strict JSON, together with the text."""
    for text in texts:
        try:
            loads(text)
        except StrictJsonError as problem:
            yield problem, text


def not_strict(problem: StrictJsonError, text: str, place: str = "") -> Finding:
    """The finding that a text is not strict JSON. It quotes the text that follows the problem."""
    near = text[problem.offset : problem.offset + _QUOTED_LENGTH]
    observed = show(near) if near.strip() else "the end of the text"
    hint = "two readers may read different values" if problem.kind is Kind.REPEATED_KEY else ""
    return Finding("json", problem.kind, place, problem.problem, "strict JSON in UTF-8", observed, hint)


def _children(path: Path, value: Any) -> Iterable[tuple[Path, object]]:
    if isinstance(value, dict):
        members = cast("dict[Any, object]", value)
        return [((*path, name), child) for name, child in members.items() if isinstance(name, str)]
    return [((*path, place), child) for place, child in enumerate(cast("list[object]", value))]


def _number(path: Path, value: object) -> Finding | None:
    """Return the finding about a value that is not a string, container, boolean or null, or None if it is a valid
    number."""
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
