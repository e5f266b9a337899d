"""Hypothesis strategies for payloads of tools, and JSON that keeps each number as it is written."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

from hypothesis import strategies as st

TEXTS = st.text(st.characters(codec="utf-8"), max_size=30)
NUMBERS = st.one_of(
    st.integers(-(10**30), 10**30),
    st.decimals(allow_nan=False, allow_infinity=False, places=3),
    st.just(Decimal("1.10")),
)


VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)


ROWS = st.lists(
    st.dictionaries(st.sampled_from(["id", "name", "a b", "tags", "n"]), VALUES, min_size=1), min_size=1, max_size=6
)


def dumped(value: Any, indent: int | None = None) -> str:
    """JSON with every decimal written just as it is."""
    marks: list[str] = []

    def mark(number: object) -> str:
        marks.append(str(number))
        return f"\ue000{len(marks) - 1}\ue000"

    text = json.dumps(_marked(value, mark), ensure_ascii=False, indent=indent)
    for place, number in enumerate(marks):
        text = text.replace(f'"\ue000{place}\ue000"', number)
    return text


def _marked(value: Any, mark: Any) -> Any:
    if isinstance(value, Decimal):
        return mark(value)
    if isinstance(value, list):
        return [_marked(item, mark) for item in value]
    if isinstance(value, dict):
        return {key: _marked(item, mark) for key, item in value.items()}
    return value
