"""Search literals that make a recipe's output informative: some records match, and some do not."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

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
