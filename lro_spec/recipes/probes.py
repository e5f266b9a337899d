"""Search texts and values of records with which a right recipe and a wrong recipe have different outputs.

A search text must match some records and not others. Before a sort, the records must not be in the right order already.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import cycle
from typing import Any, cast

from lro_spec.jsonl.strict import number_of
from lro_spec.recipes.oracle import CONFIDENCE, DEFAULT_LITERAL, value_at

SEARCHED_FIELDS: Mapping[str, str] = {
    "namespace-prefix": "namespace",
    "title-search": "title",
    "memory-type": "memory_type",
    "content-search": "content",
}
"""For each effect that searches in a text: the field that contains the text."""


def literals(effect: str, records: Sequence[Mapping[str, Any]]) -> list[str | None]:
    """Literals to search for in these records. The first literals are those that best distinguish a right command from
    a wrong one (`_search_literals`). The last literal is the one in the specification's own command. If the effect
    searches for nothing, the list contains only None."""
    if effect not in DEFAULT_LITERAL:
        return [None]
    distinguishing, others = _search_literals(effect, records)
    return [*distinguishing, *others, DEFAULT_LITERAL[effect]]


def _search_literals(effect: str, records: Sequence[Mapping[str, Any]]) -> tuple[list[str], list[str]]:
    """Return two lists of literals. A literal in the first list matches some records and not others, or matches only if
    letter case is ignored. A literal in the second list matches no record, unless a search finds more than it
    should."""
    if effect == "with-tag":
        tagged = [" ".join(sorted({*_words(r.get("tags"))})) for r in records]
        tags = [t for tags in tagged[:50] for t in tags.split()]
        return _partial_matches(tagged, tags, lambda value, tag: tag in value.split()), []
    values = [v for r in records if isinstance(v := r.get(SEARCHED_FIELDS[effect]), str) and v]
    if effect == "namespace-prefix":
        prefixes = [v[:k] for v in values[:50] for k in (4, 8, len(v))]
        return _partial_matches(values, prefixes, str.startswith), _inner_words(values, str.startswith)
    if effect == "memory-type":
        return _partial_matches(values, values[:50], str.__eq__), _inner_words(values, str.__eq__)
    words = [w for v in values[:50] for w in re.findall(r"[a-z]{4,}", v)]
    capitalised = Counter(w.lower() for v in values[:50] for w in re.findall(r"[A-Z][a-z]{3,}", v))
    in_both_cases = [w for w, _ in capitalised.most_common() if any(w not in v and w in v.lower() for v in values)]
    return [*in_both_cases[:1], *_partial_matches(values, words, lambda value, word: word in value.lower())], []


def rearranged(effect: str, records: Sequence[dict[str, Any]]) -> list[dict[str, Any]] | None:
    """The records with other values in the field by which a recipe sorts, counts, selects or searches.

    Fewer than 12 records are repeated until there are 12. Returns None if the records' own values already show whether
    a command uses that field, if there are fewer than three records, or if the effect does not depend on a single
    field. The own values do not show this if they are the same in all records, missing, or sorted already. In these
    cases, a command that reads another field, or no field, also has the right output.
    """
    if effect not in _FIELDS or len(records) < _MIN_RECORDS or _distinguish(effect, records):
        return None
    path, _, values = _FIELDS[effect]
    count = max(len(records), _MIN_COUNT)
    return [_with_value(record, path, value) for record, value in zip(cycle(records), values(count), strict=False)]


def depends_on(effect: str) -> tuple[str, ...]:
    """The path of the field on whose values an effect depends. Empty if the effect does not depend on a single
    field."""
    return _FIELDS[effect][0] if effect in _FIELDS else ()


_MIN_RECORDS = 3
"""Fewer records than this are not changed, because it takes three records to form two groups of different sizes."""
_MIN_COUNT = 12
"""Fewer records are repeated until there are this many, which is more than the ten records that one recipe prints."""


def _distinguish(effect: str, records: Sequence[dict[str, Any]]) -> bool:
    """True if a right command and a wrong command differ on the records' own values."""
    if effect in DEFAULT_LITERAL:
        return bool(_search_literals(effect, records)[0])
    path, is_test_passed, _ = _FIELDS[effect]
    return is_test_passed([value_at(record, path) for record in records])


def _are_unsorted_numbers(values: list[Any]) -> bool:
    """True for numbers that are not in descending order."""
    numbers = [number_of(value) for value in values]
    return None not in numbers and not _are_descending(numbers)


def _are_unsorted_texts(values: list[Any]) -> bool:
    """True for texts that are not in ascending order."""
    return _are_texts(values) and values != sorted(values)


def _have_unsorted_counts(values: list[Any]) -> bool:
    """True for texts whose counts, in the alphabetical order of the texts, are not in descending order already."""
    return _are_texts(values) and not _are_descending([count for _, count in sorted(Counter(values).items())])


def _are_different(values: list[Any]) -> bool:
    return len({repr(value) for value in values if value is not None}) > 1


