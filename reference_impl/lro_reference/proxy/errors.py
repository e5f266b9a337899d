"""The errors that the proxy answers with itself."""

from __future__ import annotations

from collections.abc import Callable

from lro_reference.proxy.messages import written

INTERNAL, GONE, TIMED_OUT, TOO_LONG, UNREADABLE, CANCELLED = -32603, -32001, -32002, -32003, -32004, -32800
"""Their codes, as docs/proxy.md explains them."""
NO_METHOD = -32601
Say = Callable[[str], None]
"""Tells people what the client is not told."""


def error_line(id: object, code: int, message: str) -> bytes:
    """An error of the proxy's own."""
    return written({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": f"lro proxy: {message}"}})
