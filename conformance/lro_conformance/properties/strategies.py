"""Hypothesis strategies for properties: memories that any conformant server can store, calls, file names, ages."""

from __future__ import annotations

import string
from collections.abc import Mapping, Sequence
from typing import Any

from hypothesis import strategies as st

from lro_conformance.capture.records import Record

_ODD = "\n\t\r\"\\/'`$\x1b\x7f\x85\u2028\u2029\ufeff\ufffd\U0001f9e0\U0010ffff"


def _spelt(data: bytes) -> str:
    """The text for some bytes, half of which stand for ASCII characters, a quarter for odd characters, and a quarter
    for any character."""
    text: list[str] = []
    rest = iter(data)
    for byte in rest:
        if byte < 0x80:
            text.append(chr(0x20 + byte % 0x5F))
        elif byte < 0xC0:
            text.append(_ODD[byte % len(_ODD)])
        else:
            high, low = next(rest, 0), next(rest, 0)
            code = (byte % 16 + 1) * 0x10000 + high * 0x100 + low if byte < 0xD0 else high * 0x100 + low
            text.append("\ufffd" if code == 0 or 0xD800 <= code <= 0xDFFF else chr(code))
    return "".join(text)


# Not st.text(), for which Hypothesis first builds a table of all of Unicode; that takes as long as ten starts of a
# server. Nor a list of characters: each of them would be drawn for itself, and drawing was a tenth of what a run costs.
_TEXT = (st.binary(max_size=8) | st.binary(min_size=8, max_size=80)).map(_spelt)
_NUMBER = st.integers(-(2**53) + 1, 2**53 - 1) | st.floats(-1e300, 1e300, allow_subnormal=False)
_JSON = st.recursive(
    st.none() | st.booleans() | _NUMBER | _TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXT.filter(bool), inner, max_size=3),
    max_leaves=12,
)
_COMMON: dict[str, st.SearchStrategy[Any]] = {
    "memory_type": st.sampled_from(["semantic", "episodic", "procedural"]),
    "namespace": st.sampled_from(["_semantic/a", "_semantic/b", "_episodic/c", "other/d"]),
    "title": _TEXT,
    "created": st.just("2026-01-02T03:04:05Z"),
    "status": st.just("active"),
    "provenance": st.fixed_dictionaries({"confidence": st.integers(0, 100).map(lambda n: n / 100)}),
}

MEMORY: st.SearchStrategy[Record] = st.fixed_dictionaries(
    {
        **_COMMON,
        "content": _TEXT.map(lambda t: f"Content {t}"),
        "tags": st.lists(_TEXT.filter(bool), max_size=3, unique=True),
        "entities": st.lists(st.fixed_dictionaries({"name": _TEXT}), max_size=2),
        "extensions": st.dictionaries(_TEXT.filter(bool), _JSON, max_size=3),
    }
)
"""Any memory that JSON can transport between conformant libraries: no lone surrogates, no NUL, no integers beyond 2^53.

It has neither an id nor a search word yet. A check adds new ones each time it tries the memory, so that an earlier copy
in the server does not change the answer.
"""


def _with(*words: str) -> st.SearchStrategy[str]:
    """Texts, some of which contain one of these words, so that a search can find something."""
    return st.tuples(_TEXT, st.sampled_from(("", *words)), _TEXT).map("".join)


_CONFIDENCE = st.integers(0, 100).map(lambda n: n / 100) | st.sampled_from([1e-05, 2e-05, 0.1234, 0.1239, 1])

CORPUS: st.SearchStrategy[list[Record]] = st.lists(
    st.fixed_dictionaries(
        {
            **_COMMON,
            "title": _with("keyword", "Keyword", "KEYWORDS", "keyword Keyword", "xkeywordx"),
            "content": _with("pattern", "Pattern", "PATTERNS", "pattern Pattern", "xpatternx"),
            "namespace": st.sampled_from(["_semantic/a", "_semantic/b", "_episodic/c", "other/d", "Other/d"]),
            "provenance": st.fixed_dictionaries({"confidence": _CONFIDENCE}),
            "entities": st.sampled_from([None, [], [{"name": "one"}], [{"name": "one"}, {"name": "two"}]]),
        }
    ).map(lambda memory: {key: value for key, value in memory.items() if value is not None}),
    min_size=3,
    max_size=8,
)
"""Some memories that differ in the fields that recipes use; some of them contain the search texts of the standard
recipes."""

_LETTER = st.sampled_from(string.ascii_letters + string.digits + "-_.~ äß記")
_NAME = st.lists(_LETTER, min_size=1, max_size=24).map("".join)


def any_call(details: Mapping[str, Sequence[str]], word: str | None) -> st.SearchStrategy[dict[str, Any]]:
    """Arguments of calls: one of the operations in *details*, with *word* as a query or without a query."""

    def of(name: str) -> st.SearchStrategy[dict[str, Any]]:
        return st.fixed_dictionaries(
            {
                "name": st.just(name),
                "limit": st.integers(1, 80) | st.sampled_from((16, 17, 32, 33, 48, 49, 64, 65)),
                "detail": st.sampled_from([None, *details[name]]),
                "query": st.sampled_from([None, word] if word is not None else [None]),
            }
        )

    return st.sampled_from(list(details)).flatmap(of)


def any_names(prefix: str) -> st.SearchStrategy[list[str]]:
    """File names; some begin almost like those of offloaded files."""
    almost = (f"{prefix}-", prefix, f"{prefix.capitalize()}-", f"{prefix}_recall-", f" {prefix}-", f"l{prefix}-")
    endings = st.sampled_from([".jsonl", ".json", ".jsonl.1", "", ".JSONL"])
    near = st.tuples(st.sampled_from(almost), _NAME, endings).map("".join)
    return st.lists(near | _NAME, min_size=1, max_size=8, unique=True)


def any_ages(fresh: tuple[int, int], old: tuple[int, int]) -> st.SearchStrategy[list[int]]:
    """Ages of files in seconds, from two ranges."""
    return st.lists(st.integers(*fresh) | st.integers(*old), min_size=1, max_size=6, unique=True)
