"""Memories in results and files: search, matching by id, comparison.

A server may put its inline records anywhere, so they are searched for. Fields that differ between identical calls are
*volatile* and excluded from comparisons. Equality is that of JSON, with numbers compared as numbers (interpretation
I-17).
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from functools import lru_cache
from itertools import islice
from types import MappingProxyType
from typing import Any, cast
from unicodedata import combining, is_normalized

from lro_spec.jsonl.parse import lenient
from lro_spec.jsonl.strict import equal, is_cut_off, surely_equal, too_deep
from lro_spec.timestamps import parse

Record = dict[str, Any]
Path = tuple[str, ...]

CORE_FIELDS = ("memory_type", "created", "modified", "namespace", "title", "tags", "status", "content")
"""The core fields of a memory object, besides its id ("Memory Lines")."""

MEMORY_FIELDS = (
    *CORE_FIELDS,
    *("entities", "relationships", "wiki_links", "embedding", "summary"),
    *("provenance", "temporal", "extensions", "blocks", "citations"),
)
"""All fields that the specification names for a memory line, besides its id."""

_DEPTH = 4
"""Largest depth of nested objects at which a list of records is searched for."""


def as_record(value: object) -> Record:
    """The value if it is an object, otherwise an empty object."""
    return cast("Record", value) if isinstance(value, dict) else {}


def id_of(record: Mapping[str, Any]) -> str | None:
    """The id of a record as text; None if it has none."""
    value = record.get("id")
    if type(value) is str:  # nearly always; this function is called a hundred thousand times in a run
        return value
    return None if value is None or isinstance(value, (dict, list)) else str(value)


def by_id(records: Iterable[Record]) -> dict[str, Record]:
    """Records by id, without those that have none; if an id is repeated, the first record counts."""
    found: dict[str, Record] = {}
    for record in records:
        key = id_of(record)
        if key is not None:
            found.setdefault(key, record)
    return found


def texts_of_memory(memory: Record) -> list[str]:
    """The title and the content of a memory, each run of white space as one space; blank ones are left out."""
    texts = (_spaced(text) for key in ("title", "content") if isinstance(text := memory.get(key), str))
    return [text for text in texts if text]


@lru_cache(maxsize=1024)  # all memories of an exploration are looked for after each of its calls
def _spaced(text: str) -> str:
    """A text with each run of white space as one space, and none around it."""
    return " ".join(text.split())


def ids_of_memories(records: Iterable[Record], memories: Iterable[Record]) -> set[str]:
    """Ids of the records that show the title or the content of one of these memories, under whatever name."""
    texts = {text for memory in memories for text in texts_of_memory(memory)}
    named = ((id, record) for record in records if (id := id_of(record)) is not None)
    return {id for id, record in named if _shows_any(record, texts)} if texts else set()


def _shows_any(record: Record, texts: Set[str]) -> bool:
    """True if a record has one of these texts; differences in white space do not count.

    The usual case, a field with exactly this text, is tested first.
    """
    fields = [value for value in record.values() if isinstance(value, str)]
    return not texts.isdisjoint(fields) or any(" ".join(text.split()) in texts for text in strings_in(record))


def by_title(records: Iterable[Record]) -> dict[str, Record]:
    """Records by title, without those whose title is not text, or is shared."""
    titled = [(title, r) for r in records if isinstance(title := r.get("title"), str)]
    times = Counter(title for title, _ in titled)
    return {title: record for title, record in titled if times[title] == 1}


def matched(a: Sequence[Record], b: Sequence[Record]) -> list[tuple[Record, Record]]:
    """Pairs of records of the same memory in two results: by id or, if no id is in both, by title.

    Each process of a server may give its memories ids of its own.
    """
    for index in (by_id, by_title):
        left, right = index(a), index(b)
        if common := left.keys() & right.keys():
            return [(left[key], right[key]) for key in left if key in common]
    return []


def find_records(result: Mapping[str, Any] | None, jq_path: str | None = None) -> list[Record] | None:
    """The records of an inline result; None if it has none as JSON (for example a formatted text)."""
    payloads = list(_payloads(result))
    if jq_path is not None:
        return next((_without_remarks(r) for r in (_at(p, jq_path) for p in payloads) if r is not None), None)
    found = [_without_remarks(r) for r in (_largest_list(p, _DEPTH) for p in payloads) if r is not None]
    singles = [unwrap(cast("Record", p)) for p in payloads if isinstance(p, dict)]
    if not any(found) and len(singles) > 1 and all(id_of(s) is not None for s in singles):
        return singles
    if not any(found) and len(singles) == 1 and _is_memory(singles[0]):
        return singles
    if not found:
        return None
    return [unwrap(r) for r in max(found, key=len)]


def _is_memory(record: Record) -> bool:
    """True if an object has an id and at least two fields of a memory, so that it is no envelope."""
    return id_of(record) is not None and len(record.keys() & set(MEMORY_FIELDS)) >= 2


def comparable_keys(one: Sequence[Record], other: Sequence[Record]) -> tuple[list[str], list[str]]:
    """The values by which the records of two results are told apart, in their order.

    These are ids, or titles if the results have no ids in common. If they have no titles either, they are the values of
    the fields, whatever their names, that have most values in common.
    """
    ids, other_ids = [*by_id(one)], [*by_id(other)]
    titles, other_titles = ([str(title) for r in records if (title := r.get("title"))] for records in (one, other))
    if {*ids} & {*other_ids}:
        return ids, other_ids
    if titles and other_titles:
        return titles, other_titles
    fields, other_fields = _distinguishing_fields(one), _distinguishing_fields(other)
    pairs = [(values, others) for values in fields for others in other_fields if len({*values} & {*others}) > 1]
    return max(pairs, key=lambda pair: len({*pair[0]} & {*pair[1]}), default=(ids, other_ids))


def _distinguishing_fields(records: Sequence[Record]) -> list[list[str]]:
    """The texts of each field that tells these records apart: every record has it as text, and more than nine tenths of
    the texts are different."""
    first: Record = records[0] if records else {}
    columns = ([text for r in records if isinstance(text := r.get(name), str)] for name in first)
    return [c for c in columns if len(c) == len(records) and len({*c}) > _DISTINCT * len(c)]


_DISTINCT = 0.9
"""A field tells records apart if more than this share of its values are different."""


def hit_scores(result: Mapping[str, Any] | None) -> list[float]:
    """The scores of an inline result's hits, whether they are fields of the records or stand around them."""
    lists = [found for p in _payloads(result) if (found := _largest_list(p, _DEPTH)) is not None]
    values = [hit.get("score") for hit in max(lists, key=len)] if lists else []
    return [v for v in values if isinstance(v, int | float) and not isinstance(v, bool)]


