"""The records in results and files: how they are found, paired, and compared.

A *memory* is what a server stores; a record is the JSON object that represents a memory in a result or file. A server
may put the records of an inline result anywhere, so the suite searches for them. Fields that differ between identical
calls are *volatile*, and are left out of comparisons. Two values are equal if they are equal as JSON, where numbers are
compared by value (interpretation I-17). MIF is the format that defines the fields of a memory.
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

from lro_spec.jsonl.parse import read_leniently
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

_MAX_DEPTH = 4
"""Largest depth of nested objects at which the suite looks for a list of records."""


def as_record(value: object) -> Record:
    """The value if it is an object, otherwise an empty object."""
    return cast("Record", value) if isinstance(value, dict) else {}


def id_of(record: Mapping[str, Any]) -> str | None:
    """The id of a record as text; None if the record has no id, or if the id is a list or an object."""
    value = record.get("id")
    if type(value) is str:  # This is so nearly always, and the function is called a hundred thousand times in a run.
        return value
    return None if value is None or isinstance(value, (dict, list)) else str(value)


def by_id(records: Iterable[Record]) -> dict[str, Record]:
    """Records by id. Records without an id are left out. If several records have the same id, the first one counts."""
    found: dict[str, Record] = {}
    for record in records:
        key = id_of(record)
        if key is not None:
            found.setdefault(key, record)
    return found


def repeated_ids(records: Iterable[Record]) -> dict[str, int]:
    """Ids that are shared by several records, each with the number of these records."""
    return {k: n for k, n in Counter(map(id_of, records)).items() if k is not None and n > 1}


def texts_of_memory(memory: Record) -> list[str]:
    """The title and the content of a memory, in which each run of white space is replaced by one space. A blank title
    or content is left out."""
    texts = (_spaced(text) for key in ("title", "content") if isinstance(text := memory.get(key), str))
    return [text for text in texts if text]


@lru_cache(maxsize=1024)  # After each call of an exploration, all of its memories are looked for.
def _spaced(text: str) -> str:
    """A text in which each run of white space is replaced by one space. White space at either end is removed."""
    return " ".join(text.split())


def ids_of_memories(records: Iterable[Record], memories: Iterable[Record]) -> set[str]:
    """Ids of the records that show the title or the content of one of these memories, whatever the name of the
    field."""
    texts = {text for memory in memories for text in texts_of_memory(memory)}
    named = ((id, record) for record in records if (id := id_of(record)) is not None)
    return {id for id, record in named if _shows_any(record, texts)} if texts else set()


def _shows_any(record: Record, texts: Set[str]) -> bool:
    """True if a record has one of these texts, apart from differences in white space.

    In the usual case, a field has exactly this text. That is tested first.
    """
    fields = [value for value in record.values() if isinstance(value, str)]
    return not texts.isdisjoint(fields) or any(" ".join(text.split()) in texts for text in strings_in(record))


def by_title(records: Iterable[Record]) -> dict[str, Record]:
    """Records by title. A record is left out if its title is not a text, or if several records have this title."""
    titled_records = [(title, r) for r in records if isinstance(title := r.get("title"), str)]
    occurrences = Counter(title for title, _ in titled_records)
    return {title: record for title, record in titled_records if occurrences[title] == 1}


def matched(a: Sequence[Record], b: Sequence[Record]) -> list[tuple[Record, Record]]:
    """Pairs of records of the same memory in two results. They are paired by id. If the results have no id in common,
    they are paired by title, because each process of a server may give its memories different ids."""
    for index in (by_id, by_title):
        left, right = index(a), index(b)
        if common := left.keys() & right.keys():
            return [(left[key], right[key]) for key in left if key in common]
    return []


def find_records(result: Mapping[str, Any] | None, jq_path: str | None = None) -> list[Record] | None:
    """The records of an inline result. None if it has no records in the form of JSON, for example if it is a formatted
    text.

    *jq_path* is the path of the records; if it is None, they are searched for.
    """
    payloads = list(_payloads(result))
    if jq_path is not None:
        return next((_without_remarks(r) for r in (_records_at(p, jq_path) for p in payloads) if r is not None), None)
    singles = [unwrap(cast("Record", p)) for p in payloads if isinstance(p, dict)]
    if len(by_id(singles)) == len(payloads) > 1 and all(_is_memory(s) for s in singles):
        return singles  # A list in one of these memories is no list of memories.
    found = [_without_remarks(r) for r in (_largest_list(p, _MAX_DEPTH) for p in payloads) if r is not None]
    if not any(found) and len(singles) > 1 and all(id_of(s) is not None for s in singles):
        return singles
    if not any(found) and len(singles) == 1 and _is_memory(singles[0]):
        return singles
    if not found:
        return None
    return [unwrap(r) for r in max(found, key=len)]


def _is_memory(record: Record) -> bool:
    """True if an object has an id and at least two fields of a memory. Then it is a memory itself, not an object that
    contains memories."""
    return id_of(record) is not None and len(record.keys() & set(MEMORY_FIELDS)) >= 2


def comparable_keys(one: Sequence[Record], other: Sequence[Record]) -> tuple[list[str], list[str]]:
    """For each of two results, the values by which its records are told apart, in the order of the records.

    If the results have ids in common, these are the ids. Otherwise, if both have titles, they are the titles. If not,
    the function looks for a field of either result, whatever its name, such that the two fields have as many values in
    common as possible, and at least two. If there are no such fields, the ids are returned.
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
    """The texts of each field that tells these records apart. Such a field is a text in every record, and more than
    nine tenths of its texts are different."""
    first: Record = records[0] if records else {}
    columns = ([text for r in records if isinstance(text := r.get(name), str)] for name in first)
    return [c for c in columns if len(c) == len(records) and len({*c}) > _MIN_DISTINCT_SHARE * len(c)]


