"""Recover the request id from a truncated or malformed message."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import orjson

from lro_proxy.wire.framing import OversizedLine

_TOKEN = re.compile(rb'\s*("(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+)')
_MEMBER = re.compile(rb'"(?:id|method)"\s*:')
_KEYS = frozenset((b'"id"', b'"method"'))


def id_in(line: OversizedLine) -> Any:
    """The id of a truncated message; None if neither end contains it."""
    members = _identifying_members(line)
    try:
        return orjson.loads(members[b'"id"']) if b'"id"' in members else None
    except ValueError:
        return None


def response_id_in(line: OversizedLine) -> Any:
    """The id of the request that is answered by a truncated response.

    None if neither end of the response contains the id, or if the message has a method and therefore is not a response.
    """
    return None if b'"method"' in _identifying_members(line) else id_in(line)


def _identifying_members(line: OversizedLine) -> dict[bytes, bytes]:
    return {**dict(_members_at_end(line.tail)), **dict(_members_at_beginning(line.head))}


def _members_at_beginning(text: bytes) -> Iterator[tuple[bytes, bytes]]:
    """The top-level members `id` and `method` at the beginning of a truncated object."""
    depth = place = 0
    recent: list[bytes] = []
    while found := _TOKEN.match(text, place):
        place = found.end()
        if depth == 1 and found[1] in b",}" and len(recent) >= 4:
            previous, key, colon, value = recent[-4:]
            if previous in b"{," and colon == b":" and key in _KEYS and value not in b"]}":
                yield key, value
        depth += (found[1] in b"{[") - (found[1] in b"]}")
        if depth <= 0:
            return
        recent = [*recent[-3:], found[1]]


def _members_at_end(text: bytes) -> Iterator[tuple[bytes, bytes]]:
    """The top-level members `id` and `method` at the end of an object.

    They are recognised by the brackets after them: the only unmatched bracket is the closing brace of the object.
    """
    for member in _MEMBER.finditer(text):
        depth, place = 1, member.end()
        tokens: list[bytes] = []
        while depth > 0 and (found := _TOKEN.match(text, place)):
            place = found.end()
            tokens = tokens or [found[1]]
            depth += (found[1] in b"{[") - (found[1] in b"]}")
        if depth == 0 and tokens and tokens[0] not in b"{[]}" and not text[place:].strip():
            yield member[0][:-1].rstrip(), tokens[0]