def envelope(result: Mapping[str, Any] | None, records: Iterable[Record]) -> set[str]:
    """Names of the members that an inline result has besides its records, at two levels; ``[]`` for a mere list."""
    ids = set(by_id(records))
    found: set[str] = set()
    for payload in _payloads(result):
        place = "structuredContent" if result is not None and payload is result.get("structuredContent") else "text"
        if not isinstance(payload, dict):
            found.add(f"{place}: []")
            continue
        for name, value in cast("Record", payload).items():
            found.add(f"{place}: {name}")
            if name not in ids:
                found.update(f"{place}: {name}.{inner}" for inner in as_record(value) if inner not in ids)
    return found


def _without_remarks(records: list[Record]) -> list[Record]:
    """The records of a list, without a first or last member that is a remark on the list: how many there are, or that
    they are truncated.

    A remark has no id, no field of a memory, and no lists or objects inside it. The list is returned unchanged unless
    all other members have an id.
    """

    def remarks(member: Record) -> bool:
        flat = not any(isinstance(v, (dict, list)) for v in member.values())
        return bool(member) and flat and not member.keys() & {"id", *MEMORY_FIELDS}

    inner = records[remarks(records[0]) :] if len(records) > 1 else records
    inner = inner[:-1] if len(inner) > 1 and remarks(inner[-1]) else inner
    return inner if all(id_of(unwrap(r)) is not None for r in inner) else records


_MORE = re.compile(r"(next_?)?(page_?)?cursor|next_?(page_?)?(token|page|offset)|has_?(more|next)", re.IGNORECASE)


def is_a_page(result: Mapping[str, Any] | None) -> bool:
    """True if an inline result indicates that there are more records, by a cursor or a next page."""
    around = [as_record(p) for p in _payloads(result)]
    around += [as_record(v) for members in around for v in members.values()]
    members = ((k, v) for each in around for k, v in each.items())
    return any(_MORE.fullmatch(k) and v not in (None, False, "", 0) for k, v in members)