_MIN_DISTINCT_SHARE = 0.9
"""A field tells records apart only if its number of different values is more than this share of the number of
records."""


def hit_scores(result: Mapping[str, Any] | None) -> list[float]:
    """The scores of the hits in an inline result. A score may be a field of the record, or of the object around it."""
    lists = [found for p in _payloads(result) if (found := _largest_list(p, _MAX_DEPTH)) is not None]
    values = [hit.get("score") for hit in max(lists, key=len)] if lists else []
    return [v for v in values if isinstance(v, int | float) and not isinstance(v, bool)]


def envelope(result: Mapping[str, Any] | None, records: Iterable[Record]) -> set[str]:
    """Names of the members that an inline result has besides its records, at the first and the second level. If the
    result is a mere list, ``[]`` stands for it."""
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
    """The records of a list, without a first or last member that is a remark on the list. A remark says, for example,
    how many records there are, or that the list is truncated.

    A remark has no id, no field of a memory, and no lists or objects inside it. Members are removed only if all other
    members have an id.
    """

    def is_remark(member: Record) -> bool:
        is_flat = not any(isinstance(v, (dict, list)) for v in member.values())
        return bool(member) and is_flat and not member.keys() & {"id", *MEMORY_FIELDS}

    inner = records[is_remark(records[0]) :] if len(records) > 1 else records
    inner = inner[:-1] if len(inner) > 1 and is_remark(inner[-1]) else inner
    return inner if all(id_of(unwrap(r)) is not None for r in inner) else records


_NEXT_PAGE = re.compile(r"(next_?)?(page_?)?cursor|next_?(page_?)?(token|page|offset)|has_?(more|next)", re.IGNORECASE)


def is_a_page(result: Mapping[str, Any] | None) -> bool:
    """True if a member of an inline result, such as a cursor or a next page, says that there are more records."""
    objects = [as_record(p) for p in _payloads(result)]
    objects += [as_record(v) for members in objects for v in members.values()]
    members = ((k, v) for each in objects for k, v in each.items())
    return any(_NEXT_PAGE.fullmatch(k) and v not in (None, False, "", 0) for k, v in members)


def text_of(result: Mapping[str, Any] | None) -> str:
    """The texts of a result (`texts_of`), joined by line feeds."""
    return "\n".join(texts_of(result))


def unwrap(record: Record) -> Record:
    """The memory inside a search hit such as `{"score": …, "memory": {…}}`. A record that has an id, or that contains
    no object with an id, is returned unchanged."""
    if id_of(record) is not None:
        return record
    inner = [cast("Record", v) for v in record.values() if isinstance(v, dict)]
    return next((i for i in inner if id_of(i) is not None), record)


def volatile_paths(a: Sequence[Record], b: Sequence[Record]) -> set[Path]:
    """Paths of the fields that differ between the records of the same memory in two identical calls."""
    return {path for one, other in matched(a, b) for path in differences(one, other)}


