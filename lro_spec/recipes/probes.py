"""Search literals and values that make a recipe's output informative: some records match, and some do not; their order
is not already that of the file."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from lro_spec.jsonl.strict import Json, number_of
from lro_spec.recipes.oracle import CONFIDENCE, value_at

SEARCHING: Mapping[str, str] = {
    "namespace-prefix": "namespace",
    "title-search": "title",
    "memory-type": "memory_type",
    "content-search": "content",
}
"""Effects that search a text, with the field that they search."""


def literals(effect: str, records: Sequence[Mapping[str, Any]]) -> list[str | None]:
    """Literals to search for in these records; a single None if the effect searches for nothing."""
    if effect == "with-tag":
        tagged = [" ".join(sorted({*_words(r.get("tags"))})) for r in records]
        tags = [t for tags in tagged[:50] for t in tags.split()]
        return [*_partial(tagged, tags, lambda value, tag: tag in value.split()), "TAG"]
    field = SEARCHING.get(effect)
    if field is None:
        return [None]
    values = [v for r in records if isinstance(v := r.get(field), str) and v]
    if effect == "namespace-prefix":
        prefixes = [v[:k] for v in values[:50] for k in (4, 8, len(v))]
        some = _partial(values, prefixes, lambda value, prefix: value.startswith(prefix))
        return [*some, *_inner(values, str.startswith), "_semantic"]
    if effect == "memory-type":
        some = _partial(values, values[:50], lambda value, kind: value == kind)
        return [*some, *_inner(values, str.__eq__), "semantic"]
    words = [w for v in values[:50] for w in re.findall(r"[a-z]{4,}", v)]
    capital = Counter(w.lower() for v in values[:50] for w in re.findall(r"[A-Z][a-z]{3,}", v))
    mixed = [w for w, _ in capital.most_common() if any(w not in v and w in v.lower() for v in values)]
    some = _partial(values, words, lambda value, word: word in value.lower())
    return [*mixed[:1], *some, "keyword" if effect == "title-search" else "pattern"]


def rearranged(effect: str, records: Sequence[dict[str, Any]]) -> list[dict[str, Any]] | None:
    """The records with other values in the field by which a recipe sorts, counts or selects.

    None if their own values tell whether it does: otherwise a command without its sort, or with the opposite one, gives
    the right output, too. None also if the records lack the field.
    """
    if effect not in _ARRANGED or len(records) < _ENOUGH:
        return None
    path, is_valid, is_arranged, values = _ARRANGED[effect]
    own = [value_at(record, path) for record in records]
    if not all(map(is_valid, own)) or not is_arranged(own):
        return None
    return [_with(record, path, value) for record, value in zip(records, values(len(records)), strict=True)]


_ENOUGH = 3
"""The fewest records that can be counted in two groups of different sizes."""


def _is_number(value: Json) -> bool:
    return number_of(value) is not None


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_list(value: object) -> bool:
    return value is None or isinstance(value, list)


def _falls(values: list[Any]) -> bool:
    return _descends([number_of(value) for value in values])


def _descends(values: list[Any]) -> bool:
    return values == sorted(values, reverse=True)


def _ascends(values: list[Any]) -> bool:
    return values == sorted(values)


def _counts_descend(values: list[Any]) -> bool:
    """True if the counts of the values, in the order of the values, are the most frequent first."""
    return _descends([count for _, count in sorted(Counter(values).items())])


def _all_or_none(values: list[Any]) -> bool:
    return len({bool(value) for value in values}) == 1


def _interleaved(count: int) -> list[int]:
    """The numbers below *count*, of which neither direction is the order."""
    return [*range(0, count, 2), *range(1, count, 2)]


def _shares(count: int) -> list[Any]:
    return [(n + 1) / (count + 1) for n in _interleaved(count)]


def _times(count: int) -> list[Any]:
    return [f"2026-01-{1 + n // 1440 % 28:02}T{n // 60 % 24:02}:{n % 60:02}:00Z" for n in _interleaved(count)]


def _namespaces(count: int) -> list[Any]:
    return ["_a", *["_b"] * (count - 1)]


def _named(count: int) -> list[Any]:
    return [[{"name": "one", "type": "concept"}] if n % 2 else [] for n in range(count)]


_BY_CONFIDENCE = (CONFIDENCE, _is_number, _falls, _shares)
_ARRANGED: Mapping[
    str, tuple[tuple[str, ...], Callable[[object], bool], Callable[[list[Any]], bool], Callable[[int], list[Any]]]
] = {
    "sort-by-confidence": _BY_CONFIDENCE,
    "sort-by-flat-confidence": (("confidence",), _is_number, _falls, _shares),
    "top-by-confidence": _BY_CONFIDENCE,
    "sort-by-created": (("created",), _is_text, _ascends, _times),
    "count-by-namespace": (("namespace",), _is_text, _counts_descend, _namespaces),
    "with-entities": (("entities",), _is_list, _all_or_none, _named),
}
"""The field that an effect depends on, whether a value is one of it, whether the file's values make any output of all
records right, and other values."""


def _with(record: dict[str, Any], path: Sequence[str], value: Any) -> dict[str, Any]:
    name, *rest = path
    return {**record, name: _with(record[name], rest, value) if rest else value}


def _inner(values: Sequence[str], matches: Callable[[str, str], bool]) -> list[str]:
    """A word that occurs within a value but equals none: only a search that is too wide finds it."""
    words = (w for v in values[:50] for w in re.findall(r"[a-z]{3,}", v[1:]))
    return [w for w in words if not any(matches(v, w) for v in values)][:1]


def _words(tags: object) -> list[str]:
    """The tags that consist of one word; others are not searched for."""
    values = cast("list[object]", tags) if isinstance(tags, list) else []
    return [t for t in values if isinstance(t, str) and t and len(t.split()) == 1]


def _partial(values: Sequence[str], candidates: Sequence[str], matches: Callable[[str, str], bool]) -> list[str]:
    """The most frequent candidate that matches some, but not all, values."""
    for candidate, _ in Counter(candidates).most_common(20):
        hits = sum(matches(v, candidate) for v in values)
        if candidate.isascii() and 0 < hits < len(values):
            return [candidate]
    return []
