"""Hypothesis strategies: memories that a server should be able to store, calls, file names, ages."""

from __future__ import annotations

import string
from collections.abc import Mapping, Sequence
from typing import Any

from hypothesis import strategies as st

from lro_conformance.capture.intervention import REMOVED, REPLACED
from lro_conformance.capture.records import Record
from lro_conformance.trials.decoys import DAY

_ODD_CHARACTERS = "\n\t\r\"\\/'`$\x1b\x7f\x85\u2028\u2029\ufeff\ufffd\u0301\u200d\u00df\u0130\U0001f9e0\U0010ffff"


def _text_from_bytes(data: bytes) -> str:
    """The text that some bytes encode. A byte below 0x80 encodes an ASCII character, and a byte from 0x80 to 0xBF
    encodes one of `_ODD_CHARACTERS`. A byte from 0xC0 encodes, together with the two bytes after it, one character,
    which may be any character except NUL."""
    text: list[str] = []
    rest = iter(data)
    for byte in rest:
        if byte < 0x80:
            text.append(chr(0x20 + byte % 0x5F))
        elif byte < 0xC0:
            text.append(_ODD_CHARACTERS[byte % len(_ODD_CHARACTERS)])
        else:
            high, low = next(rest, 0), next(rest, 0)
            code = (byte % 16 + 1) * 0x10000 + high * 0x100 + low if byte < 0xD0 else high * 0x100 + low
            text.append("\ufffd" if code == 0 or 0xD800 <= code <= 0xDFFF else chr(code))
    return "".join(text)


# `st.text()` is not used, because Hypothesis would first build a table of all of Unicode, which takes as long as ten
# starts of a server. A list of characters is not used either, because each character would be drawn separately. Drawing
# them made up a tenth of the cost of a run.
_TEXT = (st.binary(max_size=8) | st.binary(min_size=8, max_size=80)).map(_text_from_bytes)
_NAME = _TEXT.filter(bool)
_NUMBER = st.integers(-(2**53) + 1, 2**53 - 1) | st.floats(-1e300, 1e300, allow_subnormal=False)
_JSON = st.recursive(
    st.none() | st.booleans() | _NUMBER | _TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_NAME, inner, max_size=3),
    max_leaves=12,
)
_TIME = st.sampled_from(
    ["2026-01-02T03:04:05Z", "2026-01-02T03:04:05.678901+02:00", "2024-02-29T23:59:59Z", "1999-12-31T00:00:00Z"]
)
_FRACTION = st.integers(0, 100).map(lambda n: n / 100) | st.sampled_from([1e-05, 2e-05, 0.1234, 0.1239, 1])


def _text_with(*words: str) -> st.SearchStrategy[str]:
    """Texts, some of which contain one of these words, so that recipes that search for the word find something."""
    return st.tuples(_TEXT, st.sampled_from(("", "", *words)), _TEXT).map("".join)


BUFFER_SIZES = (4 << 10, 64 << 10)
"""Usual sizes of buffers, in bytes. Some contents are so long that their line in a file is about as long as such a
buffer."""

_LENGTH = st.just(0) | st.just(0) | st.tuples(st.sampled_from(BUFFER_SIZES), st.integers(-700, 100)).map(sum)


