"""Claims by a server or its profile that it offloads.

If no result is large enough to be offloaded by default, no file is seen. With such a claim, this does not prove that
the server does not offload.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from lro_conformance.capture.call import Call
from lro_conformance.capture.records import as_record, show, size
from lro_conformance.profile import Profile
from lro_conformance.profile.proxy import proxy_command
from lro_spec.tokens import MIN_FACTOR

_WORDS = re.compile(
    r"\b\w{0,40}offload\w*|offload\w*|jq_recipes|line_schema|\blro(?:_\w+)?\b|large result\w*", re.IGNORECASE
)
"""Words that a tool or a handshake contains only if the server offloads."""


def claims(profile: Profile, tools: Sequence[Mapping[str, Any]], handshake: object) -> tuple[str, ...]:
    """Claims that this server offloads. They are made by the profile, in keys that only such a server needs, or by the
    server itself.

    Empty for a proxy, because what the proxy or its profile says is not about the operations of the server behind the
    proxy.
    """
    return () if is_proxy(profile, handshake) else tuple(_claims(profile, tools, handshake))


def is_proxy(profile: Profile, handshake: object) -> bool:
    """True if the profile describes a proxy (`proxy_command`), or if the server's capabilities say that it is a
    proxy."""
    node = handshake
    for key in ("capabilities", "experimental", "lro"):
        node = as_record(as_record(node).get(key))
    return proxy_command(profile) is not None or as_record(node).get("proxy") is True


def _claims(profile: Profile, tools: Sequence[Mapping[str, Any]], handshake: object) -> Iterator[str]:
    if profile.given:
        yield f"the profile says how {', '.join(profile.given)} is set (settings)"
    if profile.cleanup is not None:
        yield "the profile names a cleanup trigger (cleanup)"
    for tool in tools:
        found = _WORDS.search(json.dumps(tool))
        if found is not None:
            yield f"its tool {show(tool.get('name'), 60)} speaks of {show(found.group(), 40)}"
            break
    found = _WORDS.search(json.dumps(handshake))
    if found is not None:
        yield f"its handshake speaks of {show(found.group(), 40)}"


def size_of(call: Call) -> int:
    """Number of characters of an inline result; 0 for any other result. Only the characters of the records count if
    records are found, otherwise those of the text."""
    if call.outcome != "inline":
        return 0
    if call.records:
        return sum(map(size, call.records))
    return len(call.text)


def surely_exceeds(characters: int, tokens: int) -> bool:
    """True if every honest estimate of a text with this number of characters is above this number of tokens."""
    return MIN_FACTOR * characters / 4 > tokens