def _are_lists_and_some_empty(values: list[Any]) -> bool:
    return all(value is None or isinstance(value, list) for value in values) and len({*map(bool, values)}) > 1


def _are_texts(values: list[Any]) -> bool:
    return all(isinstance(value, str) for value in values)


def _are_descending(values: list[Any]) -> bool:
    return values == sorted(values, reverse=True)


def _interleaved(count: int) -> list[int]:
    """The numbers from 0 to *count* - 1, neither ascending nor descending."""
    return [*range(0, count, 2), *range(1, count, 2)]


def _confidences(count: int) -> list[Any]:
    return [(n + 1) / (count + 1) for n in _interleaved(count)]


def _times(count: int) -> list[Any]:
    return [f"2026-01-{1 + n // 1440 % 28:02}T{n // 60 % 24:02}:{n % 60:02}:00Z" for n in _interleaved(count)]


def _groups(count: int) -> list[Any]:
    return ["_a", *["_b"] * (count - 1)]


def _entity_lists(count: int) -> list[Any]:
    return [[{"name": "one", "type": "concept"}] if n % 2 else [] for n in range(count)]


def _in_turn(*values: Any) -> Callable[[int], list[Any]]:
    return lambda count: [values[n % len(values)] for n in range(count)]


_BY_CONFIDENCE = (CONFIDENCE, _are_unsorted_numbers, _confidences)
_FIELDS: Mapping[str, tuple[tuple[str, ...], Callable[[list[Any]], bool], Callable[[int], list[Any]]]] = {
    "sort-by-confidence": _BY_CONFIDENCE,
    "sort-by-flat-confidence": (("confidence",), _are_unsorted_numbers, _confidences),
    "top-by-confidence": _BY_CONFIDENCE,
    "title-confidence-table": (CONFIDENCE, _are_different, _confidences),
    "title-namespace-table": (("namespace",), _are_different, _groups),
    "sort-by-created": (("created",), _are_unsorted_texts, _times),
    "count-by-namespace": (("namespace",), _have_unsorted_counts, _groups),
    "count-by-namespace-unsorted": (("namespace",), _are_different, _groups),
    "count-by-type": (("memory_type",), _are_different, _groups),
    "namespaces": (("namespace",), _are_different, _groups),
    "with-entities": (("entities",), _are_lists_and_some_empty, _entity_lists),
    "namespace-prefix": (("namespace",), _are_different, _in_turn("_semantic/decisions", "_episodic/incidents")),
    "title-search": (("title",), _are_different, _in_turn("With a keyword", "Without it")),
    "content-search": (("content",), _are_different, _in_turn("With a pattern", "Without it")),
    "memory-type": (("memory_type",), _are_different, _in_turn("semantic", "episodic")),
    "with-tag": (("tags",), _are_different, _in_turn(["TAG", "alpha"], ["omega"])),
}
"""For each effect: the field on which it depends, a test whether a right command and a wrong command differ on values
of that field, and a function that makes other values. The test is not used for searches, which need a word that only
some records match."""


def _with_value(record: dict[str, Any], path: Sequence[str], value: Any) -> dict[str, Any]:
    """Return the record with *value* at *path*. If the path leads into an object, and the record has a field of the
    same name outside of that object, this field gets the same value, because a server may sort by it."""
    name, *rest = path
    if not rest:
        return {**record, name: value}
    inner = cast("dict[str, Any]", record[name]) if isinstance(record.get(name), dict) else {}
    beside = {rest[-1]: value} if rest[-1] in record else {}
    return {**record, **beside, name: _with_value(inner, rest, value)}


def _inner_words(values: Sequence[str], matches: Callable[[str, str], bool]) -> list[str]:
    """Return a list with one word that occurs within a value but matches no value, so that only a search that is too
    wide finds it. The list is empty if there is no such word."""
    distinct = {*values}  # these are few, because the values are namespaces or types
    words = dict.fromkeys(w for v in values[:50] for w in re.findall(r"[a-z]{3,}", v[1:]))
    inner_word = next((w for w in words if not any(matches(v, w) for v in distinct)), None)
    return [] if inner_word is None else [inner_word]


def _words(tags: object) -> list[str]:
    """The tags that consist of one word. Other tags are not used in searches."""
    values = cast("list[object]", tags) if isinstance(tags, list) else []
    return [t for t in values if isinstance(t, str) and t and len(t.split()) == 1]


def _partial_matches(
    values: Sequence[str], candidates: Sequence[str], matches: Callable[[str, str], bool]
) -> list[str]:
    """Return a list with the first of the most frequent candidates that matches some values, but not all. The list is
    empty if there is no such candidate. Only ASCII candidates are used."""
    distinct = {*values}
    for candidate, _ in Counter(candidates).most_common(20):
        hits = sum(matches(v, candidate) for v in distinct) if candidate.isascii() else 0
        if 0 < hits < len(distinct):
            return [candidate]
    return []