def text_of(result: Mapping[str, Any] | None) -> str:
    """All text of a result, joined by line feeds: its text blocks or, if it has none, the embedded texts."""
    return "\n".join(texts_of(result))


def unwrap(record: Record) -> Record:
    """The memory inside a search hit such as `{"score": …, "memory": {…}}`."""
    if id_of(record) is not None:
        return record
    inner = [cast("Record", v) for v in record.values() if isinstance(v, dict)]
    return next((i for i in inner if id_of(i) is not None), record)


def volatile_paths(a: Sequence[Record], b: Sequence[Record]) -> set[Path]:
    """Paths at which records of the same memory differ between two identical calls."""
    return {path for one, other in matched(a, b) for path in differences(one, other)}


def differences(a: Mapping[str, Any], b: Mapping[str, Any], at: Path = ()) -> list[Path]:
    """The paths at which two objects differ; null, empty and absent are distinguished."""
    found: list[Path] = []
    if surely_equal(a, b):
        return found
    for key in {**a, **b}:
        here = (*at, key)
        if key not in a or key not in b:
            found.append(here)
        elif isinstance(a[key], dict) and isinstance(b[key], dict):
            found += differences(a[key], b[key], here)
        elif not equal(a[key], b[key]):
            found.append(here)
    return found


def lost_or_changed(
    inline: Record,
    filed: Record,
    volatile: Iterable[Path],
    *,
    added: Collection[str] = (),
    names: Mapping[str, str] = MappingProxyType({}),
) -> list[Path]:
    """Paths at which a file's record lacks or alters a documented field of the inline record.

    A field that only one side has counts if it is a field of a memory and not empty; a score, a rank or a field of the
    server's own may be on one side only. Files may have short values of their own in the fields *added*, and in any
    field if the inline record has names of the server's own (`names_are_mapped`). *names* maps such names to MIF's, as
    far as they are known (`names_of_fields`).
    """
    if surely_equal(inline, filed):  # as nearly all are
        return []
    skip = set(volatile)
    may_be_added = MEMORY_FIELDS if names_are_mapped(inline, filed) else added
    own = _own_values(inline, filed)
    inline = renamed(inline, names, filed)
    found: list[Path] = []
    for path in differences(inline, filed):
        if any(path[: len(v)] == v for v in skip):
            continue
        here, there = _get(inline, path), _get(filed, path)
        if _empty(here) and _empty(there) and not _is_lost_extension(path, here, there):
            continue
        one_sided = _MISSING in (here, there)
        is_added = here is _MISSING and path[0] in may_be_added and _is_mapped(there, own)
        if one_sided and (path[0] not in MEMORY_FIELDS or is_added):
            continue
        found.append(path)
    return found


def names_are_mapped(inline: Record, filed: Record) -> bool:
    """True if the inline record has, under a name of the server's own, a text or a list that the file has under a name
    of MIF."""
    own = _own_values(inline, filed)
    lacking = (filed[name] for name in filed.keys() - inline.keys() if name in MEMORY_FIELDS) if own else ()
    return any(isinstance(value, str | list) and value != "" and value in own for value in lacking)


def of_same_memories(shown: Sequence[Record], others: Iterable[Record]) -> Iterator[tuple[Record, Record]]:
    """Pairs of an inline record and the one other record whose title it has in any of its fields.

    Records that have no such partner, or several, are left out.
    """
    holders: defaultdict[str, list[Record]] = defaultdict(list)
    for record in shown:
        for text in {v for v in record.values() if isinstance(v, str)}:
            holders[text].append(record)
    for title, other in by_title(others).items():
        if len(found := holders.get(title, ())) == 1:
            yield found[0], other


