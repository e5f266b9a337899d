"""JSON-RPC errors of the proxy itself."""

from __future__ import annotations

from collections.abc import Callable

from lro_proxy.wire.jsonrpc import serialise

INTERNAL, GONE, TIMED_OUT, TOO_LONG, UNREADABLE, CANCELLED = -32603, -32001, -32002, -32003, -32004, -32800
"""Error codes; docs/proxy.md explains them."""
NO_METHOD, INVALID_PARAMS = -32601, -32602
Log = Callable[[str], None]
"""Writes a line for operators, who read what the client does not receive."""


def error_line(id: object, code: int, message: str) -> bytes:
    """An error response of the proxy as a line."""
    return serialise({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": f"lro proxy: {message}"}})
