"""The memories that the suite stores in servers. They are varied, but the same in every run.

`corpus` is for a server that has too few memories of its own. All other sets and memories are for single experiments.
"""

from __future__ import annotations

import json
import random
import sys
import uuid
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, cast

Memory = dict[str, Any]

NAMESPACES = (
    "_semantic/knowledge",
    "_semantic/entities",
    "_semantic/decisions",
    "_episodic/sessions",
    "_episodic/incidents",
    "_procedural/runbooks",
    "_procedural/patterns",
)
_WORDS = (
    *("memory", "server", "threshold", "result", "file", "record", "header", "window", "token", "budget", "query"),
    *("recall", "search", "inject", "namespace", "title", "content", "keyword", "pattern", "schema", "recipe"),
    *("descriptor", "cleanup", "expiry", "folder", "client", "agent", "context", "summary", "level", "detail"),
)
_EXTRAS = (
    "",
    "",
    "",
    " naïve café",
    " 記憶の断片",
    " 🧠✨",
    "\nsecond line\tand a tab",
    ' "quoted" \\ back',
    "\u2028next",
)


@cache
def corpus(size: int = 160) -> tuple[Memory, ...]:
    """A corpus of *size* memories in seven namespaces, with contents of about 170 to 820 characters.

    The last memory is `delicate_memory`, which is shorter. Every field is the same in every run.
    """
    chance = random.Random(6400)
    made = [_memory(chance, n) for n in range(size)]
    return (*made[:-1], {**delicate_memory(), "id": made[-1]["id"]})


def _memory(chance: random.Random, number: int) -> Memory:
    title = " ".join(chance.choices(_WORDS, k=4)).capitalize() + f" {number}"
    content = " ".join(chance.choices(_WORDS, k=chance.randrange(25, 110))) + "." + chance.choice(_EXTRAS)
    return {
        "id": str(uuid.UUID(int=chance.getrandbits(128), version=4)),
        "memory_type": ("semantic", "episodic", "procedural")[number % 3],
        "namespace": chance.choice(NAMESPACES),
        "title": title,
        "content": content,
        "created": f"2026-0{1 + number % 9}-1{number % 10}T08:{number % 60:02}:00Z",
        "modified": f"2026-10-1{number % 10}T09:{number % 60:02}:00Z",
        "status": "active",
        "tags": chance.sample(_WORDS, k=number % 4),
        "entities": [{"name": w, "type": "concept"} for w in chance.sample(_WORDS, k=number % 3)],
        "provenance": {"confidence": chance.randrange(5, 100) / 100, "source_type": "observation", "agent": "suite"},
    }


LARGE_WORD = "quetzalcoatlus"
"""The word that `large` puts into its memory by default. No other memory contains the word."""

OTHER_WORD = "archaeopteryx"
"""The word for a second memory of `large`. No other memory contains the word."""


