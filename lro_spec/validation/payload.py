"""Records in a descriptor, which is there to replace them (section "Inline Response Format")."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, cast

from lro_spec.display import pointer
from lro_spec.findings import Finding, Kind

MIN_PREVIEW, MAX_PREVIEW = 3, 10
"""Number of records that any descriptor may show as examples, and the largest number that a descriptor may show,
however large its file is."""

OPENING_LENGTH = 60
"""A text is recognised within other texts by this many characters at its beginning. A shorter text may be in a
descriptor for another reason."""

_MIN_ID_LENGTH = 8
"""Ids of fewer characters are not searched for within other texts."""
_MIN_VALUE_LENGTH = 12
"""A title or content of at least this many characters is recognised where it is a whole value."""


def preview_limit(records: int) -> int:
    """Number of records that a descriptor may show: a quarter of the file, but at least three and at most ten."""
    return max(MIN_PREVIEW, min(MAX_PREVIEW, records // 4))


def records_shown(value: object, records: Sequence[Mapping[str, Any]]) -> int:
    """Number of *records* that appear anywhere in a JSON value.

    The records that are recognised by their id, by their title, and by their content are counted separately. The
    largest of these three numbers is returned.
    """
    known_ids = {_id(record) for record in records}
    ids: set[str] = set()
    texts = list(_texts(value, known_ids, ids))
    joined_texts, whole_texts = "\n".join(texts), frozenset(texts)
    openings_by_field = {"title": set[str](), "content": set[str]()}
    for record in records:
        key = _id(record)
        if len(key) >= _MIN_ID_LENGTH and key in joined_texts:
            ids.add(key)
        for name, openings in openings_by_field.items():
            text = record.get(name)
            opening = text[:OPENING_LENGTH] if isinstance(text, str) else ""
            if (len(opening) == OPENING_LENGTH and opening in joined_texts) or (
                len(opening) >= _MIN_VALUE_LENGTH and text in whole_texts
            ):
                openings.add(opening)
    return max(len(ids), *map(len, openings_by_field.values()))


def _texts(value: object, known_ids: Collection[str], ids: set[str]) -> Iterator[str]:
    """All texts in a value, including the names of members. If an object has one of the *known_ids*, its texts are left
    out, and its id is added to *ids* instead."""
    pending, seen = [value], set[int]()
    while pending:
        part = pending.pop()
        if isinstance(part, str):
            yield part
        if not isinstance(part, dict | list) or id(cast("object", part)) in seen:  # a value may hold itself
            continue
        seen.add(id(cast("object", part)))
        if isinstance(part, list):
            pending += cast("list[object]", part)
            continue
        members = cast("dict[str, object]", part)
        if "id" in members and _id(members) in known_ids:
            ids.add(_id(members))
            continue
        pending += members  # the members' names
        pending += members.values()


def _id(record: Mapping[str, Any]) -> str:
    return str(record.get("id"))


def payload(descriptor: Mapping[str, Any], records: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    """A finding for each member of a descriptor that shows more of the file's *records* than a preview may show. If
    only several members together show too many records, there is one finding for the whole descriptor."""
    limit = preview_limit(len(records))
    if records_shown(dict(descriptor), records) <= limit:
        return
    members_over_limit = [(name, n) for name, part in descriptor.items() if (n := records_shown(part, records)) > limit]
    for name, count in members_over_limit or [("", limit + 1)]:
        message = "the descriptor holds the records that it is there to replace"
        expected = f"a preview of {limit} records at most"
        hint = "leave out what the file has: its path, schema and recipes lead to it"
        observed = f"{count} of {len(records)}" if name else f"more than {limit}, in several members"
        yield Finding("LRO-DESC-11", Kind.PAYLOAD, pointer([name] if name else []), message, expected, observed, hint)
