"""Size limits of single tools: ``_meta["anthropic/maxResultSizeChars"]`` in `tools/list`, which Claude Code reads.

Claude Code keeps results above 50,000 characters out of the context, unless their tool declares a different limit.
Therefore a declared limit serves as a threshold that was chosen by the author of the server. A tool whose threshold is
above the client's limit has to declare a limit, because otherwise the client would replace results that the proxy
leaves inline.
"""

from __future__ import annotations

from typing import Any, cast

from lro_proxy.wire.jsonrpc import Message, members
from lro_spec.tokens import CHARACTERS_PER_TOKEN

LIMIT_KEY = "anthropic/maxResultSizeChars"
CLIENT_LIMIT = 50_000
"""Characters of a result that Claude Code shows if the tool declares no limit."""
_MAX_LIMIT = 500_000
"""The highest limit that Claude Code accepts."""


def declared_limit(tool: Message) -> int | None:
    """The limit in characters that is declared by an entry of `tools/list`, or None if it declares no limit."""
    limit = members(tool.get("_meta")).get(LIMIT_KEY)
    return limit if isinstance(limit, int) and not isinstance(limit, bool) and limit > 0 else None


def threshold_for(characters: int) -> int:
    """The threshold in tokens that corresponds to a limit."""
    return characters // CHARACTERS_PER_TOKEN


def raise_limit(tool: Message, threshold: int | None) -> bool:
    """Declare a higher limit for a tool if results that stay inline may exceed the limit that applies now.

    That is the declared limit or, if there is none, the client's limit. Returns True if the tool was changed.
    *threshold* is the tool's threshold in tokens, or None if its results are never offloaded.
    """
    needed = _MAX_LIMIT if threshold is None else min(threshold * CHARACTERS_PER_TOKEN, _MAX_LIMIT)
    if needed <= (declared_limit(tool) or CLIENT_LIMIT):
        return False
    meta: Any = tool.setdefault("_meta", {})
    if not isinstance(meta, dict):
        return False
    cast("Message", meta)[LIMIT_KEY] = needed
    return True