def differences(a: Mapping[str, Any], b: Mapping[str, Any], path: Path = ()) -> list[Path]:
    """The paths of the values that differ between two objects. Null, an empty value and an absent value are all
    different from each other. The objects are at *path* themselves."""
    found: list[Path] = []
    if surely_equal(a, b):
        return found
    for key in {**a, **b}:
        member_path = (*path, key)
        if key not in a or key not in b:
            found.append(member_path)
        elif isinstance(a[key], dict) and isinstance(b[key], dict):
            found += differences(a[key], b[key], member_path)
        elif not equal(a[key], b[key]):
            found.append(member_path)
    return found


def lost_or_changed(
    inline: Record,
    filed: Record,
    volatile: Iterable[Path],
    *,
    added: Collection[str] = (),
    names: Mapping[str, str] = MappingProxyType({}),
) -> list[Path]:
    """Paths of the values of an inline record that the file's record of the same memory lacks or alters.

    A field that only one of the records has counts if it is a field of a memory and not empty. Scores, ranks and the
    server's own fields do not count if only one of the records has them.

    If only the file has a field of a memory, the field does not count in two cases: if it is in *added*; and if the
    inline record uses the server's own names for fields (`names_are_mapped`). Even then, the field counts if its value
    is a long text that the inline record does not have.

    *names* maps the server's own names to those of MIF, as far as the suite knows them (`names_of_fields`).
    """
    if surely_equal(inline, filed):  # This is so for nearly all records.
        return []
    skipped = set(volatile)
    may_be_added = MEMORY_FIELDS if names_are_mapped(inline, filed) else added
    own_values = _own_values(inline, filed)
    inline = renamed(inline, names, filed)
    found: list[Path] = []
    for path in differences(inline, filed):
        if any(path[: len(v)] == v for v in skipped):
            continue
        inline_value, filed_value = _value_or_missing(inline, path), _value_or_missing(filed, path)
        if (
            _is_empty(inline_value)
            and _is_empty(filed_value)
            and not _is_lost_extension(path, inline_value, filed_value)
        ):
            continue
        one_sided = _MISSING in (inline_value, filed_value)
        is_added = inline_value is _MISSING and path[0] in may_be_added and _is_mapped(filed_value, own_values)
        if one_sided and (path[0] not in MEMORY_FIELDS or is_added):
            continue
        found.append(path)
    return found


def names_are_mapped(inline: Record, filed: Record) -> bool:
    """True if a text or a list has one of MIF's names in the file, but one of the server's own names in the inline
    record."""
    own_values = _own_values(inline, filed)
    missing_values = (
        (filed[name] for name in filed.keys() - inline.keys() if name in MEMORY_FIELDS) if own_values else ()
    )
    return any(isinstance(value, str | list) and value != "" and value in own_values for value in missing_values)


def of_same_memories(
    inline_records: Sequence[Record], other_records: Iterable[Record]
) -> Iterator[tuple[Record, Record]]:
    """Pairs of an inline record and another record of the same memory. The inline record has the title of the other
    record in any of its fields.

    A record is left out if its title is in no inline record, or in several inline records.
    """
    holders: defaultdict[str, list[Record]] = defaultdict(list)
    for record in inline_records:
        for text in {v for v in record.values() if isinstance(v, str)}:
            holders[text].append(record)
    for title, other in by_title(other_records).items():
        if len(found := holders.get(title, ())) == 1:
            yield found[0], other


def names_of_fields(pairs: Iterable[tuple[Record, Record]]) -> dict[str, str]:
    """The server's own names of fields in inline records, mapped to the names of the same fields in MIF.

    Each of the *pairs* is an inline record and another record of the same memory, which has the names of MIF. Two names
    are taken for names of the same field under two conditions: at least three different values are equal under both
    names; and the number of pairs with unequal values is not greater than the number of these equal values. The field
    of MIF may be a member of an object, such as ``provenance.confidence``.
    """
    equal_values: defaultdict[tuple[str, str], list[object]] = defaultdict(list)
    unequal_pairs: Counter[tuple[str, str]] = Counter()
    for inline, filed in islice(pairs, _MAX_PAIRS):
        own_fields = {n: v for n, v in inline.items() if n not in filed and n not in MEMORY_FIELDS and not is_blank(v)}
        missing_fields = (
            {n: v for n, v in filed.items() if n not in inline and n in ("id", *MEMORY_FIELDS)} if own_fields else {}
        )
        missing_fields |= {
            f"{outer}.{name}": v for outer, members in missing_fields.items() for name, v in _numbers(members)
        }
        for name, value in own_fields.items():
            for field, filed_value in missing_fields.items():
                if name in _SCORE_NAMES and "." in field:
                    continue
                if not surely_equal(value, filed_value):
                    unequal_pairs[name, field] += 1
                elif filed_value not in equal_values[name, field]:
                    equal_values[name, field].append(filed_value)
    certain = [
        (len(v), pair) for pair, v in equal_values.items() if len(v) >= max(_MIN_EQUAL_VALUES, unequal_pairs[pair])
    ]
    found: dict[str, str] = {}
    for _, (name, field) in sorted(certain, reverse=True):
        if name not in found and field not in found.values():
            found[name] = field
    return found