def large(characters: int, word: str = LARGE_WORD) -> Memory:
    """One memory whose content has this number of *characters*, and contains *word*. No other memory contains the
    word."""
    text = " ".join(_WORDS * (characters // 200 + 1))
    return {
        **_memory(random.Random(len(word)), 0),
        "title": f"{word} in full",
        "content": f"{word}: {text}"[: characters - 1] + ".",
    }


DELICATE_WORD = "zwitterion"
"""A word that only the memory `delicate_memory` contains."""


DELICATE_IDS = ("5d1e3c7a-0f52-4b8e-9a63-1c2f70b4d801", "5d1e3c7a-0f52-4b8e-9a63-1c2f70b4d802")
"""Ids under which the memory `delicate_memory` is stored twice."""


@cache
def delicate_memory() -> Memory:
    """A memory with values that careless code alters. It has decomposed letters, markup, escapes, exact fractions,
    nulls, texts that look like values of another type, and field names in various spellings."""
    return {
        **_memory(random.Random(3), 0),
        "title": f"{DELICATE_WORD} cafe\u0301",
        "content": f"{DELICATE_WORD}: e\u0301 o\u0308 \u212b \ufb01 \u00a0 a\u200d\u200cb \u2028 \t\r\n\\n <b>&gt;</b>",
        "tags": ["e\u0301", "\u00e9", "Two Words", "TLS"],
        "entities": [{"name": "A\u030angstro\u0308m", "type": "concept"}],
        "provenance": {"confidence": 0.123456, "source_type": "observation", "agent": "suite"},
        "extensions": {
            "x-exact": [0.1, 1.5e-7, 123456.789012, 2**53 - 1],
            "x-null": None,
            "x-text": ["1.10", "0042", "true", "null", "2026-01-02T03:04:05+02:00"],
            "x-names": {"_private": 1, "snake_case": 2, "camelCase": 3, "Capital": 4, "with.dots": 5},
        },
    }


ROUGH_WORD = "xiphosuran"
"""A word that only the memory `rough_memory` contains."""


@cache
def rough_memory() -> Memory:
    """A memory with values that some stores refuse: control characters, deeply nested objects, empty values, and a tag
    that occurs twice."""
    deep: Any = ["bottom"]
    for level in range(12):
        deep = {f"level {level}": deep} if level % 2 else [deep]
    return {
        **_memory(random.Random(4), 0),
        "id": "5d1e3c7a-0f52-4b8e-9a63-1c2f70b4d803",
        "title": f"{ROUGH_WORD} in the rough",
        "tags": ["twice", "twice"],
        "content": f"{ROUGH_WORD}: before\u0000after \u0001 \u001f \u007f \ufeff end",
        "extensions": {
            "x-deep": deep,
            "x-empty": {"text": "", "list": [], "object": {}},
            "x-list": ["", [], {}, None, 0, False],
        },
    }


def various_memories() -> tuple[Memory, ...]:
    """Memories that differ in all fields that recipes examine. Each field is filled in some memories, and empty or
    absent in others.

    The memories have no ids.
    """
    base = {k: v for k, v in _memory(random.Random(7), 0).items() if k not in ("id", "modified", "tags", "entities")}
    confidence = (0.1234, 0.1239, 0.1239, 1, 0, 1e-05, 0.25, 0.125, 2e-05)
    shapes: tuple[Memory, ...] = (
        {"title": "ends with spaces  ", "content": "a pattern", "memory_type": "semantic"},
        {
            "title": "a Keyword\tand a tab",
            "content": "PATTERNS",
            "memory_type": "episodic",
            "entities": [{"name": "one"}],
        },
        {"title": "keyword Keyword", "content": "xpatternx", "tags": [], "entities": [], "summary": ""},
        {
            "title": "xkeywordx",
            "content": "pattern " * 40,
            "namespace": "other/d",
            "entities": [{"name": "a"}, {"name": "b"}],
        },
        {"title": "KEYWORDS", "content": "Pattern", "namespace": "Other/d", "tags": ["keyword"], "status": "archived"},
        {"title": '"keyword"', "content": "", "namespace": "other/d", "memory_type": "procedural", "summary": "0"},
        {"title": "", "content": "a pattern without a title"},
        {"title": "with a vector", "content": "", "embedding": [0.12345678, -0.5, 1.5e-05, 0]},
        {
            "title": "every field",
            "content": "the pattern, in full",
            "modified": "2026-02-03T04:05:06.789012+02:00",
            "tags": ["one", "two"],
            "entities": [{"name": "one", "type": "concept"}],
            "relationships": [{"type": "relates-to", "target": "elsewhere", "strength": 0.25}],
            "wiki_links": ["Elsewhere"],
            "summary": "In short.",
            "temporal": {"valid_from": "2026-01-01T00:00:00Z", "valid_until": None},
            "extensions": {"x-rank": 1, "x-ratio": 0.1, "x-none": None, "x-parts": [{"n": 1}, {"n": 2}]},
            "blocks": [{"type": "text", "text": "A block."}],
            "citations": [{"url": "https://example.org/a", "title": "A"}],
        },
    )
    shared = {"status": "active", "provenance": {"confidence": 0.5, "source_type": "observation"}}
    return tuple(
        {**base, **shared, **shape, "provenance": {"confidence": share, "source_type": "observation"}}
        for shape, share in zip(shapes, confidence, strict=True)
    )


def undocumented() -> tuple[Memory, Memory]:
    """Two memories. The first has a type that the specification does not name, and the second has a field that it does
    not name. They have no ids."""
    known = various_memories()[-1]
    return {**known, "memory_type": "working"}, {**known, "title": "a field of its own", "origin": {"tool": "import"}}


def unusual() -> Memory:
    """A memory with a title of about 300 characters, and unusual tags. It has no id.

    Some tags are blank or repeated. Others are texts that programming languages may take for false.
    """
    title = f"a keyword, and {'a title that goes on, ' * 13}".ljust(299, ".") + "!"
    return {**various_memories()[-1], "title": title, "tags": ["", "0", "twice", "twice", "false", "once"]}


def revisions() -> tuple[Memory, Memory]:
    """A memory, and a second version of it to be stored later under the same id, which has other values and is three
    times as large. They have no ids."""
    known = {**various_memories()[-1], "extensions": {"x-revision": 1}}
    later = {
        "content": "the pattern, revised:" + " and longer than it was" * 60,
        "tags": ["three"],
        "extensions": {"x-revision": 2},
    }
    return known, {**known, **later, "modified": "2026-03-04T05:06:07Z"}


def tiny_memory() -> Memory:
    """A memory with very few characters. It has no id."""
    return {
        "memory_type": "semantic",
        "namespace": "a",
        "title": "",
        "content": "",
        "created": "2026-01-02T03:04:05Z",
        "provenance": {"confidence": 0.5},
    }


MIXED_WORDS = ("gastropod", "cephalopod")
"""Words that only the memories of `mixed_memories` contain."""


def mixed_memories(lacking: Collection[str] = ()) -> tuple[Memory, ...]:
    """Two memories for each of two words. The rich memory has an embedding of a usual length. The lean memory has fewer
    fields, and none of the fields in *lacking*. For the first word, the rich memory comes first; for the second word,
    the lean one does."""
    found: list[Memory] = []
    for number, word in enumerate(MIXED_WORDS):
        base = _memory(random.Random(5 + number), 0)
        base |= {"title": f"{word} in this order", "content": f"{word}: of this and that."}
        chance = random.Random(word)
        vector = [chance.randrange(-999_999, 1_000_000) / 1_000_000 for _ in range(384)]
        rich = {**base, "summary": f"About the {word}.", "extensions": {"x-rank": 1}, "embedding": vector}
        lean = {k: v for k, v in base.items() if k not in ("entities", *lacking)}
        lean["id"] = str(uuid.UUID(int=6400 + number, version=4))
        found += [rich, lean] if number == 0 else [lean, rich]
    return tuple(found)


MANY_WORD = "thysanopteran"
"""The word that finds the memories of `many_small`."""


@cache
def many_small() -> tuple[Memory, ...]:
    """Memories that are found by `MANY_WORD`. They are more than a server is likely to read or write at once."""
    chance = random.Random(9)
    found = (_memory(chance, n) for n in range(320))
    return tuple({**m, "title": f"{MANY_WORD} {n}", "content": f"{MANY_WORD} {n}."} for n, m in enumerate(found))


GROWING_WORD = "opisthobranch"
"""The word that finds the memories of `growing`."""


@cache
def growing(size: int = 240) -> tuple[Memory, ...]:
    """*size* memories that are found by `GROWING_WORD`. The size of the result depends on how many of them are stored.

    Their titles are long. So fewer memories are needed for a large result if results have no contents.
    """
    chance = random.Random(7)
    found = (_memory(chance, n) for n in range(size))
    return tuple(
        {**m, "title": f"{GROWING_WORD}: {' '.join(chance.choices(_WORDS, k=16))} {n}"} for n, m in enumerate(found)
    )


UNEVEN_WORD = "onychophoran"
"""The word that finds the memories of `uneven`."""


def uneven(characters: int, large: int, small: int = 30) -> tuple[Memory, ...]:
    """Memories of two sizes that are found by `UNEVEN_WORD`.

    They are in this order: one small memory, a block of large memories, a block of small memories, a second block of
    large memories, and one small memory. *large* and *small* are the numbers of memories in a block of this kind. The
    content of a large memory has about this number of *characters*. If the order is reversed, the sizes are the same.
    """
    chance = random.Random(8)
    sizes = [0, *[characters] * large, *[0] * small, *[characters] * large, 0]
    found: list[Memory] = []
    for number, size in enumerate(sizes):
        text = " ".join((UNEVEN_WORD, *chance.choices(_WORDS, k=size // 3)))
        more = {"title": f"{UNEVEN_WORD} {number}", "content": f"{text[:size] if size else UNEVEN_WORD}."}
        found.append({**_memory(chance, number), **more, "tags": [], "entities": []})
    return tuple(found)


def filling(words: Sequence[str], size: int) -> tuple[Memory, ...]:
    """*size* memories, all of which are found by each of the *words*. Their titles are long, because results may have
    no contents."""
    chance = random.Random(f"{words}")
    found = (_memory(chance, n) for n in range(size))
    return tuple({**m, "title": " ".join([*words, *chance.choices(_WORDS, k=16), str(n)])} for n, m in enumerate(found))


def filler(word: str, characters: int) -> Memory:
    """A memory that is found by this *word*, and whose title has this number of *characters*."""
    chance = random.Random(word)
    text = " ".join(chance.choices(_WORDS, k=characters // 3 + 1))
    return {**_memory(chance, 0), "title": f"{word} {text}"[: characters - 1] + "s"}


def odd_memory(word: str) -> Memory:
    """A memory that is found by `odd_query` and `shell_query` of this *word* and by `NULL_QUERY`, because its content
    has these queries verbatim."""
    query = odd_query(word)
    content = f"{query}\n{shell_query(word)}\n{NULL_QUERY}\nand more"
    return {**_memory(random.Random(2), 0), "title": " ".join(query.split()), "content": content}


def odd_query(word: str) -> str:
    """A query that careless code alters. It has quotation marks, a backslash, a line feed, capitals, and letters
    outside ASCII."""
    return f'{word} "Quoted" back\\slash na\u00efve \u6771\u4eac\nnext line'


def shell_query(word: str) -> str:
    """A query that a shell would execute in part if a command had it without quoting. It is not a valid regular
    expression."""
    return f"{word} it's; a $(touch owned) `folder` [sic"


NULL_QUERY = "null"
"""A query that some frameworks parse as JSON, so that the server gets no query."""


def long_query(word: str) -> str:
    """A query of some 600 characters. If the server searches by words, it finds the same as the single *word*."""
    return " ".join([word] * (600 // (len(word) + 1)))


NOWHERE = "qzxjvkwpfh"
"""A query that finds nothing if the server searches by words."""


@cache
def cjk_memories(size: int = 60) -> tuple[Memory, ...]:
    """A corpus of *size* memories whose texts are almost entirely in CJK scripts."""
    chance = random.Random(1600)
    signs = "記憶想起検索結果閾値分割文書知識要約名前空間時間世界学習言語模型道具呼出説明過程計画実行評価失敗成功再試行"
    found: list[Memory] = []
    for number in range(size):
        base = _memory(chance, number)
        base |= {
            "title": "漢字" + "".join(chance.choices(signs, k=20)),
            "content": "".join(chance.choices(signs, k=600)),
            "entities": [],
            "tags": [],
        }
        found.append(base)
    return tuple(found)


def substitute(template: Any, memory: Mapping[str, Any]) -> Any:
    """A template of arguments in which ``"$memory"`` is replaced by the memory, and ``"$memory.FIELD"`` by one of its
    fields.

    If the memory lacks the field, the argument is left out. The field may be a member of another field, as in
    ``"$memory.provenance.confidence"``.
    """
    if isinstance(template, dict):
        filled = {k: substitute(v, memory) for k, v in cast("dict[str, Any]", template).items()}
        return {k: v for k, v in filled.items() if v is not ABSENT}
    if isinstance(template, list):
        return [value for v in cast("list[Any]", template) if (value := substitute(v, memory)) is not ABSENT]
    if template == "$memory":
        return dict(memory)
    if isinstance(template, str) and template.startswith("$memory."):
        return value_of(template.removeprefix("$memory."), memory)
    return template


def value_of(field: str, memory: Mapping[str, Any]) -> Any:
    """The value of a field of a memory, such as ``provenance.confidence``; `ABSENT` if the memory lacks the field."""
    value: Any = memory
    for key in field.split("."):
        value = cast("dict[str, Any]", value).get(key, ABSENT) if isinstance(value, dict) else ABSENT
    return value


ABSENT = object()
"""Stands for the value of a field that a memory lacks."""


SETS: Mapping[str, Callable[[], tuple[Memory, ...]]] = {"corpus": corpus, "wide": cjk_memories, "growing": growing}
"""The sets of memories that `main` can print, by name. Scripts in reports call `main` instead of containing these
memories."""


def store_request(memory: Memory, tool: str, template: Any, id: int, meta: Mapping[str, Any] | None = None) -> bytes:
    """The request that stores a memory by the server's seed tool.

    *meta* is the ``_meta`` of the request. A conversation without a handshake has it in each request.
    """
    from lro_conformance.wire import jsonrpc

    params = {"name": tool, "arguments": substitute(template, memory)}
    return jsonrpc.request(id, "tools/call", params if meta is None else {**params, "_meta": meta})


def as_lines(memories: Iterable[Memory]) -> Iterator[str]:
    """Memories as lines of JSON."""
    return (json.dumps(memory, ensure_ascii=False) + "\n" for memory in memories)


def main(argv: list[str]) -> None:
    """Print the requests that store the first NUMBER memories of a set. If SET is the only argument, print all memories
    of the set.

    ``python -m lro_conformance.capture SET [TOOL ARGUMENTS FIRST_ID NUMBER [META]]``
    """
    name, *request = argv
    if not request:
        sys.stdout.buffer.writelines(line.encode() for line in as_lines(SETS[name]()))
        return
    tool, template, first_id, number, *meta = request
    envelope = json.loads(meta[0]) if meta else None
    for id, memory in enumerate(SETS[name]()[: int(number)], int(first_id)):
        sys.stdout.buffer.write(store_request(memory, tool, json.loads(template), id, envelope) + b"\n")
