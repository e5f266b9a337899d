"""HTTP headers of MCP; since protocol 2026-07-28 they repeat parts of the message."""

from __future__ import annotations

import base64
import re

import httpx2

from lro_proxy.protocol import message_version
from lro_proxy.wire.jsonrpc import Message

SESSION, VERSION, LAST_EVENT = "Mcp-Session-Id", "Mcp-Protocol-Version", "Last-Event-ID"
_NAME_PARAMETERS = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
"""The parameter that is repeated in a header, by method."""
_PLAIN_VALUE = re.compile(r"[!-~](?:[ -~]*[!-~])?\Z")


def message_headers(message: Message) -> dict[str, str]:
    """The headers that repeat parts of a message; empty before 2026-07-28."""
    version = message_version(message)
    if version is None:
        return {}
    method = str(message.get("method"))
    name = message["params"].get(_NAME_PARAMETERS.get(method, ""))
    return {
        VERSION: version,
        "Mcp-Method": method,
        **({"Mcp-Name": _header(name)} if isinstance(name, str) else {}),
    }


def media_type(response: httpx2.Response) -> str:
    """The media type of a response."""
    return response.headers.get("content-type", "").partition(";")[0].strip().lower()


def origin(url: httpx2.URL) -> tuple[str, str, int | None]:
    """The origin of an address. Two addresses with the same origin belong to the same server."""
    return url.scheme, url.host, url.port


def _header(value: str) -> str:
    """A text as the value of a header."""
    if _PLAIN_VALUE.match(value) and not value.startswith("=?base64?"):
        return value
    return f"=?base64?{base64.b64encode(value.encode()).decode()}?="
