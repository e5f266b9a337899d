"""Comparison of an answer with the rules of a vector. Each rule is about one place in the answer.

There are only three kinds of rules, so that a runner in any language needs about ten lines of code for them. They are
described in ``schemas/vectors.schema.json``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from lro_spec.display import show
from lro_spec.jsonl.strict import equal


def mismatch(expect: Sequence[Mapping[str, Any]], answer: object) -> str | None:
    """Description of the first difference between an answer and what the rules *expect*. None if the answer is as
    expected."""
    return next((problem for rule in expect if (problem := _broken(rule, answer)) is not None), None)


def value_at(pointer: str, answer: object) -> object:
    """The value at a JSON Pointer that leads only through objects. None if there is no such value."""
    for name in pointer.split("/")[1:]:
        answer = cast("dict[str, object]", answer).get(name) if isinstance(answer, dict) else None
    return answer


def _broken(rule: Mapping[str, Any], answer: object) -> str | None:
    value = value_at(rule["at"], answer)
    if "between" in rule:
        low, high = rule["between"]
        fits = isinstance(value, int | float) and not isinstance(value, bool) and low <= value <= high
        expected = f"a number from {low} to {high}"
    elif "has" in rule:
        fits = isinstance(value, str) and any(part in value.lower() for part in rule["has"])
        expected = f"a text with {' or '.join(map(repr, rule['has']))}"
    else:
        fits = any(equal(one, cast("Any", value)) for one in rule["is"])
        expected = " or ".join(map(show, rule["is"]))
    place = f"{rule['at']}: " if rule["at"] else ""
    return None if fits else f"{place}expected {expected}, got {show(value)}"