def names_of_fields(pairs: Iterable[tuple[Record, Record]]) -> dict[str, str]:
    """The server's own names of fields in inline records, mapped to the fields of MIF that they stand for.

    Each of *pairs* is an inline record and another record of the same memory, with the names of MIF. A name stands for
    a field if at least three different values are the same under both, and at most as many pairs of values differ. The
    field may be a member of an object, such as ``provenance.confidence``.
    """
    same: defaultdict[tuple[str, str], list[object]] = defaultdict(list)
    other: Counter[tuple[str, str]] = Counter()
    for inline, filed in islice(pairs, _MAX_PAIRS):
        own = {n: v for n, v in inline.items() if n not in filed and n not in MEMORY_FIELDS and not is_blank(v)}
        lacking = {n: v for n, v in filed.items() if n not in inline and n in ("id", *MEMORY_FIELDS)} if own else {}
        lacking |= {f"{outer}.{name}": v for outer, of in lacking.items() for name, v in _numbers(of)}
        for name, value in own.items():
            for field, there in lacking.items():
                if name in _SCORES and "." in field:
                    continue
                if not surely_equal(value, there):
                    other[name, field] += 1
                elif there not in same[name, field]:
                    same[name, field].append(there)
    certain = [(len(v), pair) for pair, v in same.items() if len(v) >= max(_MIN_EQUAL_VALUES, other[pair])]
    found: dict[str, str] = {}
    for _, (name, field) in sorted(certain, reverse=True):
        if name not in found and field not in found.values():
            found[name] = field
    return found


def _numbers(of: object) -> Iterator[tuple[str, Any]]:
    """The numbers in an object, by name: other values, such as dates, may be the same in fields of any kind."""
    members = as_record(of).items()
    return ((name, v) for name, v in members if isinstance(v, (int, float)) and not isinstance(v, bool))


_SCORES = frozenset(("score", "relevance", "similarity", "rank"))
"""Names of figures that say how well a record fits the query, even if a server takes them from the confidence."""


def names_of_cut_fields(pairs: Iterable[tuple[Record, Record]], known: Mapping[str, str]) -> dict[str, str]:
    """The server's own names in inline records, mapped to fields that files always cut to the beginning of the value.

    Only id, namespace, created and modified are examined. *pairs* are like those of `names_of_fields`, which found the
    *known* names. A value is not cut if the rest of the inline value is elsewhere in the file's record: then the server
    has appended it inline, such as a title to a namespace.
    """
    whole: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    others: set[tuple[str, str]] = set()
    for inline, filed in islice(pairs, _MAX_PAIRS):
        own = {n: v for n, v in inline.items() if n not in filed and n not in MEMORY_FIELDS and n not in known}
        for field in (f for f in _CUTTABLE_FIELDS if f in filed and f not in inline and f not in known.values()):
            for name, value in own.items():
                if _is_cut(value, filed, field):
                    whole[name, field].add(value)
                else:
                    others.add((name, field))
    return {
        name: field
        for (name, field), values in whole.items()
        if len(values) >= _MIN_EQUAL_VALUES and (name, field) not in others
    }


def _is_cut(whole: object, filed: Record, field: str) -> bool:
    """True if a field of a file's record has only the beginning of a value."""
    cut = filed[field]
    if not isinstance(whole, str) or not isinstance(cut, str) or not cut or not whole.startswith(cut) or whole == cut:
        return False
    if field in ("created", "modified"):
        return parse(whole) is not None
    rest = whole[len(cut) :].strip(" /:._-#")
    elsewhere = [v for name, value in filed.items() if name != field for v in strings_in(value) if v]
    return not any(rest in v or v in rest for v in elsewhere)


_CUTTABLE_FIELDS = ("id", "namespace", "created", "modified")
"""Fields whose values look complete when they are cut."""

_MAX_PAIRS = 2_000
"""Largest number of pairs of records that are compared to find the names."""

_MIN_EQUAL_VALUES = 3
"""Number of different values that must be the same to exclude coincidence."""


def renamed(record: Record, names: Mapping[str, str], filed: Mapping[str, Any] = MappingProxyType({})) -> Record:
    """An inline record with its fields renamed by *names*. A field keeps its name if the record already has the new
    one, or if *filed* has the old one."""
    new = _new_names(record, names, filed)
    if not new:
        return dict(record)
    found: Record = {}
    for name, value in record.items():
        outer, *member = path_of(new[name]) if name in new else (name,)
        found[outer] = {**as_record(found.get(outer)), member[0]: value} if member else value
    return found


def path_of(field: str) -> Path:
    """The path of a field of MIF by its name in `names_of_fields`."""
    return tuple(field.split("."))


def own_name(record: Record, path: Path, names: Mapping[str, str], filed: Mapping[str, Any]) -> str | None:
    """The name in an inline *record* of the value that `renamed` has at a path; None if it was not renamed."""
    new = _new_names(record, names, filed)
    paths = {own: path_of(new[own]) for own in record if own in new}
    return next((own for own, p in paths.items() if p[: len(path)] == path[: len(p)]), None)


