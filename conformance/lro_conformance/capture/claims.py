"""Where a server, or its profile, says that it offloads: then results too small to be offloaded by default do not show
that it does not."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from lro_conformance.capture.call import Call
from lro_conformance.capture.records import show, size
from lro_conformance.profile import Profile
from lro_conformance.profile.proxy import proxy_command
from lro_spec.tokens import LOW

_WORDS = re.compile(
    r"\b\w{0,40}offload\w*|offload\w*|jq_recipes|line_schema|\blro(?:_\w+)?\b|large result\w*", re.IGNORECASE
)
"""Words that a tool or a handshake contains only if the server offloads."""


def claims(profile: Profile, tools: Sequence[Mapping[str, Any]], handshake: object) -> tuple[str, ...]:
    """Who says that this server offloads: the profile, by what only such a server has, or the server itself.

    What a proxy says is not about the operations of the server behind it: it is no claim.
    """
    return () if proxy_command(profile) is not None else tuple(_claims(profile, tools, handshake))


def _claims(profile: Profile, tools: Sequence[Mapping[str, Any]], handshake: object) -> Iterator[str]:
    if profile.given:
        yield f"the profile says how {', '.join(profile.given)} is set (settings)"
    if profile.cleanup is not None:
        yield "the profile says what cleans up (cleanup)"
    for tool in tools:
        found = _WORDS.search(json.dumps(tool))
        if found is not None:
            yield f"its tool {show(tool.get('name'), 60)} speaks of {show(found.group(), 40)}"
            break
    found = _WORDS.search(json.dumps(handshake))
    if found is not None:
        yield f"its handshake speaks of {show(found.group(), 40)}"


def size_of(call: Call) -> int:
    """The characters of an inline result: of its records where they are found, or else of its text; 0 of any other."""
    if call.outcome != "inline":
        return 0
    if call.records:
        return sum(map(size, call.records))
    return len(call.text)


def surely_exceeds(characters: int, tokens: int) -> bool:
    """True if every honest estimate of a text of so many characters is above so many tokens."""
    return LOW * characters / 4 > tokens
