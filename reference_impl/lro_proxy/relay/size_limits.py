"""Size limits of single tools: ``_meta["anthropic/maxResultSizeChars"]`` in `tools/list`, which Claude Code reads.

Claude Code keeps results above 50,000 characters out of the context, unless their tool declares another limit. A
declared limit therefore serves as a threshold, which the server's author has chosen. A tool whose threshold is above
the client's limit has to declare a limit, because the client would otherwise replace results that the proxy leaves
inline.
"""

from __future__ import annotations

from typing import Any, cast

from lro_proxy.wire.jsonrpc import Message, members
from lro_spec.tokens import CHARACTERS_PER_TOKEN

KEY = "anthropic/maxResultSizeChars"
CLIENT_LIMIT = 50_000
"""Characters of a result that Claude Code shows if the tool declares no limit."""
_MOST = 500_000
"""The highest limit that Claude Code accepts."""


def declared(tool: Message) -> int | None:
    """The limit that an entry of `tools/list` declares, in characters; None if it declares none."""
    limit = members(tool.get("_meta")).get(KEY)
    return limit if isinstance(limit, int) and not isinstance(limit, bool) and limit > 0 else None


def threshold_for(characters: int) -> int:
    """The threshold in tokens that corresponds to a limit."""
    return characters // CHARACTERS_PER_TOKEN


def declare(tool: Message, threshold: int | None) -> bool:
    """Declare a higher limit if results that stay inline may exceed the declared one or, without one, the client's.

    Returns True if the tool was changed. *threshold* is the tool's threshold in tokens; None: its results are never
    offloaded.
    """
    needed = _MOST if threshold is None else min(threshold * CHARACTERS_PER_TOKEN, _MOST)
    if needed <= (declared(tool) or CLIENT_LIMIT):
        return False
    meta: Any = tool.setdefault("_meta", {})
    if not isinstance(meta, dict):
        return False
    cast("Message", meta)[KEY] = needed
    return True