def _new_names(record: Record, names: Mapping[str, str], filed: Mapping[str, Any]) -> dict[str, str]:
    return {own: name for own, name in names.items() if path_of(name)[0] not in record and own not in filed}


def was_given(value: object, given: object) -> bool:
    """True if a value, or a member of an object, is one that the server was given."""
    if isinstance(value, dict) and isinstance(given, dict):
        members = cast("dict[str, object]", given)
        return any(n in members and was_given(v, members[n]) for n, v in cast("dict[str, object]", value).items())
    return equal(value, given)


def _own_values(inline: Record, filed: Record) -> list[object]:
    return [inline[name] for name in inline.keys() - filed.keys() if name not in MEMORY_FIELDS]


def _is_mapped(value: object, own: Sequence[object]) -> bool:
    """True if a value of a file may be one that the inline record has under a name of the server's own.

    A long text has to be the same; a time, a number or a word may have another form, or be added.
    """
    return not isinstance(value, str) or len(value) <= _LONG_TEXT or value in own


_LONG_TEXT = 40
"""Length in characters above which a text is taken to be prose."""


def _is_lost_extension(path: Path, here: object, there: object) -> bool:
    """True if a file's record lacks a member of `extensions` that is empty inline, though not null.

    MIF does not define these members, so an empty value may mean something.
    """
    return path[0] == "extensions" and len(path) > 1 and here is not None and there is _MISSING


def strings_in(value: object) -> list[str]:
    """Every string in a JSON value, except names of members."""
    found: list[str] = []
    _add_strings(value, found)
    return found


def _add_strings(value: object, found: list[str]) -> None:
    if isinstance(value, str):
        found.append(value)
        return
    inner = cast("Record", value).values() if isinstance(value, dict) else cast("list[object]", value)
    for member in inner if isinstance(value, (dict, list)) else ():
        if isinstance(member, str):  # most are, and a call for each takes twice as long
            found.append(member)
        else:
            _add_strings(member, found)


MAX_MESSAGE_CHARACTERS = 200
"""Length in characters up to which a text may be a mere message that nothing was found."""


def mentions_any(text: str, records: Iterable[Record]) -> bool:
    """True if a text contains the beginning of the title, summary, content or id of one of the records."""
    parts = (record.get(k) for record in records for k in ("title", "summary", "content", "id"))
    openings = (_opening(part) for part in parts if isinstance(part, str))
    return any(opening and opening in text for opening in openings)


def _opening(text: str) -> str:
    """The first forty characters of the first line that has at least four: a shorter line is in almost any text."""
    lines = (line.strip() for line in text.splitlines())
    return next((line[:40].strip() for line in lines if len(line) >= 4), "")


def common_word(records: Iterable[Mapping[str, Any]]) -> str | None:
    """The word that is in the most titles of records, but not in all; in other short texts if there are no titles."""
    titles = [r["title"] if isinstance(r.get("title"), str) else " ".join(_short_texts(r)) for r in records]
    found = (re.findall(r"[A-Za-z]{4,}", title.lower()) for title in titles)
    words = Counter(word for each in found for word in set(each))
    some = [(n, w) for w, n in words.items() if n < len(titles)]
    return max(some)[1] if some else None


def _short_texts(record: Mapping[str, Any]) -> list[str]:
    """The texts of a record that have several words, unlike an id or a path: perhaps its title under another name."""
    return [v for v in record.values() if isinstance(v, str) and " " in v and len(v) <= _TITLE]


_TITLE = 100
"""Largest length, in characters, of a text that may be a title."""


def wide_characters(text: str) -> int:
    """Number of characters of a text from U+2E80 on, which includes the wide scripts (CJK, kana, hangul, emoji …)."""
    return 0 if text.isascii() else len(text) - len(_WIDE.sub("", text))


def wide_share(text: str) -> float:
    """Share of the characters of a text that `wide_characters` counts."""
    return wide_characters(text) / len(text) if text else 0.0


_WIDE = re.compile("[\u2e80-\U0010ffff]+")


def show(value: object, limit: int = 160) -> str:
    """A value as JSON for a message, cut to *limit* characters.

    In a text that is not printable or not in NFC, control and combining characters are escaped, so that a reader
    sees them.
    """
    text = json.dumps(value, ensure_ascii=False, default=str)[: limit + 1]
    if not text.isprintable() or not is_normalized("NFC", text):
        text = _NOT_ASCII.sub(_visible, text)
    return text if len(text) <= limit else text[: limit - 1] + "…"