def _padded(text: str, length: int) -> str:
    return text if len(text) >= length else text + " " + "lorem ipsum " * ((length - len(text)) // 12 + 1)


_CONTENT = st.tuples(_text_with("pattern", "Pattern", "PATTERNS", "pattern Pattern", "xpatternx"), _LENGTH).map(
    lambda pair: f"Content {_padded(*pair)}"
)

_REQUIRED_FIELDS: dict[str, st.SearchStrategy[Any]] = {
    "memory_type": st.sampled_from(["semantic", "episodic", "procedural"]),
    "namespace": st.sampled_from(["_semantic/a", "_semantic/b", "_episodic/c", "other/d", "Other/d"]),
    "title": _text_with("keyword", "Keyword", "KEYWORDS", "keyword Keyword", "xkeywordx"),
    "content": _CONTENT,
    "created": _TIME,
    "status": st.sampled_from(["active", "active", "archived"]),
    "provenance": st.fixed_dictionaries(
        {"confidence": _FRACTION}, optional={"source_type": st.just("observation"), "agent": _TEXT}
    ),
}
_OPTIONAL_FIELDS: dict[str, st.SearchStrategy[Any]] = {
    "modified": _TIME,
    "tags": st.lists(_NAME, max_size=3, unique=True),
    "entities": st.lists(st.fixed_dictionaries({"name": _TEXT}, optional={"type": st.just("concept")}), max_size=2),
    "relationships": st.lists(
        st.fixed_dictionaries({"type": st.just("relates-to"), "target": _NAME, "strength": _FRACTION}), max_size=2
    ),
    "wiki_links": st.lists(_NAME, max_size=2, unique=True),
    "summary": _TEXT,
    "temporal": st.fixed_dictionaries({}, optional={"valid_from": _TIME, "valid_until": st.none() | _TIME}),
    "extensions": st.dictionaries(_NAME, _JSON, max_size=3),
    "blocks": st.lists(st.fixed_dictionaries({"type": st.just("text"), "text": _TEXT}), max_size=2),
    "citations": st.lists(st.fixed_dictionaries({"url": st.just("https://example.org/a"), "title": _TEXT}), max_size=2),
}

MEMORIES: st.SearchStrategy[list[Record]] = st.lists(
    st.fixed_dictionaries(_REQUIRED_FIELDS, optional=_OPTIONAL_FIELDS), min_size=1, max_size=6
)
"""Lists of memories whose JSON all libraries should read alike: no lone surrogates, no NUL, no integers beyond 2^53.

The fields of `_REQUIRED_FIELDS` are present, those of `_OPTIONAL_FIELDS` may be absent; some values are empty. The
memories have no ids, and have no word by which a query finds them. The explorer adds an id and a word, with new values
in each attempt, so that a server that still holds the memories of an earlier attempt gives the same answers.
"""

DISTANCES_FROM_THRESHOLD = (-1, 0, 1, 2)
"""Tokens by which a result exceeds the threshold, if the explorer (`lro_conformance.explorers.explorer`) stores
memories to get such a result. The results are just below the threshold, at the threshold, or just above it."""


def calls(
    details: Mapping[str, Sequence[str]], filters: Mapping[str, Mapping[str, Any]]
) -> st.SearchStrategy[dict[str, Any]]:
    """Calls, as dictionaries with the ``name`` of an operation and five further keys.

    ``detail`` is one of the operation's *details* or None, ``limit`` is a number, ``arguments`` has one of the
    operation's *filters* or is empty, ``progress`` is True if the call has a progress token, and ``find`` chooses the
    query.

    ``find`` is "stored" for the memories that were stored last, "word" for the common word of the server's memories,
    "all" for the query that the server's profile states for the operation, and "nothing" for a word that no memory has.
    With "any", the call has no query or, if the tool needs one, the query of the profile.
    """

    def calls_of(name: str) -> st.SearchStrategy[dict[str, Any]]:
        return st.fixed_dictionaries(
            {
                "name": st.just(name),
                "limit": st.integers(1, 80) | st.sampled_from((16, 17, 32, 33, 48, 49, 64, 65, 99, 100, 101, 200)),
                "detail": st.sampled_from([None, *details[name]]),
                "find": st.sampled_from(["stored", "stored", "stored", "word", "all", "all", "any", "nothing"]),
                "progress": st.sampled_from([False, False, False, True]),
                "arguments": st.sampled_from([{}, {}, {}, *({k: v} for k, v in filters[name].items())]),
            }
        )

    return st.sampled_from(list(details)).flatmap(calls_of)


def interventions(names: Sequence[str], call: st.SearchStrategy[dict[str, Any]], ttl_s: int) -> st.SearchStrategy[Any]:
    """Steps with these *names*. Each has a call that is made before it and, except for ``sweep``, again after it.

    ``break`` makes the output folder unusable: the folder is replaced by a file, or removed. ``sweep`` plants files of
    some ages, and triggers cleanup. ``restart`` restarts a server.
    """
    folder_failures, ages = st.sampled_from((REPLACED, REMOVED)), any_ages((0, ttl_s - 60), (ttl_s + 5, 100 * DAY))
    arguments = {"break": (call, folder_failures), "sweep": (call, ages), "restart": (call,)}
    return st.sampled_from(list(names)).flatmap(lambda name: st.tuples(st.just(name), *arguments[name]))


_LETTER = st.sampled_from(string.ascii_letters + string.digits + "-_.~ äß記")
_FILE_NAME = st.lists(_LETTER, min_size=1, max_size=24).map("".join)


def any_names(prefix: str) -> st.SearchStrategy[list[str]]:
    """Lists of file names, some of which resemble those of offloaded files, or even match their pattern."""
    almost = (f"{prefix}-", prefix, f"{prefix.capitalize()}-", f"{prefix}_recall-", f" {prefix}-", f"l{prefix}-")
    endings = st.sampled_from([".jsonl", ".json", ".jsonl.1", "", ".JSONL"])
    near = st.tuples(st.sampled_from(almost), _FILE_NAME, endings).map("".join)
    return st.lists(near | _FILE_NAME, min_size=1, max_size=8, unique=True)


def any_ages(fresh: tuple[int, int], old: tuple[int, int]) -> st.SearchStrategy[list[int]]:
    """Lists of ages of files in seconds, each from one of two ranges."""
    return st.lists(st.integers(*fresh) | st.integers(*old), min_size=1, max_size=6, unique=True)