def _numbers(value: object) -> Iterator[tuple[str, Any]]:
    """Names and values of those members of an object that are numbers. Other values, such as dates, may be equal by
    chance in different fields."""
    members = as_record(value).items()
    return ((name, v) for name, v in members if isinstance(v, (int, float)) and not isinstance(v, bool))


_SCORE_NAMES = frozenset(("score", "relevance", "similarity", "rank"))
"""Names of fields that say how well a record fits the query. They are not names of the confidence, even if a server
takes their values from it."""


def names_of_cut_fields(pairs: Iterable[tuple[Record, Record]], known: Mapping[str, str]) -> dict[str, str]:
    """The server's own names in inline records, mapped to MIF's names of fields of which files have only the beginning.

    A name is included only if files cut the value of the field in all *pairs* that show it. Only the fields id,
    namespace, created and modified are examined. The *pairs* are like those of `names_of_fields`; the *known* names are
    its result.

    A value does not count as cut if the rest of the inline value is elsewhere in the file's record. In that case, the
    server has appended the rest to the inline value, for example a title to a namespace.
    """
    whole_values: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    uncut_pairs: set[tuple[str, str]] = set()
    for inline, filed in islice(pairs, _MAX_PAIRS):
        own_fields = {n: v for n, v in inline.items() if n not in filed and n not in MEMORY_FIELDS and n not in known}
        for field in (f for f in _CUTTABLE_FIELDS if f in filed and f not in inline and f not in known.values()):
            for name, value in own_fields.items():
                if _is_cut(value, filed, field):
                    whole_values[name, field].add(value)
                else:
                    uncut_pairs.add((name, field))
    return {
        name: field
        for (name, field), values in whole_values.items()
        if len(values) >= _MIN_EQUAL_VALUES and (name, field) not in uncut_pairs
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
"""Fields whose values still look complete after they were cut."""

_MAX_PAIRS = 2_000
"""Largest number of pairs of records that are compared to find the server's own names."""

_MIN_EQUAL_VALUES = 3
"""Least number of different values that two fields must have in common, to exclude coincidence."""


def renamed(record: Record, names: Mapping[str, str], filed: Mapping[str, Any] = MappingProxyType({})) -> Record:
    """An inline record whose fields are renamed by *names*. A field keeps its name if the record already has a field
    with the new name, or if the record *filed* has a field with the old name."""
    new = _new_names(record, names, filed)
    if not new:
        return dict(record)
    found: Record = {}
    for name, value in record.items():
        outer, *member = path_of(new[name]) if name in new else (name,)
        found[outer] = {**as_record(found.get(outer)), member[0]: value} if member else value
    return found


def path_of(field: str) -> Path:
    """The path of a field of MIF, from its name in the result of `names_of_fields`."""
    return tuple(field.split("."))


def own_name(record: Record, path: Path, names: Mapping[str, str], filed: Mapping[str, Any]) -> str | None:
    """The name that a field of an inline *record* had before `renamed` moved it to *path*; None if the field was not
    renamed."""
    new = _new_names(record, names, filed)
    paths = {own: path_of(new[own]) for own in record if own in new}
    return next((own for own, p in paths.items() if p[: len(path)] == path[: len(p)]), None)


def _new_names(record: Record, names: Mapping[str, str], filed: Mapping[str, Any]) -> dict[str, str]:
    return {own: name for own, name in names.items() if path_of(name)[0] not in record and own not in filed}


def was_given(value: object, given: object) -> bool:
    """True if a *value* equals the value that the server was *given*. For objects, it is enough if this is true of one
    of the members."""
    if isinstance(value, dict) and isinstance(given, dict):
        members = cast("dict[str, object]", given)
        return any(n in members and was_given(v, members[n]) for n, v in cast("dict[str, object]", value).items())
    return equal(value, given)


def _own_values(inline: Record, filed: Record) -> list[object]:
    return [inline[name] for name in inline.keys() - filed.keys() if name not in MEMORY_FIELDS]


def _is_mapped(value: object, own_values: Sequence[object]) -> bool:
    """True if the inline record may have a file's *value* under one of the server's own names.

    A long text must be one of *own_values*, the values under these names. A time, a number or a word may have another
    form there, or may have been added by the file.
    """
    return not isinstance(value, str) or len(value) <= _MAX_SHORT_TEXT or value in own_values


_MAX_SHORT_TEXT = 40
"""Largest length, in characters, of a text that is not yet taken to be prose."""


def _is_lost_extension(path: Path, inline_value: object, filed_value: object) -> bool:
    """True if a file's record lacks a member of `extensions` that the inline record has with an empty value other than
    null.

    MIF does not define the members of `extensions`, so an empty value may have a meaning.
    """
    return path[0] == "extensions" and len(path) > 1 and inline_value is not None and filed_value is _MISSING


def strings_in(value: object) -> list[str]:
    """Every string in a JSON value. The names of members are left out."""
    found: list[str] = []
    _add_strings(value, found)
    return found


def _add_strings(value: object, found: list[str]) -> None:
    if isinstance(value, str):
        found.append(value)
        return
    inner = cast("Record", value).values() if isinstance(value, dict) else cast("list[object]", value)
    for member in inner if isinstance(value, (dict, list)) else ():
        if isinstance(member, str):  # Most members are strings, and a call for each of them takes twice as long.
            found.append(member)
        else:
            _add_strings(member, found)


MAX_MESSAGE_CHARACTERS = 200
"""Largest length, in characters, of a text that may be a mere message that nothing was found."""


def mentions_any(text: str, records: Iterable[Record]) -> bool:
    """True if a text contains the beginning of the title, summary, content or id of one of the records."""
    parts = (record.get(k) for record in records for k in ("title", "summary", "content", "id"))
    openings = (_opening(part) for part in parts if isinstance(part, str))
    return any(opening and opening in text for opening in openings)


def _opening(text: str) -> str:
    """The first forty characters of the first line that has at least four characters. Shorter lines are skipped,
    because they occur in almost any text."""
    lines = (line.strip() for line in text.splitlines())
    return next((line[:40].strip() for line in lines if len(line) >= 4), "")


def common_word(records: Iterable[Mapping[str, Any]]) -> str | None:
    """The word that is in the largest number of titles of records, but not in all titles. If a record has no title, its
    short texts take the place of the title. None if there is no such word."""
    titles = [r["title"] if isinstance(r.get("title"), str) else " ".join(_short_texts(r)) for r in records]
    found = (re.findall(r"[A-Za-z]{4,}", title.lower()) for title in titles)
    words = Counter(word for each in found for word in set(each))
    candidates = [(n, w) for w, n in words.items() if n < len(titles)]
    return max(candidates)[1] if candidates else None


def _short_texts(record: Mapping[str, Any]) -> list[str]:
    """The short texts of a record that have several words, and so are no ids or paths. One of them may be the title
    under another name."""
    return [v for v in record.values() if isinstance(v, str) and " " in v and len(v) <= _MAX_TITLE_LENGTH]


_MAX_TITLE_LENGTH = 100
"""Largest length, in characters, of a text that may be a title."""


def wide_characters(text: str) -> int:
    """Number of characters of a text whose code point is U+2E80 or above. They include the characters of wide scripts:
    CJK, kana, hangul, emoji, and others."""
    return 0 if text.isascii() else len(text) - len(_WIDE.sub("", text))


def wide_share(text: str) -> float:
    """The share of the characters of a text that are wide (`wide_characters`)."""
    return wide_characters(text) / len(text) if text else 0.0


_WIDE = re.compile("[\u2e80-\U0010ffff]+")


def show(value: object, limit: int = 160) -> str:
    """A value as JSON for a message, cut to *limit* characters.

    If the text has characters that are not printable, or is not in the normal form NFC, control and combining
    characters are escaped, so that a reader sees them.
    """
    text = json.dumps(value, ensure_ascii=False, default=str)[: limit + 1]
    if not text.isprintable() or not is_normalized("NFC", text):
        text = _NOT_ASCII.sub(_visible, text)
    return text if len(text) <= limit else text[: limit - 1] + "…"


def show_path(path: object) -> str:
    """A path for a message. A long run of ``../`` is replaced by the number of its repetitions, so that the end of the
    path can be seen."""
    run = _UPWARDS.search(path) if isinstance(path, str) else None
    if run is None or not isinstance(path, str):
        return show(path)
    return show(f"{path[: run.start()]}(../ × {len(run[0]) // 3}){path[run.end() :]}")


_UPWARDS = re.compile(r"(?:\.\./){4,}")
_NOT_ASCII = re.compile("[^ -~]")


def _visible(match: re.Match[str]) -> str:
    character = match[0]
    return character if character.isprintable() and not combining(character) else f"\\u{ord(character):04x}"


_MISSING = object()


def _value_or_missing(record: Mapping[str, Any], path: Path) -> object:
    value: Any = record
    for key in path:
        if not isinstance(value, dict) or key not in value:
            return _MISSING
        value = cast("dict[str, Any]", value)[key]
    return value


def at_path(record: Mapping[str, Any], path: Path) -> object:
    """The value at a path; None if the record has no value there."""
    value = _value_or_missing(record, path)
    return None if value is _MISSING else value


def has_path(record: Mapping[str, Any], path: Path) -> bool:
    """True if a record has a value at a path, which may be null."""
    return _value_or_missing(record, path) is not _MISSING


def value_at(record: Mapping[str, Any], path: Path) -> str:
    """The value at a path, as a text for a message."""
    value = _value_or_missing(record, path)
    return "absent" if value is _MISSING else show(value)


def values_apart(one: Mapping[str, Any], other: Mapping[str, Any], path: Path) -> tuple[str, str]:
    """Texts for a message about the different values of two records at a path. If the values look alike when they are
    cut, the texts have their lengths, and the part that begins where the values differ."""
    shown = value_at(one, path), value_at(other, path)
    if shown[0] != shown[1]:
        return shown
    texts = [
        v if isinstance(v, str) else show(v, 10_000_000)
        for v in (_value_or_missing(one, path), _value_or_missing(other, path))
    ]
    common_length = next((n for n, (a, b) in enumerate(zip(*texts, strict=False)) if a != b), min(map(len, texts)))
    descriptions = [
        f"a text of {len(t)} characters, with {show(t[common_length:], 60)} after the first {common_length}"
        for t in texts
    ]
    return descriptions[0], descriptions[1]


def _is_empty(value: object) -> bool:
    return value is _MISSING or is_blank(value)


def is_blank(value: object) -> bool:
    """True if a field is null, or an empty string, list or object."""
    return not value and not isinstance(value, (int, float))


def texts_of(result: Mapping[str, Any] | None) -> list[str]:
    """The texts of a result. These are its text blocks or, if it has no text blocks, the texts of embedded
    resources."""
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
"""The values of texts with at least this number of characters are not cached. These texts are parsed each time."""


@lru_cache(maxsize=64)
def _cached_json_in(text: str) -> Any:
    return _json_in(text)


def _json_in(text: str) -> Any:
    try:
        whole = read_leniently(text)
    except (ValueError, RecursionError):
        pass
    else:
        return None if too_deep(whole) else whole
    lines = _json_lines(text)
    if lines is not None:
        return lines or None
    starts = [i for i in (text.find("{"), text.find("[")) if i >= 0]
    for start in sorted(starts):
        try:
            value, end = json.JSONDecoder().raw_decode(text, start)
        except (ValueError, RecursionError):
            if text[start] == "[" and text[start + 1 :].lstrip().startswith("{"):
                return None  # The list is broken. Its first member alone is not the value.
            continue
        if not _is_a_line(text, start, end) and (not value or _is_of_prose(text, start, end)):
            continue  # These are brackets of a sentence or a title, or JSON in the text of a record.
        return None if too_deep(value) else value
    return None


def _is_a_line(text: str, start: int, end: int) -> bool:
    """True if the part of a text from *start* to *end* shares its lines with no other text."""
    before, after = text[:start].rpartition("\n")[2], text[end:].partition("\n")[0]
    return not before.strip() and not after.strip()


def _is_of_prose(text: str, start: int, end: int) -> bool:
    """True if the part from *start* to *end* is less than a quarter of the text, or begins in a line of a Markdown list
    or table."""
    line = text[:start].rpartition("\n")[2].lstrip()
    return 4 * (end - start) < len(text) or line.startswith(("- ", "* ", "• ", "**", "|"))


def cut_off(text: str, ids: Iterable[str]) -> bool:
    """True if a text has JSON that contains one of these *ids* and is cut off. It does not matter whether the text says
    that it is cut off."""
    opening = re.search(r'\[\s*\{\s*"|\{\s*"(?:\\.|[^"\\])*"\s*:', text)
    if opening is None or not any(text.find(show(key), opening.start()) >= 0 for key in ids):
        return False
    problem = _json_error(text, opening.start())
    return problem is not None and (is_cut_off(text, problem.pos) or problem.pos >= len(text) - _MAX_CUT_NOTICE)


_MAX_CUT_NOTICE = 60
"""Largest length, in characters, of a notice after cut JSON which says that the JSON was cut."""


def broken_descriptor(text: str) -> str | None:
    """The error in the JSON of the first descriptor in a text. None if the text has no descriptor, or if the descriptor
    is valid JSON.

    A descriptor with an error is recognised only if it is cut off, or if it stands at the beginning of the text.
    Otherwise, it may be a sentence that quotes members of a descriptor between braces.
    """
    opening = _DESCRIPTOR.search(text)
    problem = None if opening is None else _json_error(text, opening.start())
    if opening is None or problem is None:
        return None
    cut = is_cut_off(text, problem.pos) or "}" not in text[problem.pos :]
    is_descriptor = cut or _CODE_FENCE.fullmatch(text, 0, opening.start())
    return f"{problem.msg} (character {problem.pos})" if is_descriptor else None


def _json_error(text: str, start: int) -> json.JSONDecodeError | None:
    """The error which proves that no JSON value begins at *start*. None if a JSON value begins there, or if it is
    nested too deeply to decide that."""
    try:
        json.JSONDecoder().raw_decode(text, start)
    except RecursionError:
        return None
    except json.JSONDecodeError as problem:
        return problem
    return None


_CODE_FENCE = re.compile(r"\ufeff?\s*(?:```(?:json)?\s*)?")
_DESCRIPTOR = re.compile(r'\{\s*"(?:offloaded|summary|file_path|line_schema|jq_recipes|guidance)"\s*:')


def _json_lines(text: str) -> list[Any] | None:
    """The objects of a text that has one object per line. Lines that do not begin like an object are skipped. None if
    there are fewer than two objects, or if a line begins like an object but is not an object.

    Empty if there is other text between the objects and they are less than a quarter of the whole text. Then the
    objects are values in a text about memories.
    """
    found: list[Any] = []
    lines = text.split("\n") if "\n" in text else []
    numbers = [number for number, line in enumerate(lines) if line.lstrip().startswith("{")]
    for number in numbers:
        try:
            found.append(json.loads(lines[number]))
        except (ValueError, RecursionError):
            return None
    if len(found) < 2 or too_deep(found):
        return None
    others_between = any(line.strip() for line in lines[numbers[0] : numbers[-1]] if not line.lstrip().startswith("{"))
    return [] if others_between and 4 * sum(len(lines[n]) for n in numbers) < len(text) else found


def _largest_list(value: Any, depth: int) -> list[Record] | None:
    if isinstance(value, list):
        items = cast("list[Any]", value)
        if len(items) > 1 and isinstance(items[-1], str) and isinstance(items[0], dict):
            items = items[:-1]  # A list of memories may end with a sentence, such as a warning.
        return [cast("Record", i) for i in items] if all(isinstance(i, dict) for i in items) else None
    if not isinstance(value, dict) or depth == 0:
        return None
    inner = [_largest_list(v, depth - 1) for k, v in cast("dict[str, Any]", value).items() if k not in _NOT_RECORDS]
    return max((i for i in inner if i is not None), key=len, default=None)


_NOT_RECORDS = {
    *("entities", "relationships", "blocks", "citations", "wiki_links", "extensions", "provenance"),
    *("jq_recipes", "line_schema"),
}
"""Names of members whose lists are no lists of memories."""


def _records_at(payload: Any, jq_path: str) -> list[Record] | None:
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