def show_path(path: object) -> str:
    """A path for a message, in which a long run of ``../`` is replaced by its number, so that its end can be seen."""
    run = _UPWARDS.search(path) if isinstance(path, str) else None
    if run is None or not isinstance(path, str):
        return show(path)
    return show(f"{path[: run.start()]}(../ × {len(run[0]) // 3}){path[run.end() :]}")


_UPWARDS = re.compile(r"(?:\.\./){4,}")
_NOT_ASCII = re.compile("[^ -~]")


def _visible(found: re.Match[str]) -> str:
    character = found[0]
    return character if character.isprintable() and not combining(character) else f"\\u{ord(character):04x}"


_MISSING = object()


def _get(record: Mapping[str, Any], path: Path) -> object:
    value: Any = record
    for key in path:
        if not isinstance(value, dict) or key not in value:
            return _MISSING
        value = cast("dict[str, Any]", value)[key]
    return value


def at_path(record: Mapping[str, Any], path: Path) -> object:
    """Value at a path; None if there is none."""
    value = _get(record, path)
    return None if value is _MISSING else value


def value_at(record: Mapping[str, Any], path: Path) -> str:
    """Text for the value at a path in a message."""
    value = _get(record, path)
    return "absent" if value is _MISSING else show(value)


def values_apart(one: Mapping[str, Any], other: Mapping[str, Any], path: Path) -> tuple[str, str]:
    """Texts for two different values at a path; if they look alike when cut, their lengths and where they differ."""
    shown = value_at(one, path), value_at(other, path)
    if shown[0] != shown[1]:
        return shown
    texts = [v if isinstance(v, str) else show(v, 10_000_000) for v in (_get(one, path), _get(other, path))]
    same = next((n for n, (a, b) in enumerate(zip(*texts, strict=False)) if a != b), min(map(len, texts)))
    of = [f"a text of {len(t)} characters, with {show(t[same:], 60)} after the first {same}" for t in texts]
    return of[0], of[1]


def _empty(value: object) -> bool:
    return value is _MISSING or is_blank(value)


def is_blank(value: object) -> bool:
    """True if a field is null, or an empty string, list or object."""
    return not value and not isinstance(value, (int, float))


def texts_of(result: Mapping[str, Any] | None) -> list[str]:
    """The texts of a result: its text blocks or, if it has none, the embedded texts."""
    content = (result or {}).get("content")
    if not isinstance(content, list):
        return []
    blocks = [cast("dict[str, Any]", b) for b in cast("list[Any]", content) if isinstance(b, dict)]
    embedded = (as_record(b.get("resource")) for b in blocks)
    return _text_in(blocks) or _text_in(embedded)


def _text_in(holders: Iterable[Record]) -> list[str]:
    return [h["text"] for h in holders if isinstance(h.get("text"), str)]


def _payloads(result: Mapping[str, Any] | None) -> Iterable[Any]:
    if result is None:
        return
    if result.get("structuredContent") is not None:
        yield result["structuredContent"]
    for text in texts_of(result):
        value = _cached_json_in(text) if len(text) < _MAX_CACHED_CHARACTERS else _json_in(text)
        if value is not None:
            yield value


def size(record: Mapping[str, Any]) -> int:
    """Number of characters of a record as compact JSON."""
    return len(json.dumps(record, ensure_ascii=False, separators=(",", ":"), default=str))


_MAX_CACHED_CHARACTERS = 1 << 20
"""Texts of at least this many characters are parsed each time, and not cached."""


@lru_cache(maxsize=64)
def _cached_json_in(text: str) -> Any:
    return _json_in(text)


def _json_in(text: str) -> Any:
    try:
        whole = lenient(text)
    except (ValueError, RecursionError):
        pass
    else:
        return None if too_deep(whole) else whole
    lines = _json_lines(text)
    if lines:
        return lines
    starts = [i for i in (text.find("{"), text.find("[")) if i >= 0]
    for start in sorted(starts):
        try:
            value, end = json.JSONDecoder().raw_decode(text, start)
        except (ValueError, RecursionError):
            if text[start] == "[" and text[start + 1 :].lstrip().startswith("{"):
                return None  # a broken list; its first member alone is not the value
            continue
        if not _is_a_line(text, start, end) and (not value or _is_of_prose(text, start, end)):
            continue  # brackets of a sentence or of a title, or JSON in the text of one record
        return None if too_deep(value) else value
    return None


