"""What is known of a message of which only the ends are, or which is broken: whom it answers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import orjson

from lro_reference.proxy.lines import TooLong

_TOKEN = re.compile(rb'\s*("(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+)')
_MEMBER = re.compile(rb'"(?:id|method)"\s*:')
_ASKED = frozenset((b'"id"', b'"method"'))


def id_in(line: TooLong) -> Any:
    """The id of a message of which only the ends are known; None where it is in neither."""
    told = _told(line)
    try:
        return orjson.loads(told[b'"id"']) if b'"id"' in told else None
    except ValueError:
        return None


def answered_in(line: TooLong) -> Any:
    """The id of the request that such a message answers; None where that is unknown, or it is no answer."""
    return None if b'"method"' in _told(line) else id_in(line)


def _told(line: TooLong) -> dict[bytes, bytes]:
    return {**dict(_at_the_end(line.tail)), **dict(_at_the_beginning(line.head))}


def _at_the_beginning(text: bytes) -> Iterator[tuple[bytes, bytes]]:
    """The members `id` and `method` at the top level of a text that goes on, or breaks, somewhere."""
    depth = place = 0
    recent: list[bytes] = []
    while found := _TOKEN.match(text, place):
        place = found.end()
        if depth == 1 and found[1] in b",}" and len(recent) >= 4:
            before, key, colon, value = recent[-4:]
            if before in b"{," and colon == b":" and key in _ASKED and value not in b"]}":
                yield key, value
        depth += (found[1] in b"{[") - (found[1] in b"]}")
        if depth <= 0:
            return
        recent = [*recent[-3:], found[1]]


def _at_the_end(text: bytes) -> Iterator[tuple[bytes, bytes]]:
    """The same in a text that has begun long before: such members after which all that is open is one object."""
    for member in _MEMBER.finditer(text):
        depth, place = 1, member.end()
        tokens: list[bytes] = []
        while depth > 0 and (found := _TOKEN.match(text, place)):
            place = found.end()
            tokens = tokens or [found[1]]
            depth += (found[1] in b"{[") - (found[1] in b"]}")
        if depth == 0 and tokens and tokens[0] not in b"{[]}" and not text[place:].strip():
            yield member[0][:-1].rstrip(), tokens[0]
