"""Comparison of an answer with the expected one.

There are eight comparisons, so that a runner in any language needs about forty lines for them; each is described in
``schemas/vectors.schema.json``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from lro_spec.display import show
from lro_spec.jsonl.strict import equal


def mismatch(expect: Mapping[str, Any], answer: object) -> str | None:
    """The difference between an answer and the expected one, in a sentence; None if it is as expected."""
    ((name, wanted),) = expect.items()
    return COMPARISONS[name](wanted, answer)


def _breaks(wanted: Sequence[str], answer: object) -> str | None:
    verdict = "invalid" if wanted else "valid"
    if isinstance(answer, str):
        return None if answer == verdict else _differs(_broken(wanted), show(answer))
    if not isinstance(answer, list):
        return _differs(f"{verdict!r}, or a list of requirements", show(answer))
    found = cast("list[object]", answer)
    return None if set(map(str, found)) == set(wanted) else _differs(_broken(wanted), _broken(list(map(str, found))))


def _broken(ids: Sequence[str]) -> str:
    return f"invalid by {', '.join(sorted(ids))}" if ids else "valid"


def _equals(wanted: object, answer: object) -> str | None:
    return None if equal(cast("Any", wanted), cast("Any", answer)) else _differs(show(wanted), show(answer))


def _same(wanted: Sequence[Any], answer: Any) -> str | None:
    problem = _differs(f"{show(wanted)}, in any order", show(answer))
    if not isinstance(answer, list):
        return problem
    left = list(cast("list[Any]", answer))
    for one in wanted:
        place = next((n for n, other in enumerate(left) if equal(one, other)), None)
        if place is None:
            return problem
        left.pop(place)
    return problem if left else None


def _between(wanted: Sequence[float], answer: Any) -> str | None:
    low, high = wanted
    is_number = isinstance(answer, int | float) and not isinstance(answer, bool)
    return None if is_number and low <= answer <= high else _differs(f"a number from {low} to {high}", show(answer))


def _contains(wanted: object, answer: object, path: str = "") -> str | None:
    if isinstance(wanted, dict) and isinstance(answer, dict):
        have = cast("dict[str, object]", answer)
        parts = (
            _contains(value, have.get(key), f"{path}/{key}") for key, value in cast("dict[str, object]", wanted).items()
        )
        return next((difference for difference in parts if difference is not None), None)
    if isinstance(wanted, list) and isinstance(answer, list):
        values, others = cast("list[object]", wanted), cast("list[object]", answer)
        if len(values) == len(others):
            both = enumerate(zip(values, others, strict=True))
            found = (_contains(one, other, f"{path}/{n}") for n, (one, other) in both)
            return next((difference for difference in found if difference is not None), None)
        return f"{path}: " + _differs(f"{len(values)} values", f"{len(others)}")
    difference = _equals(cast("object", wanted), answer)
    return None if difference is None else f"{path}: {difference}" if path else difference


def _any(wanted: Sequence[object], answer: object) -> str | None:
    fits = any(equal(cast("Any", one), cast("Any", answer)) for one in wanted)
    return None if fits else _differs(" or ".join(map(show, wanted)), show(answer))


def _mentions(wanted: Sequence[Sequence[str]], answer: object) -> str | None:
    text = answer.lower() if isinstance(answer, str) else ""
    missing = next((words for words in wanted if not any(word.lower() in text for word in words)), None)
    return None if missing is None else _differs(f"a text with {' or '.join(map(repr, missing))}", show(answer))


def _members(wanted: Mapping[str, Mapping[str, Any]], answer: object) -> str | None:
    if not isinstance(answer, dict):
        return _differs(f"an object with {', '.join(wanted)}", show(answer))
    have = cast("dict[str, object]", answer)
    found = ((name, mismatch(expect, have.get(name))) for name, expect in wanted.items())
    return next((f"{name}: {difference}" for name, difference in found if difference is not None), None)


def _differs(expected: str, observed: str) -> str:
    return f"expected {expected}, got {observed}"


COMPARISONS: Mapping[str, Callable[[Any, object], str | None]] = {
    "breaks": _breaks,
    "equals": _equals,
    "same": _same,
    "between": _between,
    "contains": _contains,
    "any": _any,
    "mentions": _mentions,
    "members": _members,
}
"""The comparisons by their names."""