def _is_a_line(text: str, start: int, end: int) -> bool:
    """True if nothing else is on the lines of a part of a text."""
    before, after = text[:start].rpartition("\n")[2], text[end:].partition("\n")[0]
    return not before.strip() and not after.strip()


def _is_of_prose(text: str, start: int, end: int) -> bool:
    """True if a part of a text is less than a quarter of it, or stands in a line of a Markdown list or table."""
    line = text[:start].rpartition("\n")[2].lstrip()
    return 4 * (end - start) < len(text) or line.startswith(("- ", "* ", "• ", "**", "|"))


def cut_off(text: str, ids: Iterable[str]) -> bool:
    """True if records with some of these *ids* begin as JSON in a text and are cut off, whether or not the text
    says so."""
    begins = re.search(r'\[\s*\{\s*"|\{\s*"(?:\\.|[^"\\])*"\s*:', text)
    if begins is None or not any(text.find(show(key), begins.start()) >= 0 for key in ids):
        return False
    problem = _no_json(text, begins.start())
    return problem is not None and (is_cut_off(text, problem.pos) or problem.pos >= len(text) - _CUT_NOTICE_CHARACTERS)


_CUT_NOTICE_CHARACTERS = 60
"""Largest number of characters after cut JSON that may say that it was cut."""


def broken_descriptor(text: str) -> str | None:
    """The problem of the first descriptor as JSON in a text, if it is cut off, or stands at the beginning and cannot be
    read; otherwise None. A sentence that has members of a descriptor between braces is not a descriptor."""
    begins = _DESCRIPTOR.search(text)
    problem = None if begins is None else _no_json(text, begins.start())
    if begins is None or problem is None:
        return None
    cut = is_cut_off(text, problem.pos) or "}" not in text[problem.pos :]
    is_descriptor = cut or _FENCE.fullmatch(text, 0, begins.start())
    return f"{problem.msg} (character {problem.pos})" if is_descriptor else None


def _no_json(text: str, at: int) -> json.JSONDecodeError | None:
    """Error which proves that no JSON begins here; None if JSON does, or if it is nested too deeply to decide."""
    try:
        json.JSONDecoder().raw_decode(text, at)
    except RecursionError:
        return None
    except json.JSONDecodeError as problem:
        return problem
    return None


_FENCE = re.compile(r"\ufeff?\s*(?:```(?:json)?\s*)?")
_DESCRIPTOR = re.compile(r'\{\s*"(?:offloaded|summary|file_path|line_schema|jq_recipes|guidance)"\s*:')


def _json_lines(text: str) -> list[Any] | None:
    """The objects of a text with one per line, other lines skipped; None if there are fewer than two, or if a line that
    begins like an object is not one."""
    found: list[Any] = []
    for line in text.split("\n") if "\n" in text else ():
        if line.lstrip().startswith("{"):
            try:
                found.append(json.loads(line))
            except (ValueError, RecursionError):
                return None
    return found if len(found) > 1 and not too_deep(found) else None


def _largest_list(value: Any, depth: int) -> list[Record] | None:
    if isinstance(value, list):
        items = cast("list[Any]", value)
        if len(items) > 1 and isinstance(items[-1], str) and isinstance(items[0], dict):
            items = items[:-1]  # a list of memories may end with a sentence: a warning, say
        return [cast("Record", i) for i in items] if all(isinstance(i, dict) for i in items) else None
    if not isinstance(value, dict) or depth == 0:
        return None
    inner = [_largest_list(v, depth - 1) for k, v in cast("dict[str, Any]", value).items() if k not in _NOT_RECORDS]
    return max((i for i in inner if i is not None), key=len, default=None)


_NOT_RECORDS = {"entities", "relationships", "blocks", "citations", "jq_recipes", "line_schema", "wiki_links"}


def _at(payload: Any, jq_path: str) -> list[Record] | None:
    value = payload
    for key in [k for k in jq_path.strip().split(".") if k not in ("", "[]")]:
        name = key.removesuffix("[]")
        if not isinstance(value, dict) or name not in value:
            return None
        value = cast("dict[str, Any]", value)[name]
    if not isinstance(value, list):
        return None
    items: Sequence[Any] = cast("list[Any]", value)
    return [unwrap(cast("Record", i)) for i in items if isinstance(i, dict)]
