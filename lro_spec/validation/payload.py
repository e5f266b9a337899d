"""Records in a descriptor, which is there to replace them (section "Inline Response Format")."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, cast

from lro_spec.display import pointer
from lro_spec.findings import Finding, Kind

FEW, MOST = 3, 10
"""Number of records that any descriptor may show as examples, and the largest number that a descriptor may show,
however large its file is."""

OPENING = 60
"""A text is recognised within other texts by this many characters at its beginning. A shorter text may be in a
descriptor for another reason."""

_IDENTIFYING = 8
"""Ids of fewer characters are not looked for within other texts."""
_TELLING = 12
"""A title or content of at least this many characters is recognised where it is a whole value."""


def preview_limit(records: int) -> int:
    """Number of records that a descriptor may show: a quarter of the file, but at least three and at most ten."""
    return max(FEW, min(MOST, records // 4))


def records_shown(value: object, records: Sequence[Mapping[str, Any]]) -> int:
    """Number of *records* that appear anywhere in a JSON value: the number that are recognised by their id, by their
    title or by their content, whichever is the largest."""
    known = {_id(record) for record in records}
    ids: set[str] = set()
    texts = list(_texts(value, known, ids))
    everything, whole = "\n".join(texts), frozenset(texts)
    shown = {"title": set[str](), "content": set[str]()}
    for record in records:
        key = _id(record)
        if len(key) >= _IDENTIFYING and key in everything:
            ids.add(key)
        for name, openings in shown.items():
            text = record.get(name)
            opening = text[:OPENING] if isinstance(text, str) else ""
            if (len(opening) == OPENING and opening in everything) or (len(opening) >= _TELLING and text in whole):
                openings.add(opening)
    return max(len(ids), *map(len, shown.values()))


def _texts(value: object, known: Collection[str], ids: set[str]) -> Iterator[str]:
    """All texts in a value, names of members among them, except those within an object that has one of the *known* ids:
    that id is added to *ids* instead."""
    left, seen = [value], set[int]()
    while left:
        one = left.pop()
        if isinstance(one, str):
            yield one
        if not isinstance(one, dict | list) or id(cast("object", one)) in seen:  # a value may hold itself
            continue
        seen.add(id(cast("object", one)))
        if isinstance(one, list):
            left += cast("list[object]", one)
            continue
        members = cast("dict[str, object]", one)
        if "id" in members and _id(members) in known:
            ids.add(_id(members))
            continue
        left += members  # the members' names
        left += members.values()


def _id(record: Mapping[str, Any]) -> str:
    return str(record.get("id"))


def payload(descriptor: Mapping[str, Any], records: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    """A finding for each member of a descriptor that shows more of the file's *records* than a preview may. If only
    several members together do, one finding for the whole descriptor."""
    most = preview_limit(len(records))
    if records_shown(dict(descriptor), records) <= most:
        return
    found = [(name, n) for name, part in descriptor.items() if (n := records_shown(part, records)) > most]
    for name, shown in found or [("", most + 1)]:
        message = "the descriptor holds the records that it is there to replace"
        expected = f"a preview of {most} records at most"
        hint = "leave out what the file has: its path, schema and recipes lead to it"
        observed = f"{shown} of {len(records)}" if name else f"more than {most}, in several members"
        yield Finding("LRO-DESC-11", Kind.PAYLOAD, pointer([name] if name else []), message, expected, observed, hint)
