"""JSON-RPC errors of the proxy itself."""

from __future__ import annotations

from collections.abc import Callable

from lro_proxy.wire.jsonrpc import serialise

GONE, TIMED_OUT, TOO_LONG, UNREADABLE, CANCELLED = -31001, -31002, -31003, -31004, -31005
"""The proxy's own error codes; docs/proxy.md explains them.

They lie outside -32768…-32000: since MCP 2026-07-28 no new codes may be chosen in that range, and SDKs use some of it
for their own errors.
"""
INTERNAL, NO_METHOD, INVALID_PARAMS = -32603, -32601, -32602
"""Error codes that JSON-RPC defines."""
Log = Callable[[str], None]
"""Writes a line for operators, about events that the client does not see."""


def error_line(id: object, code: int, message: str) -> bytes:
    """An error response of the proxy as a line."""
    return serialise({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": f"lro proxy: {message}"}})
